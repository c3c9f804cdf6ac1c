"""The sparse vector technique, of which the variants differ in their thresholds, their noise and what a pass releases."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from dpest.lang.functions import where
from dpest.lang.noise import laplace

PassRelease = Callable[[Any, Any], Any]  # (query, noisy query) -> output


def one(query: Any, noisy: Any) -> int:
    """A pass releases 1."""
    return 1


def sparse_vector(
    queries: Sequence[Any], thresholds: Sequence[Any], query_scale: float, *, passed: PassRelease = one, failed: float = 0
) -> list[Any]:
    """Which noisy queries reach the threshold; the k-th pass brings the next threshold into force, after the last all is NaN."""
    out: list[Any] = []
    passes = 0
    for query in queries:
        if passes == len(thresholds):
            out.append(math.nan)
            continue
        noisy = query + laplace(query_scale)
        if noisy >= thresholds[passes]:
            out.append(passed(query, noisy))
            passes += 1
        else:
            out.append(failed)
    return out


def lazy_sparse_vector(
    queries: Sequence[Any], thresholds: Sequence[Any], query_scale: float, *, passed: PassRelease = one, failed: float = 0
) -> list[Any]:
    """The same as one expression, without `if`: two of them side by side do not multiply each other's paths."""
    rest: list[list[Any]] = [[] for _ in range(len(thresholds) + 1)]  # the answers still to come, by passes so far
    for query in reversed(queries):
        noisy = query + laplace(query_scale)
        yes, no = passed(query, noisy), failed
        open_ = [where(noisy >= t, [yes, *rest[k + 1]], [no, *rest[k]]) for k, t in enumerate(thresholds)]
        rest = [*open_, [math.nan, *rest[-1]]]
    return rest[0]
