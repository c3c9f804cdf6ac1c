"""Values of nodes that follow from those of their parts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from dpest.lang.nodes import Node
from dpest.numerics.effort import spend_steps

T = TypeVar("T")
# Parts from which on each counts as a step: the work on smaller values is part of the decision that asks for them.
_MANY = 32


def folded(root: Node, parts: Callable[[Node], Iterable[Node]], value: Callable[[Node, dict[int, T]], T]) -> T:
    """The value of a node, worked out from those of its parts (by their id), each once."""
    found: dict[int, T] = {}
    stack = [root]
    while stack:  # not recursive: sums of thousands of values are that deep
        node = stack[-1]
        waiting = [] if id(node) in found else [x for x in parts(node) if id(x) not in found]
        if waiting:
            stack.extend(waiting)
            continue
        if id(node) not in found:
            found[id(node)] = value(node, found)
        stack.pop()
    if len(found) >= _MANY:
        spend_steps(len(found))
    return found[id(root)]
