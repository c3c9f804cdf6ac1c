"""Loops whose rounds are alike: a run that comes back to a state in which it was before need not be followed further.

A `while` loop such as rejection sampling starts its second round with the same variables as its first, but for fresh noise.
What happens from there on has the same law as what happened from there the first time, so the weights of all rounds are a
geometric series: every way out of the loop weighs 1 / (1 - P(another round)) times what it weighs in the first round.

The state is what the author's code can see: where it stands, and its local variables, in every frame of the run. Inside a
`for` loop the iterator is state that cannot be seen, and nothing is claimed.
"""

from __future__ import annotations

import dis
import sys
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from types import BuiltinFunctionType, CodeType, FrameType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from dpest.lang.dist import Dist
from dpest.lang.generators.places import is_authors, names_in
from dpest.lang.generators.standins import StandIn, seeded
from dpest.lang.nodes import Draw, Node, draws_of, is_integral
from dpest.lang.origins import root
from dpest.lang.plain import Undetermined, evaluate
from dpest.lang.points import has_listed_points
from dpest.lang.signature import signature, written_out
from dpest.numerics.rationals import ONE
from dpest.trace.literal import FREE, Bounds, Literal, ends
from dpest.trace.liveness import is_live
from dpest.trace.standing import TOGETHER, is_shown

Step = tuple[Literal, ...]
_SAMPLERS = "dpest.trace.samplers"  # which only hands on a call
_FEW = 16  # how far apart points are that are told apart: a loop with as many states takes a second or two
_FIELDS = (int, float, str, list, dict, set, tuple, np.ndarray)  # what a class may count with
_MOST_PARTS = 2000  # values in a state that are compared; beyond, nothing is claimed


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
    ours, frames = _frames(end)
    if not _in_while_alone(frames) or not is_shown(frames, ours[-1]):
        return None
    if any(f.f_globals.get("__name__") == TOGETHER and _in_for(f.f_code, f.f_lasti) for f in ours):
        return None  # `a and b and c` is a loop over its parts
    seen = _Snapshot(bounds)
    if seen.point(condition) is not None:  # decided already: it may be the second question about one value in one place
        return None
    try:
        state = (
            tuple((f.f_code, f.f_lasti, seen.of(_variables(f))) for f in frames),
            tuple(seen.of(x) for f in ours for x in _handed(f)),
            seen.of(Dist(condition)),
        )
        hash(state)
    except (_Hidden, TypeError, ValueError, RecursionError):
        return None
    return Visit(state, tuple(seen.draws.values()), steps)


def kept_in_a_loop(condition: Node, end: CodeType) -> list[Draw]:
    """The draws of a comparison of two values with few points inside a `while` loop: best looked at point by point.

    A loop that keeps the best of what it drew is then in one of a few states; otherwise every round is a state of its own.
    """
    draws = draws_of(condition)
    few = len(draws) == 2 and all(has_listed_points(d) and d.law.support[1] - d.law.support[0] <= _FEW for d in draws)
    return draws if few and _in_while_alone(_frames(end)[1]) else []


def _in_while_alone(frames: list[FrameType]) -> bool:
    """Whether the author's code stands inside a `while` loop, and inside no `for` loop."""
    inside = any(_in_while(f.f_code, f.f_lasti) for f in frames)
    return inside and not any(_in_for(f.f_code, f.f_lasti) for f in frames)


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


# -- the state of the author's code ------------------------------------------------------------------------------------


def _frames(end: CodeType) -> tuple[list[FrameType], list[FrameType]]:
    """Our own frames, from where a truth value was asked for, and those of the author's code up to the run; innermost first."""
    frame: FrameType | None = sys._getframe(2)  # not the caller: a frame that held itself would keep all others alive
    ours, frames = [], []
    while frame is not None and frame.f_globals.get("__name__", "") in _OURS:
        ours.append(frame)
        frame = frame.f_back
    while frame is not None and frame.f_code is not end:
        if frame.f_globals.get("__name__") != _SAMPLERS:
            frames.append(frame)
        frame = frame.f_back
    return ours, frames


def _handed(frame: FrameType) -> Iterator[Any]:
    """What our own code was handed, and no variable of the author's may hold."""
    return (x for x in frame.f_locals.values() if isinstance(x, Dist | tuple))


# Of those that look for the point of a value, what is left to look for shows in the condition itself.
_OURS = (
    *(Dist.__module__, "dpest.trace.forks", TOGETHER, __name__),
    *("dpest.lang.points", "dpest.lang.not_plain", "dpest.lang.generators.conversions", "dpest.lang.generators.mathematics"),
)


def _variables(frame: FrameType) -> dict[str, Any]:
    """The local variables of a frame that are still read, and the global ones that its code names."""
    code, at = frame.f_code, frame.f_lasti
    shared = _named(frame.f_globals, frozenset(code.co_names))
    return {**shared, **{name: x for name, x in frame.f_locals.items() if is_live(code, at, name)}}


def _named(held: dict[str, Any], names: frozenset[str]) -> dict[str, Any]:
    """The global names of code, and what it takes from modules of the author's by name."""
    found = {name: held[name] for name in sorted(names & held.keys())}
    for module in [x for x in found.values() if isinstance(x, ModuleType) and is_authors(x)]:
        inside = vars(module)
        found.update({f"{module.__name__}.{name}": inside[name] for name in sorted(names & inside.keys())})
    return found


@lru_cache(maxsize=4096)
def _in_while(code: CodeType, at: int) -> bool:
    """Whether a backward jump leads from beyond an instruction to before it."""
    return any(target <= at < offset + 2 for offset, target in _jumps(code)[0])


@lru_cache(maxsize=512)
def has_while(code: CodeType) -> bool:
    """Whether a function has a loop that is no `for` loop."""
    back, of_for = _jumps(code)
    starts = {offset for offset, _ in of_for}
    return any(target not in starts for _, target in back)


@lru_cache(maxsize=4096)
def _in_for(code: CodeType, at: int) -> bool:
    return any(offset <= at < target for offset, target in _jumps(code)[1])


@lru_cache(maxsize=1024)
def _jumps(code: CodeType) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """(from, to) of the backward jumps, and of the ends of `for` loops."""
    jumps = [i for i in dis.get_instructions(code) if i.opcode in dis.hasjrel or i.opcode in dis.hasjabs]
    back = [(i.offset, i.argval) for i in jumps if i.argval <= i.offset]
    return back, [(i.offset, i.argval) for i in jumps if i.opname == "FOR_ITER"]


class _Hidden(Exception):
    """A value whose content cannot be compared."""


class _Snapshot:
    """Values as something hashable: draws and objects are numbered in the order in which they are met.

    A replay makes its objects anew: they are the same if they hold the same.
    """

    def __init__(self, bounds: Bounds) -> None:
        self.bounds = bounds
        self.draws: dict[int, Draw] = {}
        self.numbers: dict[int, int] = {}
        self.objects: dict[int, int] = {}
        self._kept: list[Any] = []  # so that no other object can come to have the id of one that was met
        self.parts = 0

    def of(self, x: Any) -> Any:
        """The content of a value; raises where it cannot be seen."""
        self.parts += 1
        if self.parts > _MOST_PARTS:
            raise _Hidden
        match x:
            case None | bool() | int() | str() | bytes():
                return (type(x), x)
            case float() | complex():
                return (type(x), repr(x))
            case np.generic():
                return self.of(x.item())
            case BuiltinFunctionType() | ModuleType():
                return ("by name", id(x))  # what a replay does not make anew
            case type():
                return ("by name", id(x), self._fields(x))
        point = self.point(x.node) if isinstance(x, Dist) else None
        if point is not None:
            return self.of(point)
        if id(x) in self.objects:
            return ("again", self.objects[id(x)])
        self.objects[id(x)] = len(self.objects)
        self._kept.append(x)
        return self._random(x) if isinstance(x, Dist) else self._object(x)

    def _fields(self, x: type) -> Any:
        """What a class holds: a counter there is state, and so is what its methods can reach."""
        if not is_authors(x):
            return None
        if id(x) in self.objects:
            return ("again", self.objects[id(x)])
        self.objects[id(x)] = len(self.objects)
        held = [(k, getattr(v, "__func__", getattr(v, "fget", v))) for k, v in vars(x).items()]
        told = [(k, self.of(v)) for k, v in held if isinstance(v, FunctionType) or (isinstance(v, _FIELDS) and k[:2] != "__")]
        return tuple(told), tuple(self._fields(base) for base in x.__mro__[1:])

    def point(self, node: Node) -> Any:
        """The number that the conditions taken so far leave of a discrete value; None where they leave more."""
        known: dict[int, int] = {}
        for draw in draws_of(node):
            if not is_integral(draw):
                return None
            span = zip(ends(self.bounds.get(((draw, ONE),), FREE)), draw.law.support, strict=True)
            low, high = (float(end if end is not None else last) for end, last in span)
            if low != high:
                return None
            known[id(draw)] = int(low)
        try:
            return evaluate(node, known)
        except (Undetermined, ArithmeticError):
            return None

    def _random(self, x: Dist) -> Any:
        self.parts += written_out(x.node, {})
        if self.parts > _MOST_PARTS:
            raise _Hidden
        self.draws.update((id(d), d) for d in draws_of(x.node) if id(d) not in self.numbers)
        found = signature(x.node, set(), self.numbers)
        self.draws = {i: self.draws[i] for i in self.numbers}  # in the order of their numbers
        return ("random", found)

    def _object(self, x: Any) -> Any:
        match x:
            case list() | tuple() | deque():
                return (type(x), tuple(self.of(v) for v in x))
            case set() | frozenset():
                return (type(x), frozenset(self.of(v) for v in x))
            case StandIn():
                return type(x)  # it has no state: every draw is a new one
            case partial():
                return (partial, self.of(x.func), self.of(x.args), self.of(x.keywords))
            case dict():
                return (dict, tuple((self.of(k), self.of(v)) for k, v in x.items()))
            case np.ndarray():
                return (np.ndarray, x.shape, tuple(self.of(v) for v in x.ravel()))
            case FunctionType():
                return self._function(x)
            case MethodType():
                return (MethodType, self.of(x.__func__), self.of(x.__self__))
        own = {name for base in type(x).__mro__[:-1] for name in vars(base) if vars(base)[name] is not None}
        if {"__eq__", "__hash__"} <= own:
            return (type(x), x)  # a value, such as a date or a fraction: equal by content, and made to be a key
        if hasattr(type(x), "__slots__") or not hasattr(x, "__dict__"):
            raise _Hidden
        return (type(x), self.of(vars(x)), self._fields(type(x)))

    def _function(self, x: FunctionType) -> Any:
        """A function with all that it can reach: one of the author's may change, or ask for, a variable that no frame names."""
        cells = tuple(c.cell_contents for c in x.__closure__ or ())
        held = [cells, x.__defaults__, x.__kwdefaults__]
        if is_authors(x):
            held += [vars(x), _named(x.__globals__, names_in(x.__code__))]
        return (FunctionType, x.__code__, tuple(map(self.of, held)))
