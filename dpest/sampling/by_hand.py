"""The loss between two samples that somebody already holds: the same cells, choice, bound and zero rule as everywhere else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpest.errors import InvalidInput
from dpest.sampling.bounds.cell_sets import CellCounts
from dpest.sampling.conclude import Conclusion, conclude
from dpest.sampling.gathering import CHOOSING_SHARE
from dpest.sampling.runs.outcomes import aligned, is_discrete, tally
from dpest.sampling.runs.outputs import Batch, encode_array, encode_rows
from dpest.sampling.scores.learned import learn
from dpest.sampling.tables import Table, cell_table, outcome_table

ALPHA = 0.05  # 95 % confidence, as everywhere by default
# Of samples that cannot be drawn again: as for an estimate, which learns from a quarter as many as it counts.
_LEARNING_SHARE = 0.25
_FEW = 128  # samples from which no score is learned
_MOST_BINS = 200
_SHUFFLE = 20210523  # samples may come sorted: the parts are taken from a fixed permutation


@dataclass(frozen=True)
class SampleComparison:
    """What two samples say of the loss between their laws, and the counts that it rests on."""

    conclusion: Conclusion
    table: Table

    @property
    def epsilon(self) -> float:
        """The estimate of the loss."""
        return self.conclusion.epsilon


def compare_samples(left: Any, right: Any, bins: int) -> SampleComparison:
    """Compare two samples of outputs, rows where an output has several coordinates; numbers are cut into so many bins."""
    if isinstance(bins, bool) or not isinstance(bins, int | np.integer) or bins < 1:
        raise InvalidInput(f"the number of bins must be a whole number >= 1, got {bins!r}")
    samples = [_outputs(side) for side in (left, right)]
    if samples[0].width != samples[1].width:
        raise InvalidInput(f"both samples must have as many coordinates, got {samples[0].width} and {samples[1].width}")
    if min(map(len, samples)) < 2:
        raise InvalidInput("at least two samples of each law are needed: one to choose an event and one to measure it")
    rng = np.random.default_rng(_SHUFFLE)
    samples = [b.picked(rng.permutation(len(b))) for b in samples]
    few = min(map(len, samples)) < _FEW
    table = _outcomes(samples, rng) if few or is_discrete(*samples) else _learned(samples, min(int(bins), _MOST_BINS))
    return SampleComparison(conclude([table], ALPHA, exhaustive=False), table)


def _outputs(samples: Any) -> Batch:
    if isinstance(samples, np.ndarray):
        if samples.ndim > 2 or 0 in samples.shape:
            raise InvalidInput(f"samples must be numbers or equally long rows, and not empty; got shape {samples.shape}")
        return encode_array(samples, len(samples))
    rows = list(samples)
    if not rows:
        raise InvalidInput("samples must be a list of numbers or of equally long rows, and not empty")
    lengths = {len(r) if isinstance(r, list | tuple | np.ndarray) else -1 for r in rows}
    if len(lengths) > 1:
        raise InvalidInput(f"samples must be rows of one length, got rows of lengths {sorted(lengths)}")
    return encode_rows(rows)


def _parts(samples: list[Batch], share: float) -> tuple[list[Batch], list[Batch]]:
    cuts = [max(1, round(share * len(b))) for b in samples]
    first = [b.picked(slice(k)) for b, k in zip(samples, cuts, strict=True)]
    return first, [b.picked(slice(k, None)) for b, k in zip(samples, cuts, strict=True)]


def _outcomes(samples: list[Batch], rng: np.random.Generator) -> Table:
    first, last = _parts(samples, CHOOSING_SHARE)
    found = aligned([tally(b) for b in (*first, *last)])
    return outcome_table(found.keys, found.rows, CellCounts(*found.counts[:2]), CellCounts(*found.counts[2:]), rng)


def _learned(samples: list[Batch], bins: int) -> Table:
    train, rest = _parts(samples, _LEARNING_SHARE)
    first, last = _parts(rest, CHOOSING_SHARE)
    score = learn(train[0], train[1], len(samples[0]), bins)
    counts = [np.bincount(score.cells(b), minlength=score.size) for b in (*first, *last)]
    return cell_table(score, CellCounts(*counts[:2]), CellCounts(*counts[2:]))
