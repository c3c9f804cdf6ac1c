"""How large a discrete value can be on the way to its result, and whether the author's floating-point arithmetic rounds it.

Sums and products of numbers that are multiples of one power of two, and not too many of them, are exact in floats: there
rationals and the program agree. Everywhere else the program has to be asked next to a bound.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, assert_never

from dpest.lang.folding import folded
from dpest.lang.nodes import (
    All,
    Apply,
    ArgExtreme,
    Compare,
    Draw,
    Extreme,
    Function,
    Linear,
    Node,
    Not,
    Product,
    Quotient,
    Ranked,
    Rounded,
    Where,
    children,
    is_node,
    selected,
)
from dpest.laws.law import Discrete

_MOST_EXACT = 2.0**53  # whole multiples of the grain up to here are exact as doubles
_FAR = -60.0  # ln of the mass beyond which the values of an infinite law are not looked at


@dataclass(frozen=True, slots=True)
class Extent:
    """Values up to `size`, multiples of `grain` (a power of two), computed without rounding where `exact`."""

    size: float
    grain: float
    exact: bool


_UNKNOWN = Extent(math.inf, 0.0, False)
_TRUTH = Extent(1.0, 1.0, True)


def extent(node: Any, known: Mapping[int, Any] | None = None) -> Extent:
    """The extent of a value, taking into account all that the author computed on the way to it.

    `known` has what nodes came down to, by their id: numbers, or nodes that stand in for them.
    """
    stand_ins = known or {}

    def parts(x: Node) -> Iterator[Node]:
        stand_in = stand_ins.get(id(x), x)
        return filter(is_node, _parts(x) if stand_in is x else (stand_in,))

    def value(x: Node, found: Mapping[int, Extent]) -> Extent:
        def at(y: Any) -> Extent:
            return found[id(y)] if is_node(y) else of_number(y)

        stand_in = stand_ins.get(id(x), x)
        return _of_node(x, at) if stand_in is x else at(stand_in)

    return folded(node, parts, value) if is_node(node) else of_number(node)


def is_rounded(node: Any) -> bool:
    """Whether a discrete value is rounded on the way to it, so that equal rationals need not be equal numbers of the program."""
    if not is_node(node):
        return False
    found = extent(node)
    return math.isfinite(found.size) and not found.exact


def compared(condition: Any, known: Mapping[int, Any] | None = None) -> Extent:
    """The extent of what a comparison subtracts from each other; other conditions are settled elsewhere."""
    if not isinstance(condition, Compare):
        return _TRUTH
    sides = [extent(x, known) for x in (condition.written[1] if condition.written else (condition.value,))]
    return Extent(sum(s.size for s in sides), min(s.grain for s in sides), all(s.exact for s in sides))


def _parts(node: Node) -> tuple[Any, ...]:
    """What a node is computed from, as it was written; what is decided before it counts as a number is none of it."""
    match node:
        case Linear(written=written) if written is not None:
            return written[1]
        case Rounded(value=value, written=written) if written is not None:
            return (*written[1], value)
        case Rounded(value=Linear(written=written) as value) if written is not None:
            return (*written[1], value)
        case Where(yes=yes, no=no):
            return yes, no
        case Compare() | Not() | All() | ArgExtreme() | Ranked(place=True):
            return ()
    return children(node)


def of_number(x: Any) -> Extent:
    """The extent of a plain number."""
    if not isinstance(x, int | float) or not math.isfinite(x):
        return _UNKNOWN
    if not x:
        return Extent(0.0, math.inf, True)
    top, bottom = x.as_integer_ratio()
    return Extent(abs(float(x)), (top & -top) / bottom, True)


def _of_node(node: Node, at: Callable[[Any], Extent]) -> Extent:
    match node:
        case Draw(law=law):
            return _of_draw(law)
        case Linear(written=written):
            return _exactly(node, at) if written is None else _applied(written[0], [at(x) for x in written[1]])
        case Compare() | Not() | All():
            return _TRUTH  # decided before it counts as a number
        case ArgExtreme(values=values) | Ranked(values=values, place=True):
            return Extent(float(len(values)), 1.0, True)
        case Where(yes=yes, no=no):
            # NaN and infinities are compared without rounding.
            ends = [x for x in (yes, no) if not (isinstance(x, float) and not math.isfinite(x))]
            return _either([at(x) for x in ends]) if ends else of_number(0)
        case Extreme(values=values) | Ranked(values=values):
            return _either([at(x) for x in values])
        case Rounded():
            return _rounded(node, at)
        case Product(left=left, right=right):
            return _times(at(left), at(right))
        case Quotient(left=left, right=right):
            size = at(left).size / at(right).grain if at(right).exact else math.inf
            return Extent(size, 0.0, False)
        case Function(value=value):
            return Extent(at(value).size, 0.0, False)  # compared, it moves to the value inside it
        case Apply():
            return _UNKNOWN
        case _:
            assert_never(node)


def _of_draw(law: Any) -> Extent:
    if not isinstance(law, Discrete):
        return _UNKNOWN
    finite = math.isfinite(law.support[0]) and math.isfinite(law.support[1])
    if not law.integral:
        return _either([of_number(float(x)) for x in law.window(0.0)[0]]) if finite and not law.unknown else _UNKNOWN
    return Extent(law.largest(_FAR), 1.0, True)


def _exactly(node: Linear, at: Callable[[Any], Extent]) -> Extent:
    """A point of a lattice, which the author has as one number."""
    size, grain, exact = abs(float(node.constant)), _grain(node.constant), True
    for part, c in node.terms:
        one = at(part)
        size, grain, exact = size + abs(float(c)) * one.size, min(grain, _grain(c) * one.grain), exact and one.exact
    return Extent(size, grain, exact and grain > 0)


def _grain(x: Any) -> float:
    """The largest power of two of which a rational is a multiple; 0 where there is none."""
    if not x:
        return math.inf
    bottom = int(x.denominator)
    if bottom & (bottom - 1):
        return 0.0
    top = int(x.numerator)
    return (top & -top) / bottom


def _applied(function: Any, sides: list[Extent]) -> Extent:
    if function is operator.neg:
        return sides[0]
    if function is selected:
        return _either(sides[1:])
    if len(sides) != 2:
        return _unsure(sides)
    a, b = sides
    if function in (operator.add, operator.sub):
        return _checked(a.size + b.size, min(a.grain, b.grain), a.exact and b.exact)
    if function is operator.mul:
        return _times(a, b)
    if function is operator.truediv:
        return Extent(a.size / b.size, a.grain / b.size, a.exact and b.size == b.grain)
    if function is operator.mod:
        return _checked(a.size + b.size, min(a.grain, b.grain), a.exact and b.exact)
    return _unsure(sides)


def _unsure(sides: list[Extent]) -> Extent:
    return Extent(sum(s.size for s in sides), 0.0, False)


def _times(a: Extent, b: Extent) -> Extent:
    if not (a.size and b.size):
        return of_number(0)
    return _checked(a.size * b.size, a.grain * b.grain, a.exact and b.exact)


def _checked(size: float, grain: float, exact: bool) -> Extent:
    return Extent(size, grain, exact and size <= _MOST_EXACT * grain)


def _either(options: list[Extent]) -> Extent:
    return Extent(max(o.size for o in options), min(o.grain for o in options), all(o.exact for o in options))


def _rounded(node: Rounded, at: Callable[[Any], Extent]) -> Extent:
    """A whole number; which one is beyond doubt where what is rounded is, or is a quotient of whole numbers."""
    value = at(node.value)
    exact, size = value.exact, value.size
    if node.written is not None:
        sides = [at(x) for x in node.written[1]]
        exact, size = all(s.exact for s in sides), max([size, *(s.size for s in sides)])
    elif isinstance(node.value, Linear) and node.value.written is not None and node.value.written[0] is operator.truediv:
        a, b = (at(x) for x in node.value.written[1])
        exact = exact or (a.exact and b.exact and min(a.grain, b.grain) >= 1 and a.size < _MOST_EXACT / 4)
    return Extent(size + 1, 1.0, exact)
