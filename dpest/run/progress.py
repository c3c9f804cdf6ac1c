"""Progress reporting for long runs: a bar on standard error, or a callback."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Protocol, TextIO

PATIENCE_SECONDS = 2.0  # work that is over by then shows no bar
LINE_SECONDS = 10.0  # between lines where the output is no terminal


class Progress(Protocol):
    """Called with what is done (samples, or parts of a proof), the total, and what is being done."""

    def __call__(self, done: int, total: int, message: str) -> None: ...


def silent(done: int, total: int, message: str) -> None:
    """Show nothing."""


@contextmanager
def showing(progress: Progress | bool | None, unit: str = "samples") -> Iterator[Progress]:
    """What work in these units reports to: a bar on a terminal, a bar wherever it is asked for, a callback or nothing."""
    if progress is True or (progress is None and sys.stderr.isatty()):
        with Bar(unit=unit) as bar:
            yield bar
    else:
        yield progress if callable(progress) else silent


class Bar:
    """A progress bar that appears only when the run lasts longer than two seconds."""

    def __init__(
        self, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic, unit: str = "samples"
    ) -> None:
        self._unit = unit
        self._stream = sys.stderr if stream is None else stream
        self._clock = clock
        self._start = clock()
        self._last_line = -LINE_SECONDS
        self._rich: Any = None
        self._shown = False
        self._latest: tuple[int, int, str] | None = None
        self._lock = threading.Lock()
        self._wake = threading.Timer(PATIENCE_SECONDS, self._show_latest)
        self._wake.daemon = True

    def _show_latest(self) -> None:
        if self._latest is not None:
            self(*self._latest)

    def __call__(self, done: int, total: int, message: str) -> None:
        self._latest = (done, total, message)
        with self._lock:
            self._show(done, total, message)

    def _show(self, done: int, total: int, message: str) -> None:
        now = self._clock() - self._start
        if now < PATIENCE_SECONDS:
            return
        if self._stream.isatty():
            self._on_terminal(done, total, message, now)
        elif now - self._last_line >= LINE_SECONDS:
            self._last_line = now
            self._stream.write(f"dpest: {_words(done, total, message, now, self._unit)}\n")
            self._stream.flush()
        self._shown = True

    def _on_terminal(self, done: int, total: int, message: str, now: float) -> None:
        if self._rich is None:
            self._rich = _rich_bar(self._stream)
        if self._rich is False:
            self._stream.write(f"\r\x1b[2Kdpest: {_words(done, total, message, now, self._unit)}")
            self._stream.flush()
        else:
            self._rich.update(self._rich.task_ids[0], completed=done, total=total, description=message)

    def __enter__(self) -> Bar:
        self._wake.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None) -> None:
        self._wake.cancel()
        if self._rich:
            self._rich.stop()
        elif self._shown and self._stream.isatty():
            self._stream.write("\r\x1b[2K")
            self._stream.flush()


def _words(done: int, total: int, message: str, seconds: float, unit: str) -> str:
    left = seconds * (total - done) / done if done else 0.0
    return f"{message}: {done:,} of {total:,} {unit} ({100 * done // max(total, 1)} %), about {left:.0f} s left"


def _rich_bar(stream: TextIO) -> Any:
    try:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as RichProgress
    except ImportError:
        return False
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    bar = RichProgress(*columns, console=Console(file=stream), transient=True)
    bar.add_task("sampling", total=None)
    bar.start()
    return bar
