"""Continuous noise in statistics and training: bounds, ranges, centres and steps that are noisy themselves."""

from __future__ import annotations

import itertools
import math

import numpy as np

from benchmarks.coverage.case import Case
from benchmarks.coverage.reference import integral, laplace_cdf, laplace_pdf, largest


def winsorised_mean(data, rng: np.random.Generator):
    high = np.quantile(data, 0.75) + rng.laplace(0, 4)
    return np.mean(np.minimum(data, high)) + rng.laplace(0, 2)


def range_of_noisy_values(data, rng: np.random.Generator):
    noisy = [x + rng.laplace(0, 1) for x in data]
    return max(noisy) - min(noisy)


def noisy_quartiles_in_order(data, rng: np.random.Generator):
    quartiles = np.sort(np.quantile(data, [0.25, 0.75]) + rng.laplace(0, 2, size=2))
    return quartiles[1] - quartiles[0]


def last_weight_of_two_steps(data, rng: np.random.Generator, rate=0.5, b=2.0):
    w = 0.0
    for _ in range(2):
        gradient = sum(np.clip(w - y, -1, 1) for y in data)
        w = w - rate * (gradient + rng.laplace(0, b))
    return w


def centre_of_a_cluster(points, rng: np.random.Generator, epsilon=0.5):
    return (sum(points) + rng.laplace(0, 2 / epsilon)) / max(1.0, len(points) + rng.laplace(0, 2 / epsilon))


def largest_index_and_fresh_value(queries, rng: np.random.Generator, epsilon=1.0):
    i = int(np.argmax(np.asarray(queries) + rng.laplace(0, 2 / epsilon, size=len(queries))))
    return i, queries[i] + rng.laplace(0, 2 / epsilon)


def released_above_a_threshold(queries, rng: np.random.Generator, threshold=0.5):
    t = threshold + rng.laplace(0, 2)
    out = []
    for q in queries:
        v = q + rng.laplace(0, 4)
        if v >= t:
            out.append(v)
            break
        out.append(0)
    return out


def sum_of_a_subsample(data, rng: np.random.Generator):
    chosen = rng.choice(len(data), 4, replace=False)
    return np.array(data)[chosen].sum() + rng.laplace(0, 1.0)


def count_as_a_rate(count, rng: np.random.Generator):
    return rng.poisson(count)


def weibull_in_proportion(x, rng: np.random.Generator):
    return x * rng.weibull(1.5)


def _winsorised() -> float:
    """For large outputs the noise of the mean is beyond its kink, and what is left is the mean of e^(mean / 2) over bounds."""

    def moment(data):
        middle = float(np.quantile(data, 0.75))
        return integral(
            lambda h: laplace_pdf(h - middle, 4) * math.exp(sum(min(x, float(h)) for x in data) / len(data) / 2), middle, *data
        )

    return abs(float(math.log(moment([1.0, 2.0, 8.0]) / moment([1.0, 2.0, 5.0]))))


def _range() -> float:
    """Largest where the range is next to 0: the ratio of the chances that all three values are equal."""

    def equal(data):
        return integral(lambda v: laplace_pdf(v - data[0]) * laplace_pdf(v - data[1]) * laplace_pdf(v - data[2]), *data)

    return abs(float(math.log(equal([0, 1, 2]) / equal([0, 1, 3]))))


def _index_and_value() -> float:
    """The index is decided by a difference of two draws of scale 2; the value adds the move of one of them."""

    def first_wins(d):
        return 1 - math.exp(-d / 2) * (1 + d / 4) / 2 if d >= 0 else math.exp(d / 2) * (1 - d / 4) / 2

    return max(abs(math.log(first_wins(-1) / 0.5)) + 0.5, abs(math.log((1 - first_wins(-1)) / 0.5)))


def _released_above() -> float:
    """The first value costs a quarter; the second one together with what the threshold tells of the first, on a line."""

    def log(one, other, v):
        below = integral(lambda t: laplace_pdf(t - 0.5, 2) * laplace_cdf(t - one, 4) * (t <= v), 0.5, one, v)
        return float(math.log(laplace_pdf(v - other, 4) * below))

    return largest(lambda v: log(0, 1, v) - log(1, 0, v), 1.0, 30.0, 30)


def _subsample() -> float:
    """Far above all sums each of the fifteen subsamples weighs e to its sum."""
    one, other = ([math.exp(sum(c)) for c in itertools.combinations(data, 4)] for data in (range(1, 7), [1, 2, 3, 4, 5, 7]))
    return math.log(math.fsum(other) / math.fsum(one))


_LIMIT = "closed form"

CASES = (
    Case(
        "winsorised mean, noisy bound",
        "Smith 2011",
        winsorised_mean,
        ([1.0, 2.0, 8.0], [1.0, 2.0, 5.0]),
        _winsorised,
        "integral",
    ),
    Case("range of noisy values", "order statistics", range_of_noisy_values, ([0, 1, 2], [0, 1, 3]), _range, "integral"),
    Case(
        "distance of noisy quartiles",
        "order statistics",
        noisy_quartiles_in_order,
        ([1, 2, 3, 4, 5], [1, 2, 3, 6, 6]),
        lambda: math.log(math.cosh(2) / math.cosh(1)),  # far out, where (t - d) e^((d - t) / 2) and its mirror image are left
        _LIMIT,
    ),
    Case(
        "two gradient steps, the last weight",
        "Song et al. 2013",
        last_weight_of_two_steps,
        ([1.0, 0.0], [-1.0, 0.0]),
        lambda: 1.0,  # far out the sum of two draws of one scale tells where the first step led: 1 apart, in units of the scale
        _LIMIT,
    ),
    Case(
        "centre of a cluster, count of at least 1",
        "Su et al. 2016",
        centre_of_a_cluster,
        ([0.1, 0.2], [0.1]),
        lambda: 0.2 / 4 + 1 / 4,  # far out the count is next to 1: the sum and the count have moved by 0.2 and 1
        _LIMIT,
    ),
    Case(
        "noisy maximum, then a fresh value",
        "Dwork and Roth 2014",
        largest_index_and_fresh_value,
        ([1, 2], [2, 2]),
        _index_and_value,
        _LIMIT,
    ),
    Case(
        "above threshold, releases its value",
        "Lyu et al. 2017",
        released_above_a_threshold,
        ([0, 1], [1, 0]),
        _released_above,
        "integral",
    ),
    Case(
        "sum of a subsample without replacement",
        "Balle et al. 2018",
        sum_of_a_subsample,
        ([1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 7]),
        _subsample,
        _LIMIT,
    ),
    Case("Poisson counts with the count as rate", "broken", count_as_a_rate, (3, 4), lambda: math.inf, _LIMIT),
    Case("Weibull noise in proportion", "broken", weibull_in_proportion, (2.0, 3.0), lambda: math.inf, _LIMIT),
)
