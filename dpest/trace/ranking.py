"""Which of several values stands at a place when they are put in order."""

from __future__ import annotations

import math
import operator
from itertools import combinations

from dpest.errors import BudgetExceeded
from dpest.lang.nodes import ArgExtreme, Compare, Linear, Pick, Ranked, Relation, combine
from dpest.trace.atomic import Ask, Became
from dpest.trace.literal import Literal
from dpest.trace.resolve import Ways, as_literal, chosen, index


def peeled(node: Ranked, ask: Ask) -> int:
    """Which argument stands at a place: the best of all, the best of the others, and so on from the nearer end."""
    best_first = 2 * node.rank < len(node.values)
    # From the other end the last of equals comes first.
    left = list(range(len(node.values))) if best_first else list(range(len(node.values)))[::-1]
    pick = node.pick if best_first else Pick.MIN if node.pick is Pick.MAX else Pick.MAX
    for _ in range(node.rank if best_first else len(node.values) - 1 - node.rank):
        left.pop(index(ArgExtreme(pick, tuple(node.values[i] for i in left)), ask))
    return left[index(ArgExtreme(pick, tuple(node.values[i] for i in left)), ask)] if len(left) > 1 else left[0]


MOST_SPLITS = 20_000  # ways to choose which values come before the one at a place


def split(node: Ranked, ask: Ask) -> int:
    """Which argument stands at a place, whatever the order of the others on either side."""
    n, before = len(node.values), min(node.rank, len(node.values) - 1 - node.rank)
    if n * math.comb(n - 1, before) > MOST_SPLITS:
        raise BudgetExceeded(f"the value at place {node.rank + 1} of {n} in order has more than {MOST_SPLITS} cases")
    return chosen(node.values, ask, lambda values, became: _splits(node, values, ask, became), {})[0]


def _splits(node: Ranked, values: list[Linear], ask: Ask, became: Became) -> Ways:
    """For each argument and each set of others before it: what that takes, and the argument's index."""
    options: list[tuple[Literal, ...]] = []
    indices: list[int] = []
    for i in range(len(values)):
        others = [j for j in range(len(values)) if j != i]
        order = {j: (_beats(node, values, j, i, ask, became), _beats(node, values, i, j, ask, became)) for j in others}
        for first in combinations(others, node.rank):
            ahead = set(first)
            parts = [order[j][0 if j in ahead else 1] for j in others]
            if not any(x is False for x in parts):
                options.append(tuple(x for x in parts if isinstance(x, Literal)))
                indices.append(i)
    return options, indices


def _beats(node: Ranked, values: list[Linear], a: int, b: int, ask: Ask, became: Became) -> Literal | bool:
    """What it takes that one argument comes before another; of equals the one that was first."""
    more = node.pick is Pick.MAX
    difference = combine(values[a], values[b], -1) if more else combine(values[b], values[a], -1)
    relation = Relation.GE if a < b else Relation.GT
    said = {(True, True): operator.ge, (True, False): operator.gt, (False, True): operator.le, (False, False): operator.lt}
    written = (said[more, a < b], (node.values[a], node.values[b]))
    return as_literal(Compare(relation, difference, written), ask, became)
