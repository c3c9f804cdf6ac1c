"""Features of the IEEE 754 representation: what naive noise leaves in the bits of a number."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]
LOW_BITS = 5  # of the significand: 32 cells, which a few thousand samples fill


def has_fractions(values: Matrix) -> bool:
    """Whether some of the numbers are no whole ones."""
    finite = values[np.isfinite(values)]
    return bool(np.any(finite != np.rint(finite)))


def bits(values: Matrix, single: bool = False) -> NDArray[np.uint64]:
    """The representation as an unsigned integer: 64 bits, or 32 for single precision."""
    if single:
        return np.ascontiguousarray(values, dtype=np.float32).view(np.uint32).astype(np.uint64)
    return np.ascontiguousarray(values, dtype=np.float64).view(np.uint64)


def sign(values: Matrix) -> Matrix:
    """1 for negative numbers, 0 for others; NaN stays."""
    return np.where(np.isnan(values), values, np.signbit(values))


def exponent(values: Matrix) -> Matrix:
    """The unbiased exponent: 0 for numbers in [1, 2); -1075 for zero and 1024 for infinity; NaN stays."""
    _, power = np.frexp(values)
    unbiased = np.where(values == 0, -1075.0, np.where(np.isinf(values), 1024.0, power - 1.0))
    return np.where(np.isnan(values), values, unbiased)


def trailing_zeros(values: Matrix, single: bool = False) -> Matrix:
    """How many of the lowest bits of the significand are zero: 52 (or 23) when all of them are; NaN stays."""
    width = 23 if single else 52
    fraction = bits(values, single) & np.uint64((1 << width) - 1)
    lowest = fraction & (~fraction + np.uint64(1))
    _, power = np.frexp(lowest.astype(np.float64))
    return np.where(np.isnan(values), values, np.where(fraction == 0, width, power - 1.0))


def low_bits(values: Matrix, single: bool = False) -> Matrix:
    """The lowest five bits of the significand as a number; NaN stays."""
    return np.where(np.isnan(values), values, (bits(values, single) & np.uint64((1 << LOW_BITS) - 1)).astype(np.float64))


def lowest_bit(values: Matrix, single: bool = False) -> Matrix:
    """The power of two of the lowest bit that is set, which is the grid that the number lies on; NaN stays.

    Noise rounded to the grid of a large sum keeps that grid when the sum happens to be small (Mironov, CCS 2012).
    """
    return exponent(values) + trailing_zeros(values, single) - (23 if single else 52)
