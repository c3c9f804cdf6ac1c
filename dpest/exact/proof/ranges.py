"""How large an expression of inputs can be, and by how much it changes between adjacent inputs, in rational arithmetic."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from dpest.lang.nodes import (
    All,
    ArgExtreme,
    Compare,
    Draw,
    Extreme,
    Function,
    Linear,
    Not,
    Product,
    Relation,
    Rounded,
    Rounding,
    Where,
    ancestors,
    is_node,
)
from dpest.lang.nodes import linear as as_linear
from dpest.numerics.elementary import Elementary, Kind
from dpest.numerics.rationals import ONE, ZERO, Rational, ceil, exact, floor

RangeEnd: TypeAlias = Rational | None  # None: no bound on this side
Range: TypeAlias = tuple[RangeEnd, RangeEnd]

NOTHING: Range = (ZERO, ZERO)
ANYTHING: Range = (None, None)


def ends(low: float, high: float) -> Range:
    """A range from floats; infinite ends are none."""
    return (exact(low) if math.isfinite(low) else None), (exact(high) if math.isfinite(high) else None)


def floats(within: Range) -> tuple[float, float]:
    """Floats that enclose a range."""
    low, high = within
    below = -math.inf if low is None else float(low)
    above = math.inf if high is None else float(high)
    if low is not None and exact(below) > low:
        below = math.nextafter(below, -math.inf)
    if high is not None and exact(above) < high:
        above = math.nextafter(above, math.inf)
    return below, above


def range_of(node: Any) -> Range:
    """An interval that holds every value of an expression of inputs."""
    match node:
        case Draw(law=law):
            return ends(*law.support)
        case Linear(terms=terms, constant=constant):
            return _sum(((range_of(n), c) for n, c in terms), constant)
        case Compare() | Not() | All():
            return ZERO, ONE
        case Extreme(pick=pick, values=values):
            ranges = [range_of(v) for v in values]
            lows, highs = [r[0] for r in ranges], [r[1] for r in ranges]
            if pick.value == "max":
                return _most([x for x in lows if x is not None]), _most(highs)
            return _least(lows), _least([x for x in highs if x is not None])
        case ArgExtreme(values=values):
            return ZERO, exact(len(values) - 1)
        case Rounded(value=value):
            low, high = range_of(value)
            return (None if low is None else exact(floor(low))), (None if high is None else exact(ceil(high)))
        case Where(yes=yes, no=no):
            ranges = [range_of(yes), range_of(no)]
            return _least([r[0] for r in ranges]), _most([r[1] for r in ranges])
        case Product(left=left, right=right):
            low, high = _product(range_of(left), range_of(right))
            # A square is not negative, and the largest product of two ends is the larger square.
            return (ZERO if left is right and (low is None or low < 0) else low), high
        case Function(function=function, value=value):
            return _image(function, range_of(value))
        case int() | float():
            return exact(node), exact(node)
        case _:
            return ANYTHING


def change_of(node: Any, moved: Mapping[int, Range]) -> Range:
    """An interval that holds the change of an expression of inputs when each input (by id) changes within its own."""
    if not is_node(node) or not any(moved.get(id(n), NOTHING) != NOTHING for n in ancestors(node)):
        return NOTHING
    change: Range
    match node:
        case Draw():
            return moved[id(node)]
        case Linear(terms=terms):
            change = _sum(((change_of(n, moved), c) for n, c in terms), ZERO)
        case Extreme(values=values):
            changes = [change_of(v, moved) for v in values]
            change = _least([c[0] for c in changes]), _most([c[1] for c in changes])
        case Rounded(value=value):
            change = _rounded(change_of(value, moved), node.rounding)
        case Where() if (value := truncated(node)) is not None:
            low, high = change_of(value, moved)
            down = None if low is None else min(ZERO, exact(floor(low)))
            change = down, None if high is None else max(ZERO, exact(ceil(high)))
        case Compare(value=value):
            low, high = change_of(value, moved)
            rising = node.relation is not Relation.EQ
            falls = not (rising and low is not None and low >= 0)
            rises = not (rising and high is not None and high <= 0)
            change = (-ONE if falls else ZERO), (ONE if rises else ZERO)
        case _:
            change = ANYTHING
    low, high = range_of(node)
    if low is None or high is None:
        return change
    width = high - low
    return _most([-width, *_known(change[0])]), _least([width, *_known(change[1])])


def truncated(node: Where) -> Any:
    """The value of which a choice is the whole part towards zero, as `int(x)` is traced; None where it is another choice."""
    condition, yes, no = node.condition, node.yes, node.no
    if not isinstance(yes, Rounded) or not isinstance(no, Rounded) or not isinstance(condition, Compare):
        return None
    sides = (yes.rounding, no.rounding) == (Rounding.FLOOR, Rounding.CEIL) and condition.relation is Relation.GE
    forms = [as_linear(x) for x in (yes.value, no.value, condition.value)]
    one = all((f.terms, f.constant) == (forms[0].terms, forms[0].constant) for f in forms)
    return yes.value if sides and one else None


def _rounded(change: Range, rounding: Rounding) -> Range:
    """The change of a rounded value: `round` sends halves to the even side, so that 0.5 and 1.5 become 0 and 2."""
    low, high = change
    if rounding is Rounding.ROUND:
        down = None if low is None else ZERO if low >= 0 else exact(ceil(low) - 1)
        up = None if high is None else ZERO if high <= 0 else exact(floor(high) + 1)
        return down, up
    return (None if low is None else exact(floor(low))), (None if high is None else exact(ceil(high)))


def _sum(parts: Iterable[tuple[Range, Rational]], constant: Rational) -> Range:
    low: RangeEnd = constant
    high: RangeEnd = constant
    for (a, b), c in parts:
        if c < 0:
            a, b = b, a
        low = None if low is None or a is None else low + c * a
        high = None if high is None or b is None else high + c * b
    return low, high


def _product(left: Range, right: Range) -> Range:
    if left == NOTHING or right == NOTHING:
        return NOTHING
    if None in left or None in right:
        return ANYTHING
    corners = [a * b for a in left for b in right if a is not None and b is not None]
    return min(corners), max(corners)


def _image(function: Elementary, within: Range) -> Range:
    """The values of a function of one number: whole powers of the ends, else all that it can ever be."""
    low, high = within
    first, last = function.domain
    low = first if low is None or (first is not None and low < first) else low
    high = last if high is None or (last is not None and high > last) else high
    exponent = function.parameter
    if function.kind not in (Kind.POWER, Kind.ODD) or exponent is None or exponent < 1 or exponent.denominator != 1:
        return function.range
    power = int(exponent)
    return (None if low is None else low**power), (None if high is None else high**power)


def _known(x: RangeEnd) -> list[Rational]:
    return [] if x is None else [x]


def _most(numbers: list[RangeEnd] | list[Rational]) -> RangeEnd:
    """The largest; None where one of them is unbounded or there are none."""
    known = [x for x in numbers if x is not None]
    return max(known) if known and len(known) == len(numbers) else None


def _least(numbers: list[RangeEnd] | list[Rational]) -> RangeEnd:
    known = [x for x in numbers if x is not None]
    return min(known) if known and len(known) == len(numbers) else None
