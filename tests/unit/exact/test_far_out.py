"""Conditions that hold with a probability of e^-30 to e^-800: their losses are as well known as those of likely ones."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy.stats import norm

import dpest

FAR = (3.0, 30.0, 45.0, 100.0, 178.5, 400.0)


def beyond(noise: Callable[[], Any], bound: float) -> Callable[[float], Any]:
    """Whether a noisy value is above a bound, and above it by more than 10."""

    def mechanism(x: float) -> str:
        z = x + noise()
        if z > bound:
            return "far" if z > bound + 10 else "near"
        return "below"

    return mechanism


def truth(tail: Callable[[Any], Any], bound: float, shift: float) -> float:
    """From P(noise > t), in many digits."""
    with mpmath.workdps(400):
        laws = [(tail(mpmath.mpf(bound) - x), tail(mpmath.mpf(bound) + 10 - x)) for x in (0, mpmath.mpf(shift))]
        outputs = [(1 - a, a - b, b) for a, b in laws]
        return float(max(abs(mpmath.log(p / q)) for p, q in zip(*outputs, strict=True)))


def exponential(t: Any) -> Any:
    return mpmath.exp(-t)


def logistic(t: Any) -> Any:
    return 1 / (1 + mpmath.exp(t))


NOISE: dict[str, tuple[Callable[[], Any], Callable[[Any], Any]]] = {
    "-log(1 - u)": (lambda: -math.log(1 - random.random()), exponential),
    "-log1p(-u)": (lambda: -math.log1p(-random.random()), exponential),
    "-log(u)": (lambda: -math.log(random.random()), exponential),
    "logit": (lambda: math.log((u := random.random()) / (1 - u)), logistic),
    "gumbel": (lambda: -math.log(-math.log(random.random())), lambda t: -mpmath.expm1(-mpmath.exp(-t))),
    "atanh": (lambda: math.atanh(2 * random.random() - 1), lambda t: (1 - mpmath.tanh(t)) / 2),
    "atanh of a part": (lambda: math.atanh(random.uniform(-0.5, 1)), lambda t: (1 - mpmath.tanh(t)) * 2 / 3),
    "laplace": (
        lambda: -math.copysign(1, u := random.random() - 0.5) * math.log(1 - 2 * abs(u)),
        lambda t: mpmath.exp(-t) / 2,
    ),
}


@pytest.mark.parametrize("bound", FAR)
@pytest.mark.parametrize("name", NOISE)
def test_samplers_from_uniform_noise_keep_their_tails(name: str, bound: float) -> None:
    noise, tail = NOISE[name]
    found = dpest.estimate(beyond(noise, bound), (0.0, 0.5), method="exact")
    expected = truth(tail, bound, 0.5)
    assert found.lower <= expected * (1 + 1e-13)
    assert found.upper >= expected * (1 - 1e-13)
    assert found.upper - found.lower < 1e-11


@pytest.mark.parametrize("bound", [3.0, 30.0, 60.0])
def test_gaussian_noise_by_its_quantile_keeps_its_tails(bound: float) -> None:
    found = dpest.estimate(beyond(lambda: norm.ppf(random.random()), bound), (0.0, 0.5), method="exact")
    with mpmath.workdps(2500):  # 1 - ncdf(70) is e^-2455
        expected = truth_of_gaussian(bound)
    assert found.lower <= expected * (1 + 1e-13)
    assert found.upper >= expected * (1 - 1e-13)
    assert found.upper - found.lower < 1e-9


def truth_of_gaussian(bound: float) -> float:
    def tail(t: Any) -> Any:
        return mpmath.erfc(t / mpmath.sqrt(2)) / 2

    laws = [(tail(mpmath.mpf(bound) - x), tail(mpmath.mpf(bound) + 10 - x)) for x in (0, mpmath.mpf("0.5"))]
    outputs = [(1 - a, a - b, b) for a, b in laws]
    return float(max(abs(mpmath.log(p / q)) for p, q in zip(*outputs, strict=True)))


LAWS: dict[str, tuple[Callable[[], Any], float]] = {
    "exponential": (lambda: dpest.exponential(1), 1.0),
    "laplace": (lambda: dpest.laplace(2), 0.5),
    "logistic": (lambda: dpest.logistic(1), 1.0),
    "geometric": (lambda: dpest.geometric(1), 1.0),
    "gaussian": (lambda: dpest.gaussian(1), math.inf),
}
RELEASES: dict[str, Callable[[Any], Any]] = {"floor": math.floor, "round": round, "halves": lambda z: math.floor(2 * z) / 2}


@pytest.mark.parametrize("bound", [5, 70, 300, 800])
@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("law", LAWS)
def test_a_whole_number_that_is_released_only_far_out(law: str, release: str, bound: int) -> None:
    """Beyond the bound the ratio of two shifted laws is what it is anywhere in the tail."""
    noise, loss = LAWS[law]

    def mechanism(x: int) -> Any:
        z = x + noise()
        return RELEASES[release](z) if z > bound else -1

    found = dpest.estimate(mechanism, (0, 1), method="exact")
    assert found.lower <= loss <= found.upper
    assert found.lower == found.upper or found.upper - found.lower < 1e-9


def test_two_whole_numbers_that_are_released_only_far_out() -> None:
    def mechanism(x: int) -> Any:
        first, second = x + dpest.laplace(1), x + dpest.laplace(1)
        return (math.floor(first), math.floor(second)) if first > 90 else None

    found = dpest.estimate(mechanism, (0, 1), method="exact")
    assert found.lower <= 2 <= found.upper
    assert found.upper - found.lower < 1e-9


@pytest.mark.parametrize(("scale", "expected"), [(1.0, 0.9999946873348958), (20.0, 0.015698098399572)])
def test_noise_that_is_folded_back_again_and_again(scale: float, expected: float) -> None:
    """The law of folded Laplace noise is a sum over its images; the largest ratio lies at an end."""

    def fold(v: Any) -> Any:
        return fold(-v) if v < 0 else fold(20 - v) if v > 10 else v

    def mechanism(x: float) -> Any:
        u = random.random() - 0.5
        return fold(x - scale * np.sign(u) * np.log(1 - 2 * abs(u)))

    found = dpest.estimate(mechanism, (3, 4), method="exact")
    assert found.lower <= expected * (1 + 1e-12)
    assert found.upper >= expected * (1 - 1e-12)
    assert found.lower >= expected - 1e-6  # from above nothing: what is folded more often could come out at one place
