"""The largest value so far, kept by `max` in a loop: against products of distribution functions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dpest

PAIR = ([1, 2, 2, 1, 0, 1, 1], [1, 2, 1, 1, 0, 1, 1])


def geometric_loss(pair: tuple[list[int], list[int]], floor: int) -> float:
    """The loss of the largest of x + k with P(k > j) = 2^-j, and of a number that it cannot be below."""

    def chances(xs: list[int]) -> list[float]:
        below = [math.prod(max(0.0, 1 - 0.5 ** (m - x)) for x in xs) for m in range(-1, 30)]
        law = [b - a for a, b in zip(below, below[1:], strict=False)]  # of 0, 1, 2, ...
        return [sum(law[: floor + 1]), *law[floor + 1 :]] if floor >= 0 else law

    both = zip(*map(chances, pair), strict=True)
    return max(abs(math.log(p / q)) for p, q in both if p > 0 or q > 0)


def kept_by_max(xs: list[int], rng: np.random.Generator, floor: float = 0) -> Any:
    best: Any = floor
    for x in xs:
        best = max(best, x + rng.geometric(0.5))
    return best


def kept_the_other_way_round(xs: list[int], rng: np.random.Generator, floor: float = 0) -> Any:
    best: Any = floor
    for x in xs:
        best = max(x + rng.geometric(0.5), best)
    return best


def kept_by_numpy(xs: list[int], rng: np.random.Generator, floor: float = 0) -> Any:
    best: Any = floor
    for x in xs:
        best = np.maximum(best, x + rng.geometric(0.5))
    return best


@pytest.mark.parametrize("mechanism", [kept_by_max, kept_the_other_way_round, kept_by_numpy])
@pytest.mark.parametrize("floor", [-1, 0, 4])
def test_the_largest_of_whole_numbers(mechanism: Callable[..., Any], floor: int) -> None:
    found = dpest.estimate(mechanism, PAIR, method="exact", floor=floor)
    truth = geometric_loss(PAIR, floor)
    assert found.lower - 1e-9 <= truth <= found.upper + 1e-9
    assert found.upper - found.lower < 1e-6


def test_the_smallest_of_continuous_noise() -> None:
    def mechanism(xs: list[float], rng: np.random.Generator) -> Any:
        best = math.inf
        for x in xs:
            best = min(best, x + rng.laplace(0, 2))
        return best

    # Far above all of them, the smallest of six has the density 6 f(y) (1 - F(y))^5: each value adds its shift of half a nat.
    pair = [0.0] * 6, [1.0] * 6
    found = dpest.estimate(mechanism, pair, method="exact")
    assert found.lower - 1e-9 <= 6 * 0.5 <= found.upper + 1e-9
    assert found.upper - found.lower < 1e-5


def test_absolute_values_stay_apart() -> None:
    def mechanism(xs: list[float], rng: np.random.Generator) -> Any:
        best: Any = 0.0
        for x in xs:
            best = max(best, abs(x + rng.laplace(0, 2)))
        return best > 3

    def below(x: float) -> float:
        return 1 - 0.5 * math.exp(-(3 - x) / 2) - 0.5 * math.exp(-(3 + x) / 2)

    pair = [1.0, 2.0, 2.0, 0.0, 1.0], [1.0, 2.0, 1.0, 0.0, 1.0]
    p, q = (math.prod(map(below, xs)) for xs in pair)
    truth = max(abs(math.log(p / q)), abs(math.log((1 - p) / (1 - q))))
    found = dpest.estimate(mechanism, pair, method="exact")
    assert found.lower - 1e-9 <= truth <= found.upper + 1e-9
    assert found.upper - found.lower < 1e-6
