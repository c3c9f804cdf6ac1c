"""The older front door: one number for one algorithm over its pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dpest.analysis.estimate import estimate
from dpest.errors import InvalidInput


def estimate_algorithm(
    name: str,
    pairs: Sequence[Any],
    *,
    dist_func: Callable[..., Any],
    eps: float,
    n_samples: int = 100_000,
    extra: Sequence[Any] | None = None,
    hist_bins: int = 100,
    verbose: bool = False,
) -> float:
    """The largest privacy loss of `dist_func(D, eps, *extra)` over the pairs; exact where its structure allows it."""
    if not callable(dist_func):
        raise InvalidInput(f"dist_func must be a function of (D, eps, *extra), got {dist_func!r}")
    if isinstance(extra, str) or (extra is not None and not isinstance(extra, Sequence)):
        raise InvalidInput(f"extra holds the parameters after eps, as a tuple such as (5.0, 2); got {extra!r}")

    def mechanism(data: Any) -> Any:
        return dist_func(data, eps, *(extra or ()))

    mechanism.__name__ = str(name)
    result = estimate(mechanism, list(pairs), samples=n_samples)
    if verbose:
        print(result)  # noqa: T201  (what verbose asks for)
    return float(result)
