"""How products of factors behave along a half-line: leading terms from what laws declare, and a rigorous enclosure of the rest.

A variable goes to infinity as `origin + side * t`. A factor's tail says: for every t >= start, the logarithm of the factor
lies within [low, high] of its asymptote.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import betaln

from dpest.engine.expressions import Expr, Values
from dpest.engine.factors import Answer, Between, Density, Factor, Indicator, Integral
from dpest.laws.asymptote import Asymptote
from dpest.laws.discrete import Geometric
from dpest.laws.law import Continuous, Discrete
from dpest.numerics.logspace import log1mexp
from dpest.numerics.rationals import ZERO, Rational, exact

_MARGIN = 0.05  # of its rate by which an integrand must decay faster than a tilt grows, so that its reach holds all that counts


@dataclass(frozen=True)
class Tail:
    """asymptote(t) + low <= ln factor <= asymptote(t) + high for all t >= start."""

    asymptote: Asymptote
    low: float
    high: float
    error: float = 0.0  # relative, of the constants

    def __add__(self, other: Tail) -> Tail:
        return Tail(self.asymptote + other.asymptote, self.low + other.low, self.high + other.high, self.error + other.error)


NEUTRAL = Tail(Asymptote(0.0), 0.0, 0.0)


@dataclass(frozen=True)
class Ray:
    """variable = origin + side * t for t >= start."""

    variable: int
    side: int
    origin: Rational
    start: float

    def line(self, e: Expr) -> tuple[Rational, Rational]:
        """The expression as slope * t + offset; other variables count as absent."""
        offset = exact(e.constant)
        slope = ZERO
        for v, c in e.terms:
            if v == self.variable:
                slope, offset = exact(c) * self.side, offset + exact(c) * self.origin
        return slope, offset

    @property
    def here(self) -> Values:
        """The variable's value at the start."""
        return {self.variable: np.array([float(self.origin) + self.side * self.start])}


def tail(factors: Iterable[Factor], ray: Ray) -> Tail | None:
    """The tail of a product; None where one of the factors declares nothing, or not from this start on."""
    total = NEUTRAL
    for f in factors:
        try:
            one = _factor(f, ray)
        except _Unsettled:
            return None
        if one is None:
            return None
        total = total + one
    return total


def product_asymptotes(
    law: Continuous, draw: int, factors: Sequence[Factor]
) -> tuple[Asymptote | None, Asymptote | None]:
    """How a law times factors of the same draw decays on either side; None where it does not grow towards what is declared."""
    out = []
    for side in (-1, 1):
        places = [abs(float(k.constant / k.coefficient(draw))) for f in factors for k in f.kinks if k.coefficient(draw)]
        start = 50 * law.scale + max([*places, *(abs(k) for k in law.kinks)], default=0.0)
        found = tail((Density(law, Expr(((draw, 1.0),), 0.0)), *factors), Ray(draw, side, ZERO, start))
        out.append(found.asymptote if found is not None and found.high <= 0.0 else None)
    return out[0], out[1]


def _factor(f: Factor, ray: Ray) -> Tail | None:
    if ray.variable not in f.scope:
        if f.scope:
            return None
        value, error = f.log({})
        return Tail(Asymptote(float(value)), 0.0, 0.0, float(np.max(error)))
    match f:
        case Density():
            return _density(f, ray)
        case Between():
            return _between(f, ray)
        case Indicator():
            return NEUTRAL
        case Integral():
            return _integral(f, ray)
    return None


# -- densities ---------------------------------------------------------------------------------------------------------


def _density(f: Density, ray: Ray) -> Tail | None:
    assert isinstance(f.law, Continuous | Discrete)
    if len(f.place.terms) != 1:
        return None
    slope, offset = ray.line(f.place)
    side = 1 if slope > 0 else -1
    declared = f.law.asymptote(side)
    if declared is None:
        return None
    distance = float(abs(slope)) * ray.start + float(side * offset)
    exactly = isinstance(f.law, Discrete)  # a geometric law is its asymptote; between its points it has no density
    value = declared.at(max(distance, 1e-300)) if exactly else float(f.law.log_density(side * distance))
    return _moved(declared, abs(slope), side * offset, ray.start, value, f.law.error)


def _moved(declared: Asymptote, slope: Rational, offset: Rational, start: float, value: float, error: float) -> Tail | None:
    """A declared asymptote at the distance slope * t + offset, with the value that it stands for at the start."""
    distance = float(slope) * start + float(offset)
    if distance <= 0 or value == -math.inf:
        return None
    gap = 0.0 if declared.bursts else value - declared.at(distance)
    gap = 0.0 if abs(gap) <= 4e-15 * (1.0 + abs(value)) else gap
    bend = float(declared.power) * math.log(distance / (float(slope) * start)) if declared.power else 0.0
    moved = declared.moved(slope, offset)
    assert moved is not None
    rounding = 4e-16 * (2.0 + abs(moved.constant))
    return Tail(moved, min(gap, 0.0) + min(bend, 0.0), max(gap, 0.0) + max(bend, 0.0), error + rounding)


# -- probabilities of intervals ----------------------------------------------------------------------------------------


def _between(f: Between, ray: Ray) -> Tail | None:
    if any(v != ray.variable for e, _ in f.lowers + f.uppers for v, _ in e.terms):
        return None
    low, high = _active(f.lowers, ray, 1), _active(f.uppers, ray, -1)
    found = _interval(f, low, high, ray)
    if found is None or f.power == 1:
        return found
    k = f.power
    a = found.asymptote
    many = Asymptote(k * a.constant, k * a.rate, k * a.power, k * a.square, a.bursts * k)
    return Tail(many, k * found.low, k * found.high, k * found.error)


_Line = tuple[Rational, Rational]


class _Unsettled(Exception):
    """Another bound takes over beyond the start."""


def _active(bounds: Sequence[tuple[Expr, bool]], ray: Ray, sign: int) -> _Line | None:
    """The bound that is the tightest for all t from the start on; None without bounds."""
    lines = [ray.line(e) for e, _ in bounds]
    if not lines:
        return None
    best = max(lines, key=lambda x: (sign * x[0], sign * x[1]))
    start = exact(ray.start)
    top = sign * (best[0] * start + best[1])
    if any(sign * (a * start + b) > top for a, b in lines):
        raise _Unsettled
    return best


def _interval(f: Between, low: _Line | None, high: _Line | None, ray: Ray) -> Tail | None:
    alone = replace(f, power=1)
    value, error = alone.log(ray.here)
    here, off = float(np.ravel(value)[0]), float(np.max(error))
    if here == -math.inf:
        return None
    falls = high is not None and high[0] < 0
    rises = low is not None and low[0] > 0
    if not falls and not rises:
        return _expanding(alone, here, off, ray)
    if falls and rises:
        return None
    # By symmetry: the near bound runs away on one side, the far one runs ahead of it or is not there.
    near, far, side = (high, low, -1) if falls else (low, high, 1)
    assert near is not None
    if isinstance(f.law, Discrete):
        return _geometric(f, near, far, side, ray) if isinstance(f.law, Geometric) else None
    assert isinstance(f.law, Continuous)
    return _leaving(f.law, near, far, side, here, off, ray)


def _expanding(f: Between, here: float, off: float, ray: Ray) -> Tail | None:
    """An interval that only grows: its probability grows to that of the bounds that stay."""
    stay = replace(
        f,
        lowers=tuple((e, s) for e, s in f.lowers if not e.terms),
        uppers=tuple((e, s) for e, s in f.uppers if not e.terms),
    )
    limit, error = stay.log({})
    top = float(np.ravel(limit)[0]) if stay.lowers or stay.uppers else f.law.log_mass
    return Tail(Asymptote(top), min(here - top, 0.0), 0.0, off + float(np.max(error)))


def _leaving(law: Continuous, near: _Line, far: _Line | None, side: int, here: float, off: float, ray: Ray) -> Tail | None:
    """An interval in a tail of the law, moving outwards."""
    slope, offset = abs(near[0]), side * near[1]
    declared = law.mass_asymptote(side)
    if declared is None:
        return None
    distance = float(slope) * ray.start + float(offset)
    beyond = float(law.log_sf(distance) if side > 0 else law.log_cdf(-distance))
    found = _moved(declared, slope, offset, ray.start, beyond, off + law.error)
    if found is None or far is None:
        return found
    if far[0] == near[0] and not (declared.square or declared.bursts):
        if declared.power or declared.rate <= 0:
            return None
        # A window of fixed width under an exponential tail: the same share of what lies beyond, up to the same enclosure.
        share = float(log1mexp(-float(declared.rate * side * (far[1] - near[1]))))
        shifted = replace(found.asymptote, constant=found.asymptote.constant + share)
        own = here - shifted.at(ray.start)
        own = 0.0 if abs(own) <= 1e-14 * (1.0 + abs(here)) else own
        return Tail(shifted, min(own, 0.0), max(own, 0.0), found.error)
    # P(beyond far) / P(beyond near) falls with t where the law is log-concave.
    return replace(found, low=found.low + min(here - beyond, 0.0)) if law.log_concave else None


def _geometric(f: Between, near: _Line, far: _Line | None, side: int, ray: Ray) -> Tail | None:
    """P(K >= x) for x running away; the whole number next to x is at most 1 away."""
    assert isinstance(f.law, Geometric)
    if far is not None:
        return None
    slope, offset = abs(near[0]), side * near[1]
    if float(slope) * ray.start + float(offset) <= 1:
        return None
    declared = f.law.asymptote(side)
    step = 1 / f.law.b
    # P(K >= k) = P(k) / (1 - e^(-1/b))
    moved = declared.moved(slope, offset)
    assert moved is not None
    moved = replace(moved, constant=moved.constant - math.log(-math.expm1(-step)))
    return Tail(moved, -step, 0.0, 4e-16 * (2.0 + abs(moved.constant)))


# -- integrals ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Tilt(Factor):
    """e^expression."""

    expression: Expr

    @property
    def scope(self) -> frozenset[int]:
        return frozenset(self.expression.variables())

    kinks = ()

    def log(self, values: Values) -> Answer:
        return np.asarray(self.expression.at(values), float), 4e-16


def _integral(f: Integral, ray: Ray) -> Tail | None:
    """Integrals in which the variable only loosens bounds, or only moves one exponential tail; None for others."""
    if not isinstance(f.law, Continuous):
        return None
    limit = _loosened(f, ray)
    if limit is None:
        return _running(f, ray) or _alike(f, ray)
    moving = [g for g in limit.factors if ray.variable in g.scope]
    if not moving and not limit.scope:
        value, error = limit.log({})
        return _grown(f, Asymptote(float(np.ravel(value)[0])), float(np.max(error)), ray)
    found = _convolved(f, limit, moving[0], ray) if len(moving) == 1 and isinstance(moving[0], Density) else None
    return found or _alike(f, ray)


def _running(f: Integral, ray: Ray) -> Tail | None:
    """One bound runs away with the variable, the rest does not move: the mass beyond it, from the tail of what is integrated."""
    if any(ray.variable in g.scope for g in f.factors):
        return None
    for bounds, others, side in ((f.lowers, f.uppers, 1), (f.uppers, f.lowers, -1)):
        if others or any(set(e.variables()) - {ray.variable} for e, _ in bounds):
            continue
        near = _active(bounds, ray, side)
        if near is None or side * near[0] <= 0:
            continue
        start = float(side * (near[0] * exact(ray.start) + near[1]))
        if start <= 0:
            return None
        one = Density(f.law, Expr(((f.draw, 1.0),), 0.0))
        found = tail((one, *f.factors), Ray(f.draw, side, ZERO, start))
        beyond = found.asymptote.integrated() if found and not found.asymptote.power and found.asymptote.rate > 0 else None
        moved = beyond.moved(abs(near[0]), side * near[1]) if beyond else None
        if found is None or moved is None:
            return None
        return Tail(moved, found.low, found.high, found.error + 4e-16 * (2 + abs(moved.constant)))
    return None


def _grown(f: Integral, asymptote: Asymptote, error: float, ray: Ray) -> Tail:
    """The tail of an integral that grows towards its asymptote."""
    here, off = f.log(ray.here)
    gap = float(np.ravel(here)[0]) - asymptote.at(ray.start)
    return Tail(asymptote, min(gap, 0.0), 0.0, error + float(np.max(off)) + 4e-16 * (2 + abs(asymptote.constant)))


def _loosened(f: Integral, ray: Ray) -> Integral | None:
    """The integral without the bounds that give way as the variable grows; None where one tightens."""
    own = _without(f.lowers, f.uppers, ray)
    if own is None:
        return None
    factors: list[Factor] = []
    for g in f.factors:
        if isinstance(g, Between) and ray.variable in g.scope:
            kept = _without(g.lowers, g.uppers, ray)
            if kept is None or g.law.log_mass != 0.0:
                return None
            g = replace(g, lowers=kept[0], uppers=kept[1])
            if not g.scope:  # what is left is certain, or a number that does not matter here
                if kept[0] or kept[1]:
                    return None
                continue
        factors.append(g)
    return Integral(f.draw, f.law, own[0], own[1], tuple(factors))


_Bounds = tuple[tuple[Expr, bool], ...]


def _without(lowers: _Bounds, uppers: _Bounds, ray: Ray) -> tuple[_Bounds, _Bounds] | None:
    """The bounds that the variable does not move; None where it tightens one."""
    for bounds, sign in ((lowers, 1), (uppers, -1)):
        if any(exact(e.coefficient(ray.variable)) * ray.side * sign > 0 for e, _ in bounds):
            return None
    free = [tuple((e, s) for e, s in bounds if not e.coefficient(ray.variable)) for bounds in (lowers, uppers)]
    return free[0], free[1]


def _convolved(whole: Integral, f: Integral, g: Density, ray: Ray) -> Tail | None:
    """The integral of W(v) g(a y + c v + k) with g log-concave and exponential far out, and W decaying faster than that.

    g(x) e^(rate |x|) grows to its constant, so the integral times e^(rate t) grows to that of W times an exponential of v;
    bounds that give way (`f` is without them) only add to the growth.
    """
    law = g.law
    if not isinstance(law, Continuous) or not law.log_concave or set(g.place.variables()) - {ray.variable, f.draw}:
        return None
    slope, offset = ray.line(g.place)
    side = 1 if slope > 0 else -1
    declared = law.asymptote(side)
    if declared is None or declared.power or declared.square or declared.bursts or declared.rate <= 0:
        return None
    weight = -declared.rate * side * exact(g.place.coefficient(f.draw))  # of v in the exponent
    others = tuple(h for h in f.factors if h is not g)
    if not _outweighs(f, others, weight):
        return None
    constant = declared.constant - float(declared.rate * side * offset)
    limit = Integral(f.draw, f.law, f.lowers, f.uppers, (*others, Tilt(Expr(((f.draw, float(weight)),), 0.0))))
    if limit.scope:
        return None
    value, error = limit.log({})
    asymptote = Asymptote(constant + float(np.ravel(value)[0]), rate=declared.rate * abs(slope))
    return _grown(whole, asymptote, float(np.max(error)) + 4e-16 * (2 + abs(constant)), ray)


def _alike(f: Integral, ray: Ray) -> Tail | None:
    """The integral of W(v) G(y - ratio v) where both decay at one rate: a share of every place between counts alike.

    With W ~ C v^m e^(-r v) and G ~ D t^n e^(-s t), r = s ratio, it tends to C D B(m + 1, n + 1) ratio^-(m + 1) t^(m + n + 1) e^(-s t)
    (B is the beta function). How fast is not known here, so that only the limit is claimed.
    """
    moving = [g for g in f.factors if ray.variable in g.scope]
    ratios = {-exact(e.coefficient(f.draw)) / exact(e.coefficient(ray.variable)) for g in moving for e in _expressions(g)}
    if f.lowers or f.uppers or len(ratios) != 1:
        return None
    ratio = ratios.pop()
    if not ratio:
        return None
    still = [_dropped(g, f.draw) for g in moving]
    others = [g for g in f.factors if g not in moving]
    one = tail(still, ray)
    start = ray.start * float(1 / abs(ratio))
    two = tail(
        (Density(f.law, Expr(((f.draw, 1.0),), 0.0)), *others), Ray(f.draw, ray.side if ratio > 0 else -ray.side, ZERO, start)
    )
    if one is None or two is None:
        return None
    a, b = one.asymptote, two.asymptote
    if a.square or b.square or a.bursts or b.bursts or a.rate <= 0 or b.rate != a.rate * abs(ratio) or min(a.power, b.power) <= -1:
        return None
    m, n = float(b.power), float(a.power)
    constant = a.constant + b.constant - (m + 1) * math.log(float(abs(ratio))) + float(betaln(m + 1, n + 1))
    asymptote = Asymptote(constant, rate=a.rate, power=a.power + b.power + 1)
    return Tail(asymptote, -math.inf, math.inf, one.error + two.error)


def _expressions(f: Factor) -> Sequence[Expr]:
    match f:
        case Density(place=place):
            return [place]
        case Between():
            return [e for e, _ in f.lowers + f.uppers if e.terms]
    return [Expr(((-1, 1.0),), 0.0)]  # of no known ratio


def _dropped(f: Factor, draw: int) -> Factor:
    """The factor where one draw is zero."""

    def free(e: Expr) -> Expr:
        return Expr(tuple((v, c) for v, c in e.terms if v != draw), e.constant)

    if isinstance(f, Density):
        return replace(f, place=free(f.place))
    assert isinstance(f, Between)
    return replace(f, lowers=tuple((free(e), s) for e, s in f.lowers), uppers=tuple((free(e), s) for e, s in f.uppers))


def _outweighs(f: Integral, others: Sequence[Factor], weight: Rational) -> bool:
    """Whether everything but the tilt decays clearly faster than the tilt grows."""
    side = 1 if weight > 0 else -1
    assert isinstance(f.law, Continuous)
    if math.isfinite(f.law.support[0 if side < 0 else 1]) or any(not e.terms for e, _ in (f.uppers if side > 0 else f.lowers)):
        return True
    start = 1e3 * f.law.scale + max((abs(float(e.constant)) for h in others for e in h.kinks), default=0.0)
    found = tail((Density(f.law, Expr(((f.draw, 1.0),), 0.0)), *others), Ray(f.draw, side, ZERO, start))
    if found is None:
        return False
    a = found.asymptote
    return bool(a.bursts or a.square > 0 or float(a.rate) * (1 - _MARGIN) > abs(float(weight)))


def reads(values: Mapping[int, Rational], e: Expr) -> Rational:
    """The expression at rational values, exactly."""
    return sum((exact(c) * values[v] for v, c in e.terms), exact(e.constant))
