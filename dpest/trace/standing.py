"""Whether the frames of a run show all of where it stands.

Between two frames there may be a function that cannot be looked into: `reduce(f, values)`, `map`, `sorted(key=f)` and NumPy's
loops call the author's code again and again, and no variable says how far they have come. A call is one of the author's own
if its source says so: the name that is called leads to the code that runs.
"""

from __future__ import annotations

import ast
import builtins
import dis
import inspect
import linecache
import sys
from abc import ABC
from collections.abc import Sequence
from functools import lru_cache, partial
from itertools import pairwise
from types import CodeType, FrameType, FunctionType, MethodType
from typing import Any, Generic, Protocol

from dpest.trace.comparisons import compares_two_values

_ASK_FOR_TRUTH = ("POP_JUMP", "JUMP_IF", "TO_BOOL", "UNARY_NOT")  # with what follows their names
_COMPARING_ASKS = sys.version_info >= (3, 13)  # a comparison in a condition asks for its truth itself
TOGETHER = "dpest.trace.together"  # which only rewritten code calls, and by itself
SAMPLERS = "dpest.trace.samplers"  # which stands for functions of the author's, and is called in their place
_CONVERSIONS, _MATHEMATICS = "dpest.lang.generators.conversions", "dpest.lang.generators.mathematics"
_DRAWING = ("dpest.lang.generators.standins", "dpest.lang.noise")
_MISSING = object()
_SHOWING = ("__repr__", "__str__", "__format__")  # which go through the attributes of an object, and give it none
_BARE = (object, ABC, Generic, Protocol)  # classes that give their objects nothing


def is_shown(frames: Sequence[FrameType], entry: FrameType) -> bool:
    """Whether each frame (innermost first) was called by the next one itself; `entry` is our code, which the first one called."""
    return _asks(frames[0], entry) and all(_calls(outer, inner) for inner, outer in pairwise(frames))


def _asks(frame: FrameType, entry: FrameType) -> bool:
    """Whether a frame asks for a truth value, an index, a conversion or a function of `math` itself."""
    module = entry.f_globals.get("__name__", "")
    if module == TOGETHER:
        return True
    name, step = entry.f_code.co_name, _opname(frame.f_code, frame.f_lasti)
    if name == "__bool__":
        return step.startswith(_ASK_FOR_TRUTH) or (_COMPARING_ASKS and step == "COMPARE_OP" and _compares_two_values(frame))
    if name == "__index__":
        return step.startswith("BINARY_SUBSCR")
    if module == SAMPLERS:
        asked = entry.f_locals.get("asked")
        return asked is not None and _leads_to(_called(frame), asked.__code__)
    if module == _MATHEMATICS or module in _DRAWING:
        return getattr(_called(frame), "__code__", None) is entry.f_code
    return module == _CONVERSIONS and getattr(_called(frame), "__module__", "") == _CONVERSIONS


def _compares_two_values(frame: FrameType) -> bool:
    return compares_two_values(_expression(frame.f_code, frame.f_lasti), partial(_named, frame=frame))


def _opname(code: CodeType, at: int) -> str:
    while at > 0 and dis.opname[code.co_code[at]] == "CACHE":  # which lies behind the instruction that it belongs to
        at -= 2
    return dis.opname[code.co_code[at]]


def _calls(outer: FrameType, inner: FrameType) -> bool:
    """Whether the outer frame's own call is the one that the inner frame works on."""
    if inner.f_globals.get("__name__") == TOGETHER:
        return True
    function = _called(outer)
    if isinstance(function, MethodType):
        function = function.__func__
    if isinstance(function, type):
        makers = (vars(c).get(name) for c in function.__mro__ for name in ("__new__", "__init__"))
        return any(_leads_to(getattr(f, "__func__", f), inner.f_code) for f in makers)
    if not isinstance(function, FunctionType):
        function = vars(type(function)).get("__call__")
    return _leads_to(function, inner.f_code)


def _leads_to(function: Any, code: CodeType) -> bool:
    """Whether the code is a function's own, or stands for it."""
    if not isinstance(function, FunctionType):
        return False
    return same_place(function.__code__, code)


def same_place(own: CodeType, code: CodeType) -> bool:
    """Whether two codes are of one place in the source."""
    return own is code or all(getattr(own, x) == getattr(code, x) for x in ("co_name", "co_filename", "co_firstlineno"))


def _called(frame: FrameType) -> Any:
    """What the call at which a frame stands names; None where that is not known."""
    call = _expression(frame.f_code, frame.f_lasti)
    found = _named(call.func if isinstance(call, ast.Call) else None, frame)
    while isinstance(found, partial):
        found = found.func
    return None if found is _MISSING else getattr(found, "__func__", found)


def _named(node: ast.expr | None, frame: FrameType) -> Any:
    """The value of `name`, `name.attribute` or `name[key]`, looked up without running any code."""
    match node:
        case ast.Name(id=name):
            if name in frame.f_locals:
                return frame.f_locals[name]
            return frame.f_globals.get(name, vars(builtins).get(name, _MISSING))
        case ast.Attribute(value=ast.Call(func=ast.Name(id="super"), args=[]), attr=attribute):
            return _of_super(attribute, frame)
        case ast.Attribute(value=ast.Call(func=maker), attr=attribute):
            return _of_new_object(_named(maker, frame), attribute)
        case ast.Attribute(value=value, attr=attribute):
            base = _named(value, frame)
            return _MISSING if base is _MISSING else inspect.getattr_static(base, attribute, _MISSING)
        case ast.Subscript(value=value, slice=key):
            base, at = _named(value, frame), key.value if isinstance(key, ast.Constant) else _named(key, frame)
            if type(base) in (list, tuple) and type(at) is int:
                return base[at] if -len(base) <= at < len(base) else _MISSING
            return base.get(at, _MISSING) if type(base) is dict and type(at) in (int, str) else _MISSING
    return _MISSING


def _of_super(name: str, frame: FrameType) -> Any:
    """The method that `super().name` stands for in a frame."""
    code = frame.f_code
    held, own = frame.f_locals, frame.f_locals.get("__class__")
    first = held.get(code.co_varnames[0], _MISSING) if code.co_argcount else _MISSING
    kind = first if isinstance(first, type) else type(first)
    if "super" in frame.f_globals or own not in kind.__mro__:
        return _MISSING
    following = kind.__mro__[kind.__mro__.index(own) + 1 :]
    return next((vars(c)[name] for c in following if name in vars(c)), _MISSING)


def _of_new_object(kind: Any, name: str) -> Any:
    """The method of an object that a class has just made, where objects of the class have it from the class alone."""
    if not isinstance(kind, type) or type(kind).__call__ is not type.__call__:
        return _MISSING
    changed = any(x in vars(c) for c in kind.__mro__[:-1] for x in ("__new__", "__getattribute__"))
    return _MISSING if changed or _gives_itself(kind, name) else inspect.getattr_static(kind, name, _MISSING)


@lru_cache(maxsize=512)
def _gives_itself(kind: type, name: str) -> bool:
    """Whether a method of a class may give an object an attribute of this name, which stands before the class's own."""
    methods = (v for c in kind.__mro__ if c not in _BARE for k, v in vars(c).items() if k not in _SHOWING)
    held = (getattr(v, "__func__", v) for v in methods)
    codes = [f.__code__ for f in held if isinstance(f, FunctionType)]
    stored = ((i.opname, i.argval) for code in codes for i in dis.get_instructions(code))
    by_name = any({"__dict__", "setattr", "vars", "__setattr__"}.intersection(code.co_names) for code in codes)
    return by_name or ("STORE_ATTR", name) in stored


@lru_cache(maxsize=1024)
def _expression(code: CodeType, at: int) -> ast.expr | None:
    """The expression that an instruction belongs to, as the source has it."""
    line, last, start, end = list(code.co_positions())[at // 2]  # one for each unit of two bytes
    if line is None or last is None or start is None or end is None:
        return None
    lines = [x.encode() for x in linecache.getlines(code.co_filename)[line - 1 : last]]
    if len(lines) != last - line + 1:
        return None
    lines[-1] = lines[-1][:end]
    lines[0] = lines[0][start:]
    try:
        return ast.parse(f"({b''.join(lines).decode()})", mode="eval").body  # which may go over several lines
    except (SyntaxError, ValueError):
        return None
