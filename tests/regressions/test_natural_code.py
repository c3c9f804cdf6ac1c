"""Published mechanisms in their authors' idiom that once were wrong, refused or without an upper end, against closed forms."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dpest

Mechanism = Callable[..., Any]


def _piecewise(t: float, rng: np.random.Generator) -> Any:
    """Wang et al. 2019; the two outer parts are one uniform value, cut and moved."""
    z = math.exp(0.65)
    c = (z + 1) / (z - 1)
    left_end = (c + 1) / 2 * t - (c - 1) / 2
    right_end = left_end + c - 1
    if rng.uniform() < z / (z + 1):
        return rng.uniform(left_end, right_end)
    left, right = left_end + c, c - right_end
    x = rng.uniform(0, left + right)
    return -c + x if x < left else right_end + (x - left)


def _hadamard(x: int) -> Any:
    """Acharya et al. 2019, one bit of a row of the Hadamard matrix."""
    j = random.randrange(8)
    bit = (-1) ** bin(j & x).count("1")
    if random.random() >= math.e / (1 + math.e):
        bit = -bit
    return j, bit


def _flipped_bits(v: int, rng: np.random.Generator) -> Any:
    mask = sum(int(rng.random() < 0.25) << i for i in range(3))
    return v ^ mask


def _flipped_array(bits: list[int], rng: np.random.Generator) -> Any:
    return np.array(bits) ^ (rng.random(len(bits)) < 0.25)


def _quantile_function(x: float) -> Any:
    u = random.random() - 0.5
    return x - 2 * math.copysign(1.0, u) * math.log(1 - 2 * abs(u))


def _masked(x: int, rng: np.random.Generator) -> Any:
    return rng.integers(0, 8) & 3 if x else rng.integers(0, 4)


def _inverted(x: int, rng: np.random.Generator) -> Any:
    return ~rng.integers(0, 4) if x else -1 - rng.integers(0, 4)


EXACT: list[tuple[Mechanism, tuple[Any, Any], float]] = [
    *((_piecewise, pair, 1.3) for pair in ((0.68, 0.55), (-0.256, 0.737), (0.524, -0.856), (-0.38, 0.637), (0.9, -0.28))),
    (_hadamard, (1, 2), 1.0),
    (_flipped_bits, (5, 6), 2 * math.log(3)),
    (_flipped_array, ([0, 1], [1, 1]), math.log(3)),
    (_quantile_function, (10, 11), 0.5),
    (_masked, (0, 1), 0.0),
    (_inverted, (0, 1), 0.0),
]


@pytest.mark.parametrize(("mechanism", "pair", "truth"), EXACT, ids=lambda x: getattr(x, "__name__", None))
def test_natural_code_is_exact(mechanism: Mechanism, pair: tuple[Any, Any], truth: float) -> None:
    r = dpest.estimate(mechanism, pair, method="exact")
    if math.isinf(truth):
        assert r.lower == math.inf
        return
    assert r.lower - 1e-12 <= truth <= r.upper + 1e-12
    assert r.upper - r.lower <= 1e-6 * max(1.0, truth)


def _signed_steps(x: float, rng: np.random.Generator) -> Any:
    sign = rng.choice([-1, 1])
    return x + sign * (rng.geometric(0.6) - 1 + rng.uniform())


def test_a_law_that_a_search_does_not_find_is_not_impossible() -> None:
    """The density at distance t of x is 0.3 * 0.4^floor(t): one step further costs ln 2.5. The answer once was 0."""
    r = dpest.estimate(_signed_steps, (0.0, 1.0), method="exact")
    assert r.lower - 1e-12 <= math.log(2.5) <= r.upper
