"""The graph on plain numbers: what the author's own arithmetic gives, rounding included."""

from __future__ import annotations

from collections.abc import Mapping
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
    Pick,
    Product,
    Quotient,
    Ranked,
    Relation,
    Rounded,
    Where,
    children,
    is_node,
    plain_number,
    whole,
)
from dpest.numerics.rationals import exact


class Undetermined(Exception):
    """A value that the given numbers do not determine."""


def evaluate(node: Any, known: Mapping[int, Any]) -> Any:
    """The node's value, computed as it was written; `known` has numbers (or nodes that stand in) by the id of a node."""
    if not is_node(node):
        return node
    found = folded(node, lambda x: _needed(x, known), lambda x, values: _value(x, known, values))
    if found is _UNKNOWN:
        raise Undetermined
    return found


def missing_draws(node: Any, known: Mapping[int, Any]) -> list[Draw]:
    """The draws without a number that the node's value, computed as it was written, rests on."""
    seen: set[int] = set()
    stack = [node] if is_node(node) else []
    found = []
    while stack:
        current = stack.pop()
        if id(current) not in seen:
            seen.add(id(current))
            stack.extend(_needed(current, known))
            if isinstance(current, Draw) and id(current) not in known:
                found.append(current)
    return found


def rests_on(node: Any, known: Mapping[int, Any]) -> tuple[list[Draw], list[Node]]:
    """The draws without a number, and the truths and places that are not decided, that come next on the way to a value.

    What a truth is made of is left out, and so are the sides of a choice as long as its condition is open.
    """
    seen: set[int] = set()
    stack = _next(node, known) if is_node(node) else []
    draws, decisions = [], []
    while stack:
        current = stack.pop()
        if id(current) not in seen:
            seen.add(id(current))
            if id(current) not in known and _is_decision(current):
                decisions.append(current)
                continue
            stack.extend(_next(current, known))
            if isinstance(current, Draw) and id(current) not in known:
                draws.append(current)
    return draws, decisions


def _is_decision(node: Node) -> bool:
    return isinstance(node, Compare | Not | All | ArgExtreme) or (isinstance(node, Ranked) and node.place)


def _next(node: Node, known: Mapping[int, Any]) -> list[Node]:
    if isinstance(node, Linear | Compare | Rounded) and node.written is not None and id(node) not in known:
        return [x for x in node.written[1] if is_node(x)]  # its terms are met there: a long sum lists all of them at each step
    if not isinstance(node, Where) or id(node) in known:
        return _needed(node, known)
    condition = known.get(id(node.condition), node.condition)
    return [x for x in ([condition] if is_node(condition) else [node.yes if condition else node.no]) if is_node(x)]


_UNKNOWN = object()


def _needed(node: Node, known: Mapping[int, Any]) -> list[Node]:
    """The nodes whose values come first."""
    if id(node) in known:
        stand_in = known[id(node)]
        return [stand_in] if is_node(stand_in) and stand_in is not node else []
    parts = list(children(node))
    if isinstance(node, Linear | Compare | Rounded) and node.written is not None:
        parts += node.written[1]
    return [x for x in parts if is_node(x)]


def _value(node: Node, known: Mapping[int, Any], values: Mapping[int, Any]) -> Any:
    if id(node) in known:
        stand_in = known[id(node)]
        return values[id(stand_in)] if is_node(stand_in) else stand_in

    def at(x: Any) -> Any:
        return values[id(x)] if is_node(x) else x

    if isinstance(node, Linear | Compare | Rounded) and node.written is not None:
        function, operands = node.written
        plain = [at(x) for x in operands]
        if all(x is not _UNKNOWN for x in plain):
            return function(*plain)
    if any(at(x) is _UNKNOWN for x in children(node) if not isinstance(node, Where)):
        return _UNKNOWN
    return _computed(node, at)


def _computed(node: Node, at: Any) -> Any:
    match node:
        case Draw() | Apply():
            return _UNKNOWN
        case Linear(terms=terms, constant=constant):
            return plain_number(sum((c * exact(at(n)) for n, c in terms), constant))
        case Compare(relation=relation, value=value):
            return {Relation.GE: at(value) >= 0, Relation.GT: at(value) > 0, Relation.EQ: at(value) == 0}[relation]
        case Not(value=value):
            return not at(value)
        case All(values=parts):
            return all(map(at, parts))
        case Where(condition=condition, yes=yes, no=no):
            holds = at(condition)
            return _UNKNOWN if holds is _UNKNOWN else at(yes if holds else no)
        case Extreme(pick=pick, values=parts):
            return (max if pick is Pick.MAX else min)(map(at, parts))
        case ArgExtreme(pick=pick, values=parts):
            numbers = [at(x) for x in parts]
            return numbers.index((max if pick is Pick.MAX else min)(numbers))
        case Ranked(pick=pick, values=parts, rank=rank, place=place):
            numbers = [at(x) for x in parts]
            found = sorted(range(len(numbers)), key=numbers.__getitem__, reverse=pick is Pick.MAX)[rank]
            return found if place else numbers[found]
        case Rounded(rounding=rounding, value=value):
            return whole(rounding, at(value))
        case Function(function=function, value=value, call=call):
            # An argument of a maximum that is tried for it may lie where its square falls, and says nothing about the maximum.
            return call(at(value)) if function.defined(at(value)) else _UNKNOWN
        case Product(left=left, right=right):
            return at(left) * at(right)
        case Quotient(left=left, right=right):
            return at(left) / at(right)
        case _:
            assert_never(node)
