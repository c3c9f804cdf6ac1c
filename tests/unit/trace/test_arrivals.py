"""Loops that multiply uniform draws, or add exponential ones, until a bound: against the probabilities of the Poisson law."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dpest
from dpest.errors import DpestError

_CAP = 4


def while_above(rate: float) -> int:
    bound, k, p = math.exp(-rate), 0, 1.0
    while p > bound:
        k += 1
        p *= random.random()
    return k - 1


def until_at_most(rate: float) -> int:
    bound, k, p = math.exp(-rate), 0, 1.0
    while True:
        p = random.random() * p
        if p <= bound:
            return k
        k += 1


def until_below_counted_first(rate: float) -> int:
    bound = np.exp(-rate)
    k, p = -1, 1.0
    while True:
        k += 1
        p *= random.uniform(0, 1)
        if bound >= p:
            break
    return k


def asked_before_the_step(rate: float) -> int:
    k, p, bound = 0, 1.0, math.exp(-rate)
    while True:
        if p < bound:
            break
        p *= random.random()
        k = k + 1
    return k - 1


def from_another_number(rate: float) -> int:
    k, p, bound = 0, 0.25, 0.25 * math.exp(-rate)
    while bound <= p:
        p *= random.random()
        k += 1
    return k - 1


def waiting_times(rate: float) -> int:
    k, t = 0, 0.0
    while True:
        t += random.expovariate(2.0)
        if t > rate / 2:
            return k
        k += 1


def waiting_times_of_numpy(rate: float) -> int:
    rng, k, t = np.random.default_rng(), -1, 0.0
    while t < rate:
        t += rng.exponential()
        k += 1
    return k


def bound_in_the_test(rate: float) -> int:
    k, p = -1, 1.0
    while p >= math.exp(-rate):
        p *= random.random()
        k += 1
    return k


SAMPLERS = [
    while_above,
    until_at_most,
    until_below_counted_first,
    asked_before_the_step,
    from_another_number,
    waiting_times,
    waiting_times_of_numpy,
    bound_in_the_test,
]


def _capped(rate: float) -> list[float]:
    chances = [math.exp(-rate) * rate**k / math.factorial(k) for k in range(_CAP)]
    return [*chances, 1.0 - math.fsum(chances)]


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_how_many_arrivals_there_are_is_poisson(sampler: Callable[[float], int]) -> None:
    truth = max(abs(math.log(p / q)) for p, q in zip(_capped(2.5), _capped(3.5), strict=True))
    r = dpest.estimate(lambda count: min(sampler(1.5 + count), _CAP), (1, 2), method="exact")
    assert r.lower <= truth <= r.upper
    assert r.upper - r.lower < 1e-9


def test_noise_by_products_shows_who_is_there() -> None:
    r = dpest.estimate(lambda count: count + until_at_most(2.0), (1, 2), method="exact")
    assert r.lower == math.inf  # one more than the count is never less


def begins_beyond(_: int) -> tuple[int, int]:
    asked, p = 0, 0.1
    while p > 0.5:
        asked += 1
        p *= random.random()
    k, q = 0, 0.1
    while True:
        k += 1
        q *= random.random()
        if q <= 0.5:
            break
    return asked, k


def test_a_level_beyond_the_bound_takes_no_step_or_one() -> None:
    r = dpest.estimate(lambda x: 0 if begins_beyond(x) == (0, 1) else x, (1, 2), method="exact")
    assert r.epsilon == 0


def never_set_again(rate: float) -> int:
    k, p, bound = 0, 1.0, math.exp(-rate)
    for _ in range(2):
        while p > bound:
            p *= random.random()
            k += 1
    return min(k, _CAP)


def level_is_returned(rate: float) -> Any:
    k, p = 0, 1.0
    while p > math.exp(-rate):
        p *= random.random()
        k += 1
    return min(k, _CAP), p


def step_is_kept(rate: float) -> Any:
    k, p, u = 0, 1.0, 0.0
    while p > math.exp(-rate):
        u = random.random()
        p *= u
        k += 1
    return min(k, _CAP), u > 0.5


@pytest.mark.parametrize("mechanism", [never_set_again, level_is_returned, step_is_kept])
def test_what_shows_more_than_the_count_is_refused(mechanism: Callable[[float], Any]) -> None:
    with pytest.raises(DpestError):
        dpest.estimate(mechanism, (1.0, 2.0), method="exact")
