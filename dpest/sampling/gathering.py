"""Draws the samples that a question needs, in chunks, and leaves their counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dpest.inputs.pairs import Pair
from dpest.run.streams import stream
from dpest.sampling.coding import Coder, Leaf, learn_coder
from dpest.sampling.scoring import Score, learn_score
from dpest.sampling.tally import Tally, merged, tally
from dpest.trace.columns import Columns, Hole, Sampler, Shape

BLOCK = 1 << 16
CHOOSING_SHARE = 0.3
_PILOT = 1 << 12
_LEARNING = 1 << 18  # outputs of one input from which a score is learned; fewer where there are many pairs
_LEARNING_TOTAL = 1 << 19
_MOST_OUTCOMES = 1 << 13
_MOST_SINGLES = 0.05
# The places that draw: each has streams of its own.
_PILOT_KEY, _LEARNING_KEY, _COUNTING_KEY, HALVING_KEY = range(4)

Cells = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Question:
    """The sampler, the distinct inputs, and each pair as two of them."""

    sampler: Sampler
    inputs: tuple[Any, ...]
    pairs: tuple[tuple[int, int], ...]
    seed: int

    @classmethod
    def of(cls, sampler: Sampler, pairs: Sequence[Pair], seed: int) -> Question:
        """Inputs that several pairs share are sampled once."""
        place: dict[str, int] = {}
        inputs: list[Any] = []
        for pair in pairs:
            plain = pair.to_dict()
            for key, data in ((repr(plain["D"]), pair.left), (repr(plain["D_prime"]), pair.right)):
                if key not in place:
                    place[key] = len(inputs)
                    inputs.append(data)
        named = [(repr(p.to_dict()["D"]), repr(p.to_dict()["D_prime"])) for p in pairs]
        return cls(sampler, tuple(inputs), tuple((place[a], place[b]) for a, b in named), seed)

    def draw(self, which: int, count: int, *key: int) -> Columns:
        """Outputs on one of the inputs, from the stream of this key."""
        return self.sampler.draw(self.inputs[which], count, stream(self.seed, *key, which))


@dataclass(frozen=True)
class Model:
    """What was learned before counting: None where whole outcomes are counted."""

    coder: Coder
    scores: tuple[Score, ...]


STORED = (Model, Coder, Leaf, Score, Shape, Hole)  # what a checkpoint may hold


@dataclass(frozen=True)
class Learn:
    """Looks at a small sample: outcomes that repeat are counted as they are; for others, events are learned."""

    question: Question
    samples: int

    def __call__(self, index: int, count: int) -> Model | None:
        q = self.question
        pilot = [q.draw(i, min(_PILOT, max(64, self.samples // 8)), _PILOT_KEY) for i in range(len(q.inputs))]
        if countable(pilot):
            return None
        size = min(_LEARNING, _LEARNING_TOTAL // len(q.pairs), max(256, self.samples // 4))
        sample = [q.draw(i, size, _LEARNING_KEY) for i in range(len(q.inputs))]
        coder = learn_coder(sample)
        codes = [coder.codes(columns) for columns in sample]
        return Model(coder, tuple(learn_score(codes[a], codes[b], coder.sizes, coder.unordered) for a, b in q.pairs))


def countable(samples: Sequence[Columns]) -> bool:
    """Whether outcomes repeat so often that counting them tells everything."""
    rows = sum(columns.rows for columns in samples)
    counts: Tally = {}
    for columns in samples:
        if _looks_continuous(columns):
            return False
        counts = merged(counts, tally(columns))
        if len(counts) > _MOST_OUTCOMES:
            return False
    return sum(1 for c in counts.values() if c == 1) <= _MOST_SINGLES * rows


def _looks_continuous(columns: Columns) -> bool:
    """A cheap look before rows are made into keys: a column without repetitions in the largest group."""
    group = max(columns.groups, key=lambda g: g.rows)
    return group.rows >= 50 and any(len(np.unique(v[:50])) == 50 for v in group.values if v.dtype.kind == "f")


@dataclass(frozen=True)
class CountOutcomes:
    """One chunk: how often each outcome occurs under each input."""

    question: Question

    def __call__(self, index: int, count: int) -> tuple[int, list[Tally]]:
        return index, [self._tally(which, index, count) for which in range(len(self.question.inputs))]

    def empty(self) -> list[Tally]:
        """No counts."""
        return [{} for _ in self.question.inputs]

    def _tally(self, which: int, index: int, count: int) -> Tally:
        q = self.question
        counts: Tally = {}
        rng = stream(q.seed, _COUNTING_KEY, index, which)
        for at in range(0, count, BLOCK):
            counts = merged(counts, tally(q.sampler.draw(q.inputs[which], min(BLOCK, count - at), rng)))
        return counts


@dataclass(frozen=True)
class CountCells:
    """One chunk: how many outputs fall into each cell of each pair's score, under both inputs."""

    question: Question
    model: Model

    def __call__(self, index: int, count: int) -> tuple[int, list[Cells]]:
        q, found = self.question, self.empty()
        for which in range(len(q.inputs)):
            rng = stream(q.seed, _COUNTING_KEY, index, which)
            for at in range(0, count, BLOCK):
                codes = self.model.coder.codes(q.sampler.draw(q.inputs[which], min(BLOCK, count - at), rng))
                for cells, score, pair in zip(found, self.model.scores, q.pairs, strict=True):
                    for side in (0, 1):
                        if pair[side] == which:
                            cells[side] += np.bincount(score.cells(codes), minlength=score.size)
        return index, found

    def empty(self) -> list[Cells]:
        """No counts."""
        return [np.zeros((2, score.size), dtype=np.int64) for score in self.model.scores]


Parts = tuple[list[Any], list[Any]]


@dataclass(frozen=True)
class Fold:
    """Adds a chunk's counts to the part that chooses or to the part that bounds.

    The chunks that choose are spread evenly over all of them, the first included: whenever a run is stopped, both parts exist.
    """

    choosing: int
    chunks: int

    def __call__(self, state: Parts, found: tuple[int, list[Any]]) -> Parts:
        index, counts = found
        first, second = state
        if self.chooses(index):
            return _added(first, counts), second
        return first, _added(second, counts)

    def chooses(self, index: int) -> bool:
        """Whether this chunk has a say in which events are bounded."""
        return -(-(index + 1) * self.choosing // self.chunks) > -(-index * self.choosing // self.chunks)


def _added(total: list[Any], more: list[Any]) -> list[Any]:
    return [merged(a, b) if isinstance(a, dict) else a + b for a, b in zip(total, more, strict=True)]
