"""The tail of an integral over a draw that a bound carries along: the second largest of several values, far out.

The draw is written as the bound plus s. At every s each factor, times the exponential at which it decays, then grows with the
variable to a constant times an exponential of s, since its logarithm is concave. So does the integral, to that of their product.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from dpest.exact.inference.changed import changed
from dpest.exact.inference.expressions import Expr, plus, single
from dpest.exact.inference.factors import Between, Density, Factor, Integral
from dpest.exact.inference.rays import Ray
from dpest.laws.asymptote import Asymptote
from dpest.laws.law import Continuous
from dpest.numerics.rationals import ZERO, Rational

_CERTAIN = Asymptote(0.0)


def sliding_tail(f: Integral, ray: Ray) -> Asymptote | None:
    """What the integral grows to; None where no bound carries the draw along, or a factor is not known to grow."""
    for bounds, others, side in ((f.lowers, f.uppers, 1), (f.uppers, f.lowers, -1)):
        if others or len(bounds) != 1 or set(bounds[0].variables()) != {ray.variable}:
            continue
        (bound,) = bounds

        def carried(e: Expr, bound: Expr = bound) -> Expr:
            return plus(e, bound, e.coefficient(f.draw))

        return _limit([Density(f.law, carried(single(f.draw))), *(changed(g, carried) for g in f.factors)], f.draw, side, ray)
    return None


def _limit(factors: Sequence[Factor], draw: int, side: int, ray: Ray) -> Asymptote | None:
    """The integral of the factors' limits over side * s >= 0."""
    constant, rate, tilt = 0.0, ZERO, ZERO
    for g in factors:
        found = _factor(g, draw, ray)
        if found is None:
            return None
        constant, rate, tilt = constant + found[0].constant, rate + found[0].rate, tilt + found[1]
    if side * tilt >= 0:
        return None
    return Asymptote(constant - math.log(float(abs(tilt))), rate)


def _factor(g: Factor, draw: int, ray: Ray) -> tuple[Asymptote, Rational] | None:
    """A factor's limit: its asymptote in the variable, and the coefficient of s in its exponent."""
    if not isinstance(g, Density | Between) or not isinstance(g.law, Continuous) or not g.law.log_concave:
        return None
    places = (g.place,) if isinstance(g, Density) else g.lowers + g.uppers
    if len(places) != 1 or set(places[0].variables()) - {ray.variable, draw} or g.law.log_mass:
        return None
    slope, offset = ray.line(places[0])
    if not slope:
        return None
    side = 1 if slope > 0 else -1
    if isinstance(g, Between) and side == (1 if g.uppers else -1):
        return _CERTAIN, ZERO
    declared = g.law.asymptote(side) if isinstance(g, Density) else g.law.mass_asymptote(side)
    if declared is None or declared.power or declared.square or declared.bursts or declared.rate <= 0:
        return None
    power = 1 if isinstance(g, Density) else g.power
    moved = declared.moved(abs(slope), side * offset)
    assert moved is not None
    asymptote = Asymptote(power * moved.constant, power * moved.rate)
    return asymptote, -power * declared.rate * side * places[0].coefficient(draw)
