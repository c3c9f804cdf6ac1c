"""A score that adds a weight per cell of each column, fitted as a logistic regression on cell indicators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from dpest.audit.cells import Cells, Codes
from dpest.audit.outputs import Batch, Matrix

_HESSIAN_ROWS = 40_000
_MOST_STEPS = 12
_TOLERANCE = 1e-6


@dataclass(frozen=True, eq=False)
class Additive:
    """The log-likelihood ratio as a sum over columns; for independent columns this is all there is to know."""

    cells: tuple[Cells, ...]
    weights: tuple[Matrix, ...]  # one array per column, or one for all of them

    def score(self, batch: Batch) -> Matrix:
        """How strongly each output speaks for the first input."""
        total = np.zeros(len(batch))
        for place, cells in enumerate(self.cells):
            total += self.weights[min(place, len(self.weights) - 1)][cells.codes(batch)]
        return total


def fit_additive(cells: Sequence[Cells], left: Batch, right: Batch, *, pooled: bool = False) -> Additive:
    """Fit the weights on outputs of both inputs; `pooled` makes all columns share one table."""
    codes = [np.concatenate([c.codes(left), c.codes(right)]) for c in cells]
    offsets = np.zeros(len(cells), dtype=np.int64)
    if not pooled:
        offsets[1:] = np.cumsum([c.size for c in cells])[:-1]
    flat = [code + int(offset) for code, offset in zip(codes, offsets, strict=True)]
    size = cells[0].size if pooled else int(sum(c.size for c in cells))
    target = np.concatenate([np.ones(len(left)), np.zeros(len(right))])
    weights = _newton(flat, target, size, _precisions(flat, target, size, offsets, pooled))
    parts = (weights,) if pooled else tuple(np.split(weights, offsets[1:]))
    return Additive(tuple(cells), parts)


def _precisions(flat: Sequence[Codes], target: Matrix, size: int, offsets: NDArray[np.int64], pooled: bool) -> Matrix:
    """An empirical Bayes prior: how far a column's marginal log ratios spread beyond their noise, as 1 / variance."""
    one = sum((np.bincount(f, weights=target, minlength=size) for f in flat), np.zeros(size))
    all_ = sum((np.bincount(f, minlength=size) for f in flat), np.zeros(size))
    zero = all_ - one
    ratio = np.log((one + 0.5) / (zero + 0.5)) - np.log(target.sum() / (len(target) - target.sum()))
    noise = 1 / (one + 0.5) + 1 / (zero + 0.5)
    precision = np.empty(size)
    ends = [size] if pooled else [*offsets[1:].tolist(), size]
    start = 0
    for end in ends:
        part = slice(start, end)
        share = all_[part] / max(all_[part].sum(), 1)
        spread = float(np.sum(share * (ratio[part] ** 2 - noise[part])))
        average_noise = float(np.sum(share * noise[part]))
        precision[part] = 1 / max(spread, 0.02 * average_noise, 1e-12)
        start = end
    return precision


def _newton(flat: Sequence[Codes], target: Matrix, size: int, precision: Matrix) -> Matrix:
    """Newton steps with the full gradient and the curvature of a subset of the rows."""
    n = len(target)
    rows = np.random.Generator(np.random.SFC64(0)).choice(n, min(n, _HESSIAN_ROWS), replace=False)
    design = np.zeros((len(rows), size), dtype=np.float32)
    for f in flat:
        np.add.at(design, (np.arange(len(rows)), f[rows]), 1.0)
    weights = np.zeros(size)
    loss, gradient, chance = _loss(flat, target, weights, precision)
    for _ in range(_MOST_STEPS):
        curve = np.maximum(chance[rows] * (1 - chance[rows]), 1e-6).astype(np.float32)
        hessian = (design.T @ (design * curve[:, None])).astype(np.float64) * (n / len(rows))
        hessian[np.diag_indices(size)] += precision
        step = np.linalg.solve(hessian, gradient)
        scale, before = 1.0, loss
        while scale > 1e-3:
            loss, new_gradient, new_chance = _loss(flat, target, weights - scale * step, precision)
            if loss <= before:
                break
            scale /= 2
        else:
            break
        weights, gradient, chance = weights - scale * step, new_gradient, new_chance
        if before - loss <= _TOLERANCE * n * 1e-3:
            break
    return weights


def _loss(flat: Sequence[Codes], target: Matrix, weights: Matrix, precision: Matrix) -> tuple[float, Matrix, Matrix]:
    logit = np.zeros(len(target))
    for f in flat:
        logit += weights[f]
    chance = expit(logit)
    loss = float(np.sum(np.logaddexp(0, logit) - target * logit) + 0.5 * np.sum(precision * weights**2))
    gradient = precision * weights
    for f in flat:
        gradient = gradient + np.bincount(f, weights=chance - target, minlength=len(weights))
    return loss, gradient, chance
