"""Many outputs at once: rows grouped by the shape of their output, the random leaves as arrays."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
import numpy.typing as npt

Rng = np.random.Generator
Values = npt.NDArray[Any]


class Hole(Enum):
    """Stands in a shape where a number differs from row to row."""

    HOLE = "_"

    def __repr__(self) -> str:
        return self.value


HOLE = Hole.HOLE
_EXACT = 1 << 53  # larger whole numbers are not floats
NAN_KEY = ("NaN",)  # NaN is a value like any other and equals itself: this stands for it in a shape


@dataclass(frozen=True)
class Shape:
    """The containers of an output, and its leaves: constants, or `HOLE` where they vary."""

    structure: Any
    leaves: tuple[Any, ...]


@dataclass(frozen=True)
class RowsOfShape:
    """Rows of one shape; `values` has one array for each of its holes."""

    shape: Shape
    values: tuple[Values, ...]
    rows: int


@dataclass(frozen=True)
class Columns:
    """A sample of outputs."""

    groups: tuple[RowsOfShape, ...]

    @property
    def rows(self) -> int:
        """The number of outputs."""
        return sum(g.rows for g in self.groups)


def constant_key(x: Any) -> Any:
    """A constant leaf as it stands in a shape: equal constants are equal, NaN included; True is 1."""
    if isinstance(x, int) and abs(x) > _EXACT:
        return x
    if isinstance(x, (int, float)):
        return NAN_KEY if math.isnan(x) else float(x)
    return x
