"""Division by a whole number that may be zero: an error in Python, infinity in NumPy, and refused in a trace."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dpest
from dpest.errors import ExactRefused


def caught(x: int) -> bool | None:
    try:
        return bool((x + dpest.geometric(1)) / (5 + dpest.geometric(1)) >= 0.5)
    except ZeroDivisionError:  # once in 300 runs
        return None


def of_numpy(x: int, rng: np.random.Generator) -> Any:
    return (x + rng.geometric(0.5)) / (rng.geometric(0.3) - 1) > 1


def cut_off(x: int, rng: np.random.Generator) -> Any:
    return 1 / np.maximum(0.0, x + rng.laplace()) > 1


@pytest.mark.parametrize("mechanism", [caught, of_numpy, cut_off])
def test_a_divisor_that_may_be_zero_is_refused(mechanism: Callable[..., Any]) -> None:
    with pytest.raises(ExactRefused, match="may be zero"):
        dpest.estimate(mechanism, (3, 4), method="exact")


def test_a_divisor_that_is_tested_before_is_not() -> None:
    def tested(x: int) -> Any:
        b = 5 + dpest.integers(-5, 5)
        return None if b == 0 else bool((x + dpest.laplace(1)) / b > 1)

    r = dpest.estimate(tested, (3, 4), method="exact")
    assert 0 < r.lower <= r.upper <= 1 + 1e-9
