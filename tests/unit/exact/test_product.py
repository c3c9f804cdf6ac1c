"""Outputs that are quotients of their own noise, and clipped: together they tell the sum of what each tells."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import integrate

import dpest
from dpest.errors import ExactRefused

B = 2.0  # scale of the noise of sums and counts


def _lap(x):
    return math.exp(-abs(x) / B) / (2 * B)


def _cdf(x):
    return math.exp(x / B) / 2 if x < 0 else 1 - math.exp(-x / B) / 2


class ClippedMean:
    """The law of clip((s + noise) / max(n + noise, 1), 0, 1), by an integral over the noisy count."""

    def __init__(self, s: float, n: float) -> None:
        self.s, self.n = s, n

    def _over_counts(self, f) -> float:
        ends = [1.0, *sorted({float(self.n), self.s, self.n + 3.0}), 120.0]
        ends = [e for e in ends if e >= 1]
        return sum(integrate.quad(f, a, b, epsabs=0, epsrel=1e-11)[0] for a, b in itertools.pairwise(ends) if b > a)

    def density(self, y: float) -> float:
        """Inside (0, 1)."""
        return self._over_counts(lambda c: c * _lap(y * c - self.s) * _lap(c - self.n)) + _cdf(1 - self.n) * _lap(y - self.s)

    @property
    def low(self) -> float:
        """The probability of 0."""
        return _cdf(-self.s)

    @property
    def high(self) -> float:
        """The probability of 1."""
        above = self._over_counts(lambda c: (1 - _cdf(c - self.s)) * _lap(c - self.n))
        return above + _cdf(1 - self.n) * (1 - _cdf(1 - self.s))


def _losses(one: ClippedMean, other: ClippedMean) -> tuple[float, float]:
    """The largest log ratio in both directions: inside, and at the two ends."""
    inside = [math.log(one.density(y) / other.density(y)) for y in np.linspace(1e-6, 1 - 1e-6, 801)]
    found = [*inside, math.log(one.low / other.low), math.log(one.high / other.high)]
    return max(found), -min(found)


def _clipped_means(pairs, rng):
    means = []
    for s, n in pairs:
        total = s + rng.laplace(0, B)
        count = n + rng.laplace(0, B)
        means.append(np.clip(total / max(count, 1), 0, 1))
    return means


ONE, OTHER = [(0.3, 2), (0.8, 1)], [(0.1, 1), (1.7, 2)]


def test_the_losses_of_clipped_means_with_noise_of_their_own_add():
    found = dpest.estimate(_clipped_means, (ONE, OTHER), method="exact")
    ways = [_losses(ClippedMean(*a), ClippedMean(*b)) for a, b in zip(ONE, OTHER, strict=True)]
    truth = max(sum(way) for way in zip(*ways, strict=True))
    assert found.lower <= truth * (1 + 1e-6)  # the oracle's maximum is taken on a grid
    assert truth <= found.upper + 1e-9
    assert found.upper - found.lower < 1e-5


def test_a_quotient_beside_an_answer_with_noise_of_its_own():
    def mechanism(data, rng):
        s, n, more = data
        mean = np.clip((s + rng.laplace(0, B)) / max(n + rng.laplace(0, B), 1), 0, 1)
        flag = "many" if more + rng.laplace(0, B) > 1 else "few"
        return mean, flag

    found = dpest.estimate(mechanism, ((0.3, 2, 1), (0.1, 1, 2)), method="exact")
    one, back = _losses(ClippedMean(0.3, 2), ClippedMean(0.1, 1))
    flags = [(1 - _cdf(1 - 1)) / (1 - _cdf(1 - 2)), _cdf(1 - 1) / _cdf(1 - 2)]
    truth = max(one + max(map(math.log, flags)), back - min(map(math.log, flags)))
    assert found.lower <= truth * (1 + 1e-6)
    assert truth <= found.upper + 1e-9
    assert found.upper - found.lower < 1e-5


def test_cases_that_are_no_product_are_not_taken_for_one():
    """Which of two means is released depends on the same coin: the outputs are not independent of each other."""

    def mechanism(data, rng):
        s, n = data
        first, second = rng.laplace(0, B), rng.laplace(0, B)
        if first + second > 0:  # one condition on the noise of both
            return [(s + first) / max(n + rng.laplace(0, B), 1), (s + second) / max(n + rng.laplace(0, B), 1)]
        return None

    with pytest.raises(ExactRefused):
        dpest.estimate(mechanism, ((Fraction(1, 4), 2), (Fraction(3, 4), 2)), method="exact")
