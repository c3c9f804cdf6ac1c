"""Noisy values that are rounded to so many digits that nobody can list them: euros and cents of large scales."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dpest
from dpest.errors import BudgetExceeded

RNG = np.random.default_rng()


def _mixture(x: float) -> Any:
    return round(1000 * x + RNG.laplace(0, 1000.0), 3) if random.random() < 0.5 else 0.0


def _shared(x: float) -> Any:
    noise = RNG.laplace(0, 1000.0)
    return round(x + noise, 3), round(2 * x + noise, 3)


# A rounding tells no more than what is rounded, d / b, and far out it tells as much: e^(d/b) is the ratio of each cell there.
CASES: dict[str, tuple[Callable[[float], Any], float]] = {
    "cents": (lambda x: round(x + RNG.laplace(0, 1000.0), 2), 0.001),
    "six digits": (lambda x: round(1000 * x + RNG.laplace(0, 1000.0), 6), 1.0),
    "a shift beside the grid": (lambda x: round(x / 3 + RNG.laplace(0, 1000.0), 3), 1 / 3000),
    "floor": (lambda x: math.floor(1e6 * (x + RNG.laplace(0, 100.0))), 0.01),
    "an array": (lambda x: np.round([x + RNG.laplace(0, 200.0), 5 * x + RNG.laplace(0, 200.0)], 6), 0.03),
    "clamped": (lambda x: max(0, round(x + RNG.laplace(0, 1000.0), 3)), 0.001),
    "clipped before": (lambda x: round(float(np.clip(1000 * x + RNG.laplace(0, 1000.0), 0, 20000)), 3), 1.0),
    "in a text": (lambda x: f"{round(x + RNG.laplace(0, 1000.0), 2):,} Euro", 0.001),
    "a mixture": (_mixture, 1.0),
    "Gaussian": (lambda x: round(x + RNG.normal(0, 1000.0), 3), math.inf),
    "uniform": (lambda x: round(x + RNG.uniform(0, 1e4), 3), math.inf),
}


@pytest.mark.parametrize("name", CASES)
def test_a_rounding_to_many_digits(name: str) -> None:
    mechanism, truth = CASES[name]
    found = dpest.estimate(mechanism, (0, 1), method="exact")
    assert found.lower <= truth * (1 + 1e-12)
    assert truth * (1 - 1e-12) <= found.upper
    assert found.lower == found.upper or math.isclose(found.lower, found.upper, rel_tol=1e-6)


def test_two_that_share_their_noise_are_refused() -> None:
    with pytest.raises(BudgetExceeded):
        dpest.estimate(_shared, (0, 1), method="exact")
