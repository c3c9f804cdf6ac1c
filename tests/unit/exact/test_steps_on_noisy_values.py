"""Two noisy steps of which only the last is released, and the second depends on where the first has led.

Oracle: the density of the last value as an integral over the first, cut at its kinks, at many places.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq, minimize_scalar

import dpest

RATE = 0.5


def descent(data: Sequence[float], rng: np.random.Generator) -> Any:
    w = 0.0
    for _ in range(2):
        gradient = sum(max(-1, min(1, w - x)) for x in data) / len(data)
        w -= RATE * (gradient + rng.laplace(scale=2 / len(data)))
    return w


def log_density(y: float, data: Sequence[float]) -> float:
    b = 2 / len(data)
    first = RATE * float(np.clip(data, -1, 1).mean())

    def gradient(w: float) -> float:
        return float(np.clip(w - np.array(data), -1, 1).mean())

    def joint(w: float) -> float:
        return float(np.exp(-(abs(first - w) / RATE + abs((w - y) / RATE - gradient(w))) / b)) / (2 * b * RATE) ** 2

    turn = brentq(lambda w: (w - y) / RATE - gradient(w), y - 9, y + 9)
    kinks = sorted({first, turn, *(x + side for x in data for side in (-1, 1))})
    ends = [kinks[0] - 40 * b, *kinks, kinks[-1] + 40 * b]
    parts = [quad(joint, low, high, epsabs=0, epsrel=1e-12, limit=200)[0] for low, high in zip(ends, ends[1:], strict=False)]
    return float(np.log(sum(parts)))


@pytest.mark.parametrize(
    "pair", [([0.3], [0.8]), ([1.0, 2.0, 3.0], [1.0, 2.0, 8.0]), ([1.0, 2.0, 0.3], [1.0, 2.0, 0.8]), ([-0.4, 0.2], [0.5, 0.2])]
)
def test_the_last_of_two_steps(pair: tuple[list[float], list[float]]) -> None:
    def loss(y: float) -> float:
        return abs(log_density(y, pair[0]) - log_density(y, pair[1]))

    places = np.linspace(-9, 11, 81)
    best = places[int(np.argmax([loss(y) for y in places]))]
    found = minimize_scalar(lambda y: -loss(y), bounds=(best - 0.25, best + 0.25), method="bounded", options={"xatol": 1e-9})
    r = dpest.estimate(descent, pair, method="exact")
    assert r.lower - 1e-10 <= -found.fun <= r.upper + 1e-10
    assert r.upper - r.lower < 1e-9
