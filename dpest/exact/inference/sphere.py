"""Noise of a random length in a uniform direction: planar Laplace, and noise for vectors that are near in the Euclidean norm.

The direction is (cos T, sin T) for an angle over whole turns, or Gaussian draws divided by their norm; the length is gamma
noise, a sum of exponential draws among them. What is known of one coordinate is known of all: they are one vector, or nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dpest.lang.nodes import Draw, Function, Linear, Node, Product, Quotient, linear
from dpest.lang.spans import is_absolute
from dpest.laws.continuous import Exponential, Gaussian
from dpest.laws.scipy_law import ScipyContinuous
from dpest.numerics.elementary import Kind
from dpest.numerics.rationals import ONE, ZERO, Rational, exact
from dpest.trace.images import image_of
from dpest.trace.polar import angle_of


@dataclass(frozen=True)
class Radius:
    """A gamma law: its shape, and its scale."""

    shape: Rational
    scale: Rational


@dataclass(frozen=True, eq=False)
class Spherical:
    """A leaf that is one coordinate of such noise, times a factor, plus a number."""

    node: Node
    vector: tuple[Any, ...]  # the draws, by their ids: equal for coordinates of one vector
    dimension: int
    coordinate: int
    radius: Radius
    factor: Rational
    offset: Rational
    draws: tuple[Draw, ...]


def spherical(x: Any) -> Spherical | None:
    """A leaf as a coordinate of noise in a uniform direction; None where it is none."""
    whole = linear(x)
    if len(whole.terms) != 1 or not isinstance(whole.terms[0][0], Product | Quotient):
        return None
    above, below, factor = _factors(whole.terms[0][0])
    factor = factor * whole.terms[0][1]
    if len(above) != 2 or len(below) > 1:
        return None
    for length, turned in (above, above[::-1]):
        radius = _radius(length)
        direction = _direction(turned, below) if radius is not None else None
        if radius is not None and direction is not None:
            law, lengths = radius
            name, dimension, coordinate, others = direction
            draws = (*lengths, *others)
            vector = (*map(id, lengths), *name)
            return Spherical(x, vector, dimension, coordinate, law, factor, whole.constant, draws)
    return None


def _factors(node: Any) -> tuple[list[Any], list[Any], Rational]:
    """A product as (factors, divisors, number)."""
    single = linear(node)
    if len(single.terms) != 1 or single.constant:
        return [node], [], ONE
    inner, c = single.terms[0]
    match inner:
        case Product(left=left, right=right):
            (a, b, x), (p, q, y) = _factors(left), _factors(right)
            return a + p, b + q, c * x * y
        case Quotient(left=left, right=right):
            (a, b, x), (p, q, y) = _factors(left), _factors(right)
            return a + q, b + p, c * x / y
    return [inner], [], c


def _radius(node: Any) -> tuple[Radius, tuple[Draw, ...]] | None:
    """Gamma noise, and the draws that it is made of."""
    value = linear(node)
    if value.constant or not value.terms:
        return None
    draws: list[Draw] = []
    shape, scales = ZERO, set()
    for term, c in value.terms:
        found = _gamma(term)
        if found is None:
            return None
        law, draw = found
        shape, draws = shape + law.shape, [*draws, draw]
        scales.add(c * law.scale)
    scale = scales.pop()
    return (Radius(shape, scale), tuple(draws)) if not scales and scale > 0 else None


def _gamma(term: Any) -> tuple[Radius, Draw] | None:
    """One draw of a gamma law, or the logarithm of a uniform one."""
    if isinstance(term, Function) and term.function.kind in (Kind.LOG, Kind.LOG1P):
        place = linear(term.value)
        if len(place.terms) != 1 or not isinstance(place.terms[0][0], Draw) or place.terms[0][0].law.discrete:
            return None
        image = image_of(term, place)
        if image.constant:
            return None
        draw, c = image.terms[0]
        found = _gamma(draw)
        return None if found is None else (Radius(found[0].shape, c * found[0].scale), place.terms[0][0])
    if not isinstance(term, Draw):
        return None
    match term.law:
        case Exponential(b=b):
            return Radius(ONE, exact(b)), term
        case ScipyContinuous(name="gamma", shapes=(shape,), spread=spread):
            return Radius(exact(shape), exact(spread)), term
    return None


def _direction(node: Any, below: Sequence[Any]) -> tuple[tuple[Any, ...], int, int, tuple[Draw, ...]] | None:
    """(name, dimension, coordinate, draws) of a uniform direction's coordinate."""
    if not below:
        found = angle_of(node)
        if found is None:
            return None
        draw, slope, start, function = found
        return (id(draw), slope, start), 2, ("cos", "sin").index(function), (draw,)
    draws = _norm(below[0])
    if draws is None or len(draws) < 2 or all(d is not node for d in draws):
        return None
    at = next(i for i, d in enumerate(draws) if d is node)
    return tuple(map(id, draws)), len(draws), at, draws


def _norm(node: Any) -> tuple[Draw, ...] | None:
    """The Gaussian draws, with one scale, of whose squares a value is the root of the sum."""
    if not isinstance(node, Function) or node.function.kind is not Kind.POWER or node.function.parameter != ONE / 2:
        return None
    inner = linear(node.value)
    draws = [_squared(term) for term, c in inner.terms if c == 1]
    if inner.constant or len(draws) < len(inner.terms) or len({id(d) for d in draws}) < len(draws):
        return None
    found = tuple(d for d in draws if d is not None)
    laws = {d.law for d in found}
    return found if len(found) == len(draws) and len(laws) == 1 and isinstance(found[0].law, Gaussian) else None


def _squared(node: Any) -> Draw | None:
    """The draw that a value is the square of."""
    if not isinstance(node, Function) or node.function.kind is not Kind.POWER or node.function.parameter != 2:
        return None
    inner = node.value
    value = linear(inner.values[0]) if is_absolute(inner) else linear(inner)  # type: ignore[union-attr]
    one: Linear = value
    if len(one.terms) != 1 or one.constant or abs(one.terms[0][1]) != 1:
        return None
    draw = one.terms[0][0]
    return draw if isinstance(draw, Draw) and draw.origin is None else None
