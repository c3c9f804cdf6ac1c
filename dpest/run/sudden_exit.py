"""A mechanism cannot end the process behind the back of a check."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn


class SuddenExit(BaseException):
    """The mechanism called `os._exit`, which would end the process with a status that reads as a verdict."""


@contextmanager
def no_sudden_exit() -> Iterator[None]:
    """`os._exit` in this process raises instead of ending it; other threads, and processes forked from it, may use it."""
    real, owner = os._exit, os.getpid()

    def refused(status: int) -> NoReturn:
        if os.getpid() != owner or threading.current_thread() is not threading.main_thread():
            real(status)
        raise SuddenExit(f"os._exit({status!r})")

    os._exit = refused
    try:
        yield
    finally:
        os._exit = real
