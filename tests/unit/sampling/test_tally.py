from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

from dpest.errors import UnsupportedOutput
from dpest.run.fingerprint import fingerprint
from dpest.sampling.tally import merged, tally
from dpest.trace.columns import HOLE, NAN_KEY, Columns, Group, Shape, constant_key, from_array

RNG = np.random.default_rng(3)


def shape(*leaves: object) -> Shape:
    return Shape(("tuple",), tuple(leaves))


@pytest.mark.parametrize("columns", [2, 7, 40])
def test_rows_are_counted_like_a_counter_does(columns: int) -> None:
    rows = RNG.integers(-2, 3, (500, columns)) * 0.5
    rows[RNG.random(rows.shape) < 0.1] = math.nan
    keys = Counter(tuple(constant_key(float(x)) for x in row) for row in rows)
    found = tally(from_array(rows))
    assert {outcome.leaves: count for outcome, count in found.items()} == keys


def test_huge_and_mixed_values_meet_only_their_equals() -> None:
    values = np.array([1e300, -1e300, 1e300, 0.1, 0.1 + 1e-18, np.inf, np.inf, np.nan, np.nan])
    counts = tally(from_array(values))
    assert sorted(counts.values()) == [1, 2, 2, 2, 2]


def test_constants_and_holes_that_agree_are_one_outcome() -> None:
    constant = Group(shape(1.0, None), (), 3)
    varying = Group(shape(HOLE, None), (np.array([True, False, True]),), 3)
    counts = tally(Columns((constant, varying)))
    assert counts == {shape(1.0, None): 5, shape(0.0, None): 1}


def test_large_whole_numbers_stay_apart() -> None:
    assert constant_key(2**80) != constant_key(2**80 + 1)
    assert constant_key(10**400) == 10**400
    assert constant_key(True) == constant_key(1) == 1.0


def test_merging_adds() -> None:
    a, b = {shape(1.0): 2, shape(NAN_KEY): 1}, {shape(NAN_KEY): 4}
    assert merged(a, b) == {shape(1.0): 2, shape(NAN_KEY): 5}
    assert a == {shape(1.0): 2, shape(NAN_KEY): 1}


def test_arrays_of_the_wrong_kind_are_refused() -> None:
    with pytest.raises(UnsupportedOutput, match="3 numbers or rows"):
        from_array(np.zeros(4), 3)
    with pytest.raises(UnsupportedOutput, match="one row of numbers"):
        from_array(np.array(["a"]))


def test_fingerprints_follow_code_defaults_and_closures() -> None:
    def make(factor: float) -> object:
        return lambda data, shift=1.0: factor * data + shift

    assert fingerprint(make(2.0)) == fingerprint(make(2.0))
    others = {fingerprint(make(3.0)), fingerprint(lambda data: data), fingerprint(len), fingerprint(fingerprint)}
    assert len({fingerprint(make(2.0)), *others}) == 5
