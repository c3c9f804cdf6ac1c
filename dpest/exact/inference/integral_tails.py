"""The tails of integrals: bounds that give way, one exponential tail that is moved, one bound that runs away."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import betaln

from dpest.exact.inference.changed import changed, without
from dpest.exact.inference.exponential_tails import exponential_tail
from dpest.exact.inference.expressions import Expr, Values, single
from dpest.exact.inference.factors import Answer, Between, Density, Factor, Integral
from dpest.exact.inference.rays import Ray, Tail, Unsettled, active
from dpest.exact.inference.sliding_tails import sliding_tail
from dpest.laws.asymptote import Asymptote
from dpest.laws.law import Continuous
from dpest.numerics.rationals import ZERO, Rational, exact

_MARGIN = 0.05  # of its rate by which an integrand must decay faster than a tilt grows, so that its reach holds all that counts

_ROUNDING = 1e-15  # of a sum of a few constants, relative to its size

TailOf = Callable[[Iterable[Factor], Ray], Tail | None]  # the tail of a product


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


def integral_tail(f: Integral, ray: Ray, tail: TailOf) -> Tail | None:
    """Integrals in which the variable only loosens bounds, or only moves one exponential tail, or of exponentials; else None."""
    try:
        found = _declared(f, ray, tail)
    except Unsettled:
        found = None
    bounded = found is not None and math.isfinite(found.low) and math.isfinite(found.high)
    return found if bounded else exponential_tail(f, ray) or found


def _declared(f: Integral, ray: Ray, tail: TailOf) -> Tail | None:
    """The tail as far as it follows from the tails of the factors."""
    if not isinstance(f.law, Continuous):
        return None
    limit = _loosened(f, ray)
    if limit is None:
        running = _running(f, ray, tail)  # first: its constants are closed forms, not an integral's value at one place
        if running is not None:
            return running
        carried = sliding_tail(f, ray)
        if carried is not None:
            return _grown(f, carried, f.law.error + _ROUNDING * (1 + abs(carried.constant)), ray)
        return _alike(f, ray, tail)
    moving = [g for g in limit.factors if ray.variable in g.scope]
    if not moving and not limit.scope:
        value, error = limit.log({})
        return _grown(f, Asymptote(float(np.ravel(value)[0])), float(np.max(error)), ray)
    found = _convolved(f, limit, moving[0], ray, tail) if len(moving) == 1 and isinstance(moving[0], Density) else None
    return found or _alike(f, ray, tail)


def _running(f: Integral, ray: Ray, tail: TailOf) -> Tail | None:
    """One bound runs away with the variable, the rest does not move: the mass beyond it, from the tail of what is integrated."""
    if any(ray.variable in g.scope for g in f.factors):
        return None
    for bounds, others, side in ((f.lowers, f.uppers, 1), (f.uppers, f.lowers, -1)):
        if others or any(set(e.variables()) - {ray.variable} for e in bounds):
            continue
        near = active(bounds, ray, side)
        if near is None or side * near[0] <= 0:
            continue
        start = float(side * (near[0] * exact(ray.start) + near[1]))
        if start <= 0:
            return None
        one = Density(f.law, single(f.draw))
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


_Bounds = tuple[Expr, ...]


def _without(lowers: _Bounds, uppers: _Bounds, ray: Ray) -> tuple[_Bounds, _Bounds] | None:
    """The bounds that the variable does not move; None where it tightens one."""
    for bounds, sign in ((lowers, 1), (uppers, -1)):
        if any(exact(e.coefficient(ray.variable)) * ray.side * sign > 0 for e in bounds):
            return None
    free = [tuple(e for e in bounds if not e.coefficient(ray.variable)) for bounds in (lowers, uppers)]
    return free[0], free[1]


def _convolved(whole: Integral, f: Integral, g: Density, ray: Ray, tail: TailOf) -> Tail | None:
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
    if not _outweighs(f, others, weight, tail):
        return None
    constant = declared.constant - float(declared.rate * side * offset)
    limit = Integral(f.draw, f.law, f.lowers, f.uppers, (*others, Tilt(Expr(((f.draw, weight),), ZERO))))
    if limit.scope:
        return None
    value, error = limit.log({})
    asymptote = Asymptote(constant + float(np.ravel(value)[0]), rate=declared.rate * abs(slope))
    return _grown(whole, asymptote, float(np.max(error)) + 4e-16 * (2 + abs(constant)), ray)


def _alike(f: Integral, ray: Ray, tail: TailOf) -> Tail | None:
    """The integral of W(v) G(y - ratio v) where both decay at one rate: a share of every place between counts alike.

    With W ~ C v^m e^(-r v), G ~ D t^n e^(-s t) and r = s ratio it tends to C D B t^(m + n + 1) ratio^-(m + 1) e^(-s t), where B
    is the beta function at m + 1 and n + 1. Only the limit is claimed, and not how fast.
    """
    moving = [g for g in f.factors if ray.variable in g.scope]
    places = [e for g in moving for e in _expressions(g)]
    if not all(e.coefficient(ray.variable) for e in places):
        return None
    ratios = {-exact(e.coefficient(f.draw)) / exact(e.coefficient(ray.variable)) for e in places}
    if len(ratios) != 1:
        return None
    ratio = ratios.pop()
    if not ratio:
        return None
    others = [g for g in f.factors if g not in moving]
    half = replace(ray, start=ray.start / 2)
    inner = Ray(f.draw, ray.side if ratio > 0 else -ray.side, ZERO, half.start * float(1 / abs(ratio)))
    if not _is_open(f, inner):
        return None
    one = tail([changed(g, lambda e: without(e, (f.draw,))) for g in moving], half)
    two = tail((Density(f.law, single(f.draw)), *others), inner)
    if one is None or two is None:
        return None
    a, b = one.asymptote, two.asymptote
    plain = not (a.square or b.square or a.bursts or b.bursts) and min(a.power, b.power) > -1
    if not plain or a.rate <= 0 or b.rate != a.rate * abs(ratio):
        return None
    m, n = float(b.power), float(a.power)
    constant = a.constant + b.constant - (m + 1) * math.log(float(abs(ratio))) + float(betaln(m + 1, n + 1))
    asymptote = Asymptote(constant, rate=a.rate, power=a.power + b.power + 1)
    return Tail(asymptote, -math.inf, math.inf, one.error + two.error)


def _is_open(f: Integral, ray: Ray) -> bool:
    """Whether nothing bounds the draw from the start of its ray on: bounds on the other side only add a multiple of e^(-s t)."""
    behind, ahead = (f.lowers, f.uppers) if ray.side > 0 else (f.uppers, f.lowers)
    return not ahead and all(not e.terms and ray.side * float(e.constant) < ray.start for e in behind)


def _expressions(f: Factor) -> Sequence[Expr]:
    match f:
        case Density(place=place):
            return [place]
        case Between():
            return [e for e in f.lowers + f.uppers if e.terms]
    return [single(-1)]  # of no known ratio


def _outweighs(f: Integral, others: Sequence[Factor], weight: Rational, tail: TailOf) -> bool:
    """Whether everything but the tilt decays clearly faster than the tilt grows."""
    side = 1 if weight > 0 else -1
    assert isinstance(f.law, Continuous)
    if math.isfinite(f.law.support[0 if side < 0 else 1]) or any(not e.terms for e in (f.uppers if side > 0 else f.lowers)):
        return True
    start = 1e3 * f.law.scale + max((abs(float(e.constant)) for h in others for e in h.kinks), default=0.0)
    found = tail((Density(f.law, single(f.draw)), *others), Ray(f.draw, side, ZERO, start))
    if found is None:
        return False
    a = found.asymptote
    return bool(a.bursts or a.square > 0 or float(a.rate) * (1 - _MARGIN) > abs(float(weight)))
