"""Variances around a released mean: closed forms, and the density of both outputs at random places (oracle: formula)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import dpest

DATA = [0.2, 0.5, 0.9], [0.2, 0.5, 0.1]


def clipped_mean_and_variance(data, rng: np.random.Generator, b=1 / 3):
    mean = np.clip(np.mean(data) + rng.laplace(0, b), 0, 1)
    return mean, np.mean((np.asarray(data) - mean) ** 2) + rng.laplace(0, b)


def mean_and_variance(data, rng: np.random.Generator, b=1 / 3):
    mean = sum(data) / len(data) + rng.laplace(0, b)
    variance = sum((x - mean) ** 2 for x in data) / (len(data) - 1) + rng.laplace(0, b)
    return {"mean": mean, "variance": variance}


def test_around_a_mean_without_bounds_the_variance_tells_everything():
    """At m the two variances are 2 m (difference of the means) apart, up to a constant."""
    assert dpest.estimate(mean_and_variance, DATA, method="exact").lower == math.inf


def test_around_a_clipped_mean():
    """At m = 0 the mean tells (0.8 / 3) / b; the variances there are means of squares, which are 0.8 / 3 apart."""
    result = dpest.estimate(clipped_mean_and_variance, DATA, method="exact")
    assert result.lower - 1e-12 <= 1.6 <= result.upper + 1e-12
    assert result.upper - result.lower < 1e-9


def test_numbers_and_words_beside_a_square_change_nothing():
    def labelled(data, rng: np.random.Generator):
        mean, variance = clipped_mean_and_variance(data, rng)
        return {"of": "ages", "mean": mean, "rows": len(data), "variance": variance}

    result = dpest.estimate(labelled, DATA, method="exact")
    assert result.lower - 1e-12 <= 1.6 <= result.upper + 1e-12
    assert result.upper - result.lower < 1e-9


def test_no_place_shows_more():
    """Both densities by hand at random outputs; the largest ratio is within, and near the upper end."""
    left, right = [0.0, 0.3, 1.0, 0.6], [0.0, 0.3, 1.0, 0.1]
    result = dpest.estimate(clipped_mean_and_variance, (left, right), method="exact", params={"b": 0.5})
    rng = np.random.default_rng(5)

    def log_density(data: list[float], m: float, v: float) -> float:
        mean = sum(data) / len(data)
        if m in (0.0, 1.0):  # the noise lies beyond an end
            away = (mean - m) * (1 if m == 0 else -1)
            first = math.log(0.5) - away / 0.5 if away >= 0 else math.log(1 - 0.5 * math.exp(away / 0.5))
        else:
            first = -abs(m - mean) / 0.5
        return first - abs(v - sum((x - m) ** 2 for x in data) / len(data)) / 0.5

    places = [(float(np.clip(rng.uniform(-0.5, 1.5), 0, 1)), float(rng.uniform(-3, 3))) for _ in range(4000)]
    largest = max(abs(log_density(left, m, v) - log_density(right, m, v)) for m, v in places)
    assert largest <= result.upper + 1e-9
    assert result.lower - 0.02 <= largest


def test_moments_of_which_one_is_taken_off():
    def mechanism(data, rng: np.random.Generator):
        n = len(data)
        total, squares = np.sum(data) + rng.laplace(0, 1), np.sum(np.square(data)) + rng.laplace(0, 2)
        mean = total / n
        return mean, squares / n - mean * mean

    result = dpest.estimate(mechanism, DATA, method="exact")
    assert result.lower - 1e-12 <= 0.8 + 0.4 <= result.upper + 1e-12
    assert result.upper - result.lower < 1e-9


# -- a value and its square --------------------------------------------------------------------------------------------


def folded_loss(middle: float, pair: tuple[float, float], b: float) -> float:
    """The loss of (p - middle)^2 for p with Laplace noise: both preimages of each value add up (oracle: a grid)."""
    away = np.unique(np.concatenate([np.linspace(0, 40 * b, 40001), [abs(x - middle) for x in pair]]))
    logs = [np.logaddexp(-np.abs(middle + away - x) / b, -np.abs(middle - away - x) / b) for x in pair]
    return float(np.max(np.abs(logs[0] - logs[1])))


@pytest.mark.parametrize(
    ("value", "middle"),
    [
        (lambda p: p - p**2, 0.5),
        (lambda p: 1 - p**2 - (1 - p) ** 2, 0.5),
        (lambda p: (p - 0.2) ** 2 + (p - 0.7) ** 2, 0.45),
        (lambda p: 3 * p**2 + p * (1 - p) + p, -0.5),
    ],
)
def test_a_parabola_of_one_value_is_a_square(value: Any, middle: float) -> None:
    pair = (0.3, 0.4)
    r = dpest.estimate(lambda x: value(x + dpest.laplace(0.1)), pair, method="exact")
    truth = folded_loss(middle, pair, 0.1)
    assert r.lower - 1e-6 <= truth <= r.upper + 1e-9
    assert r.upper - r.lower < 1e-9


def test_squares_that_cancel_leave_a_line() -> None:
    def mechanism(x: float) -> Any:
        p = x + dpest.laplace(0.1)
        return (p + 1) ** 2 - p**2

    assert dpest.estimate(mechanism, (0.3, 0.4), method="exact").epsilon == pytest.approx(1, abs=1e-9)
