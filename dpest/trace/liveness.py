"""Which local variables of a function are still read behind an instruction: the others are no part of its state.

`while True: z = draw(); if z > 1: continue; ...` begins its second round with the z of the first, which nobody reads again.
"""

from __future__ import annotations

import dis
from collections.abc import Callable
from functools import lru_cache
from types import CodeType
from typing import TypeVar

from dpest.trace.syntax import ITERATOR, VALUE

T = TypeVar("T")

_ENDS = ("RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE")
_BY_NAME = frozenset({"locals", "vars", "dir", "eval", "exec", "sys", "inspect"})  # which read variables that no code names
_JUMPS_AWAY = ("JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT")


@lru_cache(maxsize=512)
def _live_after(code: CodeType) -> dict[int, frozenset[str]] | None:
    """The variables that are read behind each instruction before they are given a value; None where that is not known."""
    if code.co_exceptiontable or code.co_flags & 0x20:  # an error may jump anywhere; a generator stops and goes on
        return None
    if _BY_NAME.intersection(code.co_names):
        return None
    steps = list(dis.get_instructions(code))
    targets = [following(i, steps) for i in range(len(steps))]
    at = {step.offset: k for k, step in enumerate(steps)}
    before: list[frozenset[str]] = [frozenset()] * len(steps)
    after: list[frozenset[str]] = [frozenset()] * len(steps)
    changed = True
    while changed:
        changed = False
        for k in reversed(range(len(steps))):
            after[k] = frozenset().union(*(before[at[t]] for t in targets[k] if t in at))
            read, given = _reads_and_gives(steps[k])
            new = read | (after[k] - given)
            changed, before[k] = changed or new != before[k], new
    return {step.offset: after[k] for k, step in enumerate(steps)}


def following(k: int, steps: list[dis.Instruction]) -> list[int]:
    """Where the program may go from an instruction."""
    step = steps[k]
    jumps = [step.argval] if step.opcode in dis.hasjrel or step.opcode in dis.hasjabs else []
    if step.opname in _ENDS:
        return []
    on = [] if step.opname in _JUMPS_AWAY or k + 1 == len(steps) else [steps[k + 1].offset]
    return [*jumps, *on]


def _reads_and_gives(step: dis.Instruction) -> tuple[frozenset[str], frozenset[str]]:
    """The variables that an instruction reads, and those that it gives a value."""
    names = step.argval if isinstance(step.argval, tuple) else (step.argval,)
    match step.opname:
        case "STORE_FAST" | "STORE_FAST_STORE_FAST":
            return frozenset(), frozenset(names)
        case "STORE_FAST_LOAD_FAST":
            return frozenset(names[1:]) - {names[0]}, frozenset(names[:1])
        case "STORE_DEREF":
            return frozenset(), frozenset(names)
        case name if "FAST" in name or name in ("LOAD_DEREF", "LOAD_CLOSURE"):
            return frozenset(x for x in names if isinstance(x, str)), frozenset()
    return frozenset(), frozenset()


@lru_cache(maxsize=512)
def _held(code: CodeType) -> dict[int, frozenset[str]]:
    """The variables whose values an expression may hold at each instruction: those that it has read or given a value so far.

    `k = k + (1 if coin() else 2)` holds the old k while it asks for the coin, and no variable does.
    """
    steps = list(dis.get_instructions(code))
    depth = _depths(steps)
    found: dict[int, frozenset[str]] = {}
    so_far: frozenset[str] = frozenset()
    for step in steps:  # an expression's code is in one piece, whatever it jumps over
        if depth.get(step.offset, 1) == 0:
            so_far = frozenset()
        so_far |= frozenset().union(*_reads_and_gives(step))
        found[step.offset] = so_far
    return found


def _depths(steps: list[dis.Instruction]) -> dict[int, int]:
    """How many values the program holds in front of each instruction; the least where ways that meet differ."""

    def behind(step: dis.Instruction, depth: int, jumps: bool) -> int:
        return depth + dis.stack_effect(step.opcode, step.arg, jump=jumps)

    return on_all_ways(steps, 0, behind, min)


def on_all_ways(
    steps: list[dis.Instruction], start: T, behind: Callable[[dis.Instruction, T, bool], T], joined: Callable[[T, T], T]
) -> dict[int, T]:
    """What is known in front of each instruction: `behind` one, told whether it jumps, and `joined` where two ways meet."""
    at = {step.offset: k for k, step in enumerate(steps)}
    found = {steps[0].offset: start}
    waiting = [0]
    while waiting:
        k = waiting.pop()
        step = steps[k]
        for target in following(k, steps):
            if target not in at:
                continue
            jumps = target != (steps[k + 1].offset if k + 1 < len(steps) else None)
            new = behind(step, found[step.offset], jumps)
            both = joined(found[target], new) if target in found else new
            if target not in found or both != found[target]:
                found[target] = both
                waiting.append(at[target])
    return found


_SHARED = "variables that functions of the author's share"


def noting_shared(code: CodeType, own: CodeType) -> CodeType:
    """Code that stands for the author's own, with a note of the variables that functions inside the author's share.

    Functions that were added to it are called where they are made, and read what they share at once.
    """
    return code.replace(co_consts=(*code.co_consts, (_SHARED, *own.co_cellvars)))


@lru_cache(maxsize=512)
def _shared(code: CodeType) -> tuple[str, ...]:
    for x in code.co_consts:
        if type(x) is tuple and x[:1] == (_SHARED,):
            return x[1:]
    return code.co_cellvars


def is_live(code: CodeType, at: int, name: str) -> bool:
    """Whether a local variable may still be read behind an instruction, or an expression holds its value there.

    Those that functions inside share may always be read.
    """
    if is_read(code, at, name):
        return True
    held = _held(code)
    while at not in held:
        at -= 2
    return name in held[at]


def is_read(code: CodeType, at: int, name: str) -> bool:
    """Whether a local variable may still be read behind an instruction; those that functions inside share always may."""
    if name.startswith((ITERATOR, VALUE)):  # which expressions hold, and no code reads
        return False
    if name not in (*code.co_varnames, *code.co_cellvars) or name in _shared(code):
        return True
    if code.co_name == "__init__" and name in code.co_varnames[:1]:  # the object that a class was called for goes to the caller
        return True
    known = _live_after(code)
    while known is not None and at > 0 and at not in known:  # a call stops behind itself, in front of the next instruction
        at -= 2
    return known is None or at not in known or name in known[at]
