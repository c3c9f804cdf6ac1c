"""Counts of outcomes or of learned cells as the tables from which conclusions are drawn, with their events in words."""

from __future__ import annotations

from functools import partial

import numpy as np

from dpest.run.streams import stream
from dpest.sampling.audit.event import Event
from dpest.sampling.audit.outputs import Batch, Keys
from dpest.sampling.audit.table import Aligned, RowTable, fit_outcomes
from dpest.sampling.events import CellCounts, Mask
from dpest.sampling.gathering import HALVING_KEY, Model, Parts, Question
from dpest.sampling.learned import Learned
from dpest.sampling.table import Table


def outcome_tables(question: Question, found: Aligned) -> list[Table]:
    """A cell for each outcome that was seen under any input; the counts of the part that chooses come first."""
    first, last = found.counts[: len(question.inputs)], found.counts[len(question.inputs) :]
    tables = []
    for i, (a, b) in enumerate(question.pairs):
        choosing, bounding = CellCounts(first[a], first[b]), CellCounts(last[a], last[b])
        tables.append(outcome_table(found.keys, found.rows, choosing, bounding, stream(question.seed, HALVING_KEY, i)))
    return tables


def outcome_table(keys: Keys, rows: Batch, first: CellCounts, bounding: CellCounts, rng: np.random.Generator) -> Table:
    """The first part orders outcomes and chooses among them: each of its samples goes to one of the two by a fair coin."""
    left, right = (rng.binomial(side, 0.5).astype(np.int64) for side in (first.left, first.right))
    choosing = CellCounts(first.left - left, first.right - right)
    scores = fit_outcomes(Aligned(keys, rows, np.stack([left, right]))).weights
    return Table(CellCounts(left, right), choosing, bounding, False, partial(_outcome_words, keys, rows), scores)


def _outcome_words(keys: Keys, rows: Batch, cells: Mask) -> str:
    return str(Event(RowTable(rows, keys, cells.astype(np.float64)), 0.5, True, rows.width))


def cell_tables(model: Model, parts: Parts) -> list[Table]:
    """A cell for each interval of a pair's score."""
    return [cell_table(score, *(CellCounts(part[i][0], part[i][1]) for part in parts)) for i, score in enumerate(model)]


def cell_table(score: Learned, choosing: CellCounts, bounding: CellCounts) -> Table:
    """The cells are in the order of the score already."""
    nothing = np.zeros(score.size, dtype=np.int64)
    return Table(CellCounts(nothing, nothing), choosing, bounding, True, score.words, score.scores, score.is_ratio)
