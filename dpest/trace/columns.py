"""Many outputs at once: rows grouped by the shape of their output, the random leaves as arrays."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from dpest.errors import UnsupportedOutput

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

    @property
    def holes(self) -> tuple[int, ...]:
        """The positions of the leaves that vary."""
        return tuple(i for i, leaf in enumerate(self.leaves) if leaf is HOLE)


@dataclass(frozen=True)
class Group:
    """Rows of one shape; `values` has one array for each of its holes."""

    shape: Shape
    values: tuple[Values, ...]
    rows: int


@dataclass(frozen=True)
class Columns:
    """A sample of outputs."""

    groups: tuple[Group, ...]

    @property
    def rows(self) -> int:
        """The number of outputs."""
        return sum(g.rows for g in self.groups)


class Sampler(Protocol):
    """What can be sampled: outputs of a mechanism on one input."""

    def draw(self, data: Any, size: int, rng: Rng) -> Columns:
        """`size` independent outputs on `data`."""


@dataclass(frozen=True)
class ArraySampler:
    """A hand-vectorised mechanism: `function(data, size, rng)` returns `size` numbers, or a row of numbers for each."""

    function: Callable[[Any, int, Rng], npt.ArrayLike]

    def draw(self, data: Any, size: int, rng: Rng) -> Columns:
        """`size` independent outputs on `data`."""
        return from_array(self.function(data, size, rng), size)


def from_array(outputs: npt.ArrayLike, size: int | None = None) -> Columns:
    """Outputs that are numbers (n) or vectors of numbers (n, k) as columns."""
    array = np.asarray(outputs)
    if array.ndim not in (1, 2) or array.dtype.kind not in "biuf" or (size is not None and len(array) != size):
        wanted = "one number or one row of numbers for each sample" if size is None else f"{size} numbers or rows of numbers"
        raise UnsupportedOutput(f"a vectorised mechanism returns {wanted}, got shape {array.shape} of {array.dtype}")
    if array.ndim == 1:
        return Columns((Group(Shape(None, (HOLE,)), (array,), len(array)),))
    width = array.shape[1]
    shape = Shape(("array", (width,), *[None] * width), (HOLE,) * width)
    return Columns((Group(shape, tuple(np.ascontiguousarray(c) for c in array.T), len(array)),))


def constant_key(x: Any) -> Any:
    """A constant leaf as it stands in a shape: equal constants are equal, NaN included; True is 1."""
    if isinstance(x, int) and abs(x) > _EXACT:
        return x
    if isinstance(x, int | float):
        return NAN_KEY if math.isnan(x) else float(x)
    return x
