"""The whole report (21 algorithms, all patterns, both orders) against drawing samples of the SVT1 pairs alone.

The yardstick draws 10^6 runs of SVT1 for each input of the seven patterns with hand-vectorised NumPy.
"""

from __future__ import annotations

import sys
import time

import numpy as np

import dpest
from dpest.algorithms import find, gallery

RUNS, BLOCK, LIMIT = 1_000_000, 1 << 16, 1.0


def svt1_runs(queries: np.ndarray, runs: int, rng: np.random.Generator) -> np.ndarray:
    """How often each query is the first to pass (the last count: none passes)."""
    counts = np.zeros(len(queries) + 1, dtype=np.int64)
    for start in range(0, runs, BLOCK):
        size = min(BLOCK, runs - start)
        threshold = 0.5 + rng.laplace(0.0, 20.0, (size, 1))
        passed = queries + rng.laplace(0.0, 40.0, (size, len(queries))) >= threshold
        first = np.where(passed.any(axis=1), passed.argmax(axis=1), len(queries))
        counts += np.bincount(first, minlength=len(counts))
    return counts


def draw_pairs() -> float:
    """Seconds to draw the SVT1 pairs."""
    rng = np.random.Generator(np.random.SFC64(0))
    start = time.perf_counter()
    for pair in find("SVT1").pairs():
        for queries in (pair.left, pair.right):
            svt1_runs(np.array(queries), RUNS, rng)
    return time.perf_counter() - start


def report() -> float:
    """Seconds for the report, every algorithm exact."""
    start = time.perf_counter()
    for algorithm in gallery():
        dpest.estimate(algorithm.function, algorithm.pairs(), method="exact")
    return time.perf_counter() - start


def main() -> int:
    """Print both times and their ratio; 1 where the ratio is above the limit."""
    dpest.estimate(lambda x: x + dpest.laplace(1), (0, 1))  # what is imported on first use is not the report's
    report_seconds, drawing_seconds = report(), draw_pairs()
    ratio = report_seconds / drawing_seconds
    print(f"report of 21 algorithms {report_seconds:.2f} s, drawing the SVT1 pairs {drawing_seconds:.2f} s")
    print(f"ratio {ratio:.3f} (limit {LIMIT:g})")
    return int(ratio > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
