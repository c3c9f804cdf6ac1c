"""Values that a program writes several times, as one node: a root in both ends of an interval, an exponential in a softmax."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dpest.exact.loss.beside import Curved
from dpest.lang.folding import folded
from dpest.lang.nodes import (
    Extreme,
    Function,
    Linear,
    Node,
    Product,
    Quotient,
    Rounded,
    children,
    combine,
    is_node,
    linear,
    simplified,
)
from dpest.numerics.rationals import ZERO


class ValueNumbers:
    """A number for each node, the same for nodes that are the same function of the same draws."""

    def __init__(self) -> None:
        self._known: dict[Any, int] = {}

    def of(self, node: Node) -> int:
        """The node's number."""
        return folded(node, lambda x: filter(is_node, children(x)), self._number)

    def _number(self, node: Node, found: Mapping[int, int]) -> int:
        def at(x: Any) -> Any:
            return found[id(x)] if is_node(x) else ("number", x)

        key: Any
        match node:
            case Linear(terms=((one, c),), constant=constant) if c == 1 and not constant:
                return found[id(one)]
            case Linear(terms=terms, constant=constant):
                key = "sum", frozenset((at(n), c) for n, c in terms), constant
            case Rounded(rounding=rounding, value=value):
                key = rounding, at(value)
            case Function(function=function, value=value):
                key = function, at(value)
            case Product(left=left, right=right) | Quotient(left=left, right=right):
                key = type(node), at(left), at(right)
            case Extreme(pick=pick, values=values):
                key = pick, tuple(map(at, values))
            case _:
                key = id(node)
        return self._known.setdefault(key, len(self._known))


def written_once(row: Sequence[Any]) -> list[Any]:
    """The outputs of one path, with one node for each curved value that is written several times in their sums."""
    sums = [linear(x) if is_node(x) else Linear((), ZERO) for x in row]
    if sum(isinstance(node, Curved) for whole in sums for node, _ in whole.terms) < 2:
        return list(row)
    numbers = ValueNumbers()
    known: dict[int, Node] = {}
    out = []
    for x, whole in zip(row, sums, strict=True):
        terms = [(known.setdefault(numbers.of(n), n) if isinstance(n, Curved) else n, c) for n, c in whole.terms]
        if all(n is m for (n, _), (m, _) in zip(terms, whole.terms, strict=True)):
            out.append(x)
            continue
        total = Linear((), whole.constant)
        for node, c in terms:
            total = combine(total, linear(node), c)
        out.append(simplified(total))
    return out
