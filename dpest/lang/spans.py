"""Where a random value can lie, from the supports of its draws: what is known without looking at any path."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from dpest.lang.folding import folded
from dpest.lang.nodes import (
    All,
    ArgExtreme,
    Compare,
    Draw,
    Extreme,
    Function,
    Linear,
    Node,
    Not,
    Pick,
    Product,
    Relation,
    Rounded,
    Where,
    children,
    is_node,
    linear,
)
from dpest.laws.continuous import Exponential, Uniform
from dpest.laws.law import Law
from dpest.numerics.elementary import Elementary, Kind, TooFar
from dpest.numerics.ranges import ANYTHING, Range, ends, floats, hull, largest_of, product, smallest_of, total
from dpest.numerics.rationals import ONE, ZERO, Rational, ceil, exact, floor, is_number

DrawEnds: TypeAlias = Callable[[Law], tuple[float, float]]  # two numbers between which a draw of a law lies


def _support(law: Law) -> tuple[float, float]:
    return law.support


def reach(node: Any, of_draw: DrawEnds = _support, *, rare: float | None = None) -> tuple[float, float]:
    """Two numbers between which a value lies as the program computes it."""
    return floats(span(node, of_draw, rare=rare))


def span(node: Any, of_draw: DrawEnds = _support, *, off: int = 1, rare: float | None = None) -> Range:
    """An interval that holds every value of a node.

    A rounded number may be `off` by one: next to a half or a whole number the program's own arithmetic decides. `rare` is ln of a
    probability that does not count; logarithms of uniform noise are then bounded, and infinite numbers left out.
    """

    def value(x: Node, found: Mapping[int, Range]) -> Range:
        def at(y: Any) -> Range:
            return found[id(y)] if is_node(y) else _of_number(y)

        known = _of_node(x, at, of_draw, off)
        return known if rare is None else _but_for(rare, x, known, at)

    return folded(node, lambda x: filter(is_node, children(x)), value) if is_node(node) else _of_number(node)


def _of_number(x: Any) -> Range:
    return (exact(x), exact(x)) if is_number(x) else ANYTHING


def _of_node(node: Node, at: Callable[[Any], Range], of_draw: DrawEnds, off: int) -> Range:
    match node:
        case Draw(law=law):
            return ends(*of_draw(law))
        case Linear(terms=terms, constant=constant):
            return total(((at(n), c) for n, c in terms), constant)
        case Compare() | Not() | All():
            return ZERO, ONE
        case Extreme(pick=pick, values=values):
            found = (largest_of if pick is Pick.MAX else smallest_of)([at(v) for v in values])
            return largest_of([found, (ZERO, found[1])]) if is_absolute(node) else found
        case ArgExtreme(values=values):
            return ZERO, exact(len(values) - 1)
        case Rounded(value=value):
            low, high = at(value)
            return (None if low is None else exact(floor(low) - off)), (None if high is None else exact(ceil(high) + off))
        case Where(yes=yes, no=no):
            return hull([at(yes), at(no)])
        case Product(left=left, right=right):
            low, high = product(at(left), at(right))
            # A square is not negative, and the largest product of two ends is the larger square.
            return (ZERO if left is right and (low is None or low < 0) else low), high
        case Function(function=function, value=value):
            return _image(function, at(value))
    return ANYTHING


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


_LOGARITHMS = (Kind.LOG, Kind.LOG1P, Kind.LOGIT, Kind.FOLDED_LOG)
_NARROWEST, _SPARE = 1e-9, 50.0  # of noise, which is nearer than e^-t to a number with a probability of at most 2e9 e^-t


def _but_for(rare: float, node: Node, known: Range, at: Callable[[Any], Range]) -> Range:
    """Where a value lies, but for what is rare and for infinite numbers, which code puts where a logarithm is not defined."""
    match node:
        case Where(yes=yes, no=no):
            finite = [at(x) for x in (yes, no) if not _is_infinite(x)]
            return hull(finite) if finite else known
        # Noise is as near as e^-t to an end of the domain with a probability of about e^-t.
        case Function(function=function, value=value) if function.kind in _LOGARITHMS and _width(value) >= _NARROWEST:
            base = function.parameter
            far = exact(math.ceil((_SPARE - rare) / (1.0 if base is None else abs(math.log(base)))))
            low, high = known
            return -far if low is None else low, far if high is None else high
    return known


def _is_infinite(x: Any) -> bool:
    """Whether a value is infinite or NaN whatever the draws are."""
    return _is_infinite(x.yes) and _is_infinite(x.no) if isinstance(x, Where) else not (is_node(x) or math.isfinite(x))


def _width(node: Any) -> float:
    """One over the largest density of noise, scaled and moved, also with another sign in some cases; 0 for other values."""
    if is_absolute(node):
        return _width(node.values[0])
    match node:
        case Draw(law=Uniform() | Exponential() as law):
            return law.scale
        case Linear(terms=((inner, factor),)):
            return float(abs(factor)) * _width(inner)
        case Function(function=function, value=value) if function.kind is Kind.LOG and function.parameter is None:
            return _width(value) / max(reach(value)[1], 1e-300)  # ln(u) has the density of u, times u
        case Product(left=left, right=right):
            return max(_least(left) * _width(right), _least(right) * _width(left))
    return 0.0


def _least(node: Any) -> float:
    """The least size of a number that is chosen from several; 0 for other values."""
    if isinstance(node, Where):
        return min(_least(node.yes), _least(node.no))
    return abs(float(node)) if is_number(node) else 0.0


def _at(function: Elementary, x: Rational | None, side: int) -> Rational | None:
    """The function at an end of an interval, or the end of its range where it is not defined there."""
    outer = function.range[side if function.rising else 1 - side]
    if x is None or not function.inside(x):
        return outer
    try:
        return function.beyond(x, side if function.rising else 1 - side)
    except TooFar:
        return outer
