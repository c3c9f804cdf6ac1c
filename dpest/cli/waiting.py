"""While an answer is worked out: a sign of life on standard error, and a limit on time."""

from __future__ import annotations

import functools
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, TextIO, TypeVar

import click

from dpest.cli.main import WRONG_USE
from dpest.errors import InvalidInput

F = TypeVar("F", bound=Callable[..., Any])
PATIENCE_SECONDS = 2.0  # an answer that comes sooner needs no sign of life
LINE_SECONDS = 10.0  # where lines are kept, as in a log


class Waiting:
    """Says that exact work goes on; as soon as samples are counted, their own bar takes over."""

    def __init__(self, name: str, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._name = name
        self._stream = stream
        self._clock = clock
        self._start = clock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._bar: Any = None

    def __call__(self, done: int, total: int, message: str) -> None:
        """Progress of samples, as `dpest.estimate` reports it."""
        if self._bar is None:
            from dpest.run.progress import Bar

            self._quiet()
            self._bar = Bar(self._stream).__enter__()
        self._bar(done, total, message)

    def words(self) -> str:
        """What is said."""
        return f"dpest: exact work on {self._name}, {self._clock() - self._start:.0f} s so far (--timeout S limits it)"

    def _run(self) -> None:
        terminal = self._stream.isatty()
        wait = PATIENCE_SECONDS if terminal else LINE_SECONDS
        while not self._stop.wait(wait):
            self._stream.write(f"\r\x1b[2K{self.words()}" if terminal else f"{self.words()}\n")
            self._stream.flush()
            wait = 1.0 if terminal else LINE_SECONDS

    def _quiet(self) -> None:
        self._stop.set()
        self._thread.join()
        if self._stream.isatty() and self._clock() - self._start > PATIENCE_SECONDS:
            self._stream.write("\r\x1b[2K")
            self._stream.flush()

    def __enter__(self) -> Waiting:
        self._thread.start()
        return self

    def __exit__(self, *problem: Any) -> None:
        self._quiet()
        if self._bar is not None:
            self._bar.__exit__(*problem)


def timeout_option(command: F) -> F:
    """`--timeout S`: without an answer by then the command ends with status 2; sampling prints what it counted until then."""

    @click.option("--timeout", type=float, metavar="S", help="Give up after S seconds (exit status 2).")
    @functools.wraps(command)
    def limited(timeout: float | None, **options: Any) -> Any:
        from dpest.run.deadline import deadline

        if timeout is not None and not 0 < timeout < float("inf"):
            raise InvalidInput(f"a time limit is a positive number of seconds, got {timeout:g}: write --timeout 60")
        with deadline(timeout, exit_status=WRONG_USE) as limit:
            status = command(**options)
        if limit.reached:
            click.echo(f"dpest: stopped after {timeout:g} s: this is the answer so far", err=True)
        return WRONG_USE if limit.reached else status

    return limited  # type: ignore[return-value]


def waiting(name: str) -> Waiting:
    """The sign of life for one question, on standard error."""
    return Waiting(name, sys.stderr)
