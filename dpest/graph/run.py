"""The run of a mechanism that is under way: what draws and `if` statements turn to."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Protocol

from dpest.graph.nodes import Node
from dpest.laws.law import Law


class Run(Protocol):
    """What a run of a mechanism on stand-ins does when the author's code needs something of it."""

    def draw(self, law: Law) -> Node:
        """A fresh value; in a replay, the value that stood here before."""

    def decide(self, condition: Node) -> bool:
        """Which way an `if` on a random condition goes in this run."""


RUN: ContextVar[Run | None] = ContextVar("dpest_run", default=None)
