"""Two samples of outputs, brought into common cells and counted."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpest.errors import InvalidInput

Codes = NDArray[np.int64]
Label = Callable[[int], str]
# A value is an output of its own when it was seen this often: continuous values hardly ever repeat.
REPEATS = 5
# Joint cells are made so coarse that each would hold about this many samples if all were alike.
PER_CELL = 50


@dataclass(frozen=True)
class Cells:
    """One partition of the outputs: the cell of each sample under both inputs, and each cell in words."""

    left: Codes
    right: Codes
    size: int
    label: Label

    def counts(self, left: Codes, right: Codes) -> tuple[Codes, Codes]:
        """How many of the chosen samples fall into each cell."""
        return np.bincount(self.left[left], minlength=self.size), np.bincount(self.right[right], minlength=self.size)


def partitions(p: Any, q: Any, bins: int) -> list[Cells]:
    """The joint partition of the outputs and, where they have several coordinates, one for each coordinate alone."""
    left, right = _columns(p), _columns(q)
    if len(left) != len(right):
        raise InvalidInput(f"both samples must have as many coordinates, got {len(left)} and {len(right)}")
    if isinstance(bins, bool) or not isinstance(bins, int | np.integer) or bins < 1:
        raise InvalidInput(f"the number of bins must be a whole number >= 1, got {bins!r}")
    pooled = [np.concatenate(pair) for pair in zip(left, right, strict=True)]
    middle = len(left[0])
    names = [f"output[{i}]" for i in range(len(pooled))] if len(pooled) > 1 else ["output"]
    coded = [_coded(column, int(bins), name) for column, name in zip(pooled, names, strict=True)]
    if len(coded) > 1:
        coded.insert(0, _joint(pooled, names, int(bins)))
    return [Cells(c.codes[:middle], c.codes[middle:], c.size, c.label) for c in coded]


@dataclass(frozen=True)
class _Coded:
    """A cell number for each value, how many cells there are, and each in words."""

    codes: Codes
    size: int
    label: Label


def _columns(samples: Any) -> list[NDArray[Any]]:
    """The coordinates of a sample, each as floats or, where there are other values, as objects."""
    array = samples if isinstance(samples, np.ndarray) else _array(samples)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or 0 in array.shape:
        raise InvalidInput(f"samples must be a list of numbers or of equally long rows, and not empty; got shape {array.shape}")
    return [_floats(array[:, i]) for i in range(array.shape[1])]


def _array(samples: Iterable[Any]) -> NDArray[Any]:
    rows = list(samples)
    nested = [isinstance(r, list | tuple | np.ndarray) for r in rows]
    if not any(nested):
        return _objects(rows)
    lengths = {len(r) if is_row else -1 for r, is_row in zip(rows, nested, strict=True)}
    if len(lengths) != 1:
        raise InvalidInput(f"samples must be rows of one length, got rows of lengths {sorted(lengths)}")
    return np.array([_objects(list(r)) for r in rows], dtype=object)


def _objects(values: list[Any]) -> NDArray[Any]:
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out


def _floats(column: NDArray[Any]) -> NDArray[Any]:
    if np.issubdtype(column.dtype, np.number) or column.dtype == bool:
        return column.astype(float)
    plain = all(isinstance(x, int | float | np.number | np.bool_) for x in column)
    return column.astype(float) if plain else column


def _coded(column: NDArray[Any], bins: int, name: str) -> _Coded:
    """Repeated values and non-numbers are cells of their own, the rest is binned by quantiles."""
    if column.dtype == object:
        return _coded_objects(column, bins, name)
    values, inverse, seen = np.unique(column, return_inverse=True, return_counts=True, equal_nan=True)
    own = (seen >= REPEATS) | np.isnan(values)
    cell = np.cumsum(own) - 1
    points = values[own]
    if own.all():
        return _Coded(cell[inverse].astype(np.int64), len(points), lambda i: f"{name} == {points[i]:g}")
    ordered = np.repeat(values[~own], seen[~own])
    quantiles = ordered[np.arange(1, bins) * len(ordered) // bins]
    ends = np.array([-math.inf, *np.unique(quantiles), math.inf])
    cell[~own] = len(points) + np.searchsorted(ends[1:-1], values[~own], side="right")

    def label(i: int) -> str:
        k = i - len(points)
        return f"{name} == {points[i]:g}" if k < 0 else f"{ends[k]:g} <= {name} < {ends[k + 1]:g}"

    return _Coded(cell[inverse].astype(np.int64), len(points) + len(ends) - 1, label)


def _coded_objects(column: NDArray[Any], bins: int, name: str) -> _Coded:
    number = np.array([isinstance(x, int | float | np.number | np.bool_) for x in column])
    numbers = _coded(column[number].astype(float), bins, name) if number.any() else None
    first = numbers.size if numbers else 0
    words = [repr(x) for x in column[~number]]
    others = list(dict.fromkeys(words))
    place = {key: first + i for i, key in enumerate(others)}
    codes = np.zeros(len(column), dtype=np.int64)
    codes[~number] = [place[key] for key in words]
    if numbers:
        codes[number] = numbers.codes
    return _Coded(
        codes, first + len(others), lambda i: numbers.label(i) if numbers and i < first else f"{name} == {others[i - first]}"
    )


def _joint(columns: list[NDArray[Any]], names: list[str], bins: int) -> _Coded:
    """The cells of whole outputs; few bins per coordinate where there are many coordinates."""
    rows = len(columns[0])
    coarse = max(2, min(bins, round((rows / PER_CELL) ** (1 / len(columns)))))
    coded = [_coded(column, coarse, name) for column, name in zip(columns, names, strict=True)]
    table, codes = np.unique(np.stack([c.codes for c in coded], axis=1), axis=0, return_inverse=True)

    def label(i: int) -> str:
        return " and ".join(c.label(int(k)) for k, c in zip(table[i], coded, strict=True))

    return _Coded(codes.reshape(-1).astype(np.int64), len(table), label)
