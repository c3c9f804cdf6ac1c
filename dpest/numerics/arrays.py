"""Arrays of one length, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Self

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, eq=False)
class Arrays:
    """A record of arrays of one length; the fields are those of the subclass."""

    def pick(self, which: npt.NDArray[np.bool_]) -> Self:
        """Some of them."""
        return type(self)(*(getattr(self, f.name)[which] for f in fields(self)))

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """All of them."""
        return cls(*(np.concatenate([getattr(p, f.name) for p in parts]) for f in fields(cls)))
