"""Noisy vectors divided by their norm: the loss is that of their direction, beside integrals along rays."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from scipy import integrate

import dpest


def _ray(angle: float, centre: tuple[float, float]) -> float:
    """The density of the direction of Gaussian noise with standard deviation 1."""
    u = math.cos(angle), math.sin(angle)

    def f(r: float) -> float:
        return r * math.exp(-((r * u[0] - centre[0]) ** 2 + (r * u[1] - centre[1]) ** 2) / 2)

    return float(integrate.quad(f, 0, 40, points=[1, 3, 6], epsrel=1e-12)[0])


def _gaussian_loss() -> float:
    angles = np.linspace(-math.pi, math.pi, 2001)
    return max(abs(math.log(_ray(a, (2.0, 1.0)) / _ray(a, (2.5, 1.0)))) for a in angles)


def _by_numpy(w: np.ndarray) -> object:
    return w / np.linalg.norm(w)


def _by_hand(w: Sequence[float]) -> object:
    n = math.sqrt(sum(v * v for v in w))
    if n == 0:
        return w
    return [2 * v / n for v in w]


def _by_sum(w: np.ndarray) -> object:
    return w / np.abs(w).sum()


def _by_largest(w: np.ndarray) -> object:
    return w / max(abs(v) for v in w)


@pytest.mark.parametrize("normed", [_by_numpy, _by_hand, _by_sum, _by_largest])
def test_gaussian_noise(normed: Callable[[object], object]) -> None:
    def mechanism(x, rng: np.random.Generator):
        return normed(np.array(x) + rng.normal(0, 1, size=2))

    r = dpest.estimate(mechanism, ([2.0, 1.0], [2.5, 1.0]), method="exact", progress=False)
    truth = _gaussian_loss()
    assert r.lower <= truth + 1e-5
    assert truth <= r.upper
    assert r.upper - r.lower < 1e-5


def test_three_values_with_laplace_noise_along_a_ray_near_an_axis() -> None:
    def mechanism(x, rng: np.random.Generator):
        return _by_numpy(np.array(x) + rng.laplace(0, 1, size=3))

    # Rays near an axis on which the first value is negative show a shift of 0.5 in full.
    r = dpest.estimate(mechanism, ([2.0, 1.0, 0.0], [2.5, 1.0, 0.0]), method="exact", progress=False)
    assert r.lower <= 0.5 <= r.upper
    assert r.upper - r.lower < 1e-9
    assert "over its norm" in str(r.witness)


def test_a_vector_beside_its_norm_tells_all() -> None:
    def mechanism(x, rng: np.random.Generator):
        w = np.array(x) + rng.laplace(0, 1, size=2)
        n = np.abs(w).sum()
        return w[0] / n, w[1] / n, n

    r = dpest.estimate(mechanism, ([2.0, 1.0], [2.5, 1.0]), method="exact", progress=False)
    assert r.lower <= 0.5 <= r.upper
    assert r.upper - r.lower < 1e-9
