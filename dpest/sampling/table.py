"""The counts of one pair, in the parts that order cells, choose events and bound them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dpest.results import Direction
from dpest.sampling.events import Counts, Floats, Ints, Mask, ratio_order, score_order
from dpest.trace.columns import Shape


@dataclass(frozen=True)
class Table:
    """The counts of one pair in the parts that order the cells, choose events, and bound them.

    Cells are outcomes or (`learned`) intervals of a score that was learned before; `scores` are high where the first
    input is likelier.
    """

    ordering: Counts
    choosing: Counts
    bounding: Counts
    learned: bool
    words: Callable[[Mask], str]
    scores: Floats | None
    outcomes: frozenset[Shape] = frozenset()

    @property
    def all(self) -> Counts:
        """All parts together."""
        return self.ordering + self.choosing + self.bounding

    def orders(self, direction: Direction) -> list[Ints]:
        """The orders in which cells are joined to events."""
        by_score = [] if self.scores is None else [score_order(self.scores, direction)]
        return by_score if self.learned else [*by_score, ratio_order(self.ordering, direction)]
