"""Mechanisms whose runs are independent, and what a case of the honesty table is."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import dpest

Rng = np.random.Generator


@dataclass(frozen=True)
class Case:
    """A mechanism made anew for each audit, a pair, and its loss on that pair (or a bound that is known to hold)."""

    name: str
    make: Callable[[int], Any]
    pair: Any
    loss: float
    dependent: bool = False
    workers: int = 1
    samples: int = 1000
    threads: bool = False  # workers are threads of this process


def fixed(mechanism: Any) -> Callable[[int], Any]:
    """The same mechanism for each audit."""
    return lambda seed: mechanism


def laplace(data: Any, size: int, rng: Rng) -> Any:
    return data[0] + rng.laplace(size=size)


def laplace_call(data: Any, rng: Rng) -> float:
    return float(data[0] + rng.laplace())


def two_laplace(data: Any, size: int, rng: Rng) -> Any:
    return np.asarray(data) + rng.laplace(scale=2.0, size=(size, 2))


def geometric(data: Any, size: int, rng: Rng) -> Any:
    p = 1 - math.exp(-1)
    return data[0] + rng.geometric(p, size) - rng.geometric(p, size)


def response(data: Any, size: int, rng: Rng) -> Any:
    return np.where(rng.random(size) < 0.75, data, 1 - data)


def response_k(data: Any, size: int, rng: Rng) -> Any:
    k, keep = 20, math.e / (math.e + 19)
    return np.where(rng.random(size) < keep, data, (data + rng.integers(1, k, size)) % k)


def exponential(data: Any, size: int, rng: Rng) -> Any:
    scores = 0.5 * np.asarray(data)
    return np.argmax(scores + rng.gumbel(size=(size, len(data))), axis=1)


def noisy_max(data: Any, size: int, rng: Rng) -> Any:
    return np.argmax(np.asarray(data) + rng.exponential(scale=2.0, size=(size, len(data))), axis=1)


def gap_max(data: Any, size: int, rng: Rng) -> Any:
    noisy = np.asarray(data) + rng.laplace(scale=2.0, size=(size, len(data)))
    ordered = np.sort(noisy, axis=1)
    return np.argmax(noisy, axis=1), ordered[:, -1] - ordered[:, -2]


def sparse(data: Any, rng: Rng) -> Any:
    threshold = 0.5 + rng.laplace(scale=2.0)
    for i, q in enumerate(data):
        if q + rng.laplace(scale=4.0) >= threshold:
            return i
    return None


def sparse_rows(data: Any, size: int, rng: Rng) -> Any:
    threshold = 0.5 + rng.laplace(scale=2.0, size=(size, 1))
    return (np.asarray(data) + rng.laplace(scale=4.0, size=(size, len(data))) >= threshold).argmax(axis=1)


def thresholded(data: Any, size: int, rng: Rng) -> Any:
    noisy = data[0] + rng.laplace(size=size)
    return np.where(noisy > 1.0, noisy, np.nan)


def raises(data: Any, rng: Rng) -> float:
    noisy = float(data[0] + rng.laplace())
    if noisy > 2:
        raise ValueError("too large")
    return noisy


def equal(data: Any, size: int, rng: Rng) -> Any:
    return rng.normal(size=(size, 3))


def rounded(data: Any, size: int, rng: Rng) -> Any:
    return np.round(data[0] + rng.laplace(size=size), 1)


def staircase(data: Any, size: int, rng: Rng) -> Any:
    sign = rng.choice([-1, 1], size)
    steps = rng.geometric(1 - math.exp(-1), size) - 1
    gamma = 1 / (1 + math.exp(0.5))
    low = rng.random(size) < gamma / (gamma + (1 - gamma) * math.exp(-1))
    u = rng.random(size)
    return data[0] + sign * np.where(low, steps + gamma * u, steps + gamma + (1 - gamma) * u)


def words(data: Any, rng: Rng) -> str:
    return "yes" if rng.random() < (0.75 if data else 0.25) else "no"


def global_state(data: Any) -> float:
    return float(data[0] + np.random.laplace())  # noqa: NPY002


def traced(data: Any) -> Any:
    return data[0] + dpest.laplace(1.0)
