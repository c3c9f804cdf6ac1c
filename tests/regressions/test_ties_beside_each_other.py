"""Outputs that are equal in rationals and not in doubles: 0.1 * 3 <= 0.3 does not hold, 0.1 * 3 + 0.2 <= 0.5 does."""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction
from typing import Any

import pytest

import dpest


def tenths(k: Any) -> Any:
    return k * 0.1 <= 0.3, 0.1 * k + 0.2 <= 0.5


def turned_round(k: Any) -> Any:
    return 0.1 * k + 0.2 <= 0.5, k * 0.1 <= 0.3


def alike(k: Any) -> Any:
    return k * 0.1 <= 0.3, k * 0.1 <= 0.3


@pytest.mark.parametrize("shown", [tenths, turned_round, alike])
def test_ties_that_the_program_rounds_apart(shown: Any) -> None:
    laws: list[dict[Any, Fraction]] = [defaultdict(Fraction), defaultdict(Fraction)]
    for x, law in enumerate(laws):
        for k in range(6 + x):
            law[shown(k)] += Fraction(1, 6 + x)
    r = dpest.estimate(lambda x: shown(dpest.integers(0, 5 + x)), (0, 1), method="exact")
    loss = max(abs(math.log(p / laws[1][key])) for key, p in laws[0].items())
    delta = max(float(sum(max(a[key] - b[key], 0) for key in a)) for a, b in (laws, laws[::-1]))
    found = r.delta(0.0)
    assert r.lower - 1e-12 <= loss <= r.upper + 1e-12
    assert found.lower - 1e-12 <= delta <= found.upper + 1e-12
    assert found.upper - found.lower < 1e-9
