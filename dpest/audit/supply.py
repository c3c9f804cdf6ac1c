"""Samples of each input by stage, drawn in chunks; what was drawn for the race is used again, fresh ones are fresh."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

from dpest.audit.blackbox import Form, Sampler
from dpest.audit.bounds import Counts
from dpest.audit.event import Event
from dpest.audit.outputs import Batch, joined
from dpest.engine.checkpoint import Checkpoint
from dpest.engine.chunks import Chunks, Gathered, run_chunks
from dpest.engine.executors import Automatic
from dpest.engine.progress import Progress
from dpest.engine.streams import stream
from dpest.errors import MechanismError


class Stage(IntEnum):
    """What samples are for; each stage has streams of its own."""

    TRAIN = 0
    CHOOSE = 1
    FINAL = 2
    PROBE = 3


@dataclass(frozen=True)
class Where:
    """Where chunks run, and what watches them."""

    executor: Executor | Automatic | None = None
    checkpoint: Checkpoint | None = None
    progress: Progress | None = None


def chunk_size(sampler: Sampler) -> int:
    """Rows that fit the cache where they are drawn at once, fewer where each is a call."""
    return 1 << 16 if sampler.form in (Form.VECTORISED, Form.TRACED) else 1 << 13


@dataclass(frozen=True)
class DrawChunk:
    """Draws one chunk of outputs."""

    sampler: Sampler
    data: Any
    seed: int
    key: tuple[int, ...]
    first: int

    def __call__(self, index: int, count: int) -> Batch:
        return self.sampler.draw(self.data, count, stream(self.seed, *self.key, self.first + index))


@dataclass
class Supply:
    """Outputs of several inputs, kept by stage, extended when more are asked for."""

    sampler: Sampler
    inputs: Sequence[Any]
    seed: int
    where: Where
    runs: int = 0
    _kept: dict[tuple[int, Stage], list[Batch]] = field(default_factory=dict)

    def get(self, place: int, stage: Stage, count: int) -> Batch:
        """The first `count` outputs of one input in one stage (a whole number of chunks is drawn)."""
        kept = self._kept.setdefault((place, stage), [])
        have = sum(map(len, kept))
        size = min(chunk_size(self.sampler), max(count, 1))
        if have < count:
            missing = Chunks(count - have, size)
            work = DrawChunk(self.sampler, self.inputs[place], self.seed, (int(stage), place, have), 0)
            gathered = self._run(work, missing, f"{stage.name.lower()} {place} {have}")
            kept[:] = [joined([*kept, *gathered.state])]
            self.runs += gathered.done
        whole = kept[0]
        return whole if len(whole) == count else Batch(whole.values[:count], whole.names, whole.single)

    def _run(self, work: DrawChunk, chunks: Chunks, key: str) -> Gathered[list[Batch]]:
        empty: list[Batch] = []
        gathered = run_chunks(
            work,
            chunks,
            lambda state, batch: [*state, batch],
            empty,
            executor=self.where.executor,
            checkpoint=self.where.checkpoint,
            progress=self.where.progress,
            message="looking for the event",
            key=key,
        )
        if gathered.interrupted:
            raise KeyboardInterrupt
        return gathered

    def forget(self) -> None:
        """Drop what was kept."""
        self._kept.clear()


@dataclass(frozen=True)
class Tally:
    """Counts of some chunks, and what went wrong in them."""

    counts: Counts
    failure: str | None = None

    def __add__(self, other: Tally) -> Tally:
        # What comes after a failure is not counted, so that the counts are those of a run that stopped there.
        if self.failure is not None:
            return self
        return Tally(self.counts + other.counts, other.failure)


@dataclass(frozen=True)
class CountChunk:
    """Counts an event in one chunk of fresh outputs of both inputs."""

    sampler: Sampler
    left: Any
    right: Any
    event: Event
    seed: int
    first: int

    def __call__(self, index: int, count: int) -> Tally:
        try:
            hits = [self._hits(side, data, index, count) for side, data in enumerate((self.left, self.right))]
        except MechanismError as error:
            return Tally(Counts(), str(error))
        return Tally(Counts(hits[0], hits[1], count, count))

    def _hits(self, side: int, data: Any, index: int, count: int) -> int:
        rng = stream(self.seed, int(Stage.FINAL), side, self.first + index)
        return int(self.event.contains(self.sampler.draw(data, count, rng), rng).sum())


def count_event(work: CountChunk, count: int, where: Where) -> Gathered[Tally]:
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
    )
