"""Squares around a released value, in terms of it: (x - m)^2 is m^2 - 2 x m + x^2.

A mean of squared distances from a released m then has the same m^2 whatever the data, which whoever sees m can take off; what is
left is affine.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpest.exact.loss.beside import combined
from dpest.lang.elementary import square
from dpest.lang.nodes import Function, Linear, combine, is_node, linear, simplified
from dpest.lang.spans import is_absolute
from dpest.numerics.elementary import Kind
from dpest.numerics.rationals import Rational


def in_squares_of_outputs(row: Sequence[Any]) -> list[Any]:
    """The outputs of one path, with squares of affine functions of an output written in its own square."""
    squares: dict[int, Function] = {}

    def own_square(place: int) -> Function:
        if place not in squares:
            squares[place] = square(row[place])
        return squares[place]

    out = []
    for i, x in enumerate(row):
        whole = linear(x) if is_node(x) else None
        if whole is None or not any(_squared(node) is not None for node, _ in whole.terms):
            out.append(x)
            continue
        others = [(j, linear(y)) for j, y in enumerate(row) if j != i and is_node(y)]
        total = Linear((), whole.constant)
        for node, c in whole.terms:
            inner = _squared(node)
            shares = None if inner is None else combined(inner, others)
            if shares is None or len(shares[0]) != 1:
                total = combine(total, linear(node), c)
                continue
            (((place, slope),), constant) = shares
            total = _added(total, linear(own_square(place)), c * slope**2)
            total = _added(total, linear(row[place]), 2 * c * slope * constant)
            total = Linear(total.terms, total.constant + c * constant**2)
        out.append(simplified(total))
    return out


def _added(total: Linear, more: Linear, factor: Rational) -> Linear:
    return combine(total, more, factor) if factor else total


def _squared(node: Any) -> Linear | None:
    """The affine value that a node is the square of."""
    if not isinstance(node, Function) or node.function.kind is not Kind.POWER or node.function.parameter != 2:
        return None
    inner = node.value
    return linear(inner.values[0]) if is_absolute(inner) else linear(inner)  # type: ignore[union-attr]
