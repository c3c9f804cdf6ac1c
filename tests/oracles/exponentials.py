"""Piecewise sums of c z^k e^(a z), closed under product and integration: Laplace and exponential integrals in closed form."""

from __future__ import annotations

import bisect
import functools
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np

CONTEXT = mpmath.mp.clone()
CONTEXT.dps = 40
Terms = dict[tuple[Fraction, int], Any]  # (rate, power) -> coefficient
HALF = Fraction(1, 2)


@dataclass(frozen=True, eq=False)
class Pieces:
    """A function on the line: one sum of terms to the left of each break and one to the right of the last."""

    breaks: tuple[Fraction, ...]
    terms: tuple[Terms, ...]

    def __mul__(self, other: Pieces) -> Pieces:
        breaks = _merged(self, other)
        return Pieces(breaks, tuple(_product(a, b) for a, b in zip(self._on(breaks), other._on(breaks), strict=True)))

    def __add__(self, other: Pieces) -> Pieces:
        breaks = _merged(self, other)
        return Pieces(breaks, tuple(_sum(a, b) for a, b in zip(self._on(breaks), other._on(breaks), strict=True)))

    def __call__(self, z: Any) -> Any:
        """The value at z; at a break, the limit from the right."""
        place = bisect.bisect_right(self.breaks, z) if isinstance(z, Fraction) else bisect.bisect_right(self.breaks, Fraction(z))
        return _value(self.terms[place], z)

    def sample(self, z: Any) -> Any:
        """The values at an array of points, in extended precision."""
        place = np.searchsorted(np.array([float(b) for b in self.breaks]), np.asarray(z, dtype=float), side="right")
        result = np.zeros(np.shape(z), dtype=np.longdouble)
        for i in np.unique(place):
            here = place == i
            result[here] = sum((c * z[here] ** k * np.exp(r * z[here]) for r, k, c in self._extended(int(i))), np.longdouble(0))
        return result

    @functools.cache  # noqa: B019  (an oracle lives as long as the test run)
    def _extended(self, piece: int) -> list[tuple[Any, int, Any]]:
        return [(_longdouble(_real(r)), k, _longdouble(c)) for (r, k), c in self.terms[piece].items()]

    def _on(self, breaks: Sequence[Fraction]) -> list[Terms]:
        """The terms on the finer pieces between `breaks`."""
        return [self.terms[0]] + [self.terms[bisect.bisect_right(self.breaks, b)] for b in breaks]

    def complement(self) -> Pieces:
        """1 minus the function."""
        one = {(Fraction(0), 0): CONTEXT.mpf(1)}
        return Pieces((), (one,)) + self.scaled(-1)

    def scaled(self, factor: int) -> Pieces:
        """The function times a number."""
        return Pieces(self.breaks, tuple({k: factor * c for k, c in t.items()} for t in self.terms))

    def cumulative(self) -> Pieces:
        """The integral from minus infinity."""
        assert all(rate > 0 for rate, _ in self.terms[0]), "not integrable at minus infinity"
        so_far, result = CONTEXT.mpf(0), []
        for i, terms in enumerate(self.terms):
            inner = _antiderivative(terms)
            start = so_far - (_value(inner, self.breaks[i - 1]) if i else 0)
            result.append(_sum(inner, {(Fraction(0), 0): start}))
            if i < len(self.breaks):
                so_far = _value(result[-1], self.breaks[i])
        return Pieces(self.breaks, tuple(result))

    def integral(self) -> Any:
        """The integral over the line."""
        last = self.cumulative().terms[-1]
        assert all(rate < 0 or (rate, power) == (0, 0) for (rate, power), c in last.items() if c), "not integrable at infinity"
        return last.get((Fraction(0), 0), CONTEXT.mpf(0))


def log_ratio_supremum(p: Pieces, q: Pieces, low: Fraction | None = None) -> float:
    """sup ln p(z) - ln q(z), for z above `low` (everywhere if None): limits, breaks, and local maxima of each piece."""
    breaks = [b for b in _merged(p, q) if low is None or b > low]
    ends = ([] if low is None else [low]) + breaks
    candidates = [_limit(p.terms[-1], q.terms[-1], right=True)]
    if low is None:
        candidates.append(_limit(p.terms[0], q.terms[0], right=False))
    width = float(max(1, (ends[-1] - ends[0]))) * 40
    edges = [*([float(ends[0]) - width] if low is None else []), *map(float, ends), float(ends[-1]) + width]

    def loss(z: Any) -> Any:
        return np.log(p.sample(z)) - np.log(q.sample(z))

    # The search needs few digits, the value all of them: powers of nearly equal exponentials cancel.
    places = [place_between(loss, a, b)[1] for a, b in itertools.pairwise(edges)]
    return max([*candidates, *(float(CONTEXT.log(p(z) / q(z))) for z in places)])


def largest_between(loss: Any, left: float, right: float, points: int = 64, rounds: int = 7) -> float:
    """The largest value of a vectorised function on [left, right]."""
    return place_between(loss, left, right, points, rounds)[0]


def place_between(loss: Any, left: float, right: float, points: int = 64, rounds: int = 7) -> tuple[float, float]:
    """The largest value and its place: a scan, refined again and again around its best point."""
    right -= (right - left) * 1e-13  # a function with a jump belongs to the piece on its right
    low, high, best = left, right, (-math.inf, left)
    for _ in range(rounds):
        grid = np.linspace(low, high, points, dtype=np.longdouble)
        values = loss(grid)
        k = int(np.argmax(values))
        best = max(best, (float(values[k]), float(grid[k])))
        step = float(grid[1] - grid[0])
        low, high = max(left, float(grid[k]) - step), min(right, float(grid[k]) + step)
    return best


def _limit(p: Terms, q: Terms, *, right: bool) -> float:
    """The limit of ln p/q at one infinity, from the leading terms."""
    sign = 1 if right else -1
    lead = [max((k for k, c in t.items() if c), key=lambda k: (sign * k[0], k[1])) for t in (p, q)]
    if lead[0] != lead[1]:
        return math.inf if (sign * lead[0][0], lead[0][1]) > (sign * lead[1][0], lead[1][1]) else -math.inf
    return float(CONTEXT.log(p[lead[0]] / q[lead[1]]))


def laplace_pdf(location: Fraction, scale: Fraction) -> Pieces:
    """The Laplace density."""
    up, rate = _exponent(location, scale)
    half = CONTEXT.mpf(1) / (2 * _real(scale))
    return Pieces((location,), ({(rate, 0): half / up}, {(-rate, 0): half * up}))


def laplace_cdf(location: Fraction, scale: Fraction) -> Pieces:
    """The Laplace distribution function."""
    up, rate = _exponent(location, scale)
    half = _real(HALF)
    return Pieces((location,), ({(rate, 0): half / up}, {(Fraction(0), 0): CONTEXT.mpf(1), (-rate, 0): -half * up}))


def exponential_pdf(location: Fraction, scale: Fraction) -> Pieces:
    """The density of location plus an exponential."""
    up, rate = _exponent(location, scale)
    return Pieces((location,), ({}, {(-rate, 0): up / _real(scale)}))


def exponential_cdf(location: Fraction, scale: Fraction) -> Pieces:
    """The distribution function of location plus an exponential."""
    up, rate = _exponent(location, scale)
    return Pieces((location,), ({}, {(Fraction(0), 0): CONTEXT.mpf(1), (-rate, 0): -up}))


def product(factors: Sequence[Pieces]) -> Pieces:
    """The product of at least one factor."""
    result = factors[0]
    for factor in factors[1:]:
        result = result * factor
    return result


def _exponent(location: Fraction, scale: Fraction) -> tuple[Any, Fraction]:
    return CONTEXT.exp(_real(location / scale)), 1 / Fraction(scale)


def _real(x: Fraction) -> Any:
    return CONTEXT.mpf(x.numerator) / x.denominator


def _longdouble(x: Any) -> Any:
    return np.longdouble(CONTEXT.nstr(x, 25))


def _merged(a: Pieces, b: Pieces) -> tuple[Fraction, ...]:
    return tuple(sorted({*a.breaks, *b.breaks}))


def _product(a: Terms, b: Terms) -> Terms:
    result: Terms = {}
    for (r, k), c in a.items():
        for (s, m), d in b.items():
            key = (r + s, k + m)
            result[key] = result.get(key, 0) + c * d
    return result


def _sum(a: Terms, b: Terms) -> Terms:
    result = dict(a)
    for key, c in b.items():
        result[key] = result.get(key, 0) + c
    return result


def _value(terms: Terms, z: Any) -> Any:
    x = _real(z) if isinstance(z, Fraction) else CONTEXT.mpf(z)
    total = CONTEXT.mpf(0)
    for (rate, power), c in terms.items():
        total += c * x**power * CONTEXT.exp(_real(rate) * x)
    return total


def _antiderivative(terms: Terms) -> Terms:
    result: Terms = {}
    for (rate, power), c in terms.items():
        if rate == 0:
            result = _sum(result, {(rate, power + 1): c / (power + 1)})
            continue
        factor = c / _real(rate)
        for k in range(power, -1, -1):
            result = _sum(result, {(rate, k): factor})
            factor = -factor * k / _real(rate)
    return result
