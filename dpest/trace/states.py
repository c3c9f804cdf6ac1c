"""The state of a run at a decision: all that the author's code can still read, as plain numbers and as fresh draws.

A state is where every frame stands, what it can still read (variables, what they lead to, half-worked expressions), and the
condition that is asked. Two runs in one state go on with the same law. Of the draws behind what can still be read, and behind
the condition,

1. those that some condition has spoken of have been looked at until one point was left, and that point is part of the state:
   what is known of them is said in full, and they are random no more;
2. of the others nothing is known: they have the laws that the state names, and are independent of each other and of all that
   happened, whatever it was. How the values are made of them is part of the state;
3. draws that are made later are independent of both, and which law they have follows from the code and what it reads.

A decision at which one of these cannot be had is no state: the run goes on to the next one.
"""

from __future__ import annotations

from types import CodeType, FrameType
from typing import Any

from dpest.lang.dist import Dist
from dpest.lang.generators.seeds import seeded
from dpest.lang.nodes import Draw, Linear, Node, children, draws_of, is_node
from dpest.lang.plain import Undetermined, evaluate, missing_draws
from dpest.lang.signature import operation, written_out
from dpest.lang.substitute import substituted
from dpest.laws.discrete import Atoms, Whole
from dpest.numerics.rationals import ONE
from dpest.trace.frames import ASKING, frames_of, in_for, variables_and
from dpest.trace.literal import FREE, Bounds, ends
from dpest.trace.snapshot import MOST_PARTS, Hidden, Snapshot
from dpest.trace.stack import held_variables
from dpest.trace.standing import TOGETHER, is_shown

_SHORT = 12  # parts of a value that may stay random: a function of one draw
_TRUTH = Dist.__bool__.__code__
_NONE: frozenset[str] = frozenset()
_HANDED = (Dist, tuple, list, int, float, str)  # what our own code may go on with once a question is answered


class KnownValues(Snapshot):
    """Values that are numbers, or made of one draw of which nothing is known; the draws of others are noted in `open`."""

    def __init__(self, bounds: Bounds) -> None:
        super().__init__(bounds)
        self.open: dict[int, Draw] = {}
        self._spoken_of = {id(d) for direction in bounds for d, _ in direction}

    def known(self, node: Node) -> Any:
        """The number that a random value is, as the program computes it."""
        points = self.points(node)
        if points is None:
            return None
        try:
            number = evaluate(node, points)
        except (Undetermined, ArithmeticError):
            raise Hidden from None
        # Conditions on continuous noise are decided by the rational number that a float stands for.
        exactly = substituted(node, points) if isinstance(number, float) else None
        return ("known", type(number), repr(number), exactly.constant if isinstance(exactly, Linear) else None)

    def random(self, node: Node) -> Any:
        """A value of which more than one number is left."""
        draws = _all_draws(node)
        left = [d for d in draws if self.one_point(d) is None]
        # A sum of several draws is another one in every round, and so is a value that is computed from itself: better a number.
        # Draws that are known are numbers already, however many there are in a running sum.
        long = written_out(node, {id(d): 0 for d in draws if not any(d is x for x in left)}) > _SHORT
        if len(left) > 1 or not all(map(self.is_fresh, left)) or long:
            self.open.update((id(d), d) for d in left)
            return "open"
        return self.written(node)

    def is_fresh(self, draw: Draw) -> bool:
        """Whether nothing is known of a draw, nor of others through it."""
        return not is_made(draw) and id(draw) not in self._spoken_of

    def written(self, node: Any) -> Any:
        """How a value is computed, call by call, from numbers and fresh draws."""
        self.parts += 1
        if self.parts > MOST_PARTS:
            raise Hidden
        if not is_node(node):
            return (type(node), repr(node))
        known = self.known(node)
        if known is not None:
            return known
        if isinstance(node, Draw):
            return ("fresh", node.law, self.numbers.setdefault(id(node), len(self.numbers)))
        call = getattr(node, "written", None)
        if call is None:
            return (operation(node), tuple(map(self.written, children(node))))
        return (operation(node)[:1], call[0], tuple(map(self.written, call[1])))

    def points(self, node: Node) -> dict[int, Any] | None:
        """The points of all draws of a value; None where one of them has more."""
        found: dict[int, Any] = {}
        for draw in _all_draws(node):
            known = self.one_point(draw)
            if known is None:
                return None
            found[id(draw)] = known
        return found

    def one_point(self, draw: Draw) -> int | float | None:
        """The point of a draw of which one is left."""
        return one_point(draw, self.bounds)


def one_point(draw: Draw, bounds: Bounds) -> int | float | None:
    """The point of a draw of which the conditions taken so far leave one."""
    law = draw.law
    if is_made(draw) or not isinstance(law, Whole | Atoms):
        return None
    span = zip(ends(bounds.get(((draw, ONE),), FREE)), law.support, strict=True)
    low, high = (last if end is None else max(min(float(end), law.support[1]), law.support[0]) for end, last in span)
    if isinstance(law, Whole):
        return int(low) if low == high else None
    left = [x for x in law.points if low <= x <= high]
    return (int(left[0]) if law.integral else left[0]) if len(left) == 1 else None


def _all_draws(node: Node) -> list[Draw]:
    """The draws that a value rests on, also those that cancel in it."""
    found = {id(d): d for d in (*draws_of(node), *missing_draws(node, {}))}
    return list(found.values())


def is_made(draw: Draw) -> bool:
    """Whether a draw follows from others, or must not be told apart from another."""
    return draw.origin is not None or draw.made_of is not None or draw.derived.joined is not None


def state_at(condition: Node, end: CodeType, seen: KnownValues) -> Any:
    """What decides how the run goes on from a decision; None where that cannot be seen, or is not known yet.

    `end` is the code that called the author's function. `seen.open` has draws that can be read and are not known.
    """
    if seeded():  # generators that a run seeds have a state
        return None
    ours, frames = frames_of(end)
    on_stacks = [held_variables(f) for f in frames]
    if not frames or None in on_stacks or not _stands_plainly(ours, frames):
        return None
    asking = [f for f in ours if f.f_globals.get("__name__") not in ASKING]
    if any(f.f_code is not _TRUTH for f in asking) and seen.points(condition) is not None:  # our own code knows it
        return None
    try:
        held = (
            tuple((f.f_code, f.f_lasti, seen.of(variables_and(f, x or _NONE))) for f, x in zip(frames, on_stacks, strict=True)),
            tuple((f.f_code, f.f_lasti, seen.of(_handed(f, condition))) for f in asking),
        )
        state = (held, _asked(condition, seen))
        hash(state)
    except (Hidden, TypeError, ValueError, RecursionError):
        seen.open.clear()
        return None
    return None if seen.open else state


def _stands_plainly(ours: list[FrameType], frames: list[FrameType]) -> bool:
    """Whether frames show all: there is no iterator of ours, and no function in between that cannot be seen."""
    passed = [f for f in ours if f.f_globals.get("__name__") == TOGETHER]
    return not any(in_for(f.f_code, f.f_lasti) for f in passed) and is_shown(frames, (ours or frames)[-1])


def _handed(frame: FrameType, condition: Node) -> tuple[Any, ...]:
    """What our own code holds beside the condition."""
    held = (x for x in frame.f_locals.values() if isinstance(x, _HANDED))
    return tuple(x for x in held if not (isinstance(x, Dist) and x.node is condition))


def _asked(condition: Node, seen: KnownValues) -> Any:
    """How a condition is computed; draws of it that are not fresh are open."""
    left = [d for d in _all_draws(condition) if seen.one_point(d) is None]
    seen.open.update((id(d), d) for d in left if not seen.is_fresh(d))
    return seen.written(condition)
