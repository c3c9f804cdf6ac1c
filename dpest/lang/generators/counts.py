"""How often each whole number comes among random ones."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from dpest.lang.dist import Dist
from dpest.lang.points import listed_points
from dpest.numerics.rationals import exact

BINCOUNT = np.bincount


def bincount(x: Any, weights: Any = None, minlength: int = 0) -> Any:
    """numpy.bincount: where every value has a bin whatever it is, counts stay random; else the run forks on the values."""
    if np.asarray(x).dtype != object:
        return BINCOUNT(x, weights, minlength)
    values = list(x)
    points = {p for v in values if isinstance(v, Dist) for p in listed_points(v.node) or (exact(-1),)}
    if not points or weights is not None or not all(p.denominator == 1 and 0 <= p < minlength for p in points):
        return BINCOUNT([operator.index(v) for v in values], weights, minlength)
    length = max([minlength, *(operator.index(v) + 1 for v in values if not isinstance(v, Dist))])
    out = np.empty(length, dtype=object)
    for k in range(length):
        out[k] = sum((v == k) * 1 for v in values)
    return out
