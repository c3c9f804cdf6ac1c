"""Where chunks run: in this process, in a pool of own processes, or on any Executor."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import lru_cache
from multiprocessing import current_process, parent_process
from multiprocessing import spawn as spawn_module
from multiprocessing.context import SpawnContext, SpawnProcess
from typing import Any

import cloudpickle
import numpy as np

from dpest.errors import InvalidInput, MechanismError

DEATHS_IN_A_ROW = 5  # of processes without a single answer in between: then the work itself kills them
PAYS_FROM_SECONDS = 6.0  # a pool costs one to two seconds to start


def resolve_executor(workers: int | Executor | Automatic | None) -> Executor | Automatic | None:
    """None and 1 mean this process, a number a pool of as many processes, anything else an Executor as it is."""
    if workers is None or isinstance(workers, Executor | Automatic):
        return workers
    if isinstance(workers, bool) or not isinstance(workers, int | np.integer):
        raise InvalidInput(
            f"executor must be a number of processes or a concurrent.futures.Executor, got {workers!r}; "
            "for a Dask client write client.get_executor(pure=False)"
        )
    if workers < 1:
        raise InvalidInput(f"the number of workers must be at least 1, got {workers!r}")
    return None if workers == 1 else SpawnPool(int(workers))


@contextmanager
def opened(workers: int | Executor | Automatic | None) -> Iterator[Executor | Automatic | None]:
    """The executor for the length of a question; closed at the end only if it was made here."""
    executor = resolve_executor(workers)
    try:
        yield executor
    finally:
        if isinstance(executor, Automatic) or (executor is not workers and executor is not None):
            executor.shutdown(wait=True, cancel_futures=True)


def available_cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def call_pickled(payload: bytes, *args: Any) -> Any:
    """Call the function in a cloudpickle; what runs in a worker."""
    return _unpickled(payload)(*args)


@lru_cache(maxsize=8)
def _unpickled(payload: bytes) -> Callable[..., Any]:
    function: Callable[..., Any] = cloudpickle.loads(payload)
    return function


class SpawnPool(Executor):
    """A pool of fresh processes that is rebuilt, and its unfinished work sent again, when one of them dies."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._lock = threading.RLock()
        self._pool: ProcessPoolExecutor | None = None
        self._deaths = 0
        self._closed = False

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Call in a worker; a worker's death is not seen from here, unless every attempt ends so."""
        task: _Task = (Future(), cloudpickle.dumps(fn), args, kwargs)
        self._send(task)
        return task[0]

    def pids(self) -> list[int]:
        """The process ids of the workers that are alive now."""
        with self._lock:
            return sorted(getattr(self._pool, "_processes", None) or ())

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the workers."""
        with self._lock:
            self._closed = True
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=wait, cancel_futures=cancel_futures)

    def _send(self, task: _Task) -> None:
        _, payload, args, kwargs = task
        with self._lock:
            if self._closed:
                raise RuntimeError("this pool was shut down")
            if self._pool is None:
                self._pool = ProcessPoolExecutor(self.workers, mp_context=_Context(), initializer=_prepare_worker)
            pool = self._pool
            try:
                inner = pool.submit(_call, payload, args, kwargs)
            except BrokenProcessPool:
                self._discard(pool)
                return self._send(task)
        inner.add_done_callback(lambda done: self._settle(task, pool, done))

    def _settle(self, task: _Task, pool: ProcessPoolExecutor, inner: Future[Any]) -> None:
        outer = task[0]
        if inner.cancelled():
            _cancel(outer)
            return
        error = inner.exception()
        if isinstance(error, BrokenProcessPool):
            self._discard(pool)
            self._again(task, error)
        elif error is not None:
            self._finish(outer, lambda: outer.set_exception(error))
        else:
            self._deaths = 0
            self._finish(outer, lambda: outer.set_result(inner.result()))

    def _again(self, task: _Task, error: BaseException) -> None:
        outer = task[0]
        if self._closed or outer.cancelled():
            _cancel(outer)
        elif self._deaths >= DEATHS_IN_A_ROW:
            failure = MechanismError(
                f"{self._deaths} workers died in a row without finishing anything: out of memory, or a crash in the mechanism"
            )
            failure.__cause__ = error
            self._finish(outer, lambda: outer.set_exception(failure))
        else:
            self._send(task)

    @staticmethod
    def _finish(outer: Future[Any], settle: Callable[[], None]) -> None:
        if outer.set_running_or_notify_cancel():
            settle()

    def _discard(self, pool: ProcessPoolExecutor) -> None:
        with self._lock:
            if self._pool is pool:
                self._pool = None
                self._deaths += 1


class Automatic:
    """Starts in this process; a pool of all cores takes over when what is left would take long."""

    def __init__(self, workers: int | None = None) -> None:
        self.workers = available_cores() if workers is None else workers
        self._pool: SpawnPool | None = None

    def pool(self) -> SpawnPool:
        """The pool, started at the first call."""
        if self._pool is None:
            self._pool = SpawnPool(self.workers)
        return self._pool

    def worth_it(self, spent: float, done: int, left: int) -> bool:
        """Whether other processes would repay their start, by the time that the work took so far."""
        if self._pool is not None:
            return True
        may_have_children = not current_process().daemon
        return may_have_children and self.workers > 1 and spent * left > PAYS_FROM_SECONDS * done

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the workers, if there are any."""
        if self._pool is not None:
            self._pool.shutdown(wait=wait, cancel_futures=cancel_futures)


_Task = tuple[Future[Any], bytes, tuple[Any, ...], dict[str, Any]]


def _cancel(future: Future[Any]) -> None:
    if future.cancel() and not future.done():
        future.set_running_or_notify_cancel()


def _call(payload: bytes, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return _unpickled(payload)(*args, **kwargs)


def _prepare_worker() -> None:
    # Ctrl-C goes to the whole process group: the parent alone decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Workers hold both ends of their queue, so they would outlive a killed parent.
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


_launch = threading.Lock()


class _Process(SpawnProcess):
    """A spawned process that does not run the caller's script again: cloudpickle sends what it needs by value."""

    @staticmethod
    def _Popen(process_obj: Any) -> Any:
        with _launch:
            original = spawn_module.get_preparation_data
            spawn_module.get_preparation_data = lambda name: {
                k: v for k, v in original(name).items() if not k.startswith("init_main")
            }
            try:
                return SpawnProcess._Popen(process_obj)
            finally:
                spawn_module.get_preparation_data = original


class _Context(SpawnContext):
    Process = _Process
