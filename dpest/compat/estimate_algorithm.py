"""The older front door: one number for one algorithm over its pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dpest.compat.privacy import epsilon_from_list_joint
from dpest.doors.estimate import estimate
from dpest.errors import InvalidInput, NotReplayable
from dpest.inputs.pairs import Pair, as_pairs
from dpest.lang.verbs import Sampled


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
    """The largest privacy loss of `dist_func(D, eps, *extra)` over the pairs; exact where its structure allows it.

    `n_samples` matters where sampling happens, and `hist_bins` where `dist_func` returns values that are known by samples.
    """
    if not callable(dist_func):
        raise InvalidInput(f"dist_func must be a function of (D, eps, *extra), got {dist_func!r}")
    if isinstance(extra, str) or (extra is not None and not isinstance(extra, Sequence)):
        raise InvalidInput(f"extra holds the parameters after eps, as a tuple such as (5.0, 2); got {extra!r}")

    if isinstance(hist_bins, bool) or not isinstance(hist_bins, int) or hist_bins < 1:
        raise InvalidInput(f"hist_bins must be a whole number >= 1, got {hist_bins!r}")

    def mechanism(data: Any) -> Any:
        return dist_func(data, eps, *(extra or ()))

    mechanism.__name__ = str(name)
    try:
        result = estimate(mechanism, list(pairs), samples=n_samples)
    except NotReplayable as hidden:
        return max(_between_samples(mechanism, pair, hist_bins, hidden) for pair in as_pairs(list(pairs)))
    if verbose:
        print(result)  # noqa: T201  (what verbose asks for)
    return float(result)


def _between_samples(mechanism: Callable[[Any], Any], pair: Pair, bins: int, hidden: NotReplayable) -> float:
    """The loss of a function that samples by itself and says so, by returning values that are known by samples."""
    sides = [mechanism(pair.left), mechanism(pair.right)]
    values = [list(side) if isinstance(side, list | tuple) else [side] for side in sides]
    if not all(isinstance(v, Sampled) for side in values for v in side):
        raise hidden
    return epsilon_from_list_joint(values[0], values[1], bins)
