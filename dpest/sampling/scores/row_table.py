"""Counting instead of training: a weight for each distinct output."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, logit

from dpest.sampling.runs.outcomes import Aligned, aligned, row_keys, tally
from dpest.sampling.runs.outputs import NAN, Batch, Keys, Matrix, digest, symbol, symbol_bits
from dpest.sampling.scores.additive import fit_rows
from dpest.sampling.scores.cells import Column, learn_cells

_BINS = 48  # as many as a single column of numbers has elsewhere
_FEW_ROWS = 32
_LEAST_SPREAD = 1e-9  # keeps the quotient finite: so little spread is none


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
