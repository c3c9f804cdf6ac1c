"""How far a random value can reach: two numbers between which it lies, from the supports of its draws."""

from __future__ import annotations

import math
from typing import Any

from dpest.lang.nodes import ArgExtreme, Draw, Extreme, Linear, Pick, Rounded, Where, is_node


def reach(node: Any) -> tuple[float, float]:
    """Two numbers between which a value lies."""
    if not is_node(node):
        return float(node), float(node)
    match node:
        case Draw(law=law):
            return law.support
        case Linear(terms=terms, constant=constant):
            ends = [sorted(float(c) * x if x or not math.isinf(c) else 0.0 for x in reach(n)) for n, c in terms]
            return float(constant) + sum(e[0] for e in ends), float(constant) + sum(e[1] for e in ends)
        case Extreme(pick=pick, values=values):
            parts = [reach(v) for v in values]
            best = max if pick is Pick.MAX else min
            return best(p[0] for p in parts), best(p[1] for p in parts)
        case Where(yes=yes, no=no):
            sides = reach(yes), reach(no)
            return min(s[0] for s in sides), max(s[1] for s in sides)
        case Rounded(value=value):
            low, high = reach(value)
            return low - 1, high + 1
        case ArgExtreme(values=values):
            return 0.0, len(values) - 1.0
    return -math.inf, math.inf
