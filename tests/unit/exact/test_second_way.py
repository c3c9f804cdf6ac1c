"""Answers that one way of following `if` statements leaves open are looked for in the other way."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import dpest
from dpest.exact.loss.blocks import _distinct


def _noisy(c: int, rng: Any) -> Any:
    p = 1 - math.exp(-1.0)
    return c + int(rng.geometric(p)) - int(rng.geometric(p))


@pytest.mark.parametrize("bins", [2, 3])
def test_counts_that_are_set_to_zero_where_they_are_negative(bins: int) -> None:
    # Closed form: one count moves by 1, two-sided geometric noise with eps = 1, post-processing that loses nothing above zero.
    def mechanism(counts, rng):
        out = []
        for c in counts:
            v = _noisy(c, rng)
            if v < 0:
                v = 0
            out.append(v)
        return out

    r = dpest.estimate(mechanism, ([3, 1, 5][:bins], [2, 1, 5][:bins]), method="exact")
    assert r.lower <= 1.0 <= r.upper
    assert r.upper - r.lower < 1e-9


def test_rows_that_are_equal_are_found() -> None:
    rows = np.array([[2.0], [5.0], [2.0], [3.0], [4.0]])
    found, of_row = _distinct(rows)
    assert np.array_equal(found[of_row], rows)
    for rows in (np.array([[0.5], [1.5], [0.5]]), np.array([[1.0, 2.0], [1.0, 3.0], [1.0, 2.0]]), np.empty((4, 0))):
        found, of_row = _distinct(rows)
        assert len(found) < len(rows)
        assert np.array_equal(found[of_row], rows)
