"""Loops that count in steps that doubles round, or in place: the law of the rounds is not that of step times rounds."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import accumulate
from typing import Any

import numpy as np
import pytest

import dpest
from dpest.trace.counting import counted_on
from dpest.trace.replay import Unusual

STEPS = list(accumulate([0.1] * 3_000, initial=0.0))


def in_tenths(x: int, rng: np.random.Generator) -> float:
    k = 0.0
    while rng.random() < 0.5 + x / 4:
        k += 0.1
    return k


def in_place(x: int, rng: np.random.Generator) -> Any:
    k = np.zeros(1)
    same = k
    while rng.random() < 0.5 + x / 4:
        k += 1
    return min(same[0], 3)


def from_far(x: int, rng: np.random.Generator) -> bool:
    k = 1e16
    while rng.random() < 0.5 + x / 4:
        k += 1
    return k > 1e16


def geometric(x: int, k: int) -> float:
    return float((0.5 + x / 4) ** k * (0.5 - x / 4))


def loss(law: Callable[[int, int], float], shown: Callable[[int], Any]) -> float:
    sums: list[dict[Any, float]] = [{}, {}]
    for x, found in enumerate(sums):
        for k in range(len(STEPS)):
            found[shown(k)] = found.get(shown(k), 0.0) + law(x, k)
    return max(abs(math.log(p / sums[1][key])) for key, p in sums[0].items())


@pytest.mark.parametrize(
    ("mechanism", "law", "shown"),
    [
        (lambda x, rng: in_tenths(x, rng) == 0.8, geometric, lambda k: STEPS[k] == 0.8),
        (lambda x, rng: in_tenths(x, rng) <= 0.3, geometric, lambda k: STEPS[k] <= 0.3),
        (in_place, geometric, lambda k: min(k, 3)),
        (from_far, geometric, lambda k: False),  # 1e16 + 1 is 1e16
    ],
)
def test_what_a_loop_counts_is_what_python_adds_up(mechanism: Any, law: Any, shown: Any) -> None:
    truth = loss(law, shown)
    found = dpest.estimate(mechanism, (0, 1), method="exact")
    assert found.lower <= truth + 1e-11
    assert found.upper >= truth - 1e-11


@pytest.mark.parametrize(
    ("start", "step"), [(0.0, 0.1), (0, 0.1), (1e16, 1), (np.zeros(1), 1), ([0], 1), (True, 1), (math.inf, 1)]
)
def test_counts_that_one_product_does_not_tell(start: Any, step: float) -> None:
    with pytest.raises(Unusual):
        counted_on(start, step, 3)


@pytest.mark.parametrize(("start", "step"), [(0, 1), (0.0, 1), (0.5, 0.25), (-3, 2), (np.int64(7), 1), (2**60, 3)])
def test_counts_that_one_product_tells(start: Any, step: float) -> None:
    assert counted_on(start, step, 5) == start + step + step + step + step + step
