"""Functions that call themselves, as loops: `return 1 + geo()` adds one and begins again.

A call in the last place takes the function's own frame again, and a number that is added to what it returns can be added up on
the way. Read on the syntax tree: a function that calls itself anywhere else stays as it is. A method that calls itself by
`self.geo()` may meet another one of that name, in a class that is derived: whether it does is asked before the loop.
"""

from __future__ import annotations

import ast
import copy
from dataclasses import dataclass

from dpest.trace.syntax import RUNTIME

_SUM = f"{RUNTIME}_sum"


class PlainRecursion(ast.NodeTransformer):
    """Writes functions that call themselves anew, those inside a function too."""

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.generic_visit(node)
        return as_a_loop(node)


def as_a_loop(node: ast.FunctionDef) -> ast.FunctionDef:
    """The function with its calls of itself as rounds of a loop; itself where that cannot be seen."""
    body = _apart(node.body)
    calls = [x for x in ast.walk(node) if isinstance(x, ast.Call) and _is_own(x, node)]
    returns = [x for y in body for x in ast.walk(y) if isinstance(x, ast.Return)]
    found = {id(x): again for x in returns if (again := _again(x.value, node)) is not None}
    own = [x for x in ast.walk(node) if _names_itself(x, node)]
    if not found or not len(calls) == len(found) == len(own) or node.decorator_list or not _is_simple(node, body):
        return node
    if len(found) == len(returns) or len(calls) == sum(isinstance(x, ast.Call) for x in ast.walk(node)):
        return node  # it never ends, or draws nothing: Python's own limit tells the author
    adds = any(x.step for x in found.values())
    if adds and not all(id(x) in found or _is_whole(x.value) for x in returns):
        return node
    rounds = _without_last_continue([y for x in body for y in _AsRounds(found, adds).block(x)])
    start: list[ast.stmt] = [ast.Assign([ast.Name(_SUM, ast.Store())], ast.Constant(0))] if adds else []
    # The name stays in the function: whoever compares the two codes finds the same free variables.
    named: ast.stmt = ast.If(ast.Constant(False), [ast.Expr(ast.Name(node.name, ast.Load()))], [])
    if any(isinstance(x, ast.Attribute) for x in own):
        if any(isinstance(x, ast.Name) for x in own) or _is_given(_first(node), node):
            return node
        named = ast.If(ast.UnaryOp(ast.Not(), _asked_whether_own(node)), copy.deepcopy(node.body), [])
    node.body = [named, *start, ast.While(ast.Constant(True), rounds, [])]
    return ast.fix_missing_locations(node)


def _asked_whether_own(node: ast.FunctionDef) -> ast.Call:
    ask = ast.Attribute(ast.Name(RUNTIME, ast.Load()), "calls_itself", ast.Load())
    return ast.Call(ask, [ast.Name(_first(node), ast.Load()), ast.Constant(node.name)], [])


def _first(node: ast.FunctionDef) -> str:
    """The name of the first parameter."""
    every = [*node.args.posonlyargs, *node.args.args]
    return every[0].arg if every else ""


def _is_given(name: str, node: ast.FunctionDef) -> bool:
    """Whether the function gives a parameter another value."""
    return any(isinstance(x, ast.Name) and x.id == name and not isinstance(x.ctx, ast.Load) for x in ast.walk(node))


def _names_itself(x: ast.AST, node: ast.FunctionDef) -> bool:
    match x:
        case ast.Name(id=name):
            return name == node.name
        case ast.Attribute(value=ast.Name(id=name), attr=attribute):
            return attribute == node.name and name == _first(node)
    return False


@dataclass(frozen=True)
class _Again:
    """A call of the function itself in the last place: the values that its parameters get, and what is added to its result."""

    given: dict[str, ast.expr]
    step: int


def _again(value: ast.expr | None, node: ast.FunctionDef) -> _Again | None:
    match value:
        case ast.Call() if _is_own(value, node):
            given = _given(value, node)
            return None if given is None else _Again(given, 0)
        case ast.BinOp(left=ast.Constant(value=step), op=ast.Add(), right=ast.Call() as call) if type(step) is int:
            pass
        case ast.BinOp(left=ast.Call() as call, op=ast.Add(), right=ast.Constant(value=step)) if type(step) is int:
            pass
        case _:
            return None
    inner = _again(call, node)
    return None if inner is None else _Again(inner.given, step)


def _is_own(call: ast.Call, node: ast.FunctionDef) -> bool:
    return _names_itself(call.func, node)


def _given(call: ast.Call, node: ast.FunctionDef) -> dict[str, ast.expr] | None:
    """What a call gives to each parameter; those that keep their value are left out."""
    names = [a.arg for a in (*node.args.posonlyargs, *node.args.args)][isinstance(call.func, ast.Attribute) :]
    if any(isinstance(x, ast.Starred) for x in call.args) or any(k.arg is None for k in call.keywords):
        return None
    given = {**dict(zip(names, call.args, strict=False)), **{k.arg: k.value for k in call.keywords if k.arg is not None}}
    every = {*names, *(a.arg for a in node.args.kwonlyargs)}
    if len(call.args) > len(names) or given.keys() != every:  # a default is the value of another time
        return None
    return {name: x for name, x in given.items() if not (isinstance(x, ast.Name) and x.id == name)}


def _is_simple(node: ast.FunctionDef, body: list[ast.stmt]) -> bool:
    """Whether every way through the function ends in a return, outside of loops, `try` and `with`, and names belong to it."""
    inside = [x for y in body for x in ast.walk(y)]
    odd = (ast.For, ast.While, ast.Try, ast.With, ast.Yield, ast.YieldFrom, ast.Global, ast.Nonlocal, ast.FunctionDef, ast.Lambda)
    comprehended = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
    if node.args.vararg or node.args.kwarg or any(isinstance(x, (*odd, *comprehended)) for x in inside):
        return False
    return _ends(body)


def _ends(body: list[ast.stmt]) -> bool:
    match body[-1]:
        case ast.Return() | ast.Raise():
            return True
        case ast.If(body=yes, orelse=no):
            return bool(no) and _ends(yes) and _ends(no)
    return False


def _is_whole(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Constant) and type(value.value) is int


def _apart(body: list[ast.stmt]) -> list[ast.stmt]:
    """return a if test else b as two returns; a copy."""
    out: list[ast.stmt] = []
    for x in copy.deepcopy(body):
        match x:
            case ast.Return(value=ast.IfExp(test=test, body=yes, orelse=no)):
                sides = [_apart([ast.copy_location(ast.Return(y), x)]) for y in (yes, no)]
                out += [ast.copy_location(ast.If(test, sides[0], []), x), *sides[1]]
            case ast.If():
                x.body, x.orelse = _apart(x.body), _apart(x.orelse)
                out.append(x)
            case _:
                out.append(x)
    return out


def _without_last_continue(body: list[ast.stmt]) -> list[ast.stmt]:
    """A round without the `continue` behind which nothing stands."""
    match body:
        case [*before, ast.Continue()] if before:
            return before
        case [*_, ast.If() as last] if last.orelse:
            last.body, last.orelse = _without_last_continue(last.body), _without_last_continue(last.orelse)
    return body


class _AsRounds(ast.NodeTransformer):
    """The body as a round of a loop."""

    def __init__(self, found: dict[int, _Again], adds: bool) -> None:
        self.found, self.adds = found, adds

    def block(self, statement: ast.stmt) -> list[ast.stmt]:
        """A statement as those that stand for it."""
        done = self.visit(statement)
        return done if isinstance(done, list) else [done]

    def visit_Return(self, node: ast.Return) -> ast.AST | list[ast.stmt]:
        again = self.found.get(id(node))
        if again is None:
            if node.value is None or not self.adds:
                return node
            return ast.Return(ast.BinOp(ast.Name(_SUM, ast.Load()), ast.Add(), node.value))
        out: list[ast.stmt] = []
        if again.step:
            out.append(ast.AugAssign(ast.Name(_SUM, ast.Store()), ast.Add(), ast.Constant(again.step)))
        targets: list[ast.expr] = [ast.Name(name, ast.Store()) for name in again.given]
        values = list(again.given.values())
        if len(targets) == 1:
            out.append(ast.Assign(targets, values[0]))
        elif targets:
            out.append(ast.Assign([ast.Tuple(targets, ast.Store())], ast.Tuple(values, ast.Load())))
        return [*out, ast.Continue()]
