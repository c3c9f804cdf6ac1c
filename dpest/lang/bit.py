"""Bits that are whole numbers: `1 ^ (u < p)` is 0 or 1 and no truth value, as its text tells."""

from __future__ import annotations

from typing import Any

from dpest.lang.dist import Dist
from dpest.lang.run import RUN


class Bit(Dist):
    """A random truth value that counts as 0 or 1, of type int."""

    __slots__ = ()

    def __invert__(self) -> Any:
        return -1 - self

    def _with_text(self) -> int | None:
        return None if RUN.get() is None else int(bool(self))
