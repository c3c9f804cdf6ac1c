"""Counts as people write them: sums over a condition, and histograms that are filled one by one."""

from __future__ import annotations

import ast

from dpest.trace.sides import is_plain
from dpest.trace.syntax import ask


def added_at(node: ast.AugAssign) -> ast.Expr | None:
    """h[k] += 1 as a call, which leaves a random k random; None for other statements."""
    match node:
        case ast.AugAssign(target=ast.Subscript(value=items, slice=place), op=ast.Add(), value=ast.Constant(value=int()) as step):
            if isinstance(place, ast.Slice | ast.Tuple):
                return None
            return ast.copy_location(ast.Expr(ask("added_at", items, place, step)), node)
    return None


def count_as_sum(node: ast.Call) -> None:
    """sum(e for ... if c) as sum(e if c else 0 for ...): a random condition then adds a random value, and forks nothing."""
    match node:
        case ast.Call(
            func=ast.Name(id="sum"), args=[ast.GeneratorExp(generators=[one]) | ast.ListComp(generators=[one]) as values]
        ):
            if node.keywords or not one.ifs or not is_plain(values.elt) or not all(map(is_plain, one.ifs)):
                return
        case _:
            return
    test = one.ifs[0] if len(one.ifs) == 1 else ast.BoolOp(ast.And(), one.ifs)
    values.elt, one.ifs = ast.copy_location(ast.IfExp(test, values.elt, ast.Constant(0)), values.elt), []
    node.func = ast.copy_location(ask("only_sum", node.func), node.func)
