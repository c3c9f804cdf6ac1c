"""Noise added to a value with a heavier tail: far out that value is all that counts, and two laws are compared by its tail.

With h the shape of the value's density there, a law at z is a sum of A times the integral of W(u) h(z + k + u) du, where W is
the noise. The logarithm of h is convex and its slope tends to zero, so that h(z + d) / h(z) lies between its value at the start
and 1. Values nearer than some share of z need noise of that size, of which there is less and less beside h(z).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dpest.exact.inference.exponential_tails import FarRatio, WeighedFactors
from dpest.exact.inference.factors import Density, Indicator, Integral
from dpest.exact.inference.rays import Ray
from dpest.laws.heavy import Bell, HeavyTail
from dpest.laws.law import Continuous
from dpest.numerics.logspace import log_sum
from dpest.numerics.rationals import ONE, Rational

_NEAR = (0.25, 0.5, 0.75, 0.9)  # of the distance: values beyond such a share of it have the tail's shape; the noise is the rest
_SMALL = -16.0  # ln of the share of nearer values from which on a bound is worth anything: e^-16 = 1e-7, less farther out
_MISSING = 0.5  # of a tail, at most: up to there -ln(1 - x) <= 2 x
_ROUNDING = 1e-15
_APART = 1e-9  # relative: roots of the distance that are as near count as equal


@dataclass(frozen=True)
class _Term:
    """e^log_weight * the integral of noise(outwards * width * u) * density(speed * t + ahead + u) du."""

    log_weight: float
    error: float
    noise: Continuous
    outwards: int  # the sign of the noise with which the value lies further out
    width: Rational
    speed: Rational
    ahead: Rational
    tail: HeavyTail  # of the density
    log_mass: float

    @property
    def kind(self) -> tuple[Continuous, int, Rational, Rational]:
        """What two laws must have in common to be compared."""
        return self.noise, self.outwards, self.width, self.speed

    @property
    def log_factor(self) -> float:
        """ln of what the integral of the noise and the shape is multiplied by."""
        return self.log_weight + self.tail.constant


@dataclass(frozen=True)
class HeavyPair:
    """Two laws that are such sums, with the same noise and one shape of the values' tails."""

    one: tuple[_Term, ...]
    two: tuple[_Term, ...]

    def ratio(self, start: float) -> FarRatio | None:
        """The log ratio from a start on; None where that is too near."""
        shape, terms = self.one[0].tail.shape, (*self.one, *self.two)
        first = min(x.ahead for x in terms)
        far = float(terms[0].speed) * start + float(first)
        found = []
        for share in _NEAR:
            near = share * far
            if near > max(0.0, *(x.tail.start for x in terms)):
                # Relative to the least distance each integral is smaller by this at the start, and by nothing in the limit.
                there = [x.log_factor for x in terms]
                here = [x.log_factor + shape.log(near + float(x.ahead - first)) - shape.log(near) for x in terms]
                found.append(self._between(there, here, far, share))
        return min((x for x in found if x is not None), key=lambda x: x.high - x.low, default=None)

    def _between(self, there: list[float], here: list[float], far: float, share: float) -> FarRatio | None:
        """The ratio from its limit and what it may be at the start."""
        terms, count = (*self.one, *self.two), len(self.one)
        (one, other), (least, below) = ((_total(x[:count]), _total(x[count:])) for x in (there, here))
        nearer = _nearer(terms, far, share, min(least, below))
        missing = max(x.tail.error(share * far) for x in terms)
        if nearer is None or missing > _MISSING:
            return None
        shape = terms[0].tail.shape
        rounding = _ROUNDING * (8 + max(map(abs, (*there, *here, shape.log(share * far)))))
        slack = 2 * (nearer + missing)
        error = 2 * (max(x.error for x in terms) + rounding)
        return FarRatio(one - other, least - other - slack, one - below + slack, error)


def heavy_pair(p: Sequence[WeighedFactors], q: Sequence[WeighedFactors], ray: Ray) -> HeavyPair | FarRatio | None:
    """Both laws along a ray, wherever it starts, or their limit; None where they are no such sums, or not alike."""
    found = [_term(x, ray) for x in (*p, *q)]
    terms = [x for x in found if x is not None]
    if len(terms) < len(found) or not p or not q or any(x.kind != terms[0].kind for x in terms):
        return None
    one, two = tuple(terms[: len(p)]), tuple(terms[len(p) :])
    if all(isinstance(x.tail.shape, Bell) for x in terms):
        return _bells(one, two)
    return HeavyPair(one, two) if all(x.tail.shape == terms[0].tail.shape for x in terms) else None


def _bells(one: Sequence[_Term], two: Sequence[_Term]) -> FarRatio | None:
    """An infinite limit, where squares or products of Gaussian noise fall at one rate and by different roots of the distance.

    The noise must fall faster than they do; then the ratio is e^((a - b) sqrt(z)), up to factors that are small beside it.
    """
    leads = [max(t.tail.shape.root for t in own if isinstance(t.tail.shape, Bell)) for own in (one, two)]
    rates = {t.tail.shape.rate for t in (*one, *two) if isinstance(t.tail.shape, Bell)}
    term = one[0]
    declared = term.noise.asymptote(-term.outwards)
    rate = max(rates)
    lighter = declared is not None and (declared.square > 0 or float(declared.rate * term.width) > rate * (1 + _APART))
    alike = rate - min(rates) <= _ROUNDING * rate
    if not lighter or not alike or math.isclose(*leads, rel_tol=_APART, abs_tol=_APART * math.sqrt(rate)):
        return None
    limit = math.copysign(math.inf, leads[0] - leads[1])
    return FarRatio(limit, -math.inf, math.inf, 0.0)


def _total(logs: Sequence[float]) -> float:
    return float(log_sum(np.array(logs)))


def _nearer(terms: Sequence[_Term], far: float, near: float, least: float) -> float | None:
    """At most the share of nearer values, from the start on; None where it is not small, or not known to fall."""
    x = terms[0]
    noise, shape, width = x.noise, x.tail.shape, float(x.width)
    away = (1 - near) * far * width  # the noise that they need at least
    mode = noise.mode
    if mode is None or not noise.log_concave or -x.outwards * mode >= 0.9 * away:
        return None
    at, before = (float(v) for v in noise.log_density(-x.outwards * away * np.array([1.0, 0.9])))
    if at == -math.inf:
        return 0.0
    # A concave logarithm falls at least as fast beyond a place as before it, and a convex one at most as fast.
    falls = (before - at) / (0.1 * far)
    if falls <= (shape.log(near * far) - shape.log(far)) / ((1 - near) * far):
        return None
    reach = noise.scale  # the integral of the noise and the shape is at least its part up to there
    ends = sorted((0.0, x.outwards * reach))
    inside = float(noise.log_interval(*ends)) - math.log(width) + shape.log(far + reach / width)
    share = at + _total([t.log_weight + t.log_mass for t in terms]) - least - inside
    return math.exp(share) if share < _SMALL else None


def _term(weighed: WeighedFactors, ray: Ray) -> _Term | None:
    """A sum of two draws, one of which has the heavier tail, on the side to which the ray leads."""
    log_weight, error, factors = weighed
    moving = [f for f in factors if not isinstance(f, Indicator)]  # beyond all kinks a condition on the output holds, or never
    f = moving[0] if len(moving) == 1 else None
    g = f.factors[0] if isinstance(f, Integral) and len(f.factors) == 1 else None
    if not isinstance(f, Integral) or not isinstance(g, Density) or f.scope != {ray.variable}:
        return None
    slope, offset = ray.line(g.place)
    c = g.place.coefficient(f.draw)
    if not isinstance(f.law, Continuous) or not isinstance(g.law, Continuous) or not slope or not c:
        return None
    error += f.law.error + g.law.error
    side = 1 if slope > 0 else -1
    tail = g.law.heavy(side)
    if tail is not None and not f.lowers and not f.uppers:  # the value solved for is the heavier one: draw = u / (side * c)
        weight, outwards = log_weight - math.log(abs(float(c))), (1 if c * side > 0 else -1)
        return _Term(weight, error, f.law, outwards, ONE / abs(c), abs(slope), side * offset, tail, g.law.log_mass)
    side = -side if c > 0 else side  # the draw at which the noise is zero is -(slope * t + offset) / c
    tail = _bounded(f, side)
    if tail is None:
        return None
    outwards = 1 if c * side > 0 else -1
    return _Term(log_weight, error, g.law, outwards, abs(c), abs(slope / c), -side * offset / c, tail, f.law.log_mass)


def _bounded(f: Integral, side: int) -> HeavyTail | None:
    """The tail of the draw, which nothing bounds on that side."""
    assert isinstance(f.law, Continuous)
    tail = f.law.heavy(side)
    behind, ahead = (f.lowers, f.uppers) if side > 0 else (f.uppers, f.lowers)
    if tail is None or ahead or any(e.terms for e in behind):
        return None
    return replace(tail, start=max([tail.start, *(side * float(e.constant) for e in behind)]))
