"""The event of a witness: a cut of a score, as data and in words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, assert_never

import numpy as np
from numpy.typing import NDArray

from dpest.inputs.shown import show
from dpest.sampling.runs.outputs import MISSING, Batch
from dpest.sampling.scores.additive import Additive
from dpest.sampling.scores.attacks import Attack, attack_from_dict, attack_to_dict
from dpest.sampling.scores.cells import Cells, Reading
from dpest.sampling.scores.classifiers import Estimator, Network, Trees
from dpest.sampling.scores.row_table import RowTable, plain

_MOST_NAMED = 8  # outputs or intervals that a person reads
_MOST_COLUMNS = 3  # of a sum, that a person reads


@dataclass(frozen=True)
class ColumnShare:
    """One column of an event: where it speaks for the event, and how much of the spread of scores it makes."""

    words: str
    share: float

    def __str__(self) -> str:
        return f"{self.words} ({100 * self.share:.0f} % of the evidence)"


@dataclass(frozen=True, eq=False)
class Event:
    """Outputs whose score lies beyond a threshold; those exactly on it belong with probability `tie`."""

    attack: Attack
    threshold: float
    above: bool
    width: int
    tie: float = 1.0
    columns: tuple[int, ...] | None = None  # of very wide outputs: those that the score reads

    def contains(self, batch: Batch, rng: np.random.Generator) -> NDArray[np.bool_]:
        """Which outputs belong."""
        score = self.attack.score(batch.resized(self.width))
        beyond = score > self.threshold if self.above else score < self.threshold
        on = score == self.threshold
        if self.tie >= 1:
            return np.asarray(beyond | on)
        beyond[on] = rng.random(int(on.sum())) < self.tie
        return np.asarray(beyond)

    def simplified(self) -> Event:
        """The same event with no more cells than it needs, if it reads one column."""
        if not isinstance(self.attack, Additive) or len(self.attack.cells) > 1 or self.tie < 1:
            return self
        cells, inside = self.attack.cells[0], self._inside(self.attack.weights[0])
        numbers = len(cells.breaks) + 1
        needed = inside[1:numbers] != inside[: numbers - 1]
        # An edge just after an atom needs the atom to be put in words.
        needed[:-1] |= needed[1:] & (np.nextafter(cells.breaks[:-1], np.inf) == cells.breaks[1:])
        kept = np.concatenate([[True], needed, np.ones(cells.size - numbers, dtype=bool)])
        fewer = Cells(cells.column, cells.breaks[needed], cells.symbols, cells.names)
        return Event(Additive((fewer,), (inside[kept].astype(np.float64),)), 0.5, True, self.width, columns=self.columns)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        fields: dict[str, Any] = {"threshold": self.threshold, "above": self.above, "width": self.width, "tie": self.tie}
        if self.columns is not None:
            fields["columns"] = list(self.columns)
        return {**fields, "attack": attack_to_dict(self.attack)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Event:
        """The inverse of `to_dict`."""
        columns = None if data.get("columns") is None else tuple(int(j) for j in data["columns"])
        return cls(attack_from_dict(data["attack"]), data["threshold"], data["above"], data["width"], data["tie"], columns)

    def __str__(self) -> str:
        match self.attack:
            case RowTable():
                words = self._rows(self.attack)
            case Additive() if len(self.attack.cells) == 1:
                words = self._intervals(self.attack.cells[0], self.attack.weights[0])
            case Additive():
                words = self._sum(self.attack)
            case Network() | Trees() | Estimator():
                words = self._classifier(self.attack)
            case _:
                assert_never(self.attack)
        return words if self.tie >= 1 else f"{words} (on the boundary with probability {self.tie:.3g})"

    def _inside(self, weights: NDArray[np.float64]) -> NDArray[np.bool_]:
        return weights >= self.threshold if self.above else weights <= self.threshold

    def _rows(self, table: RowTable) -> str:
        inside = self._inside(table.weights)
        strength = np.abs(table.weights)
        unseen = self.threshold <= 0 if self.above else self.threshold >= 0
        chosen = np.flatnonzero(~inside if unseen else inside)
        chosen = chosen[np.argsort(-strength[chosen], kind="stable")]
        named = [_row_words(table, int(i), self.width) for i in chosen[:_MOST_NAMED]]
        more = f" and {len(chosen) - _MOST_NAMED} more" if len(chosen) > _MOST_NAMED else ""
        if unseen:
            return f"output is none of {', '.join(named)}{more}" if named else "any output"
        return f"output == {named[0]}" if len(chosen) == 1 else f"output is one of {', '.join(named)}{more}"

    def _intervals(self, cells: Cells, weights: NDArray[np.float64]) -> str:
        inside = self._inside(weights)
        name = cells.column.words(self.width, self.columns)
        pieces = _pieces(cells, inside[: len(cells.breaks) + 1], name)
        symbols = [cells.symbol_name(i) for i in range(len(cells.breaks) + 1, cells.size - 1) if inside[i]]
        parts = pieces + [f"{name} is {s}" for s in symbols]
        more = f" or in {len(parts) - _MOST_NAMED} more pieces" if len(parts) > _MOST_NAMED else ""
        return " or ".join(parts[:_MOST_NAMED]) + more

    def column_shares(self) -> list[ColumnShare]:
        """The columns that the event rests on, the most telling first; empty where the score is no sum of columns."""
        if not isinstance(self.attack, Additive):
            return []
        weights = [self.attack.weights[min(j, len(self.attack.weights) - 1)] for j in range(len(self.attack.cells))]
        spread = np.array([float(np.var(w)) for w in weights])
        total = float(spread.sum()) or 1.0
        order = np.argsort(-spread, kind="stable")
        signed = [w if self.above else -w for w in weights]
        names = [c.column.words(self.width, self.columns) for c in self.attack.cells]
        return [
            ColumnShare(_cut(self.attack.cells[j], signed[j], names[j]), float(spread[j]) / total) for j in order.tolist()
        ]

    def _sum(self, attack: Additive) -> str:
        sign = ">=" if self.above else "<="
        told = ", ".join(map(str, self.column_shares()[:_MOST_COLUMNS]))
        return f"the weights of {len(attack.cells)} columns add up to {sign} {self.threshold:.6g}: most of all {told}"

    def _classifier(self, attack: Network | Trees | Estimator) -> str:
        sign = ">=" if self.above else "<="
        if isinstance(attack, Network) and len(attack.layers) == 1:
            weights, shift = attack.layers[0]
            slopes = weights[:, 0] / attack.vector.scale
            constant = float(shift[0] - slopes @ attack.vector.mean)
            names = [f"output[{j}]" if self.width > 1 else "output" for j in range(attack.vector.width)]
            names += [f"[output[{j}] is {name}]" for j, name in attack.vector.flags]
            terms = " ".join(f"{slope:+.4g} {name}" for slope, name in zip(slopes, names, strict=True))
            return f"{terms} {constant:+.4g} {sign} {self.threshold:.6g}"
        kind = type(attack.model).__name__ if isinstance(attack, Estimator) else type(attack).__name__.lower()
        return f"the log odds by the classifier ({kind}) are {sign} {self.threshold:.6g}"


def _row_words(table: RowTable, place: int, width: int) -> str:
    parts = [plain(x, table.rows.names) for x in table.rows.values[place]]
    texts = [str(next(iter(p.values()))) if isinstance(p, dict) else show(p) for p in parts]
    kept = [t for t in texts if t != MISSING]
    return kept[0] if len(kept) == 1 else f"({', '.join(kept)})"


def _pieces(cells: Cells, inside: NDArray[np.bool_], name: str) -> list[str]:
    """Runs of neighbouring cells as inequalities."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], inside, [False]]).astype(np.int8)))
    return [_interval(cells, int(first), int(after) - 1, name) for first, after in edges.reshape(-1, 2)]


def _interval(cells: Cells, first: int, last: int, name: str) -> str:
    low, high = cells.bounds(first)[0], cells.bounds(last)[1]
    if high == np.nextafter(low, np.inf):
        return f"{name} = {show(low)}"
    if np.isinf(low) and np.isinf(high):
        return f"{name} is a number"
    if np.isinf(high) and cells.column.reading is Reading.TRAILING_ZEROS:
        return f"more than {math.ceil(low) - 1} {name}"
    # The double after an atom is a break of its own: the cell starts beyond the atom, or ends with it.
    beyond, upto = _atom_before(cells, low), _atom_before(cells, high)
    left = "" if np.isinf(low) else f"{show(beyond)} < " if beyond is not None else f"{low:.10g} <= "
    right = "" if np.isinf(high) else f" <= {show(upto)}" if upto is not None else f" < {high:.10g}"
    if right:
        return f"{left}{name}{right}"
    return f"{name} > {show(beyond)}" if beyond is not None else f"{name} >= {low:.10g}"


def _atom_before(cells: Cells, edge: float) -> float | None:
    """The atom that ends just before an edge, if there is one."""
    before = float(np.nextafter(edge, -np.inf))
    return before if np.isfinite(edge) and before in cells.breaks else None


def _cut(cells: Cells, weights: NDArray[np.float64], name: str) -> str:
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
    atom = _atom_before(cells, edge)
    return (f"< {_short(edge)}", f">= {_short(edge)}") if atom is None else (f"<= {_short(atom)}", f"> {_short(atom)}")


def _short(number: float) -> str:
    return show(number) if number.is_integer() else f"{number:.6g}"
