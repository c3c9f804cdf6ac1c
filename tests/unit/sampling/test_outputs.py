"""Any output becomes a row of doubles, and what is not a number keeps its name."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpest.errors import UnsupportedOutput
from dpest.sampling.runs.outputs import (
    MISSING,
    Batch,
    Raised,
    comparable,
    digest,
    encode_array,
    encode_columns,
    encode_rows,
    joined,
    symbol_bits,
)


def names(batch: Batch) -> list[list[object]]:
    """Rows with the names of symbols in their places."""
    bits = symbol_bits(batch.values)
    return [
        [batch.names[int(b)] if math.isnan(x) else x for x, b in zip(row, key, strict=True)]
        for row, key in zip(batch.values.tolist(), bits, strict=True)
    ]


def test_mixed_outputs_keep_their_names_and_order() -> None:
    batch = encode_rows([None, (1, "a"), [True, math.nan, 2.5], "a", {"k": 3}, Raised("ValueError")])
    assert names(batch) == [
        ["None", MISSING, MISSING],
        [1.0, "'a'", MISSING],
        [1.0, "nan", 2.5],
        ["'a'", MISSING, MISSING],
        ["'k'", 3.0, MISSING],
        ["raised ValueError", MISSING, MISSING],
    ]


def test_a_symbol_is_the_same_in_every_batch() -> None:
    assert np.array_equal(encode_rows([None, "x"]).values.view(np.uint64)[:1], encode_rows([None]).values.view(np.uint64))
    assert digest("nan") == 0
    assert digest("None") != digest("'None'")


def test_negative_zero_and_other_nans_are_one_value_each() -> None:
    odd_nan = np.array([0x7FF8_0000_0000_1234], dtype=np.uint64).view(np.float64)
    batch = encode_array(np.array([[-0.0, odd_nan[0]], [0.0, math.nan]]), 2)
    bits = comparable(batch.values.view(np.uint64))
    assert np.array_equal(bits[0], bits[1])


def test_vectorised_outputs_may_be_columns_and_flags() -> None:
    batch = encode_columns((np.array([1, 2]), np.array([[0.5, True], [1.5, False]], dtype=object)), 2)
    assert names(batch) == [[1.0, 0.5, 1.0], [2.0, 1.5, 0.0]]


def test_single_precision_is_remembered() -> None:
    assert encode_array(np.zeros(3, dtype=np.float32), 3).single
    assert not encode_array(np.zeros(3), 3).single


def test_a_wrong_number_of_runs_is_refused() -> None:
    with pytest.raises(UnsupportedOutput, match=r"asked for 5 runs, the mechanism returned an array of shape \(3,\)"):
        encode_array(np.zeros(3), 5)


def test_an_object_is_refused_by_name() -> None:
    with pytest.raises(UnsupportedOutput, match="type object"):
        encode_rows([object()])


def test_batches_of_different_width_are_filled_up_and_cut_with_a_mark() -> None:
    both = joined([encode_rows([(1, 2)]), encode_rows([(1, 2, 3)])])
    assert names(both) == [[1.0, 2.0, MISSING], [1.0, 2.0, 3.0]]
    assert names(both.resized(2)) == [[1.0, 2.0], [1.0, "(longer)"]]


def test_joined_batches_name_what_fills_the_shorter_ones() -> None:
    wide, narrow = encode_rows([(1.0, 2.0)]), encode_rows([3.0])
    for parts in ([wide, narrow], [narrow, wide]):
        assert MISSING in joined(parts).names.values()
