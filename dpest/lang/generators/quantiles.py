"""Stand-ins for NumPy's quantiles and percentiles: of random values, a mean of the two that stand next to the place asked for."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpest.lang.dist import Dist
from dpest.lang.ordering import ranked
from dpest.lang.plain_numbers import PlainNumber, bare, marked
from dpest.lang.run import RUN
from dpest.lang.ufuncs import boxed

_METHODS = ("linear", "lower", "higher", "midpoint", "nearest")


def _standing_for(real: Any, whole: float) -> Any:
    """The function with `whole` for the largest place: 1 for quantiles, 100 for percentiles."""

    def function(a: Any, q: Any, axis: Any = None, *rest: Any, method: str = "linear", **options: Any) -> Any:
        if RUN.get() is None or not isinstance(a, np.ndarray | list | tuple):
            return real(a, q, axis, *rest, method=method, **options)
        items = boxed(a)
        kinds = [isinstance(x, Dist) for x in items.ravel()]
        plain = all(isinstance(x, Dist) or math.isfinite(x) for x in items.ravel())
        if any(kinds) and plain and items.ndim == 1 and not rest and not options and method in _METHODS:
            values = list(items)
            places = np.asarray(q, float) / whole
            if places.ndim == 0:
                return _at(values, float(places), method)
            return np.array([_at(values, float(p), method) for p in places], dtype=object)
        if not any(kinds) and any(isinstance(x, PlainNumber) for x in items.ravel()):
            numbers = np.array([bare(x) for x in items.ravel()], float).reshape(items.shape)
            found = real(numbers, q, axis, *rest, method=method, **options)
            return marked(found.item()) if np.ndim(found) == 0 else np.frompyfunc(marked, 1, 1)(found)
        return real(a, q, axis, *rest, method=method, **options)

    function.__name__ = function.__qualname__ = real.__name__
    return function


def _at(values: list[Any], p: float, method: str) -> Any:
    """The value at a share of the way from the smallest to the largest."""
    if not 0 <= p <= 1:
        raise ValueError("Quantiles must be in the range [0, 1]")
    place = p * (len(values) - 1)
    low, high = math.floor(place), math.ceil(place)
    if method == "nearest":
        low = high = round(place)
    elif method == "lower":
        high = low
    elif method == "higher":
        low = high
    below = ranked(values, low)
    if low == high:
        return below
    share = 0.5 if method == "midpoint" else place - low
    return below * (1 - share) + ranked(values, high) * share


QUANTILES: dict[int, Any] = {
    id(np.quantile): _standing_for(np.quantile, 1.0),
    id(np.percentile): _standing_for(np.percentile, 100.0),
}
