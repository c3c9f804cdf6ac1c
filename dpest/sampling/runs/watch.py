"""A time limit on one call of a mechanism."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from dpest.errors import MechanismError
from dpest.inputs.shown import brief


class MechanismHangs(MechanismError):
    """One call of the mechanism did not end within the time limit."""

    def __init__(self, seconds: float, data: Any) -> None:
        super().__init__(f"the mechanism did not answer within {seconds:g} s on the input {brief(data)}")
        self.seconds = seconds


@contextmanager
def deadline(seconds: float | None, data: Any) -> Iterator[None]:
    """Raise `MechanismHangs` if the body takes longer; needs a Unix main thread, and does nothing elsewhere."""
    if seconds is None or not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def expired(number: int, frame: FrameType | None) -> None:
        assert seconds is not None
        raise MechanismHangs(seconds, data)

    before = signal.signal(signal.SIGALRM, expired)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
