"""Mechanisms whose runs depend on each other; the claim is that of the mechanism with fresh noise in each run."""

from __future__ import annotations

import functools
import hashlib
import math
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

Rng = np.random.Generator


def shared_threshold(data: Any, size: int, rng: Rng) -> Any:
    threshold = 0.5 + rng.laplace(scale=2.0)
    return (np.asarray(data) + rng.laplace(scale=4.0, size=(size, len(data))) >= threshold).argmax(axis=1)


def shared_offset(data: Any, size: int, rng: Rng) -> Any:
    return data[0] + rng.laplace() + 0.01 * rng.random(size)


def kept_noise(calls: int) -> Callable[[int], Any]:
    """Noise that is kept for some calls."""

    def make(seed: int) -> Any:
        state = {"left": 0, "noise": 0.0}

        def mechanism(data: Any, rng: Rng) -> float:
            if state["left"] == 0:
                state.update(left=calls, noise=float(rng.laplace()))
            state["left"] -= 1
            return float(data[0] + state["noise"])

        return mechanism

    return make


class KeptInObject:
    """Noise that is kept for twenty calls, in an object that holds a lock and cannot be copied."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.left, self.noise = 0, 0.0

    def __call__(self, data: Any, rng: Rng) -> float:
        if self.left == 0:
            self.left, self.noise = 20, float(rng.laplace())
        self.left -= 1
        return float(data[0] + self.noise)


def cached(seed: int) -> Any:
    @functools.lru_cache
    def answer(x: float) -> float:
        return float(x + np.random.laplace())  # noqa: NPY002

    return lambda data: answer(data[0])


def remembered(seed: int) -> Any:
    known: dict[float, float] = {}

    def mechanism(data: Any, rng: Rng) -> float:
        return known.setdefault(data[0], float(data[0] + rng.laplace()))

    return mechanism


def sticky(stay: float) -> Callable[[int], Any]:
    """A coin that often shows its last side again."""

    def make(seed: int) -> Any:
        state: dict[str, bool] = {}

        def mechanism(data: int, rng: Rng) -> int:
            if not state or rng.random() > stay:
                state["lie"] = bool(rng.random() < 0.25)
            return 1 - data if state["lie"] else data

        return mechanism

    return make


def static_layer(seed: int) -> Any:
    kept: list[float] = []

    def mechanism(data: Any, rng: Rng) -> float:
        if not kept:
            kept.append(float(rng.laplace(scale=2.0)))
        return float(data[0] + rng.laplace(scale=2.0) > 0.5 + kept[0])

    return mechanism


def by_the_clock(data: Any) -> float:
    return float(data[0] + np.random.default_rng(int(time.time())).laplace())


def by_the_millisecond(data: Any) -> float:
    return float(data[0] + np.random.default_rng(int(time.time() * 1000)).laplace())


def starts_again(period: int, *, whole: bool) -> Callable[[int], Any]:
    """Noise of a counter that starts again after so many calls, as of a library that seeds itself anew."""

    def make(seed: int) -> Any:
        calls = [0]

        def mechanism(data: Any) -> float:
            calls[0] += 1
            digest = hashlib.blake2b(f"{seed} {calls[0] % period}".encode(), digest_size=8).digest()
            u = (int.from_bytes(digest, "big") + 0.5) / 2**64 - 0.5
            noisy = float(data[0] - math.copysign(math.log1p(-2 * abs(u)), u))
            return round(noisy) if whole else noisy

        return mechanism

    return make


def coin_seeded_again(seed: int) -> Any:
    """Randomised response with a generator that is seeded alike every hundred calls."""
    state: dict[str, Any] = {"calls": 0}

    def mechanism(data: int) -> int:
        if state["calls"] % 100 == 0:
            state["rng"] = np.random.default_rng(seed)
        state["calls"] += 1
        return 1 - data if state["rng"].random() < 0.25 else data

    return mechanism


def one_seed_per_hundred(seed: int) -> Any:
    """Noise that changes every hundred calls."""
    calls = [0]

    def mechanism(data: Any) -> float:
        calls[0] += 1
        return float(data[0] + np.random.default_rng((seed, calls[0] // 100)).laplace())

    return mechanism


def noise_of_the_pair(sign: int) -> Callable[[int], Any]:
    """Each call on one input uses the noise of the same call on the other, or its opposite."""

    def make(seed: int) -> Any:
        noise: list[float] = []
        calls: dict[float, int] = {}

        def mechanism(data: Any, rng: Rng) -> float:
            place = calls.get(data[0], 0)
            calls[data[0]] = place + 1
            if place == len(noise):
                noise.append(float(rng.laplace()))
            return float(data[0] + (1 if data[0] == 0 else sign) * noise[place])

        return mechanism

    return make


def antithetic(seed: int) -> Any:
    """Each draw is followed by its opposite."""
    left: list[float] = []

    def mechanism(data: Any, rng: Rng) -> float:
        if left:
            return float(data[0] - left.pop())
        left.append(float(rng.laplace()))
        return float(data[0] + left[0])

    return mechanism


def antithetic_rows(data: Any, size: int, rng: Rng) -> Any:
    noise = rng.laplace(size=-(-size // 2))
    return data[0] + np.concatenate([noise, -noise])[:size]


def stratified_rows(data: Any, size: int, rng: Rng) -> Any:
    u = (rng.permutation(size) + rng.random(size)) / size - 0.5
    return data[0] - np.copysign(np.log1p(-2 * np.abs(u)), u)


def remembered_by_turn(seed: int) -> Any:
    """Answers that are remembered, fifty for each input."""
    known: dict[Any, float] = {}
    calls = [0]

    def mechanism(data: Any, rng: Rng) -> float:
        calls[0] += 1
        return known.setdefault((data[0], calls[0] % 50), float(data[0] + rng.laplace()))

    return mechanism


def ten_rows_share(data: Any, size: int, rng: Rng) -> Any:
    return data[0] + np.repeat(rng.laplace(size=-(-size // 10)), 10)[:size] + 1e-9 * rng.random(size)


def slow_drift(seed: int) -> Any:
    """Laplace noise that goes on from the last call's, by a slow random walk of its quantile."""
    state = [0.0]

    def mechanism(data: Any, rng: Rng) -> float:
        state[0] = 0.98 * state[0] + math.sqrt(1 - 0.98**2) * float(rng.normal())
        u = math.erf(state[0] / math.sqrt(2)) / 2
        return float(data[0] - math.copysign(math.log1p(-2 * abs(u)), u))

    return mechanism
