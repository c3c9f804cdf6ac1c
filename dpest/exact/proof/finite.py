"""Finite domains: every adjacent pair is listed, and pairs that must have the same loss are listed once."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from dpest.errors import BudgetExceeded, InvalidInput
from dpest.lang.nodes import draws_of
from dpest.lang.signature import signature
from dpest.trace.explore import Trace

MOST_PAIRS = 20_000  # of a finite domain: each needs an exact answer, some milliseconds at best


def adjacent_pairs(values: Sequence[Any], n: int | None, adjacency: str, sensitivity: float) -> Iterator[tuple[Any, Any]]:
    """Every unordered pair of adjacent inputs: rows from `values`, a bare value where n is None."""
    if adjacency in ("linf", "l1", "monotone") and not all(isinstance(v, int | float) for v in values):
        raise InvalidInput(f'adjacency="{adjacency}" compares numbers; for other values write adjacency="replace"')
    if n is None:
        yield from (p for p in itertools.combinations(values, 2) if adjacency == "replace" or _near(*p, sensitivity))
        return
    count = 0
    for left in itertools.product(values, repeat=n):
        for right in _neighbours(left, values, adjacency, sensitivity):
            count += 1
            if count > MOST_PAIRS:
                raise BudgetExceeded(
                    f"{len(values)} values in {n} rows have more than {MOST_PAIRS} adjacent pairs: lower n or shrink the domain"
                )
            yield list(left), list(right)


def _neighbours(left: tuple[Any, ...], values: Sequence[Any], adjacency: str, sensitivity: float) -> Iterator[tuple[Any, ...]]:
    """The adjacent inputs that come after `left` in the order of the domain, and shorter ones."""
    rank = {id(v): k for k, v in enumerate(values)}
    if adjacency == "add_remove":
        yield from dict.fromkeys(left[:i] + left[i + 1 :] for i in range(len(left)))
        return
    if adjacency in ("replace", "l1"):
        for i, old in enumerate(left):
            for new in values[rank[id(old)] + 1 :]:
                if adjacency == "replace" or _near(old, new, sensitivity):
                    yield (*left[:i], new, *left[i + 1 :])
        return
    for right in itertools.product(values, repeat=len(left)):
        steps = [b - a for a, b in zip(left, right, strict=True)]
        ordered = adjacency != "monotone" or all(s >= 0 for s in steps)
        later = adjacency == "monotone" or [rank[id(v)] for v in left] < [rank[id(v)] for v in right]
        if any(steps) and ordered and later and all(_near(a, b, sensitivity) for a, b in zip(left, right, strict=True)):
            yield right


def _near(a: float, b: float, sensitivity: float) -> bool:
    """Whether two numbers differ by the sensitivity at most, as decimals: of the doubles, 0.4 and 0.3 are more than 0.1 apart."""
    written = sum((math.ulp(x) for x in (a, b, sensitivity) if isinstance(x, float)), 0.0)
    return abs(b - a) <= sensitivity + written


def symmetry_key(left: Trace, right: Trace) -> Any:
    """Equal for pairs whose losses must be equal; None where nothing is known.

    Where each program is one path and no two of its outputs share a draw, the loss does not depend on the outputs' order.
    """
    if len(left.paths) != 1 or len(right.paths) != 1:
        return None
    a, b = left.paths[0].output, right.paths[0].output
    if a.structure != b.structure or left.paths[0].conditions or right.paths[0].conditions:
        return None
    if _sharing(a.leaves) or _sharing(b.leaves):
        return None
    marks = [(signature(x, set(), {}), signature(y, set(), {})) for x, y in zip(a.leaves, b.leaves, strict=True)]
    forward, backward = Counter(marks), Counter((y, x) for x, y in marks)
    return frozenset([frozenset(forward.items()), frozenset(backward.items())])


def _sharing(leaves: Sequence[Any]) -> bool:
    seen: set[int] = set()
    for x in leaves:
        draws = {id(d) for d in draws_of(x)}
        if draws & seen:
            return True
        seen |= draws
    return False
