"""Comparisons of a function of a value with a number, moved to the other side: log(v) >= 2 is v >= e^2.

The bound is a rational of 256 bits. Where the value is discrete, the author's own comparison has the last word at the
points beside the bound, as everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from dpest.errors import ExactRefused
from dpest.lang.logic import sign
from dpest.lang.nodes import (
    NODES,
    ArgExtreme,
    Compare,
    Draw,
    Function,
    Linear,
    Node,
    Pick,
    Product,
    Quotient,
    Relation,
    Written,
    combine,
    draws_of,
    linear,
    scaled,
)
from dpest.laws.continuous import Uniform
from dpest.numerics.elementary import Elementary, Kind, TooFar
from dpest.numerics.rationals import Rational, exact, is_number
from dpest.trace.atomic import has_finitely_many_points


@dataclass(frozen=True)
class FunctionBound:
    """function(value) compared with a bound: `>=` or `>` where `above`, `<=` or `<` else."""

    above: bool
    strict: bool
    bound: Rational


def moved(function: Elementary, side: FunctionBound, value: Linear, written: Written | None) -> Compare | bool:
    """The same comparison for a value inside the function's domain; a bound outside of its range decides it."""
    low, high = function.range
    if side.bound in (low, high) and side.strict == (side.above == (side.bound == low)):
        at = _rounded_to(function, side.bound)
        if at is not None:
            return _beyond(at, not side.strict, value, written)
    if low is not None and side.bound <= low and not _reaches_end(function, side.bound, low):
        return side.above
    if high is not None and side.bound >= high:
        return not side.above
    try:
        there = function.inverse().at(side.bound) if side.bound != low else function.domain[0]
    except TooFar as error:
        raise ExactRefused(f"a comparison moves to {error}, which has too many digits") from None
    assert there is not None
    above = side.above == function.rising
    gap = Linear(value.terms, value.constant - there)
    return Compare(Relation.GT if side.strict else Relation.GE, gap if above else scaled(gap, -1), written)


@dataclass(frozen=True)
class Threshold:
    """A number from which on a function is, rounded to a double, the end of its range; `above` or below it."""

    number: Rational
    above: bool


# Nearer to zero than that noise may come to where tanh (19), erf (6) or the normal law (8) are 1; exp underflows at -745.
_NOT_FAR = 40.0


@lru_cache(maxsize=256)
def _rounded_to(function: Elementary, end: Rational) -> Threshold | None:
    """Where the doubles that a function gives come to an open end of its range; None where only numbers far out lead there."""
    for inside, outside in ((0.0, _NOT_FAR), (0.0, -_NOT_FAR)):
        if function.values(outside) != float(end) or not function.inside(exact(outside)):
            continue
        while (middle := (inside + outside) / 2) not in (inside, outside):
            inside, outside = (inside, middle) if function.values(middle) == float(end) else (middle, outside)
        return Threshold(exact(outside), outside > 0)
    return None


def _beyond(at: Threshold, holds: bool, value: Linear, written: Written | None) -> Compare:
    """Whether a value is at a threshold or beyond it (or is not)."""
    gap = Linear(value.terms, value.constant - at.number)
    return Compare(Relation.GE if holds else Relation.GT, gap if at.above == holds else scaled(gap, -1), written)


def _reaches_end(function: Elementary, bound: Rational, low: Rational) -> bool:
    """A root is zero at zero: there the end of the range is a value."""
    return bound == low and function.kind.value == "power" and function.rising


def equal(function: Elementary, bound: Rational, value: Linear, written: Written | None) -> Compare | bool:
    """function(value) == bound for a value inside the function's domain."""
    low, high = function.range
    at = _rounded_to(function, bound) if bound in (low, high) else None
    if at is not None:
        return _beyond(at, True, value, written)
    ends = [e for e in (low, high) if e is not None]
    if any(bound == e for e in ends) and not (low is not None and _reaches_end(function, bound, low)):
        return False
    if (low is not None and bound < low) or (high is not None and bound > high):
        return False
    try:
        there = function.inverse().at(bound)
    except TooFar as error:
        raise ExactRefused(f"a comparison moves to {error}, which has too many digits") from None
    return Compare(Relation.EQ, Linear(value.terms, value.constant - there), written)


# -- values that are not finite ----------------------------------------------------------------------------------------


class NotFinite(ExactRefused):
    """A value that is NaN or infinite on a path, as NumPy's logarithm of a negative number is."""

    def __init__(self, value: float) -> None:
        super().__init__(f"arithmetic on a value that may be {value!r}")
        self.value = value


def numeric(x: Any) -> Any:
    """A value that arithmetic goes on with."""
    if isinstance(x, NODES) or is_number(x):
        return x
    if isinstance(x, float):
        raise NotFinite(x)
    raise ExactRefused(f"arithmetic on a value that may be {x!r}")


def holds(relation: Relation, x: float) -> bool:
    """Whether a number that is not finite is >= 0, > 0 or == 0: NaN is neither."""
    return relation is not Relation.EQ and x > 0


# -- one comparison ----------------------------------------------------------------------------------------------------


def product_compared(relation: Relation, node: Node, c: Rational, decide: Callable[[Any], bool]) -> bool:
    """A multiple of a product compared with zero: the signs of its factors decide."""
    assert isinstance(node, Product)

    def direction(x: Any) -> int:
        value = linear(x)
        if decide(Compare(Relation.GT, value)):
            return 1
        return 0 if decide(Compare(Relation.EQ, value)) else -1

    return sign(relation, c * direction(node.left) * direction(node.right))


def other_side(condition: Compare, node: Node, c: Rational, decide: Callable[[Any], bool]) -> Compare | bool | None:
    """A comparison of a function or a quotient with a number, without it; None where affine forms do, or do better."""
    found = _on_other_side(condition, node, c, decide)
    if not isinstance(found, Compare) or not _is_noise(node):
        return found
    inner = found.value.terms[0] if len(found.value.terms) == 1 else None
    if inner is not None and isinstance(inner[0], Function | Quotient):  # the outermost function has the law that is known best
        return found if other_side(found, *inner, decide) is not None else None
    return None if _beside_an_end(found) else found


def _on_other_side(condition: Compare, node: Node, c: Rational, decide: Callable[[Any], bool]) -> Compare | bool | None:
    relation, k = condition.relation, condition.value.constant
    match node:
        case Function(function=function, value=inner):
            if relation is Relation.EQ:
                return equal(function, -k / c, linear(inner), condition.written)
            return moved(function, FunctionBound(c > 0, relation is Relation.GT, -k / c), linear(inner), condition.written)
        case Quotient(left=left, right=right) if not has_finitely_many_points(linear(right)):
            value = combine(scaled(linear(left), c), linear(right), k) if k else scaled(linear(left), c)
            if relation is not Relation.EQ and not decide(Compare(Relation.GT, linear(right))):
                value = scaled(value, -1)
            return Compare(relation, value) if value.terms else sign(relation, value.constant)
    return None


_BESIDE = exact(2) ** -10  # of an end of a draw's support: nearer to it floating-point numbers lose three digits of a distance


def _beside_an_end(condition: Compare) -> bool:
    """Whether a comparison cuts a draw so near to an end of its support that floating-point numbers lose what is left of it.

    -log(1 - u) > 40 is u > 1 - e^-40, which rounds to 1. The function's own law has that tail in all its digits.
    """
    if len(condition.value.terms) != 1:
        return False
    ((draw, c),) = condition.value.terms
    if not isinstance(draw, Draw) or draw.law.discrete:
        return False
    bound = -condition.value.constant / c
    ends = [exact(x) for x in draw.law.support if math.isfinite(x)]
    return any(0 < abs(bound - end) < _BESIDE * abs(end) for end in ends)


def both_sides(condition: Compare) -> Compare | None:
    """f(a) > f(b) is a > b for a rising f: the same function on both sides is taken off; None where there is none."""
    value = condition.value
    if value.constant or len(value.terms) != 2:
        return None
    (first, c), (second, d) = value.terms
    if not (isinstance(first, Function) and isinstance(second, Function)) or first.function != second.function or c != -d:
        return None
    if first.function.kind is Kind.RECIPROCAL or _is_noise(first) or _is_noise(second):
        return None
    gap = combine(linear(first.value), linear(second.value), -1)
    above = (c > 0) == first.function.rising
    return Compare(condition.relation, gap if above else scaled(gap, -1), condition.written) if gap.terms else None


def _is_noise(node: Node) -> bool:
    """Whether a function makes noise out of a uniform draw: such noise is a draw of its own everywhere, or nowhere."""
    return any(isinstance(d.law, Uniform) for d in draws_of(node))


def without_function(node: ArgExtreme) -> ArgExtreme:
    """The largest of f(a), f(b), ... is where the largest of a, b, ... is, for a rising f."""
    values, pick = node.values, node.pick
    while all(isinstance(v, Function) and v.function == values[0].function for v in values):
        if values[0].function.kind is Kind.RECIPROCAL or any(map(_is_noise, values)):
            break
        if not values[0].function.rising:
            pick = Pick.MIN if pick is Pick.MAX else Pick.MAX
        values = tuple(v.value for v in values)
    return node if values is node.values else ArgExtreme(pick, values)
