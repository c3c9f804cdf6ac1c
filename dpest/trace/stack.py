"""What an expression that is half worked out holds: `f(x) + g(x)` holds the value of f(x) while g(x) runs, and no variable does.

Constants, functions that are about to be called, and variables that the expression has read are known all the same. What each
instruction leaves on the stack is followed through the code; whatever is not known to be one of these counts as hidden.
"""

from __future__ import annotations

import dis
import sys
from functools import lru_cache
from types import CodeType

from dpest.trace.liveness import on_all_ways
from dpest.trace.syntax import RUNTIME

_PLAIN, _HIDDEN, _RUNTIME, _CALL = "plain", "hidden", "runtime", "call"  # the last: what stands for a function
_METHODS = sys.version_info >= (3, 12)  # from there on, LOAD_ATTR is told by its argument whether a method is called
Tags = tuple[str, ...]  # one for each value, the lowest first; "=x" for the variable x


def held_variables(code: CodeType, at: int) -> frozenset[str] | None:
    """The variables whose values expressions hold at an instruction, beside what it takes itself; None where they hold others."""
    known = _left_below(code)
    while at > 0 and dis.opname[code.co_code[at]] == "CACHE":  # behind a call, in front of the next instruction
        at -= 2
    return known.get(at)


@lru_cache(maxsize=512)
def _left_below(code: CodeType) -> dict[int, frozenset[str] | None]:
    """For each instruction, the variables that it leaves held; those that handle errors are left out."""
    steps = list(dis.get_instructions(code))
    nothing: Tags = ()
    held = on_all_ways(steps, nothing, _after, _joined)
    found: dict[int, frozenset[str] | None] = {}
    for step in steps:
        if step.offset in held:
            tags = held[step.offset]
            left = len(tags) + dis.stack_effect(step.opcode, step.arg, jump=False)
            left -= 0 if step.opname.startswith(("POP_JUMP", "JUMP_IF")) else 1
            plain = left >= 0 and _HIDDEN not in tags[:left]
            found[step.offset] = frozenset(x[1:] for x in tags[:left] if x[0] == "=") if plain else None
    return found


def _joined(a: Tags, b: Tags) -> Tags:
    """What is known where two ways meet."""
    if len(a) != len(b):
        return (_HIDDEN,) * min(len(a), len(b))
    return tuple(x if x == y else _HIDDEN for x, y in zip(a, b, strict=True))


def _after(step: dis.Instruction, tags: Tags, jumps: bool) -> Tags:
    """What is held behind an instruction."""
    name, arg = step.opname, step.arg or 0
    effect = dis.stack_effect(step.opcode, step.arg, jump=jumps)
    match name:
        case "LOAD_CONST" | "PUSH_NULL" | "LOAD_CLOSURE":
            return (*tags, _PLAIN)
        case "LOAD_FAST" | "LOAD_FAST_CHECK" | "LOAD_FAST_BORROW":
            return (*tags, f"={step.argval}")
        case "STORE_FAST" | "DELETE_FAST":
            rest = tags[:-1] if name == "STORE_FAST" else tags
            return tuple(_HIDDEN if x == f"={step.argval}" else x for x in rest)  # another value than the one that is held
        case "LOAD_DEREF":
            return (*tags, _RUNTIME if step.argval == RUNTIME else _HIDDEN)
        case "LOAD_GLOBAL" if arg & 1:  # a function that is about to be called
            return (*tags, _PLAIN, _PLAIN)
        case "LOAD_METHOD" | "LOAD_ATTR" if tags and (name == "LOAD_METHOD" or (_METHODS and arg & 1)):
            return (*tags[:-1], *_method(tags[-1], str(step.argval)))
        case "PRECALL":
            kept = tags[: len(tags) + effect]  # the arguments; where they are hidden, so is what comes of them
            return (*kept[:-2], _HIDDEN, _HIDDEN) if _HIDDEN in tags[len(kept) :] else kept
        case "CALL":
            rest = tags[: len(tags) + effect - 1]
            return (*rest, _PLAIN if _stands_in(tags, len(rest)) else _HIDDEN)
        case "CACHE" | "NOP" | "RESUME" | "COPY_FREE_VARS" | "MAKE_CELL" | "KW_NAMES" | "EXTENDED_ARG" | "TO_BOOL":
            return tags
    kept = tags[: max(0, len(tags) + min(effect, 0) - 1)] if not name.startswith(("POP_", "JUMP")) else tags[: len(tags) + effect]
    return (*kept, *(_HIDDEN,) * (len(tags) + effect - len(kept)))


def _method(base: str, name: str) -> Tags:
    """A method that is about to be called, and what it is called on."""
    if base == _RUNTIME:
        tag = _CALL if name == "call" else _PLAIN
        return tag, tag
    known = _HIDDEN if base in (_HIDDEN, _CALL) else base
    return known, known


def _stands_in(tags: Tags, start: int) -> bool:
    """Whether a call only asks for what stands for a function."""
    return _CALL in tags[start : start + 2] and _HIDDEN not in tags[start:]
