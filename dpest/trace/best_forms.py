"""Loops that keep the best of what their rounds draw, read on the syntax tree: a round as a function of what is kept.

`while True: v = f() + noise, if v > best: best = v, if toss: return best` is a round that is handed `best`, and says whether
the loop ends there. What the round does with what it is handed is looked at when it is met (`trace.kept_best`).
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from dpest.trace.syntax import RUNTIME, ask, if_known, load, thunk, tuple_of

_NOT_INSIDE = (
    *(ast.While, ast.For, ast.AsyncFor, ast.Break, ast.Continue, ast.Return, ast.Yield, ast.YieldFrom, ast.Await, ast.Global),
    *(ast.Nonlocal, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.Try, ast.With, ast.Delete),
)
Elsewhere = Callable[[str], bool]  # whether a name is read outside a part of a function
_SIMPLE = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.If, ast.Expr, ast.Pass)


@dataclass(frozen=True)
class Count:
    """How many rounds there are: the call that draws it, and the name that holds what it returned, if one does."""

    call: ast.Call
    name: str | None

    def asked(self) -> list[ast.expr]:
        """The call once more, for its law, and what it returned."""
        return [thunk(copy.deepcopy(self.call)), ast.Constant(None) if self.name is None else load(self.name)]


@dataclass(frozen=True)
class KeepsBest:
    """One round, the names that it hands on, how many rounds there are (None: until it ends the loop), and how the loop ends.

    A loop that ends by itself may also have a range of rounds: that many at most.
    """

    body: list[ast.stmt]
    names: tuple[str, ...]
    count: Count | None
    most: ast.Call | None
    ends: list[ast.stmt]


def keeps_best(node: ast.While | ast.For, elsewhere: Elsewhere, counts: Mapping[str, ast.Call]) -> KeepsBest | None:
    """A loop that may keep the best of its rounds; None for others. `elsewhere` says whether a name is read outside the loop."""
    body = _until(node) if isinstance(node, ast.While) else node.body
    if isinstance(node, ast.For) and _is_told(node, elsewhere):
        return None
    found = [end for end in map(_end, body) if end is not None]
    count, most = (None, None) if isinstance(node, ast.While) else (_count(node.iter, counts), _range(node.iter))
    match node, found:
        case (ast.While(), [_]) | (ast.For(), []) if count or isinstance(node, ast.While):
            most = None
        case ast.For(), [ast.Break()] if most and not count:
            pass
        case _:
            return None
    if node.orelse or not all(isinstance(x, _SIMPLE) for x in body):
        return None
    parts = [x.test if _end(x) is not None and isinstance(x, ast.If) else x for x in body]
    if any(isinstance(x, _NOT_INSIDE) for part in parts for x in ast.walk(part)):
        return None
    ends: list[ast.stmt] = [end for end in found if isinstance(end, ast.Return)]
    names, early = _handed_on(body, ends, elsewhere)
    return KeepsBest(body, names, count, most, ends) if early & {*names} else None


def _is_told(node: ast.For, elsewhere: Elsewhere) -> bool:
    """Whether anyone reads which round it is, or was when the loop ended."""
    if not isinstance(node.target, ast.Name):
        return True
    return bool(_loads(ast.Module(node.body, []))[node.target.id]) or elsewhere(node.target.id)


def _range(looped: ast.expr) -> ast.Call | None:
    """`range(limit)` of what is worked out without a call but of `len`."""
    match looped:
        case ast.Call(func=ast.Name(id="range"), args=args, keywords=[]) if args:
            calls = [x for y in args for x in ast.walk(y) if isinstance(x, ast.Call)]
            plain = all(isinstance(x.func, ast.Name) and x.func.id == "len" for x in calls)
            inside = any(isinstance(x, (ast.NamedExpr, ast.Starred, *_NOT_INSIDE)) for y in args for x in ast.walk(y))
            return looped if plain and not inside else None
    return None


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


def _count(looped: ast.expr, counts: Mapping[str, ast.Call]) -> Count | None:
    """How long a loop goes on: `range(rng.geometric(p))`, or `range(n)` of a name that holds such a draw."""
    match looped:
        case ast.Call(func=ast.Name(id="range"), args=[ast.Call() as call], keywords=[]):
            return Count(call, None)
        case ast.Call(func=ast.Name(id="range"), args=[ast.Name(id=name)], keywords=[]) if name in counts:
            return Count(counts[name], name)
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


def drawn_counts(whole: ast.AST) -> dict[str, ast.Call]:
    """The names that hold what a call returns, and that are read by one `range` alone, or compared with 0 or 1."""
    nodes = list(ast.walk(whole))
    stored = Counter(x.id for x in nodes if isinstance(x, ast.Name) and not isinstance(x.ctx, ast.Load))
    stored.update(x.arg for x in nodes if isinstance(x, ast.arg))
    ranges, tests = Counter[str](), Counter[str]()
    made: dict[str, ast.Call] = {}
    for x in nodes:
        match x:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call):
                made[name] = call
            case ast.Call(func=ast.Name(id="range"), args=[ast.Name(id=name)], keywords=[]):
                ranges[name] += 1
            case ast.Compare(left=ast.Name(id=name), comparators=[ast.Constant(value=0 | 1)]):
                tests[name] += 1
    read = _loads(whole)
    return {
        name: call
        for name, call in made.items()
        if stored[name] == 1 == ranges[name] and read[name] == 1 + tests[name] and all(stored[x] < 2 for x in _loads(call))
    }


def as_best(found: KeepsBest, name: str, loop: ast.stmt, ends: list[ast.stmt]) -> list[ast.stmt]:
    """The loop as the best of its rounds, and as it is where that cannot be had."""
    step = f"{name}_round"
    made = ast.parse(f"def {step}({', '.join(found.names)}): pass").body[0]
    assert isinstance(made, ast.FunctionDef)
    made.body = [*(_said(copy.deepcopy(x), found.names) for x in found.body), _says(False, found.names)]
    seen: list[ast.stmt] = [ast.Expr(x.test) if isinstance(x, ast.If) and _end(x) else x for x in found.body]
    text = ast.unparse(ast.Module(seen, []))
    held = tuple_of(thunk(load(own)) for own in found.names)
    count = [ast.Constant(None), ast.Constant(None)] if found.count is None else found.count.asked()
    most = ast.Constant(None) if found.most is None else thunk(_taken_apart(found.most))
    asked = ask("best_kept", load(step), ast.Constant(text), held, *count, most)
    targets = ast.Tuple([ast.Name(own, ast.Store()) for own in found.names], ast.Store())
    known: list[ast.stmt] = [ast.Assign([targets], load(name)), *ends]
    return [ast.fix_missing_locations(ast.copy_location(made, loop)), *if_known(name, asked, known, loop)]


def _taken_apart(call: ast.Call) -> ast.expr:
    """A function and what it would be called with."""
    return tuple_of((load("range"), *copy.deepcopy(call.args)))


def _said(x: ast.stmt, names: tuple[str, ...]) -> ast.stmt:
    """A statement of a round; the one that ends the loop says so."""
    return ast.If(x.test, [_says(True, names)], []) if _end(x) is not None and isinstance(x, ast.If) else x


def _says(ended: bool, names: tuple[str, ...]) -> ast.Return:
    return ast.Return(tuple_of((ast.Constant(ended), tuple_of(map(load, names)))))


# -- the largest of a list that is as long as a draw says --------------------------------------------------------------


def largest_of(node: ast.Call, counts: Mapping[str, ast.Call]) -> tuple[ast.expr, Count] | None:
    """max(value for _ in range(count)): the value and the count."""
    match node:
        case ast.Call(func=ast.Name(id="max"), args=[ast.GeneratorExp() | ast.ListComp() as listed], keywords=[]):
            pass
        case _:
            return None
    match listed.generators:
        case [ast.comprehension(target=ast.Name(id=name), iter=looped, ifs=[])]:
            inside = any(isinstance(x, _NOT_INSIDE) for x in ast.walk(listed.elt))
            count = _count(looped, counts)
            return None if count is None or inside or _loads(listed.elt)[name] else (listed.elt, count)
    return None


def as_largest(found: tuple[ast.expr, Count], as_written: ast.expr) -> ast.Call:
    """The best of so many values, and what was written where that cannot be had."""
    value, count = found
    names = ast.arguments([], [ast.arg(f"{RUNTIME}_best")], None, [], [], None, [])
    one = ask("larger", copy.deepcopy(value), load(f"{RUNTIME}_best"))
    step = ast.Lambda(names, tuple_of((ast.Constant(False), tuple_of((one,)))))
    names_used = tuple_of((load("max"), load("range")))
    return ask("largest", step, ast.Constant(ast.unparse(value)), *count.asked(), thunk(as_written), names_used)
