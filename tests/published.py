"""Mechanisms of the verification literature, written as their authors would: name -> (mechanism, question, claim, loss).

The losses are those of hand proofs: scales are chosen so that a correct mechanism has loss eps = 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import dpest

EPS = 1.0


@dataclass(frozen=True)
class Published:
    """One mechanism, the question that is asked of it, what is claimed, and the loss that is known."""

    mechanism: Callable[..., Any]
    loss: float
    claim: float = EPS
    n: int = 5
    adjacency: str = "linf"
    params: dict[str, Any] = field(default_factory=dict)


def noisy_max(values: Any) -> Any:
    """The index of the largest noisy value."""
    best, index = None, 0
    for i, value in enumerate(values):
        noisy = value + dpest.laplace(2 / EPS)
        if best is None or noisy > best:
            best, index = noisy, i
    return index


def noisy_max_with_value(values: Any) -> Any:
    """Wrong: the largest noisy value itself, with the noise of the index."""
    best = None
    for value in values:
        noisy = value + dpest.laplace(2 / EPS)
        if best is None or noisy > best:
            best = noisy
    return best


def noisy_max_with_gap(values: Any) -> Any:
    """The index of the largest noisy value, and how far it is ahead of the second."""
    noisy = [value + dpest.laplace(2 / EPS) for value in values]
    first, second = (0, 1) if noisy[0] >= noisy[1] else (1, 0)
    for i in range(2, len(noisy)):
        if noisy[i] > noisy[first]:
            first, second = i, first
        elif noisy[i] > noisy[second]:
            second = i
    return first, noisy[first] - noisy[second]


def sparse_vector(queries: Any, cutoff: int = 1, threshold: float = 0.0) -> Any:
    """Which queries are above the noisy threshold, until `cutoff` of them are."""
    noisy_threshold = threshold + dpest.laplace(2 / EPS)
    out, passes = [], 0
    for query in queries:
        if query + dpest.laplace(4 * cutoff / EPS) >= noisy_threshold:
            out.append(True)
            passes += 1
            if passes == cutoff:
                break
        else:
            out.append(False)
    return out


def sparse_vector_gap(queries: Any, cutoff: int = 1, threshold: float = 0.0) -> Any:
    """As above; a pass also releases by how much it is above the threshold."""
    noisy_threshold = threshold + dpest.laplace(2 / EPS)
    out: list[Any] = []
    passes = 0
    for query in queries:
        noisy = query + dpest.laplace(4 * cutoff / EPS)
        if noisy >= noisy_threshold:
            out.append(noisy - noisy_threshold)
            passes += 1
            if passes == cutoff:
                break
        else:
            out.append(False)
    return out


def numerical_sparse_vector(queries: Any, cutoff: int = 1, threshold: float = 0.0) -> Any:
    """A pass releases the query with fresh noise."""
    noisy_threshold = threshold + dpest.laplace(3 / EPS)
    out: list[Any] = []
    passes = 0
    for query in queries:
        if query + dpest.laplace(6 * cutoff / EPS) >= noisy_threshold:
            out.append(query + dpest.laplace(3 * cutoff / EPS))
            passes += 1
            if passes == cutoff:
                break
        else:
            out.append(False)
    return out


def adaptive_sparse_vector(queries: Any, threshold: float = 0.0) -> Any:
    """Queries far above the threshold are told with much noise, the others with less, while the budget lasts."""
    noisy_threshold = threshold + dpest.laplace(2 / EPS)
    out: list[Any] = []
    spent = 0.0
    for query in queries:
        if spent + EPS / 2 > EPS / 2 + 1e-12:
            break
        if query + dpest.laplace(8 / EPS) - noisy_threshold >= 4:
            out.append("far")
            spent += EPS / 4
        elif query + dpest.laplace(4 / EPS) - noisy_threshold >= 0:
            out.append("above")
            spent += EPS / 2
        else:
            out.append("below")
    return out


def no_threshold_noise(queries: Any) -> Any:
    """Wrong: the threshold is not noisy, and there is no cutoff."""
    return [query + dpest.laplace(1 / EPS) >= 0 for query in queries]


def no_query_noise(queries: Any) -> Any:
    """Wrong: only the threshold is noisy, and there is no cutoff."""
    threshold = dpest.laplace(1 / EPS)
    return [query >= threshold for query in queries]


def no_cutoff(queries: Any) -> Any:
    """Wrong: threshold and queries are noisy, but every query is answered."""
    threshold = dpest.laplace(2 / EPS)
    return [query + dpest.laplace(2 / EPS) >= threshold for query in queries]


def releases_the_compared_value(queries: Any) -> Any:
    """Wrong: a pass releases the noisy value that was compared."""
    threshold = dpest.laplace(2 / EPS)
    out: list[Any] = []
    for query in queries:
        noisy = query + dpest.laplace(2 / EPS)
        if noisy >= threshold:
            return [*out, noisy]
        out.append(None)
    return out


def partial_sum(values: Any) -> Any:
    """The sum of all values, once."""
    return sum(values) + dpest.laplace(1 / EPS)


def prefix_sum(values: Any) -> Any:
    """Every running sum, each value with noise of its own."""
    total: Any = 0.0
    out = []
    for value in values:
        total = total + value + dpest.laplace(1 / EPS)
        out.append(total)
    return out


def smart_sum(values: Any, block: int = 2) -> Any:
    """Running sums from noisy blocks and noisy values: each value enters one block and one value of its own."""
    out = []
    done: Any = 0.0
    inside: Any = 0.0
    exact: Any = 0.0
    for i, value in enumerate(values):
        exact = exact + value
        if (i + 1) % block == 0:
            done = done + exact + dpest.laplace(1 / EPS)
            inside, exact = 0.0, 0.0
            out.append(done)
        else:
            inside = inside + value + dpest.laplace(1 / EPS)
            out.append(done + inside)
    return out


PUBLISHED = {
    "noisy max": Published(noisy_max, 1.0),
    "noisy max, value": Published(noisy_max_with_value, 5 / 2),
    "noisy max with gap": Published(noisy_max_with_gap, 1.0, n=4),
    "sparse vector": Published(sparse_vector, 1.0),
    "sparse vector, cutoff 2": Published(sparse_vector, 1.0, n=8, params={"cutoff": 2}),
    "sparse vector with gap": Published(sparse_vector_gap, 1.0),
    "numerical sparse vector": Published(numerical_sparse_vector, 1.0),
    "adaptive sparse vector": Published(adaptive_sparse_vector, 1.0, n=5),
    "sparse vector, no threshold noise": Published(no_threshold_noise, 5.0),
    "sparse vector, no query noise": Published(no_query_noise, math.inf),
    "sparse vector, no cutoff": Published(no_cutoff, 2.5, n=5),
    "sparse vector, compared value": Published(releases_the_compared_value, 2.5),
    "partial sum": Published(partial_sum, 1.0, adjacency="l1"),
    "prefix sum": Published(prefix_sum, 1.0, adjacency="l1"),
    "smart sum": Published(smart_sum, 2.0, claim=2.0, n=4, adjacency="l1"),
}
