"""Noise added to values with heavier tails: the ratio of two laws far out (oracle: quadrature at places far out)."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest
from scipy import integrate

from dpest.exact.inference.exponential_tails import FarRatio
from dpest.exact.inference.expressions import expr
from dpest.exact.inference.factors import Density, Integral
from dpest.exact.inference.heavy_tails import HeavyPair, heavy_pair
from dpest.exact.inference.rays import Ray
from dpest.laws.continuous import Exponential, Gaussian, Laplace
from dpest.laws.images import image
from dpest.laws.law import Continuous
from dpest.numerics.elementary import Elementary, Kind
from dpest.numerics.rationals import exact

Y, V = -1, 1
CUBE, ROOT, POWER, GROWTH = (
    Elementary(Kind.POWER, exact(3)),
    Elementary(Kind.POWER, exact(0.5)),
    Elementary(Kind.POWER, exact(2)),
    Elementary(Kind.EXP),
)


def moved(law: Continuous, offset: float, function: Elementary) -> Continuous:
    return image(law, exact(1), exact(offset), function).law


def added(value: Continuous, noise: Continuous, shift: float) -> Any:
    """ln 1, no error, and the density of noise + value + shift at y: noise at y - value - shift."""
    place = expr([(Y, exact(1)), (V, exact(-1))], exact(-shift))
    return 0.0, 0.0, (Integral(V, value, (), (), (Density(noise, place),)),)


def log_density(value: Continuous, noise: Continuous, shift: float, y: float) -> float:
    """The integral over the noise near zero, where all of it is far out."""
    centre = float(value.log_density(y - shift))

    def f(u: float) -> float:
        return math.exp(float(noise.log_density(u)) + float(value.log_density(y - shift - u)) - centre)

    points = [-0.9 * (y - shift), -60.0, -10.0, 0.0, 10.0, 60.0]
    points = sorted(p for p in points if p >= -0.9 * (y - shift))
    parts = [integrate.quad(f, a, b, epsabs=1e-13, epsrel=1e-10, limit=300)[0] for a, b in itertools.pairwise(points)]
    return math.log(math.fsum(parts)) + centre


@pytest.mark.parametrize("function", [POWER, CUBE, GROWTH])
@pytest.mark.parametrize(("offsets", "shifts"), [((1.0, 0.5), (0.0, 0.0)), ((0.5, 1.0), (0.0, 2.0)), ((0.2, 0.2), (1.0, -1.0))])
@pytest.mark.parametrize("noise", [Laplace(1.0), Gaussian(1.0)])
def test_the_ratio_far_out_is_within_what_is_said(function: Elementary, offsets: Any, shifts: Any, noise: Continuous) -> None:
    values = [moved(Laplace(1.5), x, function) for x in offsets]
    pair = heavy_pair(*([added(v, noise, s)] for v, s in zip(values, shifts, strict=True)), Ray(Y, 1, exact(0), 1.0))
    assert isinstance(pair, HeavyPair)
    known = 0
    for start in (30.0, 100.0, 400.0, 2000.0):
        found = pair.ratio(start)
        if found is None:
            continue
        known += 1
        assert found.low - 1e-9 <= found.limit <= found.high + 1e-9
        for times in (1.0, 1.5, 4.0, 30.0):
            one, two = (log_density(v, noise, s, start * times) for v, s in zip(values, shifts, strict=True))
            assert found.low - 1e-9 <= one - two <= found.high + 1e-9
    assert known >= 2


def test_a_near_start_says_nothing() -> None:
    value = moved(Laplace(1.0), 1.0, POWER)
    pair = heavy_pair([added(value, Laplace(1.0), 0.0)], [added(value, Laplace(1.0), 1.0)], Ray(Y, 1, exact(0), 1.0))
    assert isinstance(pair, HeavyPair)
    assert pair.ratio(0.5) is None
    assert pair.ratio(5.0) is None


@pytest.mark.parametrize(
    ("value", "noise"),
    [
        (moved(Laplace(1.0), 1.0, ROOT), Laplace(1.0)),  # lighter than the noise
        (Laplace(1.0), Laplace(2.0)),
        (moved(Gaussian(1.0), 0.5, POWER), Laplace(4.0)),  # e^(-z / 2) against e^(-z / 4)
    ],
)
def test_values_that_do_not_outweigh_the_noise(value: Continuous, noise: Continuous) -> None:
    other = moved(Gaussian(1.0), 1.0, POWER) if isinstance(noise, Laplace) and noise.b == 4.0 else value
    assert heavy_pair([added(value, noise, 0.0)], [added(other, noise, 1.0)], Ray(Y, 1, exact(0), 100.0)) is None


def test_nothing_is_heavy_on_the_other_side() -> None:
    value = moved(Laplace(1.0), 1.0, POWER)
    assert heavy_pair([added(value, Laplace(1.0), 0.0)], [added(value, Laplace(1.0), 1.0)], Ray(Y, -1, exact(0), 100.0)) is None


def test_laws_of_different_scales_are_not_compared() -> None:
    one, other = (moved(Laplace(b), 1.0, POWER) for b in (1.0, 1.5))
    assert heavy_pair([added(one, Laplace(1.0), 0.0)], [added(other, Laplace(1.0), 0.0)], Ray(Y, 1, exact(0), 100.0)) is None


def test_squares_of_gaussian_noise_around_two_places_are_told_apart_for_certain() -> None:
    one, other = (moved(Gaussian(1.0), x, POWER) for x in (1.0, 0.5))
    for noise in (Gaussian(3.0), Laplace(0.5)):
        found = heavy_pair([added(one, noise, 0.0)], [added(other, noise, 7.0)], Ray(Y, 1, exact(0), 100.0))
        assert isinstance(found, FarRatio)
        assert found.limit == math.inf


def test_exponential_noise_counts_on_its_own_side() -> None:
    assert moved(Exponential(1.0), 0.5, POWER).heavy(1) is not None
    assert image(Exponential(1.0), exact(-1), exact(5), POWER).law.heavy(1) is None
