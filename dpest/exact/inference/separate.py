"""Values of noise that are a given number with probability zero, told by the way in which they are computed.

Sums, products and quotients of continuous noise, and of monotone functions of it, are meromorphic: on the values that noise can
have, which are a convex set, such a function is constant everywhere or equal to a number on a set of measure zero.
"""

from __future__ import annotations

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
from dpest.lang.plain import evaluate
from dpest.lang.spans import is_absolute
from dpest.numerics.elementary import Elementary, Kind
from dpest.numerics.rationals import ONE, is_number
from dpest.run.streams import stream
from dpest.trace.resolve import decide

SOME_NUMBER = "some other number"
_TRIES, _SEED = 400, 20  # places at which a function is evaluated; most lie in its domain
_EVEN = (2, 4, 6)  # exponents up to which a power of an absolute value is written as a product
_APART = 1e-6  # relative: values that differ by more are different numbers, whatever rounding does


def settled_value(x: Any, run: CaseRun) -> Any:
    """A number, or a mark where a value has a density, in the case that the run decides for; refused where neither is known."""
    found = _settled(x, run)
    if not is_node(found):
        return found
    if not _varies(found):
        raise ExactRefused("an output of which it is not known whether it has a density")
    return SOME_NUMBER


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
    above, below = linear(top), linear(bottom)
    if not below.terms:
        return _product(top, 1 / below.constant) if below.constant else _refused()
    share = above.terms[0][1] / below.terms[0][1] if above.terms else 0 * ONE
    rest = combine(above, below, -share)
    return Quotient(top, bottom) if rest.terms or rest.constant else plain_number(share)


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


def _varies(x: Any) -> bool:
    """Whether a function without corners is meromorphic and has different values at two places."""
    if not _is_meromorphic(x):
        return False
    rng = stream(_SEED)
    draws = draws_of(x)
    samples = [np.asarray(d.law.sample(rng, _TRIES), float) for d in draws]
    seen = list(_values(x, draws, samples))
    return bool(seen) and max(seen) - min(seen) > _APART * max(map(abs, seen))


def _values(x: Any, draws: list[Draw], samples: list[Any]) -> Iterator[float]:
    for places in zip(*samples, strict=True):
        try:
            value = evaluate(x, {id(d): float(v) for d, v in zip(draws, places, strict=True)})
        except (ArithmeticError, ValueError):  # outside the domain of a function, or a division by zero
            continue
        if is_number(value) and np.isfinite(float(value)):
            yield float(value)


def _is_meromorphic(x: Any) -> bool:
    match x:
        case Draw():
            return True
        case Linear(terms=terms):
            return all(_is_meromorphic(n) for n, _ in terms)
        case Product(left=left, right=right) | Quotient(left=left, right=right):
            return all(_is_meromorphic(v) for v in (left, right) if is_node(v))
        case Function(function=function, value=value):
            if function.kind in (Kind.POWER, Kind.ODD) and (function.parameter or ONE).denominator == 1:
                return _is_meromorphic(value)
            inner = linear(value)
            alone = len(inner.terms) == 1 and function.kind is not Kind.RECIPROCAL
            # Of one value at a time: the places where it lies in the domain are then an interval.
            return alone and (isinstance(inner.terms[0][0], Draw) or _is_chain(inner.terms[0][0]))
    return False


def _is_chain(x: Any) -> bool:
    return isinstance(x, Function) and _is_meromorphic(x)
