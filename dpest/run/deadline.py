"""A limit on how long a block of work may take."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

from dpest.errors import OutOfTime

GRACE_SECONDS = 5.0  # compiled code that does not look at signals gets this much longer before the process is ended


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

    With an `exit_status`, code that does not return to Python in time ends the whole process with it.
    """
    limit = Limit(seconds)
    if seconds is None or threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield limit
        return
    inside = True

    def ring(number: int, frame: FrameType | None) -> None:
        limit.reached = True
        if inside:
            raise TimeIsUp(f"more than {seconds:g} s")

    old = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    last = None if exit_status is None else threading.Timer(seconds + GRACE_SECONDS, _give_up, (seconds, exit_status))
    if last is not None:
        last.daemon = True
        last.start()
    try:
        yield limit
    except TimeIsUp as error:
        raise OutOfTime(f"there is no answer after {seconds:g} s") from error
    finally:
        inside = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
        if last is not None:
            last.cancel()


def _give_up(seconds: float, status: int) -> None:
    sys.stderr.write(f"dpest: there is no answer after {seconds:g} s\n")
    sys.stderr.flush()
    os._exit(status)
