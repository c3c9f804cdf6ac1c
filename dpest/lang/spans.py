"""Where a random value can lie, from the supports of its draws: what is known without looking at any path."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from dpest.lang.nodes import Draw, Extreme, Function, Linear, Pick, Relation, is_node, linear
from dpest.numerics.elementary import Elementary, Kind, TooFar
from dpest.numerics.ranges import ANYTHING, Range, ends, largest_of, smallest_of, total
from dpest.numerics.rationals import ZERO, Rational, exact


def span(node: Any) -> Range:
    """An interval that holds every value of a node."""
    match node:
        case Draw(law=law):
            return ends(*law.support)
        case Linear(terms=terms, constant=constant):
            return total(((span(n), c) for n, c in terms), constant)
        case Extreme(pick=pick, values=values):
            found = (largest_of if pick is Pick.MAX else smallest_of)([span(v) for v in values])
            return largest_of([found, (ZERO, found[1])]) if is_absolute(node) else found
        case Function(function=function, value=value):
            return _image(function, span(value))
    return (exact(node), exact(node)) if isinstance(node, int | float) and math.isfinite(node) else ANYTHING


def is_decided(relation: Relation, where: Range) -> bool | None:
    """Whether a value in an interval is >= 0 or > 0; None where the interval does not tell."""
    low, high = where
    if relation is Relation.EQ:
        return None
    strict = relation is Relation.GT
    if low is not None and (low > 0 or (low == 0 and not strict)):
        return True
    return False if high is not None and (high < 0 or (high == 0 and strict)) else None


def never_negative(terms: Sequence[tuple[Any, Rational]], relation: Relation) -> bool:
    """Whether a sum is > 0, or its negative >= 0, where one of its terms is positive, or none: clipped values that are added."""
    upwards = relation is Relation.GT
    return all(isinstance(n, Extreme) and (c > 0) == upwards and span(n)[0] == 0 for n, c in terms)


def is_smooth(node: Any) -> bool:
    """Whether a value surely has no point of positive probability."""
    match node:
        case Draw(law=law):
            return not law.discrete
        case Linear(terms=terms):
            draws = [n for n, _ in terms if isinstance(n, Draw)]
            alone = len(terms) == 1 and is_smooth(terms[0][0])
            return alone or (len(draws) == len(terms) and any(not d.law.discrete for d in draws))
        case Extreme():
            return is_absolute(node) and is_smooth(node.values[0])
        case Function(value=value):
            return is_smooth(value)
    return False


def is_absolute(node: Any) -> bool:
    """Whether a value is the larger of another one and its negative."""
    if not (isinstance(node, Extreme) and node.pick is Pick.MAX and len(node.values) == 2 and all(map(is_node, node.values))):
        return False
    first, second = map(linear, node.values)
    if first.constant != -second.constant or len(first.terms) != len(second.terms):
        return False
    return all(n is m and c == -d for (n, c), (m, d) in zip(first.terms, second.terms, strict=True))


def _image(function: Elementary, inner: Range) -> Range:
    if function.kind is Kind.RECIPROCAL:
        return ANYTHING
    ends = [_at(function, x, side) for side, x in enumerate(inner)]
    return (ends[0], ends[1]) if function.rising else (ends[1], ends[0])


def _at(function: Elementary, x: Rational | None, side: int) -> Rational | None:
    """The function at an end of an interval, or the end of its range where it is not defined there."""
    outer = function.range[side if function.rising else 1 - side]
    if x is None or not function.inside(x):
        return outer
    try:
        return function.at(x)
    except TooFar:
        return outer
