"""NumPy's functions on random values: lists as operands, bounds that are random, and the order of a clip."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpest

COIN = (0, 1)
MECHANISMS: dict[str, Callable[..., Any]] = {
    "minimum of maximum": lambda x, lo, hi: np.minimum(np.maximum([x, x - 1], lo), hi)[0],
    "clip of a list": lambda x, lo, hi: np.clip([x, x - 1], lo, hi)[0],
    "clip of an array": lambda x, lo, hi: np.clip(np.array([x], dtype=object), lo, hi)[0],
    "clip of a number": lambda x, lo, hi: np.clip(x, lo, hi),
    "dpest.clip": lambda x, lo, hi: dpest.clip(x, lo, hi),
    "dpest.clip of a list": lambda x, lo, hi: dpest.clip([x], lo, hi)[0],
}


def truth(low: int, high: int, left: int, right: int) -> float:
    """The loss of min(max(x + d, lo), hi), by enumeration: d in 0..2, lo in low..low+1, hi in high..high+1."""
    laws = []
    for x in (left, right):
        law: dict[int, Fraction] = {}
        for d, a, b in itertools.product(range(3), COIN, COIN):
            y = min(max(x + d, low + a), high + b)
            law[y] = law.get(y, Fraction(0)) + Fraction(1, 12)
        laws.append(law)
    ratios = [max(laws[0].get(y, 0) / laws[1][y] if y in laws[1] else math.inf for y in laws[0])]
    ratios += [max(laws[1].get(y, 0) / laws[0][y] if y in laws[0] else math.inf for y in laws[1])]
    return math.log(max(ratios))


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("bounds", [(0, 2), (1, 1), (2, 0), (1, 0)])
def test_random_bounds_are_applied_in_numpys_order(name: str, bounds: tuple[int, int]) -> None:
    low, high = bounds

    def mechanism(x: int) -> Any:
        lo, hi = low + dpest.bernoulli(0.5), high + dpest.bernoulli(0.5)
        return MECHANISMS[name](x + dpest.integers(0, 2), lo, hi)

    found, expected = dpest.estimate(mechanism, (0, 1), method="exact"), truth(low, high, 0, 1)
    assert found.lower <= expected <= found.upper
    assert found.epsilon == pytest.approx(expected, abs=1e-12) or found.epsilon == expected


def test_plain_bounds_that_are_infinite_bound_nothing() -> None:
    found = dpest.estimate(lambda x: np.maximum(x + dpest.laplace(1.0), -math.inf), (0, 1))
    assert found.epsilon == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("other", [True, False, 1])
def test_exclusive_or_with_a_plain_truth(other: Any) -> None:
    # P(x + Laplace(1) <= 0) is 1/2 at 0 and 1/(2e) at 1.
    found = dpest.estimate(lambda x: (x + dpest.laplace(1.0) > 0) ^ other, (0, 1))
    assert found.lower <= 1.0 <= found.upper


@pytest.mark.parametrize("p", [0.5, 0.02, 1e-4])
def test_a_loop_on_a_rare_coin_has_an_answer(p: float) -> None:
    def mechanism(x: int) -> int:
        k = 0
        while dpest.bernoulli(p):
            k += 1
        return min(k, 2) if x else min(k, 3) // 2 * 2

    dpest.estimate(mechanism, (0, 1), method="exact")
