"""Which columns an event rests on, in words: where each is cut, and its share of the evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpest.inputs.shown import show
from dpest.sampling.runs.outputs import Matrix
from dpest.sampling.scores.additive import Additive
from dpest.sampling.scores.cells import Cells

MOST_COLUMNS = 3  # that a person reads


@dataclass(frozen=True)
class ColumnShare:
    """One column of an event: where it speaks for the event, and how much of the spread of scores it makes."""

    words: str
    share: float

    def __str__(self) -> str:
        return f"{self.words} ({100 * self.share:.0f} % of the evidence)"


def column_shares(attack: Additive, above: bool, names: Sequence[str]) -> list[ColumnShare]:
    """The columns of a sum of weights, the most telling first."""
    weights = [attack.weights[min(j, len(attack.weights) - 1)] for j in range(len(attack.cells))]
    spread = np.array([float(np.var(w)) for w in weights])
    total = float(spread.sum()) or 1.0
    order = np.argsort(-spread, kind="stable")
    signed = [w if above else -w for w in weights]
    return [ColumnShare(_cut(attack.cells[j], signed[j], names[j]), float(spread[j]) / total) for j in order.tolist()]


def _cut(cells: Cells, weights: Matrix, name: str) -> str:
    """The half-line, or the single value, that speaks most for the event."""
    numbers = len(cells.breaks) + 1
    symbols = [(float(weights[i]), f"{name} is {cells.symbol_name(i)}") for i in range(numbers, cells.size - 1)]
    here = weights[:numbers]
    best = max(symbols, default=(-np.inf, ""))
    if numbers < 2 or best[0] > float(here.max()):
        return best[1] or name
    counts = np.arange(1, numbers)
    below = np.cumsum(here)[:-1]
    gap = below / counts - (here.sum() - below) / (numbers - counts)
    at = int(np.argmax(np.abs(gap) * np.sqrt(counts * (numbers - counts))))
    under, over = _edge(cells, at)
    return f"{name} {under}" if gap[at] > 0 else f"{name} {over}"


def _edge(cells: Cells, at: int) -> tuple[str, str]:
    """The two sides of a break in words; the break after an atom is the next double, and the atom is what one reads."""
    edge = float(cells.breaks[at])
    before = float(np.nextafter(edge, -np.inf))
    if at > 0 and float(cells.breaks[at - 1]) == before:
        return f"<= {_short(before)}", f"> {_short(before)}"
    return f"< {_short(edge)}", f">= {_short(edge)}"


def _short(number: float) -> str:
    return show(number) if number.is_integer() else f"{number:.6g}"
