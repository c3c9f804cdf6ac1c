"""The sum of uniform values of one width, against its polynomials in fractions."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import numpy as np
import pytest

import dpest
from dpest.laws.continuous import Uniform
from dpest.laws.uniform_sum import UniformSum, plus_uniform
from dpest.numerics.rationals import exact


def _polynomial(z: Fraction, n: int, degree: int) -> Fraction:
    """The alternating sum of powers: the density of n values between 0 and 1 (degree n - 1), or their distribution (n)."""
    terms = (Fraction((-1) ** k * math.comb(n, k)) * (z - k) ** degree for k in range(math.floor(z) + 1))
    return sum(terms, Fraction(0)) / math.factorial(degree)


@pytest.mark.parametrize("n", [2, 3, 12, 24])
@pytest.mark.parametrize("share", [Fraction(k, 64) for k in (1, 8, 24, 32, 56)])
def test_density_and_distribution(n: int, share: Fraction) -> None:
    law = UniformSum(0.0, 1.0, n)
    z = n * share
    x = float(z)
    assert float(law.log_density(x)) == pytest.approx(math.log(_polynomial(z, n, n - 1)), abs=1e-12)
    below = _polynomial(z, n, n)
    assert float(law.log_cdf(x)) == pytest.approx(math.log(below), abs=1e-12)
    assert float(law.log_sf(n - x)) == pytest.approx(math.log(below), abs=1e-12)


def test_next_to_an_end_no_digits_are_lost() -> None:
    law = UniformSum(0.0, 1.0, 12)
    assert float(law.log_density(2.0**-60)) == pytest.approx(-11 * 60 * math.log(2) - math.lgamma(12), rel=1e-14)
    assert float(law.log_cdf(2.0**-60)) == pytest.approx(-12 * 60 * math.log(2) - math.lgamma(13), rel=1e-14)


def test_the_ends_are_closed() -> None:
    law = UniformSum(-6.0, 1.0, 12)
    assert np.all(np.isneginf(law.log_density(np.array([-6.5, 6.5]))))
    assert np.isneginf(law.log_cdf(-7.0))
    assert law.log_cdf(7.0) == 0.0


@pytest.mark.parametrize("d", [0.25, 3.0, 40.0])
@pytest.mark.parametrize("sign", [1, -1])
def test_where_a_shift_shows_an_infinite_loss(sign: int, d: float) -> None:
    law = UniformSum(-1.0, 0.5, 6)
    shift = law.shift(sign * d)
    assert shift.loss == math.inf
    assert law.log_density(shift.at) > -math.inf
    assert law.log_density(shift.at + sign * d) == -math.inf
    assert law.shift(0.0).loss == 0.0


def test_sums_with_weights_and_what_is_no_such_sum() -> None:
    assert plus_uniform(Uniform(0.0, 1.0), Uniform(0.0, 1.0), exact(-1)) == UniformSum(-1.0, 1.0, 2)
    assert plus_uniform(Uniform(0.0, 1.0), Uniform(1.0, 3.0), exact(0.5)) == UniformSum(0.5, 1.0, 2)
    assert plus_uniform(Uniform(0.0, 1.0), Uniform(0.0, 1.0), exact(2)) is None
    assert plus_uniform(Uniform(0.1, 1.1), Uniform(0.1, 1.1), exact(1)) is None  # neither ends nor width are doubles


@pytest.mark.parametrize("n", [2, 3, 6, 12, 20])
def test_approximately_gaussian_noise(n: int) -> None:
    def above(x: float) -> bool:
        z = sum(random.random() for _ in range(n)) - n / 2
        return x + z >= 0

    r = dpest.estimate(above, (0.5, -0.25), method="exact")
    laws = []
    for x in (Fraction(1, 2), Fraction(-1, 4)):
        below = _polynomial(Fraction(n, 2) - x, n, n)
        laws.append((below, 1 - below))
    truth = max(abs(math.log(p / q)) for p, q in zip(*laws, strict=True))
    assert r.lower <= truth <= r.upper
    assert r.upper - r.lower < 1e-9


def test_beside_a_draw_of_another_kind() -> None:
    """P(U1 + U2 + E <= x) is the integral of the exponential distribution over the triangle."""
    import mpmath

    def late(x: float) -> bool:
        return random.random() + random.random() + random.expovariate(1.0) > x

    def below(x: float) -> float:
        density = [(lambda t: t, 0, 1), (lambda t: 2 - t, 1, 2)]
        parts = (mpmath.quad(lambda t, f=f: f(t) * (1 - mpmath.exp(-(x - t))), [low, high]) for f, low, high in density)
        return float(sum(parts))

    r = dpest.estimate(late, (2.5, 3.5), method="exact")
    p, q = below(2.5), below(3.5)
    truth = max(math.log(q / p), math.log((1 - p) / (1 - q)))
    assert r.lower <= truth <= r.upper
    assert r.upper - r.lower < 1e-9
