"""Pieces of syntax that rewritten code is made of."""

from __future__ import annotations

import ast
from collections.abc import Iterable

RUNTIME = "_dpest"  # the name under which rewritten code finds what it calls
ITERATOR = f"{RUNTIME}_for_"  # with a number: the names of the iterators of `for` loops
VALUE = f"{RUNTIME}_value_"  # with a number: the names of values that an expression holds while it goes on


def load(name: str) -> ast.Name:
    """A name that is read."""
    return ast.Name(name, ast.Load())


def ask(name: str, *args: ast.expr) -> ast.Call:
    """A call of a function of `trace.together`."""
    return ast.Call(ast.Attribute(load(RUNTIME), name, ast.Load()), list(args), [])


def thunk(body: ast.expr) -> ast.Lambda:
    """An expression that is worked out later."""
    return ast.Lambda(ast.arguments([], [], None, [], [], None, []), body)


def tuple_of(parts: Iterable[ast.expr]) -> ast.Tuple:
    """A tuple that is read."""
    return ast.Tuple(list(parts), ast.Load())


def if_known(name: str, asked: ast.expr, known: list[ast.stmt], loop: ast.stmt) -> list[ast.stmt]:
    """What is done where the answer to a question about a loop is known; else the loop as it was written."""
    unknown = ast.Compare(load(name), [ast.Is()], [ast.Constant(None)])
    both = ast.Assign([ast.Name(name, ast.Store())], asked), ast.If(unknown, [loop], known)
    return [ast.fix_missing_locations(ast.copy_location(x, loop)) for x in both]
