"""The adjacent pairs of a finite domain (oracle: every pair of inputs, compared in the decimals as they are written)."""

from __future__ import annotations

import itertools
from collections import Counter
from decimal import Decimal
from typing import Any

import pytest

import dpest
from dpest.exact.proof.finite import adjacent_pairs


def adjacent(left: tuple[Any, ...], right: tuple[Any, ...], adjacency: str, sensitivity: Any) -> bool:
    """Whether two different inputs of one length are adjacent, in this order."""
    steps = [Decimal(str(b)) - Decimal(str(a)) for a, b in zip(left, right, strict=True)]
    most = Decimal(str(sensitivity))
    if adjacency == "linf":
        return all(abs(s) <= most for s in steps)
    if adjacency == "monotone":
        return all(0 <= s <= most for s in steps)
    return sum(s != 0 for s in steps) == 1 and (adjacency == "replace" or max(map(abs, steps)) <= most)


DOMAINS: list[tuple[list[Any], Any]] = [
    ([0, 1], 1),
    ([0, 1, 3], 2),
    ([3, 0, 1], 1),
    ([0.1, 0.2, 0.3, 0.4, 0.7], 0.1),  # as doubles, 0.4 - 0.3 and 0.3 - 0.2 lie on different sides of 0.1
    ([-1.5, 2.25, 1.0], 2.5),
]


@pytest.mark.parametrize("adjacency", ["linf", "l1", "monotone", "replace"])
@pytest.mark.parametrize(("values", "sensitivity"), DOMAINS)
@pytest.mark.parametrize("n", [None, 1, 2, 3])
def test_every_adjacent_pair_is_listed_once(adjacency: str, values: list[Any], sensitivity: Any, n: int | None) -> None:
    """Either order of a pair is the same question; rows that may only grow are listed from below."""
    rows = list(itertools.product(values, repeat=n or 1))
    wanted = {frozenset((a, b)) for a in rows for b in rows if a != b and adjacent(a, b, adjacency, sensitivity)}
    listed = list(adjacent_pairs(values, n, adjacency, sensitivity))
    found = Counter(frozenset(((a,), (b,)) if n is None else (tuple(a), tuple(b))) for a, b in listed)
    assert dict(found) == dict.fromkeys(wanted, 1)
    if adjacency == "monotone" and n is not None:
        assert all(adjacent(tuple(a), tuple(b), adjacency, sensitivity) for a, b in listed)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_row_is_taken_away_from_every_place(n: int) -> None:
    wanted = {(a, a[:i] + a[i + 1 :]) for a in itertools.product("abc", repeat=n) for i in range(n)}
    found = [(tuple(a), tuple(b)) for a, b in adjacent_pairs("abc", n, "add_remove", 1.0)]
    assert len(found) == len(set(found))
    assert set(found) == wanted


@pytest.mark.parametrize("adjacency", ["linf", "l1", "monotone"])
def test_a_step_between_decimals_is_as_long_as_it_is_written(adjacency: str) -> None:
    """0.3 and 0.4 differ by 0.1, and the threshold lies between: the loss is that of a count that changes by one."""

    def above(x: Any) -> Any:
        return (1 if x > 0.35 else 0) + dpest.laplace(2.0)

    p = dpest.prove(above, domain=[0.0, 0.1, 0.2, 0.3, 0.4], adjacency=adjacency, sensitivity=0.1)
    assert p.lower <= 0.5 <= p.upper
    assert p.upper == pytest.approx(0.5, rel=1e-9)
