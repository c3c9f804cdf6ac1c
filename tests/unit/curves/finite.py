"""Finite parts and their compositions in fractions, for tests of the curves."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np

from dpest.curves.cells import single
from dpest.curves.tree import Fixed, Leaf


def leaf(p: list[float], q: list[float]) -> Leaf:
    with np.errstate(divide="ignore"):
        return Leaf(Fixed(single(np.log(p), np.log(q))))


COIN = leaf([0.75, 0.25], [0.25, 0.75])
THIRD = leaf([0.6, 0.3, 0.1], [0.2, 0.3, 0.5])


def outcomes(parts: list[tuple[list[Fraction], list[Fraction], int]]) -> list[tuple[Fraction, Fraction]]:
    out = {(Fraction(1), Fraction(1)): 1}
    for p, q, k in parts:
        for _ in range(k):
            new: dict[tuple[Fraction, Fraction], int] = {}
            for (a, b), many in out.items():
                for x, y in zip(p, q, strict=True):
                    key = (a * x, b * y)
                    new[key] = new.get(key, 0) + many
            out = new
    return [(a * many, b * many) for (a, b), many in out.items()]


def exact_delta(pairs: list[tuple[Fraction, Fraction]], epsilon: float) -> mpmath.mpf:
    with mpmath.workdps(50):
        e = mpmath.exp(mpmath.mpf(epsilon))
        each = ((mpmath.mpf(a.numerator) / a.denominator) - e * b.numerator / b.denominator for a, b in pairs)
        return mpmath.fsum(x for x in each if x > 0)


HALF = [Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 4), Fraction(3, 4)]
SKEW = [Fraction(6, 10), Fraction(3, 10), Fraction(1, 10)], [Fraction(2, 10), Fraction(3, 10), Fraction(5, 10)]
