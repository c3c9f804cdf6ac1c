"""Makes a failing program smaller: statements, branches, expressions, constants and inputs, as long as it fails."""

from __future__ import annotations

import ast
import copy
import time
from collections.abc import Callable, Iterator
from typing import Any

from tests.grammar.program import Program

Fails = Callable[[Program], bool]


def shrink(program: Program, fails: Fails, seconds: float = 60.0) -> Program:
    """A smaller program that fails too; greedy, until nothing smaller fails or the time is up."""
    end = time.monotonic() + seconds
    best = program
    found = True
    while found and time.monotonic() < end:
        found = False
        for candidate in smaller(best):
            if time.monotonic() > end:
                break
            if size(candidate) < size(best) and _tried(candidate, fails):
                best, found = candidate, True
                break
    return best


def _tried(candidate: Program, fails: Fails) -> bool:
    try:
        compile(candidate.source, "<smaller>", "exec")
    except (SyntaxError, ValueError):
        return False
    return fails(candidate)


def size(program: Program) -> tuple[int, int, int]:
    """Nodes of the tree, then length of the text, then how far the inputs are from plain ones."""
    tree = ast.parse(program.source)
    return sum(1 for _ in ast.walk(tree)), len(program.source), len(repr(program.pair))


def smaller(program: Program) -> Iterator[Program]:
    """Programs one step smaller, the largest steps first."""
    tree = ast.parse(program.source)
    for change in (_statements, _branches, _expressions, _constants):
        for new in change(tree):
            yield Program(program.kind, ast.unparse(ast.fix_missing_locations(new)) + "\n", program.pair)
    for pair in _pairs(program.pair):
        yield Program(program.kind, program.source, pair)


def _bodies(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(tree):
        for name in ("body", "orelse"):
            body = getattr(node, name, None)
            if isinstance(body, list) and body and not isinstance(node, ast.Module):
                yield body


def _copies(tree: ast.Module, count: Callable[[ast.AST], list[Any]]) -> Iterator[tuple[ast.Module, Any]]:
    for i in range(len(count(tree))):
        new = copy.deepcopy(tree)
        yield new, count(new)[i]


def _statements(tree: ast.Module) -> Iterator[ast.Module]:
    """One statement less."""

    def places(t: ast.AST) -> list[Any]:
        return [(body, i) for body in _bodies(t) for i in range(len(body))]

    for new, (body, i) in _copies(tree, places):
        if isinstance(body[i], ast.Pass):
            continue
        del body[i]
        if not body:
            body.append(ast.Pass())
        yield new


def _branches(tree: ast.Module) -> Iterator[ast.Module]:
    """An `if`, `for` or `while` replaced by one of its bodies."""

    def places(t: ast.AST) -> list[Any]:
        return [
            (body, i, part)
            for body in _bodies(t)
            for i, s in enumerate(body)
            if isinstance(s, ast.If | ast.For | ast.While)
            for part in (s.body, s.orelse)
            if part
        ]

    for new, (body, i, part) in _copies(tree, places):
        body[i : i + 1] = part
        yield new


def _expressions(tree: ast.Module) -> Iterator[ast.Module]:
    """An expression replaced by one of its parts."""

    def places(t: ast.AST) -> list[Any]:
        found = []
        for parent in ast.walk(t):
            for name, value in ast.iter_fields(parent):
                slots = (
                    [(None, value)] if isinstance(value, ast.expr) else list(enumerate(value)) if isinstance(value, list) else []
                )
                for at, node in slots:
                    if isinstance(node, ast.expr):
                        found.extend((parent, name, at, part) for part in _parts(node))
        return found

    for new, (parent, name, at, part) in _copies(tree, places):
        if at is None:
            setattr(parent, name, part)
        else:
            getattr(parent, name)[at] = part
        yield new


def _parts(node: ast.expr) -> list[ast.expr]:
    match node:
        case ast.BinOp():
            return [node.left, node.right]
        case ast.BoolOp():
            return list(node.values)
        case ast.UnaryOp():
            return [node.operand]
        case ast.IfExp():
            return [node.body, node.orelse]
        case ast.Call():
            return [a for a in node.args if not isinstance(a, ast.List | ast.Dict)]
        case ast.Tuple():
            return list(node.elts)
        case ast.Dict():
            return list(node.values)
    return []


def _constants(tree: ast.Module) -> Iterator[ast.Module]:
    """A number replaced by a plainer one."""

    def places(t: ast.AST) -> list[Any]:
        return [
            (n, v)
            for n in ast.walk(t)
            if isinstance(n, ast.Constant) and isinstance(n.value, int | float) and not isinstance(n.value, bool)
            for v in (0, 1, 2, int(n.value), 0.5)
            if len(repr(v)) < len(repr(n.value))
        ]

    for new, (node, value) in _copies(tree, places):
        node.value = value
        yield new


def _pairs(pair: tuple[Any, Any]) -> Iterator[tuple[Any, Any]]:
    """Inputs nearer to 0 and 1."""
    left, right = pair
    for i in range(len(left)):
        for a, b in ((0, 1), (1, 0), (1, 2), (0, right[i]), (left[i], 0), (0, 0)):
            new = ([*left[:i], a, *left[i + 1 :]], [*right[:i], b, *right[i + 1 :]])
            if new != pair:
                yield new
