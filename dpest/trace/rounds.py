"""Loops whose rounds are alike: a run that comes back to a state in which it was before need not be followed further.

A `while` loop such as rejection sampling starts its second round with the same variables as its first, but for fresh noise.
What happens from there on has the same law as what happened from there the first time, so the weights of all rounds are a
geometric series: every way out of the loop weighs 1 / (1 - P(another round)) times what it weighs in the first round.

The state is what the author's code can see: where it stands, and its local variables, in every frame of the run. Inside a
`for` loop the iterator is state that cannot be seen, and nothing is claimed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import Any

from dpest.lang.dist import Dist
from dpest.lang.generators.seeds import seeded
from dpest.lang.nodes import Draw, Node, draws_of
from dpest.lang.origins import root
from dpest.lang.points import has_listed_points
from dpest.trace.frames import frames_of, in_for, in_while, variables
from dpest.trace.literal import Bounds, Literal
from dpest.trace.snapshot import Hidden, Snapshot
from dpest.trace.stack import held_variables
from dpest.trace.standing import TOGETHER, is_shown

Step = tuple[Literal, ...]
_FEW = 16  # how far apart points are that are told apart: a loop with as many states takes a second or two


@dataclass(frozen=True, eq=False)
class Visit:
    """A decision inside a `while` loop: the state that it was met in, its draws in order, and the conditions before it."""

    state: Any
    draws: tuple[Draw, ...]
    steps: int


@dataclass(frozen=True, eq=False)
class Cycle:
    """One way around a loop: the conditions of a round, and the loops inside it."""

    literals: tuple[Literal, ...]
    loops: tuple[Loop, ...]


@dataclass(frozen=True, eq=False)
class Loop:
    """A loop whose rounds are alike: every way around it."""

    cycles: tuple[Cycle, ...]


def visit(condition: Node, steps: int, end: CodeType, bounds: Bounds) -> Visit | None:
    """The state of the author's code at a decision; None outside `while` loops, and where it cannot be seen.

    `end` is the code that called the author's function; a value that `bounds` fix to one point is that point.
    """
    if seeded():  # the state of a generator that the run seeded is not seen
        return None
    ours, frames = frames_of(end)
    if not _in_while_alone(frames) or not is_shown(frames, (ours or frames)[-1]):
        return None
    if any(held_variables(f) is None for f in frames):  # an expression holds a value that no variable does
        return None
    if any(f.f_globals.get("__name__") == TOGETHER and in_for(f.f_code, f.f_lasti) for f in ours):
        return None  # `a and b and c` is a loop over its parts
    seen = Snapshot(bounds)
    if seen.point(condition) is not None:  # decided already: it may be the second question about one value in one place
        return None
    try:
        state = (
            tuple((f.f_code, f.f_lasti, seen.of(variables(f))) for f in frames),
            tuple(seen.of(x) for f in ours for x in _handed(f)),
            seen.of(Dist(condition)),
        )
        hash(state)
    except (Hidden, TypeError, ValueError, RecursionError):
        return None
    return Visit(state, tuple(seen.draws.values()), steps)


def kept_in_a_loop(condition: Node, end: CodeType) -> list[Draw]:
    """The draws of a comparison of two values with few points inside a `while` loop: best looked at point by point.

    A loop that keeps the best of what it drew is then in one of a few states; otherwise every round is a state of its own.
    """
    draws = draws_of(condition)
    few = len(draws) == 2 and all(has_listed_points(d) and d.law.support[1] - d.law.support[0] <= _FEW for d in draws)
    return draws if few and _in_while_alone(frames_of(end)[1]) else []


def _in_while_alone(frames: list[FrameType]) -> bool:
    """Whether the author's code stands inside a `while` loop, and inside no `for` loop."""
    inside = any(in_while(f.f_code, f.f_lasti) for f in frames)
    return inside and not any(in_for(f.f_code, f.f_lasti) for f in frames)


def in_for_loop(end: CodeType) -> bool:
    """Whether the author's code stands inside a `for` loop."""
    return any(in_for(f.f_code, f.f_lasti) for f in frames_of(end)[1])


def returns_to(now: Visit, earlier: Visit, steps: list[Step]) -> bool:
    """Whether what follows now has the law of what followed an earlier visit in the same state."""
    between = _touched(steps[earlier.steps :])
    if any(id(v) in between for v in now.draws):
        return False
    before = _touched(steps[: earlier.steps])
    if before & between:
        return False
    old = {id(d) for d in earlier.draws}
    for u, v in zip(earlier.draws, now.draws, strict=True):
        if u is not v and (id(u) in before or id(v) in before or id(v) in old):
            return False
    return True


def _touched(steps: list[Step]) -> set[int]:
    return {id(root(d)) for step in steps for literal in step for d, _ in literal.terms}


def _handed(frame: FrameType) -> Iterator[Any]:
    """What our own code was handed, and no variable of the author's may hold."""
    return (x for x in frame.f_locals.values() if isinstance(x, Dist | tuple))
