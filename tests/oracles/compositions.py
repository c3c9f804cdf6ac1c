"""Compositions whose delta(eps) is known without any transform: exact fractions, binomial sums, closed forms."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

import mpmath
from gmpy2 import mpq

Outcome = tuple[mpq, mpq]
DIGITS = 60


def rational(x: Fraction) -> mpq:
    """A fraction in the fast representation."""
    return mpq(x.numerator, x.denominator)


def outcomes(p: Sequence[Fraction], q: Sequence[Fraction], k: int) -> list[Outcome]:
    """Probabilities under both laws of every multiset of k independent outcomes: exact."""
    left, right = [[rational(x) for x in side] for side in (p, q)]
    return list(_multisets(left, right, k, mpq(1), mpq(1)))


def _multisets(p: list[mpq], q: list[mpq], k: int, a: mpq, b: mpq) -> Iterator[Outcome]:
    if len(p) == 1:
        yield a * p[0] ** k, b * q[0] ** k
        return
    for j in range(k + 1):
        many = math.comb(k, j)
        yield from _multisets(p[1:], q[1:], k - j, a * p[0] ** j * many, b * q[0] ** j * many)


def delta_of(found: Sequence[Outcome], epsilon: float) -> mpmath.mpf:
    """The larger of both directions of the sum of (p - e^eps q)+."""
    with mpmath.workdps(DIGITS):
        factor = mpmath.exp(mpmath.mpf(epsilon))
        pairs = [(_real(a), _real(b)) for a, b in found]
        forward = mpmath.fsum(a - factor * b for a, b in pairs if a > factor * b)
        backward = mpmath.fsum(b - factor * a for a, b in pairs if b > factor * a)
        return max(forward, backward)


def _real(x: mpq) -> mpmath.mpf:
    return mpmath.mpf(int(x.numerator)) / mpmath.mpf(int(x.denominator))


def randomised_response(truth: Fraction, k: int, epsilon: float) -> mpmath.mpf:
    """k answers that are true with a probability: binomial sums from the first outcome that counts, for any k."""
    with mpmath.workdps(DIGITS):
        p, q = _real(rational(truth)), _real(rational(1 - truth))
        factor, unit = mpmath.exp(mpmath.mpf(epsilon)), mpmath.log(p / q)
        # An outcome with j true answers has the loss (2 j - k) ln(p / q).
        first = max(0, int(mpmath.floor((mpmath.mpf(epsilon) / unit + k) / 2)) - 1)
        term = mpmath.exp(_log_binomial(k, first) + first * mpmath.log(p) + (k - first) * mpmath.log(q))
        ratio = mpmath.exp((k - 2 * first) * unit)
        total = mpmath.mpf(0)
        for j in range(first, k + 1):
            gap = 1 - factor * ratio
            if gap > 0:
                total += term * gap
                if term < total * mpmath.mpf(10) ** -45:
                    break
            term *= mpmath.mpf(k - j) / (j + 1) * p / q
            ratio *= (q / p) ** 2
        return total


def _log_binomial(k: int, j: int) -> mpmath.mpf:
    return mpmath.loggamma(k + 1) - mpmath.loggamma(j + 1) - mpmath.loggamma(k - j + 1)


def gaussian(mu: mpmath.mpf, epsilon: float) -> mpmath.mpf:
    """The analytic Gaussian: Phi(mu/2 - eps/mu) - e^eps Phi(-mu/2 - eps/mu)."""
    with mpmath.workdps(DIGITS):
        e = mpmath.mpf(epsilon)
        return mpmath.ncdf(mu / 2 - e / mu) - mpmath.exp(e) * mpmath.ncdf(-mu / 2 - e / mu)


def laplace(loss: float, epsilon: float) -> mpmath.mpf:
    """One Laplace draw with this largest loss: 1 - e^((eps - loss) / 2)."""
    with mpmath.workdps(DIGITS):
        return mpmath.mpf(0) if epsilon >= loss else -mpmath.expm1((mpmath.mpf(epsilon) - mpmath.mpf(loss)) / 2)


def laplace_renyi(loss: float, alpha: float) -> mpmath.mpf:
    """The Renyi divergence of one Laplace draw (Mironov 2017, table II)."""
    with mpmath.workdps(DIGITS):
        a, t = mpmath.mpf(alpha), mpmath.mpf(loss)
        inside = a / (2 * a - 1) * mpmath.exp((a - 1) * t) + (a - 1) / (2 * a - 1) * mpmath.exp(-a * t)
        return mpmath.log(inside) / (a - 1)


def two_laplace(loss: float, epsilon: float) -> mpmath.mpf:
    """Two Laplace draws: the delta of one draw, averaged over the loss of the other.

    Under D a single loss is +t with probability 1/2, -t with probability e^-t / 2, and in between has the density
    e^((l - t) / 2) / 4.
    """
    with mpmath.workdps(30):
        t, e = mpmath.mpf(loss), mpmath.mpf(epsilon)

        def one(x: mpmath.mpf) -> mpmath.mpf:
            if x >= t:
                return mpmath.mpf(0)
            if x <= -t:
                return -mpmath.expm1(x)
            return -mpmath.expm1((x - t) / 2)

        ends = sorted({-t, t, *(x for x in (e - t, e + t) if -t < x < t)})
        inner = mpmath.quad(lambda x: one(e - x) * mpmath.exp((x - t) / 2) / 4, ends)
        return one(e - t) / 2 + one(e + t) * mpmath.exp(-t) / 2 + inner
