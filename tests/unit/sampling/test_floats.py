"""The bits of known numbers, and what they give away."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpest.sampling.runs import floats

ONE_THIRD = 0.3333333333333333


@pytest.mark.parametrize(
    ("number", "bits", "exponent", "zeros", "low", "lowest"),
    [
        (1.0, 0x3FF0000000000000, 0, 52, 0, 0),
        (-1.5, 0xBFF8000000000000, 0, 51, 0, -1),
        (0.1, 0x3FB999999999999A, -4, 1, 0b11010, -55),
        (ONE_THIRD, 0x3FD5555555555555, -2, 0, 0b10101, -54),
        (2.0**52 + 1, 0x4330000000000001, 52, 0, 1, 0),
        (6.0, 0x4018000000000000, 2, 51, 0, 1),
    ],
)
def test_known_doubles(number: float, bits: int, exponent: int, zeros: int, low: int, lowest: int) -> None:
    x = np.array([number])
    assert floats.bits(x)[0] == bits
    assert floats.exponent(x)[0] == exponent == math.floor(math.log2(abs(number)))
    assert floats.trailing_zeros(x)[0] == zeros
    assert floats.low_bits(x)[0] == low
    assert floats.lowest_bit(x)[0] == lowest
    assert floats.sign(x)[0] == (number < 0)


def test_known_singles() -> None:
    x = np.array([0.1, 1.0, 6.0], dtype=np.float32).astype(np.float64)
    assert floats.bits(x, single=True).tolist() == [0x3DCCCCCD, 0x3F800000, 0x40C00000]
    assert floats.trailing_zeros(x, single=True).tolist() == [0, 23, 22]
    assert floats.lowest_bit(x, single=True).tolist() == [-27, 0, 1]


def test_zero_infinity_and_nan() -> None:
    x = np.array([0.0, math.inf, math.nan])
    assert floats.exponent(x)[:2].tolist() == [-1075, 1024]
    for feature in (floats.sign, floats.exponent, floats.trailing_zeros, floats.low_bits, floats.lowest_bit):
        assert math.isnan(feature(x)[2])


def test_adding_one_leaves_the_grid_of_the_larger_number() -> None:
    """0.1 has its lowest bit at 2^-55; on the way through 1 + 0.1 - 1 everything below 2^-52 is lost."""
    assert floats.lowest_bit(np.array([0.1]))[0] == -55
    assert floats.lowest_bit(np.array([(1 + 0.1) - 1]))[0] >= -52
