"""Stand-ins for functions of NumPy that compare the elements of an array one by one, and would fork the run for each."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpest.lang.dist import Dist, unwrap, wrap
from dpest.lang.extremes import clipped, extreme
from dpest.lang.nodes import Pick
from dpest.lang.run import RUN

_CLIP = np.clip


def clip(a: Any, a_min: Any = None, a_max: Any = None, *rest: Any, **options: Any) -> Any:
    """numpy.clip: random values stay random, with NumPy's order, the lower bound first."""
    low, high = options.pop("min", a_min), options.pop("max", a_max)
    if RUN.get() is None or rest or options or (low is None and high is None) or not any(map(_random, (a, low, high))):
        return _CLIP(a, low, high, *rest, **options)
    if not any(isinstance(x, np.ndarray | list | tuple) for x in (a, low, high)):
        return _clipped(a, low, high)
    return np.frompyfunc(_clipped, 3, 1)(*(np.asarray(x, dtype=object) for x in (a, low, high)))


def _random(x: Any) -> bool:
    if isinstance(x, np.ndarray):
        return x.dtype == object and any(isinstance(v, Dist) for v in x.ravel())
    return any(map(_random, x)) if isinstance(x, list | tuple) else isinstance(x, Dist)


def _clipped(x: Any, low: Any, high: Any) -> Any:
    x, low, high = unwrap(x), unwrap(low), unwrap(high)
    if low is None:
        return wrap(extreme(Pick.MIN, (x, high)))
    return wrap(extreme(Pick.MAX, (x, low)) if high is None else clipped(x, low, high))


ARRAYS: dict[int, Any] = {id(_CLIP): clip}
