"""Samples of each input by stage, drawn in chunks; what was drawn for the race is used again, fresh ones are fresh."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Any, assert_never

import numpy as np
from numpy.typing import NDArray

from dpest.errors import MechanismError
from dpest.run.checkpoint import Checkpoint
from dpest.run.chunks import Chunks, Gathered, run_chunks
from dpest.run.executors import Automatic
from dpest.run.progress import Progress
from dpest.run.streams import stream
from dpest.sampling.bounds.common_noise import Blocks
from dpest.sampling.bounds.dependence import BlockHits, Echo
from dpest.sampling.bounds.statement import Counts
from dpest.sampling.runs.blackbox import Form, Sampler
from dpest.sampling.runs.outcomes import row_keys
from dpest.sampling.runs.outputs import Batch, joined
from dpest.sampling.scores.event import Event

Flags = NDArray[np.bool_]

_MOST_NUMBERS = 1 << 24  # in one chunk
_ATTEMPTS = 4  # at a block of runs of the search, before the mechanism's failure ends the audit
_AGAIN = 1 << 20
_MOST_COMPARED = 1 << 13  # outputs of the final samples that are compared with those before them


class Stage(IntEnum):
    """What samples are for; each stage has streams of its own."""

    TRAIN = 0
    CHOOSE = 1
    FINAL = 2
    PROBE = 3
    TIES = 4


@dataclass(frozen=True)
class ChunkSetup:
    """Where chunks run, and what watches them."""

    executor: Executor | Automatic | None = None
    checkpoint: Checkpoint | None = None
    progress: Progress | None = None


def chunk_size(sampler: Sampler) -> int:
    """Rows that fit the cache where they are drawn at once, fewer where each is a call or has many columns."""
    rows = 1 << 16 if sampler.form in (Form.VECTORISED, Form.TRACED) else 1 << 13
    return min(rows, _few_enough(sampler))


def _few_enough(sampler: Sampler) -> int:
    """Rows whose columns take some hundred megabytes at most: a power of two, and a whole number of blocks."""
    return 1 << max((_MOST_NUMBERS // sampler.width).bit_length() - 1, 6)


def training_block(sampler: Sampler) -> int:
    """Training runs that share a stream: as many as cost nothing extra, since no count of blocks is taken."""
    return min(1 << 14 if sampler.form in (Form.VECTORISED, Form.TRACED) else 1 << 5, _few_enough(sampler))


def block_size(sampler: Sampler, samples: int) -> int:
    """Counted runs that share a stream, a power of two: some hundred blocks, unless calls would cost more than what they draw."""
    match sampler.form:
        case Form.VECTORISED:
            # Few samples still make blocks enough to see whether they depend on each other.
            least, most = (6, 11) if samples >= 1 << 12 else (4, 6)
        case Form.TRACED:
            least, most = 12, 13
        case Form.RNG | Form.PLAIN:
            # A copy of the mechanism costs as much as many calls.
            least, most = (5, 5) if sampler.fresh else (3, 5)
        case _:
            assert_never(sampler.form)
    return min(1 << min(max((samples >> 8).bit_length() - 1, least), most), _few_enough(sampler))


def draw_chunk(sampler: Sampler, data: Any, count: int, block: int, seed: int, key: tuple[int, ...]) -> list[Batch]:
    """The outputs of one chunk in blocks, each from a stream of its own."""
    blocks = [(min(block, count - start), stream(seed, *key, place)) for place, start in enumerate(range(0, count, block))]
    return sampler.draw_blocks(data, blocks)


@dataclass(frozen=True)
class DrawChunk:
    """Draws one chunk of outputs for the search; a block in which the mechanism fails is drawn again, from another stream."""

    sampler: Sampler
    data: Any
    block: int
    seed: int
    key: tuple[int, ...]

    def __call__(self, index: int, count: int) -> list[Batch]:
        key = (*self.key, index)
        try:
            return draw_chunk(self.sampler, self.data, count, self.block, self.seed, key)
        except MechanismError:
            sizes = [min(self.block, count - start) for start in range(0, count, self.block)]
            return [self._block(size, (*key, place)) for place, size in enumerate(sizes)]

    def _block(self, size: int, key: tuple[int, ...]) -> Batch:
        for attempt in range(_ATTEMPTS):
            again = (_AGAIN, attempt) if attempt else ()
            try:
                return self.sampler.draw(self.data, size, stream(self.seed, *key, *again))
            except MechanismError:
                if attempt == _ATTEMPTS - 1:
                    raise
        raise AssertionError


@dataclass
class Supply:
    """Outputs of several inputs, kept by stage, extended when more are asked for."""

    sampler: Sampler
    inputs: Sequence[Any]
    block: int
    seed: int
    where: ChunkSetup
    runs: int = 0
    salt: int = 0  # tells a second search from the first
    kept: dict[tuple[int, Stage], list[Batch]] = field(default_factory=dict)

    def get(self, place: int, stage: Stage, count: int) -> Batch:
        """The first `count` outputs of one input in one stage (a whole number of chunks is drawn)."""
        kept = self.kept.setdefault((place, stage), [])
        have = sum(map(len, kept))
        size = min(chunk_size(self.sampler), max(count, 1))
        if have < count:
            missing = Chunks(count - have, size)
            # All inputs see the same noise: what it does to both then cancels when they are compared.
            block = training_block(self.sampler) if stage is Stage.TRAIN else self.block
            work = DrawChunk(self.sampler, self.inputs[place], block, self.seed, (int(stage), have, self.salt))
            gathered = self._run(work, missing, f"{stage.name.lower()} {place} {have} {self.salt}")
            kept[:] = [joined([*kept, *gathered.state])]
            self.runs += gathered.done
        whole = kept[0]
        return whole if len(whole) == count else Batch(whole.values[:count], whole.names, whole.single)

    def _run(self, work: DrawChunk, chunks: Chunks, key: str) -> Gathered[list[Batch]]:
        empty: list[Batch] = []
        gathered = run_chunks(
            work,
            chunks,
            lambda state, batches: [*state, *batches],
            empty,
            executor=self.where.executor,
            checkpoint=self.where.checkpoint,
            progress=self.where.progress,
            message="looking for the event",
            key=key,
            known=(Batch,),
        )
        if gathered.interrupted:
            raise KeyboardInterrupt
        return gathered

    def forget(self) -> None:
        """Drop what was kept."""
        self.kept.clear()


@dataclass(frozen=True)
class Tally:
    """Counts of some chunks, and what went wrong in them."""

    counts: Counts
    failure: str | None = None
    trace: BlockHits | None = None  # hits per block, in the order of the runs

    def __add__(self, other: Tally) -> Tally:
        # What comes after a failure is not counted, so that the counts are those of a run that stopped there.
        if self.failure is not None:
            return self
        trace = self.trace + other.trace if self.trace and other.trace else self.trace or other.trace
        return Tally(self.counts + other.counts, other.failure, trace)


@dataclass(frozen=True)
class CountChunk:
    """Counts an event in one chunk of fresh outputs of both inputs."""

    sampler: Sampler
    left: Any
    right: Any
    event: Event
    block: int
    seed: int
    first: int
    common: bool  # whether both inputs run on the same streams

    def __call__(self, index: int, count: int) -> Tally:
        try:
            drawn = self._drawn(index, count)
        except MechanismError as error:
            return self._until_failure(index, count, str(error))
        hits = [self._hits(side, index, batches) for side, batches in enumerate(drawn)]
        found = self._tally(hits[0], hits[1], None)
        if index or found.trace is None:
            return found
        left, right = (row_keys(joined(batches).picked(slice(_MOST_COMPARED))) for batches in drawn)
        return replace(found, trace=replace(found.trace, outputs=((left, right),)))

    def _tally(self, left: Flags, right: Flags, failure: str | None) -> Tally:
        count, size = len(left), self.block
        whole = count // size
        blocks = [side[: whole * size].reshape(whole, size).sum(axis=1) for side in (left, right)]
        sums = Blocks.of(size, *blocks)
        # Common noise is bounded block by block: a part of one is no block.
        hits_and_runs = (*sums.hits, whole * size) if self.common else (int(left.sum()), int(right.sum()), count)
        return Tally(Counts(*hits_and_runs, hits_and_runs[2], sums), failure, BlockHits(size, *blocks))

    def _until_failure(self, index: int, count: int, failure: str) -> Tally:
        """The blocks before the one in which the mechanism fails under either input."""
        found: list[list[Flags]] = [[], []]
        for place, start in enumerate(range(0, count, self.block)):
            try:
                both = [self._block(side, index, place, min(self.block, count - start)) for side in (0, 1)]
            except MechanismError as error:
                failure = str(error)
                break
            for side, flags in zip(found, both, strict=True):
                side.append(flags)
        empty = np.zeros(0, dtype=np.bool_)
        return self._tally(np.concatenate([empty, *found[0]]), np.concatenate([empty, *found[1]]), failure)

    def _key(self, side: int, index: int) -> tuple[int, ...]:
        return int(Stage.FINAL), 2 if self.common else side, self.first + index

    def _drawn(self, index: int, count: int) -> tuple[list[Batch], list[Batch]]:
        """The blocks of both inputs, drawn by turns: what one input leaves for the other then differs from block to block."""
        blocks = [
            (data, min(self.block, count - start), stream(self.seed, *self._key(side, index), place))
            for place, start in enumerate(range(0, count, self.block))
            for side, data in enumerate((self.left, self.right))
        ]
        drawn = self.sampler.draw_in_turn(blocks)
        return drawn[::2], drawn[1::2]

    def _hits(self, side: int, index: int, batches: list[Batch]) -> Flags:
        return np.concatenate([self.event.contains(b, self._ties(side, index, place)) for place, b in enumerate(batches)])

    def _block(self, side: int, index: int, place: int, count: int) -> Flags:
        data = (self.left, self.right)[side]
        batch = self.sampler.draw(data, count, stream(self.seed, *self._key(side, index), place))
        return self.event.contains(batch, self._ties(side, index, place))

    def _ties(self, side: int, index: int, place: int) -> np.random.Generator:
        return stream(self.seed, int(Stage.TIES), side, self.first + index, place)


def count_event(work: CountChunk, count: int, where: ChunkSetup) -> Gathered[Tally]:
    """Count an event on `count` fresh outputs of each input."""
    chunks = Chunks(count, chunk_size(work.sampler))
    return run_chunks(
        work,
        chunks,
        Tally.__add__,
        Tally(Counts()),
        executor=where.executor,
        checkpoint=where.checkpoint,
        progress=where.progress,
        message="bounding the event",
        key=f"final {work.first}",
        known=(Tally, Counts, Blocks, BlockHits, Echo),
    )
