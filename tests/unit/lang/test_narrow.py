"""NumPy's numbers of few bits next to random values: the same answer as in NumPy's own arithmetic, or a refusal."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dpest
from dpest.errors import DpestError, UnsupportedOperation


def _float32_product(x: int) -> Any:
    return np.float32(0.1) * dpest.integers(0, 3) > 0.1 + 0.2 * x


def _float32_array(x: int) -> Any:
    return np.array([0.1, 0.2], dtype=np.float32) * dpest.integers(0, 3) > 0.1 + 0.2 * x


def _float16_equality(x: int) -> Any:
    return 0.1 * dpest.integers(0, 3) == np.float16(0.1)


def _float32_extreme(x: int) -> Any:
    return np.maximum(np.float32(0.1), 0.1 * dpest.integers(0, 3))


def _wraps_around(x: int) -> Any:
    return np.int64(2**62) * dpest.integers(0, 3) > x


def _unsigned_below_zero(x: int) -> Any:
    return np.uint8(x) - dpest.integers(0, 3) > 5


def _unsigned_array(x: int) -> Any:
    return np.array([250 + x, 3], dtype=np.uint8) + dpest.integers(0, 3) > 3


def _unsigned_and_unbounded(x: int) -> Any:
    return np.uint8(x) + dpest.geometric(1)


REFUSED: list[Callable[[int], Any]] = [
    _float32_product,
    _float32_array,
    _float16_equality,
    _float32_extreme,
    _wraps_around,
    _unsigned_below_zero,
    _unsigned_array,
    _unsigned_and_unbounded,
]


@pytest.mark.parametrize("mechanism", REFUSED)
def test_few_bits_next_to_discrete_values_are_refused(mechanism: Callable[[int], Any]) -> None:
    with pytest.raises(UnsupportedOperation, match="NumPy's type"):
        dpest.estimate(mechanism, (0, 5), method="exact")


def _whole_float32(x: int) -> Any:
    return np.array([1, 2], dtype=np.float32)[0] + x + dpest.geometric(1)


def _int32_data(x: int) -> Any:
    return np.array([1, x], dtype=np.int32)[1] + dpest.geometric(2)


def _int64_data(x: int) -> Any:
    return np.array([1, x])[1] * 3 + dpest.geometric(3) * np.int64(3)


def _bounded_unsigned(x: int) -> Any:
    return np.uint8(100 + x) + dpest.categorical([0.2, 0.8])


def _real_float32(x: int) -> Any:
    return np.float32(x) * np.float32(0.5) + dpest.laplace(0.5)


# Closed forms: the distance of the two inputs over the scale of the noise; the last but one moves a support by one.
KEPT = [(_whole_float32, 1.0), (_int32_data, 0.5), (_int64_data, 1 / 3), (_bounded_unsigned, np.inf), (_real_float32, 1.0)]


@pytest.mark.parametrize(("mechanism", "truth"), KEPT)
def test_whole_numbers_in_range_and_continuous_noise_stay_exact(mechanism: Callable[[int], Any], truth: float) -> None:
    found = dpest.estimate(mechanism, (0, 1), method="exact")
    assert found.lower <= truth <= found.upper


def _into_bytes(x: int) -> Any:
    counts = np.zeros(2, dtype=np.uint8)
    counts[0] = x + dpest.laplace(1)
    return counts


def _as_bytes(x: int) -> Any:
    return (x + np.array([dpest.laplace(1), dpest.laplace(2)])).astype(np.uint8)


@pytest.mark.parametrize("mechanism", [_into_bytes, _as_bytes])
def test_noise_is_not_written_into_arrays_that_wrap_around(mechanism: Callable[[int], Any]) -> None:
    with pytest.raises(DpestError):
        dpest.estimate(mechanism, (0, 1), method="exact")


def _into_whole_numbers(x: int) -> Any:
    counts = np.zeros(2, dtype=np.int32)
    counts[0] = x + dpest.geometric(1)
    counts[1] = dpest.laplace(1)
    return counts


def test_noise_is_written_into_arrays_of_whole_numbers_that_hold_it() -> None:
    found = dpest.estimate(_into_whole_numbers, (0, 1), method="exact")
    assert found.lower <= 1.0 <= found.upper


def _sign_and_size(x: int, rng: np.random.Generator) -> Any:
    """Geometric noise from one uniform number, as libraries make it, into an array of whole numbers of NumPy's."""
    out = np.zeros_like(np.arange(2))
    for i, value in enumerate((x, 3)):
        u = (rng.random() - 0.5) * (1 + np.exp(-0.6))
        sign = -1 if u < 0 else 1
        out[i] = int(np.round(value + sign * np.floor(np.log(sign * u) / -0.6)))
    return out


def test_the_logarithm_of_uniform_noise_fits_into_whole_numbers_of_many_bits() -> None:
    found = dpest.estimate(_sign_and_size, (1, 2), method="exact")
    assert found.lower <= 0.6 <= found.upper  # P(y) is proportional to exp(-0.6 |y - x|)
    assert found.upper - found.lower < 1e-9


def test_the_logarithm_of_uniform_noise_does_not_fit_into_few_bits() -> None:
    def stored(x: int) -> Any:
        out = np.zeros(1, dtype=np.int8)
        out[0] = x + math.floor(math.log(dpest.uniform(0.0, 1.0)) / -0.6)
        return out

    with pytest.raises(UnsupportedOperation, match="int8"):
        dpest.estimate(stored, (0, 1), method="exact")
