"""Outputs that only one input showed: when is that a loss without bound, and when is it chance?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dpest.numerics.binomial import lower
from dpest.results import Direction, Hits
from dpest.sampling.bounds.cell_sets import CellCounts, CellSet, Floats, Ints
from dpest.sampling.tables import Table

# The share of the hits at the end of a score that counts with the shared outputs next to it. For Laplace noise with loss 10
# (20,000 samples) none of 300 runs is infinite at a half, 6 at a quarter, 12 at a tenth, 17 at none; of uniform noise 198 or 199
# of 200 are.
INNER = 0.5


def chance_explains_zero(hits: float, shared: float, level: float) -> bool:
    """Whether no hit under the other input is plausible at the largest loss that shared outputs support."""
    return math.exp(-hits * math.exp(-min(shared, 700.0))) >= level


def largest_shared(counts: CellCounts, direction: Direction, alpha: float) -> float:
    """The largest loss in one direction that outputs seen under both inputs support: an upper bound at level alpha.

    Whichever of them loses most, its own bound holds with probability 1 - alpha, and the largest of all bounds is no
    smaller: there is nothing to pay for their number.
    """
    both = (counts.left > 0) & (counts.right > 0)
    p, q = counts.towards(direction)
    return float(max([0.0, *ratio_upper(p[both], int(p.sum()), q[both], int(q.sum()), alpha)]))


def ratio_upper(p: Ints, n: int, q: Ints, m: int, alpha: float) -> Floats:
    """Upper bounds on log ratios, given the totals p + q."""
    share = np.asarray(lower(q, p + q, alpha))
    return np.asarray(np.log1p(-share) - np.log(share) + math.log(m) - math.log(n))


@dataclass(frozen=True)
class Zeros:
    """What a proof of infinity may assume and spend: the largest loss supported, and a level for each event looked at.

    An event that one part of the samples chose is one event; cells that are looked at one by one are many.
    """

    shared: Mapping[Direction, float]
    shared_level: float
    chosen_level: float
    cell_level: float

    @classmethod
    def of(cls, tables: Sequence[Table], shown: float, alpha: float) -> Zeros:
        """Half of alpha for the largest loss supported, the rest for the zeros.

        A loss is as large as its larger direction: what outcomes show in the other one (`shown`) is supported too. The events of
        a score say nothing here, since they hold the outputs in question.
        """
        cells = sum(len(table.all.left) for table in tables)
        least = max([0.0, *(shown for table in tables if not table.learned)])
        shared = {d: max([least, *(largest_shared(table.all, d, alpha / 2) for table in tables)]) for d in Direction}
        return cls(shared, alpha / 2, alpha / 4 / (2 * len(tables)), alpha / 4 / (2 * max(1, cells)))

    def proof(self, table: Table, direction: Direction) -> tuple[CellSet, Hits] | None:
        """An event that only one input showed, where chance cannot explain it, and its counts."""
        return self._at_the_end(table, direction) if table.learned else self._among_outcomes(table, direction)

    def _at_the_end(self, table: Table, direction: Direction) -> tuple[CellSet, Hits] | None:
        """The end of a score; the inner half of its hits counts with the shared cell next to it, where the loss may rise."""
        end = table.exclusive(direction)
        hits = table.bounding.hits(end)
        supported = max(self.shared[direction], next_to_the_end(table, direction, self.shared_level))
        return (end, hits) if proves(hits, 1 - INNER, supported, self.chosen_level) else None

    def _among_outcomes(self, table: Table, direction: Direction) -> tuple[CellSet, Hits] | None:
        """All outcomes that the first parts saw under one input alone, or the most frequent one."""
        supported = self.shared[direction]
        together = table.exclusive(direction)
        hits = table.bounding.hits(together)
        if proves(hits, 1.0, supported, self.chosen_level):
            return together, hits
        p, q = table.all.towards(direction)
        alone = (p > 0) & (q == 0)
        if not alone.any():
            return None
        event = CellSet(np.arange(len(p)) == np.argmax(p * alone), direction)
        hits = table.all.hits(event)
        return (event, hits) if proves(hits, 1.0, supported, self.cell_level) else None


def next_to_the_end(table: Table, direction: Direction, alpha: float) -> float:
    """An upper bound on the loss of the shared cell nearest to the end of a score and the inner half of what lies beyond it.

    Where the cell after that is clearly likelier under the other input, the loss rises so steeply that it may rise once more
    as much: Laplace noise of a large loss crosses from one input to the other within a cell or two.
    """
    order = table.order(direction)
    p, q = (counts[order] for counts in table.all.towards(direction))
    n, m = int(p.sum()), int(q.sum())
    shared = np.flatnonzero(q > 0)[:2]
    if not shared.size:
        return math.inf
    beyond = round(INNER * int(p[: shared[0]].sum()))
    joined = ratio_upper(p[shared[:1]] + beyond, n, q[shared[:1]], m, alpha)
    most = ratio_upper(p[shared], n, q[shared], m, alpha)
    rise = most[0] - most[-1] if most[-1] < 0 else 0.0
    return float(max(joined[0], most[0] + max(rise, 0.0)))


def proves(hits: Hits, share: float, supported: float, level: float) -> bool:
    """Whether no hit under the other input is implausible for this share of the hits, at the loss that is supported."""
    if not hits.more or hits.fewer or not hits.of_fewer:
        return False
    # As many hits as there would be in a sample of the other's size.
    scaled = share * hits.more * min(1.0, hits.of_fewer / hits.of_more)
    return not chance_explains_zero(scaled, supported, level)
