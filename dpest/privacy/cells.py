"""Two samples of outputs, brought into common cells and counted."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpest.errors import InvalidInput

Codes = NDArray[np.int64]
# A value is an output of its own when it was seen this often: continuous values hardly ever repeat.
REPEATS = 5
# Joint cells are made so coarse that each would hold about this many samples if all were alike.
PER_CELL = 50


@dataclass(frozen=True)
class Cells:
    """One partition of the outputs: the cell of each sample under both inputs, and each cell in words."""

    left: Codes
    right: Codes
    labels: tuple[str, ...]

    def counts(self, left: Codes, right: Codes) -> tuple[Codes, Codes]:
        """How many of the chosen samples fall into each cell."""
        k = len(self.labels)
        return np.bincount(self.left[left], minlength=k), np.bincount(self.right[right], minlength=k)


def partitions(p: Any, q: Any, bins: int) -> list[Cells]:
    """The joint partition of the outputs and, where they have several coordinates, one for each coordinate alone."""
    left, right = _columns(p), _columns(q)
    if len(left) != len(right):
        raise InvalidInput(f"both samples must have as many coordinates, got {len(left)} and {len(right)}")
    if isinstance(bins, bool) or not isinstance(bins, int | np.integer) or bins < 1:
        raise InvalidInput(f"the number of bins must be a whole number >= 1, got {bins!r}")
    pooled = [np.concatenate(pair) for pair in zip(left, right, strict=True)]
    middle = len(left[0])
    alone = [_coded(column, int(bins), f"output[{i}]" if len(pooled) > 1 else "output") for i, column in enumerate(pooled)]
    if len(alone) == 1:
        return [_cells(*alone[0], middle)]
    joint = _joint(pooled, int(bins))
    return [_cells(codes, labels, middle) for codes, labels in [joint, *alone]]


def _cells(codes: Codes, labels: tuple[str, ...], middle: int) -> Cells:
    return Cells(codes[:middle], codes[middle:], labels)


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


def _coded(column: NDArray[Any], bins: int, name: str) -> tuple[Codes, tuple[str, ...]]:
    """A cell number for each value: repeated values and non-numbers are cells of their own, the rest is binned by quantiles."""
    if column.dtype == object:
        return _coded_objects(column, bins, name)
    values, inverse, seen = np.unique(column, return_inverse=True, return_counts=True, equal_nan=True)
    own = (seen >= REPEATS) | np.isnan(values)
    cell = np.cumsum(own) - 1
    labels = [f"{name} == {v:g}" for v in values[own]]
    if not own.all():
        rest = ~own[inverse]
        edges = np.unique(np.quantile(column[rest], np.linspace(0, 1, bins + 1)[1:-1], method="nearest"))
        cell[~own] = len(labels) + np.searchsorted(edges, values[~own], side="right")
        ends = [-math.inf, *edges, math.inf]
        labels += [f"{a:g} <= {name} < {b:g}" for a, b in itertools.pairwise(ends)]
    return cell[inverse].astype(np.int64), tuple(labels)


def _coded_objects(column: NDArray[Any], bins: int, name: str) -> tuple[Codes, tuple[str, ...]]:
    number = np.array([isinstance(x, int | float | np.number | np.bool_) for x in column])
    codes = np.zeros(len(column), dtype=np.int64)
    labels: tuple[str, ...] = ()
    if number.any():
        codes[number], labels = _coded(column[number].astype(float), bins, name)
    others = {repr(x): x for x in column[~number]}
    place = {key: len(labels) + i for i, key in enumerate(others)}
    codes[~number] = [place[repr(x)] for x in column[~number]]
    return codes, labels + tuple(f"{name} == {key}" for key in others)


def _joint(columns: list[NDArray[Any]], bins: int) -> tuple[Codes, tuple[str, ...]]:
    """The cells of whole outputs; few bins per coordinate where there are many coordinates."""
    rows = len(columns[0])
    coarse = max(2, min(bins, round((rows / PER_CELL) ** (1 / len(columns)))))
    coded = [_coded(column, coarse, f"output[{i}]") for i, column in enumerate(columns)]
    table, codes = np.unique(np.stack([c for c, _ in coded], axis=1), axis=0, return_inverse=True)
    labels = tuple(" and ".join(names[k] for k, (_, names) in zip(row, coded, strict=True)) for row in table)
    return codes.reshape(-1).astype(np.int64), labels
