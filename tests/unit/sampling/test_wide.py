"""Outputs as they are: large whole numbers, zeros and NaN of all kinds, texts, and very many columns."""

from __future__ import annotations

import struct
import time
from typing import Any

import numpy as np
import pytest

import dpest
from dpest.audit import AuditResult
from dpest.sampling.runs.outcomes import row_keys
from dpest.sampling.runs.outputs import encode_array, encode_rows


def quiet(done: int, total: int, message: str) -> None:
    """No progress bar in tests."""


def audit(mechanism: Any, pairs: Any, **more: Any) -> AuditResult:
    return dpest.audit(mechanism, pairs, **{"samples": 3000, "seed": 1, "progress": quiet, **more})


@pytest.mark.parametrize("base", [2**53, 2**62, 10**40, 2**2000])
def test_whole_numbers_of_any_size_are_told_apart(base: int) -> None:
    outputs = [base, base + 1, base + 2, -base, -base - 1, base, 3]
    keys = row_keys(encode_rows(outputs))
    assert len(set(keys.tolist())) == 6
    assert keys[0] == keys[5]


def test_arrays_of_large_whole_numbers_too() -> None:
    for dtype in (np.int64, np.uint64):
        values = np.array([2**62, 2**62 + 1, 5, 2**62], dtype=dtype)
        keys = row_keys(encode_array(values, 4))
        assert len(set(keys.tolist())) == 3
        assert keys[0] == keys[3]


def test_a_leak_in_the_last_digit_of_a_large_number_is_found() -> None:
    def large(data: int, rng: np.random.Generator) -> int:
        return 2**60 + (data if rng.random() < 0.9 else 1 - data)

    assert 1.8 < audit(large, (0, 1)).lower <= 2.2


def test_zeros_and_nans_are_one_value_unless_bits_are_read() -> None:
    def zero(data: int, rng: np.random.Generator) -> float:
        return -0.0 if rng.random() < 0.2 + 0.6 * data else 0.0

    def nan(data: int, rng: np.random.Generator) -> float:
        strange: float = struct.unpack("<d", struct.pack("<Q", 0x7FF8_0000_0000_0123))[0]
        return strange if rng.random() < 0.2 + 0.6 * data else float("nan")

    for mechanism in (zero, nan):
        assert audit(mechanism, (0, 1)).lower == 0
        assert audit(mechanism, (0, 1), features="bits").lower > 1.1


def test_texts_are_read_by_content() -> None:
    def token(data: int, rng: np.random.Generator) -> str:
        bit = data if rng.random() < 0.9 else 1 - data
        return "id-" + str(bit) + "-" + rng.bytes(30).hex()

    assert 1.7 < audit(token, (0, 1)).lower <= 2.2
    assert audit(lambda data, rng: token(data, rng).encode(), (0, 1)).lower > 1.7


def one_of(width: int, at: int) -> Any:
    def mechanism(data: float, size: int, rng: np.random.Generator) -> np.ndarray:
        values = rng.normal(size=(size, width))
        values[:, at] = data + rng.laplace(size=size)
        return values

    return mechanism


def test_three_hundred_columns_take_moments() -> None:
    start = time.perf_counter()
    found = audit(one_of(300, 217), (0.0, 2.0), samples=500)
    assert found.lower > 1
    assert time.perf_counter() - start < 20  # 2 s alone; other work may go on beside the tests
    assert "output[217]" in str(found.witness.event)


def test_very_wide_outputs_are_screened_and_the_event_names_its_column() -> None:
    mechanism = one_of(3000, 2345)
    found = audit(mechanism, (0.0, 2.0), samples=1000)
    assert found.lower > 1.2
    assert "output[2345]" in str(found.witness.event)
    again = AuditResult.from_json(found.to_json())
    assert again.witness.verify(mechanism, samples=1000, seed=5).lower > 1


def test_a_sum_of_columns_is_told_in_three() -> None:
    def many(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        return np.asarray(data) + rng.laplace(scale=5.0, size=(size, 6))

    found = audit(many, ([0.0] * 6, [1.0] * 6), features="values", samples=20_000)
    words = str(found.witness.event)
    assert words.count("% of the evidence") == 3
    assert sum(e.share for e in found.witness.region.column_shares()) == pytest.approx(1.0)
