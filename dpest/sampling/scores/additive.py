"""A score that adds a weight per cell of each column, fitted as a logistic regression on cell indicators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit
from threadpoolctl import threadpool_limits

from dpest.sampling.runs.outputs import Batch, Matrix
from dpest.sampling.scores.cells import Cells
from dpest.sampling.scores.prior import prior_covariance

CodeTable = NDArray[np.int32]

_HESSIAN_ROWS = 20_000  # of which the curvature is taken: it need not be right, the gradient is
_FIRST_ROWS = 200_000  # for the first steps, which only lead near
_FIRST_STEPS = 15  # of Newton's method, which ends earlier where nothing moves
_LAST_STEPS = 2  # on all rows, from a start that is near
_EVIDENCE_STEPS = 6  # of re-estimating the spread of the weights, by which it hardly moves
_NEGLIGIBLE = 1e-4  # of the variance of scores
_one_thread = partial(threadpool_limits, limits=1, user_api="blas")  # of several, on busy machines each waits for others
_ENOUGH = 0.5  # nats of total likelihood, far below what the weights' own noise costs


@dataclass(frozen=True, eq=False)
class Additive:
    """The log-likelihood ratio as a sum over columns; for independent columns this is all there is to know."""

    cells: tuple[Cells, ...]
    weights: tuple[Matrix, ...]  # one array per column, or one that all columns share

    def score(self, batch: Batch) -> Matrix:
        """How strongly each output speaks for the first input."""
        total = np.zeros(len(batch))
        for place, cells in enumerate(self.cells):
            total += self.weights[min(place, len(self.weights) - 1)][cells.codes(batch)]
        return total

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"cells": [c.to_dict() for c in self.cells], "weights": [w.tolist() for w in self.weights]}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Additive:
        """The inverse of `to_dict`."""
        cells = tuple(Cells.from_dict(c) for c in data["cells"])
        return cls(cells, tuple(np.array(w, dtype=np.float64) for w in data["weights"]))


@dataclass(frozen=True, eq=False)
class _Data:
    """Rows of cell numbers, with how often each was seen under the first input and in all."""

    codes: CodeTable  # (columns, rows), offset into one array of weights
    one: Matrix
    both: Matrix

    def some(self, stride: int) -> _Data:
        return _Data(self.codes[:, ::stride], self.one[::stride], self.both[::stride])


def fit_additive(cells: Sequence[Cells], left: Batch, right: Batch, *, pooled: bool = False) -> Additive:
    """Fit the weights on outputs of both inputs; `pooled` makes all columns share one table."""
    offsets = _offsets(cells, pooled)
    codes = np.hstack([_codes(cells, batch, offsets, pooled) for batch in (left, right)])
    # Alternate the inputs, so that every odd stride sees as many rows of each.
    n = min(len(left), len(right))
    order = np.concatenate(
        [
            np.stack([np.arange(n), len(left) + np.arange(n)], axis=1).ravel(),
            np.arange(n, len(left)),
            len(left) + np.arange(n, len(right)),
        ]
    )
    data = _Data(codes[:, order], (order < len(left)).astype(np.float64), np.ones(len(order)))
    return _fit(cells, data, offsets)


def fit_rows(cells: Sequence[Cells], rows: Batch, one: Matrix, zero: Matrix) -> Additive:
    """The same fit on distinct rows with their counts; the values of several columns are taken to have no order."""
    offsets = _offsets(cells, pooled=False)
    data = _Data(_codes(cells, rows, offsets, pooled=False), one, one + zero)
    if len(cells) == 1:
        return _fit(cells, data, offsets)
    weights, precision = np.zeros(int(offsets[-1])), np.eye(int(offsets[-1]))
    with _one_thread():
        for _ in range(_EVIDENCE_STEPS):
            weights = _newton(data, precision, weights, _FIRST_STEPS)
            precision = _evidence(data, weights, precision)
    return Additive(tuple(cells), tuple(np.split(weights, offsets[1:-1])))


def _evidence(data: _Data, weights: Matrix, precision: Matrix) -> Matrix:
    """One variance for all weights, under which they are as large as expected (MacKay 1992): distinct values have no order."""
    chance = _loss(data, weights, precision)[2]
    spread = np.linalg.inv(_hessian(data, chance, precision))
    determined = max(len(weights) - float(np.trace(precision @ spread)), 1e-3)
    return np.eye(len(weights)) * min(max(determined / max(float(weights @ weights), 1e-9), 1e-2), 1e5)


def _offsets(cells: Sequence[Cells], pooled: bool) -> CodeTable:
    sizes = [cells[0].size] if pooled else [c.size for c in cells]
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)


def _codes(cells: Sequence[Cells], batch: Batch, offsets: CodeTable, pooled: bool) -> CodeTable:
    return np.stack([c.codes(batch) + (np.int32(0) if pooled else offsets[j]) for j, c in enumerate(cells)])


def _fit(cells: Sequence[Cells], data: _Data, offsets: CodeTable) -> Additive:
    with _one_thread():
        return _fitted(cells, data, offsets)


def _fitted(cells: Sequence[Cells], data: _Data, offsets: CodeTable) -> Additive:
    precision = _precision(data, offsets, [len(c.breaks) + 1 for c in cells])
    weights = np.zeros(len(precision))
    stride = len(data.one) // _FIRST_ROWS | 1
    if stride > 1:
        weights = _newton(data.some(stride), precision / stride, weights, _FIRST_STEPS)
        weights = _newton(data, precision, weights, _LAST_STEPS)
    else:
        weights = _newton(data, precision, weights, _FIRST_STEPS)
    tables = np.split(weights, offsets[1:-1])
    if len(tables) < len(cells):
        return Additive(tuple(cells), tuple(tables))
    kept = np.flatnonzero(_telling(data, weights)).tolist()
    return Additive(tuple(cells[j] for j in kept), tuple(tables[j] for j in kept))


def _telling(data: _Data, weights: Matrix) -> NDArray[np.bool_]:
    """Which columns matter: all but those that together add less than a hundredth to the spread of scores.

    On common noise, columns that do not depend on the input come out with hardly any weight; without them, scores of outputs that
    differ in nothing else are equal, and events can be read.
    """
    spread = np.array([np.var(weights[code[: _HESSIAN_ROWS]]) for code in data.codes])
    order = np.argsort(spread)
    telling = np.empty(len(spread), dtype=bool)
    telling[order] = np.cumsum(spread[order]) > _NEGLIGIBLE * spread.sum()
    telling[order[-1]] = True
    return telling


def _precision(data: _Data, offsets: CodeTable, numbers: Sequence[int]) -> Matrix:
    """The inverse prior covariance of all weights, one block per table."""
    size = int(offsets[-1])
    one, both = np.zeros(size), np.zeros(size)
    for code in data.codes:
        one += np.bincount(code, weights=data.one, minlength=size)
        both += np.bincount(code, weights=data.both, minlength=size)
    precision = np.zeros((size, size))
    for start, end, count in zip(offsets[:-1], offsets[1:], numbers, strict=False):
        part = slice(int(start), int(end))
        block = np.linalg.inv(prior_covariance(one[part], both[part] - one[part], count))
        precision[part, part] = (block + block.T) / 2
    return precision


def _newton(data: _Data, precision: Matrix, weights: Matrix, steps: int) -> Matrix:
    """Newton steps with the full gradient and the curvature of a subset of the rows."""
    loss, gradient, chance = _loss(data, weights, precision)
    for _ in range(steps):
        step = _solved(_hessian(data, chance, precision), gradient)
        before, scale = loss, 1.0
        while True:
            trial = weights - scale * step
            loss, new_gradient, new_chance = _loss(data, trial, precision)
            if loss <= before or scale < 1e-2:
                break
            scale /= 2
        if loss > before:
            return weights
        weights, gradient, chance = trial, new_gradient, new_chance
        if before - loss <= _ENOUGH:
            return weights
    return weights


def _solved(matrix: Matrix, vector: Matrix) -> Matrix:
    """The solution of a positive definite system, with as little added to its diagonal as rounding makes necessary."""
    ridge = 0.0
    while True:
        try:
            return np.asarray(cho_solve(cho_factor(matrix + ridge * np.diag(np.diag(matrix))), vector))
        except np.linalg.LinAlgError:
            ridge = max(1e-12, 100 * ridge)


def _hessian(data: _Data, chance: Matrix, precision: Matrix) -> Matrix:
    """The curvature: tables of counts for each two columns, which is what the products of cell indicators add up to."""
    stride = len(chance) // _HESSIAN_ROWS | 1
    some = data.some(stride)
    curve = some.both * np.maximum(chance * (1 - chance), 1e-8)[::stride]
    curve *= len(chance) / len(curve)
    if len(precision) <= len(some.codes):
        return _pooled_hessian(some.codes, curve, precision)
    lows = [int(code.min()) for code in some.codes]
    sizes = [int(code.max()) - low + 1 for code, low in zip(some.codes, lows, strict=True)]
    local = [code - low for code, low in zip(some.codes, lows, strict=True)]
    total = precision.copy()
    for a, first in enumerate(local):
        rows = slice(lows[a], lows[a] + sizes[a])
        for b in range(a, len(local)):
            columns = slice(lows[b], lows[b] + sizes[b])
            counts = np.bincount(first * sizes[b] + local[b], weights=curve, minlength=sizes[a] * sizes[b])
            table = counts.reshape(sizes[a], sizes[b])
            total[rows, columns] += table
            if a != b:
                total[columns, rows] += table.T
    return total


def _pooled_hessian(codes: CodeTable, curve: Matrix, precision: Matrix) -> Matrix:
    """The same where many columns share a small table: by how often each row has each cell."""
    often = np.zeros((len(curve), len(precision)))
    rows = np.arange(len(curve))
    for code in codes:
        often[rows, code] += 1
    return np.asarray((often * curve[:, None]).T @ often + precision)


def _loss(data: _Data, weights: Matrix, precision: Matrix) -> tuple[float, Matrix, Matrix]:
    logit = np.zeros(len(data.one))
    for code in data.codes:
        logit += weights[code]
    chance = expit(logit)
    pull = precision @ weights
    loss = float(data.both @ np.logaddexp(0, logit) - data.one @ logit + 0.5 * weights @ pull)
    error = data.both * chance - data.one
    gradient = pull
    for code in data.codes:
        gradient = gradient + np.bincount(code, weights=error, minlength=len(weights))
    return loss, gradient, chance
