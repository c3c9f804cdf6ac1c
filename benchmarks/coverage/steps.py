"""Steps that build on released steps, intervals around noisy values, softmax, averages of groups, strategies."""

from __future__ import annotations

import math
import random

import numpy as np

from benchmarks.coverage.case import Case
from benchmarks.coverage.reference import gaussian_delta, integral, mp

# -- gradient descent whose weights are all released -------------------------------------------------------------------

_ROWS = ([(1.0, 2.0), (0.5, -1.0)], [(1.0, 2.0), (0.5, 1.5)])


def descent(rows, rng: np.random.Generator, steps=2, rate=0.5, clip=1.0, sigma=1.0):
    w = 0.0
    weights = []
    for _ in range(steps):
        total = 0.0
        for x, y in rows:
            gradient = (w * x - y) * x
            total += min(max(gradient, -clip), clip)
        w = w - rate * (total + rng.normal(0, sigma * clip))
        weights.append(w)
    return weights


def laplace_descent(rows, rng: np.random.Generator, steps=3, rate=0.5, clip=1.0, scale=2.0):
    w = 0.0
    weights = []
    for _ in range(steps):
        gradient = sum(np.clip((w * x - y) * x, -clip, clip) for x, y in rows)
        w -= rate * (gradient + rng.laplace(scale=scale))
        weights.append(w)
    return weights


def adaptive_clipping(rows, rng: np.random.Generator, sigma=2.0):
    bound = max(rows) + rng.normal(0, 1)
    return bound, sum(min(x, bound) for x in rows) + rng.normal(0, sigma)


def _gradient(w, rows):
    return sum(min(max((w * x - y) * x, -1), 1) for x, y in rows)


def _after_a_first(first, shift, cuts, eps):
    """delta of N(centre(u), 1) released after u: the integral of what the second step adds where the first came out as u."""

    def way(a, b):
        def added(u):
            log_p, log_q = first(u, a), first(u, b)
            e, mu = eps - log_p + log_q, mp.mpf(abs(shift(u)))
            if mu == 0:
                return mp.exp(log_p) * max(mp.mpf(0), 1 - mp.exp(e))
            return mp.exp(log_p) * (mp.ncdf(mu / 2 - e / mu) - mp.exp(e) * mp.ncdf(-mu / 2 - e / mu))

        with mp.workdps(18):
            return integral(added, *cuts)

    return float(max(way(0, 1), way(1, 0)))


def _log_normal(u, centre, sigma):
    return -((u - centre) ** 2) / (2 * mp.mpf(sigma) ** 2) - mp.log(sigma * mp.sqrt(2 * mp.pi))


def _descent():
    return _after_a_first(
        lambda u, side: _log_normal(u, -0.5 * _gradient(0.0, _ROWS[side]), 0.5),
        lambda u: _gradient(u, _ROWS[0]) - _gradient(u, _ROWS[1]),
        [-6.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 5.0, 7.0],
        0.3,
    )


def _clipping():
    pair = ([1, 2, 3], [1, 2, 4])
    return _after_a_first(
        lambda u, side: _log_normal(u, max(pair[side]), 1),
        lambda u: (sum(min(x, u) for x in pair[0]) - sum(min(x, u) for x in pair[1])) / 2,
        [1.0, 2.0, 3.0, 4.0],
        0.2,
    )


# -- intervals, softmax, averages --------------------------------------------------------------------------------------


def wald_interval(bits, epsilon=0.5):
    n = len(bits)
    p = sum(bits) / n + np.random.laplace(scale=1 / (n * epsilon))
    p = min(max(p, 0.0), 1.0)
    half = 1.96 * math.sqrt(p * (1 - p) / n)
    return p - half, p + half


def mean_interval(rows, rng: np.random.Generator, epsilon=1.0):
    n = len(rows)
    x = np.clip(rows, 0, 1)
    mean = x.mean() + rng.laplace(scale=2 / (n * epsilon))
    variance = max(x.var() + rng.laplace(scale=2 / (n * epsilon)), 1e-3)
    half = 1.96 * np.sqrt(variance / n)
    return mean - half, mean + half


def softmax_of_scores(scores, rng: np.random.Generator):
    noisy = np.array(scores) + rng.laplace(size=len(scores))
    e = np.exp(noisy - noisy.max())
    return e / e.sum()


def group_means(groups, epsilon=1.0):
    means = {}
    for name, rows in groups.items():
        total = sum(rows) + np.random.laplace(scale=10 * 2 / epsilon)
        count = len(rows) + np.random.laplace(scale=2 / epsilon)
        means[name] = total / count
    return means


def relative_risk(cases, rate=0.5):
    def noise():
        return random.choice([-1, 1]) * random.expovariate(rate)

    exposed, others = cases
    return ((exposed + noise()) / 40) / ((others + noise()) / 40)


# -- strategies --------------------------------------------------------------------------------------------------------


def least_squares_prefix_sums(counts, rng: np.random.Generator, sigma=3.0):
    workload = np.tril(np.ones((3, 3)))
    strategy = np.array([[1, 1, 1], [1, 1, 0], [0, 0, 1], [1, 0, 0]])
    answers = strategy @ np.array(counts) + rng.normal(0, sigma, size=4)
    return workload @ np.linalg.pinv(strategy) @ answers


def analyze_gauss(rows, rng: np.random.Generator, sigma=1.0):
    x = np.array(rows)
    noise = np.triu(rng.normal(0, sigma, size=(2, 2)))
    return x.T @ x + noise + noise.T - np.diag(np.diag(noise))


_TWO = ([[0.5, 0.1], [0.9, 0.4]], [[0.5, 0.1], [0.1, 0.8]])
_ABADI = "Abadi et al. 2016, all weights released"
_POST = "Dwork et al. 2006, post-processed"

CASES = (
    Case("two clipped steps, delta(0.3)", _ABADI, descent, _ROWS, _descent, "integral", delta_at=0.3),
    Case("three clipped steps with Laplace noise", _ABADI, laplace_descent, _ROWS, lambda: 3 * 1.25 / 2, "closed form"),
    Case(
        "a released clipping bound, delta(0.2)",
        "Andrew et al. 2021",
        adaptive_clipping,
        ([1, 2, 3], [1, 2, 4]),
        _clipping,
        "integral",
        delta_at=0.2,
    ),
    Case(
        "interval of a proportion",
        "Wald interval, post-processed",
        wald_interval,
        ([1, 0, 1, 1], [1, 0, 1, 0]),
        lambda: 0.5,
        "closed form",
    ),
    Case(
        "interval of a mean",
        "Karwa and Vadhan 2018, post-processed",
        mean_interval,
        ([0.2, 0.4, 0.9, 0.5], [0.2, 0.4, 0.1, 0.5]),
        lambda: 2 * (0.2 + abs(np.var([0.2, 0.4, 0.9, 0.5]) - np.var([0.2, 0.4, 0.1, 0.5]))),
        "closed form",
    ),
    Case("softmax of noisy scores", _POST, softmax_of_scores, ([1, 2, 0], [2, 1, 0]), lambda: 2.0, "closed form"),
    Case(
        "averages of groups, one of which changes",
        _POST,
        group_means,
        ({"a": [1, 2], "b": [8, 9]}, {"a": [1, 2], "b": [8, 7]}),
        lambda: 0.1,
        "closed form",
    ),
    Case("relative risk", _POST, relative_risk, ((9, 4), (10, 4)), lambda: 0.5, "closed form"),
    Case(
        "prefix sums by least squares, delta(0.1)",
        "Li et al. 2010",
        least_squares_prefix_sums,
        ([3, 1, 2], [4, 1, 2]),
        lambda: gaussian_delta(math.sqrt(3) / 3, 0.1),
        "closed form",
        delta_at=0.1,
    ),
    Case(
        "Analyze Gauss, delta(0.2)",
        "Dwork et al. 2014",
        analyze_gauss,
        _TWO,
        lambda: gaussian_delta(math.sqrt(0.8**2 + 0.28**2 + 0.48**2), 0.2),
        "closed form",
        delta_at=0.2,
    ),
)
