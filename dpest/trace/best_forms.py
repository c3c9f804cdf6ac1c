"""Loops that keep the best of what their rounds draw, read on the syntax tree: a round as a function of what is kept.

`while True: v = f() + noise, if v > best: best = v, if toss: return best` is a round that is handed `best`, and says whether
the loop ends there. What the round does with what it is handed is looked at when it is met (`trace.kept_best`).
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from dpest.trace.syntax import RUNTIME, ask, if_known, load, thunk, tuple_of

_NOT_INSIDE = (
    *(ast.While, ast.For, ast.AsyncFor, ast.Break, ast.Continue, ast.Return, ast.Yield, ast.YieldFrom, ast.Await, ast.Global),
    *(ast.Nonlocal, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.Try, ast.With, ast.Delete),
)
Elsewhere = Callable[[str], bool]  # whether a name is read outside a part of a function
_SIMPLE = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.If, ast.Expr, ast.Pass)


@dataclass(frozen=True)
class KeepsBest:
    """One round, the names that it hands on, how many rounds there are (None: until it ends the loop), and how the loop ends."""

    body: list[ast.stmt]
    names: tuple[str, ...]
    count: ast.expr | None
    ends: list[ast.stmt]


def keeps_best(node: ast.While | ast.For, elsewhere: Elsewhere) -> KeepsBest | None:
    """A loop that may keep the best of its rounds; None for others. `elsewhere` says whether a name is read outside the loop."""
    body, count = (_until(node), None) if isinstance(node, ast.While) else (node.body, _drawn_count(node))
    found = [end for end in map(_end, body) if end is not None]
    ending = int(isinstance(node, ast.While))  # a `for` loop goes through all its rounds
    if node.orelse or len(found) != ending or not (ending or count) or not all(isinstance(x, _SIMPLE) for x in body):
        return None
    parts = [x.test if _end(x) is not None and isinstance(x, ast.If) else x for x in body]
    if any(isinstance(x, _NOT_INSIDE) for part in parts for x in ast.walk(part)):
        return None
    ends: list[ast.stmt] = [end for end in found if isinstance(end, ast.Return)]
    names, early = _handed_on(body, ends, elsewhere)
    return KeepsBest(body, names, count, ends) if early & {*names} else None


def _until(node: ast.While) -> list[ast.stmt]:
    """The body of a loop without end that does the same."""
    if isinstance(node.test, ast.Constant) and node.test.value:
        return node.body
    return [ast.If(ast.UnaryOp(ast.Not(), node.test), [ast.Break()], []), *node.body]


def _end(x: ast.stmt) -> ast.stmt | None:
    """How a loop ends in a statement `if test: break` or `if test: return ...`."""
    match x:
        case ast.If(body=[ast.Break() | ast.Return() as end], orelse=[]):
            return end
    return None


def _drawn_count(node: ast.For) -> ast.expr | None:
    """The call of a generator that says how many rounds there are: `for _ in range(rng.geometric(p))`."""
    match node:
        case ast.For(target=ast.Name(id=name), iter=ast.Call(func=ast.Name(id="range"), args=[ast.Call() as count], keywords=[])):
            return None if any(isinstance(x, ast.Name) and x.id == name for y in node.body for x in ast.walk(y)) else count
    return None


def _handed_on(
    body: list[ast.stmt], ends: list[ast.stmt], elsewhere: Elsewhere
) -> tuple[tuple[str, ...], set[str]]:
    """The names that a round gives values to for the next one or for what follows, and those that it reads before."""
    stored = [x.id for y in body for x in ast.walk(y) if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Store)]
    after = {x.id for y in ends for x in ast.walk(y) if isinstance(x, ast.Name)}
    given: set[str] = set()
    early: set[str] = set()
    for x in body:
        early |= {name for name in _loads(x) if name not in given}
        match x:
            case ast.Assign(targets=targets):
                given |= {y.id for t in targets for y in ast.walk(t) if isinstance(y, ast.Name) and isinstance(y.ctx, ast.Store)}
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr()):
                given.add(name)
    return tuple(dict.fromkeys(name for name in stored if name in early or name in after or elsewhere(name))), early


def _loads(node: ast.AST) -> Counter[str]:
    """How often names are read; `x += 1` reads x."""
    nodes = list(ast.walk(node))
    read = Counter(x.id for x in nodes if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Load))
    return read + Counter(x.target.id for x in nodes if isinstance(x, ast.AugAssign) and isinstance(x.target, ast.Name))


def count_drawn_in_place(statements: list[ast.stmt], read_outside: Callable[[ast.stmt], Elsewhere]) -> list[ast.stmt]:
    """n = rng.poisson(4), best = None, for _ in range(n): ... as for _ in range(rng.poisson(4)), where n is read there alone."""
    out = list(statements)
    for x in statements:
        match x:
            case ast.For(iter=ast.Call(func=ast.Name(id="range"), args=[ast.Name(id=name)], keywords=[])):
                elsewhere = read_outside(x)
                k = _made_before(out[: out.index(x)], name)
                if k is None or elsewhere(name) or _loads(ast.Module(x.body, []))[name]:
                    continue
                value = out[k]
                assert isinstance(value, ast.Assign)
                loop = copy.deepcopy(x)
                loop.iter = ast.copy_location(ast.Call(load("range"), [value.value], []), x.iter)
                if keeps_best(loop, elsewhere) is not None:
                    out[out.index(x)] = loop
                    del out[k]
            case ast.Assign() | ast.Return() if out.index(x):
                _put_in_place(out, out.index(x), read_outside)
    return out


def _put_in_place(out: list[ast.stmt], at: int, read_outside: Callable[[ast.stmt], Elsewhere]) -> None:
    """n = rng.geometric(p), return max(f() for _ in range(n)) as max(f() for _ in range(rng.geometric(p)))."""
    match out[at - 1]:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as value):
            pass
        case _:
            return
    statement = out[at]
    ranges = [x for x in ast.walk(statement) if isinstance(x, ast.Call) and isinstance(x.func, ast.Name) and x.func.id == "range"]
    own = [x for x in ranges if len(x.args) == 1 and isinstance(x.args[0], ast.Name) and x.args[0].id == name]
    if len(own) == 1 and _loads(statement)[name] == 1 and not read_outside(statement)(name):
        changed = copy.deepcopy(statement)
        found = next(x for x in ast.walk(changed) if isinstance(x, ast.Call) and ast.dump(x) == ast.dump(own[0]))
        found.args = [value]
        if any(isinstance(x, ast.Call) and largest_of(x) is not None for x in ast.walk(changed)):
            out[at - 1 : at + 1] = [changed]


def _made_before(before: list[ast.stmt], name: str) -> int | None:
    """Where a name is given what a call returns, with nothing but constants given to names behind it."""
    for k in reversed(range(len(before))):
        match before[k]:
            case ast.Assign(targets=[ast.Name(id=own)], value=ast.Call()) if own == name:
                return k
            case ast.Assign(value=value) if _is_constant(value):
                continue
        return None
    return None


def _is_constant(x: ast.expr) -> bool:
    """Whether an expression is a constant, -math.inf or float("-inf")."""
    match x:
        case ast.Constant() | ast.Attribute(value=ast.Name(id="math" | "np" | "numpy"), attr="inf"):
            return True
        case ast.UnaryOp(operand=inner):
            return _is_constant(inner)
        case ast.Tuple(elts=parts):
            return all(map(_is_constant, parts))
        case ast.Call(func=ast.Name(id="float"), args=[ast.Constant()], keywords=[]):
            return True
    return False


def as_best(found: KeepsBest, name: str, loop: ast.stmt, ends: list[ast.stmt]) -> list[ast.stmt]:
    """The loop as the best of its rounds, and as it is where that cannot be had."""
    step = f"{name}_round"
    made = ast.parse(f"def {step}({', '.join(found.names)}): pass").body[0]
    assert isinstance(made, ast.FunctionDef)
    made.body = [*(_said(copy.deepcopy(x), found.names) for x in found.body), _says(False, found.names)]
    seen: list[ast.stmt] = [ast.Expr(x.test) if isinstance(x, ast.If) and _end(x) else x for x in found.body]
    text = ast.unparse(ast.Module(seen, []))
    held = tuple_of(thunk(load(own)) for own in found.names)
    count: ast.expr = ast.Constant(None) if found.count is None else thunk(found.count)
    asked = ask("best_kept", load(step), ast.Constant(text), held, count)
    targets = ast.Tuple([ast.Name(own, ast.Store()) for own in found.names], ast.Store())
    known: list[ast.stmt] = [ast.Assign([targets], load(name)), *ends]
    return [ast.fix_missing_locations(ast.copy_location(made, loop)), *if_known(name, asked, known, loop)]


def _said(x: ast.stmt, names: tuple[str, ...]) -> ast.stmt:
    """A statement of a round; the one that ends the loop says so."""
    return ast.If(x.test, [_says(True, names)], []) if _end(x) is not None and isinstance(x, ast.If) else x


def _says(ended: bool, names: tuple[str, ...]) -> ast.Return:
    return ast.Return(tuple_of((ast.Constant(ended), tuple_of(map(load, names)))))


# -- the largest of a list that is as long as a draw says --------------------------------------------------------------


def largest_of(node: ast.Call) -> tuple[ast.expr, ast.expr] | None:
    """max(value for _ in range(count)): the value and the count, which is the call of a generator."""
    match node:
        case ast.Call(func=ast.Name(id="max"), args=[ast.GeneratorExp() | ast.ListComp() as listed], keywords=[]):
            pass
        case _:
            return None
    match listed.generators:
        case [ast.comprehension(target=ast.Name(id=name), iter=ast.Call(func=ast.Name(id="range"), args=[count]), ifs=[])]:
            inside = any(isinstance(x, _NOT_INSIDE) for x in ast.walk(listed.elt))
            if isinstance(count, ast.Call) and not inside and not _loads(listed.elt)[name]:
                return listed.elt, count
    return None


def as_largest(found: tuple[ast.expr, ast.expr], as_written: ast.expr) -> ast.Call:
    """The best of so many values, and what was written where that cannot be had."""
    value, count = found
    names = ast.arguments([], [ast.arg(f"{RUNTIME}_best")], None, [], [], None, [])
    names_used = tuple_of((load("max"), load("range")))
    one = ask("larger", copy.deepcopy(value), load(f"{RUNTIME}_best"))
    step = ast.Lambda(names, tuple_of((ast.Constant(False), tuple_of((one,)))))
    return ask("largest", step, ast.Constant(ast.unparse(value)), thunk(copy.deepcopy(count)), thunk(as_written), names_used)
