"""How smooth are the log ratios of neighbouring cells?  A Gaussian prior whose spread at each scale is read off the counts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpest.sampling.runs.outputs import Matrix

_LEAST = 1e-9  # keeps the matrix invertible
_OUTSTANDING = 16.0  # squared standard errors


def prior_covariance(one: Matrix, zero: Matrix, numbers: int) -> Matrix:
    """The prior covariance of a column's weights, from the counts of its cells under both inputs.

    The first `numbers` cells are neighbours in order, the rest stand alone.  Cells share a variance component with all cells
    in the same block of 2, 4, 8, ... neighbours; each component is estimated by moments (observed spread less binomial noise),
    so that a step stays a step and pure noise is shrunk away.
    """
    size = len(one)
    covariance = np.diag(_components(one, zero, _blocks(size, numbers, 0), _blocks(size, numbers, 1)))
    level = 1
    while (1 << level) < 2 * numbers:
        blocks, parents = _blocks(size, numbers, level), _blocks(size, numbers, level + 1)
        variance = _components(one, zero, blocks, parents)
        covariance += variance[:, None] * (blocks[:, None] == blocks[None, :])
        level += 1
    return np.asarray(covariance + _LEAST * np.eye(size))


def _blocks(size: int, numbers: int, level: int) -> NDArray[np.int64]:
    place = np.arange(size)
    return np.where(place < numbers, place >> level, place + size)


def _components(one: Matrix, zero: Matrix, blocks: NDArray[np.int64], parents: NDArray[np.int64]) -> Matrix:
    """Per cell: the variance of its block's log ratio around that of its parent.

    A block that stands out has its own variance; the others share one, so that a jump in one place does not make the rest rough.
    """
    ratio, noise, mass = _ratios(one, zero, blocks)
    above, above_noise, _ = _ratios(one, zero, parents)
    alone = _sizes(blocks) == _sizes(parents)
    # A block that is all of its parent says nothing of the spread, unless it stands alone for good (a symbol).
    gap = np.where(alone, ratio, ratio - above)
    error = np.where(alone, noise, np.maximum(noise - above_noise, 0.0))
    useful = ~(alone & (parents < len(one))) & (mass > 0) & (error > 1e-12)
    outstanding = useful & (gap**2 > _OUTSTANDING * error)
    usual = useful & ~outstanding
    shared = _shared(gap[usual], error[usual], mass[usual], (1 / _sizes(blocks))[usual])
    return np.asarray(np.where(outstanding, gap**2, shared))


def _shared(gap: Matrix, error: Matrix, mass: Matrix, share: Matrix) -> float:
    """One variance by moments, reweighted: rare cells count as far as their noise allows, since rare outputs often leak most."""
    if len(gap) == 0:
        return 0.0
    weight, variance = mass * share, 0.0
    for _ in range(4):
        total = float(weight.sum())
        variance = max(float(weight @ (gap**2 - error)) / total, 0.01 * float(weight @ error) / total)
        weight = share / (variance + error) ** 2
    return variance


def _ratios(one: Matrix, zero: Matrix, blocks: NDArray[np.int64]) -> tuple[Matrix, Matrix, Matrix]:
    """Per cell: the log ratio of its block, that ratio's variance, and the block's mass."""
    _, inverse = np.unique(blocks, return_inverse=True)
    a = np.bincount(inverse, weights=one)[inverse] + 0.5
    b = np.bincount(inverse, weights=zero)[inverse] + 0.5
    base = np.log((one.sum() + 0.5) / (zero.sum() + 0.5))
    return np.log(a / b) - base, 1 / a + 1 / b, a + b - 1


def _sizes(blocks: NDArray[np.int64]) -> Matrix:
    _, inverse, counts = np.unique(blocks, return_inverse=True, return_counts=True)
    return np.asarray(counts[inverse])
