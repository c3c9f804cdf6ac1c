"""The clock during a trace: what the author's code reads is noted, and can be moved to see whether it decides anything."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from dpest.lang.generators.places import NOT_THE_AUTHORS
from dpest.lang.run import RUN

_NANOSECONDS = 10**9  # in a second


@dataclass
class Clock:
    """By how many seconds readings are moved, and whether there were any."""

    moved: float
    was_read: bool = False


_CLOCK: ContextVar[Clock | None] = ContextVar("dpest_clock", default=None)


@contextmanager
def clock_moved(seconds: float) -> Iterator[Clock]:
    """Inside the block, the author's code reads the clock that many seconds later."""
    clock = Clock(seconds)
    token = _CLOCK.set(clock)
    try:
        yield clock
    finally:
        _CLOCK.reset(token)


def _standing_in(real: Callable[[], Any]) -> Any:
    unit = _NANOSECONDS if real.__name__.endswith("_ns") else 1

    def function() -> Any:
        clock = _CLOCK.get()
        if clock is None or RUN.get() is None or not _asked_by_the_author(sys._getframe(1)):
            return real()
        clock.was_read = True
        return real() + type(real())(clock.moved * unit)

    function.__name__ = function.__qualname__ = real.__name__
    return function


def _asked_by_the_author(frame: Any) -> bool:
    name = frame.f_globals.get("__name__", "")
    return isinstance(name, str) and name.partition(".")[0] not in NOT_THE_AUTHORS


_BASE = ("time", "perf_counter", "monotonic", "process_time")
CLOCK_NAMES = frozenset((*_BASE, *(f"{name}_ns" for name in _BASE)))
CLOCKS: dict[int, Any] = {id(getattr(time, name)): _standing_in(getattr(time, name)) for name in sorted(CLOCK_NAMES)}
