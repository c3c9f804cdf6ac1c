"""Text of random values with listed points, and functions that NumPy asks elements of object arrays for."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

import dpest
from dpest.errors import RandomTruth


def _loss(p: Counter[Any], q: Counter[Any]) -> float:
    """The loss of two laws in fractions."""
    return max(abs(math.log(p[k] / q[k])) for k in p) if p.keys() == q.keys() else math.inf


def _coin_bit(x: float, rng: np.random.Generator) -> str:
    return f"bit {rng.binomial(1, x)}"


def _weighted_index(x: float, rng: np.random.Generator) -> str:
    return "v" + str(rng.choice(2, p=[x, 1 - x]))


def _signed(x: float, rng: np.random.Generator) -> str:
    return f"{rng.choice([-1, 1], p=[x, 1 - x])}"


def _level(x: float, rng: np.random.Generator) -> str:
    return f"{rng.choice([0.5, 1.5], p=[x, 1 - x]):.2f}"


def _of_the_standard_library(x: float) -> str:
    return str(random.choices([4, 7], weights=[x, 1 - x])[0])


@pytest.mark.parametrize("mechanism", [_coin_bit, _weighted_index, _signed, _level, _of_the_standard_library])
def test_the_text_of_a_number_of_known_type_is_a_path_for_each(mechanism: Callable[..., Any]) -> None:
    r = dpest.estimate(mechanism, (0.25, 0.75), method="exact")
    assert r.lower <= math.log(3) <= r.upper
    assert r.upper - r.lower < 1e-12


def test_the_text_of_several_draws_tells_apart_what_python_does() -> None:
    def joined(x: int, rng: np.random.Generator) -> str:
        return str(x + rng.integers(0, 11)) + str(rng.integers(0, 11))  # "1" + "10" is "11" + "0"

    laws = []
    for x in (0, 1):
        law: Counter[Any] = Counter()
        for a, b in product(range(11), repeat=2):
            law[str(x + a) + str(b)] += Fraction(1, 121)
        laws.append(law)
    r = dpest.estimate(joined, (0, 1), method="exact")
    assert r.lower <= _loss(*laws) <= r.upper


@pytest.mark.parametrize(
    "mechanism",
    [
        lambda x, rng: "".join(str(b ^ int(rng.random() < 0.25)) for b in (x, 1, 0)),
        lambda x, rng: "".join(f"{b ^ (rng.random() < 0.25)}" for b in (x, 1, 0)),
        lambda x, rng: "one" if str(x ^ (rng.random() < 0.25)) == "1" else "zero",  # an int in Python: no 'True'
        lambda x, rng: str((x + rng.choice(2, p=[0.75, 0.25])) % 2),
    ],
)
def test_bits_that_are_flipped_are_ints(mechanism: Callable[..., Any]) -> None:
    r = dpest.estimate(mechanism, (0, 1), method="exact")
    assert r.lower <= math.log(3) <= r.upper


def test_what_an_operation_on_bits_leaves_of_nothing_is_an_int() -> None:
    def nothing(x: int, rng: np.random.Generator) -> str:
        return str(0 & (rng.random() < 0.25)) + str(x)

    r = dpest.estimate(nothing, (0, 1), method="exact")
    assert r.witness is not None
    assert "False" not in str(r.witness)


@pytest.mark.parametrize(
    "bounded", [lambda n: max(0, min(9, n)), lambda n: np.clip(n, 0, 9), lambda n: 0 if n < 0 else 9 if n > 9 else n]
)
def test_the_text_of_a_count_between_two_bounds(bounded: Callable[..., Any]) -> None:
    def padded(x: int, rng: np.random.Generator) -> str:
        return f"{bounded(x + rng.geometric(0.5) - rng.geometric(0.5)):02d}"

    r = dpest.estimate(padded, (3, 4), method="exact")
    assert r.lower <= math.log(2) <= r.upper  # two-sided geometric noise with ratio 1/2, cut off
    assert r.upper - r.lower < 1e-9


@pytest.mark.parametrize(
    "mechanism",
    [
        lambda x: str(dpest.laplace(1) > x),  # True in Python, and 1 after `x ^ (...)`
        lambda x, rng: f"{np.round(x + rng.laplace())}",  # '1.0' or '-0.0'
        lambda x, rng: f"{x + rng.laplace():.3g}",
        lambda x, rng: str(rng.choice([0.0, 1.0], p=[0.5, 0.5])),  # '1.0', and not '1'
    ],
)
def test_text_of_a_value_whose_type_or_points_are_not_known_is_refused(mechanism: Callable[..., Any]) -> None:
    with pytest.raises(RandomTruth, match="no text inside a mechanism"):
        dpest.estimate(mechanism, (0, 1), method="exact")


def test_a_variance_of_discrete_draws_is_enumerated() -> None:
    def spread(x: list[int], rng: np.random.Generator) -> float:
        return float(round(np.var(np.array(x) + rng.integers(0, 2, size=3)), 9))

    pair = ([0, 0, 1], [0, 2, 1])
    laws = []
    for x in pair:
        law: Counter[Any] = Counter()
        for bits in product(range(2), repeat=3):
            law[round(float(np.var(np.add(x, bits))), 9)] += Fraction(1, 8)
        laws.append(law)
    r = dpest.estimate(spread, pair, method="exact")
    assert r.lower <= _loss(*laws) <= r.upper


def test_laplace_noise_from_copysign_and_fabs_of_arrays_is_laplace() -> None:
    def noisy(x: list[float], rng: np.random.Generator) -> Any:
        u = rng.uniform(-0.5, 0.5, size=2)
        return np.array(x) - 2 * np.copysign(1.0, u) * np.log(1 - 2 * np.fabs(u))

    r = dpest.estimate(noisy, ([0.0, 0.0], [1.0, 1.0]), method="exact")
    assert r.lower <= 1.0 <= r.upper
    assert r.upper - r.lower < 1e-9
