"""Which of many columns tell the inputs apart, by shares below and at a few values of each."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpest.sampling.runs.outputs import Batch, Matrix

SCREENED_ROWS = 2000  # show a difference of 5 % in a share, for every one of thousands of columns
MOST_KEPT = 512  # columns of very wide outputs that are looked at
WIDE = 1024
# Shares below which a column is cut: both tails, and evenly between.
_LEVELS = (0.02, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 0.98)
_AT_ONCE = 1 << 12  # columns


def telling_columns(left: Batch, right: Batch, most: int) -> NDArray[np.intp]:
    """The columns whose laws differ most, in order."""
    merit = differences(left.values[:SCREENED_ROWS], right.values[:SCREENED_ROWS])
    return np.sort(np.argsort(-merit, kind="stable")[:most])


def differences(left: Matrix, right: Matrix) -> Matrix:
    """For each column, the largest difference of shares in standard errors: below a value, at a value, and of symbols."""
    parts = [
        _differences(left[:, start : start + _AT_ONCE], right[:, start : start + _AT_ONCE])
        for start in range(0, left.shape[1], _AT_ONCE)
    ]
    return np.concatenate(parts)


def _differences(left: Matrix, right: Matrix) -> Matrix:
    few = np.sort(np.concatenate([left[:128], right[:128]]), axis=0)  # NaN comes last
    found = _gap(np.isnan(left), np.isnan(right))
    for level in _LEVELS:
        value = few[int(level * (len(few) - 1))]
        found = np.maximum(found, _gap(left <= value, right <= value))
        found = np.maximum(found, _gap(left == value, right == value))
    return found


def _gap(left: NDArray[np.bool_], right: NDArray[np.bool_]) -> Matrix:
    """The difference of two shares in standard errors; half a hit stands for none."""
    p, q = left.mean(axis=0), right.mean(axis=0)
    n, m = len(left), len(right)
    error = np.sqrt((p * (1 - p) + 0.5 / n) / n + (q * (1 - q) + 0.5 / m) / m)
    return np.asarray(np.abs(p - q) / error)
