"""Exact answers against drawing 10^6 samples of the same laws with hand-vectorised NumPy, and how their cost grows."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import dpest
from dpest.inputs.pairs import generate_patterns

RUNS, BLOCK = 1_000_000, 1 << 16
Sampler = Callable[[np.ndarray, int, np.random.Generator], np.ndarray]


def above_threshold(queries: Any, eps: float = 0.1, threshold: float = 0.5) -> Any:
    """The first query whose noisy value reaches the noisy threshold."""
    t = threshold + dpest.laplace(2 / eps)
    for i, q in enumerate(queries):
        if q + dpest.laplace(4 / eps) >= t:
            return i
    return None


def no_cutoff(queries: Any, eps: float = 0.1) -> Any:
    """For each query whether it reaches the threshold, without an end."""
    t = 1 + dpest.laplace(2 / eps)
    return [1 if q + dpest.laplace(2 / eps) >= t else 0 for q in queries]


def exchangeable(queries: Any, eps: float = 0.1) -> Any:
    """The same without `if`: the comparisons are the output."""
    t = 1 + dpest.laplace(2 / eps)
    return [q + dpest.laplace(2 / eps) >= t for q in queries]


def noisy_argmax(values: Any, eps: float = 0.1) -> Any:
    """The index of the largest noisy value."""
    return dpest.argmax(np.array(values) + dpest.laplace(2 / eps, size=len(values)))


def draw_first(queries: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    passed = queries + rng.laplace(0.0, 40.0, (size, len(queries))) >= 0.5 + rng.laplace(0.0, 20.0, (size, 1))
    return np.where(passed.any(axis=1), passed.argmax(axis=1), len(queries))


def draw_all(queries: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    passed = queries + rng.laplace(0.0, 20.0, (size, len(queries))) >= 1 + rng.laplace(0.0, 20.0, (size, 1))
    return passed @ (1 << np.arange(len(queries)))


def draw_argmax(values: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    return np.asarray((values + rng.laplace(0.0, 20.0, (size, len(values)))).argmax(axis=1))


def sampled(draw: Sampler, pairs: list[tuple[Any, Any]]) -> float:
    """Seconds to draw and count 10^6 outputs of both inputs of every pair."""
    rng = np.random.Generator(np.random.SFC64(0))
    start = time.process_time()
    for pair in pairs:
        for data in pair:
            counts = np.zeros(1 << 11, dtype=np.int64)
            for _ in range(0, RUNS, BLOCK):
                counts += np.bincount(draw(np.array(data), BLOCK, rng), minlength=len(counts))
    return time.process_time() - start


def exact(mechanism: Callable[..., Any], pairs: list[tuple[Any, Any]]) -> float:
    """Seconds for the exact answer over the pairs, in both orders, once everything is loaded."""
    dpest.estimate(mechanism, pairs[:1], method="exact")
    start = time.process_time()
    dpest.estimate(mechanism, pairs, method="exact")
    return time.process_time() - start


def ratios() -> bool:
    """One line per ratio; whether all are within their limits."""
    ten, five = (list(generate_patterns(n).values()) for n in (10, 5))
    fine = True
    for name, mechanism, draw, pairs, limit in (
        ("above-threshold, n = 10", above_threshold, draw_first, ten, 0.05),
        ("noisy argmax, n = 5", noisy_argmax, draw_argmax, five, 0.03),
        ("no cutoff, n = 10", no_cutoff, draw_all, ten, 0.5),
    ):
        took, drawing = exact(mechanism, pairs), sampled(draw, pairs)
        fine = fine and took <= limit * drawing
        print(f"{name:26s} exact {took:7.3f} s  drawing {drawing:7.3f} s  ratio {took / drawing:.3f} (at most {limit})")
    return fine


def growth() -> bool:
    """How the cost of one pair grows with the number of queries."""
    seconds = []
    for n in (10, 100, 1000):
        seconds.append(exact(above_threshold, [([1.0] * n, [2.0] + [0.0] * (n - 1))]))
        print(f"above-threshold, n = {n:<5d} exact {seconds[-1]:7.3f} s")
    print(f"growth from 100 to 1000: {seconds[2] / seconds[1]:.1f} times (n^2 would be 100)")
    halves = ([1.0] * 20 + [0.0] * 20, [0.0] * 20 + [1.0] * 20)
    print(f"no cutoff, n = 40, two kinds of query: {exact(exchangeable, [halves]):.3f} s")
    return seconds[2] <= 100 * seconds[1]


def main() -> int:
    """Print everything; 1 where a limit is exceeded."""
    dpest.estimate(lambda x: x + dpest.laplace(1), (0, 1))
    within = [ratios(), growth()]
    return 0 if all(within) else 1


if __name__ == "__main__":
    sys.exit(main())
