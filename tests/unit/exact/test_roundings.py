"""Roundings beside other random values, each against a closed form or an enumeration of cells."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpest
from dpest.errors import ExactRefused
from dpest.exact.inference.cases import _nearby
from dpest.numerics.rationals import exact


def noisy(x: float) -> Any:
    return x + dpest.laplace(1.0)


def higher(shift: int) -> float:
    """P(floor(shift + U) > floor(V)) for U and V uniform on [0, 3): whole numbers 0, 1, 2 with equal weight."""
    return sum(shift + a > b for a, b in itertools.product(range(3), repeat=2)) / 9


def coin_loss(p: float, q: float) -> float:
    return max(abs(math.log(p / q)), abs(math.log((1 - p) / (1 - q))))


def both(function: Callable[[Any], Any]) -> Callable[[float], Any]:
    def mechanism(x: float) -> Any:
        return function(noisy(x))

    return mechanism


CASES: dict[str, tuple[Callable[[Any], Any], tuple[Any, Any], float]] = {
    "a one-time pad": (lambda x: (x + dpest.uniform(0, 1)) % 1, (0.25, 0.75), 0.0),
    "a one-time pad by floor": (lambda x: (lambda z: z - math.floor(z))(x + dpest.uniform(0, 1)), (0.25, 0.75), 0.0),
    "a pad that is too short": (lambda x: (x + dpest.uniform(0, 0.5)) % 1, (0.0, 0.25), math.inf),
    "a pad on a circle of three": (lambda x: (x + dpest.uniform(0, 3)) % 3, (0.5, 2.5), 0.0),
    "one floor above another": (
        lambda x: math.floor(x + dpest.uniform(0, 3)) > math.floor(dpest.uniform(0, 3)),
        (0, 1),
        coin_loss(higher(0), higher(1)),
    ),
    "a floor and a coin": (lambda x: math.floor(noisy(x)) + dpest.bernoulli(0.5), (0, 1), 1.0),
    "a floor beside its value": (both(lambda z: (math.floor(z), z)), (0, 1), 1.0),
    "a value beside its roundings": (both(lambda z: [z, round(z), math.ceil(z), math.floor(2 * z), round(z, 1)]), (0, 1), 1.0),
    "ten clipped values": (lambda x: np.clip(x + dpest.laplace(1.0, size=10), 0, 1), (0.25, 0.5), 2.5),
    "a clip on one side": (lambda x: np.clip([noisy(x)], 0, None), (0.25, 0.5), 0.25),
    "a clipped value above a bound": (lambda x: np.clip(noisy(x), 0, 2) > 1, (0, 1), coin_loss(0.5 * math.exp(-1), 0.5)),
}


@pytest.mark.parametrize("name", CASES)
def test_it_is_what_the_program_says(name: str) -> None:
    mechanism, pair, truth = CASES[name]
    found = dpest.estimate(mechanism, pair, method="exact")
    assert found.lower <= truth <= found.upper * (1 + 1e-12)
    assert truth == math.inf or found.upper - found.lower <= 1e-9


def test_clip_takes_the_lower_bound_first() -> None:
    """NumPy has min(max(x, low), high): where the bounds cross, the upper one wins."""

    def by_numpy(x: float) -> Any:
        return np.clip(noisy(x), dpest.uniform(0, 2), 1.0) >= 1.0

    def written_out(x: float) -> Any:
        low, z = dpest.uniform(0, 2), noisy(x)
        return min(max(z, low), 1.0) >= 1.0

    found, other = (dpest.estimate(m, (0, 1), method="exact") for m in (by_numpy, written_out))
    above = [0.5 + 0.5 * (0.5 * math.exp(-1)), 0.5 + 0.5 * 0.5]  # the lower bound is above 1, or the value is
    truth = coin_loss(*above)
    for result in (found, other):
        assert result.lower <= truth <= result.upper


def test_what_is_not_covered_says_so() -> None:
    def mechanism(x: float) -> Any:
        z = noisy(x)
        return math.floor(z) + x, z

    with pytest.raises(ExactRefused):
        dpest.estimate(mechanism, (0, 1), method="exact")


@pytest.mark.parametrize(
    ("number", "meant"),
    [(0.1, Fraction(1, 10)), (1 / 3, Fraction(1, 3)), (-2.4, Fraction(-12, 5)), (0.333, Fraction(333, 1000)), (3.0, 3)],
)
def test_a_double_stands_for_the_fraction_next_to_it(number: float, meant: Fraction) -> None:
    assert _nearby(exact(number)) == meant


@pytest.mark.parametrize("number", [0.3333334, 0.1 + 1e-12, math.pi, 2.0**-30, 0.1000000000000002])
def test_a_double_that_is_near_no_small_fraction_stands_for_itself(number: float) -> None:
    assert _nearby(exact(number)) == exact(number) == Fraction(number)
