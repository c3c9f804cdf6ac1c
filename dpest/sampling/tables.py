"""Counts of outcomes or of learned cells as the tables from which conclusions are drawn, with their events in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from dpest.inputs.pairs import show
from dpest.run.streams import stream
from dpest.sampling.coding import Coder, Codes, Leaf, learn_coder
from dpest.sampling.events import Counts, Floats, Mask
from dpest.sampling.gathering import HALVING_KEY, Model, Parts, Question
from dpest.sampling.scoring import Score, fit_weights
from dpest.sampling.table import Table
from dpest.sampling.tally import Tally
from dpest.trace.columns import NAN_KEY, Columns, Group, Rng, Shape
from dpest.trace.outputs import rebuild

_SHOWN = 4
_MANY = 32


def outcome_tables(question: Question, parts: Parts) -> list[Table]:
    """A cell for each outcome that was seen under any input."""
    outcomes = list(dict.fromkeys(outcome for part in parts for counts in part for outcome in counts))
    known = frozenset(outcomes)
    coded = _coded(outcomes) if len(outcomes) > _MANY else None
    tables = []
    for i, pair in enumerate(question.pairs):
        first, bounding = (_outcome_counts(part, pair, outcomes) for part in parts)
        ordering, choosing = _halved(first, stream(question.seed, HALVING_KEY, i))
        scores = None if coded is None else _scores(*coded, ordering)
        words = partial(_outcome_words, outcomes)
        tables.append(Table(ordering, choosing, bounding, False, words, scores, known))
    return tables


def _halved(counts: Counts, rng: Rng) -> tuple[Counts, Counts]:
    """Each sample goes to one of two parts by a fair coin: two independent samples."""
    left, right = (rng.binomial(side, 0.5).astype(np.int64) for side in (counts.left, counts.right))
    return Counts(left, right), Counts(counts.left - left, counts.right - right)


def _coded(outcomes: Sequence[Shape]) -> tuple[Coder, Codes]:
    columns = Columns(tuple(Group(outcome, (), 1) for outcome in outcomes))
    coder = replace(learn_coder([columns]), shapes=())
    return coder, coder.codes(columns)


def _scores(coder: Coder, codes: Codes, counts: Counts) -> Floats | None:
    """Where outcomes are many and each is rare, what they have in common says more than each alone."""
    if not counts.left.any() or not counts.right.any():
        return None
    left, right = (side.astype(np.float64) for side in (counts.left, counts.right))
    return Score(fit_weights(codes, left, right, coder.sizes, coder.unordered), np.empty(0)).of(codes)


def _outcome_counts(part: list[Tally], pair: tuple[int, int], outcomes: Sequence[Shape]) -> Counts:
    left, right = (np.array([part[i].get(o, 0) for o in outcomes], dtype=np.int64) for i in pair)
    return Counts(left, right)


def _outcome_words(outcomes: Sequence[Shape], cells: Mask) -> str:
    chosen = [outcome_words(outcomes[int(i)]) for i in np.flatnonzero(cells)]
    if len(chosen) == 1:
        return f"output == {chosen[0]}"
    more = f", ... ({len(chosen)} outcomes)" if len(chosen) > _SHOWN else ""
    return f"output is one of {', '.join(chosen[:_SHOWN])}{more}"


def outcome_words(outcome: Shape) -> str:
    """An outcome as the mechanism returned it."""
    leaves = [float("nan") if leaf == NAN_KEY else leaf for leaf in outcome.leaves]
    return show(rebuild(outcome.structure, leaves))


def cell_tables(model: Model, parts: Parts) -> list[Table]:
    """A cell for each interval of a pair's score."""
    tables = []
    for i, score in enumerate(model.scores):
        choosing, bounding = (Counts(part[i][0], part[i][1]) for part in parts)
        nothing = np.zeros(score.size, dtype=np.int64)
        scores = np.arange(score.size, dtype=np.float64)
        tables.append(Table(Counts(nothing, nothing), choosing, bounding, True, _ScoreWords(model, i), scores))
    return tables


class _ScoreWords:
    """A range of scores in words: the values themselves where there is one number, else what weighs most."""

    def __init__(self, model: Model, pair: int) -> None:
        self.coder = model.coder
        self.score = model.scores[pair]

    def __call__(self, cells: Mask) -> str:
        chosen = np.flatnonzero(cells)
        high = bool(cells[-1]) and not cells[0]
        cut = self.score.cuts[chosen[0] - 1] if high else self.score.cuts[min(chosen[-1], len(self.score.cuts) - 1)]
        single = self.coder.single
        if single is not None:
            return self._values(single, cells)
        side = f"at least {cut:.4g}" if high else f"below {cut:.4g}"
        return f"a learned score of the output is {side}; it counts most when {' and '.join(self._heaviest(high))}"

    def _values(self, leaf: Leaf, cells: Mask) -> str:
        """The values whose score lies in the cells; the shape, which does not vary, adds the same to all."""
        scores = self.score.weights[0][1] + self.score.weights[1]
        inside = cells[np.searchsorted(self.score.cuts, scores, side="right")]
        words = leaf.all_words("output", [int(code) for code in np.flatnonzero(inside) if code])
        more = f" or ... ({len(words)} ranges)" if len(words) > _SHOWN else ""
        return " or ".join(words[:_SHOWN]) + more

    def _heaviest(self, high: bool) -> list[str]:
        sign = 1.0 if high else -1.0
        tops: list[tuple[float, str]] = []
        for feature, weights in enumerate(self.score.weights):
            code = int(np.argmax(sign * weights))
            tops.append((float(sign * weights[code]), self.coder.words(feature, code)))
        return [words for _, words in sorted(tops, key=lambda t: -t[0])[:3]]
