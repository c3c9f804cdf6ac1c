"""How products of factors behave along a half-line: leading terms from what laws declare, and a rigorous enclosure of the rest.

A variable goes to infinity as `origin + side * t`. A factor's tail says: for every t >= start, the logarithm of the factor
lies within [low, high] of its asymptote.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from dpest.exact.inference.expressions import single
from dpest.exact.inference.factors import Between, Density, Factor, Indicator, Integral
from dpest.exact.inference.integral_tails import integral_tail
from dpest.exact.inference.rays import NEUTRAL, OffsetAndSlope, Ray, Tail, Unsettled, active
from dpest.laws.asymptote import Asymptote
from dpest.laws.discrete import Geometric
from dpest.laws.law import Continuous, Discrete
from dpest.numerics.logspace import log1mexp
from dpest.numerics.rationals import ZERO, Rational


def tail(factors: Iterable[Factor], ray: Ray) -> Tail | None:
    """The tail of a product; None where one of the factors declares nothing, or not from this start on."""
    total = NEUTRAL
    for f in factors:
        try:
            one = _factor(f, ray)
        except Unsettled:
            return None
        if one is None:
            return None
        total = total + one
    return total


def product_asymptotes(law: Continuous, draw: int, factors: Sequence[Factor]) -> tuple[Asymptote | None, Asymptote | None]:
    """How a law times factors of the same draw decays on either side; None where it does not grow towards what is declared."""
    out = []
    for side in (-1, 1):
        places = [abs(float(k.constant / k.coefficient(draw))) for f in factors for k in f.kinks if k.coefficient(draw)]
        start = 50 * law.scale + max([*places, *(abs(k) for k in law.kinks)], default=0.0)
        found = tail((Density(law, single(draw)), *factors), Ray(draw, side, ZERO, start))
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
            return integral_tail(f, ray, tail)
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
    if distance <= 0 or value == -math.inf or (declared.power and start <= 0):
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
    if any(v != ray.variable for e in f.lowers + f.uppers for v, _ in e.terms):
        return None
    low, high = active(f.lowers, ray, 1), active(f.uppers, ray, -1)
    found = _interval(f, low, high, ray)
    if found is None or f.power == 1:
        return found
    k = f.power
    a = found.asymptote
    many = Asymptote(k * a.constant, k * a.rate, k * a.power, k * a.square, a.bursts * k)
    return Tail(many, k * found.low, k * found.high, k * found.error)


def _interval(f: Between, low: OffsetAndSlope | None, high: OffsetAndSlope | None, ray: Ray) -> Tail | None:
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
        lowers=tuple(e for e in f.lowers if not e.terms),
        uppers=tuple(e for e in f.uppers if not e.terms),
    )
    limit, error = stay.log({})
    top = float(np.ravel(limit)[0]) if stay.lowers or stay.uppers else f.law.log_mass
    return Tail(Asymptote(top), min(here - top, 0.0), 0.0, off + float(np.max(error)))


def _leaving(
    law: Continuous, near: OffsetAndSlope, far: OffsetAndSlope | None, side: int, here: float, off: float, ray: Ray
) -> Tail | None:
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


def _geometric(f: Between, near: OffsetAndSlope, far: OffsetAndSlope | None, side: int, ray: Ray) -> Tail | None:
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
