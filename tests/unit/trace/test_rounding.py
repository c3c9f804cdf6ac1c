"""Comparisons and outputs that underflow, overflow or a coarse grid of floats decides: refused; ordinary ones are not."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dpest
from dpest.errors import DpestError


def _two_overflows(x: float) -> Any:
    return np.exp(1000 * (x + dpest.laplace(1.0))) > np.exp(1000 * dpest.laplace(1.0))


REFUSED: list[Callable[[float], Any]] = [
    lambda x: np.exp(-1000 * (x + abs(dpest.laplace(1.0)))) == 0,
    lambda x: np.exp(-1000 * (x + abs(dpest.laplace(1.0)))) > 0,
    lambda x: 1 / (1 + np.exp(-(x + dpest.laplace(100.0)))) >= 1,
    lambda x: (x + dpest.laplace(1.0)) ** 400 > 0,
    lambda x: 1e20 + (x + dpest.laplace(1.0)) > 1e20,
    lambda x: (1e20 + (x + dpest.laplace(1.0))) - 1e20,
    lambda x: 1e17 + x * 64 + dpest.gaussian(3.0),
    _two_overflows,
]


@pytest.mark.parametrize("mechanism", REFUSED)
def test_what_floats_decide_is_not_called_exact(mechanism: Callable[[float], Any]) -> None:
    with pytest.raises(DpestError):
        dpest.estimate(mechanism, (0, 1), method="exact")


# Closed forms of one Laplace draw: P(x + L(1) < t) = e^(t - x) / 2 for t <= x.
KEPT: list[tuple[Callable[[float], Any], float]] = [
    (lambda x: np.exp(1000 * (x + dpest.laplace(1.0))) < 1e-300, 1.0),  # an overflow is above every bound
    (lambda x: np.exp(x + dpest.laplace(1.0)) < 1, 1.0),
    (lambda x: np.clip(x + dpest.laplace(1.0), 0, 1) <= 0, 1.0),  # a point of the law, exactly
    (lambda x: 1e9 + (x + dpest.laplace(1.0)) < 1e9, 1.0),
    (lambda x: np.tanh(x + dpest.laplace(1.0)) < 0, 1.0),
    (lambda x: np.tanh(x + dpest.laplace(30.0)) < 1, 1 / 30),  # up to 18.99..., beyond which its double is 1
]


@pytest.mark.parametrize(("mechanism", "truth"), KEPT)
def test_what_floats_do_not_decide_stays_exact(mechanism: Callable[[float], Any], truth: float) -> None:
    found = dpest.estimate(mechanism, (0, 1), method="exact")
    assert found.lower <= truth <= found.upper
    assert math.isclose(found.upper, truth, rel_tol=1e-9)
