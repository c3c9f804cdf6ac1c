"""The largest so far, of noise that is a logarithm: it begins at minus infinity, and equal scores are compared without it."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dpest
from dpest.errors import DpestError

RNG = np.random.default_rng()


def _by_tuples(counts: dict[str, int]) -> Any:
    best: tuple[float, Any] = (float("-inf"), None)
    for name, count in counts.items():
        best = max(best, (count / 2 - math.log(-math.log(random.random())), name))
    return best[1]


def _by_hand(counts: dict[str, int]) -> Any:
    best, who = -math.inf, None
    for name, count in counts.items():
        score = count / 2 - np.log(RNG.exponential())
        if score > best:
            best, who = score, name
    return who


def _by_hand_with_a_check(counts: dict[str, int]) -> Any:
    best, who = -math.inf, None
    for name, count in counts.items():
        score = count / 2 - math.log(-math.log(random.random()))
        if score == -math.inf:
            continue
        if score > best:
            best, who = score, name
    return who


def _exponential_mechanism(counts: dict[str, int]) -> list[float]:
    weights = [math.exp(c / 2) for c in counts.values()]
    return [w / sum(weights) for w in weights]


@pytest.mark.parametrize("mechanism", [_by_tuples, _by_hand, _by_hand_with_a_check])
def test_the_largest_so_far_of_gumbel_noise(mechanism: Callable[[Any], Any]) -> None:
    one, other = {"a": 3, "b": 1, "c": 0}, {"a": 2, "b": 2, "c": 0}
    truth = max(abs(math.log(p / q)) for p, q in zip(_exponential_mechanism(one), _exponential_mechanism(other), strict=True))
    found = dpest.estimate(mechanism, (one, other), method="exact")
    assert found.lower <= truth <= found.upper
    assert math.isclose(found.lower, found.upper, rel_tol=1e-9)


def _overflows(x: float) -> Any:
    return math.exp(1000 * (x + random.expovariate(1.0))) == math.inf


def _underflows(x: float) -> Any:
    return np.log(np.exp(-1000 * (x + RNG.exponential()))) == -math.inf


@pytest.mark.parametrize("mechanism", [_overflows, _underflows])
def test_infinite_values_that_rounding_makes_stay_refused(mechanism: Callable[[float], Any]) -> None:
    with pytest.raises(DpestError):
        dpest.estimate(mechanism, (0, 1), method="exact")
