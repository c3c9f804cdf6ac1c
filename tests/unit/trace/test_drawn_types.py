"""Whole numbers drawn with a type of few bits: arithmetic on them wraps around, as NumPy's does."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import dpest
from dpest.errors import DpestError, NoText


def test_arrays_wrap_around() -> None:
    """Two numbers of 0..3, less one: the 0 becomes 255; less two, the 0 and the 1 are above 100. Each is 1/4 against 1/2."""

    def mechanism(x: int, rng: np.random.Generator) -> Any:
        k = rng.integers(0, 4, size=2, dtype=np.uint8)
        return (k - 1 - x) > 100

    r = dpest.estimate(mechanism, (0, 1), method="exact")
    assert r.lower <= math.log(4) <= r.upper
    assert r.upper - r.lower < 1e-12


def test_bits_of_few_bits_are_read() -> None:
    """One uniform bit hides another; the second answer is kept with probability 3/4."""

    def mechanism(x: int, rng: np.random.Generator) -> Any:
        hidden = rng.integers(0, 2, size=1, dtype=np.uint8) ^ x
        kept = x if rng.random() < 0.75 else 1 - x
        return int(hidden[0]), kept

    r = dpest.estimate(mechanism, (0, 1), method="exact")
    assert r.lower <= math.log(3) <= r.upper
    assert r.upper - r.lower < 1e-12


def test_a_single_number_of_few_bits_is_refused() -> None:
    """P(k - 1 - x > 100) is 1/4 against 1/2 in arithmetic of eight bits, which numbers of a trace do not have."""

    def mechanism(x: int, rng: np.random.Generator) -> Any:
        k = rng.integers(0, 4, dtype=np.uint8)
        return int(k - 1 - x > 100)

    with pytest.raises(DpestError, match="dtype=uint8"):
        dpest.estimate(mechanism, (0, 1), method="exact")


@pytest.mark.parametrize("dtype", [None, int, np.int64])
def test_the_usual_type_is_read(dtype: Any) -> None:
    """A shift of a uniform number on 0..3 by one."""

    def mechanism(x: int, rng: np.random.Generator) -> Any:
        return int(rng.integers(0, 4, dtype=dtype or np.int64) + x >= 1)

    r = dpest.estimate(mechanism, (0, 1), method="exact")
    assert math.isinf(r.upper)
    assert r.lower > 0


def test_a_whole_number_beyond_two_to_the_53_is_no_double() -> None:
    def rounded(x: int, rng: np.random.Generator) -> Any:
        k = rng.integers(0, 3) + 2**53
        return float(k) + x, k + x

    with pytest.raises(dpest.errors.UnsupportedOperation, match="beyond 2\\*\\*53"):
        dpest.estimate(rounded, (0, 1), method="exact")
    small = dpest.estimate(lambda x: float(dpest.geometric(1.0) + x), (0, 1), method="exact")
    assert small.lower <= 1.0 <= small.upper


@pytest.mark.parametrize("points", [{0.0: 0.5, 1.0: 0.5}, {1.0: 0.25, 2.0: 0.75}, {0.5: 0.5, 2.0: 0.5}])
def test_points_of_a_list_that_happen_to_be_whole_are_no_ints(points: dict[float, float]) -> None:
    """1, 1.0 and True have different texts, and a list of points does not say which of them it means."""
    with pytest.raises(NoText):
        dpest.estimate(lambda x: str(dpest.Dist.from_atoms(points)), (0, 1), method="exact")
