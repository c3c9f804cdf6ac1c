"""Local protocols on numbers."""

from __future__ import annotations

import math
import random

import numpy as np

from benchmarks.coverage.case import Case
from benchmarks.coverage.reference import loss

E = math.e


def duchi(x, rng: np.random.Generator, epsilon=1.0):
    """x in [-1, 1]."""
    e = math.exp(epsilon)
    c = (e + 1) / (e - 1)
    p = (x * (e - 1) + e + 1) / (2 * e + 2)
    return c if rng.random() < p else -c


def duchi_by_binomial(x, rng: np.random.Generator, epsilon=1.0):
    e = math.exp(epsilon)
    u = rng.binomial(1, ((e - 1) * x + e + 1) / (2 * e + 2))
    return (2 * u - 1) * (e + 1) / (e - 1)


def duchi_two_dimensions(x, epsilon=1.0):
    v = [1 if random.random() < (1 + t) / 2 else -1 for t in x]
    corners = [(a, b) for a in (-1, 1) for b in (-1, 1)]
    agree = [c for c in corners if c[0] * v[0] + c[1] * v[1] >= 0]
    against = [c for c in corners if c[0] * v[0] + c[1] * v[1] <= 0]
    e = math.exp(epsilon)
    if random.random() < e / (e + 1):
        return random.choice(agree)
    return random.choice(against)


def piecewise(t, rng: np.random.Generator, epsilon=1.0):
    z = math.exp(epsilon / 2)
    c = (z + 1) / (z - 1)
    left = (c + 1) / 2 * t - (c - 1) / 2
    right = left + c - 1
    if rng.random() < z / (z + 1):
        return rng.uniform(left, right)
    outside = rng.uniform(0, c + 1)
    if outside < left + c:
        return -c + outside
    return right + (outside - (left + c))


def piecewise_two_sides(t, epsilon=1.0):
    """The same law, with the side of the rest chosen by its length."""
    z = math.exp(epsilon / 2)
    c = (z + 1) / (z - 1)
    left = (c + 1) * t / 2 - (c - 1) / 2
    right = left + c - 1
    if random.random() < z / (z + 1):
        return random.uniform(left, right)
    if random.random() < (left + c) / (c + 1):
        return random.uniform(-c, left)
    return random.uniform(right, c)


def hybrid(t, rng: np.random.Generator, epsilon=1.0):
    alpha = 1 - math.exp(-epsilon / 2)
    if rng.random() < alpha:
        return piecewise(t, rng, epsilon)
    return duchi(t, rng, epsilon)


def square_wave(v, rng: np.random.Generator, epsilon=1.0):
    e = math.exp(epsilon)
    b = (epsilon * e - e + 1) / (2 * e * (e - 1 - epsilon))
    if rng.random() < 2 * b * e / (2 * b * e + 1):
        return rng.uniform(v - b, v + b)
    u = rng.random()
    return u - b if u < v else u + b


def harmony(record, epsilon=1.0):
    d = len(record)
    j = random.randrange(d)
    e = math.exp(epsilon)
    p = (record[j] * (e - 1) + e + 1) / (2 * e + 2)
    sign = 1 if random.random() < p else -1
    return j, sign * d * (e + 1) / (e - 1)


def stochastic_rounding(x, rng: np.random.Generator, p=0.75):
    """x in [0, 1] is rounded to a bit, which is randomised."""
    bit = int(rng.random() < x)
    return bit if rng.random() < p else 1 - bit


def local_laplace(x, rng: np.random.Generator, epsilon=1.0):
    return np.clip(x, -1, 1) + rng.laplace(0, 2 / epsilon)


def clamped_laplace(x, rng: np.random.Generator, epsilon=1.0):
    return float(np.clip(x + rng.laplace(0, 1 / epsilon), 0, 1))


def planar_laplace(point, rng: np.random.Generator, epsilon=1.0):
    """Geo-indistinguishability: an angle and a radius."""
    theta = rng.uniform(0, 2 * math.pi)
    radius = rng.gamma(2, 1 / epsilon)
    return point[0] + radius * math.cos(theta), point[1] + radius * math.sin(theta)


def memoised_then_rounded(x, rng: np.random.Generator, epsilon=1.0):
    """Telemetry: one bit for whether a count is above a random threshold."""
    alpha = rng.uniform(0, 10)
    bit = x > alpha
    return bit if rng.random() < math.exp(epsilon) / (1 + math.exp(epsilon)) else not bit


def one_bit_mean(x, m=10.0, epsilon=1.0):
    e = math.exp(epsilon)
    return int(random.random() < 1 / (e + 1) + x / m * (e - 1) / (e + 1))


# ---- the truth ----


def _duchi(x: float, y: float) -> float:
    p, q = (((E - 1) * t + E + 1) / (2 * E + 2) for t in (x, y))
    return max(abs(math.log(p / q)), abs(math.log((1 - p) / (1 - q))))


def _duchi_two() -> float:
    def law(x):
        out: dict[tuple[int, int], float] = {}
        for v0 in (-1, 1):
            for v1 in (-1, 1):
                mass = (1 + v0 * x[0]) / 2 * (1 + v1 * x[1]) / 2
                for c in ((a, b) for a in (-1, 1) for b in (-1, 1)):
                    s = c[0] * v0 + c[1] * v1  # three corners agree or are orthogonal, three are against or orthogonal
                    out[c] = out.get(c, 0) + mass * ((E if s >= 0 else 0) + (1 if s <= 0 else 0)) / 3 / (E + 1)
        return out

    return loss(law((0.5, -0.5)), law((-0.5, 1.0)))


def _harmony() -> float:
    return max(_duchi(0.5, -1.0), _duchi(0.25, 0.75))


def _rounded(x: float, y: float) -> float:
    p, q = (0.25 + 0.5 * t for t in (x, y))
    return max(abs(math.log(p / q)), abs(math.log((1 - p) / (1 - q))))


def _random_threshold(x: float, y: float) -> float:
    p = E / (1 + E)
    a, b = (t / 10 * p + (1 - t / 10) * (1 - p) for t in (x, y))
    return max(abs(math.log(a / b)), abs(math.log((1 - a) / (1 - b))))


CASES = (
    Case("Duchi, one dimension", "Duchi et al. 2013", duchi, (0.5, -1.0), lambda: _duchi(0.5, -1.0), "closed form"),
    Case(
        "Duchi, by a binomial draw", "Duchi et al. 2013", duchi_by_binomial, (0.5, -1.0), lambda: _duchi(0.5, -1.0), "closed form"
    ),
    Case(
        "Duchi, two dimensions", "Duchi et al. 2018", duchi_two_dimensions, ((0.5, -0.5), (-0.5, 1.0)), _duchi_two, "enumeration"
    ),
    Case("piecewise mechanism", "Wang et al. 2019", piecewise, (0.5, -0.25), lambda: 1.0, "closed form"),
    Case("piecewise mechanism, two sides", "Wang et al. 2019", piecewise_two_sides, (0.5, -0.25), lambda: 1.0, "closed form"),
    Case("hybrid mechanism", "Wang et al. 2019", hybrid, (0.5, -0.25), lambda: max(1.0, _duchi(0.5, -0.25)), "closed form"),
    Case("square wave", "Li et al. 2020", square_wave, (0.25, 0.75), lambda: 1.0, "closed form"),
    Case("Harmony, one sampled attribute", "Nguyên et al. 2016", harmony, ([0.5, 0.25], [-1.0, 0.75]), _harmony, "closed form"),
    Case(
        "stochastic rounding and randomised response",
        "Ding, Kulkarni and Yekhanin 2017",
        stochastic_rounding,
        (0.25, 1.0),
        lambda: _rounded(0.25, 1.0),
        "closed form",
    ),
    Case(
        "1BitMean",
        "Ding, Kulkarni and Yekhanin 2017",
        one_bit_mean,
        (2.0, 9.0),
        lambda: _random_threshold(2.0, 9.0),
        "closed form",
    ),
    Case(
        "telemetry with a random threshold",
        "Ding, Kulkarni and Yekhanin 2017",
        memoised_then_rounded,
        (2.0, 9.0),
        lambda: _random_threshold(2.0, 9.0),
        "closed form",
    ),
    Case("Laplace on a clipped value", "Dwork et al. 2006", local_laplace, (-3.0, 0.5), lambda: 0.75, "closed form"),
    Case("Laplace, clamped to [0, 1]", "Holohan et al. 2018", clamped_laplace, (0.2, 0.7), lambda: 0.5, "closed form"),
    Case(
        "planar Laplace (geo-indistinguishability)",
        "Andrés et al. 2013",
        planar_laplace,
        ((0.0, 0.0), (3.0, 4.0)),
        lambda: 5.0,
        "closed form",
    ),
)
