"""Distinct outputs and how often each was seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpest.sampling.runs.outputs import MISSING, Batch, Keys, comparable, joined, symbol

Ints = NDArray[np.int64]

MOST_ROWS = 20_000  # distinct outputs that still count as few: a table of weights takes one number for each
_LOOKED_AT = 20_000  # outputs of each sample that tell whether they repeat
_BLOCK = 1 << 11  # rows that stay in the cache while they are folded
_ABSENT = np.float64(symbol(MISSING)).view(np.uint64)
_STRIDE = 31  # one output in so many is sorted first: where outputs repeat, the others are found among them
_MULTIPLIERS = np.random.Generator(np.random.SFC64(754)).integers(0, 2**63, 4096, dtype=np.uint64) * np.uint64(2) + np.uint64(1)


def row_keys(batch: Batch) -> Keys:
    """64 bits for each output: equal outputs, equal keys, however many columns are absent at the end."""
    bits = batch.values.view(np.uint64)
    total = np.empty(len(batch), dtype=np.uint64)
    multipliers = np.resize(_MULTIPLIERS, batch.width)
    for start in range(0, len(batch), _BLOCK):
        block = comparable(bits[start : start + _BLOCK]) ^ _ABSENT
        # The low bits of round numbers are zero; without folding, products would live in the top 12 bits.
        total[start : start + _BLOCK] = (block ^ (block >> np.uint64(29)) ^ (block >> np.uint64(47))) @ multipliers
    return total


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Distinct outputs in the order of their keys, and how often each was seen."""

    keys: Keys
    rows: Batch
    counts: Ints

    def __add__(self, other: Outcomes) -> Outcomes:
        found = aligned([self, other])
        return Outcomes(found.keys, found.rows, found.counts.sum(axis=0))


NOTHING = Outcomes(np.empty(0, dtype=np.uint64), Batch(np.empty((0, 1))), np.empty(0, dtype=np.int64))


def tally(batch: Batch, times: Ints | None = None) -> Outcomes:
    """How often each output occurs, where each row stands for one output, or for so many."""
    keys = row_keys(batch)
    known, first = _distinct(keys)
    counts = np.bincount(np.searchsorted(known, keys), times, minlength=len(known))
    return Outcomes(known, batch.picked(first), counts.astype(np.int64))


@dataclass(frozen=True, eq=False)
class Aligned:
    """The distinct outputs of several samples, with their counts in each."""

    keys: Keys  # sorted
    rows: Batch
    counts: Ints  # (samples, outputs)


def aligned(samples: Sequence[Outcomes]) -> Aligned:
    """The counts of several samples side by side."""
    keys, first = np.unique(np.concatenate([s.keys for s in samples]), return_index=True)
    counts = np.zeros((len(samples), len(keys)), dtype=np.int64)
    for row, sample in zip(counts, samples, strict=True):
        row[np.searchsorted(keys, sample.keys)] = sample.counts
    return Aligned(keys, joined([s.rows for s in samples]).picked(first), counts)


def _distinct(values: Keys) -> tuple[Keys, Ints]:
    """The distinct values in order, and where each is; those of a part first, since sorting all of them takes longest."""
    known, first = np.unique(values[::_STRIDE], return_index=True)
    place = np.minimum(np.searchsorted(known, values), len(known) - 1)
    others = np.flatnonzero(known[place] != values)
    more, where = np.unique(values[others], return_index=True)
    keys, firsts = np.concatenate([known, more]), np.concatenate([first * _STRIDE, others[where]])
    order = np.argsort(keys)
    return keys[order], firsts[order]


def is_discrete(*samples: Batch) -> bool:
    """Whether the outputs repeat so much that hardly any run brings a new one (Good and Turing: by the singletons)."""
    total = aligned([tally(b.picked(slice(_LOOKED_AT))) for b in samples]).counts.sum(axis=0)
    return bool(len(total) <= MOST_ROWS and np.sum(total == 1) <= 0.02 * total.sum() + 1)
