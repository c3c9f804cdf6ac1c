"""How far a random value can reach: two numbers between which it lies, from the supports of its draws."""

from __future__ import annotations

import math
from typing import Any

from dpest.lang.nodes import ArgExtreme, Draw, Extreme, Linear, Node, Pick, Rounded, Where, is_node

Reach = tuple[float, float]


def reach(node: Any) -> Reach:
    """Two numbers between which a value lies."""
    return _reach(node, {})


def _reach(node: Any, known: dict[int, Reach]) -> Reach:
    """The same; `known` has what was found for nodes, which a value may use again and again."""
    if not is_node(node):
        return float(node), float(node)
    if id(node) not in known:
        known[id(node)] = _of_node(node, known)
    return known[id(node)]


def _of_node(node: Node, known: dict[int, Reach]) -> Reach:
    match node:
        case Draw(law=law):
            return law.support
        case Linear(terms=terms, constant=constant):
            ends = [sorted(float(c) * x if x or not math.isinf(c) else 0.0 for x in _reach(n, known)) for n, c in terms]
            return float(constant) + sum(e[0] for e in ends), float(constant) + sum(e[1] for e in ends)
        case Extreme(pick=pick, values=values):
            parts = [_reach(v, known) for v in values]
            best = max if pick is Pick.MAX else min
            return best(p[0] for p in parts), best(p[1] for p in parts)
        case Where(yes=yes, no=no):
            sides = _reach(yes, known), _reach(no, known)
            return min(s[0] for s in sides), max(s[1] for s in sides)
        case Rounded(value=value):
            low, high = _reach(value, known)
            return low - 1, high + 1
        case ArgExtreme(values=values):
            return 0.0, len(values) - 1.0
    return -math.inf, math.inf
