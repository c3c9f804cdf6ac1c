"""Box and Muller's Gaussian: a radius sqrt(-2 ln u) times the cosine (or sine) of an angle that makes whole turns.

The product is a draw of its own, made of two others. What else is known of either of those two is known of it as well, in
a way that is not followed: they all count as one draw, and a case that uses two of them is refused.
"""

from __future__ import annotations

import math
from typing import Any

from dpest.errors import ExactRefused
from dpest.lang.made_of import Polar
from dpest.lang.nodes import Apply, Draw, Function, Linear, linear, scaled
from dpest.lang.origins import root
from dpest.laws.continuous import Gaussian, Uniform
from dpest.numerics.elementary import Kind
from dpest.numerics.rationals import ONE, Rational, exact

_TURN = 2 * exact(math.pi)


def gaussian_of(left: Any, right: Any) -> Linear | None:
    """The product as an affine expression of one Gaussian draw; None where it is another product."""
    for one, other in ((linear(left), linear(right)), (linear(right), linear(left))):
        if len(one.terms) != 1 or len(other.terms) != 1 or one.constant or other.constant:
            continue
        radius, angle = _radius(one.terms[0][0]), angle_of(other.terms[0][0])
        if radius is not None and angle is not None and radius[0] is not angle[0]:
            return scaled(linear(_made(radius, angle)), one.terms[0][1] * other.terms[0][1])
    return None


def _radius(node: Any) -> tuple[Draw, Rational, Rational, Rational] | None:
    """(u, spread, factor, offset) for sqrt(-spread * ln(factor * u + offset)), the argument uniform between 0 and 1."""
    if not isinstance(node, Function) or node.function.kind is not Kind.POWER or node.function.parameter != ONE / 2:
        return None
    inner = linear(node.value)
    if len(inner.terms) != 1 or inner.constant or not inner.terms[0][1] < 0:
        return None
    log, c = inner.terms[0]
    if not isinstance(log, Function) or log.function.kind is not Kind.LOG or log.function.parameter is not None:
        return None
    place = linear(log.value)
    uniform = _uniform(place)
    if uniform is None:
        return None
    factor = place.terms[0][1]
    ends = sorted(factor * exact(x) + place.constant for x in uniform.law.support)
    return (uniform, -c, factor, place.constant) if ends == [0, 1] else None


def angle_of(node: Any) -> tuple[Draw, Rational, Rational, str] | None:
    """(v, slope, start, name) for cos(slope * v + start) or sin of it, the angle uniform over whole turns."""
    name = getattr(node.function, "__name__", "") if isinstance(node, Apply) else ""
    if name not in ("cos", "sin") or len(node.values) != 1:
        return None
    place = linear(node.values[0])
    uniform = _uniform(place)
    if uniform is None:
        return None
    slope = place.terms[0][1]
    low, high = (exact(x) for x in uniform.law.support)
    turns = abs(slope) * (high - low) / _TURN
    return (uniform, slope, place.constant, name) if turns.denominator == 1 else None


def _uniform(place: Linear) -> Draw | None:
    if len(place.terms) != 1:
        return None
    draw = place.terms[0][0]
    return draw if isinstance(draw, Draw) and isinstance(draw.law, Uniform) and draw.origin is None else None


def _made(radius: tuple[Draw, Rational, Rational, Rational], angle: tuple[Draw, Rational, Rational, str]) -> Draw:
    (u, spread, factor, offset), (v, slope, start, name) = radius, angle

    def make() -> Draw:
        if root(v) is not v and root(v) is not root(u):
            raise ExactRefused("one uniform draw is the angle of two Gaussian ones")
        made = Polar(u, v, spread, factor, offset, slope, start, name)
        new = Draw(Gaussian(math.sqrt(float(spread / 2))), made_of=made)
        new.derived.joined = v.derived.joined = u
        return new

    found: Draw = u.derived.once(("polar", id(v), spread, factor, offset, slope, start, name), make)
    return found
