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
    chosen_level: float
    cell_level: float

    @classmethod
    def of(cls, tables: Sequence[Table], shown: float, alpha: float) -> Zeros:
        """Half of alpha for the largest loss supported, the rest for the zeros.

        A loss is as large as its larger direction: what outputs show in the other one (`shown`) is supported too.
        """
        cells = sum(len(table.all.left) for table in tables)
        shared = {d: max([shown, *(largest_shared(table.all, d, alpha / 2) for table in tables)]) for d in Direction}
        return cls(shared, alpha / 4 / (2 * len(tables)), alpha / 4 / (2 * max(1, cells)))

    def proof(self, table: Table, direction: Direction) -> tuple[CellSet, Hits] | None:
        """An event that only one input showed, where chance cannot explain it, and its counts."""
        together = table.exclusive(direction)
        hits = table.bounding.hits(together)
        if self._proves(hits, self.chosen_level, direction):
            return together, hits
        p, q = table.all.towards(direction)
        alone = (p > 0) & (q == 0)
        if table.learned or not alone.any():
            return None
        event = CellSet(np.arange(len(p)) == np.argmax(p * alone), direction)
        hits = table.all.hits(event)
        return (event, hits) if self._proves(hits, self.cell_level, direction) else None

    def _proves(self, hits: Hits, level: float, direction: Direction) -> bool:
        if not hits.more or hits.fewer or not hits.of_fewer:
            return False
        # As many hits as there would be in a sample of the other's size.
        scaled = hits.more * min(1.0, hits.of_fewer / hits.of_more)
        return not chance_explains_zero(scaled, self.shared[direction], level)
