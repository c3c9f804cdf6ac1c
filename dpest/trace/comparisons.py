"""Whether a comparison compares two values, and not the elements of two containers one after the other.

From Python 3.13 on, the instruction that compares also asks for the truth of what comes out. Lists ask for the truth of their
elements' comparisons there too, and then no variable says how far they have come.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from dpest.lang.dist import Dist

_SINGLE = (int, float, complex, str, bytes, np.generic, np.ndarray, Dist, type(None))  # an array has no truth beyond one element
_BUILT_IN = frozenset({"abs", "bool", "complex", "float", "hash", "int", "len", "ord", "pow", "round", "str"})
_MODULES = ("math", "dpest.lang.noise", "dpest.lang.generators.conversions", "dpest.lang.generators.standins")
_PICKING = ("choice", "choices", "sample")  # draws that may be of any type
LookUp = Callable[[ast.expr], Any]


def compares_two_values(node: ast.expr | None, look_up: LookUp) -> bool:
    """Whether each comparison of an expression has a side that is no container; `look_up` gives what a name stands for."""
    if not isinstance(node, ast.Compare):
        return False
    return all(_is_single(a, look_up) or _is_single(b, look_up) for a, b in pairwise((node.left, *node.comparators)))


def _is_single(node: ast.expr, look_up: LookUp) -> bool:
    """Whether an expression gives a number, text or an array, as far as its names tell."""
    match node:
        case ast.Constant() | ast.JoinedStr() | ast.UnaryOp() | ast.Compare():
            return True
        case ast.Name() | ast.Attribute() | ast.Subscript():
            return isinstance(look_up(node), _SINGLE)
        case ast.NamedExpr(value=value):
            return _is_single(value, look_up)
        case ast.IfExp(body=a, orelse=b) | ast.BinOp(left=a, op=ast.Mult(), right=b):  # 2 * [y] is a list
            return _is_single(a, look_up) and _is_single(b, look_up)
        case ast.BinOp(left=a, op=ast.Add() | ast.BitOr(), right=b):  # no container takes a number here
            return _is_single(a, look_up) or _is_single(b, look_up)
        case ast.BinOp():  # no container whose comparison asks its elements has the other operators
            return True
        case ast.Call(func=function):
            return _gives_single(function, look_up)
    return False


def _gives_single(function: ast.expr, look_up: LookUp) -> bool:
    """Whether a function is one of those that give a number or an array."""
    found = look_up(function)
    if isinstance(function, ast.Name) and function.id in _BUILT_IN and found is vars(builtins)[function.id]:
        return True
    return isinstance(found, np.ufunc) or (
        getattr(found, "__module__", "") in _MODULES and getattr(found, "__name__", _PICKING[0]) not in _PICKING
    )
