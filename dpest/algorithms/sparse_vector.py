"""The sparse vector technique, of which the variants differ in a few arguments."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from dpest.noise import laplace


def sparse_vector(
    queries: Iterable[Any],
    t: float,
    *,
    threshold_scale: float,
    query_scale: float | None,
    cutoff: int | None = None,
    passed: Callable[[Any, Any], Any] = lambda query, noisy: 1,
    failed: float = 0,
    redraw: bool = False,
) -> list[Any]:
    """Which noisy queries reach the noisy threshold: `passed(query, noisy)` or `failed` for each, NaN after `cutoff` passes."""
    threshold = t + laplace(threshold_scale)
    out: list[Any] = []
    passes = 0
    for query in queries:
        if passes == cutoff:
            out.append(math.nan)
            continue
        noisy = query if query_scale is None else query + laplace(query_scale)
        if noisy >= threshold:
            out.append(passed(query, noisy))
            passes += 1
            threshold = t + laplace(threshold_scale) if redraw and passes != cutoff else threshold
        else:
            out.append(failed)
    return out
