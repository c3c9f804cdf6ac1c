"""Comparisons of a uniform draw with a function of other noise, as rejection samplers make: u < exp(-abs(t)) is log(u) < -abs(t).

Such a draw is used once, to decide, and the noise inside the function is released. So the function goes to the side of the draw,
and the noise keeps the form that it is released in.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from dpest.lang.nodes import Compare, Draw, Function, Linear, Node, Quotient, Relation, combine, draws_of, linear, scaled
from dpest.lang.spans import span
from dpest.laws.continuous import Uniform
from dpest.laws.images import Moved, image
from dpest.numerics.elementary import Elementary, Kind
from dpest.numerics.rationals import ONE, Rational, exact, is_number
from dpest.numerics.setting import Setting
from dpest.trace.parabolas import completed

_INVERTED = Elementary(Kind.POWER, -ONE)


_KEPT: ContextVar[bool] = ContextVar("dpest_functions_kept", default=False)


def functions_kept() -> Setting[bool]:
    """Inside the block, functions stay where they are written: the uniform draw may be what is released."""
    return Setting(_KEPT, True)


@dataclass(frozen=True)
class _Undoing:
    """The inverse of a function that was on the other side."""

    function: Elementary

    def __call__(self, x: Any) -> Any:
        return self.function.values(x)


def at_the_coin(condition: Compare, decide: Callable[[Compare], bool]) -> Compare | bool | None:
    """A comparison of one function with a uniform draw, without the function; None for other comparisons."""
    if _KEPT.get():
        return None
    value = condition.value
    coins = [(n, c) for n, c in value.terms if _is_coin(n)]
    if len(coins) != 1 or condition.relation is Relation.EQ:
        return None
    ((coin, factor),) = coins
    rest = Linear(tuple((n, c) for n, c in value.terms if n is not coin), value.constant)
    if isinstance(coin, Function):
        rest = completed(rest) or rest
    term = _function(*rest.terms[0]) if len(rest.terms) == 1 else None
    if term is None or _shares(coin, term[0]) or _is_noise(term[0]):
        return None
    return _moved(condition.relation, term, Linear(((coin, factor),), rest.constant), decide)


def _function(node: Node, c: Rational) -> tuple[Function, Rational] | None:
    """A multiple of a function, or of one over a positive value; None for others."""
    if isinstance(node, Quotient) and is_number(node.left) and _is_positive(node.right):
        return Function(_INVERTED, node.right, _Undoing(_INVERTED)), c * exact(node.left)
    return (node, c) if isinstance(node, Function) else None


def _is_noise(node: Function) -> bool:
    """Whether a function makes noise of one of the families: -log(u) is exponential, and is what is released."""
    value = linear(node.value)
    if len(value.terms) != 1 or isinstance(node.call, _Undoing):
        return False
    ((draw, c),) = value.terms
    if not isinstance(draw, Draw) or not isinstance(draw.law, Uniform):
        return False
    return not isinstance(image(draw.law, c, value.constant, node.function).law, Moved)


def _moved(
    relation: Relation, term: tuple[Function, Rational], side: Linear, decide: Callable[[Compare], bool]
) -> Compare | bool | None:
    """c * f(a) + side >= 0 (or > 0) as a comparison of a with the inverse of f at the side."""
    node, c = term
    function = node.function
    if function.kind is Kind.RECIPROCAL:
        return None
    bound, above = scaled(side, -1 / c), bool(c > 0)  # f(a) >= bound, or f(a) <= bound
    (low, high), (least, most) = function.range, span(bound)
    if low is not None and (least is None or least < low) and not decide(_above(bound, low)):
        return above
    if high is not None and (most is None or most > high) and not decide(_above(scaled(bound, -1), -high)):
        return not above
    inverse = function.inverse()
    gap = combine(linear(node.value), linear(Function(inverse, bound, _Undoing(inverse))), -1)
    return Compare(relation, gap if above == function.rising else scaled(gap, -1))


def _above(value: Linear, number: Rational) -> Compare:
    return Compare(Relation.GT, Linear(value.terms, value.constant - number))


def _is_coin(node: Node) -> bool:
    """Whether a node is a uniform draw, or what a function that was moved has made of one."""
    if isinstance(node, Function):
        return isinstance(node.call, _Undoing)
    return isinstance(node, Draw) and isinstance(node.law, Uniform) and node.origin is None and node.made_of is None


def _shares(one: Node, other: Node) -> bool:
    return bool({id(d) for d in draws_of(one)} & {id(d) for d in draws_of(other)})


def _is_positive(node: Node) -> bool:
    low, _ = span(node)
    return low is not None and low > 0
