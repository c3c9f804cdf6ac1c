"""`h[h < 0] = 0` and `h[h > t]` on arrays of random values: what stands for them on the syntax tree, and what it does.

A random mask that is written through leaves each element one random value, and forks nothing. How many elements are read
through one is random, so that reading forks.
"""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from dpest.errors import ExactRefused
from dpest.lang.dist import Dist, unwrap
from dpest.lang.functions import where
from dpest.lang.nodes import is_integral
from dpest.lang.one_text import has_text_at, text_at
from dpest.trace.syntax import ask

_ONE = (int, float, np.number, np.bool_, Dist)
_MASKS = (ast.Name, ast.Compare, ast.UnaryOp, ast.BinOp, ast.Call)  # what a mask is written as


def written_through(node: ast.Assign) -> ast.Expr | None:
    """items[place] = value as a call; None for other statements."""
    match node:
        case ast.Assign(targets=[ast.Subscript(value=items, slice=place)]) if isinstance(place, _MASKS):
            return ast.copy_location(ast.Expr(ask("put_at", node.value, items, place)), node)
    return None


def read_through(node: ast.Subscript) -> ast.expr:
    """items[place] as a call, where the place may be a mask."""
    if not isinstance(node.ctx, ast.Load) or not isinstance(node.slice, _MASKS):
        return node
    return ast.copy_location(ask("taken_at", node.value, node.slice), node)


def put_at(value: Any, items: Any, place: Any) -> None:
    """items[place] = value; behind a random mask an element is the value or what it was."""
    if _is_mask(items, place) and isinstance(value, _ONE) and items.dtype == object:
        if not is_integral(unwrap(value)) and all(is_integral(unwrap(x)) for x in items.flat):
            raise ExactRefused("a number with a fraction is written into an array of whole numbers, which cuts the fraction off")
        for at in np.ndindex(items.shape):
            items[at] = where(place[at], value, items[at])
        return
    items[_decided(items, place)] = value


def taken_at(items: Any, place: Any) -> Any:
    """items[place]; a random mask forks, and so does a random place, but for that of a text."""
    if type(place) is Dist and has_text_at(items, place):
        return text_at(items, place)
    return items[_decided(items, place)]


def _is_mask(items: Any, place: Any) -> bool:
    """Whether an array is looked into by an array of truth values, of which some are random."""
    if not (isinstance(items, np.ndarray) and isinstance(place, np.ndarray)):
        return False
    return place.dtype == object and place.shape == items.shape and all(isinstance(x, Dist | bool | np.bool_) for x in place.flat)


def _decided(items: Any, place: Any) -> Any:
    return np.array([bool(x) for x in place.flat]).reshape(place.shape) if _is_mask(items, place) else place
