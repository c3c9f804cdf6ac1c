"""Integrals over exponentials between straight bounds: far out they are sums of c t^k e^(q t), with all rates and powers exact.

Beyond all places at which two kinks meet, the integrand is a sum of exponentials of both variables between any two kinks. A
constant c is a sum of rationals times e to a rational, which is zero only where it is so term by term (Lindemann and
Weierstrass): what cancels is known to cancel.
"""

from __future__ import annotations

import functools
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import gmpy2

from dpest.exact.inference.expressions import Expr, single
from dpest.exact.inference.factors import Between, Density, Factor, Indicator, Integral
from dpest.exact.inference.rays import OffsetAndSlope, Ray, Tail
from dpest.laws.asymptote import Asymptote
from dpest.laws.continuous import Exponential, Laplace
from dpest.laws.law import Law
from dpest.numerics.rationals import ONE, ZERO, Rational, exact

_BITS = 256  # of the constants: their terms may cancel to far below 1
_LOST = 2.0**-128  # the share of its terms below which a constant counts as not known
_MOST_TERMS = 400  # of an integrand between two kinks: powers of probabilities multiply out
_ROUNDING = 1e-15

_ExponentOfE = tuple[Rational, Rational, Rational]  # of e: so much for the draw, for t, and for 1
_Exponentials = dict[_ExponentOfE, Rational]
_ONE: _Exponentials = {(ZERO, ZERO, ZERO): ONE}
_PowersOfE = dict[Rational, Rational]  # the sum of rationals times e to rationals
_SumOfTerms = Mapping[tuple[Rational, int], _PowersOfE]  # by rate and power of t


class _NotExponential(Exception):
    """Something else than exponentials, or an order of the kinks that changes further out."""


def exponential_tail(f: Integral, ray: Ray) -> Tail | None:
    """The tail of an integral over one draw; None where a factor is no exponential between its kinks, or nothing is settled."""
    if f.scope != {ray.variable}:
        return None
    try:
        found = _over_strips(f, ray, _ordered_kinks(f, ray))
    except _NotExponential:
        return None
    with gmpy2.context(gmpy2.get_context(), precision=_BITS):
        return _from_sum(found, exact(ray.start))


def _from_sum(found: _SumOfTerms, start: Rational) -> Tail | None:
    """The leading term, and how far the others move the sum at most from the start on."""
    values = {key: _value(c) for key, c in found.items() if c}
    if not values or start <= 0 or any(v is None for v in values.values()):
        return None
    rate, power = first = max(values)
    top = values.pop(first)
    if top is None or top <= 0:
        return None
    sides = [0.0, 0.0]
    for (q, k), c in values.items():
        if (rate - q) * start < k - power:  # it still grows beside the leading term
            return None
        share = c / top * gmpy2.mpfr(start) ** (k - power) * gmpy2.exp(gmpy2.mpfr((q - rate) * start))
        sides[0 if share > 0 else 1] += abs(float(share))
    if sides[1] >= 1:
        return None
    constant = float(gmpy2.log(top))
    asymptote = Asymptote(constant, rate=-rate, power=exact(power))
    return Tail(asymptote, math.log1p(-sides[1]), math.log1p(sides[0]), _ROUNDING * (1 + abs(constant)))


def _value(c: _PowersOfE) -> gmpy2.mpfr | None:
    """The constant's value; None where its terms cancel so far that it is not known."""
    terms = [gmpy2.mpfr(factor) * gmpy2.exp(gmpy2.mpfr(x)) for x, factor in c.items()]
    total = sum(terms, gmpy2.mpfr(0))
    return total if abs(total) > _LOST * sum(map(abs, terms), gmpy2.mpfr(0)) else None


# -- the ratio of two laws ---------------------------------------------------------------------------------------------

WeighedFactors = tuple[float, float, Sequence[Factor]]  # ln of a weight, its relative error, and factors
_Terms = dict[tuple[Rational, int], gmpy2.mpfr]


@dataclass(frozen=True)
class FarRatio:
    """ln p - ln q from the start of a ray on: its limit, both ends of what it can be, and the error of each."""

    limit: float
    low: float
    high: float
    error: float


class FarLaws:
    """Two laws on one side of a line, each a sum of weighed products of factors; what they are far out is worked out once."""

    def __init__(self, p: Sequence[WeighedFactors], q: Sequence[WeighedFactors]) -> None:
        self._p, self._q = p, q
        self._found: dict[int, _Terms] = {}  # the terms of integrals: they are the same from every start that is far enough

    def ratio(self, ray: Ray) -> FarRatio | None:
        """The ratio of the laws if they are exponentials there; None for others, or where slower terms count from the start on.

        What is left far out is (a t + b) / (c t + d), which only rises or only falls: it lies between its value at the start and
        its limit a / c.
        """
        start = gmpy2.mpfr(exact(ray.start))
        try:
            with gmpy2.context(gmpy2.get_context(), precision=_BITS):
                sides = [_leading(self._total(own, ray), start) for own in (self._p, self._q)]
                one, two = (side for side in sides if side is not None)
                if one.rate != two.rate or (one.slope > 0) != (two.slope > 0):
                    return None
                here = gmpy2.log((one.slope * start + one.offset) / (two.slope * start + two.offset))
                limit = gmpy2.log(one.slope / two.slope) if one.slope > 0 else here
        except (_NotExponential, ValueError):
            return None
        low, high = sorted((float(here), float(limit)))
        error = max(e for _, e, _ in (*self._p, *self._q)) + one.rest + two.rest + _ROUNDING * (8 + abs(low) + abs(high))
        return FarRatio(float(limit), low, high, 2 * error)

    def _total(self, own: Sequence[WeighedFactors], ray: Ray) -> _Terms:
        """The sum of weighed products, as terms in t."""
        out: _Terms = defaultdict(lambda: gmpy2.mpfr(0))
        for log_weight, _, factors in own:
            product: _Terms = {(ZERO, 0): gmpy2.exp(gmpy2.mpfr(log_weight))}
            for f in factors:
                more = self._integral(f, ray) if isinstance(f, Integral) and f.scope == {ray.variable} else _terms(f, ray)
                pairs = [((q + r, k + m), c * d) for (q, k), c in product.items() for (r, m), d in more.items()]
                product = defaultdict(lambda: gmpy2.mpfr(0))
                for key, c in pairs:
                    product[key] += c
            for key, c in product.items():
                out[key] += c
        return out

    def _integral(self, f: Integral, ray: Ray) -> _Terms:
        lines = _ordered_kinks(f, ray)
        if id(f) not in self._found:
            values = {key: _value(c) for key, c in _over_strips(f, ray, lines).items() if c}
            if any(v is None for v in values.values()):
                raise _NotExponential
            self._found[id(f)] = {key: v for key, v in values.items() if v is not None}
        return self._found[id(f)]


@dataclass(frozen=True)
class _Leading:
    """(slope t + offset) e^(rate t), and the share of it that all other terms together are at most."""

    rate: Rational
    slope: gmpy2.mpfr
    offset: gmpy2.mpfr
    rest: float


_SLOW = 1e-12  # a share of other terms from which on what is left is not known well


def _leading(terms: _Terms, start: gmpy2.mpfr) -> _Leading | None:
    rate = max(q for q, _ in terms)
    slope, offset = (terms.get((rate, k), gmpy2.mpfr(0)) for k in (1, 0))
    here = slope * start + offset
    if slope < 0 or here <= 0 or any(q == rate and k > 1 for q, k in terms):
        return None
    others = [(q, k, c) for (q, k), c in terms.items() if q != rate]
    if any((rate - q) * start < k for q, k, _ in others):
        return None
    rest = sum((abs(c) * start**k * gmpy2.exp((q - rate) * start) for q, k, c in others), gmpy2.mpfr(0)) / here
    return _Leading(rate, slope, offset, float(rest)) if rest < _SLOW else None


def _terms(f: Factor, ray: Ray) -> _Terms:
    if not f.scope:
        return {(ZERO, 0): gmpy2.exp(gmpy2.mpfr(float(f.log({})[0])))}
    if f.scope != {ray.variable}:
        raise _NotExponential
    start = exact(ray.start)
    for k in f.kinks:
        slope, offset = ray.line(k)
        if slope and (slope * start + offset) * slope < 0:
            raise _NotExponential
    here = _Strip(None, None, {ray.variable: ray.origin + ray.side * (start + 1)})
    found: _Terms = defaultdict(lambda: gmpy2.mpfr(0))
    for (_, q, x), c in _on_strip(f, here, _NONE, ray).items():
        found[q, 0] += gmpy2.mpfr(c) * gmpy2.exp(gmpy2.mpfr(x))
    return found


_NONE = 10**9  # the number of no draw


# -- between the kinks -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Strip:
    """The draw between two lines slope * t + offset (None: it is unbounded there), and one point inside."""

    low: OffsetAndSlope | None
    high: OffsetAndSlope | None
    inside: Mapping[int, Rational]


def _over_strips(f: Integral, ray: Ray, lines: Sequence[OffsetAndSlope]) -> _SumOfTerms:
    out: dict[tuple[Rational, int], _PowersOfE] = defaultdict(lambda: defaultdict(lambda: ZERO))
    for strip in _strips(f, ray, lines):
        if any(strip.inside[f.draw] < e.exactly(strip.inside) for e in f.lowers):
            continue
        if any(strip.inside[f.draw] > e.exactly(strip.inside) for e in f.uppers):
            continue
        product = _ONE
        for g in (Density(f.law, single(f.draw)), *f.factors):
            product = _times(product, _on_strip(g, strip, f.draw, ray))
        for (p, q, x), c in product.items():
            for key, at, factor in _over(strip, p, q, x):
                constant = out[key]
                constant[at] += c * factor
                if not constant[at]:
                    del constant[at]
    return out


def _ordered_kinks(f: Integral, ray: Ray) -> list[OffsetAndSlope]:
    """The lines at which the integrand has kinks, from low to high: they keep this order from the start on."""
    start = exact(ray.start)
    lines: set[OffsetAndSlope] = set()
    for k in f.surfaces:
        slope, offset = ray.line(k)
        c = k.coefficient(f.draw)
        if c:
            lines.add((-slope / c, -offset / c))
        elif slope and (slope * start + offset) * slope < 0:
            raise _NotExponential
    order = sorted(lines)
    places = [a * start + b for a, b in order]
    if any(x > y for x, y in zip(places, places[1:], strict=False)):
        raise _NotExponential
    return order


def _strips(f: Integral, ray: Ray, lines: Sequence[OffsetAndSlope]) -> Iterator[_Strip]:
    """The strips between neighbouring kinks."""
    t = exact(ray.start) + 1  # where no two of them meet
    y = ray.origin + ray.side * t
    for low, high in zip([None, *lines], [*lines, None], strict=True):
        ends = [a * t + b for a, b in (x for x in (low, high) if x is not None)]
        inside = (sum(ends, ZERO) / len(ends) if ends else ZERO) + (0 if low and high else -1 if high else 1)
        yield _Strip(low, high, {f.draw: inside, ray.variable: y})


def _over(
    strip: _Strip, p: Rational, q: Rational, x: Rational
) -> Iterator[tuple[tuple[Rational, int], Rational, Rational]]:
    """The integral of e^(p v + q t + x) over v: ((rate, power), exponent of the constant, factor) of each term."""
    for end, sign in ((strip.high, 1), (strip.low, -1)):
        if end is None:
            if p * sign >= 0:
                raise _NotExponential  # it does not fall there
            continue
        slope, offset = end
        if p:
            yield (q + p * slope, 0), x + p * offset, sign / p
        else:
            yield (q, 1), x, sign * slope
            yield (q, 0), x, sign * offset


def _times(a: _Exponentials, b: _Exponentials) -> _Exponentials:
    if len(a) * len(b) > _MOST_TERMS:
        raise _NotExponential
    if a == _ONE:
        return b
    out: _Exponentials = defaultdict(lambda: ZERO)
    for (p, q, x), c in a.items():
        for (r, s, y), d in b.items():
            out[p + r, q + s, x + y] += c * d
    return {key: c for key, c in out.items() if c}


def _power(a: _Exponentials, n: int) -> _Exponentials:
    """The n-th power: by the binomial theorem where there are two terms, as there are in a cdf of noise with two sides."""
    if len(a) != 2:
        return functools.reduce(_times, [a] * n, _ONE)
    if n >= _MOST_TERMS:
        raise _NotExponential
    ((p, q, x), c), ((r, s, y), d) = a.items()
    terms = (((k * p + (n - k) * r, k * q + (n - k) * s, k * x + (n - k) * y), k) for k in range(n + 1))
    out: _Exponentials = defaultdict(lambda: ZERO)
    for key, k in terms:
        out[key] += math.comb(n, k) * c**k * d ** (n - k)
    return {key: c for key, c in out.items() if c}


# -- factors as sums of exponentials -----------------------------------------------------------------------------------


def _on_strip(g: Factor, strip: _Strip, draw: int, ray: Ray) -> _Exponentials:
    match g:
        case Indicator(bound=bound):
            return _ONE if bound.expression.exactly(strip.inside) > 0 else {}
        case Density(law=law, place=place):
            half, b = _shape(law)
            positive = place.exactly(strip.inside) > 0
            if half == 1 and not positive:
                return {}
            return {_exponent(place, draw, ray, -1 / b if positive else 1 / b): half / b}
        case Between(law=law, lowers=lowers, uppers=uppers, power=power):
            low = max(lowers, key=lambda e: e.exactly(strip.inside), default=None)
            high = min(uppers, key=lambda e: e.exactly(strip.inside), default=None)
            if low is not None and high is not None and low.exactly(strip.inside) >= high.exactly(strip.inside):
                return {}
            below = {} if low is None else _cdf(law, low, strip, draw, ray)
            single_one = _plus(_ONE if high is None else _cdf(law, high, strip, draw, ray), below, -ONE)
            return _power(single_one, power)
    raise _NotExponential


def _cdf(law: Law, e: Expr, strip: _Strip, draw: int, ray: Ray) -> _Exponentials:
    """P(noise <= e)."""
    half, b = _shape(law)
    if e.exactly(strip.inside) > 0:
        return _plus(_ONE, {_exponent(e, draw, ray, -1 / b): half}, -ONE)
    return {} if half == 1 else {_exponent(e, draw, ray, 1 / b): half}


def _shape(law: Law) -> tuple[Rational, Rational]:
    """How much of a law is above zero, and its scale."""
    match law:
        case Laplace(b=b):
            return ONE / 2, exact(b)
        case Exponential(b=b):
            return ONE, exact(b)
    raise _NotExponential


def _exponent(e: Expr, draw: int, ray: Ray, factor: Rational) -> _ExponentOfE:
    slope, offset = ray.line(e)
    return factor * e.coefficient(draw), factor * slope, factor * offset


def _plus(a: _Exponentials, b: _Exponentials, factor: Rational) -> _Exponentials:
    out = dict(a)
    for key, c in b.items():
        out[key] = out.get(key, ZERO) + factor * c
    return {key: c for key, c in out.items() if c}
