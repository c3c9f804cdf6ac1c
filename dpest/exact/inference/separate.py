"""Values of noise that are a given number with probability zero, told by the way in which they are computed.

Sums, products and quotients of continuous noise, and of monotone functions of it, are meromorphic: on the values that noise can
have, which are a convex set, such a function is constant everywhere or equal to a number on a set of measure zero.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import reduce
from typing import Any

import numpy as np

from dpest.errors import ExactRefused
from dpest.exact.inference.choices import CaseRun
from dpest.lang.logic import compare
from dpest.lang.nodes import (
    All,
    Compare,
    Draw,
    Extreme,
    Function,
    Linear,
    Not,
    Pick,
    Product,
    Quotient,
    Relation,
    Where,
    combine,
    draws_of,
    is_node,
    linear,
    plain_number,
    scaled,
    simplified,
)
from dpest.lang.plain import Undetermined, evaluate
from dpest.lang.spans import is_absolute
from dpest.numerics.elementary import Elementary, Kind
from dpest.numerics.rationals import ONE, ZERO, Rational, exact, is_number
from dpest.run.streams import stream
from dpest.trace.literal import FREE, ends
from dpest.trace.resolve import decide

_TRIES, _SEED = 400, 20  # places at which a function is evaluated; most lie in its domain
_EVEN = (2, 4, 6)  # exponents up to which a power of an absolute value is written as a product
_NO_BOUND = exact(-1e300)
_APART = 1e-6  # relative: values that differ by more are different numbers, whatever rounding does


def settled_value(x: Any, run: CaseRun) -> Any:
    """A number, or a value with a density, in the case that the run decides for; refused where neither is known."""
    found = _settled(x, run)
    if is_node(found) and not _varies(found, run):
        _refused()
    return found


def is_positive(x: Any, run: CaseRun) -> bool | None:
    """Whether a value with a density is positive, in the case that the run decides for; None where that is not known."""
    if _is_above_zero(x, run):  # a question would split the case
        return True
    match x:
        case Product(left=left, right=right) | Quotient(left=left, right=right) if is_node(left):  # a number over a value: below
            signs = is_positive(left, run), is_positive(right, run)
            return None if None in signs else signs[0] == signs[1]
        case Linear(terms=((node, c),), constant=constant) if not constant and not isinstance(node, Draw):
            inner = is_positive(node, run)
            return None if inner is None else inner == bool(c > 0)
        case Draw() | Linear() if all(isinstance(n, Draw) for n, _ in linear(x).terms):
            return decide(compare(Relation.GT, x, 0), run)
    return None


def _is_above_zero(x: Any, run: CaseRun) -> bool:
    """Whether a value is positive, and without a pole, wherever the conditions of the case hold."""
    match x:
        case int() | float():
            return x > 0
        case Draw() | Linear():
            value = linear(x)
            return bool(value.constant + sum((_least(n, c, run) for n, c in value.terms), ZERO) >= 0)
        case Product(left=left, right=right) | Quotient(left=left, right=right):
            return all(_is_above_zero(v, run) for v in (left, right))
        case Function(function=function, value=value):
            return function.kind in (Kind.EXP, Kind.POWER) and _is_above_zero(value, run)
    return False


def _least(node: Any, c: Rational, run: CaseRun) -> Rational:
    """At least what a part of a sum adds; a huge negative number where it has no bound."""
    if not isinstance(node, Draw):
        return ZERO if c > 0 and _is_above_zero(node, run) else _NO_BOUND
    low, high = ends(run.bounds.get(((node, ONE),), FREE))
    bound = low if c > 0 else high
    return _NO_BOUND if bound is None else c * bound


def _settled(x: Any, run: CaseRun) -> Any:
    """The value with its choices made: a plain number, or a function without corners."""
    match x:
        case Compare() | Not() | All():
            return decide(x, run)
        case Where():
            return _settled(run.side(x), run)
        case Extreme(pick=pick, values=values):
            return _best(pick, [_settled(v, run) for v in values], run)
        case Linear(terms=terms, constant=constant):
            whole = Linear((), constant)
            for node, c in terms:
                whole = combine(whole, linear(_settled(node, run)), c)
            return simplified(whole)
        case Product(left=left, right=right):
            return _product(_settled(left, run), _settled(right, run))
        case Quotient(left=left, right=right):
            return _quotient(_settled(left, run), _settled(right, run))
        case Function(function=Elementary(kind=Kind.POWER, parameter=exponent), value=value) if exponent in _EVEN:
            base = value.values[0] if isinstance(value, Extreme) and is_absolute(value) else value
            inner = _settled(base, run)
            return reduce(_product, [inner] * int(exponent))
        case Function(function=function, value=value, call=call):
            inner = _settled(value, run)
            return Function(function, inner, call) if is_node(inner) else float(call(inner))
        case Draw(law=law, origin=None, made_of=None) if not law.discrete:
            return x
    return x if not is_node(x) else _refused()


def _refused() -> Any:
    raise ExactRefused("an output of which it is not known whether it has a density")


def _quotient(top: Any, bottom: Any) -> Any:
    below = linear(bottom)
    if not below.terms:
        return _product(top, 1 / below.constant) if below.constant else _refused()
    for one, other in ((top.left, top.right), (top.right, top.left)) if isinstance(top, Product) else ():
        share = _share(one, below)
        if share is not None:
            return _product(other, share)
    share = _share(top, below)
    return Quotient(top, bottom) if share is None else plain_number(share)


def _share(top: Any, below: Linear) -> Rational | None:
    """The number that a value is divided by another one; None where that is none."""
    above = linear(top)
    share = above.terms[0][1] / below.terms[0][1] if above.terms else 0 * ONE
    rest = combine(above, below, -share)
    return None if rest.terms or rest.constant else share


def _product(a: Any, b: Any) -> Any:
    if is_node(a) and is_node(b):
        return Product(a, b)
    factor, value = (b, a) if is_node(a) else (a, b)
    return simplified(scaled(linear(value), linear(factor).constant))


def _best(pick: Pick, values: list[Any], run: CaseRun) -> Any:
    best, *others = values
    for other in others:
        larger = decide(compare(Relation.GE, best, other), run)
        best = best if larger == (pick is Pick.MAX) else other
    return best


def _varies(x: Any, run: CaseRun) -> bool:
    """Whether a function without corners is meromorphic and has different values at two places."""
    if not _is_meromorphic(x, run):
        return False
    rng = stream(_SEED)
    draws = draws_of(x)
    samples = [np.asarray(d.law.sample(rng, _TRIES), float) for d in draws]
    values = _values(x, draws, samples)
    first, its_size = next(values, (math.nan, math.nan))
    return any(abs(v - first) > _APART * max(size, its_size) for v, size in values)


def _values(x: Any, draws: list[Draw], samples: list[Any]) -> Iterator[tuple[float, float]]:
    """The function at places, and the size of what it is computed from there: what is far below that is rounding."""
    for places in zip(*samples, strict=True):
        at = {id(d): float(v) for d, v in zip(draws, places, strict=True)}
        try:
            value, size = evaluate(x, at), _size(x, at)
        except (ArithmeticError, ValueError, Undetermined):  # outside the domain of a function, or a division by zero
            continue
        if is_number(value) and np.isfinite(float(value)):
            yield float(value), size


def _size(x: Any, at: dict[int, float]) -> float:
    """The sum of the sizes of a value's terms."""
    match x:
        case Linear(terms=terms, constant=constant):
            return abs(float(constant)) + sum(abs(float(c)) * _size(node, at) for node, c in terms)
        case Product(left=left, right=right):
            return _size(left, at) * _size(right, at)
        case Quotient(left=left, right=right):
            return _size(left, at) * _size(right, at) / float(evaluate(linear(right), at)) ** 2
    return abs(float(evaluate(x, at) if is_node(x) else x))


def _is_meromorphic(x: Any, run: CaseRun) -> bool:
    match x:
        case Draw():
            return True
        case Linear(terms=terms):
            return all(_is_meromorphic(n, run) for n, _ in terms)
        case Product(left=left, right=right) | Quotient(left=left, right=right):
            return all(_is_meromorphic(v, run) for v in (left, right) if is_node(v))
        case Function(function=function, value=value):
            low, high = function.domain
            if high is None and (low is None or low <= 0) and function.kind is not Kind.RECIPROCAL and _is_above_zero(value, run):
                return _is_meromorphic(value, run)  # without poles, and inside the domain wherever the conditions hold
            if function.kind in (Kind.POWER, Kind.ODD) and (function.parameter or ONE).denominator == 1:
                return _is_meromorphic(value, run)
            inner = linear(value)
            alone = len(inner.terms) == 1 and function.kind is not Kind.RECIPROCAL
            # Of one value at a time: the places where it lies in the domain are then an interval.
            return alone and (isinstance(inner.terms[0][0], Draw) or _is_chain(inner.terms[0][0], run))
    return False


def _is_chain(x: Any, run: CaseRun) -> bool:
    return isinstance(x, Function) and _is_meromorphic(x, run)
