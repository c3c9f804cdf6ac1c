"""Sums of one draw, its squares and its products with itself, with the square completed: p - p^2 is 1/4 - (p - 1/2)^2."""

from __future__ import annotations

from typing import Any

from dpest.lang.elementary import square
from dpest.lang.nodes import Draw, Function, Linear, Node, Product, combine, linear
from dpest.lang.spans import is_absolute
from dpest.numerics.elementary import Kind
from dpest.numerics.rationals import ONE, ZERO, Rational

_Parabola = tuple[Rational, Rational, Rational]  # the coefficients of the square, of the draw, and of 1


def completed(whole: Linear) -> Linear | None:
    """The sum with the squares completed; None where no draw is there twice, in two terms or in a product with itself."""
    parabolas: dict[int, tuple[Draw, list[_Parabola]]] = {}
    rest = Linear((), whole.constant)
    for node, c in whole.terms:
        found = _parabola(node)
        if found is None:
            rest = combine(rest, linear(node), c)
        else:
            draw, (a, b, constant) = found
            parabolas.setdefault(id(draw), (draw, []))[1].append((c * a, c * b, c * constant))
    again = any(len(terms) > 1 for _, terms in parabolas.values())
    if not again and not any(isinstance(node, Product) and _parabola(node) is not None for node, _ in whole.terms):
        return None
    for draw, terms in parabolas.values():
        a, b, constant = (sum((t[i] for t in terms), ZERO) for i in range(3))
        line = Linear(((draw, b),) if b else (), constant)
        if a:
            moved = Linear(((draw, ONE),), b / (2 * a))
            line = combine(Linear((), constant - b * b / (4 * a)), linear(square(moved)), a)
        rest = combine(rest, line, 1)
    return rest


def _parabola(node: Node) -> tuple[Draw, _Parabola] | None:
    """A draw, the square of an affine function of one, or the product of two such functions."""
    if isinstance(node, Draw):
        return (node, (ZERO, ONE, ZERO)) if not node.law.discrete else None
    if isinstance(node, Product):
        one, other = _line(node.left), _line(node.right)
    elif isinstance(node, Function) and node.function.kind is Kind.POWER and node.function.parameter == 2:
        value: Any = node.value
        one = other = _line(value.values[0] if is_absolute(value) else value)
    else:
        return None
    if one is None or other is None or one[0] is not other[0]:
        return None
    (draw, a, b), (_, c, d) = one, other
    return draw, (a * c, a * d + b * c, b * d)


def _line(node: Any) -> tuple[Draw, Rational, Rational] | None:
    """The continuous draw of which a value is an affine function, its coefficient, and the constant."""
    value = linear(node)
    draw, slope = value.terms[0] if len(value.terms) == 1 else (None, ZERO)
    return (draw, slope, value.constant) if isinstance(draw, Draw) and not draw.law.discrete else None
