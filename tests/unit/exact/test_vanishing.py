"""Products, odds ratios and sums of squares, next to the places where all that they are made of vanishes."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from scipy import integrate

import dpest
from dpest.exact.inference.crossing import vanishings
from dpest.exact.inference.paths import trace


def odds_ratio(counts: Sequence[float], rng: np.random.Generator, b: float = 2.0):
    a, c, d, e = (x + rng.laplace(0, b) for x in counts)
    return (a * e) / (c * d)


def product_of_three(values: Sequence[float], rng: np.random.Generator):
    a, b, c = (x + rng.laplace(0, 1) for x in values)
    return a * b * c


def chi_square(counts: Sequence[float], rng: np.random.Generator, b: float = 2.0):
    return sum((x + rng.laplace(0, b) - 15) ** 2 / 15 for x in counts)


def two_squares(values: Sequence[float], rng: np.random.Generator):
    return (values[0] + rng.laplace(0, 1)) ** 2 + 2 * (values[1] + rng.laplace(0, 2)) ** 2


@pytest.mark.parametrize(
    ("mechanism", "pair", "loss"),
    [
        (odds_ratio, ((10, 5, 4, 8), (11, 5, 4, 8)), 0.5),
        (odds_ratio, ((10, 5, 4, 8), (10, 5, 3, 8)), 0.5),
        (product_of_three, ((1, 2, 3), (2, 2, 3)), 1.0),
        (chi_square, ((10, 20), (11, 19)), 1.0),
        (two_squares, ((1.0, 2.0), (1.5, 2.0)), 0.5),
    ],
)
def test_where_the_noise_tells_all_of_the_loss(mechanism, pair, loss: float) -> None:
    """The bound is that of the noise; the limit is known from values at zero."""
    found = dpest.estimate(mechanism, pair, method="exact")
    assert found.lower == pytest.approx(loss, abs=1e-9)
    assert found.upper == pytest.approx(loss, abs=1e-9)


def _lap(x: float, k: float, b: float) -> float:
    return math.exp(-abs(x - k) / b) / (2 * b)


def _quotient_density(y: float, top: tuple[float, float], bottom: float, b: float) -> float:
    """Of (A E) / B at y: the mean over E and B of |B / E| f_A(y B / E), with ln|E| and B integrated."""

    def over_e(s: float, w: float) -> float:
        u = math.exp(s)
        return sum(_lap(y * w / (sign * u), top[0], b) * _lap(sign * u, top[1], b) for sign in (1, -1))

    def over_b(w: float) -> float:
        middle = math.log(abs(y * w)) if w else -60.0
        points = [middle - 8, middle, middle + 2, -1.0, math.log(top[1]), 5.0]
        return abs(w) * _lap(w, bottom, b) * sum(
            integrate.quad(over_e, p, q, args=(w,), epsabs=0, epsrel=1e-9)[0] for p, q in zip(points, points[1:], strict=False)
        )

    points = [bottom - 40 * b, -3.0, -1e-3, 0.0, 1e-3, bottom, bottom + 40 * b]
    return float(sum(integrate.quad(over_b, p, q, epsabs=0, epsrel=1e-7)[0] for p, q in zip(points, points[1:], strict=False)))


def test_a_product_over_a_value_grows_as_it_is_said_to() -> None:
    """Next to 0 the density is a line in ln(1 / y): the ratio of slopes is what the densities are told apart by."""
    b = 1.0

    def mechanism(x: Sequence[float], rng: np.random.Generator):
        return (x[0] + rng.laplace(0, b)) * (x[1] + rng.laplace(0, b)) / (x[2] + rng.laplace(0, b))

    pair = (1.0, 2.0, 3.0), (1.5, 2.0, 2.5)
    one, other = ([v for v in vanishings(trace(mechanism, x, {})) if "next to" in v.event] for x in pair)
    limit = one[0].against(other[0])
    slopes = []
    for a, e, c in pair:
        near, far = (_quotient_density(y, (a, e), c, b) for y in (1e-8, 1e-12))
        slopes.append((far - near) / math.log(1e4))
    assert limit == pytest.approx(math.log(slopes[0] / slopes[1]), abs=1e-5)


def test_outputs_that_are_put_together_differently_are_not_compared() -> None:
    def mechanism(x: Sequence[float], rng: np.random.Generator):
        out = 1.0
        for v in x:
            out = out * (v + rng.laplace(0, 1))
        return out

    one, other = (vanishings(trace(mechanism, x, {})) for x in ([1.0, 2.0, 3.0], [1.0, 2.0]))
    assert one
    assert other
    assert all(a.against(b) is None for a in one for b in other)


def test_values_that_share_noise_do_not_vanish_apart() -> None:
    def mechanism(x: float, rng: np.random.Generator):
        v, w = rng.laplace(0, 1), rng.laplace(0, 1)
        return (x + v) * (x + w) * (x - v)

    assert not vanishings(trace(mechanism, 1.0, {}))
