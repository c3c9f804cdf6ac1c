"""Loops that count coins, in the forms in which people write them: the difference of two counts is two-sided geometric noise."""

from __future__ import annotations

import math
import random
import secrets
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpest


def as_a_sum(p: float) -> int:
    k = 0
    while random.random() < p:
        k = k + 1
    return k


def with_a_function_of_math() -> int:
    k = 0
    while random.random() < math.exp(-0.5):
        k += 1
    return k


def with_a_name(p: float) -> int:
    k = 0
    while True:
        u = random.random()
        if u > p:
            break
        k += 1
    return k


def with_a_walrus(p: float) -> int:
    k = 0
    while (u := random.random()) < p:  # noqa: F841
        k += 1
    return k


def coin(p: float) -> int:
    return 1 if random.random() < p else 0


def with_a_coin(p: float) -> int:
    k = 0
    while coin(p) == 1:
        k += 1
    return k


def with_whole_numbers() -> int:
    k = 0
    while secrets.randbelow(10) < 6:
        k += 1
    return k


def with_a_fraction(p: Fraction) -> int:
    k = 0
    while random.randrange(p.denominator) < p.numerator:
        k += 1
    return k


def with_the_size_of_an_array(data: np.ndarray) -> int:
    k = 0
    while random.random() < 1 / data.size:
        k += 1
    return k


def name_that_is_returned(p: float) -> float:
    while True:
        u = random.random()
        if u > p:
            break
    return u


@pytest.mark.parametrize(
    ("count", "loss"),
    [
        (lambda: as_a_sum(0.6), -math.log(0.6)),
        (with_a_function_of_math, 0.5),
        (lambda: with_a_name(0.6), -math.log(0.6)),
        (lambda: with_a_walrus(0.6), -math.log(0.6)),
        (lambda: with_a_coin(0.6), -math.log(0.6)),
        (with_whole_numbers, -math.log(0.6)),
        (lambda: with_a_fraction(Fraction(3, 5)), -math.log(0.6)),
        (lambda: with_the_size_of_an_array(np.zeros(2)), math.log(2)),
    ],
)
def test_differences_of_counts_are_geometric_noise(count: Callable[[], Any], loss: float) -> None:
    found = dpest.estimate(lambda x: x + count() - count(), (0, 1), method="exact")
    assert found.lower - 1e-12 <= loss <= found.upper + 1e-12
    assert found.upper - found.lower < 1e-9


class Coins:
    """A sampler with its parameter, as libraries have them."""

    def __init__(self, epsilon: float) -> None:
        self.epsilon = epsilon
        self.tossed = 0

    @staticmethod
    def toss(p: float) -> bool:
        return random.random() < p

    def coin(self) -> bool:
        return self.toss(math.exp(-self.epsilon))

    def count(self) -> int:
        k = 0
        while self.coin():
            k += 1
        return k


class Counted(Coins):
    """The same, whose coin remembers how often it was tossed, and never comes up twice."""

    def coin(self) -> bool:
        self.tossed += 1
        return self.tossed < 3 and self.toss(math.exp(-self.epsilon))


def test_coins_of_an_object_are_one_draw() -> None:
    def noisy(x: int) -> int:
        coins = Coins(0.5)
        return x + coins.count() - coins.count()

    found = dpest.estimate(noisy, (0, 1), method="exact")
    assert found.lower - 1e-12 <= 0.5 <= found.upper + 1e-12
    assert found.upper - found.lower < 1e-9


def test_coins_that_remember_are_followed_round_by_round() -> None:
    """At most two rounds: 1 and 2 come up with e^-1/2 and e^-1."""
    found = dpest.estimate(lambda x: x + Counted(0.5).count(), (0, 1), method="exact")
    p = math.exp(-0.5)
    law = [1 - p, p * (1 - p), p * p]
    truth = 0.5 * (law[0] + abs(law[1] - law[0]) + abs(law[2] - law[1]) + law[2])
    assert found.lower == math.inf
    assert found.delta(0.0).lower - 1e-12 <= truth <= found.delta(0.0).upper + 1e-12


def test_discrete_laplace_noise_by_coins() -> None:
    """As published: a sign, a magnitude by coins, and minus zero thrown away."""

    def noisy(x: int) -> int:
        while True:
            negative, size = random.getrandbits(1), 0
            while random.random() < math.exp(-0.5):
                size += 1
            if negative and size == 0:
                continue
            return x - size if negative else x + size

    found = dpest.estimate(noisy, (0, 1), method="exact")
    assert found.lower <= 0.5 <= found.upper
    assert found.upper - found.lower < 1e-9


def test_a_name_that_is_read_after_the_loop_is_kept() -> None:
    """The last number of a loop is uniform above p, not just any number."""
    found = dpest.estimate(lambda x: name_that_is_returned(0.2 + 0.1 * x), (0, 1), method="exact")
    assert found.lower == math.inf  # numbers between 0.2 and 0.3


@pytest.mark.parametrize("tenths", range(1, 10))
def test_tests_of_whole_numbers_are_decided_as_the_program_does(tenths: int) -> None:
    """k / 10 < 0.3 does not hold for k = 3 in doubles."""

    def waits(x: int) -> int:
        k = 0
        while secrets.randbelow(10) / 10 < tenths / 10:
            k += 1
        return min(k, 1) + x

    found = dpest.estimate(waits, (0, 1), method="exact")
    plain = sum(k / 10 < tenths / 10 for k in range(10)) / 10
    assert found.delta(0.0).lower - 1e-12 <= max(plain, 1 - plain) <= found.delta(0.0).upper + 1e-12


def climbs(x: float, noise: Any, start: int, step: int, strict: bool) -> int:
    z, k = x + noise, start
    if strict:
        while z > k:
            k += step
    else:
        while k <= z:
            k = k + step
    return k


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize(("start", "step"), [(0, 1), (-4, 1), (2, 3)])
@pytest.mark.parametrize("law", [lambda: dpest.laplace(2), lambda: dpest.geometric(2), lambda: dpest.geometric(2) / 4])
def test_a_loop_that_counts_up_to_noise_ends_where_the_noise_says(
    law: Callable[[], Any], start: int, step: int, strict: bool
) -> None:
    """Against the same number without a loop."""

    def known(x: float) -> Any:
        gap = x + law() - start
        rounds = dpest.ceil(gap / step) if strict else dpest.floor(gap / step) + 1
        return start + step * dpest.maximum(0, rounds)

    found, truth = (dpest.estimate(f, (0, 1), method="exact") for f in (lambda x: climbs(x, law(), start, step, strict), known))
    assert found.lower - 1e-9 <= truth.upper
    assert truth.lower <= found.upper + 1e-9


def test_a_long_climb_is_proved() -> None:
    """The loop of 300 rounds, whose output is possible under one input only."""

    def walked(x: int) -> int:
        d, k = dpest.geometric(100), 0
        while d > k:
            k += 1
        return x if k == 300 else -1

    assert dpest.estimate(walked, (0, 1), method="exact").lower == math.inf


def test_a_generator_that_is_made_for_each_toss() -> None:
    def count() -> int:
        k = 0
        while secrets.SystemRandom().random() < 0.5:
            k += 1
        return k

    r = dpest.estimate(lambda x: x + count() - count(), (0, 1), method="exact")
    assert r.lower <= math.log(2) <= r.upper
    assert r.upper - r.lower < 1e-9
