"""Probabilities between two rationals that doubles do not tell apart, against mpmath; and paths behind them."""

from __future__ import annotations

import math
from typing import Any

import mpmath as mp
import numpy as np
import pytest

import dpest
from dpest.laws.continuous import Gaussian, Laplace, Uniform
from dpest.laws.law import Continuous
from dpest.laws.narrow_spans import log_chance
from dpest.numerics.rationals import Rational
from dpest.trace.explore import trace

LAWS: list[tuple[Continuous, Any]] = [
    (Uniform(0.0, 1.0), lambda x: mp.mpf(1)),
    (Laplace(2.0), lambda x: mp.exp(-abs(x) / 2) / 4),
    (Gaussian(1.0), mp.npdf),
]


@pytest.mark.parametrize(("law", "density"), LAWS)
@pytest.mark.parametrize("bits", [10, 40, 60, 200, 3000])
def test_an_interval_weighs_its_width_times_the_density(law: Continuous, density: Any, bits: int) -> None:
    least, width = Rational(1, 2), Rational(1, 2**bits)
    with mp.workdps(40):
        truth = float(mp.log(mp.quad(density, [mp.mpf(1) / 2, mp.mpf(1) / 2 + mp.ldexp(1, -bits)])) if bits < 100 else 0)
        if bits >= 100:
            truth = float(mp.log(density(mp.mpf(1) / 2)) - bits * mp.log(2))
    found = log_chance(law, least, least + width)
    assert truth - 1e-9 <= found <= truth + 1e-9


def test_an_interval_beside_the_support_or_without_width_weighs_nothing() -> None:
    law = Uniform(0.0, 1.0)
    assert log_chance(law, Rational(1, 2), Rational(1, 2)) == -math.inf
    assert log_chance(law, Rational(2), Rational(2) + Rational(1, 2**80)) == -math.inf
    assert log_chance(law, None, Rational(1, 2)) == pytest.approx(math.log(0.5))


def ceiling_of_a_logarithm(x: int) -> Any:
    """Geometric noise of a uniform number around one half, asked for its value: one path for each number."""
    u = dpest.uniform(0.0, 1.0) - 0.5
    size = math.floor(math.log(2 * u if u > 0 else -2 * u) / -0.6)
    return x + hash(size)


def test_what_lies_behind_a_narrow_interval_is_left_out_and_not_impossible() -> None:
    found = trace(ceiling_of_a_logarithm, 0, {})
    assert found.log_unexplored > -50


def test_endless_noise_in_an_array_of_floats() -> None:
    def mechanism(x: int, rng: np.random.Generator) -> Any:
        out = np.zeros(1)
        u = rng.random() - 0.5
        sign = -1 if u < 0 else 1
        out[0] = x + sign * np.floor(np.log(2 * sign * u) / -0.6)
        return out

    # P(y) = (1 - q) q^|y| / 2 but at 0, which both signs give: q = exp(-0.6); the floor of either side is 0.
    found = dpest.estimate(mechanism, (1, 2), method="exact")
    assert found.lower <= 0.6 + math.log(2) <= found.upper
    assert found.upper - found.lower < 1e-9
