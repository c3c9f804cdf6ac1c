"""Random mixtures on a line, one run and two: integrals in mpmath are the oracle (rung: mpmath)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

import dpest
from tests.unit.curves.pairs import width

Density = Callable[[Any], Any]


def laplace_density(m: float, b: float) -> Density:
    return lambda y: mpmath.exp(-abs(y - m) / b) / (2 * b)


def gaussian_density(m: float, s: float) -> Density:
    return lambda y: mpmath.npdf(y, m, s)


NOISE: dict[str, tuple[Callable[[float], Any], Callable[[float, float], Density]]] = {
    "laplace": (dpest.laplace, laplace_density),
    "gaussian": (dpest.gaussian, gaussian_density),
}


Two = tuple[float, float]


def mixture(name: str, weight: float, shifts: Two, scales: Two, moved: float) -> tuple[Any, Any, Any]:
    """A coin chooses between two noisy releases; D' moves the first by some amount."""
    draw, density = NOISE[name]

    def mechanism(x: float) -> Any:
        if dpest.bernoulli(weight):
            return shifts[0] + moved * x + draw(scales[0])
        return shifts[1] + draw(scales[1])

    def law(x: float) -> Density:
        a, b = density(shifts[0] + moved * x, scales[0]), density(shifts[1], scales[1])
        return lambda y: weight * a(y) + (1 - weight) * b(y)

    return mechanism, law(0.0), law(1.0)


def integral(p: Density, q: Density, epsilon: float, kinks: list[float]) -> mpmath.mpf:
    """The integral of (p - e^eps q)+, cut where the sign changes."""
    factor = mpmath.exp(epsilon)
    grid = np.unique(np.concatenate([np.linspace(-60, 60, 1201), kinks]))
    values = [p(y) - factor * q(y) for y in grid.tolist()]
    cuts = [float(g) for g in grid[::60]] + kinks
    for a, b, u, v in zip(grid[:-1], grid[1:], values[:-1], values[1:], strict=True):
        if (u > 0) != (v > 0):
            ends = (float(a), float(b))
            cuts.append(float(mpmath.findroot(lambda y: p(y) - factor * q(y), ends, solver="anderson", tol=1e-25)))
    places = sorted(set(cuts))
    return mpmath.fsum(
        mpmath.quad(lambda y: p(y) - factor * q(y), [a, b])
        for a, b in zip(places[:-1], places[1:], strict=True)
        if p((a + b) / 2) > factor * q((a + b) / 2)
    )


@pytest.mark.parametrize("seed", range(4))
def test_mixtures(seed: int) -> None:
    rng = np.random.default_rng(seed)
    name = ("laplace", "gaussian")[seed % 2]
    weight = float(rng.uniform(0.05, 0.95))
    shifts = (float(rng.uniform(-1, 1)), float(rng.uniform(-1, 1)))
    scales = (float(rng.uniform(0.5, 2)), float(rng.uniform(0.5, 2)))
    moved = float(rng.uniform(0.5, 2))
    mechanism, p, q = mixture(name, weight, shifts, scales, moved)
    curve = dpest.estimate(mechanism, (0.0, 1.0)).curve()
    kinks = [shifts[0], shifts[0] + moved, shifts[1]]
    for epsilon in (0.0, 0.1, 0.4):
        truth = max(integral(p, q, epsilon, kinks), integral(q, p, epsilon, kinks))
        found = curve.delta(epsilon)
        assert found.lower * (1 - 1e-13) <= truth <= found.upper * (1 + 1e-13) + 1e-25
        assert width(found) < 1e-7 or truth < 1e-12
