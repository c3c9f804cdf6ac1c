"""A score that was learned for one pair, cut into cells: what is counted where outputs hardly ever repeat."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpest.sampling.bounds.cell_sets import Floats, Ints, Mask
from dpest.sampling.runs.outputs import Batch
from dpest.sampling.scores.additive import Additive
from dpest.sampling.scores.attacks import Attack, feature_names, fit_by_features, merit, trials
from dpest.sampling.scores.choose import Goal
from dpest.sampling.scores.event import Event

_ALPHA = 0.025  # about what the bound of one event has
_BOUNDING_SHARE = 0.7
# Cells of equal mass: where half of the outputs of one input are exclusive, the loss rises in the middle of the pooled scores.
# With 16, bounded noise was seen as infinite in 191 of 200 runs, with 64 in 198.
_EVEN_CELLS = 64


@dataclass(frozen=True, eq=False)
class Learned:
    """A score with the edges of its cells, and the mean score of each cell."""

    attack: Attack
    width: int
    cuts: Floats
    scores: Floats
    is_ratio: bool

    def cells(self, batch: Batch) -> Ints:
        """The cell of each output: 0 for the lowest scores."""
        return np.searchsorted(self.cuts, self.attack.score(batch.resized(self.width)), side="right")

    @property
    def size(self) -> int:
        """The number of cells."""
        return len(self.cuts) + 1

    def words(self, cells: Mask) -> str:
        """A set of cells as the values of the output, where it is one number, or as a range of scores."""
        attack = self.attack
        if isinstance(attack, Additive) and len(attack.cells) == 1:
            inside = cells[np.searchsorted(self.cuts, attack.weights[0], side="right")]
            return str(Event(Additive(attack.cells, (inside.astype(np.float64),)), 0.5, True, self.width).simplified())
        chosen = np.flatnonzero(cells)
        above = bool(cells[-1]) and not cells[0]
        edge = self.cuts[chosen[0] - 1] if above else np.nextafter(self.cuts[min(chosen[-1], len(self.cuts) - 1)], -np.inf)
        return str(Event(attack, float(edge), above, self.width))


def learn(left: Batch, right: Batch, samples: int, bins: int | None = None) -> Learned:
    """The score that promises the largest bound: each kind is fitted on one half of the outputs and judged on the other."""
    width = max(left.width, right.width)
    left, right = left.resized(width), right.resized(width)
    train_left, train_right = (b.picked(slice(len(b) // 2)) for b in (left, right))
    choose_left, choose_right = (b.picked(slice(len(b) // 2, None)) for b in (left, right))
    goal = Goal(max(int(_BOUNDING_SHARE * samples), 1), _ALPHA, common=False)
    names = [name for name in feature_names(train_left, train_right) if name != "table"] or ["values"]
    found = trials(names, (train_left, train_right), (choose_left, choose_right), goal, bins=bins)
    name, _, _ = max(found, key=lambda f: merit(f[0], f[2]))
    # What was held back to judge the kinds has done its work: the score itself is fitted on everything.
    attack = fit_by_features(name, left, right, bins)
    one, other = attack.score(choose_left), attack.score(choose_right)
    cuts = _cuts(one, other)
    return Learned(attack, width, cuts, _means(np.concatenate([one, other]), cuts), name != "half-lines")


def _means(scores: Floats, cuts: Floats) -> Floats:
    """The mean score of each cell; of a cell without any, the edge."""
    code = np.searchsorted(cuts, scores, side="right")
    number = np.bincount(code, minlength=len(cuts) + 1)
    edges = np.concatenate([cuts[:1], cuts]) if len(cuts) else np.zeros(1)
    return np.where(number > 0, np.bincount(code, scores, minlength=len(number)) / np.maximum(number, 1), edges)


def _cuts(left: Floats, right: Floats) -> Floats:
    """Cells halve towards both ends of the pooled scores, down to about fifteen samples, and are even in the middle.

    Next to outputs that one input alone shows, the loss rises over few samples of the other: a cell that holds many averages it
    away. So there are cuts above the 8th, 16th ... of the rarer scores too, from the top those of `right` and from the
    bottom those of `left`; fewer than eight say little of where the other input ends.
    """
    pooled = np.concatenate([left, right])
    tails = [2.0**-k for k in np.arange(3, max(3.5, np.log2(pooled.size / 15)), 0.5)]
    even = (i / _EVEN_CELLS for i in range(_EVEN_CELLS // 8, _EVEN_CELLS - _EVEN_CELLS // 8 + 1))
    levels = sorted({*tails, *(1 - t for t in tails), *even})
    places = [2**k - 1 for k in range(3, min(left.size, right.size).bit_length())]
    ends = [np.nextafter(np.sort(right)[::-1][places], np.inf), np.sort(left)[places]]
    return np.unique(np.concatenate([np.quantile(pooled, levels, method="nearest"), *ends]))
