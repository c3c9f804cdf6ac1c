"""The run of a mechanism that is under way: what draws and `if` statements turn to."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any, Protocol

from dpest.lang.nodes import Node
from dpest.laws.law import Law
from dpest.numerics.setting import Setting


class Run(Protocol):
    """What a run of a mechanism does when the author's code needs something of it."""

    def draw(self, law: Law) -> Any:
        """A fresh `Draw`; in a replay, the one that stood here before; in a run on plain numbers, a number."""

    def decide(self, condition: Node) -> bool:
        """Which way an `if` on a random condition goes in this run."""


RUN: ContextVar[Run | None] = ContextVar("dpest_run", default=None)


def on_plain_numbers() -> bool:
    """Whether the mechanism runs on plain numbers now: a number may then stand for a random value."""
    return bool(getattr(RUN.get(), "plain", False))


def at_once(condition: Any) -> Any:
    """A comparison; the truth value that it has, in a run that decides each where it is made."""
    return bool(condition) if getattr(RUN.get(), "at_once", False) else condition


def shown(x: Any) -> str:
    """A value in an error message: inside a run, random values have a text for this purpose alone."""
    with Setting(RUN, None):
        return repr(x)
