"""Outputs whose cases are every combination are blocks of their own: subsampled steps, and laws that are no product."""

from __future__ import annotations

import itertools
import math
import random
from typing import Any

import numpy as np
import pytest

import dpest

_NUMPY = np.random.default_rng(0)


def _amplified(q: float, eps: float = 1.0) -> float:
    """The loss of one Laplace answer to a sample that has the differing record with probability q."""
    return math.log1p(q * math.expm1(eps))


def sampled_steps(records: list[float], rates: tuple[float, ...] = (0.2, 0.2, 0.2)) -> list[float]:
    """A noisy sum over a fresh sample, again and again."""
    return [float(sum(x for x in records if random.random() < q) + _NUMPY.laplace()) for q in rates]


@pytest.mark.parametrize("rates", [(0.2, 0.2, 0.2), (0.1, 0.5, 0.3, 0.2), (0.2,) * 8])
def test_the_losses_of_sampled_steps_add_up(rates: tuple[float, ...]) -> None:
    found = dpest.estimate(sampled_steps, ([1.0], [0.0]), method="exact", rates=rates)
    truth = math.fsum(map(_amplified, rates))
    assert found.lower <= truth + 1e-12 <= found.upper + 2e-12
    assert found.upper - found.lower < 1e-9


def test_records_of_one_size_have_several_ways_to_a_sum() -> None:
    found = dpest.estimate(sampled_steps, ([1.0, 1.0], [1.0, 0.0]), method="exact", rates=(0.25, 0.25))

    def law(y: float, n: int) -> float:
        return sum(math.comb(n, k) * 0.25**k * 0.75 ** (n - k) * math.exp(-abs(y - k)) / 2 for k in range(n + 1))

    one = max(abs(math.log(law(y, 2) / law(y, 1))) for y in np.linspace(-20, 20, 40001))
    assert found.lower <= 2 * one + 1e-6
    assert found.upper >= 2 * one
    assert found.upper - found.lower < 1e-9


def one_coin_for_both(x: float) -> tuple[float, float]:
    """Both outputs move together: their law is no product."""
    moved = x if random.random() < 0.5 else 0.0
    return moved + _NUMPY.laplace(), moved + _NUMPY.laplace()


def _both(a: float, b: float, x: float) -> float:
    return sum(0.5 * math.exp(-abs(a - m) - abs(b - m)) / 4 for m in (x, 0.0))


def test_outputs_that_share_a_coin_stay_one_block() -> None:
    found = dpest.estimate(one_coin_for_both, (1.0, 0.0), method="exact")
    grid = np.linspace(-12, 12, 97)
    truth = max(abs(math.log(_both(a, b, 1.0) / _both(a, b, 0.0))) for a, b in itertools.product(grid, grid))
    assert truth == pytest.approx(math.log((1 + math.e**2) / 2), abs=1e-9)  # not twice what one output tells
    assert found.lower - 1e-12 <= truth <= found.upper + 1e-12
    assert truth > 2 * _amplified(0.5) + 0.1  # a product of two would tell less


def one_coin_for_two_of_three(x: float) -> tuple[float, float, float]:
    """The third output has a coin of its own."""
    return (*one_coin_for_both(x), (x if random.random() < 0.25 else 0.0) + _NUMPY.laplace())


def test_a_block_of_two_outputs_beside_one_of_one() -> None:
    found = dpest.estimate(one_coin_for_two_of_three, (1.0, 0.0), method="exact")
    truth = math.log((1 + math.e**2) / 2) + _amplified(0.25)
    assert found.lower - 1e-12 <= truth <= found.upper + 1e-12


def weighted_by_the_other(x: float) -> tuple[float, float]:
    """Every combination is possible, but not independently: the second coin is more likely to fall as the first one did."""
    first = random.random() < 0.5
    second = first if random.random() < 0.75 else not first
    return x * first + _NUMPY.laplace(), x * second + _NUMPY.laplace()


def test_coins_that_depend_on_each_other_are_no_product() -> None:
    found: Any = dpest.estimate(weighted_by_the_other, (1.0, 0.0), method="exact")

    def law(a: float, b: float) -> float:
        weights = {(0, 0): 0.375, (1, 1): 0.375, (0, 1): 0.125, (1, 0): 0.125}
        return sum(w * math.exp(-abs(a - i) - abs(b - j)) for (i, j), w in weights.items())

    grid = np.linspace(-8, 8, 65)
    truth = max(abs(math.log(law(a, b) / math.exp(-abs(a) - abs(b)))) for a, b in itertools.product(grid, grid))
    assert found.lower - 1e-9 <= truth <= found.upper + 1e-9


def test_delta_of_sampled_gaussian_steps_is_a_composition() -> None:
    def steps(records: list[float], q: float = 0.5) -> list[float]:
        return [sum(x for x in records if random.random() < q) + random.gauss(0, 2) for _ in range(4)]

    found = dpest.estimate(steps, ([1.0], [0.0]), method="exact").delta(0.5)
    one = dpest.estimate(lambda x: (x if random.random() < 0.5 else 0.0) + random.gauss(0, 2), (1.0, 0.0), method="exact")
    known = dpest.compose((one, 4)).delta(0.5)
    assert found.lower <= known.upper
    assert known.lower <= found.upper
    assert found.upper - found.lower < 1e-5


def clipped(xs: list[float]) -> Any:
    """The second value is the same under both inputs, and its far tail is hardly known."""
    return np.maximum(np.array(xs) + _NUMPY.normal(0, 2, len(xs)), -1e9)


@pytest.mark.parametrize("others", [[], [5.0], [5.0, 1.0]])
def test_values_that_both_inputs_share_leave_delta_as_it_is(others: list[float]) -> None:
    found = dpest.estimate(clipped, ([4.0, *others], [5.0, *others]), method="exact").delta(0.3)

    def below(x: float) -> float:
        return math.erfc(-x / math.sqrt(2)) / 2

    mu = 0.5
    truth = below(mu / 2 - 0.3 / mu) - math.exp(0.3) * below(-mu / 2 - 0.3 / mu)
    assert found.lower <= truth + 1e-14
    assert found.upper >= truth - 1e-14
    assert found.upper - found.lower < 1e-11
