"""Estimates that rescale an exact count: their doubles are one function of the count, so that equal counts are equal outputs."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpest


def shifted(xs: list[int], rng: np.random.Generator) -> Any:
    """The unbiased estimate of a proportion from randomised answers."""
    p = 0.75
    answers = [x if rng.random() < p else 1 - x for x in xs]
    return (np.mean(answers) - (1 - p)) / (2 * p - 1)


def divided(xs: list[int], rng: np.random.Generator) -> Any:
    return np.array([x if rng.random() < 0.7 else 1 - x for x in xs]).mean() / 0.4 - 0.75


def loss(left: list[int], right: list[int], p: Fraction) -> float:
    """The largest log ratio of the probabilities of a count of answers."""
    laws = []
    for xs in (left, right):
        law = [Fraction(1)]
        for x in xs:
            one = p if x else 1 - p
            law = [a * (1 - one) + b * one for a, b in zip([*law, Fraction(0)], [Fraction(0), *law], strict=True)]
        laws.append(law)
    return max(abs(math.log(a / b)) for a, b in zip(*laws, strict=True))


@pytest.mark.parametrize("n", [2, 12, 14])
@pytest.mark.parametrize(("mechanism", "p"), [(shifted, Fraction(3, 4)), (divided, Fraction(7, 10))])
def test_a_rescaled_count_loses_what_the_count_loses(mechanism: Any, p: Fraction, n: int) -> None:
    left, right = [1] * n, [0] + [1] * (n - 1)
    found = dpest.estimate(mechanism, (left, right), method="exact")
    truth = loss(left, right, p)
    assert found.lower <= truth * (1 + 1e-14)
    assert truth <= found.upper * (1 + 1e-14)
    assert found.upper - found.lower < 1e-9


def test_steps_in_which_points_fall_together_are_not_taken_for_one_function() -> None:
    """Beside 1, a count in units of 1e-17 is lost: every output is 0, and the loss with it."""
    with pytest.raises(dpest.errors.ExactRefused, match="whose points the program rounds"):
        dpest.estimate(lambda x: ((x + dpest.geometric(1)) * 1e-17 + 1) - 1, (2, 3), method="exact")


def test_inputs_that_are_rescaled_in_two_ways_are_not_taken_for_one_function() -> None:
    """0.1 * 3 is no 0.3: the two programs show two doubles for what is one number in rationals."""

    def mechanism(x: int) -> Any:
        k = dpest.bernoulli(0.5)
        return (3 + k) * 0.1 * 3 if x else (3 + k) * 0.3

    truth = {(3 + k) * 0.1 * 3 for k in (0, 1)} & {(3 + k) * 0.3 for k in (0, 1)}
    assert not truth
    try:
        found = dpest.estimate(mechanism, (0, 1), method="exact")
    except dpest.errors.ExactRefused:
        return
    assert found.epsilon == math.inf


@pytest.mark.parametrize("digits", [1, 2, 3])
def test_many_points_of_a_noisy_value_that_is_rounded_to_digits(digits: int) -> None:
    """A count of 40 noise scales in hundredths: more points than can be computed one by one, each the nearest double."""

    def shown(x: float, rng: np.random.Generator) -> Any:
        return round(x + rng.laplace(0, 40), digits) if rng.random() < 0.5 else None

    def moved(x: float, rng: np.random.Generator) -> Any:
        return 1 - round(x + rng.laplace(0, 40), digits) / 4

    for mechanism in (shown, moved):
        found = dpest.estimate(mechanism, (2, 3), method="exact")
        assert found.lower <= 1 / 40 <= found.upper
        assert found.upper - found.lower < 1e-9


def test_an_output_that_is_rounded_on_one_way_and_not_on_another() -> None:
    """Beside a density, the points of a rounding are compared among themselves."""

    def mechanism(x: list[int]) -> Any:
        z = dpest.laplace(2)
        return round(z, 2) if x[0] + z > -2 else z + x[0]

    found = dpest.estimate(mechanism, ([20], [21]), method="exact")
    assert found.lower <= found.epsilon <= found.upper

    def other(x: int) -> Any:
        z = dpest.laplace(2)
        return round(x + z, 2) if dpest.bernoulli(0.5) else x + z

    found = dpest.estimate(other, (0, 1), method="exact")
    assert found.lower <= 0.5 <= found.upper
    assert found.upper - found.lower < 1e-9
