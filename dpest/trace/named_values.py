"""Names for what the author's code holds without one: iterators of `for` loops, and values of expressions that go on.

`scores[j] - scores[i]` holds the first number while it asks which one i is, and a `for` loop holds its iterator: no variable
shows them. With names of their own they are part of the state of a run (`trace.stack` knows that the expression holds them).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from dpest.trace.syntax import ITERATOR, VALUE, ask

_INNER = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)  # which have variables of their own
_HIDDEN = (ast.Call, ast.Subscript, ast.IfExp, ast.BoolOp)  # whose values are not known by the variables that they are made of


class NamedValues(ast.NodeTransformer):
    """Gives names to the iterators of a function, and to values in statements that hold several."""

    def __init__(self) -> None:
        self.count = 0
        self.several = False

    def visit(self, node: ast.AST) -> Any:
        """A statement, or a part of one."""
        if isinstance(node, _INNER):
            return node
        if isinstance(node, ast.stmt):
            before, self.several = self.several, sum(isinstance(x, _HIDDEN) for x in _own_parts(node)) > 1
            done = super().visit(node)
            self.several = before
            return done
        done = super().visit(node)
        read = isinstance(node, _HIDDEN) and isinstance(getattr(node, "ctx", None), ast.Load | None)
        return self._named(VALUE, done, node) if read and self.several else done

    def visit_For(self, node: ast.For) -> ast.AST:
        self.generic_visit(node)
        node.iter = self._named(ITERATOR, ask("iterator", node.iter), node.iter)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.body = [self.visit(x) for x in node.body]
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        node.value = None if node.value is None else self.visit(node.value)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return node

    def _named(self, prefix: str, value: ast.expr, place: ast.AST) -> ast.expr:
        self.count += 1
        return ast.copy_location(ast.NamedExpr(ast.Name(f"{prefix}{self.count}", ast.Store()), value), place)


def _own_parts(node: ast.AST) -> Iterator[ast.AST]:
    """The expressions of a statement, without those of the statements and functions inside it."""
    for x in ast.iter_child_nodes(node):
        if not isinstance(x, (ast.stmt, *_INNER)):
            yield x
            yield from _own_parts(x)
