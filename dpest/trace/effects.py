"""Whether statements of the author's change nothing but their own variables.

Read on the syntax tree, with the values that global names have. What is not known to be harmless counts as a change.
"""

from __future__ import annotations

import ast
import builtins
import random
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from dpest.lang.generators.places import is_authors
from dpest.lang.generators.swap import NAMES
from dpest.trace.calls import harmless
from dpest.trace.source import FunctionNode, node_of

_OTHER_SCOPES = (
    *(ast.Global, ast.Nonlocal, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Yield, ast.YieldFrom, ast.Await),
    *(ast.Try, ast.TryStar, ast.With, ast.AsyncWith, ast.AsyncFor, ast.Delete, ast.Match),
)
_NEW_OBJECTS = (
    *(ast.Constant, ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp),
    *(ast.BinOp, ast.UnaryOp, ast.Compare, ast.JoinedStr),
)
_HOMES = frozenset({"numpy", "math", "random", "statistics", "scipy", "itertools", "operator", "dpest", "secrets"})
_BUILTINS = frozenset((
    "abs", "all", "any", "bool", "complex", "dict", "divmod", "enumerate", "float", "frozenset", "int", "isinstance", "len",
    "list", "max", "min", "pow", "print", "range", "reversed", "round", "set", "sorted", "str", "sum", "tuple", "zip",
))  # fmt: skip
_CHANGES = frozenset((
    "add", "append", "appendleft", "byteswap", "clear", "copyto", "discard", "extend", "extendleft", "fill", "fill_diagonal",
    "insert", "itemset", "partition", "place", "pop", "popitem", "popleft", "put", "put_along_axis", "putmask", "remove",
    "resize", "reverse", "rotate", "save", "savez", "savetxt", "seed", "send", "set_state", "setdefault", "setfield",
    "setflags", "setstate", "shuffle", "sort", "update", "write", "writelines",
))  # fmt: skip
_READS = frozenset((
    "all", "any", "argmax", "argmin", "argsort", "astype", "clip", "conj", "copy", "count", "cumprod", "cumsum", "diagonal",
    "dot", "endswith", "flatten", "format", "get", "index", "isdigit", "item", "items", "join", "keys", "lower", "max", "mean",
    "min", "nonzero", "prod", "ravel", "repeat", "reshape", "round", "split", "squeeze", "startswith", "std", "strip", "sum",
    "swapaxes", "tolist", "trace", "transpose", "upper", "values", "var",
))  # fmt: skip
_THREE = frozenset({"arange", "clip", "full", "interp", "linspace", "logspace", "where"})  # others take a place for the result
_MOST_CALLS = 5  # functions of the author's inside one another that are looked into


@dataclass(frozen=True)
class Scope:
    """What the names in some statements stand for."""

    outside: Mapping[str, Any]  # global and free names
    local: frozenset[str]
    new: frozenset[str]  # local names of objects that nothing else holds, or that cannot be changed
    generators: frozenset[str]
    depth: int = 0

    def value(self, name: str) -> Any:
        """What a name outside the function stands for."""
        return self.outside.get(name, vars(builtins).get(name))


def outside(function: FunctionType) -> dict[str, Any]:
    """The values of the global and free names of a function."""
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    return {**function.__globals__, **{name: cell.cell_contents for name, cell in cells}}


def keep_to_themselves(statements: Sequence[ast.stmt], scope: Scope) -> bool:
    """Whether statements change no object that is known outside."""
    nodes = [x for s in statements for x in ast.walk(s)]
    called = {id(x.func) for x in nodes if isinstance(x, ast.Call)}
    return all(_allowed(x, scope, id(x) in called) for x in nodes)


def assigned(statements: Iterable[ast.stmt]) -> Iterator[tuple[str, ast.expr | None]]:
    """The names that statements give values to, with the expression where there is one."""
    for x in (x for s in statements for x in ast.walk(s)):
        match x:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    yield from _bound(target, value)
            case ast.AnnAssign(target=ast.Name(id=name), value=value) if value is not None:
                yield name, value
            case ast.AugAssign(target=ast.Name()) | ast.Assign() | ast.AnnAssign():
                pass
            case ast.For(target=target) | ast.comprehension(target=target) | ast.NamedExpr(target=target):
                yield from _bound(target, None)


def _bound(target: ast.expr, value: ast.expr | None) -> Iterator[tuple[str, ast.expr | None]]:
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, ast.Tuple | ast.List):
        parts = value.elts if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts) else None
        for k, part in enumerate(target.elts):
            yield from _bound(part, parts[k] if parts else None)
    elif isinstance(target, ast.Starred):
        yield from _bound(target.value, None)


def new_objects(statements: Sequence[ast.stmt], given: Collection[str] = ()) -> frozenset[str]:
    """The names that stand for new objects only, or were such before."""
    found: dict[str, bool] = dict.fromkeys(given, True)
    for name, value in assigned(statements):
        found[name] = found.get(name, True) and isinstance(value, _NEW_OBJECTS)
    return frozenset(name for name, new in found.items() if new)


def _allowed(x: ast.AST, scope: Scope, called: bool) -> bool:
    match x:
        case ast.Call():
            return _harmless_call(x, scope)
        case ast.Attribute(ctx=ast.Load(), attr=attr, value=base):
            return called or (attr not in _CHANGES and not attr.startswith("__") and _is_plain(base, scope))
        case ast.Attribute():
            return False
        case ast.Name(ctx=ast.Load(), id=name) if name not in scope.local:
            return called or _is_known(scope.value(name), scope)
        case ast.Subscript(ctx=ast.Load()):
            return True
        case ast.Subscript(value=base):
            return isinstance(base, ast.Name) and base.id in scope.new
        case ast.AugAssign(target=ast.Name(id=name)):
            return name in scope.new
    return not isinstance(x, _OTHER_SCOPES)


def _is_known(x: Any, scope: Scope) -> bool:
    """Whether an object outside is a module, a value that is not of the author's making, or a function that changes nothing."""
    if isinstance(x, ModuleType):
        return True
    if type(x) is FunctionType and is_authors(x):
        return _pure_function(x, scope.depth)
    return not is_authors(x if callable(x) else type(x))


def _is_plain(base: ast.expr, scope: Scope) -> bool:
    """Whether an attribute is read of a module or of a local value: objects outside may do anything when they are asked."""
    while isinstance(base, ast.Attribute):
        base = base.value
    return not isinstance(base, ast.Name) or base.id in scope.local or isinstance(scope.value(base.id), ModuleType)


def _harmless_call(x: ast.Call, scope: Scope) -> bool:
    if any(k.arg in (None, "out", "overwrite_input") for k in x.keywords) or any(isinstance(a, ast.Starred) for a in x.args):
        return False
    match x.func:
        case ast.Name(id=name):
            return name not in scope.local and _harmless_function(scope.value(name), name, x, scope)
        case ast.Attribute(attr=attr, value=ast.Name(id=name)) if name in scope.local:
            drawn = name in scope.generators and attr not in _CHANGES
            return drawn or attr in _READS or name in scope.new
        case ast.Attribute(attr=attr, value=base):
            found = _resolved(base, scope)
            if isinstance(found, ModuleType):
                return _harmless_function(getattr(found, attr, None), attr, x, scope)
            if isinstance(found, np.random.Generator | np.random.RandomState | random.Random):
                return attr not in _CHANGES
            return attr in _READS and (found is None or not is_authors(type(found)))
    return False


def _resolved(base: ast.expr, scope: Scope) -> Any:
    """What a name outside, or an attribute of a module, stands for; None where that is not known."""
    match base:
        case ast.Name(id=name) if name not in scope.local:
            return scope.value(name)
        case ast.Attribute(attr=attr, value=inner):
            found = _resolved(inner, scope)
            return getattr(found, attr, None) if isinstance(found, ModuleType) else None
    return None


def _harmless_function(function: Any, name: str, x: ast.Call, scope: Scope) -> bool:
    if name in _CHANGES or function is None:
        return False
    if isinstance(function, np.ufunc):
        return len(x.args) <= function.nin
    if type(function) is FunctionType and is_authors(function):
        return _pure_function(function, scope.depth)
    if getattr(builtins, name, None) is function:
        return name in _BUILTINS
    home = (getattr(function, "__module__", None) or "").partition(".")[0]
    few = len(x.args) <= (3 if name in _THREE else 2)
    if harmless(function):
        return few or home != "numpy"
    if isinstance(getattr(function, "__self__", None), np.random.RandomState | random.Random):
        return True
    return home in _HOMES and not isinstance(function, type) and few


def _pure_function(function: FunctionType, depth: int) -> bool:
    """Whether a function of the author's only works out what it returns."""
    node = node_of(function.__code__)
    if depth >= _MOST_CALLS or not isinstance(node, FunctionNode):
        return False
    body: list[ast.stmt] = node.body if isinstance(node, ast.FunctionDef) else [ast.Expr(node.body)]
    code = function.__code__
    parameters = frozenset(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
    new = new_objects(body) - parameters
    return keep_to_themselves(body, Scope(outside(function), names_in(node), new, parameters.intersection(NAMES), depth + 1))


def names_in(node: FunctionNode) -> frozenset[str]:
    """The names that a function, or anything inside it, gives values to."""
    nodes = list(ast.walk(node))
    given = {x.id for x in nodes if isinstance(x, ast.Name) and not isinstance(x.ctx, ast.Load)}
    imports = [a for x in nodes if isinstance(x, ast.Import | ast.ImportFrom) for a in x.names]
    imported = {(a.asname or a.name).partition(".")[0] for a in imports}
    return frozenset(given | imported | {x.arg for x in nodes if isinstance(x, ast.arg)})
