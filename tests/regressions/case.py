"""One wrong answer that was seen: the mechanism, the pair, and the truth from an oracle that is not the engine."""

from __future__ import annotations

import resource
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from types import FrameType
from typing import Any

import dpest
from dpest.errors import DpestError
from tests.oracles.truth import Truth

SECONDS = 60  # an answer that takes longer counts as a hang
MEMORY = 8 << 30  # bytes of address space an answer may ask for beyond which it fails instead of the machine


class Refusal(Enum):
    """Whether the engine may decline to answer."""

    NEVER = "exactness can be had"
    ALLOWED = "an answer, if given, must be right"
    REQUIRED = "no exact answer can be right"


@dataclass(frozen=True)
class Case:
    """A mechanism `mechanism(x, d)` with `d = dpest`, a pair, and what is true of it."""

    name: str
    mechanism: Callable[[Any, Any], Any]
    pair: tuple[Any, Any]
    truth: Callable[[], Truth]
    narrow: float | None = 1e-9  # the widest bracket where exactness can be had; None where any sound one will do
    refusal: Refusal = Refusal.NEVER
    deltas: tuple[tuple[float, Callable[[], Truth]], ...] = ()
    reaches: float = 0.0  # how large the lower end must be where an infinite loss is not proved


@dataclass(frozen=True)
class Said:
    """What the engine said: a bracket, or the name and text of an error."""

    lower: float = 0.0
    upper: float = 0.0
    result: Any = None
    error: BaseException | None = None

    @property
    def refused(self) -> bool:
        """Whether it declined with an error of its own."""
        return isinstance(self.error, DpestError)

    def __str__(self) -> str:
        if self.error is not None:
            return f"{type(self.error).__name__}: {str(self.error).splitlines()[0] if str(self.error) else ''}"[:110]
        return f"[{self.lower:.12g}, {self.upper:.12g}]"


class Hang(BaseException):
    """The time limit was reached; no `except Exception` on the way may take it for an error of the mechanism."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """A limit on processor time (a busy machine is no hang), and one on memory, for the main thread of a process."""

    def stop(signum: int, frame: FrameType | None) -> None:
        raise Hang(f"no answer in {seconds:g} s")

    before = signal.signal(signal.SIGPROF, stop)
    limits = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, limits[1]))
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
        resource.setrlimit(resource.RLIMIT_AS, limits)


def asked(case: Case, seconds: float = SECONDS) -> Said:
    """The engine's answer to a case."""
    return ask(lambda x: case.mechanism(x, dpest), case.pair, seconds)


def ask(mechanism: Callable[[Any], Any], pair: tuple[Any, Any], seconds: float = SECONDS) -> Said:
    """The engine's exact answer, or the error it ended in."""
    try:
        with limited(seconds):
            r = dpest.estimate(mechanism, pair, method="exact")
    except (Exception, Hang) as error:
        return Said(error=error)
    return Said(r.lower, r.upper, r)


def verdict(case: Case, said: Said, truth: Truth) -> str:
    """ "ok", or what is wrong with the answer."""
    if said.error is not None:
        if not said.refused:
            return "hang" if isinstance(said.error, Hang) else "crash"
        if not str(said.error):
            return "refused without a reason"
        return "ok" if case.refusal is not Refusal.NEVER else "refused"
    if case.refusal is Refusal.REQUIRED:
        return "answered"
    if not truth.allows(said.lower, said.upper):
        return "WRONG"
    if said.lower < case.reaches:
        return "low"
    if case.narrow is not None and truth.exact and said.upper != said.lower and not said.upper - said.lower <= case.narrow:
        return "wide"
    for epsilon, true_delta in case.deltas:
        found = said.result.delta(epsilon)
        if not true_delta().allows(found.lower, found.upper):
            return f"WRONG delta({epsilon:g})"
    return "ok"
