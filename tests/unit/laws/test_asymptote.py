"""Asymptotes of tails: values, sums and masses beyond a point, against closed forms."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from dpest.laws.asymptote import Asymptote, exponential, powerlike
from dpest.numerics.rationals import exact

BURST = (exact(Fraction(1, 2)), exact(-1))
FULL = Asymptote(0.25, exact(2), exact(3), exact(Fraction(1, 8)), (BURST,))


def value(t: float) -> float:
    return 0.25 - 2 * t + 3 * math.log(t) - t * t / 8 - math.exp(t / 2 - 1)


@pytest.mark.parametrize("t", [0.5, 3.0, 20.0])
def test_values_and_sums(t: float) -> None:
    assert FULL.at(t) == pytest.approx(value(t), rel=1e-14)
    assert (FULL + powerlike(1.0, -2.0)).at(t) == pytest.approx(value(t) + 1 - 2 * math.log(t), rel=1e-14)
    assert (FULL + FULL).at(t) == pytest.approx(2 * value(t), rel=1e-14)
    assert exponential(0.5, 4.0, 1.5).at(t) == pytest.approx(0.5 - t / 4 + 1.5 * math.log(t), rel=1e-14)


def test_far_out_a_double_exponential_is_as_good_as_minus_infinity() -> None:
    assert FULL.at(1e4) < -1e300
    assert FULL.at(1400.0) == pytest.approx(-math.exp(699), rel=1e-12)


def test_tails_that_decay_alike_have_one_order() -> None:
    assert exponential(1.0, 2.0).order == exponential(7.0, 2.0).order
    assert exponential(1.0, 2.0).order < exponential(1.0, 1.0).order
    assert powerlike(1.0, -2.0).order < powerlike(1.0, -3.0).order < exponential(1.0, 2.0).order < FULL.order


@pytest.mark.parametrize("t", [1e9, 1e11])
def test_in_another_distance(t: float) -> None:
    """At 3 t - 1/2: terms with a power are right up to what tends to zero."""
    slope, offset = exact(3), exact(Fraction(-1, 2))
    plain = Asymptote(0.25, exact(2), square=exact(Fraction(1, 8)), bursts=((exact(Fraction(1, 64)), exact(-1)),))
    assert plain.moved(slope, offset).at(100.0) == pytest.approx(plain.at(299.5), rel=1e-13)
    moved = powerlike(0.25, 3.0).moved(slope, offset)
    assert moved.at(t) == pytest.approx(powerlike(0.25, 3.0).at(3 * t - 0.5), abs=2 / t + 1e-13)


@pytest.mark.parametrize("t", [1.0, 7.0])
def test_the_mass_beyond(t: float) -> None:
    """c e^(-r t) / r of an exponential tail, c t^(1 - p) / (p - 1) of a power."""
    for rate in (0.25, 4.0):
        assert exponential(math.log(5), 1 / rate).integrated().at(t) == pytest.approx(math.log(5 / rate) - rate * t, rel=1e-14)
    for p in (1.5, 2.0, 4.0):
        truth = math.log(5 / (p - 1)) + (1 - p) * math.log(t)
        assert powerlike(math.log(5), -p).integrated().at(t) == pytest.approx(truth, rel=1e-14)


@pytest.mark.parametrize("power", [-1.0, -0.5, 0.0, 2.0])
def test_an_infinite_mass_has_no_asymptote(power: float) -> None:
    assert powerlike(1.0, power).integrated() is None
    assert Asymptote(0.0, rate=exact(-1), power=exact(power - 5)).integrated() is None


def test_masses_that_are_not_needed() -> None:
    assert FULL.integrated() is None
    assert Asymptote(0.0, rate=exact(1), square=exact(1)).integrated() is None
    assert Asymptote(0.0, rate=exact(1), bursts=(BURST,)).integrated() is None
