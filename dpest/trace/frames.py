"""The frames of a run: our own, which ask a question, and those of the author's code, with the variables that are still read."""

from __future__ import annotations

import dis
import sys
from functools import lru_cache
from types import CodeType, FrameType
from typing import Any

from dpest.lang.dist import Dist
from dpest.lang.generators.places import globals_in
from dpest.lang.points import plain_point
from dpest.trace.liveness import is_live, is_read
from dpest.trace.snapshot import named
from dpest.trace.standing import SAMPLERS, TOGETHER

# Of those that look for the point of a value, what is left to look for shows in the condition itself.
ASKING = (*(f"dpest.trace.{name}" for name in ("forks", "chain", "rounds", "states")), __name__)  # which only hand on a question
_OURS = (
    *(Dist.__module__, TOGETHER, *ASKING),
    *("dpest.lang.points", "dpest.lang.not_plain", "dpest.lang.generators.conversions", "dpest.lang.generators.mathematics"),
)


def frames_of(end: CodeType) -> tuple[list[FrameType], list[FrameType]]:
    """Our own frames, from where a truth value was asked for, and those of the author's code up to the run; innermost first."""
    frame: FrameType | None = sys._getframe(2)  # not the caller: a frame that held itself would keep all others alive
    ours, frames = [], []
    while frame is not None and frame.f_globals.get("__name__", "") in (*_OURS, SAMPLERS):
        ours.append(frame)
        frame = frame.f_back
    while frame is not None and frame.f_code is not end:
        if frame.f_globals.get("__name__") != SAMPLERS:
            frames.append(frame)
        frame = frame.f_back
    return ours, frames


def asks_for_point(end: CodeType) -> bool:
    """Whether it is asked which of its points a value is, as an index or a plain number."""
    return any(f.f_code is plain_point.__code__ for f in frames_of(end)[0])


def variables(frame: FrameType) -> dict[str, Any]:
    """The local variables of a frame that are still read, or may be held by an expression, and those that its code names."""
    code, at = frame.f_code, frame.f_lasti
    return {**_shared(frame), **{name: x for name, x in frame.f_locals.items() if is_live(code, at, name)}}


def variables_and(frame: FrameType, held: frozenset[str]) -> dict[str, Any]:
    """The local variables of a frame that are still read or are among `held`, and the global ones that its code names."""
    code, at = frame.f_code, frame.f_lasti
    return {**_shared(frame), **{name: x for name, x in frame.f_locals.items() if name in held or is_read(code, at, name)}}


def _shared(frame: FrameType) -> dict[str, Any]:
    return named(frame.f_globals, globals_in(frame.f_code))


@lru_cache(maxsize=4096)
def in_while(code: CodeType, at: int) -> bool:
    """Whether a backward jump leads from beyond an instruction to before it."""
    return any(target <= at < offset + 2 for offset, target in _jumps(code)[0])


@lru_cache(maxsize=512)
def has_while(code: CodeType) -> bool:
    """Whether a function has a loop that is no `for` loop."""
    back, of_for = _jumps(code)
    starts = {offset for offset, _ in of_for}
    return any(target not in starts for _, target in back)


@lru_cache(maxsize=4096)
def in_for(code: CodeType, at: int) -> bool:
    """Whether an instruction is part of the body of a `for` loop."""
    return any(offset <= at < target for offset, target in _jumps(code)[1])


@lru_cache(maxsize=1024)
def _jumps(code: CodeType) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """(from, to) of the backward jumps, and of the ends of `for` loops."""
    jumps = [i for i in dis.get_instructions(code) if i.opcode in dis.hasjrel or i.opcode in dis.hasjabs]
    back = [(i.offset, i.argval) for i in jumps if i.argval <= i.offset]
    return back, [(i.offset, i.argval) for i in jumps if i.opname == "FOR_ITER"]
