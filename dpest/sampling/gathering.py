"""Draws the samples that a question needs, in chunks, and leaves their counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import starmap
from typing import Any

import numpy as np
import numpy.typing as npt

from dpest.inputs.pairs import Pair
from dpest.run.streams import stream
from dpest.sampling.runs.outcomes import NOTHING, Outcomes, is_discrete, tally
from dpest.sampling.runs.outputs import Batch
from dpest.sampling.runs.sources import OutputSource, TracedSampler
from dpest.sampling.scores.additive import Additive
from dpest.sampling.scores.cells import Cells, Column, Reading
from dpest.sampling.scores.learned import Learned, learn
from dpest.sampling.scores.row_table import RowTable
from dpest.trace.columns import Rng

BLOCK = 1 << 16  # rows drawn at once: half a megabyte for each value of the mechanism, which stays in the cache
CHOOSING_SHARE = 0.3  # of the samples: more choose a better event, fewer leave more to bound it
_PILOT = 1 << 14  # rows that tell whether outputs repeat
_LEARNING = 1 << 18  # outputs of one input from which a score is learned; fewer where there are many pairs
_LEARNING_TOTAL = 1 << 19
# The places that draw: each has streams of its own.
_PILOT_KEY, _LEARNING_KEY, _COUNTING_KEY, HALVING_KEY = range(4)

CellTable = npt.NDArray[np.int64]


@dataclass(frozen=True)
class SamplingQuestion:
    """The sampler, the distinct inputs, and each pair as two of them."""

    source: OutputSource
    inputs: tuple[Any, ...]
    pairs: tuple[tuple[int, int], ...]
    seed: int

    @classmethod
    def of(cls, source: OutputSource, pairs: Sequence[Pair], seed: int) -> SamplingQuestion:
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
        return cls(source, tuple(inputs), tuple((place[a], place[b]) for a, b in named), seed)

    def draw(self, which: int, count: int, *key: int) -> Batch:
        """Outputs on one of the inputs, from the stream of this key."""
        return self.source.draw(self.inputs[which], count, stream(self.seed, *key, which))

    def blocks(self, which: int, index: int, count: int) -> Iterator[tuple[Any, int, Rng]]:
        """What to draw for one chunk that is counted, some outputs at a time."""
        rng = stream(self.seed, _COUNTING_KEY, index, which)
        for start in range(0, count, BLOCK):
            yield self.inputs[which], min(BLOCK, count - start), rng


Model = tuple[Learned, ...]  # what was learned for each pair before counting; None where whole outcomes are counted
STORED = (Learned, Additive, RowTable, Cells, Column, Reading, Batch, Outcomes)  # what a checkpoint may hold


@dataclass(frozen=True)
class Learn:
    """Looks at a small sample: outcomes that repeat are counted as they are; for others, events are learned."""

    question: SamplingQuestion
    samples: int

    def __call__(self, index: int, count: int) -> Model | None:
        q = self.question
        pilot = [q.draw(i, min(_PILOT, max(64, self.samples // 8)), _PILOT_KEY) for i in range(len(q.inputs))]
        if is_discrete(*pilot):
            return None
        size = min(_LEARNING, _LEARNING_TOTAL // len(q.pairs), max(256, self.samples // 4))
        sample = [q.draw(i, size, _LEARNING_KEY) for i in range(len(q.inputs))]
        return tuple(learn(sample[a], sample[b], self.samples) for a, b in q.pairs)


@dataclass(frozen=True)
class CountOutcomes:
    """One chunk: how often each outcome occurs under each input."""

    question: SamplingQuestion

    def __call__(self, index: int, count: int) -> tuple[int, list[Outcomes]]:
        inputs = range(len(self.question.inputs))
        return index, [sum(starmap(self._outcomes, self.question.blocks(i, index, count)), NOTHING) for i in inputs]

    def _outcomes(self, data: Any, size: int, rng: Rng) -> Outcomes:
        source = self.question.source
        return source.outcomes(data, size, rng) if isinstance(source, TracedSampler) else tally(source.draw(data, size, rng))

    def empty(self) -> list[Outcomes]:
        """No counts."""
        return [NOTHING for _ in self.question.inputs]


@dataclass(frozen=True)
class CountCells:
    """One chunk: how many outputs fall into each cell of each pair's score, under both inputs."""

    question: SamplingQuestion
    model: Model

    def __call__(self, index: int, count: int) -> tuple[int, list[CellTable]]:
        q, found = self.question, self.empty()
        for which in range(len(q.inputs)):
            for batch in starmap(q.source.draw, q.blocks(which, index, count)):
                for counts, learned, pair in zip(found, self.model, q.pairs, strict=True):
                    if which in pair:
                        here = np.bincount(learned.cells(batch), minlength=learned.size)
                        counts[[side for side in (0, 1) if pair[side] == which]] += here
        return index, found

    def empty(self) -> list[CellTable]:
        """No counts."""
        return [np.zeros((2, learned.size), dtype=np.int64) for learned in self.model]


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
    return [a + b for a, b in zip(total, more, strict=True)]
