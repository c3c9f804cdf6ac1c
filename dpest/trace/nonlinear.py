"""Products and quotients that come down to a function of one draw: t * (t + 1), 1 / t, t / (1 - t), sign(t) * log(1 - |t|)."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations
from typing import Any, Protocol

from dpest.errors import ExactRefused, NotAffine
from dpest.lang.nodes import (
    Compare,
    Draw,
    Extreme,
    Function,
    Linear,
    Product,
    Quotient,
    Relation,
    Where,
    combine,
    linear,
    scaled,
)
from dpest.lang.spans import is_absolute
from dpest.numerics.elementary import SQUARE, Elementary, Kind
from dpest.numerics.rationals import ONE, Rational, exact
from dpest.trace.atomic import Ask, has_finitely_many_points, is_listed
from dpest.trace.functions import NotFinite, numeric
from dpest.trace.images import image_of
from dpest.trace.polar import gaussian_of, half_turn, laplace_of


class OnPath(Protocol):
    """What is asked of the path that a value is on."""

    ask: Ask

    def affine(self, x: Any) -> Linear:
        """A value as an affine expression."""

    def decide(self, condition: Any) -> bool:
        """Which way a condition goes."""

    def pinned(self, x: Any, what: str) -> int | float:
        """The number that a value with listed points has."""


def nonlinear(node: Function | Product | Quotient, path: OnPath, became: dict[int, Any]) -> Linear:
    """A function, a product or a quotient as an affine expression; what has finitely many points is worked out."""
    match node:
        case Function():
            return _function(node, path, became)
        case Product(left=left, right=right):
            return _product(left, right, path)
        case Quotient(left=left, right=right):
            return _quotient(left, right, path)


def _function(node: Function, path: OnPath, became: dict[int, Any]) -> Linear:
    try:
        inner = path.affine(node.value)
    except NotFinite as beyond:
        return linear(numeric(float(node.function.values(beyond.value))))
    if not is_listed(inner, path.ask):
        return image_of(node, inner)
    number = path.pinned(node.value, "a function")
    try:
        became[id(node)] = numeric(float(node.call(number)))
    except (ValueError, ArithmeticError) as error:
        name = node.function.words(f"{number:g}")
        reason = f"{name} raises {type(error).__name__} ({error}), and the random value in it may be {number!r}"
        raise ExactRefused(reason) from error
    return linear(became[id(node)])


def _quotient(left: Any, right: Any, path: OnPath) -> Linear:
    bottom = path.affine(right)
    if not has_finitely_many_points(bottom):
        return quotient(path.affine(left), bottom, lambda x: path.decide(Compare(Relation.GT, x)))
    divisor = exact(path.pinned(right, "a division by a random value"))
    if not divisor:
        raise _by_zero(left, path)
    return scaled(linear(left), 1 / divisor)


def _by_zero(left: Any, path: OnPath) -> ExactRefused:
    """What a division by zero comes to: NaN or infinite, as NumPy has it; Python's error is an output of its own as well."""
    top = path.affine(left)
    if not has_finitely_many_points(top):
        return ExactRefused("a division by a random value that may be zero")
    number = float(path.pinned(left, "a division by zero"))
    return NotFinite(math.copysign(math.inf, number) if number else math.nan)


def _product(left: Any, right: Any, path: OnPath) -> Linear:
    known = known_product(left, right)
    if known is not None:
        return known
    a, b = path.affine(left), path.affine(right)
    same = len({id(n) for n, _ in (*a.terms, *b.terms)}) == 1
    if same and is_listed(a, path.ask) and is_listed(b, path.ask):
        return scaled(linear(numeric(path.pinned(left, "a product of random values"))), exact(path.pinned(right, "a product")))
    if not has_finitely_many_points(a) and not has_finitely_many_points(b):
        return product(a, b, lambda x: path.decide(Compare(Relation.GT, x)))
    if has_finitely_many_points(a) and not (has_finitely_many_points(b) and len(b.terms) < len(a.terms)):
        a, b = b, a
    return scaled(a, exact(path.pinned(b, "a product of random values")))


def known_product(left: Any, right: Any) -> Linear | None:
    """A product that is one draw of a known law; None for others."""
    return folded(left, right) or gaussian_of(left, right)


def with_laplace(value: Linear) -> Linear:
    """An affine expression in which two products that are Laplace noise together are one draw."""
    products = [(n, c) for n, c in value.terms if isinstance(n, Product) and half_turn(n) is not None]
    for one, other in combinations(products, 2):
        found = laplace_of(one, other)
        if found is not None:
            rest = Linear(tuple((n, c) for n, c in value.terms if n is not one[0] and n is not other[0]), value.constant)
            return with_laplace(combine(rest, found, 1))
    return value


def quotient(top: Linear, bottom: Linear, positive: Callable[[Linear], bool]) -> Linear:
    """top / bottom, where both are affine in one and the same continuous draw, or the top is a number.

    `positive` decides whether an affine expression is positive.
    """
    if len(bottom.terms) != 1 or any(n is not bottom.terms[0][0] for n, _ in top.terms):
        raise NotAffine(
            "a quotient of random values in further arithmetic, or beside other outputs that share its noise", (bottom,)
        )
    # (a t + b) / (c t + d) = a / c + (b - a d / c) / (c t + d)
    share = top.terms[0][1] / bottom.terms[0][1] if top.terms else ONE * 0
    rest = top.constant - share * bottom.constant
    if not rest:
        return Linear((), share)
    if not positive(bottom):
        bottom, rest = scaled(bottom, -1), -rest
    over = image_of(Function(_INVERTED, bottom, _one_over), bottom)
    return combine(Linear((), share), over, rest)


_INVERTED = Elementary(Kind.POWER, -ONE)  # one over a positive number


def _one_over(x: Any) -> Any:
    return 1.0 / x


def product(a: Linear, b: Linear, positive: Callable[[Linear], bool]) -> Linear:
    """a * b, where both are affine in one and the same continuous draw: a square and a constant.

    `positive` decides whether an affine expression is positive.
    """
    if len(a.terms) != 1 or len(b.terms) != 1 or a.terms[0][0] is not b.terms[0][0]:
        raise NotAffine("a product of two random values, neither of which has finitely many points", (a, b))
    (draw, c), (_, d) = a.terms[0], b.terms[0]
    # c d (t + h)^2 - c d (p - q)^2 / 4, where p and q are the roots of the two sides and h is minus their middle.
    p, q = -a.constant / c, -b.constant / d
    inner = Linear(((draw, ONE),), -(p + q) / 2)
    size = inner if positive(inner) else scaled(inner, -1)
    squared = image_of(Function(SQUARE, size, _squared), size)
    return combine(Linear((), -c * d * (p - q) ** 2 / 4), squared, c * d)


def _squared(x: Any) -> Any:
    return x * x


def folded(left: Any, right: Any) -> Linear | None:
    """sign(t) * log(1 - k * |t|), the quantile function of the Laplace law: one monotone function of t; None for others."""
    for one, other in ((linear(left), linear(right)), (linear(right), linear(left))):
        if len(one.terms) != 1 or len(other.terms) != 1 or one.constant or other.constant:
            continue
        value = _sign_of(one.terms[0][0])
        inner = _folded_log(other.terms[0][0])
        if value is None or inner is None or len(inner.terms) != 1 or not isinstance(inner.terms[0][0], Draw):
            continue
        same = _proportion(value, inner)
        if same is not None and not inner.terms[0][0].law.discrete:
            factor = -one.terms[0][1] * other.terms[0][1] * (1 if same > 0 else -1)
            return scaled(image_of(Function(Elementary(Kind.FOLDED_LOG), inner, _one_over), inner), factor)
    return None


def _sign_of(node: Any) -> Linear | None:
    """x, for the node that np.sign(x) makes."""
    if not (isinstance(node, Where) and node.yes == 1.0 and isinstance(node.condition, Compare)):
        return None
    rest = node.no
    matches = isinstance(rest, Where) and isinstance(rest.condition, Compare) and rest.condition.relation is Relation.EQ
    if not matches or (rest.yes, rest.no) != (0.0, -1.0) or node.condition.relation is not Relation.GT:
        return None
    return node.condition.value if _proportion(node.condition.value, rest.condition.value) is not None else None


def _folded_log(node: Any) -> Linear | None:
    """k * x, for log(1 - k * |x|) or log1p(-k * |x|) with k > 0."""
    if not isinstance(node, Function) or node.function.parameter is not None:
        return None
    inner = linear(node.value)
    wanted = {Kind.LOG: ONE, Kind.LOG1P: 0 * ONE}.get(node.function.kind)
    if wanted is None or inner.constant != wanted or len(inner.terms) != 1:
        return None
    (absolute, k) = inner.terms[0]
    if k >= 0 or not isinstance(absolute, Extreme) or not is_absolute(absolute):
        return None
    return scaled(linear(absolute.values[0]), -k)


def _proportion(a: Linear, b: Linear) -> Rational | None:
    """What a is multiplied by to be b; None where b is no multiple of it."""
    if len(a.terms) != len(b.terms) or any(n is not m for (n, _), (m, _) in zip(a.terms, b.terms, strict=True)):
        return None
    factor = b.terms[0][1] / a.terms[0][1]
    same = all(c * factor == d for (_, c), (_, d) in zip(a.terms, b.terms, strict=True)) and a.constant * factor == b.constant
    return factor if same else None
