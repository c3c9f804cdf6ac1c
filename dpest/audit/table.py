"""Counting instead of training: a weight for each output row, or for each row of cells."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from dpest.audit.cells import Cells
from dpest.audit.outputs import Batch, Keys, Matrix

_MULTIPLIERS = np.random.Generator(np.random.SFC64(754)).integers(0, 2**63, 4096, dtype=np.uint64) * np.uint64(2) + np.uint64(1)


def row_keys(batch: Batch) -> Keys:
    """64 bits for each output: equal outputs, equal keys."""
    bits = batch.values.view(np.uint64)
    total = np.zeros(len(batch), dtype=np.uint64)
    for j in range(batch.width):
        # The low bits of round numbers are zero; without folding, products would live in the top 12 bits.
        total += (bits[:, j] ^ (bits[:, j] >> np.uint64(29))) * _MULTIPLIERS[j]
    return total


def cell_keys(cells: tuple[Cells, ...], batch: Batch) -> Keys:
    """64 bits for each row of cells."""
    total = np.zeros(len(batch), dtype=np.uint64)
    for j, c in enumerate(cells):
        total += c.codes(batch).astype(np.uint64) * _MULTIPLIERS[j]
    return total


@dataclass(frozen=True, eq=False)
class Counted:
    """Keys that occur, with their counts under both inputs."""

    keys: Keys  # sorted
    left: NDArray[np.int64]
    right: NDArray[np.int64]


def count_keys(left: Keys, right: Keys) -> Counted:
    """The distinct keys of both samples with their counts."""
    a, ka = np.unique(left, return_counts=True)
    b, kb = np.unique(right, return_counts=True)
    keys = np.union1d(a, b)
    counts = np.zeros((2, len(keys)), dtype=np.int64)
    counts[0, np.searchsorted(keys, a)] = ka
    counts[1, np.searchsorted(keys, b)] = kb
    return Counted(keys, counts[0], counts[1])


def look_up(keys: Keys, weights: Matrix, asked: Keys) -> Matrix:
    """The weight of each key, 0 for those that were never seen."""
    if len(keys) == 0:
        return np.zeros(len(asked))
    place = np.minimum(np.searchsorted(keys, asked), len(keys) - 1)
    return np.where(keys[place] == asked, weights[place], 0.0)


def residual_weights(counted: Counted, expected: Matrix, strength: float) -> Matrix:
    """What the counts of a key say beyond an expected score, as if `strength` runs had been seen that agree with it."""
    chance = expit(expected)
    k, total = counted.left, counted.left + counted.right
    return np.asarray(logit((k + strength * chance) / (total + strength)) - expected)
