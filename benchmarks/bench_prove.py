"""Proofs over all adjacent inputs: how their cost grows, beside the exact loss of one pair at the same size."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import dpest
from dpest.algorithms import gallery
from dpest.doors.everywhere import over_all_inputs
from dpest.exact.answer import estimate_exactly


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


def noisy_argmax(values: Any, eps: float = 0.1) -> Any:
    """The index of the largest noisy value."""
    return dpest.argmax([v + dpest.laplace(2 / eps) for v in values])


GROWTH: list[tuple[Callable[..., Any], tuple[int, ...]]] = [
    (above_threshold, (10, 100, 1000)),
    (no_cutoff, (5, 10)),
    (noisy_argmax, (10, 100)),
]


def row(mechanism: Callable[..., Any], n: int, most: float) -> str:
    """One line: the proof, its check, one pair, and the ratio."""
    start = time.perf_counter()
    p = dpest.prove(mechanism, n=n)
    proof = time.perf_counter() - start
    start = time.perf_counter()
    assert p.proof is not None
    assert p.proof.check()
    check = time.perf_counter() - start
    told = f"{mechanism.__name__:18} n={n:<5} proof {proof:8.2f} s  check {check:6.2f} s"
    if proof > most:
        return told
    start = time.perf_counter()
    dpest.estimate(mechanism, (p.pair.left, p.pair.right), method="exact")
    pair = time.perf_counter() - start
    return f"{told}  pair {pair:6.2f} s  ratio {proof / pair:5.1f}"


def main() -> None:
    largest = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    dpest.prove(above_threshold, n=2)  # imports
    for mechanism, sizes in GROWTH:
        for n in sizes:
            if n <= largest:
                print(row(mechanism, n, most=20.0), flush=True)
    whole_gallery()


def whole_gallery() -> None:
    """All 21 algorithms: the proofs, and the cheap line about all inputs, beside the exact answers."""
    exact = line = proof = 0.0
    for algorithm in gallery():
        start = time.perf_counter()
        found = estimate_exactly(algorithm.function, algorithm.pairs(), {})
        exact += time.perf_counter() - start
        start = time.perf_counter()
        over_all_inputs(algorithm.function, algorithm.pairs(), {}, None, found.epsilon)
        line += time.perf_counter() - start
        start = time.perf_counter()
        dpest.prove(algorithm.function, **algorithm.all_inputs())
        proof += time.perf_counter() - start
    print(f"all 21 algorithms: exact {exact:.1f} s, proofs {proof:.1f} s, ratio {proof / exact:.2f} (limit 1)")
    print(f"the line about all inputs {line:.2f} s, ratio {line / exact:.3f} (limit 0.1)")


if __name__ == "__main__":
    main()
