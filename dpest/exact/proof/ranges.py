"""By how much an expression of inputs changes between adjacent inputs, in rational arithmetic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpest.lang.nodes import Compare, Draw, Extreme, Linear, Relation, Rounded, Rounding, Where, ancestors, is_node
from dpest.lang.nodes import linear as as_linear
from dpest.lang.spans import span
from dpest.numerics.ranges import ANYTHING, NOTHING, Range, both, hull, total
from dpest.numerics.rationals import ONE, ZERO, ceil, exact, floor


def change_of(node: Any, moved: Mapping[int, Range]) -> Range:
    """An interval that holds the change of an expression of inputs when each input (by id) changes within its own."""
    if not is_node(node) or not any(moved.get(id(n), NOTHING) != NOTHING for n in ancestors(node)):
        return NOTHING
    change: Range
    match node:
        case Draw():
            return moved[id(node)]
        case Linear(terms=terms):
            change = total(((change_of(n, moved), c) for n, c in terms), ZERO)
        case Extreme(values=values):
            change = hull([change_of(v, moved) for v in values])
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
    low, high = span(node, off=0)
    if low is None or high is None:
        return change
    return both((low - high, high - low), change) or change


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
