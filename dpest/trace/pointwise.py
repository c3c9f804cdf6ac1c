"""A chain of states on the program's own numbers: a draw with few points is looked at as soon as it is made.

What the program computes from then on are plain numbers, texts and containers, as in an ordinary run: whatever Python and NumPy
do with them is right, a replay costs next to nothing, and states are compared by what they hold. Where few such draws are
still read at a time (walks, counters, a state that is stepped on) there are few states; a program that keeps
fifty coins has too many, and is left to other ways.
"""

from __future__ import annotations

import sys
from types import CodeType, FrameType
from typing import Any, NoReturn

from dpest.errors import ExactRefused
from dpest.lang.generators.seeds import seeded
from dpest.lang.nodes import Node
from dpest.laws.discrete import Atoms
from dpest.laws.law import Discrete, Law
from dpest.trace.atomic import point
from dpest.trace.chain import ChainRun, has_few
from dpest.trace.execute import Abandoned, returned
from dpest.trace.frames import variables_and
from dpest.trace.plain_run import as_drawn
from dpest.trace.snapshot import Hidden
from dpest.trace.stack import held_variables
from dpest.trace.standing import SAMPLERS, is_shown
from dpest.trace.states import KnownValues, one_point
from dpest.trace.unordered import without_orders

_NONE: frozenset[str] = frozenset()


class PointRun(ChainRun):
    """A run that takes draws with few points as plain numbers, and stops in front of the first draw that shows its state."""

    at_once = True  # comparisons are decided where they are made

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._asked: FrameType | None = None  # what the last draw was asked of

    def look_back(self, condition: Node) -> None:
        """States are looked for in front of draws alone."""

    def draw(self, law: Law) -> Any:
        """A fresh value; the number that it is, where it has few points."""
        if isinstance(law, Discrete) and not law.finite:  # a loop that steps up to it has no state here before its end
            self._refuse("a draw without a last point is left to other ways")
        if isinstance(law, Atoms) and not law.counts and any(map(float.is_integer, law.points)):
            self._refuse("a number that may be 1, 1.0 or True is left to other ways")
        known = len(self.draws)
        if self.drawn >= known - 1:
            entry, frames = _frames(returned.__code__)
            again = entry is self._asked  # one of several draws of one call: what it has drawn so far cannot be seen
            self._asked = entry
            if self.drawn >= known and self.drawn > self.first and not again and entry is not None:
                self.state = _state(entry, frames, KnownValues(self.bounds))
                if self.state is not None:
                    raise Abandoned
        node = self._drawn(law)
        if not has_few(node):
            return node
        number = one_point(node, self.bounds)
        return as_drawn(law, point(node, self) if number is None else number)

    def _refuse(self, why: str) -> NoReturn:
        self.over = ExactRefused(why)
        raise self.over


def _frames(end: CodeType) -> tuple[FrameType | None, list[FrameType]]:
    """The function of ours that the author's code has called, and the frames of the author's code; innermost first."""
    frame: FrameType | None = sys._getframe(2)
    entry = None
    while frame is not None and frame.f_globals.get("__name__", "").startswith(("dpest.lang.", SAMPLERS)):
        entry, frame = frame, frame.f_back
    frames = []
    while frame is not None and frame.f_code is not end:
        if frame.f_globals.get("__name__") != SAMPLERS:
            frames.append(frame)
        frame = frame.f_back
    return entry, frames


def _state(entry: FrameType, frames: list[FrameType], seen: KnownValues) -> Any:
    """Where every frame stands, what it can still read, and what is asked for; None where that cannot be seen."""
    if seeded() or not frames:
        return None
    on_stacks = [held_variables(f) for f in frames]
    if None in on_stacks or not is_shown(frames, entry):
        return None
    try:
        read = (without_orders(f, variables_and(f, x or _NONE)) for f, x in zip(frames, on_stacks, strict=True))
        held = tuple((f.f_code, f.f_lasti, seen.of(x)) for f, x in zip(frames, read, strict=True))
        state = held, entry.f_code, seen.of(_arguments(entry))
        hash(state)
    except (Hidden, TypeError, ValueError, RecursionError):
        return None
    return None if seen.open else state


def _arguments(frame: FrameType) -> list[Any]:
    code = frame.f_code
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)]
    return [frame.f_locals[name] for name in names if name in frame.f_locals]
