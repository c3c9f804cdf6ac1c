"""Exact rational numbers: what decides whether two of the program's numbers are equal, ordered, or on one lattice."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, TypeAlias, TypeGuard

from gmpy2 import gcd, lcm, mpq, mpz

Rational: TypeAlias = mpq

ZERO, ONE = mpq(0), mpq(1)


@lru_cache(maxsize=1 << 12)  # a program uses the same few numbers again and again: five times faster than making them
def exact(x: float | int | Rational) -> Rational:
    """The number itself as a rational: a double stands for exactly the binary fraction that it is."""
    return mpq(x)


def is_number(x: Any) -> TypeGuard[int | float]:
    """Whether a value is a plain finite number."""
    return isinstance(x, int | float) and math.isfinite(x)


def floor(x: Rational) -> int:
    """The largest whole number <= x."""
    return int(x.numerator // x.denominator)


def ceil(x: Rational) -> int:
    """The smallest whole number >= x."""
    return -int(-x.numerator // x.denominator)


def common_measure(numbers: Iterable[Rational]) -> Rational:
    """The largest rational of which every number is a whole multiple; 0 where all of them are 0."""
    top, bottom = mpz(0), mpz(1)
    for x in numbers:
        if x:
            top, bottom = gcd(top * x.denominator, x.numerator * bottom), bottom * x.denominator
            shared = gcd(top, bottom)
            top, bottom = top // shared, bottom // shared
    return mpq(top, bottom)


def common_denominator(numbers: Iterable[Rational]) -> int:
    """The smallest positive whole number that makes all of them whole."""
    out = mpz(1)
    for x in numbers:
        out = lcm(out, x.denominator)
    return int(out)
