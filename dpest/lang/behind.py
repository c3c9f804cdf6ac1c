"""Draws that cancel in rationals, and decide in the program's own arithmetic: all of b in (0.1 * b + 0.3) - 0.1 * b > 0.3."""

from __future__ import annotations

import math
from typing import Any, TypeGuard

from dpest.lang.extent import compared, is_rounded
from dpest.lang.nodes import Compare, Draw, Linear, Node, Rounded, ancestors, children, draws_of, is_node


def hidden_draws(x: Any) -> list[Draw]:
    """The draws that a value is computed from, rounded on the way, although they are not left in it."""
    if not is_node(x) or isinstance(x, Draw) or not any(map(_may_hide, ancestors(x))):
        return []
    seen = {id(d) for d in draws_of(x)}
    hidden = [d for d in _written(x) if id(d) not in seen]
    return hidden if hidden and any(map(_rounds, ancestors(x))) else []


def _written(x: Node) -> list[Draw]:
    """The draws that are met on the way to a value as it was written; beside continuous noise, what cancels does not count."""
    seen: set[int] = set()
    found, stack = [], [x]
    while stack:
        node = stack.pop()
        if id(node) not in seen:
            seen.add(id(node))
            if isinstance(node, Draw):
                found.append(node)
            stack.extend(filter(is_node, children(node)))
            if _may_hide(node) and node.written is not None:
                stack.extend(filter(is_node, node.written[1]))
    return found


def _may_hide(node: Any) -> TypeGuard[Linear | Compare | Rounded]:
    """Whether a value was written as more than what is left of it, and no continuous noise is."""
    if not isinstance(node, (Linear, Compare, Rounded)) or node.written is None:
        return False
    value = node if isinstance(node, Linear) else node.value
    return not isinstance(value, Linear) or not any(isinstance(n, Draw) and not n.law.discrete for n, _ in value.terms)


def _rounds(node: Node) -> bool:
    if not isinstance(node, Compare):
        return isinstance(node, Linear | Rounded) and is_rounded(node)
    found = compared(node)
    return math.isfinite(found.size) and not found.exact
