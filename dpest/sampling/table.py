"""The counts of one pair, in the parts that order cells, choose events and bound them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpest.results import Direction
from dpest.sampling.audit.choose import Goal, Ordered, best_cell, best_event, calibrated
from dpest.sampling.events import CellCounts, CellSet, Floats, Ints, Mask


@dataclass(frozen=True)
class Chosen:
    """An event with the bound that it promises, and the kind of bound that suits its size."""

    event: CellSet
    promise: float
    given_total: bool


@dataclass(frozen=True)
class Table:
    """The counts of one pair in the parts that order the cells, choose events, and bound them.

    Cells are outcomes, or (`learned`) intervals of a score that was learned before. `scores` estimate the log likelihood ratio of
    each cell, from samples that are not among those that choose and bound.
    """

    ordering: CellCounts
    choosing: CellCounts
    bounding: CellCounts
    learned: bool
    words: Callable[[Mask], str]
    scores: Floats
    is_ratio: bool = True  # False where scores say no more than the order of the cells

    @property
    def all(self) -> CellCounts:
        """All parts together."""
        return self.ordering + self.choosing + self.bounding

    def order(self, direction: Direction) -> Ints:
        """The order in which cells are joined to events: likeliest for the direction first."""
        return np.argsort(self.scores if direction is Direction.RIGHT else -self.scores, kind="stable")

    def choose(self, direction: Direction, alpha: float, caution: float) -> Chosen:
        """The event whose bound on the last part promises most, judged on the part that chooses."""
        order = self.order(direction)
        p, q = (counts[order].astype(np.float64) for counts in self.choosing.towards(direction))
        cells = Ordered(p[None], q[None], p * self._ratios(direction)[order] if self.is_ratio else None)
        samples = max(int(self.bounding.left.sum()), 1)
        goal = Goal(samples, alpha, common=False, caution=caution if self.is_ratio else 2 * caution)
        found = [best_event(cells, goal)] if self.learned else [best_event(cells, goal), best_cell(cells, goal)]
        best = max(found, key=lambda f: f.promise)
        chosen = order[[best.place]] if best.alone else order[: best.place + 1]
        return Chosen(CellSet(np.isin(np.arange(len(p)), chosen), direction), best.promise, best.given_total)

    def _ratios(self, direction: Direction) -> Floats:
        """The likelihood ratio of each cell that its score foresees, the less likely input over the other."""
        slope, shift = calibrated(self.scores, *(x.astype(np.float64) for x in (self.choosing.left, self.choosing.right)))
        log_ratio = slope * self.scores + shift
        return np.exp(np.clip(log_ratio if direction is Direction.RIGHT else -log_ratio, -700, 700))

    def favoured(self, direction: Direction) -> tuple[Ints, Ints]:
        """The counts of the cells that the first part found likelier, in the other parts."""
        cells = self.scores < 0 if direction is Direction.RIGHT else self.scores > 0
        p, q = (self.choosing + self.bounding).towards(direction)
        return p[cells], q[cells]

    def exclusive(self, direction: Direction) -> CellSet:
        """The cells that the first parts saw under one input alone; of a score, those at its end, since it orders them."""
        counts = self.ordering + self.choosing
        p, q = counts.towards(direction)
        if not self.learned:
            return CellSet((p > 0) & (q == 0), direction)
        order = self.order(direction)
        alone = order[np.cumsum(q[order]) == 0]
        return CellSet(np.isin(np.arange(len(p)), alone), direction)
