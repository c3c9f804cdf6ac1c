"""Samplers that multiply draws: the noise that they make, against closed forms and against their own samples."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest
from scipy import stats

import dpest
from dpest.errors import ExactRefused


def _four_gaussians(sigma: float = 1.0) -> Any:
    a, b, c, d = (random.gauss(0, sigma) for _ in range(4))
    return a * b + c * d


def _four_uniforms() -> Any:
    a, b, c, d = (1 - random.random() for _ in range(4))
    return math.log(a) * math.cos(math.pi * b) + math.log(c) * math.cos(math.pi * d)


def _four_uniforms_of_numpy() -> Any:
    a, b, c, d = dpest.uniform(0, 1, size=4)
    return np.log(1 - a) * np.cos(np.pi * b) + np.log(1 - c) * np.cos(np.pi * d)


def _whole_turns() -> Any:
    a, b, c, d = (1 - random.random() for _ in range(4))
    return math.log(a) * math.sin(2 * math.pi * b) + math.log(c) * math.cos(2 * math.pi * d + 1)


def _root_of_an_exponential() -> Any:
    return math.sqrt(2 * random.expovariate(1)) * random.gauss(0, 1)


def _root_of_a_logarithm() -> Any:
    return random.gauss(0, 1) * math.sqrt(-2 * math.log(random.random()))


_SAMPLERS = [_four_gaussians, _four_uniforms, _whole_turns, _root_of_an_exponential, _root_of_a_logarithm]


@pytest.mark.parametrize("noise", [*_SAMPLERS, _four_uniforms_of_numpy])
def test_laplace_noise(noise: Any) -> None:
    def mechanism(x):
        return x + noise() / 0.5

    r = dpest.estimate(mechanism, (0, 1), method="exact")
    assert r.lower <= 0.5 <= r.upper
    assert r.upper - r.lower < 1e-9


@pytest.mark.parametrize("noise", _SAMPLERS)
def test_the_samplers_themselves_are_laplace(noise: Any) -> None:
    random.seed(7)
    drawn = [noise() for _ in range(4000)]
    assert stats.kstest(drawn, stats.laplace.cdf).pvalue > 1e-3


def test_scales_multiply() -> None:
    def mechanism(x):
        return x + 3 * _four_gaussians(2.0)

    r = dpest.estimate(mechanism, (0, 1), method="exact")
    assert r.lower <= 1 / 12 <= r.upper
    assert r.upper - r.lower < 1e-9


def test_a_histogram_of_such_noise() -> None:
    def mechanism(counts):
        return [c + _four_gaussians() for c in counts]

    r = dpest.estimate(mechanism, ([3, 1], [2, 2]), method="exact")
    assert r.lower <= 2.0 <= r.upper
    assert r.upper - r.lower < 1e-9


def _quarter_turn(x):
    a, b, c, d = (random.random() for _ in range(4))
    return x + math.log(a) * math.cos(math.pi / 2 * b) + math.log(c) * math.cos(math.pi / 2 * d)


def _half_turn_of_the_sine(x):
    a, b, c, d = (random.random() for _ in range(4))
    return x + math.log(a) * math.sin(math.pi * b) + math.log(c) * math.sin(math.pi * d)


def _one_draw_twice(x):
    a, b, c = (random.gauss(0, 1) for _ in range(3))
    return x + a * b + a * c


def _released_beside(x):
    a, b, c, d = (random.gauss(0, 1) for _ in range(4))
    return x + a * b + c * d, a


def _not_centred(x):
    a, b, c, d = (random.gauss(1, 1) for _ in range(4))
    return x + a * b + c * d


@pytest.mark.parametrize("mechanism", [_quarter_turn, _half_turn_of_the_sine, _one_draw_twice, _released_beside, _not_centred])
def test_other_products_are_not_taken_for_it(mechanism: Any) -> None:
    with pytest.raises(ExactRefused):
        dpest.estimate(mechanism, (0, 1), method="exact")
