"""The author's function from its source, compiled anew with both sides of an `if` kept together where that is possible.

Nothing of the author's is changed: the new function shares globals, closure and defaults with the old one. Where the source
cannot be read, or is not what was loaded, there is no new function, and `if` forks the run as ever.
"""

from __future__ import annotations
import __future__

import ast
import copy
import linecache
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any

from dpest.trace.liveness import noting_shared
from dpest.trace.rewrite import rewritten_body, with_calls
from dpest.trace.syntax import RUNTIME

_FACTORY = "_dpest_factory"
_SEES_NAMES = frozenset({"locals", "vars", "eval", "exec", "dir"})  # code that looks at its own variables
_FUTURE = 0
for _feature in __future__.all_feature_names:
    _FUTURE |= getattr(__future__, _feature).compiler_flag

FunctionNode = ast.FunctionDef | ast.Lambda


def together(function: FunctionType, runtime: ModuleType) -> FunctionType:
    """The function with the sides of its `if` statements kept together; itself where its source cannot be read."""
    return _with_code(function, _rewritten(function.__code__, rewritten_body), runtime)


def calling(function: FunctionType, runtime: ModuleType) -> FunctionType:
    """The function whose calls ask `runtime` what to call, and else as it is; itself where its source cannot be read."""
    return _with_code(function, _rewritten(function.__code__, with_calls), runtime)


def with_body(function: FunctionType, rewriting: Callable[[FunctionNode], FunctionNode]) -> FunctionType | None:
    """The function with another body, and its signature; None where its source cannot be read."""
    code = _rewritten.__wrapped__(function.__code__, rewriting)
    if code is None:
        return None
    new = _with_code(function, code, ModuleType(RUNTIME))
    new.__annotations__ = function.__annotations__
    return new


def _with_code(function: FunctionType, code: CodeType | None, runtime: ModuleType) -> FunctionType:
    if code is None:
        return function
    held = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    cells = tuple(CellType(runtime) if name == RUNTIME else held[name] for name in code.co_freevars)
    new = FunctionType(code, function.__globals__, function.__name__, function.__defaults__, cells)
    new.__kwdefaults__ = function.__kwdefaults__
    new.__dict__ = function.__dict__
    new.__module__ = function.__module__
    return new


@lru_cache(maxsize=512)
def _rewritten(code: CodeType, rewriting: Callable[[FunctionNode], FunctionNode]) -> CodeType | None:
    if RUNTIME in code.co_freevars or RUNTIME in code.co_cellvars or _SEES_NAMES & {*code.co_names}:
        return None
    found = _read(code)
    if found is None:
        return None
    node, imports = found
    new = _compiled(rewriting(copy.deepcopy(node)), code, imports)
    # A name that is free in the old code and not in the new one, or the other way round, is one that we misread.
    if new is None or {*new.co_freevars} - {RUNTIME} != {*code.co_freevars}:
        return None
    _note_own(new, code)
    return noting_shared(new, code)


def node_of(code: CodeType) -> FunctionNode | None:
    """The syntax tree that a function's code was made of; None where its source cannot be read, or has changed since."""
    found = None if _SEES_NAMES & {*code.co_names} else _read(code)
    return None if found is None else found[0]


def node_at(code: CodeType) -> ast.FunctionDef | None:
    """The one function in the source file that stands where the code does, which is known to be what was loaded."""
    tree = _tree("".join(linecache.getlines(code.co_filename)))
    found = [] if tree is None else _candidates(tree, code)
    return found[0] if len(found) == 1 and isinstance(found[0], ast.FunctionDef) else None


@lru_cache(maxsize=512)
def _read(code: CodeType) -> tuple[FunctionNode, list[ast.stmt]] | None:
    """The function in its source file, and the imports there."""
    tree = _tree("".join(linecache.getlines(code.co_filename)))
    if tree is None:
        return None
    imports = list(_imports(tree.body))
    return next(((x, imports) for x in _candidates(tree, code) if _same(_compiled(x, code, imports), code)), None)


OWN_CODE: dict[CodeType, CodeType] = {}  # of functions inside those that were rewritten: the author's, by the one made of it


def _note_own(new: CodeType, old: CodeType) -> None:
    """Keeps the author's code of each function inside one that was rewritten, where it is told by its name and line."""
    for own in _inside(old):
        made = [x for x in _inside(new) if (x.co_name, x.co_firstlineno) == (own.co_name, own.co_firstlineno)]
        if len(made) == 1 and own.co_name != "<lambda>" and RUNTIME in made[0].co_freevars:
            OWN_CODE[made[0]] = own


def as_written(function: FunctionType) -> FunctionType | None:
    """A function inside a rewritten one as the author wrote it; None where its code is not known."""
    code = OWN_CODE.get(function.__code__)
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    if code is None or not {*code.co_freevars} <= cells.keys():
        return None
    closure = tuple(cells[name] for name in code.co_freevars)
    new = FunctionType(code, function.__globals__, function.__name__, function.__defaults__, closure)
    new.__kwdefaults__, new.__module__ = function.__kwdefaults__, function.__module__
    return new


def _inside(code: CodeType) -> list[CodeType]:
    return [y for x in code.co_consts if isinstance(x, CodeType) for y in (x, *_inside(x))]


def _imports(statements: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """The imports of a module: Python compiles `np.exp(x)` in another way where `np` is imported."""
    for x in statements:
        if isinstance(x, ast.Import) or (isinstance(x, ast.ImportFrom) and x.module != "__future__"):
            yield x
        elif isinstance(x, ast.If | ast.Try | ast.With):
            yield from _imports([y for y in ast.walk(x) if isinstance(y, ast.Import | ast.ImportFrom)])


def _candidates(tree: ast.Module, code: CodeType) -> list[FunctionNode]:
    """The functions of the source file that begin where the code does."""
    return [x for x in ast.walk(tree) if isinstance(x, FunctionNode) and _begins(x) == code.co_firstlineno and _called(x, code)]


def _called(node: FunctionNode, code: CodeType) -> bool:
    return code.co_name == (node.name if isinstance(node, ast.FunctionDef) else "<lambda>")


def _begins(node: FunctionNode) -> int:
    decorators = node.decorator_list if isinstance(node, ast.FunctionDef) else []
    return min([node.lineno, *(d.lineno for d in decorators)])


@lru_cache(maxsize=32)
def _tree(text: str) -> ast.Module | None:
    try:
        return ast.parse(text) if text else None
    except (SyntaxError, ValueError, RecursionError):
        return None


def _compiled(node: FunctionNode, code: CodeType, imports: list[ast.stmt]) -> CodeType | None:
    """The function's code, its free variables taken from a function around it, which is never called."""
    inner: ast.stmt = _bare(node) if isinstance(node, ast.FunctionDef) else ast.Return(_without_defaults(node))
    names = [*code.co_freevars, RUNTIME]
    around = ast.parse(f"def {_FACTORY}({', '.join(names)}): pass").body[0]
    assert isinstance(around, ast.FunctionDef)
    # A function that calls itself finds its own name among the globals, and not in the function around it.
    own = isinstance(node, ast.FunctionDef) and node.name not in names
    around.body = [ast.Global([code.co_name]), inner] if own else [inner]
    module = ast.fix_missing_locations(ast.Module([*imports, ast.copy_location(around, node)], []))
    try:
        whole = compile(module, code.co_filename, "exec", flags=code.co_flags & _FUTURE, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError):
        return None
    factory = next(x for x in whole.co_consts if isinstance(x, CodeType))
    return next((x for x in factory.co_consts if isinstance(x, CodeType) and x.co_name == code.co_name), None)


def _bare(node: ast.FunctionDef) -> ast.FunctionDef:
    """The function without decorators, annotations and defaults: those belong to the place where it was defined."""
    new = copy.copy(node)
    new.decorator_list, new.returns, new.args = [], None, _bare_arguments(node.args)
    return new


def _without_defaults(node: ast.Lambda) -> ast.Lambda:
    new = copy.copy(node)
    new.args = _bare_arguments(node.args)
    return new


def _bare_arguments(args: ast.arguments) -> ast.arguments:
    new = copy.deepcopy(args)
    for x in (*new.posonlyargs, *new.args, *new.kwonlyargs, *(a for a in (new.vararg, new.kwarg) if a)):
        x.annotation = None
    new.defaults = [ast.Constant(None) for _ in new.defaults]
    new.kw_defaults = [None if d is None else ast.Constant(None) for d in new.kw_defaults]
    return new


def _same(a: Any, b: Any) -> bool:
    """Whether two codes do the same: the file may have changed since it was loaded, and a line may hold two lambdas."""
    if not isinstance(a, CodeType) or not isinstance(b, CodeType):
        return type(a) is type(b) and bool(a == b)
    parts = ("co_code", "co_names", "co_varnames", "co_freevars", "co_cellvars")
    if any(getattr(a, p) != getattr(b, p) for p in parts) or len(a.co_consts) != len(b.co_consts):
        return False
    return all(_same(x, y) for x, y in zip(a.co_consts, b.co_consts, strict=True))
