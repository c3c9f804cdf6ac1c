"""Lists of which a function only asks how many things they hold, how often each, or their sum: their order is no part of a state.

`reports.append(randomised(x))` in a loop has as many lists as there are sequences of answers; what `reports.count("yes")`, `len`
and `sum` say of them follows from how often each answer came.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from types import CodeType, FrameType
from typing import Any

import numpy as np

from dpest.lang.generators.places import is_authors
from dpest.trace.source import OWN_CODE, node_at
from dpest.trace.syntax import RUNTIME

_FUNCTIONS = frozenset({"len", "sum", "max", "min", "sorted"})
_METHODS = frozenset({"append", "count"})
# Values of one of these types are told apart by comparing them, and added in any order give one sum; floats are rounded.
_EXACT = (bool, int, str, np.bool_, np.int64, np.str_)


def without_orders(frame: FrameType, held: Mapping[str, Any]) -> dict[str, Any]:
    """The variables of a frame, with how often each thing is in a list instead of the list, where nobody sees its order."""
    names = _unordered(frame.f_code)
    if not names.intersection(held) or any(is_authors(frame.f_globals[x]) for x in _FUNCTIONS & frame.f_globals.keys()):
        return dict(held)
    return {name: _counted(x) if name in names else x for name, x in held.items()}


def _counted(x: Any) -> Any:
    kinds = {*map(type, x)} if type(x) is list else set()
    if len(kinds) != 1 or not kinds.issubset(_EXACT):
        return x
    return ("in any order", *sorted(Counter(x).items()))


@lru_cache(maxsize=512)
def _unordered(code: CodeType) -> frozenset[str]:
    """The lists of a function that are made empty in it, and of which nothing else is asked."""
    node = node_at(OWN_CODE.get(code, code)) if RUNTIME in code.co_freevars else None  # else the source may not be what runs
    if node is None:
        return frozenset()
    fine = {id(x) for x in _blind_uses(node)}
    made = {x.id for x in _made_empty(node)}
    names = [x for x in ast.walk(node) if isinstance(x, ast.Name)]
    seen = {x.id for x in names if id(x) not in fine}
    written = {x.id for x in names if isinstance(x.ctx, ast.Store)}
    other = {name for x in ast.walk(node) if isinstance(x, ast.Nonlocal | ast.Global) for name in x.names}
    own = {x.arg for x in ast.walk(node) if isinstance(x, ast.arg)}
    return frozenset() if _FUNCTIONS & (written | own) else frozenset(made - seen - other - own)


def _made_empty(node: ast.AST) -> Iterator[ast.Name]:
    for x in ast.walk(node):
        match x:
            case ast.Assign(targets=[ast.Name() as name], value=ast.List(elts=[])):
                yield name


def _blind_uses(node: ast.AST) -> Iterator[ast.Name]:
    yield from _made_empty(node)
    for x in ast.walk(node):
        match x:
            case ast.Call(func=ast.Attribute(value=ast.Name() as name, attr=attribute)) if attribute in _METHODS:
                yield name
            case ast.Call(func=ast.Name(id=function), args=[ast.Name() as name], keywords=[]) if function in _FUNCTIONS:
                yield name
