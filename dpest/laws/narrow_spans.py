"""How likely a draw lies between two rationals, also where these are nearer to each other than doubles tell apart."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from dpest.laws.law import Continuous, Discrete, Law
from dpest.laws.scipy_law import ScipyContinuous
from dpest.numerics.rationals import Rational

_NARROW = 2.0**-20  # of the ends: a difference of two doubles then still has 32 bits of its own


def log_chance(law: Law, least: Rational | None, most: Rational | None) -> float:
    """ln P(least <= X <= most); where the ends nearly agree, at least that."""
    if isinstance(law, ScipyContinuous):  # others are as quick as a look-up, or tables that should not be kept
        return _of_scipy(law, least, most)
    if isinstance(law, Continuous):
        return _of_continuous(law, least, most)
    assert isinstance(law, Discrete)
    low, high = (-math.inf if least is None else float(least)), (math.inf if most is None else float(most))
    return float(law.log_between(law.first(low, False), law.last(high, False)))


@lru_cache(maxsize=1 << 14)
def _of_scipy(law: ScipyContinuous, least: Rational | None, most: Rational | None) -> float:
    """The same, kept: each run that comes by asks again, and a tail of SciPy's takes a tenth of a millisecond."""
    return _of_continuous(law, least, most)


def _of_continuous(law: Continuous, least: Rational | None, most: Rational | None) -> float:
    """ln P(least < X < most); where the ends nearly agree, at least that.

    It is minus infinity for no interval that has a probability: what weighs nothing is taken for impossible.
    """
    low, high = (-math.inf if least is None else float(least)), (math.inf if most is None else float(most))
    if least is None or most is None or not high - low <= _NARROW * max(abs(low), abs(high)) < math.inf:
        return float(law.log_interval(low, high))
    if least >= most:
        return -math.inf
    before, after = math.nextafter(low, -math.inf), math.nextafter(high, math.inf)
    around = float(law.log_interval(before, after))
    if not law.log_concave:
        return around
    # Between the ends, the density is largest at one of them or at its centre.
    places = np.array([before, low, high, after, *(x for x in law.kinks if low < x < high)])
    width = most - least
    return min(around, math.log(int(width.numerator)) - math.log(int(width.denominator)) + float(np.max(law.log_density(places))))
