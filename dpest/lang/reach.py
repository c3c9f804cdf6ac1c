"""How far a random value can reach: two numbers between which it lies, from the supports of its draws."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from typing import Any

from dpest.lang.nodes import TRUTHS, ArgExtreme, Draw, Extreme, Linear, Pick, Product, Rounded, Where, is_node
from dpest.laws.law import Law

Ends = tuple[float, float]


def _support(law: Law) -> Ends:
    return law.support


def reach(node: Any, of_draw: Callable[[Law], Ends] = _support) -> Ends:
    """Two numbers between which a value lies, where draws lie between the numbers that `of_draw` says."""
    return _reach(node, of_draw, {})


def _reach(node: Any, of_draw: Callable[[Law], Ends], known: dict[int, Ends]) -> Ends:
    """The same; `known` has what was found for nodes, which a value may use again and again."""
    if not is_node(node):
        return float(node), float(node)
    if isinstance(node, TRUTHS):
        return 0.0, 1.0

    def inside(x: Any) -> Ends:
        if id(x) not in known:
            known[id(x)] = _reach(x, of_draw, known)
        return known[id(x)]

    match node:
        case Draw(law=law):
            return of_draw(law)
        case Linear(terms=terms, constant=constant):
            ends = [sorted(float(c) * x if x or not math.isinf(c) else 0.0 for x in inside(n)) for n, c in terms]
            return float(constant) + sum(e[0] for e in ends), float(constant) + sum(e[1] for e in ends)
        case Extreme(pick=pick, values=values):
            parts = [inside(v) for v in values]
            best = max if pick is Pick.MAX else min
            return best(p[0] for p in parts), best(p[1] for p in parts)
        case Where(yes=yes, no=no):
            sides = inside(yes), inside(no)
            return min(s[0] for s in sides), max(s[1] for s in sides)
        case Rounded(value=value):
            low, high = inside(value)
            return low - 1, high + 1
        case ArgExtreme(values=values):
            return 0.0, len(values) - 1.0
        case Product(left=left, right=right):
            corners = [a * b if a and b else 0.0 for a, b in product(inside(left), inside(right))]
            return min(corners), max(corners)
    return -math.inf, math.inf
