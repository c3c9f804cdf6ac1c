"""Work in chunks: the same answer whatever the number of workers, the order they finish in, or an interruption."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import cloudpickle

from dpest.errors import InvalidInput
from dpest.run.checkpoint import Checkpoint
from dpest.run.executors import Automatic, call_pickled
from dpest.run.progress import Progress, silent
from dpest.run.storage import Storage

State = TypeVar("State")
Found = TypeVar("Found")
Work = Callable[[int, int], Found]

TASKS_PER_WORKER = 4  # handed out ahead: a worker never waits for the next one, and an interrupt loses few
UNKNOWN_WORKERS = 64  # a cluster that does not say how many it has: enough tasks for a large one


@dataclass(frozen=True)
class Chunks:
    """`total` samples in pieces of `size`; the last piece has what is left."""

    total: int
    size: int

    def __post_init__(self) -> None:
        if self.total < 0 or self.size < 1:
            raise InvalidInput(f"chunks need total >= 0 and size >= 1, got total={self.total!r}, size={self.size!r}")

    def __len__(self) -> int:
        return (self.total + self.size - 1) // self.size

    def count(self, index: int) -> int:
        """The number of samples in one chunk."""
        return min(self.size, self.total - index * self.size)


@dataclass(frozen=True)
class Gathered(Generic[State]):
    """What the chunks came to: the folded state, the samples in it, and whether Ctrl-C ended it early."""

    state: State
    done: int
    interrupted: bool


def run_chunks(
    work: Work[Found],
    chunks: Chunks,
    merge: Callable[[State, Found], State],
    initial: State,
    *,
    executor: Executor | Automatic | None = None,
    checkpoint: Checkpoint | None = None,
    progress: Progress | None = None,
    message: str = "sampling",
    key: str = "",
    known: tuple[type, ...] = (),
) -> Gathered[State]:
    """Fold `work(index, count)` over all chunks, in the order of their index.

    `work` depends on its arguments alone; `merge` returns a new state. Ctrl-C ends the fold at a whole chunk. What a
    checkpoint holds under `key` is not computed again; `known` are the classes of what it holds.
    """
    show = silent if progress is None else progress
    state, done = initial, 0
    show(done, chunks.total, message)
    try:
        for index, found in _in_order(work, chunks, executor, _Kept(checkpoint, key, Storage(known))):
            state, done = merge(state, found), done + chunks.count(index)
            show(done, chunks.total, message)
    except KeyboardInterrupt:
        return Gathered(state, done, interrupted=True)
    return Gathered(state, done, interrupted=False)


@dataclass(frozen=True)
class _Kept:
    """The finished chunks of one fold."""

    checkpoint: Checkpoint | None
    key: str
    storage: Storage

    def get(self, index: int) -> tuple[Any] | None:
        content = None if self.checkpoint is None else self.checkpoint.get(index, self.key)
        return None if content is None else (self.storage.loads(content),)

    def put(self, index: int, found: Any) -> None:
        if self.checkpoint is not None:
            self.checkpoint.put(index, self.storage.dumps(found), self.key)


def _in_order(
    work: Work[Found], chunks: Chunks, executor: Executor | Automatic | None, kept: _Kept
) -> Iterator[tuple[int, Found]]:
    if isinstance(executor, Automatic | None):
        return _here(work, chunks, executor, kept)
    return _elsewhere(work, chunks, executor, kept, 0)


def _here(work: Work[Found], chunks: Chunks, automatic: Automatic | None, kept: _Kept) -> Iterator[tuple[int, Found]]:
    """In this process; with an executor that starts when it is worth it, from then on there."""
    spent, computed = 0.0, 0
    for index in range(len(chunks)):
        stored = kept.get(index)
        if stored is None:
            if automatic is not None and automatic.worth_it(spent, computed, len(chunks) - index):
                yield from _elsewhere(work, chunks, automatic.pool(), kept, index)
                return
            start = time.perf_counter()
            stored = (work(index, chunks.count(index)),)
            spent, computed = spent + time.perf_counter() - start, computed + 1
            kept.put(index, stored[0])
        yield index, stored[0]


def _elsewhere(work: Work[Found], chunks: Chunks, executor: Executor, kept: _Kept, first: int) -> Iterator[tuple[int, Found]]:
    payload = cloudpickle.dumps(work)
    ahead = TASKS_PER_WORKER * _width(executor)
    waiting: dict[Future[Found], int] = {}
    ready: dict[int, Found] = {}
    asked = first
    try:
        for index in range(first, len(chunks)):
            while asked < min(len(chunks), index + ahead):
                stored = kept.get(asked)
                if stored is None:
                    waiting[executor.submit(call_pickled, payload, asked, chunks.count(asked))] = asked
                else:
                    ready[asked] = stored[0]
                asked += 1
            while index not in ready:
                _collect(waiting, ready, kept)
            yield index, ready.pop(index)
    finally:
        for future in waiting:
            future.cancel()


def _collect(waiting: dict[Future[Found], int], ready: dict[int, Found], kept: _Kept) -> None:
    finished, _ = wait(waiting, return_when=FIRST_COMPLETED)
    for future in finished:
        found = future.result()
        index = waiting.pop(future)
        kept.put(index, found)
        ready[index] = found


def _width(executor: Executor) -> int:
    workers = getattr(executor, "workers", getattr(executor, "_max_workers", None))
    return workers if isinstance(workers, int) else UNKNOWN_WORKERS
