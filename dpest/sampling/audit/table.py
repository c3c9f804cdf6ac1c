"""Counting instead of training: a weight for each distinct output."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from dpest.sampling.audit.additive import fit_rows
from dpest.sampling.audit.cells import Column, learn_cells
from dpest.sampling.audit.outputs import MISSING, NAN, Batch, Keys, Matrix, comparable, digest, joined, symbol, symbol_bits

Ints = NDArray[np.int64]

MOST_ROWS = 20_000
_LOOKED_AT = 20_000  # outputs of each sample that tell whether they repeat
_BINS = 48  # as many as a single column of numbers has elsewhere
_FEW_ROWS = 32
_BLOCK = 1 << 11  # rows that stay in the cache while they are folded
_LEAST_SPREAD = 1e-9
_ABSENT = np.float64(symbol(MISSING)).view(np.uint64)
_STRIDE = 31
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


@dataclass(frozen=True, eq=False)
class RowTable:
    """A weight for each output that was seen; others weigh nothing."""

    rows: Batch
    keys: Keys
    weights: Matrix

    def score(self, batch: Batch) -> Matrix:
        """How strongly each output speaks for the first input."""
        asked = row_keys(batch)
        place = np.minimum(np.searchsorted(self.keys, asked), len(self.keys) - 1)
        return np.where(self.keys[place] == asked, self.weights[place], 0.0)

    def to_dict(self) -> dict[str, Any]:
        """Plain data: numbers as they are, symbols by name."""
        names = self.rows.names
        return {"rows": [[plain(x, names) for x in row] for row in self.rows.values], "weights": self.weights.tolist()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> RowTable:
        """The inverse of `to_dict`."""
        names = {digest(x["symbol"]): x["symbol"] for row in data["rows"] for x in row if isinstance(x, dict) and "symbol" in x}
        values = np.array([[unplain(x) for x in row] for row in data["rows"]], dtype=np.float64)
        return row_table(Batch(values, names), np.array(data["weights"], dtype=np.float64))


def row_table(rows: Batch, weights: Matrix) -> RowTable:
    """The table with its keys in order."""
    keys = row_keys(rows)
    order = np.argsort(keys)
    return RowTable(Batch(rows.values[order], rows.names, rows.single), keys[order], weights[order])


def fit_table(left: Batch, right: Batch) -> RowTable:
    """The table of two samples of outputs."""
    return fit_outcomes(aligned([tally(left), tally(right)]))


def fit_outcomes(found: Aligned) -> RowTable:
    """Log ratios of counts, drawn towards an additive score of the columns as far as the counts agree with it."""
    one, zero = found.counts.astype(np.float64)
    if len(one) <= _FEW_ROWS:
        base = np.log((one.sum() + 0.5) / (zero.sum() + 0.5))
        return RowTable(found.rows, found.keys, np.log((one + 0.5) / (zero + 0.5)) - base)
    # Of one column with many values, neighbours have much in common; of several, each value has its own weight.
    bins = _BINS if found.rows.width == 1 else 1
    cells = [learn_cells(Column(j), found.rows, found.rows, bins) for j in range(found.rows.width)]
    expected = fit_rows(cells, found.rows, one, zero).score(found.rows)
    return RowTable(found.rows, found.keys, _towards(expected, one, one + zero))


def _towards(expected: Matrix, one: Matrix, both: Matrix) -> Matrix:
    """Counts as if so many runs more had been seen that agree with the expected score, by the spread around it."""
    chance = expit(expected)
    error, noise = one - both * chance, both * chance * (1 - chance)
    spread = max(float(np.sum(error**2 - noise) / np.sum(noise**2)), _LEAST_SPREAD)
    strength = 4 / spread
    return np.asarray(logit((one + strength * chance) / (both + strength)))


def plain(value: float, names: Mapping[int, str]) -> Any:
    """A number or a symbol as JSON holds it."""
    if np.isnan(value):
        name = names.get(int(symbol_bits(np.array([value]))[0]), NAN)
        return {"symbol": name}
    return float(value) if np.isfinite(value) else {"number": str(float(value))}


def unplain(value: Any) -> float:
    """The inverse of `plain`."""
    if isinstance(value, dict):
        return symbol(value["symbol"]) if "symbol" in value else float(value["number"])
    return float(value)
