"""Functions of whole-number noise without an end, in conditions: its numbers are looked at one by one; against sums."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dpest

TOP = 8


def two_sided(k: int, t: float) -> float:
    a = math.exp(-1 / t)
    return (1 - a) / (1 + a) * a ** abs(k)


def loss(chances: Callable[[int], dict[Any, float]], pair: tuple[int, int]) -> float:
    a, b = map(chances, pair)
    assert a.keys() == b.keys()
    return max(abs(math.log(a[k] / b[k])) for k in a)


def accepted(x: int, weight: Callable[[int], float]) -> dict[Any, float]:
    """The law of x + k between 0 and TOP, where k has weights."""
    found: Counter[int] = Counter()
    for k in range(-200, 201):
        found[min(max(x + k, 0), TOP)] += weight(k)  # type: ignore[assignment]
    total = sum(found.values())
    return {k: w / total for k, w in found.items()}


def by_rejection(x: int, rng: np.random.Generator, sigma: float = 2.0) -> Any:
    t = math.floor(sigma) + 1
    while True:
        k = dpest.geometric(t)
        if rng.random() < math.exp(-((abs(k) - sigma**2 / t) ** 2) / (2 * sigma**2)):
            return min(max(x + k, 0), TOP)


def by_sign_and_size(x: int, rng: np.random.Generator, sigma: float = 2.0) -> Any:
    t = math.floor(sigma) + 1
    while True:
        size = rng.geometric(1 - math.exp(-1 / t)) - 1
        negative = rng.random() < 0.5
        if negative and size == 0:
            continue
        if rng.random() < math.exp(-((size - sigma**2 / t) ** 2) / (2 * sigma**2)):
            return min(max(x - size if negative else x + size, 0), TOP)


@pytest.mark.parametrize("mechanism", [by_rejection, by_sign_and_size])
@pytest.mark.parametrize("sigma", [1.0, 2.0])
def test_a_discrete_gaussian_by_rejection(mechanism: Callable[..., Any], sigma: float) -> None:
    truth = loss(lambda x: accepted(x, lambda k: math.exp(-(k**2) / (2 * sigma**2))), (3, 4))
    found = dpest.estimate(mechanism, (3, 4), method="exact", sigma=sigma)
    assert found.lower - 1e-9 <= truth <= found.upper + 1e-9
    assert found.upper - found.lower < 1e-6


def squared(x: int) -> Any:
    k = dpest.geometric(2) + x
    return "yes" if dpest.uniform(0, 30) < k * k else "no"


def powers(x: int) -> Any:
    k = dpest.geometric(2) + x
    return "yes" if dpest.uniform(0, 30) < (k - 1) ** 2 + 0.5 else "no"


def of_both_signs(x: int) -> Any:
    k = dpest.geometric(2) + x
    return "yes" if dpest.uniform(-10, 10) < k * (k - 3) else "no"


CASES = [
    (squared, lambda k: min(1.0, k * k / 30)),
    (powers, lambda k: min(1.0, ((k - 1) ** 2 + 0.5) / 30)),
    (of_both_signs, lambda k: min(1.0, max(0.0, (k * (k - 3) + 10) / 20))),
]


@pytest.mark.parametrize(("mechanism", "chance"), CASES)
@pytest.mark.parametrize("pair", [(0, 1), (-4, -3)])
def test_products_and_powers_beside_continuous_noise(mechanism: Any, chance: Any, pair: tuple[int, int]) -> None:
    def chances(x: int) -> dict[Any, float]:
        p = math.fsum(two_sided(k, 2) * chance(k + x) for k in range(-150, 151))
        return {"yes": p, "no": 1 - p}

    truth = loss(chances, pair)
    found = dpest.estimate(mechanism, pair, method="exact")
    assert found.lower - 1e-9 <= truth <= found.upper + 1e-9
    assert found.upper - found.lower < 1e-6
