"""Noise of uniform draws and angles: Box and Muller's Gaussian, a radius sqrt(-2 ln u) times the cosine of an angle.

Two exponential values times cosines, E cos(S) + F cos(T), are Laplace noise: each of the two has the characteristic function
(1 + t^2)^(-1/2). What is made in this way is a draw of its own, made of others. What else is known of either of those is known
of it as well, in a way that is not followed: they all count as one draw, and a case that uses two of them is refused.
"""

from __future__ import annotations

import math
from typing import Any

from dpest.errors import ExactRefused
from dpest.lang.made_of import HalfTurn, Polar, TwoTurned
from dpest.lang.nodes import Apply, Draw, Function, Linear, Product, linear, scaled
from dpest.lang.origins import root
from dpest.laws.continuous import Gaussian, Laplace, Uniform
from dpest.numerics.elementary import Kind
from dpest.numerics.rationals import ONE, Rational, exact

Angle = tuple[Draw, Rational, Rational, str]  # v, slope, start and name, for the cosine or sine of slope * v + start
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


def angle_of(node: Any) -> Angle | None:
    """cos(slope * v + start) or sin of it, the angle uniform over whole turns."""
    found = _angle(node)
    if found is None:
        return None
    low, high = (exact(x) for x in found[0].law.support)
    turns = abs(found[1]) * (high - low) / _TURN
    return found if turns.denominator == 1 else None


def _angle(node: Any) -> Angle | None:
    """The cosine or sine of a uniform draw times a slope, from a start."""
    name = getattr(node.function, "__name__", "") if isinstance(node, Apply) else ""
    if name not in ("cos", "sin") or len(node.values) != 1:
        return None
    place = linear(node.values[0])
    uniform = _uniform(place)
    return None if uniform is None else (uniform, place.terms[0][1], place.constant, name)


def laplace_of(one: tuple[Product, Rational], other: tuple[Product, Rational]) -> Linear | None:
    """The sum of two products with factors as Laplace noise; None where it is another sum."""
    left, right = half_turn(one[0]), half_turn(other[0])
    if left is None or right is None:
        return None
    (first, a), (second, b) = left, right
    draws = (first.length, first.angle, second.length, second.angle)
    size, sign = one[1] * a, (other[1] * b) / (one[1] * a)
    if abs(sign) != 1 or len({id(x) for x in draws}) < len(draws):
        return None

    def make() -> Draw:
        if any(root(x) is not x for x in draws):
            raise ExactRefused("a uniform draw that Laplace noise is made of is part of other noise too")
        new = Draw(Laplace(1.0), made_of=TwoTurned(first, second, int(sign)))
        for x in (new, *draws[1:]):
            x.derived.joined = draws[0]
        return new

    return scaled(linear(draws[0].derived.once(("two turned", first, second, sign), make)), size)


def half_turn(node: Product) -> tuple[HalfTurn, Rational] | None:
    """An exponential value times the cosine of an angle over half turns, and the factor in front."""
    for one, other in ((linear(node.left), linear(node.right)), (linear(node.right), linear(node.left))):
        if len(one.terms) != 1 or len(other.terms) != 1 or one.constant or other.constant:
            continue
        logarithm, angle = _log_of_uniform(one.terms[0][0]), half_turned(other.terms[0][0])
        if logarithm is not None and angle is not None:
            return HalfTurn(logarithm[0], angle[0], *logarithm[1:], *angle[1:]), -one.terms[0][1] * other.terms[0][1]
    return None


def _log_of_uniform(node: Any) -> tuple[Draw, Rational, Rational] | None:
    """(u, factor, offset) for ln(factor * u + offset), the argument uniform between 0 and 1."""
    if not isinstance(node, Function) or node.function.kind not in (Kind.LOG, Kind.LOG1P) or node.function.parameter is not None:
        return None
    place = linear(node.value)
    uniform = _uniform(place)
    if uniform is None:
        return None
    factor, offset = place.terms[0][1], place.constant + (1 if node.function.kind is Kind.LOG1P else 0)
    ends = sorted(factor * exact(x) + offset for x in uniform.law.support)
    return (uniform, factor, offset) if ends == [0, 1] else None


def half_turned(node: Any) -> Angle | None:
    """cos(slope * v + start) over half turns, or sin of it over whole turns."""
    found = _angle(node)
    if found is None:
        return None
    draw, slope, start, name = found
    ends = [2 * (slope * exact(x) + start) / _TURN for x in draw.law.support]
    turns = abs(ends[1] - ends[0])
    whole = turns.denominator == 1 and (turns.numerator % 2 == 0 or (name == "cos" and ends[0].denominator == 1))
    return found if whole and turns else None


def _uniform(place: Linear) -> Draw | None:
    if len(place.terms) != 1:
        return None
    draw = place.terms[0][0]
    return draw if isinstance(draw, Draw) and isinstance(draw.law, Uniform) and draw.origin is None else None


def _made(radius: tuple[Draw, Rational, Rational, Rational], angle: Angle) -> Draw:
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
