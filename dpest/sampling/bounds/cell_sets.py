"""Sets of cells as events: their counts, the choice of one on one part of the samples, and its bound on another."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpest.results import CountedBound, Direction

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class CellCounts:
    """How many of the samples of each input fall into each cell."""

    left: Ints
    right: Ints

    def towards(self, direction: Direction) -> tuple[Ints, Ints]:
        """The counts with the input that is claimed to be likelier first."""
        return (self.left, self.right) if direction is Direction.LEFT else (self.right, self.left)

    def hits(self, event: CellSet) -> Hits:
        """The counts of an event."""
        p, q = self.towards(event.direction)
        return Hits(int(p[event.cells].sum()), int(p.sum()), int(q[event.cells].sum()), int(q.sum()))

    def __add__(self, other: CellCounts) -> CellCounts:
        return CellCounts(self.left + other.left, self.right + other.right)


@dataclass(frozen=True)
class CellSet:
    """An event that is a set of cells, and the input under which it is claimed to be likelier."""

    cells: Mask
    direction: Direction


@dataclass(frozen=True)
class Hits:
    """An event's count under the input that makes it likelier, and under the other."""

    more: int
    of_more: int
    fewer: int
    of_fewer: int

    @property
    def log_ratio(self) -> float:
        """The log of the ratio of frequencies."""
        return _log_share(self.more, self.of_more) - _log_share(self.fewer, self.of_fewer) if self.more else -math.inf

    @property
    def error(self) -> float:
        """The standard error of the log ratio."""
        if not self.more or not self.fewer:
            return math.inf
        return math.sqrt(1 / self.more - 1 / self.of_more + 1 / self.fewer - 1 / self.of_fewer)

    def bound(self, alpha: float, *, given_total: bool) -> CountedBound:
        """The counts with the bound on the event's log ratio that follows from them, at level alpha."""
        return CountedBound(self.more, self.of_more, self.fewer, self.of_fewer, alpha, given_total)

    def lower(self, alpha: float, *, given_total: bool) -> float:
        """A lower bound on the event's log ratio, at level alpha."""
        return self.bound(alpha, given_total=given_total).lower

    def times(self, factor: int) -> Hits:
        """The same frequencies in a larger sample."""
        return Hits(self.more * factor, self.of_more * factor, self.fewer * factor, self.of_fewer * factor)


def _log_share(k: int, n: int) -> float:
    return math.log(k) - math.log(n) if k else -math.inf
