"""What a run of a mechanism must share with its replays: the draws in their order, the conditions, the output."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from dpest.errors import NotReplayable
from dpest.lang.nodes import Compare, Draw, Function, Linear, Node, children, is_node
from dpest.laws.law import Law
from dpest.trace.outputs import Flat

Pool = dict[tuple[int, int], Draw]  # by place in the run, and id of the law (which the draw keeps alive)


class Unusual(Exception):
    """A side of an `if` that may only be looked at where it is taken."""


class _Unbound:
    """What a name that has no value yet stands for while the sides of an `if` are worked out."""

    def __eq__(self, other: object) -> bool:
        raise Unusual

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        raise Unusual


UNBOUND = _Unbound()


def unless_unbound(value: Callable[[], Any]) -> Any:
    """The value of a name, if it has one."""
    try:
        return value()
    except NameError:
        return UNBOUND


Guard = tuple[tuple[Node, bool], ...]  # conditions, and which way each must go


class Replay:
    """The draws of a run; those that were made before come again, in the same order.

    A run whose code keeps the sides of an `if` together also knows which of them came together when it was first run, and
    under which conditions each draw is made.
    """

    together = False
    counted = False  # whether a loop that only counts was one draw
    closed = False  # whether a loop that counts was one draw, whose law has a closed form
    by_states = False  # whether a run goes from state to state: numbers are known early, and laws may be cut off in their tails
    log_left_out = -math.inf  # ln of what the laws of functions that were one draw leave out

    def __init__(self, draws: Sequence[Draw], joined: Sequence[bool] = (), pool: Pool | None = None) -> None:
        self.draws = list(draws)
        self.drawn = 0
        self._pool = {} if pool is None else pool
        self.joined = list(joined)
        self.tried = 0
        self.under: Guard = ()
        self.guards: dict[Draw, Guard] = {}
        self.ints: dict[int, Node] = {}  # values that the program has made ints of, by their ids

    def attempt(self, sides: Callable[[], Any]) -> Any:
        """What both sides of a condition come to; None where only the one that is taken may be looked at."""
        if self.under:  # inside a side: it fails as a whole, or not
            return sides()
        k = self.tried
        self.tried = k + 1
        if k < len(self.joined) and not self.joined[k]:
            return None
        drawn, known = self.drawn, len(self.draws)
        try:
            found = sides()
        except Exception:
            if k < len(self.joined):
                raise
            self.drawn, found = drawn, None
            for node in self.draws[known:]:
                self.guards.pop(node, None)
            del self.draws[known:]
        if k == len(self.joined):
            self.joined.append(found is not None)
        return found

    @contextmanager
    def inside(self, condition: Node, holds: bool) -> Iterator[None]:
        """Works out a side that is taken only where the condition goes this way."""
        before = self.under
        self.under = (*before, (condition, holds))
        try:
            yield
        finally:
            self.under = before

    def draw(self, law: Law) -> Node:
        """A fresh value; in a replay, the value that stood here before."""
        node = self._drawn(law)
        if self.under:
            self.guards[node] = self.under
        return node

    def _drawn(self, law: Law) -> Draw:
        k = self.drawn
        self.drawn = k + 1
        if k < len(self.draws):
            node = self.draws[k]
            if node.law is not law and node.law != law:
                raise differs(f"draw {k + 1} was {node.law.words()}, then {law.words()}")
            return node
        # Runs exclude each other: one object stands for the k-th draw of a law in all of them, and so does what is made of it.
        known = self._pool.get((k, id(law)))
        if known is None:
            known = self._pool[k, id(law)] = Draw(law)
        self.draws.append(known)
        return known


def mark(condition: Node) -> Any:
    """What is compared when a condition comes again in a replay."""
    return condition.value.constant if isinstance(condition, Compare) else type(condition)


def differs(what: str) -> NotReplayable:
    """The error for a mechanism with randomness or state of its own."""
    return NotReplayable(
        f"the mechanism behaves differently when it is run again ({what}): keep no state between runs, take no seed from a "
        "clock, and draw with random, secrets, numpy.random or dpest, by methods that are called in the mechanism's own code"
    )


def same_output(a: Flat, b: Flat) -> bool:
    """Whether two outputs are the same expression of the same draws."""
    known: dict[tuple[int, int], bool] = {}
    return a.structure == b.structure and all(_same(x, y, known) for x, y in zip(a.leaves, b.leaves, strict=True))


def _same(x: Any, y: Any, known: dict[tuple[int, int], bool]) -> bool:
    if not is_node(x) or not is_node(y):
        equal = x == y
        if isinstance(equal, np.ndarray):
            return np.shape(x) == np.shape(y) and bool(equal.all())
        return bool(equal) or (isinstance(x, float) and isinstance(y, float) and math.isnan(x) and math.isnan(y))
    if x is y:
        return True
    key = id(x), id(y)
    if key not in known:  # outputs share parts of the graph
        known[key] = _same_node(x, y, known)
    return known[key]


def _same_node(x: Any, y: Any, known: dict[tuple[int, int], bool]) -> bool:
    if type(x) is not type(y) or isinstance(x, Draw):
        return False
    if isinstance(x, Linear) and (x.constant != y.constant or [c for _, c in x.terms] != [c for _, c in y.terms]):
        return False
    if isinstance(x, Function) and x.function != y.function:
        return False
    a, b = children(x), children(y)
    return len(a) == len(b) and all(_same(p, q, known) for p, q in zip(a, b, strict=True))
