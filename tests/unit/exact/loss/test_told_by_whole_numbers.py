"""Quotient and remainder of a rounded value, beside each other or beside it. Oracle: the loss of the rounded value itself."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dpest

_RNG = np.random.default_rng()


def _quotient_and_remainder(x: float) -> Any:
    return divmod(round(x + _RNG.laplace(0, 2)), 5)


def _written_apart(x: float) -> Any:
    y = math.floor(x + 0.5 + _RNG.laplace(0, 2))
    return y // 12, y - 12 * (y // 12)


def _beside_itself(x: float) -> Any:
    y = round(x + _RNG.laplace(0, 2))
    return y % 7, y


def _group(x: float) -> Any:
    y = round(x + _RNG.laplace(0, 2))
    return {"decade": (y + 3) // 10, "value": y}


def _minutes(x: float) -> Any:
    m = round(x + _RNG.laplace(0, 2))
    return f"{m // 60}:{m % 60}"


def _rounded_loss(a: float, b: float) -> float:
    """The largest log ratio of P(round(x + z) = k), each from exponentials of one sign where k lies beyond x."""

    def log_p(k: int, x: float) -> float:
        low, high = k - 0.5 - x, k + 0.5 - x
        if low >= 0 or high <= 0:
            near = low if low >= 0 else -high
            return -near / 2 + math.log(-math.expm1(-0.5)) - math.log(2)
        return math.log(-math.expm1(low / 2) - math.expm1(-high / 2)) - math.log(2)

    return max(abs(log_p(k, a) - log_p(k, b)) for k in range(-60, 100))


@pytest.mark.parametrize("mechanism", [_quotient_and_remainder, _written_apart, _beside_itself, _group, _minutes])
@pytest.mark.parametrize("pair", [(3.0, 4.0), (3.0, 3.4), (20.25, 19.0)])
def test_the_loss_is_that_of_the_rounded_value(mechanism: Callable[[float], Any], pair: tuple[float, float]) -> None:
    r = dpest.estimate(mechanism, pair, method="exact", progress=False)
    truth = _rounded_loss(*pair)
    assert r.lower <= truth + 1e-12
    assert truth - 1e-12 <= r.upper
    assert r.upper - r.lower < 1e-9


def test_a_remainder_alone_tells_less() -> None:
    """P(y mod 2 = 0), summed over the whole numbers."""

    def parity(x: float) -> Any:
        return round(x + _RNG.laplace(0, 2)) % 2

    even = sum(0.5 * math.exp(-abs(k) / 2) * 2 * math.sinh(0.25) for k in range(-400, 401, 2) if k) + 1 - math.exp(-0.25)
    truth = abs(math.log(even / (1 - even)))
    r = dpest.estimate(parity, (3, 4), method="exact", progress=False)
    assert r.lower <= truth + 1e-12
    assert truth - 1e-12 <= r.upper
    assert r.upper - r.lower < 1e-9
