"""Noise around a circle that other noise is added to: brackets that close, against integrals of the laws themselves."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import integrate, optimize

import dpest


def _around(noise: str, scale: float, shift: float, turn: float, s: float) -> float:
    """The density of (shift + noise) % turn at s, as a sum over turns."""
    z = (s - shift + turn * np.arange(-80, 81)) / scale
    one = np.exp(-np.abs(z)) / 2 if noise == "laplace" else 0.25 / np.cosh(z / 2) ** 2
    return float(one.sum() / scale)


def _log_density(noise: str, scale: float, shift: float, turn: float, b: float, y: float) -> float:
    """ln of the density of the sum with Laplace noise of scale b, at y."""
    cuts = sorted({0.0, turn, *(c for c in (y, shift % turn) if 0 < c < turn)})

    def density(s: float) -> float:
        return _around(noise, scale, shift, turn, s) * math.exp(-abs(y - s) / b) / (2 * b)

    parts = (integrate.quad(density, low, high, epsabs=0, epsrel=1e-12)[0] for low, high in zip(cuts, cuts[1:], strict=False))
    return math.log(math.fsum(parts))


@pytest.mark.parametrize(("noise", "scale"), [("laplace", 1.0), ("logistic", 0.4)])
def test_the_largest_loss_of_a_sum(noise: str, scale: float) -> None:
    def mechanism(x: float) -> Any:
        return dpest.laplace(2) + (x + getattr(dpest, noise)(scale)) % 2

    def minus_loss(y: float) -> float:
        return -abs(_log_density(noise, scale, 2.0, 2.0, 2.0, y) - _log_density(noise, scale, 1.25, 2.0, 2.0, y))

    grid = np.linspace(-1.0, 3.0, 41)
    start = min(grid, key=minus_loss)
    near = (start - 0.1, start + 0.1)
    truth = -optimize.minimize_scalar(minus_loss, bounds=near, method="bounded", options={"xatol": 1e-9}).fun
    found = dpest.estimate(mechanism, (2, 1.25), method="exact")
    assert found.lower <= truth * (1 + 1e-9)
    assert truth * (1 - 1e-9) <= found.upper <= 1.01 * truth
