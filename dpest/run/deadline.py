"""A limit on how long a block of work may take."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

from dpest.errors import OutOfTime

# Compiled code that does not look at signals gets this much longer before the process is ended. Code that also keeps the
# interpreter's lock, such as sum(range(10**12)), is not ended: nothing of Python runs beside it.
GRACE_SECONDS = 5.0


class TimeIsUp(KeyboardInterrupt):
    """Raised where the limit is reached: as with Ctrl-C, sampling keeps what it counted, and `except Exception` lets it by."""


@dataclass
class Limit:
    """Whether the limit was reached, also where the work went on to answer with what it had."""

    seconds: float | None
    reached: bool = False


@contextmanager
def deadline(seconds: float | None, exit_status: int | None = None) -> Iterator[Limit]:
    """Ends the block with `OutOfTime` after so many seconds; without a number, or outside the main thread, there is no limit.

    With an `exit_status`, code that does not return to Python in time ends the whole process with it. Inside another limit
    the one that ends sooner counts.
    """
    limit = Limit(seconds)
    if seconds is None or not _can_ring():
        yield limit
        return
    around, start = signal.getitimer(signal.ITIMER_REAL)[0], time.monotonic()
    if 0 < around <= seconds:
        yield limit
        return
    inside = True

    def ring(number: int, frame: FrameType | None) -> None:
        limit.reached = True
        if inside:
            raise TimeIsUp(f"more than {seconds:g} s")

    old = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    last = _last_resort(seconds, exit_status)
    try:
        yield limit
    except TimeIsUp as error:
        if not limit.reached:
            raise  # that of the limit around this one
        raise OutOfTime(f"there is no answer after {seconds:g} s") from error
    finally:
        inside = False
        signal.signal(signal.SIGALRM, old)
        signal.setitimer(signal.ITIMER_REAL, max(around - (time.monotonic() - start), 1e-3) if around else 0.0)
        last.cancel()


def _can_ring() -> bool:
    """Whether signals reach this thread, and the system has timers."""
    return threading.current_thread() is threading.main_thread() and hasattr(signal, "setitimer")


def _last_resort(seconds: float, exit_status: int | None) -> threading.Timer:
    timer = threading.Timer(seconds + GRACE_SECONDS, _give_up, (seconds, exit_status))
    timer.daemon = True
    if exit_status is not None:
        timer.start()
    return timer


def _give_up(seconds: float, status: int) -> None:
    sys.stderr.write(f"dpest: there is no answer after {seconds:g} s\n")
    sys.stderr.flush()
    os._exit(status)
