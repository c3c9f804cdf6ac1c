"""One direction of one pair of laws, run once or many times."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpest.curves.cells import ROUND
from dpest.curves.cuts import CutSums
from dpest.curves.direct import delta_above, delta_below
from dpest.curves.gaussian import gaussian_delta, gaussian_piece
from dpest.curves.grid import moments
from dpest.curves.pieces import DensityPiece
from dpest.curves.sums import multiplied
from dpest.curves.tree import (
    CellSource,
    Joined,
    Leaf,
    Mixture,
    ProductPart,
    Swapped,
    Tree,
    Weighted,
    extent,
    factors,
    leaves,
    masses,
    most,
)
from dpest.numerics.bracket import Bracketed
from dpest.numerics.logspace import log_sum


@dataclass(frozen=True, eq=False)
class Way:
    """The losses of one direction: independent parts with counts, and Gaussian noise in closed form."""

    pair: str | None  # what the two inputs are; None stands for any
    direction: str
    parts: tuple[tuple[Tree, int], ...]
    mu_squared: float = 0.0  # of all Gaussian parts together
    mu_error: float = 0.0  # relative
    pure: tuple[float, float] | None = None  # the largest loss of the parts, where it is known better than from the cells

    @cached_property
    def whole(self) -> Tree | None:
        """All parts as one tree; None where everything is Gaussian."""
        parts = self.parts
        if not parts:
            return None
        if self.mu_squared:
            parts = (*parts, (Leaf(gaussian_piece(math.sqrt(self.mu_squared), self.mu_error)), 1))
        return multiplied(parts[0][0] if len(parts) == 1 and parts[0][1] == 1 else ProductPart(parts))

    @cached_property
    def _sum(self) -> CutSums:
        assert self.whole is not None
        return CutSums(self.whole)

    def delta(self, epsilon: float, tolerance: float) -> tuple[float, float]:
        """delta(epsilon) from below and from above; with a largest loss m it is at most 1 - e^(epsilon - m)."""
        if self.whole is None:
            return gaussian_delta(math.sqrt(self.mu_squared), epsilon, self.mu_error)
        most = self.largest[1]
        if epsilon >= most:
            return 0.0, 0.0
        cap = -math.expm1(epsilon - most) * (1 + 1e-15) if math.isfinite(most) else 1.0
        low, high = self._between(epsilon, tolerance)
        return min(low, cap), min(high, cap)

    def _between(self, epsilon: float, tolerance: float) -> tuple[float, float]:
        if isinstance(self.whole, Leaf):
            cells = self.whole.source.at(epsilon)
            return delta_below(cells.lower, epsilon), delta_above(cells.upper, epsilon)
        least, most = self._distances
        if least == 0.0:  # equal up to rounding: a transform could say no more
            return 0.0, min(1.0, most)
        low, high = self._sum.delta(epsilon, tolerance)
        return low, min(high, most)

    @cached_property
    def _distances(self) -> tuple[float, float]:
        """The largest total variation distance that a part shows, and the sum of all, which no delta exceeds."""
        if self.mu_squared or not all(isinstance(tree, Leaf) for tree, _ in self.parts):
            return 1.0, math.inf
        cells = [(tree.source.at(0.0), k) for tree, k in self.parts if isinstance(tree, Leaf)]
        most = math.fsum(k * delta_above(c.upper, 0.0) for c, k in cells) * (1 + 1e-12)
        return max(delta_below(c.lower, 0.0) for c, _ in cells), most

    def rough_log_delta(self, epsilon: float) -> float:
        """ln delta(epsilon), roughly, where delta itself takes time; infinite where it does not."""
        return math.inf if self.whole is None or isinstance(self.whole, Leaf) else self._sum.rough_log_delta(epsilon)

    def guess(self, delta: float) -> tuple[float, float]:
        """Roughly where the curve reaches delta, and how steep ln delta is there."""
        if self.whole is None or isinstance(self.whole, Leaf):
            mu = math.sqrt(self.mu_squared)
            z = math.sqrt(2 * math.log(1 / min(delta, 0.5)))
            return (mu * z, z / mu) if mu else (min(1.0, self.largest[1] / 2), 1.0)
        return self._sum.guess(delta)

    @cached_property
    def infinite(self) -> tuple[float, float]:
        """The mass at an infinite loss, from below and from above."""
        if self.whole is None:
            return 0.0, 0.0
        if isinstance(self.whole, Leaf):
            cells = self.whole.source.at(0.0)
            return cells.lower.infinite * (1 - 1e-12), cells.upper.infinite * (1 + 1e-12)
        return masses(self.whole, False).infinite * (1 - 1e-12), masses(self.whole, True).infinite * (1 + 1e-12)

    @cached_property
    def largest(self) -> tuple[float, float]:
        """The largest loss, from below and from above."""
        if self.mu_squared:
            return math.inf, math.inf
        if self.whole is None:
            return 0.0, 0.0
        if self.pure is not None and self._shown(self.pure[1]) <= self.pure[1] + 1e-9 * (1 + abs(self.pure[1])):
            return self.pure
        spare = 1e-12 * (1 + factors(self.whole) * 1e-3)
        low = math.inf if self.infinite[0] > 0 else extent(self.whole, False)[1]
        high = most(self.whole)
        return max(0.0, low - spare * abs(low) if math.isfinite(low) else low), max(0.0, high + spare * abs(high))

    def _shown(self, most: float) -> float:
        """The largest loss that lumped cells show: a largest loss that lies below it is wrong, and is not used."""
        if self.infinite[0] > 0:
            return math.inf
        if most == math.inf:
            return 0.0
        if isinstance(self.whole, Leaf):
            return float(self.whole.source.at(most).lower.loss.max(initial=0.0))
        assert self.whole is not None
        return extent(self.whole, False)[1]

    def log_moment(self, order: float) -> tuple[float, float]:
        """ln E e^(order * loss), order > 0, from below and from above; losses of independent parts add."""
        own = 0.5 * order * (order + 1) * self.mu_squared  # the loss is normal with mean mu^2/2 and variance mu^2
        low, high = own * (1 - 2 * self.mu_error - 8 * ROUND), own * (1 + 2 * self.mu_error + 8 * ROUND)
        for tree, k in self.parts:
            ends = [_log_moment(tree, order, up) for up in (False, True)]
            low, high = low + k * ends[0], high + k * ends[1]
        spare = 8 * ROUND * (1 + len(self.parts)) * (1 + max(abs(low), abs(high)) if math.isfinite(high) else 1.0)
        return low - spare, high + spare

    def mean(self) -> tuple[float, float]:
        """The expected loss, from below and from above."""
        own = 0.5 * self.mu_squared
        low, high = own * (1 - 2 * self.mu_error - 8 * ROUND), own * (1 + 2 * self.mu_error + 8 * ROUND)
        for tree, k in self.parts:
            a, b = _mean(tree)
            low, high = low + k * a, high + k * b
        return low, high


def _log_moment(tree: Tree, order: float, up: bool) -> float:
    if not up and masses(tree, up).infinite > 0:
        return math.inf
    found = _whole_log_moment(tree, order, up)
    size = max(map(abs, extent(tree, up)))
    spare = 16 * ROUND * (4 + abs(found) + order * size) + 1e-13 * factors(tree)
    return found + spare if up else found - spare


def _whole_log_moment(tree: Tree, order: float, up: bool) -> float:
    """ln E e^(order * loss), with what no cell holds."""
    match tree:
        case Leaf():
            sharp = _quadrature(tree.source, order, False)
            if sharp is not None:
                return sharp[1 if up else 0]
            found = moments(tree, up, order).log_mgf
            if tree.losses(True).infinite <= 0:
                return found
            return float(np.logaddexp(found, _beyond(tree.source, order, up, False)))
        case ProductPart(parts):
            return math.fsum(k * _whole_log_moment(p, order, up) for p, k in parts)
        case Mixture(parts):
            return float(log_sum(np.array([_whole_log_moment(p, order, up) for p in parts])))


def _quadrature(source: CellSource, order: float, swapped: bool) -> tuple[float, float] | None:
    """ln E e^(order * loss) of a part whose densities are mixtures of normal laws, without any cells."""
    match source:
        case DensityPiece():
            return source.log_moment(order, swapped)
        case Swapped(inner):
            return _quadrature(inner, order, not swapped)
        case Weighted(inner, log_p, log_q, error):
            found = _quadrature(inner, order, swapped)
            p, q = (log_q, log_p) if swapped else (log_p, log_q)
            more, spare = p + order * (p - q), error * (1 + 2 * order)
            return None if found is None else (found[0] + more - spare, found[1] + more + spare)
        case _:
            return None


def normal_rho(tree: Tree) -> float:
    """A bound of the Renyi divergence over its order, for mixtures of normal laws of one deviation; infinite for other parts.

    Divergences of mixtures are at most the largest of those between their components (they are quasi-convex in both laws
    together), and that of two normal laws at distance d deviations is d^2 / 2 times the order.
    """
    source = tree.source if isinstance(tree, Leaf) else None
    source = source.inner if isinstance(source, Swapped) else source
    if not isinstance(source, DensityPiece) or source.tails is None:
        return math.inf
    p, q = source.tails
    least, widest = min(p.least, q.least), max(p.most, q.most)
    distance = max(p.high - q.low, q.high - p.low, 0.0) / least
    return 0.5 * distance**2 * (1 + 1e-14) if widest <= least * (1 + 1e-12) else math.inf


def _beyond(source: CellSource, order: float, up: bool, swapped: bool) -> float:
    """ln of a bound of E e^(order * loss) over what no cell of a part holds; infinite where nothing bounds it from above."""
    match source:
        case DensityPiece():
            return source.log_moment_beyond(order, swapped)[1 if up else 0]
        case Swapped(inner):
            return _beyond(inner, order, up, not swapped)
        case Weighted(inner, log_p, log_q, error):
            p, q = (log_q, log_p) if swapped else (log_p, log_q)
            spare = error * (1 + 2 * order)
            return _beyond(inner, order, up, swapped) + p + order * (p - q) + (spare if up else -spare)
        case Joined(inner_ones, loose) if not any(loose):
            open_ones = [s for s in inner_ones if (s.cells.swapped() if swapped else s.cells).upper.infinite > 0]
            return float(log_sum(np.array([_beyond(s, order, up, swapped) for s in open_ones])))
        case _:
            return math.inf if up else -math.inf


def _mean(tree: Tree) -> tuple[float, float]:
    """E[loss] of one part: lumped cells from below, spread ones from above, widened by the errors of the masses."""
    if masses(tree, False).infinite > 0:
        return math.inf, math.inf
    low, high = (moments(tree, up, 0.0) for up in (False, True))
    off = factors(tree) * math.fsum(_mean_error(leaf) for leaf in leaves(tree))
    top = math.inf if masses(tree, True).infinite > 0 else high.mean * math.exp(high.log_mgf) + off
    return low.mean * math.exp(low.log_mgf) - off, top


def _mean_error(leaf: Leaf) -> float:
    """How far the errors of the masses and rounding can move the mean of one leaf."""
    cells = leaf.cells
    real = (cells.log_p > -math.inf) & (cells.losses < math.inf)
    each = np.exp(cells.log_p[real]) * (4 * cells.slack[real] + 1e-14) * (1 + np.abs(cells.losses[real]))
    return float(each.sum()) + 2 * cells.beyond[0] * (1 + abs(cells.bounds[0]) if math.isfinite(cells.bounds[0]) else 1.0)


def larger(a: Bracketed, b: Bracketed) -> Bracketed:
    """The larger of two numbers that are known between ends."""
    return Bracketed(max(float(a), float(b)), max(a.lower, b.lower), max(a.upper, b.upper))


def bracketed(ends: tuple[float, float]) -> Bracketed:
    """A number between two ends: their middle."""
    low, high = ends
    middle = low if low == high else low + 0.5 * (high - low) if math.isfinite(high) else high
    return Bracketed(min(max(middle, low), high), low, high)
