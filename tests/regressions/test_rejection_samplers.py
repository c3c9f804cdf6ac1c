"""Rejection samplers of Gaussian noise, as textbooks write them: the loss has no bound, and delta is that of the density."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

import dpest


def from_laplace(x: int, rng: np.random.Generator) -> float:
    while True:
        y = rng.laplace(0, 1)
        if rng.random() < math.exp(-((abs(y) - 1) ** 2) / 2):
            return x + y


def from_an_exponential_with_a_sign(x: int) -> float:
    """Twice a Gaussian value, of uniform numbers alone."""
    while True:
        y = -math.log(random.random())
        if random.random() <= math.exp(-0.5 * (y - 1) ** 2):
            break
    if random.random() < 0.5:
        y = -y
    return x + 2.0 * y


def narrower(x: int, rng: np.random.Generator) -> float:
    """The density is proportional to e^(-|y| - y^2 / 2)."""
    while True:
        y = rng.laplace(0, 1)
        if rng.random() < math.exp(-y * y / 2):
            return x + y


def narrower_beyond_five(x: int, rng: np.random.Generator) -> bool:
    while True:
        y = rng.laplace(0, 1)
        if rng.random() < math.exp(-y * y / 2):
            return x + y >= 5


def whole_numbers(x: int) -> int:
    """Canonne, Kamath and Steinke's discrete Gaussian of scale 2, in floats."""
    t = 3
    while True:
        up = down = 0
        while random.random() < math.exp(-1 / t):
            up += 1
        while random.random() < math.exp(-1 / t):
            down += 1
        y = up - down
        if random.random() < math.exp(-((abs(y) - 4 / t) ** 2) / 8):
            return x + y


def from_geometric_numbers(x: int, rng: np.random.Generator) -> int:
    p = 1 - math.exp(-1 / 2)
    while True:
        y = rng.geometric(p) - rng.geometric(p)
        if rng.random() < math.exp(-((abs(y) - 2) ** 2) / 8):
            return x + y


def gaussian(s: float, e: float) -> float:
    """delta(e) of Gaussian noise of scale s for numbers that are 1 apart."""
    return float(stats.norm.cdf(1 / (2 * s) - e * s) - math.exp(e) * stats.norm.cdf(-1 / (2 * s) - e * s))


def narrow(y: float) -> float:
    return math.exp(-abs(y) - y * y / 2)


WHOLE = integrate.quad(narrow, -20, 0, epsrel=1e-12)[0] * 2


def narrow_delta(e: float) -> float:
    edges = [-20.0, -5.0, -1.0, 0.0, 1.0, 6.0]
    # ln f(y) - ln f(y - 1) = |y - 1| - |y| + 1/2 - y falls: one crossing, which lies between 0 and 1 for e = 1.
    crossing = 0.5 - e if e > 1.5 else (1.5 - e) / 3
    edges = sorted({*edges, crossing})
    parts = (
        integrate.quad(lambda y: max(0.0, narrow(y) - math.exp(e) * narrow(y - 1)), a, b, epsrel=1e-12)[0]
        for a, b in pairwise(edges)
    )
    return math.fsum(parts) / WHOLE


def discrete(e: float) -> float:
    weights = {k: math.exp(-k * k / 8) for k in range(-60, 61)}
    some = (max(0.0, w - math.exp(e) * weights.get(k - 1, 0.0)) for k, w in weights.items())
    return math.fsum(some) / math.fsum(weights.values())


CASES: list[tuple[Callable[..., Any], Callable[[float], float]]] = [
    (from_laplace, lambda e: gaussian(1.0, e)),
    (from_an_exponential_with_a_sign, lambda e: gaussian(2.0, e)),
    (narrower, narrow_delta),
    (whole_numbers, discrete),
    (from_geometric_numbers, discrete),
]


@pytest.mark.parametrize(("mechanism", "delta"), CASES, ids=[f.__name__ for f, _ in CASES])
def test_the_loss_is_infinite_and_delta_is_that_of_the_density(mechanism: Any, delta: Any) -> None:
    r = dpest.estimate(mechanism, (3, 4), method="exact")
    assert r.lower == r.upper == math.inf
    assert float(r.delta(1.0)) == pytest.approx(delta(1.0), rel=1e-8)


def test_an_event_under_a_density_that_was_rejected_from() -> None:
    r = dpest.estimate(narrower_beyond_five, (3, 4), method="exact")
    beyond = [integrate.quad(narrow, 5 - x, 30, epsabs=0, epsrel=1e-12)[0] for x in (3, 4)]
    assert r.epsilon == pytest.approx(math.log(beyond[1] / beyond[0]), abs=1e-10)
    assert r.upper - r.lower < 1e-9
