"""Counts of whole outputs: how often each outcome was seen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import numpy.typing as npt

from dpest.trace.columns import NAN_KEY, Columns, Group, Shape, Values

Tally = dict[Shape, int]  # outcomes are shapes without holes
_SMALL_RANGE = 1 << 12
_TABLE = 1 << 20


def tally(columns: Columns) -> Tally:
    """How often each outcome occurs in a sample."""
    counts: Tally = {}
    for group in columns.groups:
        for outcome, count in _outcomes(group):
            counts[outcome] = counts.get(outcome, 0) + count
    return counts


def merged(a: Mapping[Shape, int], b: Mapping[Shape, int]) -> Tally:
    """The counts of two samples together."""
    total = dict(a)
    for outcome, count in b.items():
        total[outcome] = total.get(outcome, 0) + count
    return total


def _outcomes(group: Group) -> Iterable[tuple[Shape, int]]:
    if not group.values:
        return [(group.shape, group.rows)]
    codes, size = _row_codes(group.values)
    first, counts = _distinct(codes, size)
    holes = group.shape.holes
    return [(_filled(group.shape, holes, [v[i] for v in group.values]), int(c)) for i, c in zip(first, counts, strict=True)]


def _filled(shape: Shape, holes: tuple[int, ...], values: list[float]) -> Shape:
    leaves = list(shape.leaves)
    for position, value in zip(holes, values, strict=True):
        number = float(value)
        leaves[position] = NAN_KEY if number != number else number
    return Shape(shape.structure, tuple(leaves))


def _row_codes(columns: tuple[Values, ...]) -> tuple[npt.NDArray[np.int64], int]:
    """A whole number for each row, equal where the rows are equal, and a bound on it."""
    codes, size = _codes(columns[0])
    for column in columns[1:]:
        more, width = _codes(column)
        if size * width >= 1 << 62:
            _, codes = np.unique(codes, return_inverse=True)
            size = int(codes.max()) + 1
        codes, size = codes * width + more, size * width
    return codes, size


def _codes(column: Values) -> tuple[npt.NDArray[np.int64], int]:
    if column.dtype.kind == "b":
        return column.astype(np.int64), 2
    low, high = column.min(), column.max()
    if high - low < _SMALL_RANGE:
        whole = (column - low).astype(np.int64)
        if column.dtype.kind in "iu" or (whole == column - low).all():
            return whole, int(high - low) + 1
    _, codes = np.unique(column, return_inverse=True, equal_nan=True)
    return codes.astype(np.int64), int(codes.max()) + 1


def _distinct(codes: npt.NDArray[np.int64], size: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The first row of each distinct code, and how often it occurs."""
    if size > _TABLE:
        _, first, counts = np.unique(codes, return_index=True, return_counts=True)
        return first, counts
    table = np.bincount(codes, minlength=size)
    where = np.empty(size, dtype=np.int64)
    where[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)
    seen = np.flatnonzero(table)
    return where[seen], table[seen]
