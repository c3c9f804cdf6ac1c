"""Variances and covariances from noisy moments: both ends of the loss (oracle: integrals over the noise of one moment)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from scipy import integrate

import dpest


def variance(data: Sequence[float], rng: np.random.Generator, b1: float = 1.0, b2: float = 1.0):
    n = len(data)
    s1 = (sum(data) + rng.laplace(0, b1)) / n
    s2 = (sum(x * x for x in data) + rng.laplace(0, b2)) / n
    return s2 - s1**2


def _lap(x: float, b: float) -> float:
    return math.exp(-abs(x) / b) / (2 * b)


def _over(f: Callable[[float], float], places: Sequence[float], reach: float) -> float:
    points = sorted({*places, min(places) - reach, max(places) + reach})
    return float(
        sum(integrate.quad(f, a, b, epsabs=0, epsrel=1e-10, limit=200)[0] for a, b in itertools.pairwise(points) if b > a)
    )


def variance_density(y: float, data: Sequence[float], b1: float, b2: float) -> float:
    """One over the number of values is the unit of both moments."""
    n, total, squares = len(data), sum(data), sum(x * x for x in data)
    root = math.sqrt(max(squares / n - y, 0.0))
    near = [r + s * k * b2 / n / max(root, 1.0) for r in (root, -root) for s in (1, -1) for k in (0, 1, 6, 30)]
    near += [total / n + s * k * b1 / n for s in (1, -1) for k in (0, 4, 20)]
    return _over(lambda u: n * n * _lap(u * n - total, b1) * _lap((y + u * u) * n - squares, b2), near, 60 * b1 / n)


VARIANCES = [
    (([0.2, 0.5, 0.9], [0.2, 0.5, 0.1]), 1.0, 1.0),
    (([0.2, 0.5, 0.1], [0.2, 0.5, 0.9]), 2.0, 1.0),
    (([1.0, 0.0, 1.0], [1.0, 0.0, 0.0]), 1.0, 0.5),
    (([-0.9, 0.4, 0.2], [0.9, 0.4, 0.2]), 1.0, 1.0),
    (([5.0, 5.0, 0.0], [5.0, 5.0, 10.0]), 10.0, 100.0),
]


@pytest.mark.parametrize(("pair", "b1", "b2"), VARIANCES)
def test_a_variance_has_both_ends(pair, b1: float, b2: float) -> None:
    found = dpest.estimate(variance, pair, method="exact", params={"b1": b1, "b2": b2})
    places = [*np.linspace(-8 * b2, 3 * b2, 45), -30 * b2, -300 * b2]
    shown = max(abs(math.log(variance_density(y, pair[0], b1, b2) / variance_density(y, pair[1], b1, b2))) for y in places)
    # Far below zero the mean is what tells: its two signs together, moved by nothing that counts there.
    far = abs(math.log(math.cosh(sum(pair[0]) / b1) / math.cosh(sum(pair[1]) / b1)))
    truth = max(shown, far)
    assert truth <= found.upper * (1 + 1e-8)
    assert found.lower <= found.upper <= found.lower * (1 + 1e-3)
    assert found.lower - truth <= 0.01 * truth  # the largest is between two places of the oracle at most


def test_a_standard_deviation_is_a_variance_with_a_floor() -> None:
    def deviation(data: Sequence[float], rng: np.random.Generator):
        return math.sqrt(max(0.0, variance(data, rng, 2.0, 1.0)))

    pair = ([0.2, 0.5, 0.9], [0.2, 0.5, 0.1])
    found = dpest.estimate(deviation, pair, method="exact")
    # Above all second moments only noise upwards counts, and what it meets: e^y times the mean of e^(-s1^2 n).
    weights = []
    for data in pair:
        n, total = len(data), sum(data)
        mean = _over(lambda u, n=n, total=total: n * _lap(u * n - total, 2.0) * math.exp(-u * u * n), [0.0, total / n], 40.0)
        weights.append(math.log(mean) + sum(x * x for x in data))
    assert found.lower - 1e-9 <= abs(weights[0] - weights[1]) <= found.upper + 1e-9
    assert found.upper - found.lower < 1e-6


def covariance(moments: Sequence[float], rng: np.random.Generator, bx: float, by: float, bs: float):
    x, y, both = moments
    return (both + rng.laplace(0, bs)) - (x + rng.laplace(0, bx)) * (y + rng.laplace(0, by))


def _two_laplace(x: float, a: float, c: float) -> float:
    """The density of a sum of two draws."""
    x = abs(x)
    if abs(a - c) < 1e-6 * a:
        return (1 + x / a) * math.exp(-x / a) / (4 * a)
    return (a * math.exp(-x / a) - c * math.exp(-x / c)) / (2 * (a * a - c * c))


def covariance_density(y: float, moments: Sequence[float], bx: float, by: float, bs: float) -> float:
    """For each value of the first factor the rest is a sum of two draws."""
    mx, my, both = moments
    root = math.sqrt(abs(y) * bx / by)
    near = [0.0, bs / by, -bs / by, *(s * k * root for s in (1, -1) for k in (0.2, 1, 3))]
    near += [*(mx + k * bx for k in (-30, -5, 0, 5, 30))]
    near += [(both - y) / my] if my else []
    return _over(lambda u: _lap(u - mx, bx) * _two_laplace(y - both + u * my, bs, abs(u) * by + 1e-300), near, 150 * bx)


COVARIANCES = [
    (((0.5, 0.4, 0.3), (0.6, 0.3, 0.3)), (0.2, 0.2, 0.2), 1e-3),
    (((0.0, 0.0, 0.3), (0.5, 0.5, 0.3)), (1.0, 1.0, 1.0), 1e-3),
    (((0.0, 1.0, 1.0), (0.0, 1.0, 2.0)), (1.0, 1.0, 1.0), 1e-3),
    (((1.0, -2.0, 3.0), (1.0, -2.5, 2.0)), (1.0, 0.5, 0.2), 1e-2),
]


@pytest.mark.parametrize(("pair", "scales", "width"), COVARIANCES)
def test_a_covariance_has_both_ends(pair, scales: tuple[float, float, float], width: float) -> None:
    found = dpest.estimate(covariance, pair, method="exact", params=dict(zip(("bx", "by", "bs"), scales, strict=True)))
    places = [*np.linspace(-30, 30, 61) * max(scales), *(s * y * max(scales) for s in (1, -1) for y in (50, 100, 300))]
    logs = [math.log(covariance_density(y, pair[0], *scales) / covariance_density(y, pair[1], *scales)) for y in places]
    shown = max(map(abs, logs))
    assert shown <= found.upper * (1 + 1e-8)
    assert found.lower <= found.upper <= found.lower * (1 + width)
    assert found.lower - shown <= 0.02 * shown


def test_a_covariance_with_a_floor() -> None:
    """At most the loss without it; and the probability of zero, by the same integral."""

    def clipped(moments: Sequence[float], rng: np.random.Generator):
        return max(0.0, covariance(moments, rng, 1.0, 1.0, 1.0))

    pair = (0.0, 1.0, 1.0), (0.0, 1.0, 2.0)
    found = dpest.estimate(clipped, pair, method="exact")
    whole = dpest.estimate(covariance, pair, method="exact", params={"bx": 1.0, "by": 1.0, "bs": 1.0})
    zero = []
    for moments in pair:
        below = sum(
            integrate.quad(lambda y, m=moments: covariance_density(y, m, 1.0, 1.0, 1.0), a, b, epsabs=0, epsrel=1e-7)[0]
            for a, b in ((-400.0, -60.0), (-60.0, -8.0), (-8.0, 0.0))
        )
        zero.append(math.log(below))
    assert abs(zero[0] - zero[1]) <= found.upper * (1 + 1e-6)
    assert found.lower <= whole.upper * (1 + 1e-6)
    assert found.upper - found.lower < 1e-3


def test_gaussian_noise_around_other_means_tells_everything() -> None:
    """Far below zero a square, or a product, outweighs the noise added to it, and e^(m sqrt(-y) / s^2) tells the means."""

    def gaussian_variance(data: Sequence[float], rng: np.random.Generator):
        n = len(data)
        return (sum(x * x for x in data) + rng.normal(0, 1)) / n - ((sum(data) + rng.normal(0, 1)) / n) ** 2

    def gaussian_covariance(moments: Sequence[float], rng: np.random.Generator):
        x, y, both = moments
        return (both + rng.normal(0, 1)) - (x + rng.normal(0, 1)) * (y + rng.normal(0, 2))

    assert dpest.estimate(gaussian_variance, ([0.2, 0.5, 0.9], [0.2, 0.5, 0.1]), method="exact").lower == math.inf
    assert dpest.estimate(gaussian_covariance, ((1.0, 2.0, 3.0), (1.5, 2.0, 3.0)), method="exact").lower == math.inf


def test_a_cube_with_more_noise() -> None:
    """Far out, on either side, the cube is all that counts: e^(m / b) and e^(-m / b)."""

    def cube(x: Sequence[float], rng: np.random.Generator):
        return (x[0] + rng.laplace(0, 0.5)) ** 3 + (x[1] + rng.laplace(0, 1))

    pair = (1.0, 2.0), (1.5, 2.2)
    found = dpest.estimate(cube, pair, method="exact")

    def density(y: float, x: Sequence[float]) -> float:
        rest = y - x[1]
        roots = [math.copysign(abs(rest + d) ** (1 / 3), rest + d) for d in (-8.0, -2.0, 0.0, 2.0, 8.0)]
        return _over(lambda u: _lap(u - x[0], 0.5) * _lap(rest - u**3, 1.0), [0.0, x[0], *roots], 12.0)

    shown = max(abs(math.log(density(y, pair[0]) / density(y, pair[1]))) for y in (*np.linspace(-15, 25, 81), -100.0, 200.0))
    assert shown <= found.upper * (1 + 1e-8)
    assert found.lower <= found.upper <= found.lower + 1e-5
    assert found.lower - shown <= 0.01 * shown
