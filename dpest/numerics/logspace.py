"""Sums and differences of numbers that are kept as logarithms."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
HALF_GRAIN = 2.0**-53  # relative: how far one operation on doubles may be off
LOG_HALF = -math.log(2)  # beyond, ln(1 - e^x) loses digits the other way


def log_diff(larger: npt.ArrayLike, smaller: npt.ArrayLike) -> Floats:
    """ln(e^larger - e^smaller); minus infinity where the difference is not positive."""
    a, b = np.broadcast_arrays(np.asarray(larger, float), np.asarray(smaller, float))
    with np.errstate(divide="ignore", invalid="ignore"):
        out = a + log1mexp(b - a)
    return np.where((a > b) & (a > -np.inf), out, -np.inf)


def log1mexp(x: npt.ArrayLike) -> Floats:
    """ln(1 - e^x) for x <= 0, without cancellation at either end."""
    x = np.asarray(x, float)
    with np.errstate(divide="ignore", invalid="ignore"):
        out = np.where(x > LOG_HALF, np.log(-np.expm1(np.minimum(x, 0.0))), np.log1p(-np.exp(np.minimum(x, 0.0))))
    return np.asarray(out)


def log_sum(x: npt.ArrayLike, axis: int | None = None) -> Floats:
    """ln of the sum of e^x; minus infinity for an empty or impossible sum."""
    x = np.asarray(x, float)
    if x.size == 0:
        return np.full(np.delete(x.shape, axis) if axis is not None else (), -np.inf)
    if axis == 0 and x.shape[0] == 1:
        return np.array(x[0])
    top = np.max(x, axis=axis, keepdims=True)
    safe = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        out = np.log(np.sum(np.exp(x - safe), axis=axis)) + np.squeeze(safe, axis=axis)
    return np.asarray(out)


def log_sum_error(terms: int) -> float:
    """How far `log_sum` over the last axis may be off by rounding, for terms that are exact.

    NumPy adds up to 128 neighbours in eight rows (at most 19 additions on the way of one term) and then in pairs. Each
    e^(x - top) is off by |x - top| grains and by one of its own; weighed by their shares, these are at most ln(terms).
    """
    additions = min(terms, 19 + math.log2(terms))
    return HALF_GRAIN * (additions + math.log(terms) + 3)


def log_sum_by_row(row: npt.NDArray[np.intp], x: Floats, rows: int) -> Floats:
    """For each row r, ln of the sum of e^x over the entries that carry r."""
    top = np.full(rows, -np.inf)
    np.maximum.at(top, row, x)
    safe = np.where(np.isfinite(top), top, 0.0)
    total = np.bincount(row, weights=np.exp(x - safe[row]), minlength=rows)
    with np.errstate(divide="ignore"):
        return np.log(total) + safe
