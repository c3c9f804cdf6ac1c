"""Conditions on functions of noise that are out of reach are released with the rest: two sides (oracle: data processing)."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad

import dpest
from dpest.exact.processed import data_processing_bound
from dpest.inputs.pairs import Pair


def deviation(data, rng: np.random.Generator, b=0.5):
    mean = np.mean(data) + rng.laplace(0, b)
    square = np.mean(np.square(data)) + rng.laplace(0, b)
    return math.sqrt(max(square - mean**2, 0))


def test_a_standard_deviation_has_two_sides():
    """Oracle: from 1 on, square - mean^2 meets no kink of the second noise, and the loss is that of integrals of one draw."""

    def integral(mean):  # of the mean's density times e^(-m^2 / b), all that is left of a variance far above
        return quad(lambda m: math.exp(-(abs(m - mean) + m * m) / 0.5), -9, 9, points=[mean], epsabs=0, epsrel=1e-12)[0]

    truth = (1.25 / 3 - 0.41 / 3) / 0.5 + math.log(integral(0.5) / integral(0.3))
    data = [0.0, 0.5, 1.0], [0.0, 0.5, 0.4]
    result = dpest.estimate(deviation, data, method="exact")
    assert result.lower - 1e-9 <= truth <= result.upper
    assert result.upper - result.lower < 1e-2


def test_a_variance_has_an_upper_end():
    """The mean moves by 0.2 and the mean square by 0.28, over 0.5 each."""

    def variance(data, rng: np.random.Generator, b=0.5):
        mean = np.mean(data) + rng.laplace(0, b)
        return np.mean(np.square(data)) + rng.laplace(0, b) - mean**2

    result = dpest.estimate(variance, ([0.0, 0.5, 1.0], [0.0, 0.5, 0.4]), method="exact")
    assert 0.398 < result.lower < result.upper
    assert result.upper <= (0.6 / 3 + 0.84 / 3) / 0.5 * (1 + 1e-9)


def _bound(mechanism, left, right):
    found = data_processing_bound(mechanism, [Pair("", left, right)], {})
    return None if found is None else found.uppers[0]


def test_a_decision_by_a_product_is_bounded_by_its_values():
    def mechanism(x, rng: np.random.Generator):
        a, b = x + rng.laplace(0, 2), rng.laplace(0, 1)
        if a * a + b > 0.5:
            return "far"
        return "near" if b > 0 else "below"

    assert _bound(mechanism, 0.0, 1.0) == pytest.approx(0.5)


def test_a_decision_by_the_data_is_not_bounded():
    """The threshold is the data itself: no value with noise stands between."""

    def mechanism(x, rng: np.random.Generator):
        a, b = rng.laplace(0, 2), rng.laplace(0, 1)
        return "far" if a * b > x else "near"

    assert _bound(mechanism, 0.0, 1.0) is None


def test_a_threshold_beside_noise_is_a_noisy_value():
    """a^2 + b > x asks for b - x, which moves by 1."""

    def mechanism(x, rng: np.random.Generator):
        a, b = rng.laplace(0, 2), rng.laplace(0, 1)
        return "far" if a * a + b > x else "near"

    assert _bound(mechanism, 0.0, 1.0) == pytest.approx(1.0)


def test_a_decision_that_the_data_turns_round_is_bounded_by_its_outcome_alone():
    """Closed form: b lies below -a^2 with probability E e^(-a^2) / 2, an integral of a Gaussian times an exponential."""

    def mechanism(x, rng: np.random.Generator):
        a, b = rng.laplace(0, 2), rng.laplace(0, 1)
        value = a * a + b
        held = value > 0 if x else value < 0
        return "far" if held else "near"

    p = math.sqrt(math.pi) / 8 * math.exp(1 / 16) * math.erfc(1 / 4)
    assert _bound(mechanism, 0, 1) == pytest.approx(math.log((1 - p) / p), rel=1e-10)


def test_a_decision_is_made_once():
    """What was released before decides the same question, and its opposite, again."""

    def mechanism(x, rng: np.random.Generator):
        value = (x + rng.laplace(0, 1)) ** 2 + rng.laplace(0, 1)
        if value > 0:
            return math.sqrt(value) if not value <= 0 else 1 / 0
        return -math.sqrt(-value) if value <= 0 else 1 / 0

    assert _bound(mechanism, 0.0, 1.0) == pytest.approx(1.0)
