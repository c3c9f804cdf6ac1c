"""Sums of discrete floats: NumPy adds in pairs, and the last digit decides a comparison. Oracle: NumPy on every combination."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

import dpest
from dpest.lang.generators.sums import corrected_sum


def _loss(decide: Callable[[list[int]], bool], n: int) -> float:
    """The loss of n coins with chances 0.1 and 0.2, of which only a decision is told; by all combinations."""
    chances = []
    for p in (0.1, 0.2):
        weights = [math.prod(p if c else 1 - p for c in coins) for coins in product((0, 1), repeat=n) if decide([*coins])]
        chances.append(math.fsum(weights))
    yes, no = (abs(math.log(a / b)) if a and b else 0.0 for a, b in (chances, [1 - c for c in chances]))
    return max(yes, no)


def _coins(x: int, n: int) -> Any:
    return 0.1 * dpest.bernoulli(0.1 + 0.1 * x, size=n)


CASES: list[tuple[Callable[[int], Any], Callable[[list[int]], bool], int]] = [
    (lambda x: np.sum(_coins(x, 10)) >= 1, lambda c: bool(np.sum(0.1 * np.array(c)) >= 1), 10),
    (lambda x: _coins(x, 10).sum() >= 1, lambda c: bool((0.1 * np.array(c)).sum() >= 1), 10),
    (lambda x: _coins(x, 10).mean() >= 0.1, lambda c: bool((0.1 * np.array(c)).mean() >= 0.1), 10),
    (lambda x: np.mean(_coins(x, 9)) > 0.07, lambda c: bool(np.mean(0.1 * np.array(c)) > 0.07), 9),
    (lambda x: sum(_coins(x, 10)) >= 1, lambda c: bool(sum(0.1 * np.array(c)) >= 1), 10),
    (lambda x: np.sum(_coins(x, 12)) == 1.2, lambda c: bool(np.sum(0.1 * np.array(c)) == 1.2), 12),
    (lambda x: corrected_sum([*_coins(x, 10)]) >= 1, lambda c: sum([0.1 * k for k in c]) >= 1, 10),
]


@pytest.mark.parametrize(("mechanism", "decide", "n"), CASES)
def test_the_last_digit_of_a_sum_is_the_programs_own(
    mechanism: Callable[[int], Any], decide: Callable[[list[int]], bool], n: int
) -> None:
    found = dpest.estimate(mechanism, (0, 1), method="exact")
    assert found.lower - 1e-12 <= _loss(decide, n) <= found.upper + 1e-12  # the oracle's own logarithms


def test_sums_along_an_axis_are_added_as_numpy_adds_them() -> None:
    def mechanism(x: int) -> Any:
        return np.sum((0.1 * dpest.bernoulli(0.1 + 0.1 * x, size=10)).reshape(1, 10), axis=1) >= 1

    truth = _loss(lambda c: bool(np.sum(0.1 * np.array([c]), axis=1)[0] >= 1), 10)
    found = dpest.estimate(mechanism, (0, 1), method="exact")
    assert found.lower - 1e-12 <= truth <= found.upper + 1e-12
