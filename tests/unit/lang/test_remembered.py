"""Functions that remember their results: what a trace draws in them is forgotten with it."""

from __future__ import annotations

import functools
import math
import random
from typing import Any

import pytest

import dpest
from dpest.errors import ExactRefused


@functools.cache
def _noise(key: str) -> float:
    return random.expovariate(1.0) - random.expovariate(1.0)


def _noise_of_all_runs(x: float) -> Any:
    return x + _noise("today")


def test_what_a_trace_draws_is_no_result_of_the_function() -> None:
    with pytest.raises((ExactRefused, dpest.errors.MechanismError)):
        dpest.estimate(_noise_of_all_runs, (0, 1), method="exact")
    assert _noise.cache_info().currsize == 0
    assert isinstance(_noise("today"), float)
    assert _noise.cache_info().currsize == 1


@functools.cache
def _weights(n: int) -> tuple[float, ...]:
    return tuple(math.exp(-k / 2) for k in range(n))


def _by_weights(scores: list[int]) -> Any:
    return random.choices(range(3), weights=[_weights(4)[3 - s] for s in scores])[0]


def test_tables_that_are_remembered_serve_as_before() -> None:
    laws = [[math.exp(s / 2) / sum(math.exp(t / 2) for t in scores) for s in scores] for scores in ([3, 1, 0], [2, 2, 0])]
    truth = max(abs(math.log(p / q)) for p, q in zip(*laws, strict=True))
    found = dpest.estimate(_by_weights, ([3, 1, 0], [2, 2, 0]), method="exact")
    assert found.lower - 1e-12 <= truth <= found.upper + 1e-12
