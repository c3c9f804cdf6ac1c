"""A value of the graph with some of the values inside it replaced by others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, assert_never

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
    Written,
    children,
    is_node,
    linear,
)
from dpest.numerics.rationals import ZERO, Rational


def substituted(x: Any, known: Mapping[int, Any]) -> Any:
    """The value, with those in `known` (by the id of a node) replaced; what the author wrote is replaced along."""
    return _Substitution(known).of(x)


class _Substitution:
    def __init__(self, known: Mapping[int, Any]) -> None:
        self._done: dict[int, Any] = dict(known)
        self._kept: list[Any] = []  # so that no other object can come to have the id of one that was met

    def of(self, x: Any) -> Any:
        if not is_node(x):
            return x
        open_ones = [x]  # a list, not calls: sums of thousands of steps are nested deeper than Python's stack
        while open_ones:
            node = open_ones[-1]
            inside = [] if id(node) in self._done else [v for v in _inside(node) if is_node(v) and id(v) not in self._done]
            if not inside:
                open_ones.pop()
                self._finish(node)
            open_ones += inside
        return self._done[id(x)]

    def _finish(self, node: Node) -> None:
        if id(node) not in self._done:
            self._kept.append(node)
            self._done[id(node)] = self._rebuilt(node)

    def _written(self, written: Written | None) -> Written | None:
        return None if written is None else (written[0], tuple(self.of(v) for v in written[1]))

    def _linear(self, x: Linear) -> Linear:
        terms: dict[int, tuple[Node, Rational]] = {}
        constant = x.constant
        for node, factor in x.terms:
            part = linear(self.of(node))
            constant += factor * part.constant
            for inner, c in part.terms:
                terms[id(inner)] = inner, (terms[id(inner)][1] if id(inner) in terms else ZERO) + factor * c
        return Linear(tuple((n, c) for n, c in terms.values() if c), constant, self._written(x.written))

    def _rebuilt(self, node: Node) -> Any:
        match node:
            case Linear():
                return self._linear(node)
            case Compare(value=value):
                return replace(node, value=self._linear(value), written=self._written(node.written))
            case Rounded(written=written):
                return replace(rebuilt(node, self.of, self.of), written=self._written(written))
            case _:
                return rebuilt(node, self.of, self.of)


def _inside(node: Node) -> tuple[Any, ...]:
    """The values that a node is rebuilt from, and those of what the author wrote."""
    match node:
        case Draw():
            return ()
        case Compare(value=value, written=written):
            return (*_inside(value), *(written[1] if written else ()))
        case Linear(written=written) | Rounded(written=written):
            return (*children(node), *(written[1] if written else ()))
        case _:
            return children(node)


def rebuilt(node: Node, value: Callable[[Any], Any], truth: Callable[[Any], Any]) -> Any:
    """The node computed from other values: `value` changes numbers and `truth` conditions; affine parts are left as they are."""
    match node:
        case Not():
            return replace(node, value=truth(node.value))
        case All():
            return replace(node, values=tuple(map(truth, node.values)))
        case Rounded() | Function():
            return replace(node, value=value(node.value))
        case Extreme() | ArgExtreme() | Ranked() | Apply():
            return replace(node, values=tuple(map(value, node.values)))
        case Where():
            return replace(node, condition=truth(node.condition), yes=value(node.yes), no=value(node.no))
        case Product() | Quotient():
            return replace(node, left=value(node.left), right=value(node.right))
        case Draw() | Linear() | Compare():
            return node
        case _:
            assert_never(node)
