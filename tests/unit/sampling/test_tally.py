from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

from dpest.run.fingerprint import fingerprint
from dpest.sampling.runs.outcomes import NOTHING, Outcomes, row_keys, tally
from dpest.sampling.runs.outputs import encode_array, encode_groups, encode_rows
from dpest.sampling.scores.row_table import plain
from dpest.trace.columns import HOLE, Columns, RowsOfShape, Shape, constant_key

RNG = np.random.default_rng(3)


def counted(outcomes: Outcomes) -> dict[tuple[object, ...], int]:
    rows = [tuple(plain(x, outcomes.rows.names) for x in row) for row in outcomes.rows.values]
    return {tuple(str(x) for x in row): int(k) for row, k in zip(rows, outcomes.counts, strict=True)}


@pytest.mark.parametrize("columns", [2, 7, 40])
def test_rows_are_counted_like_a_counter_does(columns: int) -> None:
    rows = RNG.integers(-2, 3, (500, columns)) * 0.5
    rows[RNG.random(rows.shape) < 0.1] = math.nan
    keys = Counter(tuple(map(repr, row.tolist())) for row in rows + 0.0)
    assert sorted(tally(encode_array(rows, 500)).counts) == sorted(keys.values())


def test_huge_and_mixed_values_meet_only_their_equals() -> None:
    values = np.array([1e300, -1e300, 1e300, 0.1, 0.1 + 1e-18, np.inf, np.inf, np.nan, np.nan])
    assert sorted(tally(encode_array(values, 9)).counts) == [1, 2, 2, 2, 2]


def test_constants_and_holes_that_agree_are_one_outcome() -> None:
    constant = RowsOfShape(Shape(("tuple", None, None), (1.0, None)), (), 3)
    varying = RowsOfShape(Shape(("tuple", None, None), (HOLE, None)), (np.array([True, False, True]),), 3)
    counts = counted(tally(encode_groups(Columns((constant, varying)))))
    assert sorted(counts.values()) == [1, 5]


def test_shapes_and_keys_of_dicts_stay_apart() -> None:
    groups = [
        RowsOfShape(Shape(None, (1.0,)), (), 1),
        RowsOfShape(Shape(("tuple", None, None), (1.0, 0.0)), (), 2),
        RowsOfShape(Shape(("dict", ("a",), None), (1.0,)), (), 3),
        RowsOfShape(Shape(("dict", ("b",), None), (1.0,)), (), 4),
        RowsOfShape(Shape(None, (2**80,)), (), 5),
        RowsOfShape(Shape(None, (2**80 + 1,)), (), 6),
        RowsOfShape(Shape(("tuple",), ()), (), 7),
    ]
    assert sorted(tally(encode_groups(Columns(tuple(groups)))).counts) == [1, 2, 3, 4, 5, 6, 7]


def test_columns_that_are_absent_at_the_end_make_no_difference() -> None:
    narrow, wide = encode_rows([1, (2, 0)]), encode_rows([(1,), (2, 0, 0)])
    assert row_keys(narrow)[0] == row_keys(wide)[0]
    assert row_keys(narrow)[1] != row_keys(wide)[1]


def test_large_whole_numbers_stay_apart() -> None:
    assert constant_key(2**80) != constant_key(2**80 + 1)
    assert constant_key(10**400) == 10**400
    assert constant_key(True) == constant_key(1) == 1.0


def test_counts_add() -> None:
    a, b = tally(encode_rows([1, 1, "x"])), tally(encode_rows([(1,), "x", (3, None)]))
    total = counted(a + b)
    assert sorted(total.values()) == [1, 2, 3]
    assert sum((a + NOTHING + b).counts) == 6


def test_fingerprints_follow_code_defaults_and_closures() -> None:
    def make(factor: float) -> object:
        return lambda data, shift=1.0: factor * data + shift

    assert fingerprint(make(2.0)) == fingerprint(make(2.0))
    others = {fingerprint(make(3.0)), fingerprint(lambda data: data), fingerprint(len), fingerprint(fingerprint)}
    assert len({fingerprint(make(2.0)), *others}) == 5
