"""The log ratio beside a place at which densities vanish: each piece there is a power of the distance times something known.

For 0 < t <= reach a piece at `place + side * t` lies between e^low * t^order and e^high * t^order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dpest.exact.inference.expressions import Expr, plus
from dpest.exact.inference.factors import Between, Density, Factor, Indicator, Integral
from dpest.exact.inference.rays import Ray
from dpest.exact.loss.far import UNKNOWN, Far
from dpest.exact.loss.pieces import Piece, within
from dpest.laws.law import Continuous, Law
from dpest.numerics.logspace import log_sum
from dpest.numerics.rationals import Rational, exact

_BESIDE = 0.25  # of a support: up to there a density is monotone, but for its declared power
_ROUNDING = 1e-13  # of scipy's log densities, relative to their size
_DROP = 5.0  # nats by which a factor falls over the tiny reach only where it vanishes at the place


@dataclass(frozen=True)
class Edge:
    """A piece beside a place. Without `exactly` only the upper side holds, and the order is a lower bound."""

    order: float
    low: float
    high: float
    limit: float  # what both tend to for t to 0
    exactly: bool = True

    def __add__(self, other: Edge) -> Edge:
        return Edge(
            self.order + other.order,
            self.low + other.low,
            self.high + other.high,
            self.limit + other.limit,
            self.exactly and other.exactly,
        )


def edge(piece: Piece, place: Rational, side: int, reach: float) -> Edge | None:
    """A piece beside a place; None where nothing is known."""
    ray = Ray(-1, side, place, reach)
    total = Edge(0, piece.log_weight - piece.error, piece.log_weight + piece.error, piece.log_weight)
    for f in piece.factors:
        one = _factor(f, ray)
        if one is None:
            return None
        total = total + one
    return total


def beside(p: Sequence[Edge | None], q: Sequence[Edge | None], reach: float) -> Far:
    """ln (sum of p) - ln (sum of q) for all 0 < t <= reach, and its limit for t to 0."""
    if not p:
        return Far(-math.inf, 0.0, -math.inf)
    known = [e for e in q if e is not None and e.exactly]
    if not known or any(e is None for e in p):
        return UNKNOWN
    least = min(e.order for e in known)
    settled = all(e is not None and (e.exactly or e.order > least) for e in q)
    first = [e for e in p if e is not None]
    if any(e.order < least for e in first):
        proved = settled and any(e.order < least and e.exactly for e in first)
        return Far(math.inf, 0.0, math.inf) if proved else UNKNOWN
    leading = [e for e in known if e.order == least]
    tops = np.array([e.high + (e.order - least) * math.log(reach) for e in first])
    upper = float(log_sum(tops)) - float(log_sum(np.array([e.low for e in leading])))
    alike = [e for e in first if e.order == least]
    if not settled or any(not e.exactly for e in alike):
        return Far(None, 0.0, upper)
    limits = [float(log_sum(np.array([e.limit for e in side]))) for side in (alike, leading)]
    return Far(limits[0] - limits[1] if alike else -math.inf, 1e-14, upper)


def _factor(f: Factor, ray: Ray) -> Edge | None:
    match f:
        case Indicator():
            return Edge(0, 0.0, 0.0, 0.0)
        case Between(law=law) if isinstance(law, Continuous):
            closing = _closing(law, f.lowers, f.uppers, ray)
            if closing is not None:
                k = f.power
                return Edge(k, k * closing.low, k * closing.high, k * closing.limit, closing.exactly)
        case Integral(law=law) if isinstance(law, Continuous):
            narrowing = _narrowing(f, ray)
            if narrowing is not None:
                return narrowing
            closing = _closing(law, f.lowers, f.uppers, ray)
            most = [_most(g) for g in f.factors]
            if closing is not None and all(m is not None for m in most):
                top = closing.high + sum(m for m in most if m is not None)
                return Edge(1, -math.inf, top, -math.inf, exactly=False)
        case Density(law=law) if isinstance(law, Continuous):
            found = _declared(law, f.place, ray)
            if found is not None:
                return found
    return _plain(f, ray)


def _declared(law: Continuous, place: Expr, ray: Ray) -> Edge | None:
    """A density at an end of its support, where the law declares how it vanishes or grows; None elsewhere."""
    slope, offset = ray.line(place)
    side = -1 if slope > 0 else 1
    end = law.support[0 if side < 0 else 1]
    declared = law.at_end(side) if math.isfinite(end) and offset == exact(end) and slope else None
    if declared is None or float(abs(slope)) * ray.start > _BESIDE * (law.support[1] - law.support[0]):
        return None
    order, limit = declared[0], declared[1] + declared[0] * math.log(abs(float(slope)))
    reached = float(law.log_density(float(offset + slope * exact(ray.start)))) - order * math.log(ray.start)
    off = law.error + _ROUNDING * (1 + abs(limit) + abs(reached) + abs(order * math.log(ray.start)))
    return Edge(order, min(limit, reached) - off, max(limit, reached) + off, limit)


def _closing(law: Continuous, lowers: object, uppers: object, ray: Ray) -> Edge | None:
    """An interval that closes at the place, where the density is positive: its width times the density; None for others."""
    if not law.log_concave:
        return None
    low = _tightest(lowers, law.support[0], ray, 1)
    high = _tightest(uppers, law.support[1], ray, -1)
    if low is None or high is None or low[1] != high[1] or not high[0] > low[0]:
        return None
    reach = exact(ray.start)
    ends = sorted(float(x) for x in (low[1], low[0] * reach + low[1], high[0] * reach + high[1]))
    first, last = ends[0], ends[-1]
    one, two, before, after, limit = (
        float(v) for v in law.log_density(np.clip([first, last, 2 * first - last, 2 * last - first, float(low[1])], *law.support))
    )
    # A concave function lies below the lines through its values on either side of an interval.
    lines = [max(v, 2 * v - w) for v, w in ((two, after), (one, before)) if w > -math.inf]
    top = min(lines, default=math.inf)
    width = math.log(float(high[0] - low[0]))
    exactly = min(one, two) > max(one, two) - _DROP
    below = width + min(one, two) - law.error if exactly else -math.inf
    return Edge(1, below, width + top + 3 * law.error, width + limit, exactly) if top < math.inf else None


def _narrowing(f: Integral, ray: Ray) -> Edge | None:
    """Intervals inside an integral that close at the place, wherever its draw is: each is its width times a density.

    The three values of which the largest and the smallest are at one place lie together.
    """
    rest: list[Factor] = []
    order, width, off = 0, 0.0, 0.0
    for g in f.factors:
        growth = _growth(g, ray) if isinstance(g, Between) else None
        if not isinstance(g, Between) or growth is None:
            rest.append(g)
            continue
        slope, bend = growth
        order, width = order + g.power, width + g.power * math.log(slope)
        off += g.power * (bend * slope * ray.start + g.law.error)
        rest += [Density(g.law, g.lowers[0])] * g.power
    plain = _plain(replace(f, factors=tuple(rest)), ray) if order else None
    if plain is None:
        return None
    return Edge(order + plain.order, plain.low + width - off, plain.high + width + off, plain.limit + width, plain.exactly)


def _growth(g: Between, ray: Ray) -> tuple[float, float] | None:
    """How fast an interval grows from nothing at the place, and the steepest slope of the log density; None for others."""
    if not isinstance(g.law, Continuous) or len(g.lowers) != 1 or len(g.uppers) != 1:
        return None
    gap = plus(g.uppers[0], g.lowers[0], -1)
    steepest = g.law.shift_cost()
    slope, offset = ray.line(gap)
    if gap.variables() != {ray.variable} or offset or slope <= 0 or None in steepest:
        return None
    return float(slope), max(float(x) for x in steepest if x is not None)


def _tightest(bounds: object, end: float, ray: Ray, sign: int) -> tuple[Rational, Rational] | None:
    """The bound that holds for all t up to the reach, as slope * t + offset; None where another one takes over."""
    assert isinstance(bounds, tuple)
    if any(v != ray.variable for e in bounds for v, _ in e.terms):
        return None
    lines = [ray.line(e) for e in bounds]
    if math.isfinite(end):
        lines.append((exact(0), exact(end)))
    if not lines:
        return None
    best = max(lines, key=lambda x: (sign * x[1], sign * x[0]))
    reach = exact(ray.start)
    top = sign * (best[0] * reach + best[1])
    return best if all(sign * (a * reach + b) <= top for a, b in lines) else None


def _plain(f: Factor, ray: Ray) -> Edge | None:
    """A log-concave factor between its values at the place, at the reach and at twice the reach."""
    smooth = all(isinstance(law, Continuous) and law.log_concave for law in f.laws())
    if not smooth:
        return None
    origin = float(ray.origin)
    y = origin + ray.side * ray.start * np.array([0.0, 1.0, 2.0])
    logs, error = within(f, y, y)
    here, there, beyond = (float(v) for v in np.broadcast_to(logs, (3,)))
    slack = float(np.max(error)) if np.all(np.isfinite(error)) else math.inf
    if there == -math.inf or beyond == -math.inf or slack > 1e-3:
        return None
    # Between place and reach a concave function lies below the line through what is beyond.
    high = max(there, 2 * there - beyond) + 3 * slack
    if here < there - _DROP:
        return Edge(0, -math.inf, high, -math.inf, exactly=False)
    return Edge(0, min(here, there) - slack, high, here)


def _most(f: Factor) -> float | None:
    """The largest logarithm that a factor can have."""
    match f:
        case Between():
            return 0.0 if not _heavy(f.law) else None
        case Indicator():
            return 0.0
        case Density(law=law) if isinstance(law, Continuous) and law.mode is not None:
            return float(law.log_density(law.mode))
    return None


def _heavy(law: Law) -> bool:
    """Whether a law is a measure that is not normalised."""
    return law.log_mass != 0.0
