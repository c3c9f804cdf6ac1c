"""Loops in the form in which counting reads them: `while True` with one way out.

`for k in itertools.count()` is a loop that counts, `while not done` with `done = test` ends where the test holds. Read on the
syntax tree, and written anew where they do the same; everything else stays as it is.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from dpest.trace.syntax import RUNTIME

_Statement = TypeVar("_Statement", bound=ast.AST)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_LOOPS = (ast.For, ast.While, ast.AsyncFor)


class PlainLoops(ast.NodeTransformer):
    """Writes the loops of a function anew, those of functions inside it too."""

    def __init__(self, whole: ast.AST) -> None:
        self.reads = _loads(whole)
        self.counters = _counters(whole)
        self.own = {*_stored([whole]), *(x.arg for x in ast.walk(whole) if isinstance(x, ast.arg))}
        self.shared = {name for x in ast.walk(whole) if isinstance(x, ast.Global | ast.Nonlocal) for name in x.names}

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return node

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                setattr(node, name, self._block(block))
        return node

    def _block(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        for statement in statements:
            *named, x = self._named_before(statement)
            out += named
            if isinstance(x, ast.For):
                out += _counted_up(x, self._is_read)
            elif self._counts_for_nobody(x):
                out.append(_like(ast.Pass(), x))
            elif isinstance(x, ast.While):
                x.body = _without_continue(x.body)
                out.append(_turned(_without_flag(x, _constants(out), self.reads), out))
            else:
                out.append(x)
        return out

    def _named_before(self, x: ast.stmt) -> list[ast.stmt]:
        """if 0 < (y := value) < 4: ... as y = value, if 0 < y < 4: ...; a loop draws its value at the beginning of each round."""
        match x:
            case ast.If(test=test) | ast.While(test=test, orelse=[]):
                found = _first_named(test, self.own - self.shared)
            case _:
                return [x]
        if found is None:
            return [x]
        given = _like(ast.Assign([ast.Name(found.target.id, ast.Store())], found.value), x)
        test = _Read(found).visit(test)
        if isinstance(x, ast.If):
            return [given, _like(ast.If(test, x.body, x.orelse), x)]
        ends = ast.If(ast.UnaryOp(ast.Not(), test), [ast.Break()], [])
        return [_like(ast.While(ast.Constant(True), [given, ends, *x.body], []), x)]

    def _is_read(self, name: str) -> bool:
        """Whether a variable of the function may be read anywhere."""
        return bool(self.reads[name]) or name in self.shared or any(self.reads[x] for x in ("locals", "vars", "eval", "exec"))

    def _counts_for_nobody(self, x: ast.stmt) -> bool:
        """Whether a statement adds a number to a variable that is never read: rounds that differ in it alone are alike."""
        match x:
            case ast.AugAssign(target=ast.Name(id=name), value=ast.Constant(value=int() | float())):
                return name in self.counters and not self._is_read(name)
        return False


def _first_named(test: ast.expr, own: set[str]) -> ast.NamedExpr | None:
    """The part of a condition that gives a value to a name, where nothing is evaluated before it but constants and variables."""
    match test:
        case ast.NamedExpr():
            return test
        case ast.UnaryOp(operand=inner) | ast.BoolOp(values=[inner, *_]):
            return _first_named(inner, own)
        case ast.Compare(left=left, comparators=[first, *_]):
            found = _first_named(left, own)
            if found is not None or not _is_at_hand(left, own):
                return found
            behind = _first_named(first, own)
            return behind if behind is not None and not _loads(left)[behind.target.id] else None
    return None


def _is_at_hand(x: ast.expr, own: set[str]) -> bool:
    """Whether an expression is a number or a variable of the function, which no call can change."""
    match x:
        case ast.UnaryOp(operand=ast.Constant()) | ast.Constant():
            return True
        case ast.Name(id=name):
            return name in own
    return False


class _Read(ast.NodeTransformer):
    """Reads a name where it was given its value."""

    def __init__(self, given: ast.NamedExpr) -> None:
        self.given = given

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.AST:
        return ast.copy_location(ast.Name(node.target.id, ast.Load()), node) if node is self.given else self.generic_visit(node)


def _counters(whole: ast.AST) -> set[str]:
    """The variables that are given plain numbers only; an array is seen by another name too, though this one is not read."""
    nodes = list(ast.walk(whole))
    given = Counter(x.id for x in nodes if isinstance(x, ast.Name) and not isinstance(x.ctx, ast.Load))
    for x in nodes:
        match x:
            case ast.Assign(targets=targets, value=value):
                given.subtract(name for target in targets for name in _given_numbers(target, value))
            case ast.AugAssign(target=target, value=value):
                given.subtract(_given_numbers(target, value))
            case ast.arg(arg=name):
                given[name] += 1
    return {name for name, others in given.items() if not others}


def _given_numbers(target: ast.expr, value: ast.expr) -> list[str]:
    """The names of a target that are given plain numbers: `n = 0`, `n, m = 0, 1`."""
    match target, value:
        case ast.Name(id=name), ast.Constant(value=int() | float()):
            return [name]
        case ast.Tuple(elts=targets), ast.Tuple(elts=values) if len(targets) == len(values):
            return [name for pair in zip(targets, values, strict=True) for name in _given_numbers(*pair)]
    return []


# -- for k in itertools.count() ------------------------------------------------------------------------------------------


def _counted_up(node: ast.For, is_read: Callable[[str], bool]) -> list[ast.stmt]:
    """for k in itertools.count(a): ... as k = a, while True: ..., k += 1; the last only where k is read."""
    match node:
        case ast.For(
            target=ast.Name(id=name),
            iter=ast.Call(func=ast.Attribute(attr="count") | ast.Name(id="count") as function, args=args, keywords=[]),
            orelse=[],
        ) if len(args) <= 1 and not any(isinstance(x, ast.Starred) for x in args):
            pass
        case _:
            return [node]
    counts = is_read(name)
    if counts and (name in _stored(node.body) or any(isinstance(x, ast.Continue) for x in of_loop(node.body))):
        return [node]
    # What stands there is looked at when it is met: another function by that name is refused, and the run goes on by forks.
    ask = ast.Attribute(ast.Name(RUNTIME, ast.Load()), "counted_from", ast.Load())
    start = ast.Assign([ast.Name(name, ast.Store())], ast.Call(ask, [function, *args], []))
    step = ast.AugAssign(ast.Name(name, ast.Store()), ast.Add(), ast.Constant(1))
    body = [*node.body, _like(step, node)] if counts else node.body
    return [_like(start, node), _like(ast.While(ast.Constant(True), body, []), node)]


# -- continue, and a first value before the loop --------------------------------------------------------------------------


def _without_continue(body: list[ast.stmt]) -> list[ast.stmt]:
    """if test: ..., continue with more behind it, as the two sides of an `if`."""
    for k, x in enumerate(body):
        match x:
            case ast.If(body=[*before, ast.Continue()], orelse=[]):
                sides = [*before] or [ast.Pass()], _without_continue(body[k + 1 :])
                return [*body[:k], _like(ast.If(x.test, *sides), x)]
    return body


def _turned(node: ast.While, before: list[ast.stmt]) -> ast.While:
    """b = toss(), while b: ..., b = toss() as while True: b = toss(), if not b: break, ...

    The first of the two is taken away from the statements before the loop.
    """
    for k, x in enumerate(node.body):
        match x:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if _loads(node.test)[name]:
                others, later = node.body[:k], node.body[k + 1 :]
            case _:
                continue
        turns = name not in _stored([*others, *later]) and all(_only_counts(y, value) for y in later)
        skips = any(isinstance(y, ast.Continue) for y in of_loop(node.body))
        if turns and not skips and not node.orelse and _taken_away(name, value, before):
            ends = ast.If(ast.UnaryOp(ast.Not(), node.test), [ast.Break()], [])
            return _like(ast.While(ast.Constant(True), [x, ends, *others, *later], []), node)
    return node


def _taken_away(name: str, value: ast.expr, before: list[ast.stmt]) -> bool:
    """Whether a name had the same value drawn for it just before, up to constants that it does not see: it is then removed."""
    seen = _loads(value)
    for k in reversed(range(len(before))):
        match before[k]:
            case ast.Assign(targets=[ast.Name(id=own)], value=first) if own == name and ast.dump(first) == ast.dump(value):
                del before[k]
                return True
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)) if len(names) == len(values):
                target, one = names[-1], values[-1]
                same = isinstance(target, ast.Name) and target.id == name and ast.dump(one) == ast.dump(value)
                if not same or not all(isinstance(y, ast.Name) and not seen[y.id] for y in names[:-1]):
                    return False
                others = ast.Assign([ast.Tuple(names[:-1], ast.Store())], ast.Tuple(values[:-1], ast.Load()))
                before[k] = _like(others, before[k])
                return True
            case ast.Assign(targets=[ast.Name(id=own)], value=ast.Constant()) if own != name and not seen[own]:
                continue
        return False
    return False


# -- while not done ------------------------------------------------------------------------------------------------------


def _without_flag(node: ast.While, known: dict[str, object], reads: Counter[str]) -> ast.While:
    """while not done: ..., done = test as while True: ..., if test: break, where the flag is down before the loop."""
    match node.test:
        case ast.Name(id=name):
            stays = True
        case ast.UnaryOp(op=ast.Not(), operand=ast.Name(id=name)):
            stays = False
        case _:
            return node
    if node.orelse or known.get(name) is not stays or _stored(node.body).count(name) != 1:
        return node
    k = next(k for k, x in enumerate(node.body) if name in _stored([x]))
    found, rest = _raised(node.body[k], name, stays), node.body[k + 1 :]
    later = reads[name] > _loads(node)[name]
    if found is None or (later and found.loose) or any(isinstance(y, ast.Break | ast.Continue) for y in of_loop(rest)):
        return node
    ends = [ast.Assign([ast.Name(name, ast.Store())], ast.Constant(not stays))] if later else []
    last, more = ([y for x in rest for y in _WithFlag(name, value).block(x)] for value in (not stays, stays))
    if not ends and not found.others and last and _alike(last, more) and all(_only_counts(x, found.test) for x in last):
        body = [*last, ast.If(found.test, [ast.Break()], [])]
    else:
        body = [ast.If(found.test, [*last, *ends, ast.Break()], [*found.others, *more])]
    return _like(ast.While(ast.Constant(True), [*node.body[:k], *body], []), node)


@dataclass(frozen=True)
class _Raised:
    """When a statement raises the flag, what it does where it does not, and whether the flag may then be no plain truth value."""

    test: ast.expr
    others: list[ast.stmt]
    loose: bool


def _raised(x: ast.stmt, name: str, stays: bool) -> _Raised | None:
    match x:
        case ast.Assign(targets=[ast.Name(id=own)], value=ast.Compare() | ast.Call() as test) if own == name:
            return _Raised(ast.UnaryOp(ast.Not(), test) if stays else test, [], isinstance(test, ast.Call))
        case ast.If(test=test, body=[ast.Assign(targets=[ast.Name(id=own)], value=ast.Constant(value=value))], orelse=others):
            return _Raised(test, others, False) if own == name and value is (not stays) else None
    return None


def _alike(a: list[ast.stmt], b: list[ast.stmt]) -> bool:
    return [ast.dump(x) for x in a] == [ast.dump(x) for x in b]


def _only_counts(x: ast.stmt, test: ast.expr) -> bool:
    """Whether a statement adds a number to a name that the test does not see: it may come before the test."""
    match x:
        case ast.AugAssign(target=ast.Name(id=name), value=ast.Constant()):
            return not _loads(test)[name]
    return False


class _WithFlag(ast.NodeTransformer):
    """Statements in which a name has a known truth value."""

    def __init__(self, name: str, value: bool) -> None:
        self.name, self.value = name, value

    def block(self, statement: ast.stmt) -> list[ast.stmt]:
        """A statement as the ones that are left of it."""
        done = self.visit(copy.deepcopy(statement))
        return done if isinstance(done, list) else [done]

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Constant(self.value) if node.id == self.name and isinstance(node.ctx, ast.Load) else node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Not) and isinstance(node.operand, ast.Constant):
            return ast.Constant(not node.operand.value)
        return node

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        if isinstance(node.test, ast.Constant):
            return node.body if node.test.value else node.orelse
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        nothing = isinstance(node.value, ast.Constant) and node.value.value is False
        return [] if nothing and isinstance(node.op, ast.Add) else node


# -- what statements do --------------------------------------------------------------------------------------------------


def _constants(before: Sequence[ast.stmt]) -> dict[str, object]:
    """The names that the statements just before give constants to: n, done = 0, False."""
    found: dict[str, object] = {}
    for x in reversed(before):
        match x:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=value)):
                found.setdefault(name, value)
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)) if len(names) == len(values):
                for target, given in zip(names, values, strict=True):
                    if isinstance(target, ast.Name) and isinstance(given, ast.Constant):
                        found.setdefault(target.id, given.value)
                    elif isinstance(target, ast.Name):
                        found.setdefault(target.id, ...)
            case ast.Assign(targets=[ast.Name(id=name)]):
                found.setdefault(name, ...)
            case _:
                break
    return found


def of_loop(statements: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """The parts of statements that belong to the loop around them, and not to a loop or a function inside."""
    waiting = list(statements)
    while waiting:
        x = waiting.pop()
        yield x
        if not isinstance(x, (*_SCOPES, *_LOOPS)):
            waiting.extend(ast.iter_child_nodes(x))


def _stored(statements: Sequence[ast.AST]) -> list[str]:
    """The names that statements give values to or delete, once for each time."""
    return [x.id for y in statements for x in ast.walk(y) if isinstance(x, ast.Name) and not isinstance(x.ctx, ast.Load)]


def _loads(node: ast.AST) -> Counter[str]:
    """How often names are read."""
    return Counter(x.id for x in ast.walk(node) if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Load))


def _like(new: _Statement, old: ast.AST) -> _Statement:
    return ast.fix_missing_locations(ast.copy_location(new, old))
