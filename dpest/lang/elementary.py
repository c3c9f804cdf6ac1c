"""Functions of one random value, as people write them: `np.exp(z)`, `math.log(z)`, `z ** 2`, `2 ** z`, `expit(z)`.

Outside the domain of a function NumPy returns NaN (or an infinity at the end of it), and the standard library raises.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from dpest.lang.logic import compare, conjunction
from dpest.lang.nodes import (
    NODES,
    Apply,
    Draw,
    Extreme,
    Function,
    Linear,
    Node,
    Pick,
    Product,
    Quotient,
    Relation,
    Where,
    combine,
    draws_of,
    linear,
    plain_number,
    scaled,
)
from dpest.lang.spans import is_smooth, span
from dpest.numerics.elementary import SQUARE, Elementary, Kind
from dpest.numerics.rationals import ZERO, Rational, exact

Call = Callable[[Any], Any]

_TWO, _TEN, _THIRD = exact(2), exact(10), exact(1) / 3
# By the names that NumPy and scipy.special use.
ELEMENTARY: dict[str, Elementary] = {
    **{k.value: Elementary(k) for k in (Kind.EXP, Kind.LOG, Kind.EXPM1, Kind.LOG1P, Kind.TANH, Kind.ARCTANH, Kind.ARCTAN)},
    **{k.value: Elementary(k) for k in (Kind.SINH, Kind.ARCSINH, Kind.EXPIT, Kind.LOGIT, Kind.NDTR, Kind.NDTRI, Kind.TAN)},
    **{k.value: Elementary(k) for k in (Kind.ERF, Kind.ERFINV, Kind.ERFC, Kind.ERFCINV)},
    "exp2": Elementary(Kind.EXP, _TWO),
    "exp10": Elementary(Kind.EXP, _TEN),
    "log2": Elementary(Kind.LOG, _TWO),
    "log10": Elementary(Kind.LOG, _TEN),
    "sqrt": Elementary(Kind.POWER, 1 / _TWO),
    "cbrt": Elementary(Kind.ODD, _THIRD),
}
# The standard library's names for them.
OF_MATH = {
    **{name: name for name in ("exp", "expm1", "log", "log1p", "log2", "log10", "sqrt", "cbrt", "exp2", "tanh", "sinh", "tan")},
    "erf": "erf",
    "erfc": "erfc",
    "atan": "arctan",
    "atanh": "arctanh",
    "asinh": "arcsinh",
}


def elementary(name: str, node: Node, call: Call) -> Any:
    """A function of a random value by its NumPy name, with NumPy's answers outside of its domain."""
    function = ELEMENTARY[name]
    if function.kind is Kind.TAN and not _surely_inside(function, node):
        return Apply(call, (node,))
    parts = _log_of_factors(function, node, call)
    return _guarded(function, node, call) if parts is None else parts


def inside(name: str, node: Node) -> Any:
    """Whether a value lies where a function of the standard library does not raise: a truth node, or a plain bool."""
    function = ELEMENTARY[name]
    if _surely_inside(function, node) or (function.kind is Kind.LOG and _positive_factors(node) is not None):
        return True
    low, high = function.domain
    parts = []
    if low is not None:
        parts.append(compare(_lower(function), node, plain_number(low)))
    if high is not None:
        parts.append(compare(Relation.GT, plain_number(high), node))
    return conjunction(tuple(parts))


def bare_function(name: str, node: Node, call: Call) -> Any:
    """A function of a value that is known to lie in its domain."""
    parts = _log_of_factors(ELEMENTARY[name], node, call)
    return Function(ELEMENTARY[name], node, call) if parts is None else parts


def _log_of_factors(function: Elementary, node: Node, call: Call) -> Linear | None:
    """log(u * v) as log(u) + log(v), and log(u / v) as a difference, where the factors are surely positive; None for others."""
    factors = _positive_factors(node) if function.kind is Kind.LOG else None
    if factors is None:
        return None
    total = Linear((), ZERO)
    for part, sign in factors:
        one = Function(function, part, call) if isinstance(part, NODES) else function.at(exact(part))
        total = combine(total, linear(one) if isinstance(part, NODES) else Linear((), one), sign)
    return total


def _positive_factors(node: Any) -> list[tuple[Any, int]] | None:
    """The factors of a product or a quotient of continuous values, and whether each is above or below the line."""
    match node:
        case Linear(terms=((Product() | Quotient() as inner, c),), constant=constant) if not constant and c > 0:
            rest = _positive_factors(inner)
            return None if rest is None else [(float(c), 1), *rest] if exact(float(c)) == c else None
        case Product(left=left, right=right) if left is not right:
            factors = [(left, 1), (right, 1)]
        case Quotient(left=left, right=right):
            factors = [(left, 1), (right, -1)]
        case _:
            return None
    if {id(d) for d in draws_of(factors[0][0])} & {id(d) for d in draws_of(factors[1][0])}:
        return None  # a function of one draw, which is known as such
    return factors if all(_surely_positive(x) for x, _ in factors) else None


def _surely_positive(x: Any) -> bool:
    if not isinstance(x, NODES):
        return bool(x > 0)
    least = span(x)[0]
    return is_smooth(x) and least is not None and least >= 0


def _guarded(function: Elementary, node: Node, call: Call) -> Any:
    value = Function(function, node, call)
    if _surely_inside(function, node):
        return value
    low, high = function.domain
    out: Any = value
    if high is not None:
        end = Where(compare(Relation.EQ, node, plain_number(high)), _at(call, high), math.nan)
        out = Where(compare(Relation.GT, plain_number(high), node), out, end)
    if low is not None:
        other: Any = math.nan
        if _lower(function) is Relation.GT:
            other = Where(compare(Relation.EQ, node, plain_number(low)), _at(call, low), math.nan)
        out = Where(compare(_lower(function), node, plain_number(low)), out, other)
    return out


def _lower(function: Elementary) -> Relation:
    """A root is defined at the end of its domain, a logarithm is not."""
    rooted = function.kind is Kind.POWER and function.parameter is not None and function.parameter > 0
    return Relation.GE if rooted else Relation.GT


def _surely_inside(function: Elementary, node: Node) -> bool:
    """Whether the draws' supports alone keep a value inside the domain; at an end that has no weight it may touch."""
    (low, high), (least, most) = function.domain, span(node)
    touching = is_smooth(node)
    closed = touching or _lower(function) is Relation.GE
    above = low is None or (least is not None and (least > low or (least == low and closed)))
    return above and (high is None or (most is not None and (most < high or (most == high and touching))))


def _at(call: Call, x: Rational) -> float:
    with np.errstate(all="ignore"):
        return float(call(float(x)))


def absolute(node: Node) -> Extreme:
    """|x|."""
    return Extreme(Pick.MAX, (node, scaled(linear(node), -1, (operator.neg, (node,)))))


def square(node: Node) -> Function:
    """x * x."""
    return Function(SQUARE, absolute(node), _squared)


def _squared(x: Any) -> Any:
    return x * x


def signed(node: Node) -> Where:
    """1, 0 or -1."""
    return Where(compare(Relation.GT, node, 0), 1.0, Where(compare(Relation.EQ, node, 0), 0.0, -1.0))


def sign_bit(node: Node) -> Any:
    """1 or -1, as `copysign` has it: a zero that is an int counts as positive, one that is a float may be -0.0."""
    if is_smooth(node):
        return signed(node)
    if _is_int(node):
        return Where(compare(Relation.GE, node, 0), 1.0, -1.0)
    unknown = Apply(partial(np.copysign, 1.0), (node,))
    return Where(compare(Relation.GT, node, 0), 1.0, Where(compare(Relation.EQ, node, 0), unknown, -1.0))


_OF_INTS = (operator.add, operator.sub, operator.mul, operator.neg)


def _is_int(node: Any) -> bool:
    """Whether a value is a Python int, and not a float that happens to be whole."""
    match node:
        case Draw(law=law):
            return law.discrete and bool(getattr(law, "integral", False))
        case Linear(written=(operation, operands)):
            return operation in _OF_INTS and all(map(_is_int, operands))
        case Extreme(values=values):
            return all(map(_is_int, values))
        case Where(yes=yes, no=no):
            return _is_int(yes) and _is_int(no)
    return isinstance(node, int)


def power(node: Node, exponent: float) -> Any:
    """A random value to the power of a number other than 0 and 1."""
    p = exact(exponent)
    call = partial(_raised, exponent)
    if p.denominator != 1:
        return _guarded(Elementary(Kind.POWER, p), node, call)
    if p < 0:
        return Quotient(1.0, node if p == -1 else power(node, -exponent))
    if p % 2:
        return Function(Elementary(Kind.ODD, p), node, call)
    return Function(Elementary(Kind.POWER, p), absolute(node), call)


def _raised(exponent: float, x: Any) -> Any:
    if isinstance(exponent, int) or float(exponent).is_integer():
        return x ** int(exponent)
    return np.power(float(x), exponent)


def exponential(base: float, node: Node) -> Any:
    """A positive number other than 1 to the power of a random value."""
    return Function(Elementary(Kind.EXP, exact(base)), node, partial(pow, base))
