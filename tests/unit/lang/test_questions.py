"""Questions about a random number's type and size, and fractions of one, against closed forms."""

from __future__ import annotations

import math
import numbers
import random
import secrets
import statistics
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpest
from dpest.errors import DpestError, RandomTruth


def bracket(mechanism: Any, pair: Any, truth: float) -> None:
    found = dpest.estimate(mechanism, pair, method="exact")
    assert found.lower - 1e-12 <= truth <= found.upper + 1e-12
    assert found.upper - found.lower <= 1e-6


def _inside(low: float, high: float) -> float:
    """The probability that a Laplace value of scale 2 lies between two numbers."""
    return below(high) - below(low)


def below(z: float) -> float:
    return 0.5 * math.exp(z / 2) if z < 0 else 1 - 0.5 * math.exp(-z / 2)


@pytest.mark.parametrize("fine", [math.isfinite, np.isfinite, lambda y: not math.isnan(y), lambda y: not np.isinf(y)])
def test_noise_is_finite(fine: Any) -> None:
    bracket(lambda x, rng: x + rng.laplace(0, 2) if fine(x) else None, (0.0, 1.0), 0.5)

    def released(x: float, rng: np.random.Generator) -> Any:
        y = x + rng.laplace(0, 2)
        return y if fine(y) else None

    bracket(released, (0.0, 1.0), 0.5)


def test_arrays_of_noise_are_finite() -> None:
    def released(x: float, rng: np.random.Generator) -> Any:
        y = np.array([x, 0.0]) + rng.laplace(0, 2, size=2)
        return None if np.isnan(y).any() else y

    bracket(released, (0.0, 1.0), 0.5)


def test_the_logarithm_of_noise_may_be_no_number() -> None:
    def released(x: float, rng: np.random.Generator) -> Any:
        return bool(np.isnan(np.log(x + rng.laplace(0, 2))))

    try:
        found = dpest.estimate(released, (0.0, 1.0), method="exact")
    except DpestError:
        return
    truth = math.log(below(0.0) / below(-1.0))
    assert found.lower - 1e-9 <= truth <= found.upper + 1e-9


@pytest.mark.parametrize("kind", [float, (int, float), numbers.Real, float | int])
def test_noise_is_a_float(kind: Any) -> None:
    def checked(x: float) -> float:
        y = x + random.expovariate(0.5) - random.expovariate(0.5)
        if not isinstance(y, kind):
            raise TypeError("a number is wanted")
        return y

    bracket(checked, (0.0, 1.0), 0.5)


def test_a_type_that_is_not_known_is_refused() -> None:
    def checked(x: float, rng: np.random.Generator) -> Any:
        y = x + rng.laplace(0, 2, size=1)[0]
        return y if isinstance(y, np.floating) else None

    with pytest.raises(RandomTruth, match="isinstance"):
        dpest.estimate(checked, (0.0, 1.0), method="exact")


def test_isinstance_of_other_things_is_as_before() -> None:
    def checked(x: Any) -> Any:
        return random.random() < 0.5 if isinstance(x, str) else None

    bracket(checked, ("a", "b"), 0.0)
    assert dpest.estimate(checked, ("a", 1), method="exact").lower == math.inf


def test_close_to_a_number() -> None:
    a, b = _inside(0.5, 1.5), _inside(-0.5, 0.5)
    truth = max(abs(math.log(a / b)), abs(math.log((1 - a) / (1 - b))))
    bracket(lambda x, rng: math.isclose(x + rng.laplace(0, 2), 1.0, abs_tol=0.5), (0.0, 1.0), truth)
    bracket(lambda x, rng: np.isclose(x + rng.laplace(0, 2), 1.0, rtol=0.0, atol=0.5), (0.0, 1.0), truth)
    c, d = _inside(0.5, 2.0), _inside(-0.5, 1.0)  # |y - 1| <= max(|y|, 1) / 2
    other = max(abs(math.log(c / d)), abs(math.log((1 - c) / (1 - d))))
    bracket(lambda x, rng: math.isclose(x + rng.laplace(0, 2), 1.0, rel_tol=0.5), (0.0, 1.0), other)
    bracket(lambda x, rng: math.isclose(-1.0, -x - rng.laplace(0, 2), rel_tol=0.5), (0.0, 1.0), other)


def test_mean_of_the_standard_library() -> None:
    def average(rows: list[float], mean: Any) -> float:
        return mean([x + random.expovariate(0.5) - random.expovariate(0.5) for x in rows])

    def sum_above(x: float) -> float:  # of two Laplace values of scale 2
        z = x / 2
        return math.exp(-z) * (2 + z) / 4 if z >= 0 else 1 - math.exp(z) * (2 - z) / 4

    a, b = sum_above(2.0), sum_above(1.0)
    truth = max(abs(math.log(a / b)), abs(math.log((1 - a) / (1 - b))))
    for mean in (statistics.mean, statistics.fmean):
        bracket(lambda rows, mean=mean: average(rows, mean) > 1.0, ([0.0, 0.0], [1.0, 0.0]), truth)


def test_fractions_of_random_numbers() -> None:
    def coin(p: Fraction) -> bool:
        return secrets.randbelow(p.denominator) < p.numerator

    def nested(x: int) -> bool:
        u = random.randrange(4)
        return coin(Fraction(u + x, 8))

    bracket(nested, (0, 1), math.log((1 + 2 + 3 + 4) / (0 + 1 + 2 + 3)))
    third = dpest.estimate(lambda x: Fraction(1, 3) * (x + random.randrange(3)) <= Fraction(2, 3), (0, 1), method="exact")
    assert third.lower == math.inf
    p, q = below(1 / 3), below(1 / 3 - 1)
    truth = max(math.log(p / q), abs(math.log((1 - p) / (1 - q))))
    bracket(lambda x, rng: x + rng.laplace(0, 2) < Fraction(1, 3), (0, 1), truth)


def test_rounded_arrays_with_plain_numbers() -> None:
    def released(x: float, rng: np.random.Generator) -> Any:
        return np.maximum(np.array([x, 0.0]) + rng.laplace(0, 2, size=2), 0).round(2)

    bracket(released, (0.0, 1.0), 0.5)


def test_random_values_in_arrays_of_a_given_type() -> None:
    bracket(lambda x, rng: np.asarray([x + rng.laplace(0, 2), 0.0], dtype=float), (0.0, 1.0), 0.5)

    def whole(x: int, rng: np.random.Generator) -> Any:
        return np.array([x + rng.geometric(0.5) - rng.geometric(0.5), 0], dtype=int)

    bracket(whole, (0, 1), math.log(2))
