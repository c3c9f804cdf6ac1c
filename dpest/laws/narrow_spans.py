"""How likely a draw lies between two rationals, also where these are nearer to each other than doubles tell apart."""

from __future__ import annotations

import math

import numpy as np

from dpest.laws.law import Continuous
from dpest.numerics.rationals import Rational

_NARROW = 2.0**-20  # of the ends: a difference of two doubles then still has 32 bits of its own


def log_chance(law: Continuous, least: Rational | None, most: Rational | None) -> float:
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
