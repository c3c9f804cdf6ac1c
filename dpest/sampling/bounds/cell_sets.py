"""Sets of cells as events, and their counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpest.results import Direction, Hits

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
