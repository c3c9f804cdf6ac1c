"""A limit on time: it ends Python code, keeps what was counted, and nests."""

from __future__ import annotations

import itertools
import signal
import subprocess
import sys
from contextlib import suppress

import pytest

from dpest.errors import OutOfTime
from dpest.run.deadline import deadline

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no interval timers")


def forever() -> None:
    for _ in itertools.count():
        pass


def test_it_ends_endless_work() -> None:
    with pytest.raises(OutOfTime, match="no answer after 0.05 s"), deadline(0.05):
        forever()
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def stubborn() -> None:
    while True:
        with suppress(Exception):
            forever()


def test_work_that_swallows_exceptions_is_ended_too() -> None:
    with pytest.raises(OutOfTime), deadline(0.05):
        stubborn()


def test_no_limit_and_work_in_time() -> None:
    with deadline(None) as none, deadline(60) as long:
        pass
    assert not none.reached
    assert not long.reached


def test_an_answer_with_what_was_counted_is_marked() -> None:
    with deadline(0.05) as limit, suppress(KeyboardInterrupt):  # as sampling does
        forever()
    assert limit.reached


def test_the_sooner_of_two_limits_counts() -> None:
    with pytest.raises(OutOfTime, match="after 0.05 s"), deadline(0.05), deadline(60):
        forever()
    with pytest.raises(OutOfTime, match="after 0.3 s"), deadline(0.3):
        twice()


def twice() -> None:
    with pytest.raises(OutOfTime, match="after 0.05 s"), deadline(0.05):
        forever()
    forever()


def test_code_that_does_not_look_at_signals_ends_the_process() -> None:
    program = (
        "import hashlib, dpest.run.deadline as d; d.GRACE_SECONDS = 0.1\n"
        "with d.deadline(0.1, exit_status=2):\n"
        "    hashlib.pbkdf2_hmac('sha256', b'', b'', 10**9)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (2, "dpest: there is no answer after 0.1 s\n")
