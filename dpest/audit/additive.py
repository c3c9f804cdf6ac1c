"""A score that adds a weight per cell of each column, fitted as a logistic regression on cell indicators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit

from dpest.audit.cells import Cells, Codes
from dpest.audit.outputs import Batch, Matrix
from dpest.audit.prior import prior_covariance

_HESSIAN_ROWS = 20_000
_FIRST_ROWS = 200_000
_FIRST_STEPS = 15
_LAST_STEPS = 3


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


def fit_additive(cells: Sequence[Cells], left: Batch, right: Batch, *, pooled: bool = False) -> Additive:
    """Fit the weights on outputs of both inputs; `pooled` makes all columns share one table."""
    sizes = [cells[0].size] if pooled else [c.size for c in cells]
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    codes = np.empty((len(cells), len(left) + len(right)), dtype=np.int32)
    for place, c in enumerate(cells):
        start = 0 if pooled else offsets[place]
        codes[place, : len(left)] = c.codes(left) + start
        codes[place, len(left) :] = c.codes(right) + start
    target = np.concatenate([np.ones(len(left)), np.zeros(len(right))])
    precision = _precision(codes, target, offsets, [len(c.breaks) + 1 for c in cells])
    weights = _fitted(codes, target, precision)
    return Additive(tuple(cells), tuple(np.split(weights, offsets[1:-1])))


def _precision(codes: NDArray[np.int32], target: Matrix, offsets: NDArray[np.int32], numbers: Sequence[int]) -> Matrix:
    """The inverse prior covariance of all weights, one block per table."""
    size = int(offsets[-1])
    one, both = np.zeros(size), np.zeros(size)
    for code in codes:
        one += np.bincount(code, weights=target, minlength=size)
        both += np.bincount(code, minlength=size)
    precision = np.zeros((size, size))
    for start, end, count in zip(offsets[:-1], offsets[1:], numbers, strict=False):
        part = slice(int(start), int(end))
        precision[part, part] = np.linalg.inv(prior_covariance(one[part], both[part] - one[part], count))
    return precision


def _fitted(codes: NDArray[np.int32], target: Matrix, precision: Matrix) -> Matrix:
    """Newton steps to convergence on a subset, then a few with the gradient of all rows."""
    n = len(target)
    weights = np.zeros(len(precision))
    rng = np.random.Generator(np.random.SFC64(0))
    if n > 2 * _FIRST_ROWS:
        rows = np.sort(rng.choice(n, _FIRST_ROWS, replace=False))
        scale = len(rows) / n
        weights = _newton(codes[:, rows], target[rows], precision * scale, weights, _FIRST_STEPS)
        return _newton(codes, target, precision, weights, _LAST_STEPS)
    return _newton(codes, target, precision, weights, _FIRST_STEPS)


def _newton(codes: NDArray[np.int32], target: Matrix, precision: Matrix, weights: Matrix, steps: int) -> Matrix:
    """Newton steps with the full gradient and the curvature of a subset of the rows."""
    loss, gradient, chance = _loss(codes, target, weights, precision)
    for _ in range(steps):
        step = cho_solve(cho_factor(_hessian(codes, chance, precision)), gradient)
        before, scale = loss, 1.0
        while True:
            trial = weights - scale * step
            loss, new_gradient, new_chance = _loss(codes, target, trial, precision)
            if loss <= before or scale < 1e-2:
                break
            scale /= 2
        if loss > before:
            return weights
        weights, gradient, chance = trial, new_gradient, new_chance
        if before - loss <= 0.05:
            return weights
    return weights


def _hessian(codes: NDArray[np.int32], chance: Matrix, precision: Matrix) -> Matrix:
    stride = max(1, codes.shape[1] // _HESSIAN_ROWS)
    some, curve = codes[:, ::stride], np.sqrt(np.maximum(chance * (1 - chance), 1e-8))[::stride].astype(np.float32)
    design = np.zeros((some.shape[1], len(precision)), dtype=np.float32)
    rows = np.arange(some.shape[1])
    for code in some:
        design[rows, code] += curve
    return np.asarray((design.T @ design).astype(np.float64) * (codes.shape[1] / some.shape[1]) + precision)


def _loss(codes: NDArray[np.int32], target: Matrix, weights: Matrix, precision: Matrix) -> tuple[float, Matrix, Matrix]:
    logit = np.zeros(len(target))
    for code in codes:
        logit += weights[code]
    chance = expit(logit)
    pull = precision @ weights
    loss = float(np.sum(np.logaddexp(0, logit)) - target @ logit + 0.5 * weights @ pull)
    error = chance - target
    gradient = pull
    for code in codes:
        gradient = gradient + np.bincount(code, weights=error, minlength=len(weights))
    return loss, gradient, chance


def sources_codes(cells: Sequence[Cells], batch: Batch) -> list[Codes]:
    """The codes of several columns."""
    return [c.codes(batch) for c in cells]
