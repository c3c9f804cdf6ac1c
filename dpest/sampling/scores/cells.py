"""Columns read from outputs, and their cells: single values that carry mass, symbols, and intervals between."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, assert_never

import numpy as np
from numpy.typing import NDArray

from dpest.sampling.runs import floats
from dpest.sampling.runs.outputs import Batch, Keys, Matrix, digest, nan_payload, symbol_bits

Codes = NDArray[np.int32]

LEAST_REPEATS = 6  # times that a value is seen before it has a cell of its own: fewer say little about its mass
MOST_ATOMS = 48  # single values with cells of their own: half for being frequent, half for telling the inputs apart
_MOST_SYMBOLS = 256  # texts and other symbols with cells of their own
_GRID = 4096  # places of the table that finds a cell without a search: it fits the fastest cache


class Reading(Enum):
    """What is read of an output."""

    VALUE = "value"
    DIFFERENCE = "difference"
    SIGN = "sign"
    EXPONENT = "exponent"
    TRAILING_ZEROS = "trailing zero bits"
    LOW_BITS = "lowest five bits"
    LOWEST_BIT = "lowest set bit"
    PAYLOAD = "kind of NaN"


@dataclass(frozen=True)
class Column:
    """One number read from each output."""

    index: int
    reading: Reading = Reading.VALUE

    def read(self, batch: Batch) -> Matrix:
        """The column's number in each row; NaN stands for symbols."""
        here = batch.values[:, self.index]
        match self.reading:
            case Reading.VALUE:
                return here
            case Reading.DIFFERENCE:
                return here - batch.values[:, self.index - 1]
            case Reading.SIGN:
                return floats.sign(here)
            case Reading.EXPONENT:
                return floats.exponent(here)
            case Reading.TRAILING_ZEROS:
                return floats.trailing_zeros(here, batch.single)
            case Reading.LOW_BITS:
                return floats.low_bits(here, batch.single)
            case Reading.LOWEST_BIT:
                return floats.lowest_bit(here, batch.single)
            case Reading.PAYLOAD:
                return nan_payload(here)
            case _:
                assert_never(self.reading)

    def words(self, width: int, places: Sequence[int] | None = None) -> str:
        """The column's name in a sentence; `places` are the columns of outputs that were kept, if some were."""
        here = self.index if places is None else places[self.index]
        name = "output" if width == 1 and places is None else f"output[{here}]"
        match self.reading:
            case Reading.VALUE:
                return name
            case Reading.DIFFERENCE:
                before = self.index - 1 if places is None else places[self.index - 1]
                return f"output[{here}] - output[{before}]"
            case _:
                return f"{self.reading.value} of {name}"


@dataclass(frozen=True, eq=False)
class Cells:
    """A column cut into cells; `breaks` includes each atom and the next double after it."""

    column: Column
    breaks: Matrix
    symbols: Keys  # digests, sorted
    names: tuple[str, ...] = ()  # of the symbols, in the same order

    @property
    def size(self) -> int:
        """The number of cells; the last one is for symbols that were never seen."""
        return len(self.breaks) + len(self.symbols) + 2

    def codes(self, batch: Batch) -> Codes:
        """The cell of each row."""
        value = self.column.read(batch)
        nan = np.isnan(value)
        if not nan.any():
            return place_among(self.breaks, value)
        code = np.empty(len(value), dtype=np.int32)
        code[nan] = len(self.breaks) + 1 + self._symbol_codes(value[nan])
        code[~nan] = place_among(self.breaks, value[~nan])
        return code

    def _symbol_codes(self, value: Matrix) -> Codes:
        if len(self.symbols) == 0:
            return np.zeros(len(value), dtype=np.int32)
        bits = symbol_bits(value)
        if len(self.symbols) == 1:
            return np.asarray(bits != self.symbols[0], dtype=np.int32)
        place = np.minimum(np.searchsorted(self.symbols, bits), len(self.symbols) - 1)
        return np.where(self.symbols[place] == bits, place, len(self.symbols)).astype(np.int32)

    def bounds(self, code: int) -> tuple[float, float]:
        """The half-open interval [low, high) of a cell of numbers."""
        low = -np.inf if code == 0 else float(self.breaks[code - 1])
        high = np.inf if code == len(self.breaks) else float(self.breaks[code])
        return low, high

    def symbol_name(self, code: int) -> str:
        """The symbol of a cell that holds one."""
        place = code - len(self.breaks) - 1
        return self.names[place] if place < len(self.names) else "anything else"

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "index": self.column.index,
            "reading": self.column.reading.value,
            "breaks": self.breaks.tolist(),
            "symbols": list(self.names),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Cells:
        """The inverse of `to_dict`."""
        column = Column(data["index"], Reading(data["reading"]))
        return named_cells(column, np.array(data["breaks"], dtype=np.float64), data["symbols"])


def place_among(breaks: Matrix, values: Matrix) -> Codes:
    """How many breaks lie at or below each value, as `searchsorted(..., side="right")`; no NaN.

    A grid over the breaks answers for all values whose grid cell holds no break; only the others are searched.
    """
    if len(breaks) < 4 or len(values) < _GRID or not np.isfinite(breaks[-1] - breaks[0]):
        return np.searchsorted(breaks, values, side="right").astype(np.int32)
    low, high = float(breaks[0]), float(breaks[-1])
    scale = (_GRID - 1) / (high - low)

    def grid(x: Matrix) -> Codes:
        return ((np.fmin(np.fmax(x, low), high) - low) * scale).astype(np.int32)

    occupied = grid(breaks)
    table = np.searchsorted(occupied, np.arange(_GRID), side="right").astype(np.int32)
    table[occupied] = -1
    code = table[grid(values)]
    open_ = np.flatnonzero(code < 0)
    code[open_] = np.searchsorted(breaks, values[open_], side="right")
    return code


def named_cells(column: Column, breaks: Matrix, names: Any) -> Cells:
    """Cells whose symbols are given by name."""
    pairs = sorted((digest(name), name) for name in names)
    return Cells(column, breaks, np.array([d for d, _ in pairs], dtype=np.uint64), tuple(n for _, n in pairs))


def learn_cells(column: Column, left: Batch, right: Batch, bins: int) -> Cells:
    """Cells for a column, from outputs under both inputs: repeated values alone, the rest in bins of equal mass."""
    a, b = column.read(left), column.read(right)
    names = {**left.names, **right.names}
    breaks = _breaks(a[~np.isnan(a)], b[~np.isnan(b)], bins)
    present, counts = np.unique(symbol_bits(np.concatenate([a[np.isnan(a)], b[np.isnan(b)]])), return_counts=True)
    if len(present) > MOST_ATOMS:
        # Symbols that hardly ever come again (texts, say) say nothing about the next one.
        often = np.argsort(-counts, kind="stable")[:_MOST_SYMBOLS]
        present = present[often[counts[often] >= LEAST_REPEATS]]
    return named_cells(column, breaks, [names.get(int(d), f"symbol {int(d)}") for d in present])


def _breaks(a: Matrix, b: Matrix, bins: int) -> Matrix:
    values, inverse, counts = np.unique(np.concatenate([a, b]), return_inverse=True, return_counts=True)
    if len(values) == 0:
        return np.empty(0)
    if len(values) <= MOST_ATOMS:
        return np.unique(np.concatenate([values, np.nextafter(values, np.inf)]))
    first = np.bincount(inverse[: len(a)], minlength=len(values))
    atoms = _atoms(values, counts, first)
    plain = np.ones(len(values), dtype=bool)
    plain[np.searchsorted(values, atoms)] = False
    edges = _edges(np.repeat(values[plain], counts[plain]), bins)
    return np.unique(np.concatenate([edges, atoms, np.nextafter(atoms, np.inf)]))


def _atoms(values: Matrix, counts: NDArray[Any], first: NDArray[Any]) -> Matrix:
    """Values that repeat: the most frequent ones, and those that tell the inputs apart."""
    repeated = np.flatnonzero(counts >= LEAST_REPEATS)
    if len(repeated) > MOST_ATOMS:
        half = MOST_ATOMS // 2
        k, total = first[repeated], counts[repeated]
        telling = np.abs(2 * k - total) / np.sqrt(total)
        keep = np.union1d(np.argsort(-total, kind="stable")[:half], np.argsort(-telling, kind="stable")[:half])
        repeated = repeated[keep]
    return np.asarray(values[repeated])


def _edges(sorted_values: Matrix, bins: int) -> Matrix:
    """Edges at equal masses, and at ever smaller ones in both tails."""
    n = len(sorted_values)
    if n < 8:
        return np.empty(0)
    even = np.arange(1, bins) / bins
    tails = 1 / bins / 4.0 ** np.arange(1, 12)
    tails = tails[tails * n >= 10]
    places = np.concatenate([even, tails, 1 - tails])
    return np.unique(sorted_values[np.minimum((places * n).astype(np.int64), n - 1)])
