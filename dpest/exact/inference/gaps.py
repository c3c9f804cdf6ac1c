"""The probability that a draw lies between two bounds, also where they differ by less than floats resolve."""

from __future__ import annotations

import math

import numpy as np

from dpest.exact.inference.expressions import Expr, plus
from dpest.laws.law import Continuous
from dpest.numerics.logspace import Floats


def differences(lowers: tuple[Expr, ...], uppers: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """Every upper bound minus every lower one: exact where the bounds themselves differ by less than rounding."""
    return tuple(dict.fromkeys(plus(u, low, -1) for u in uppers for low in lowers))


_NARROW = 1e-6  # in scales: intervals up to here are a density times a width, off by the square of this at most


def log_gap(law: Continuous, low: Floats | float, high: Floats | float, width: Floats | float) -> tuple[Floats, Floats]:
    """ln P(low < X < high) and its relative error, where the width is known better than the ends."""
    low, high, width = np.broadcast_arrays(np.asarray(low, float), np.asarray(high, float), np.asarray(width, float))
    out = law.log_interval(low, high)
    error = _width_error(low, high, law.scale) + law.interval_error(low, high, out)
    narrow = (width > 0) & (width < _NARROW * law.scale) & np.isfinite(low)
    if np.any(narrow):
        with np.errstate(divide="ignore", invalid="ignore"):
            here, there = law.log_density(low), law.log_density(low + width)
            flat = np.where(here == there, 0.0, np.abs(there - here))  # how far the density is from constant in between
            short = np.logaddexp(here, there) - math.log(2) + np.log(width)
        narrow &= np.isfinite(here) & np.isfinite(there) & (flat + 1e-13 < error)
        out, error = np.where(narrow, short, out), np.where(narrow, flat + 1e-13, error)
    return np.where(width > 0, out, -np.inf), error


def _width_error(low: Floats, high: Floats, scale: float) -> Floats:
    """The relative error of an interval's probability that comes from rounding its ends."""
    with np.errstate(invalid="ignore"):
        width = np.minimum(np.maximum(high - low, 1e-300), scale)
    size = np.where(np.isfinite(low), np.abs(low), 0.0) + np.where(np.isfinite(high), np.abs(high), 0.0)
    return np.minimum(2.3e-16 * size / width, 1.0)
