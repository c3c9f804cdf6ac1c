"""The probability that a draw lies between two bounds, also where they differ by less than floats resolve."""

from __future__ import annotations

import math

import numpy as np

from dpest.exact.inference.expressions import Expr, plus
from dpest.laws.law import Continuous
from dpest.numerics.effort import spend
from dpest.numerics.logspace import Floats
from dpest.numerics.quadrature import LogFunction


def differences(lowers: tuple[Expr, ...], uppers: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """Every upper bound minus every lower one: exact where the bounds themselves differ by less than rounding."""
    return tuple(dict.fromkeys(plus(u, low, -1) for u in uppers for low in lowers))


_NARROW = 1e-6  # in scales: intervals up to here are a density times a width, off by the square of this at most


_GENERAL = 2  # evaluations more: without a closed form, an interval and its error take eight distribution functions


def log_gap(law: Continuous, low: Floats | float, high: Floats | float, width: Floats | float) -> tuple[Floats, Floats]:
    """ln P(low < X < high) and its relative error, where the width is known better than the ends."""
    low, high, width = np.broadcast_arrays(np.asarray(low, float), np.asarray(high, float), np.asarray(width, float))
    if type(law).log_interval is Continuous.log_interval:
        spend(_GENERAL * low.size)
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
    with np.errstate(over="ignore"):  # a width that is hardly a number: nothing is known
        return np.minimum(2.3e-16 * size / width, 1.0)


_EDGE = 4.6e-16  # two ends, each computed with two roundings of half a unit in the last place


def edge_error(columns: Floats, log_f: LogFunction, sizes: Floats, finest: float) -> Floats:
    """The relative error of integrals that comes from rounding the places between which their integrands are not zero.

    There is one row of places for each integral, with the size of the numbers that they are computed from.
    """
    places = np.sort(columns, axis=1)
    widths = np.diff(places, axis=1)
    inside = log_f(np.arange(len(places)), places[:, :-1] + widths / 2)[0] > -np.inf if widths.size else np.zeros(widths.shape)
    extent = np.minimum((widths * inside).sum(axis=1), finest)
    # An integrand that lives beyond the outermost places has no edge on one side: its own length counts.
    length = np.where(extent > 0, extent, finest)
    return np.asarray(np.minimum(_EDGE * (np.abs(places).max(axis=1) + sizes) / length, 1.0))
