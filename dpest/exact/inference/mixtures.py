"""How far the log of an integral can bend upwards in one variable, whatever law the draw that is integrated out has.

Of h(y) = ln of the integral of W(s) e^(g(y, s)) the second derivative is the mean of g'' plus the variance of g', by a law of
s. Where every g is concave in y with slopes between -d and u the mean is at most 0; the variance is at most ((d + u) / 2)^2,
whatever the law (Popoviciu).
"""

from __future__ import annotations

import math

from dpest.exact.inference.expressions import Expr
from dpest.exact.inference.factors import Between, Density, Factor, Integral
from dpest.laws.law import Continuous
from dpest.numerics.rationals import ZERO, Rational


def mixed_bend(f: Integral, variable: int) -> float:
    """A bound on the second derivative of ln f in a variable; infinite where none is known."""
    spread = _spread(f, variable)
    return math.inf if spread is None else float(spread / 2) ** 2


def _spread(f: Factor, variable: int) -> Rational | None:
    """The largest slope minus the least one of ln f in the variable, where that is concave; None where it is not known."""
    if variable not in f.scope:
        return ZERO
    match f:
        case Density(law=law, place=place):
            return _slopes(law, [place], variable)
        case Between(law=law, power=power):
            found = _slopes(law, [*f.lowers, *f.uppers], variable)
            return None if found is None else power * found
        case Integral():
            # The slope of the log of an integral is a mean of slopes; its bounds must not move.
            if any(e.coefficient(variable) for e in f.lowers + f.uppers):
                return None
            total = ZERO
            for g in f.factors:
                one = _spread(g, variable)
                if one is None:
                    return None
                total += one
            return total
    return None


def _slopes(law: object, places: list[Expr], variable: int) -> Rational | None:
    """The same for a density at a place, or a mass between places that move alike: what a shift of the law costs."""
    moves = {e.coefficient(variable) for e in places}
    if not isinstance(law, Continuous) or not law.log_concave or len(moves) != 1:
        return None
    up, down = law.shift_cost()
    if up is None or down is None:
        return None
    return abs(moves.pop()) * (up + down)
