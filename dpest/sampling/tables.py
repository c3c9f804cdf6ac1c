"""The counts of one pair in the parts that order cells, choose events and bound them; cells are outcomes or learned."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from dpest.results import Direction
from dpest.run.streams import stream
from dpest.sampling.bounds.cell_sets import CellCounts, CellSet, Floats, Ints, Mask
from dpest.sampling.gathering import HALVING_KEY, Model, Parts, SamplingQuestion
from dpest.sampling.runs.outcomes import Aligned
from dpest.sampling.runs.outputs import Batch, Keys
from dpest.sampling.scores.choose import Goal, Ordered, best_cell, best_event, calibrated
from dpest.sampling.scores.event import Event
from dpest.sampling.scores.learned import Learned
from dpest.sampling.scores.row_table import RowTable, fit_outcomes


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


def outcome_tables(question: SamplingQuestion, found: Aligned) -> list[Table]:
    """A cell for each outcome that was seen under any input; the counts of the part that chooses come first."""
    first, last = found.counts[: len(question.inputs)], found.counts[len(question.inputs) :]
    tables = []
    for i, (a, b) in enumerate(question.pairs):
        choosing, bounding = CellCounts(first[a], first[b]), CellCounts(last[a], last[b])
        tables.append(outcome_table(found.keys, found.rows, choosing, bounding, stream(question.seed, HALVING_KEY, i)))
    return tables


def outcome_table(keys: Keys, rows: Batch, first: CellCounts, bounding: CellCounts, rng: np.random.Generator) -> Table:
    """The first part orders outcomes and chooses among them: each of its samples goes to one of the two by a fair coin."""
    left, right = (rng.binomial(side, 0.5).astype(np.int64) for side in (first.left, first.right))
    choosing = CellCounts(first.left - left, first.right - right)
    scores = fit_outcomes(Aligned(keys, rows, np.stack([left, right]))).weights
    return Table(CellCounts(left, right), choosing, bounding, False, partial(_outcome_words, keys, rows), scores)


def _outcome_words(keys: Keys, rows: Batch, cells: Mask) -> str:
    return str(Event(RowTable(rows, keys, cells.astype(np.float64)), 0.5, True, rows.width))


def cell_tables(model: Model, parts: Parts) -> list[Table]:
    """A cell for each interval of a pair's score."""
    return [cell_table(score, *(CellCounts(part[i][0], part[i][1]) for part in parts)) for i, score in enumerate(model)]


def cell_table(score: Learned, choosing: CellCounts, bounding: CellCounts) -> Table:
    """The cells are in the order of the score already."""
    nothing = np.zeros(score.size, dtype=np.int64)
    return Table(CellCounts(nothing, nothing), choosing, bounding, True, score.words, score.scores, score.is_ratio)
