"""One of two values by a condition, in the form that later steps know best: a truth value, an extreme one, or a `Where`."""

from __future__ import annotations

from typing import Any

from dpest.lang.extent import is_rounded
from dpest.lang.extremes import ranked
from dpest.lang.logic import negate
from dpest.lang.nodes import (
    ArgExtreme,
    Compare,
    Draw,
    Extreme,
    Linear,
    Node,
    Not,
    Pick,
    Relation,
    Where,
    combine,
    draws_of,
    is_node,
    linear,
    selected,
    simplified,
)
from dpest.numerics.rationals import is_number


def chosen(condition: Node, yes: Any, no: Any) -> Any:
    """`yes` where the condition holds, else `no`."""
    if isinstance(yes, bool) and isinstance(no, bool):
        return condition if yes and not no else negate(condition) if no and not yes else yes
    if isinstance(condition, Not):
        return chosen(condition.value, no, yes)
    sides = _compared(condition)
    if sides is not None:
        better = _extreme(sides, yes, no)
        if better is not None:
            return better
        if isinstance(condition, Compare):
            place = _place(condition, sides, yes, no)
            if place is not None:
                return place
    return _apart(condition, yes, no)


def _apart(condition: Node, yes: Any, no: Any) -> Any:
    """What both values share, plus one of what is left: a counter that grows by 1 or not is a sum of choices."""
    if not (is_node(yes) or is_node(no)) or any(not is_node(x) and not is_number(x) for x in (yes, no)):
        return Where(condition, yes, no)
    a, b = linear(yes), linear(no)
    held = dict(b.terms)
    shared = tuple((n, c) for n, c in a.terms if held.get(n) == c)
    if not shared:
        return Where(condition, yes, no)
    common = Linear(shared, b.constant)
    left, right = (simplified(combine(x, common, -1)) for x in (a, b))
    if not is_node(left) and left == right and (yes is no or not (is_rounded(yes) or is_rounded(no))):
        return yes
    return combine(common, linear(Where(condition, left, right)), 1, (selected, (condition, yes, no)))


def _compared(condition: Node) -> tuple[Any, Any] | None:
    """(a, b) of a condition a > b or a >= b, as they were written."""
    if not isinstance(condition, Compare) or condition.relation is Relation.EQ or condition.written is None:
        return None
    left, right = condition.written[1]
    return left, right


def _is(a: Any, b: Any) -> bool:
    if is_node(a) or is_node(b):
        return a is b
    return type(a) in (int, float) and type(b) in (int, float) and bool(a == b)


def _extreme(sides: tuple[Any, Any], yes: Any, no: Any) -> Extreme | None:
    """`a if a > b else b` is the larger of the two, `b if a > b else a` the smaller; at a tie they are the same number."""
    a, b = sides
    if _is(yes, a) and _is(no, b):
        return _together(Pick.MAX, b, a)
    return _together(Pick.MIN, a, b) if _is(yes, b) and _is(no, a) else None


def _together(pick: Pick, known: Any, new: Any) -> Extreme:
    return Extreme(pick, (*ranked(pick, known), new))


def _place(condition: Compare, sides: tuple[Any, Any], yes: Any, no: Any) -> ArgExtreme | None:
    """The index of the best of at least three values, where a later one replaces it only if it is better."""
    a, b = sides
    for pick, new, known in ((Pick.MAX, a, b), (Pick.MIN, b, a)):
        values = ranked(pick, known)
        if len(values) < 2 or type(yes) is not int or yes != len(values) or not _first_of_equals(condition, new, known):
            continue
        among = _among(pick, no)
        if among is not None and len(among) == len(values) and all(map(_is, among, values)):
            return ArgExtreme(pick, (*values, new))
    return None


def _among(pick: Pick, index: Any) -> tuple[Any, ...] | None:
    """The values of which this is the index of the best one."""
    match index:
        case ArgExtreme(values=values):
            return values if index.pick is pick else None
        case Where(condition=Compare() as condition, yes=1, no=0):
            sides = _compared(condition)
            if sides is None or not _first_of_equals(condition, *(sides if pick is Pick.MAX else sides[::-1])):
                return None
            return sides[::-1] if pick is Pick.MAX else sides
    return None


def _first_of_equals(condition: Compare, new: Any, known: Any) -> bool:
    """Whether an equal value does not replace the best one, or has no weight: the new one has noise of its own."""
    if condition.relation is Relation.GT:
        return True
    others = draws_of(known)
    terms = linear(new).terms if is_node(new) else ()
    return any(isinstance(d, Draw) and not d.law.discrete and d not in others for d, _ in terms)


def same_text(node: Any, text: Any) -> Any:
    """Whether a value is this text: one of several texts may be, a number is not."""
    if isinstance(node, Where):
        return chosen(node.condition, same_text(node.yes, text), same_text(node.no, text))
    if isinstance(text, Where):
        return same_text(text, node)
    return not is_node(node) and isinstance(node, str) and node == text


def is_text(node: Any) -> bool:
    """Whether a value is one of several texts."""
    return all(is_text(x) for x in (node.yes, node.no)) if isinstance(node, Where) else type(node) is str
