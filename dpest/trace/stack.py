"""What an expression that is half worked out holds: `f(x) + g(x)` holds the value of f(x) while g(x) runs, and no variable does.

Constants, functions that are about to be called, and variables that the expression has read are known all the same. What each
instruction leaves on the stack is followed through the code; whatever is not known to be one of these counts as hidden.
"""

from __future__ import annotations

import ast
import dis
import linecache
import re
import sys
from fractions import Fraction
from functools import lru_cache, partial
from types import CodeType, FrameType

import numpy as np

from dpest.lang.dist import Dist
from dpest.trace.liveness import on_all_ways
from dpest.trace.syntax import ITERATOR, RUNTIME, VALUE

_PLAIN, _HIDDEN, _RUNTIME, _CALL = "plain", "hidden", "runtime", "call"  # the last: what stands for a function
_MADE = "~"  # with the names of variables that a value was computed from
_NAMED, _OF = "named", "."  # what a global name, or an attribute of a variable, stands for: known only where it is called
_METHODS = sys.version_info >= (3, 12)  # from there on, LOAD_ATTR is told by its argument whether a method is called
_NUMBERS = (int, float, complex, Fraction, str, np.number, np.bool_, Dist)
Tags = tuple[str, ...]  # one for each value, the lowest first; "=x" for the variable x


def held_variables(frame: FrameType) -> frozenset[str] | None:
    """The variables whose values an expression holds where a frame stands, beside what it takes itself; None for other values.

    What was computed from variables is known by them, if they hold numbers: no other code can change those.
    """
    code, at = frame.f_code, frame.f_lasti
    while at > 0 and dis.opname[code.co_code[at]] == "CACHE":  # behind a call, in front of the next instruction
        at -= 2
    left = _left_below(code).get(at)
    if left is None:
        return None
    known = frame.f_locals if any(x[0] == _MADE for x in left) else {}
    if not all(isinstance(known.get(name), _NUMBERS) for x in left if x[0] == _MADE for name in _names(x)):
        return None
    return frozenset(name for x in left for name in _names(x))


def _names(tag: str) -> list[str]:
    """The variables that a value is known by."""
    return tag[1:].split(",") if tag[0] in ("=", _MADE) and tag[1:] else []


@lru_cache(maxsize=512)
def _left_below(code: CodeType) -> dict[int, Tags | None]:
    """For each instruction, what it leaves held; None where that is hidden, and those that handle errors are left out."""
    steps = list(dis.get_instructions(code))
    nothing: Tags = ()
    held = on_all_ways(steps, nothing, partial(_after, _given_anew(code.co_filename)), _joined)
    found: dict[int, Tags | None] = {}
    for step in steps:
        if step.offset in held:
            tags = held[step.offset]
            left = len(tags) + dis.stack_effect(step.opcode, step.arg, jump=False)
            left -= 0 if step.opname.startswith(("POP_JUMP", "JUMP_IF")) else 1
            plain = left >= 0 and not any(x in (_HIDDEN, _NAMED) or x[0] == _OF for x in tags[:left])
            found[step.offset] = tags[:left] if plain else None
    return found


def _joined(a: Tags, b: Tags) -> Tags:
    """What is known where two ways meet."""
    if len(a) != len(b):
        return (_HIDDEN,) * min(len(a), len(b))
    return tuple(x if x == y else _HIDDEN for x, y in zip(a, b, strict=True))


@lru_cache(maxsize=32)
def _given_anew(filename: str) -> frozenset[str] | None:
    """The variables of functions that others inside them give values to, by the source; None where it cannot be read."""
    lines = linecache.getlines(filename)
    try:
        tree = ast.parse("".join(lines))
    except (SyntaxError, ValueError, RecursionError):
        return None
    return frozenset(name for x in ast.walk(tree) if isinstance(x, ast.Nonlocal) for name in x.names) if lines else None


def _after(given_anew: frozenset[str] | None, step: dis.Instruction, tags: Tags, jumps: bool) -> Tags:
    """What is held behind an instruction."""
    if isinstance(step.argval, tuple) and "_FAST_" in step.opname:  # two in one, from Python 3.13 on
        for part in _parts(step):
            tags = _after(given_anew, part, tags, jumps)
        return tags
    name, arg = step.opname, step.arg or 0
    effect = dis.stack_effect(step.opcode, step.arg, jump=jumps)
    if (moved := _moved(step, tags, effect)) is not None:
        return moved
    match name:
        case "LOAD_CONST" | "PUSH_NULL" | "LOAD_CLOSURE":
            return (*tags, _PLAIN)
        case "LOAD_FAST" | "LOAD_FAST_CHECK" | "LOAD_FAST_BORROW":
            return (*tags, f"={step.argval}")
        case "STORE_FAST" | "DELETE_FAST" | "STORE_DEREF" | "DELETE_DEREF":
            return _without(tags[:-1] if name.startswith("STORE") else tags, step.argval)
        case "LOAD_DEREF":
            known = given_anew is not None and step.argval not in given_anew
            return (*tags, _RUNTIME if step.argval == RUNTIME else f"={step.argval}" if known else _HIDDEN)
        case "LOAD_GLOBAL" if arg & 1:  # a function that is about to be called
            return (*tags, _PLAIN, _PLAIN)
        case "LOAD_GLOBAL":
            return (*tags, _NAMED)
        case "LOAD_ATTR" if tags and not (_METHODS and arg & 1) and (tags[-1] == _NAMED or tags[-1][0] == "="):
            return (*tags[:-1], _NAMED if tags[-1] == _NAMED else f"{_OF}{tags[-1][1:]}")
        case "LOAD_METHOD" | "LOAD_ATTR" if tags and (name == "LOAD_METHOD" or (_METHODS and arg & 1)):
            return (*tags[:-1], *_method(tags[-1], str(step.argval)))
        case "COPY" if arg <= len(tags):  # a < x < b keeps x for its second comparison
            return (*tags, tags[-arg])
        case "SWAP" if arg <= len(tags):
            return (*tags[:-arg], tags[-1], *tags[len(tags) - arg + 1 : -1], tags[-arg])
        case "PRECALL":
            kept, given = tags[: len(tags) + effect], tags[len(tags) + effect :]
            if _HIDDEN in given:  # arguments; what comes of them is hidden too
                return (*kept[:-2], _HIDDEN, _HIDDEN)
            return (*kept[:-1], *given) if kept[-1:] == (_CALL,) and len(given) == 1 else kept
        case "CALL":
            rest = tags[: len(tags) + effect - 1]
            return (*rest, _function(tags[-1]) if _stands_in(tags, len(rest)) else _HIDDEN)
        case "BINARY_OP" | "COMPARE_OP" | "UNARY_NEGATIVE" | "UNARY_INVERT":
            kept = tags[: len(tags) + effect - 1]
            return (*kept, _computed(tags[len(kept) :]))
        case "CACHE" | "NOP" | "RESUME" | "COPY_FREE_VARS" | "MAKE_CELL" | "KW_NAMES" | "EXTENDED_ARG" | "TO_BOOL":
            return tags
    kept = tags[: max(0, len(tags) + min(effect, 0) - 1)] if not name.startswith(("POP_", "JUMP")) else tags[: len(tags) + effect]
    return (*kept, *(_HIDDEN,) * (len(tags) + effect - len(kept)))


def _parts(step: dis.Instruction) -> list[dis.Instruction]:
    """The two instructions on one variable each that STORE_FAST_LOAD_FAST, say, stands for."""
    names = re.findall("LOAD_FAST|STORE_FAST", step.opname)
    return [step._replace(opname=name, opcode=dis.opmap[name], argval=x) for name, x in zip(names, step.argval, strict=True)]


def _moved(step: dis.Instruction, tags: Tags, effect: int) -> Tags | None:
    """What is held behind an instruction that only moves values, or takes some away; None for others."""
    arg = step.arg or 0
    match step.opname:
        case "STORE_FAST" if step.argval.startswith((ITERATOR, VALUE)):  # of what the expression goes on with
            return (*_without(tags[:-2], step.argval), f"={step.argval}")
        case "COPY":
            return (*tags, tags[-arg])
        case "SWAP":
            return (*tags[:-arg], tags[-1], *tags[len(tags) - arg + 1 : -1], tags[-arg])
        case "GET_ITER" if tags[-1].startswith(f"={ITERATOR}"):  # that of an iterator is itself
            return tags
        case "FOR_ITER":
            return (*tags, _HIDDEN) if effect > 0 else tags[:effect]
        case "BUILD_LIST" | "BUILD_MAP" | "BUILD_TUPLE" if arg == 0:
            return (*tags, _HIDDEN)
        case "STORE_SUBSCR" | "STORE_ATTR" | "STORE_GLOBAL" | "DELETE_SUBSCR" | "DELETE_ATTR" | "END_FOR":
            return tags[:effect]
    return None


def _without(tags: Tags, name: str) -> Tags:
    """What is held once a variable has another value than the one that is held."""
    return tuple(_HIDDEN if name in _names(x) else x for x in tags)


def _method(base: str, name: str) -> Tags:
    """A method that is about to be called, and what it is called on."""
    if base == _RUNTIME:
        tag = _CALL if name == "call" else _PLAIN
        return tag, tag
    known = _HIDDEN if base in (_HIDDEN, _CALL) or base[0] == _OF else _PLAIN if base == _NAMED else base
    return known, known


def _computed(parts: Tags) -> str:
    """What an operator gives: known by the variables that it is computed from."""
    if not all(x == _PLAIN or x[0] in ("=", _MADE) for x in parts):
        return _HIDDEN
    return _MADE + ",".join(sorted({name for x in parts for name in _names(x)}))


def _function(asked: str) -> str:
    """What stands for a function that was asked for: a variable's, a method that holds its object, or one with a name."""
    return f"={asked[1:]}" if asked[0] in ("=", _OF) else _PLAIN


def _stands_in(tags: Tags, start: int) -> bool:
    """Whether a call only asks for what stands for a function."""
    return _CALL in tags[start : start + 2] and _HIDDEN not in tags[start:]
