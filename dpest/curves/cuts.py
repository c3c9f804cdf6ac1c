"""Losses cut where next to no mass is left, so that heavy tails do not decide how a sum is computed.

A step of subsampled noise has a large loss with a tiny probability. Under a tilt that is right for the sum of many steps, the
far tail of a single step may weigh as much as all the rest: the sum then needs a window a hundred times as long. What lies out
there cannot matter for delta(epsilon) by more than its probability, times the number of steps. So it is taken out of the cells:
for the upper curve its loss counts as infinite, for the lower one it is left out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from dpest.curves.cells import LossCells
from dpest.curves.grid import all_single
from dpest.curves.sums import TOLERANCE, LossSum
from dpest.curves.tree import Leaf, Mixture, ProductPart, Tree, factors

_SHARE = 0.02  # of the tolerance that may go into the cut
_FIRST, _NEXT, _LAST = -8, -4, -300  # powers of ten: the largest mass that is cut off, and how much less is tried next


@dataclass(frozen=True, eq=False)
class LossesCutOff:
    """The cells of a part without the smallest and the largest losses.

    They are not `Fixed`, which stands for single outcomes and is multiplied out exactly: most of these have a width.
    """

    cells: LossCells

    def at(self, epsilon: float) -> LossCells:
        """The same cells."""
        return self.cells


@dataclass(frozen=True, eq=False)
class CutSums:
    """Independent losses added up, with as much of their tails as each question needs."""

    tree: Tree
    made: dict[int, LossSum] = field(default_factory=dict)

    def delta(self, epsilon: float, tolerance: float) -> tuple[float, float]:
        """delta(epsilon) from below and from above, relative width at most `tolerance` where that can be had."""
        return self._for(epsilon, tolerance)[0].delta(epsilon, tolerance)

    def rough_log_delta(self, epsilon: float) -> float:
        """ln delta(epsilon), roughly: to plan with."""
        return self._for(epsilon, TOLERANCE)[1]

    def _for(self, epsilon: float, tolerance: float) -> tuple[LossSum, float]:
        """The losses whose cut is small beside delta(epsilon), and ln of that delta, roughly."""
        if epsilon >= self._whole.extents[True][1]:  # only infinite losses count: nothing is gained by more of them
            return self._whole, self._whole.rough_log_delta(epsilon)
        for power in range(_FIRST, _LAST, _NEXT):
            found = self._cut(power)
            rough = found.rough_log_delta(epsilon)
            if found is self._whole or rough + math.log(_SHARE * tolerance) >= power * math.log(10):
                return found, rough
        return self._whole, self._whole.rough_log_delta(epsilon)

    def guess(self, delta: float) -> tuple[float, float]:
        """Roughly the epsilon at which the curve reaches delta, and how steep ln delta is there."""
        wanted = math.log10(delta) + math.log10(_SHARE) - 4
        powers = [p for p in range(_FIRST, _LAST, _NEXT) if p <= wanted]
        return (self._cut(powers[0]) if powers else self._whole).guess(delta)

    @cached_property
    def _whole(self) -> LossSum:
        return LossSum(self.tree)

    def _cut(self, power: int) -> LossSum:
        """The sum without losses whose mass is at most 10^power over all parts together; the whole one where there are none."""
        if power not in self.made:
            tree = _shortened(self.tree, 10.0**power / factors(self.tree), {})
            self.made[power] = self._whole if tree is self.tree else LossSum(tree)
        return self.made[power]


def _shortened(tree: Tree, mass: float, known: dict[int, Tree]) -> Tree:
    """The tree with at most this mass cut off every leaf; the tree itself where nothing was."""
    if id(tree) in known:
        return known[id(tree)]
    out: Tree = tree
    match tree:
        case Leaf():
            if not all_single(tree):
                cells = shortened(tree.cells, mass)
                out = tree if cells is tree.cells else Leaf(LossesCutOff(cells))
        case ProductPart(parts):
            new = tuple((_shortened(p, mass, known), k) for p, k in parts)
            out = tree if all(a is b for (a, _), (b, _) in zip(new, parts, strict=True)) else ProductPart(new)
        case Mixture(parts):
            rest = tuple(_shortened(p, mass, known) for p in parts)
            out = tree if all(a is b for a, b in zip(rest, parts, strict=True)) else Mixture(rest)
    known[id(tree)] = out
    return out


def shortened(cells: LossCells, mass: float) -> LossCells:
    """Cells without those of the smallest and of the largest finite losses, half of the mass at either end at most."""
    finite = np.isfinite(cells.losses)
    order = np.argsort(cells.losses, kind="stable")
    order = order[finite[order]]
    each = np.exp(cells.log_p[order] + cells.slack[order])
    low = int(np.searchsorted(np.cumsum(each), 0.5 * mass, side="right"))
    high = int(np.searchsorted(np.cumsum(each[::-1]), 0.5 * mass, side="right"))
    if low + high == 0 or low + high >= order.size:
        return cells
    gone = np.concatenate([order[:low], order[order.size - high :]])
    kept = np.ones(cells.size, bool)
    kept[gone] = False
    lost = [float(np.exp(x[gone] + cells.slack[gone]).sum()) * (1 + 1e-12) for x in (cells.log_p, cells.log_q)]
    beyond = (cells.beyond[0] + lost[0], cells.beyond[1] + lost[1])
    p, q, slack, low_end, high_end = (x[kept] for x in (cells.log_p, cells.log_q, cells.slack, cells.low, cells.high))
    return LossCells(p, q, slack, low_end, high_end, beyond, (-math.inf, math.inf), cells.loose)
