"""Ways to a loss that few mechanisms take: each against a closed form or a sum over its points."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

import dpest


@pytest.mark.parametrize("law", [stats.skellam(1.0, 1.0), stats.skellam(0.5, 2.0)])
@pytest.mark.parametrize("pair", [(0, 1), (1, 0)])
def test_whole_noise_that_falls_faster_than_an_exponential(law: Any, pair: tuple[int, int]) -> None:
    """P(k) / P(k - 1) falls like 1 / k: the loss has no bound, in either direction."""
    found = dpest.estimate(lambda x: x + dpest.from_scipy(law), pair, method="exact")
    assert found.lower == math.inf
    k = np.arange(-60, 61)
    apart = 0.5 * float(np.abs(law.pmf(k) - law.pmf(k - 1)).sum())
    delta = found.delta(0.0)
    assert delta.lower - 1e-12 <= apart <= delta.upper + 1e-12


@pytest.mark.parametrize("other", [None, 7.0])
def test_a_quotient_under_one_input_alone(other: float | None) -> None:
    def mechanism(x: int) -> Any:
        return (1 + dpest.laplace(1)) / (5 + dpest.laplace(1)) if x else other

    assert dpest.estimate(mechanism, (0, 1), method="exact").lower == math.inf


def test_a_value_that_is_released_above_whole_noise() -> None:
    """f(z) P(K < z) over f(z - 1) P(K < z): the same factor on both sides, and what is not released loses less."""

    def mechanism(x: int) -> Any:
        z = x + dpest.laplace(1)
        return z if z > dpest.geometric(2) else None

    found = dpest.estimate(mechanism, (0, 1), method="exact")
    assert found.lower <= 1 <= found.upper
    assert found.upper - found.lower < 1e-9


def test_a_draw_that_a_loop_speaks_of_is_not_made_one_with_others() -> None:
    """Noise that is added to Laplace noise, some of it from a loop: it hides no less."""

    def mechanism(x: int) -> Any:
        k = dpest.geometric(1)
        while k > 3:
            k = dpest.geometric(1)
        return x + dpest.laplace(1) + max(k, 0) + dpest.where(dpest.geometric(2) > 0, 1, 0)

    found = dpest.estimate(mechanism, (0, 1), method="exact")
    assert 0.99 < found.lower <= 1 + 1e-12
