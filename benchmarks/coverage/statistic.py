"""Statistics: means, medians, quantiles, tests, regression, one step of clustering."""

from __future__ import annotations

import bisect
import itertools
import math
import statistics

import mpmath as mp
import numpy as np

from benchmarks.coverage.case import Case
from benchmarks.coverage.reference import integral, laplace_cdf, laplace_pdf, largest, of_lists, softmax


def clipped_mean(data, rng: np.random.Generator, low=0.0, high=10.0, epsilon=1.0):
    data = np.clip(data, low, high)
    return np.mean(data) + rng.laplace(0, (high - low) / (len(data) * epsilon))


def mean_with_missing(ages, rng: np.random.Generator, epsilon=1.0):
    """Missing ages are None and count as 40."""
    filled = [40 if a is None else min(max(a, 0), 100) for a in ages]
    return statistics.fmean(filled) + rng.laplace(0, 100 / len(filled) / epsilon)


def nan_sum(values, rng: np.random.Generator, epsilon=1.0):
    return np.nansum(values) + rng.laplace(0, 1 / epsilon)


def table_query(table, rng: np.random.Generator, epsilon=1.0):
    """Rows are dicts; how many smokers above forty?"""
    count = sum(1 for row in table if row["smoker"] and row["age"] > 40)
    return count + rng.laplace(0, 1 / epsilon)


def group_by(rows, epsilon=1.0):
    """Rows are (group, income)."""
    totals = {"a": 0.0, "b": 0.0}
    for group, income in rows:
        totals[group] += min(income, 2.0)
    return {g: t + np.random.laplace(0, 2.0 / epsilon) for g, t in totals.items()}


def sum_and_count(data, rng: np.random.Generator, epsilon=1.0):
    return {"sum": sum(data) + rng.laplace(0, 2 / epsilon), "count": len(data) + rng.laplace(0, 2 / epsilon)}


def median_by_candidates(data, rng: np.random.Generator, candidates=(1, 2, 3, 4), epsilon=1.0):
    scores = [-abs(sum(x < c for x in data) - sum(x > c for x in data)) for c in candidates]
    w = np.exp(epsilon / 2 * np.array(scores))
    return rng.choice(candidates, p=w / w.sum())


def quantile_by_intervals(data, rng: np.random.Generator, q=0.5, low=0.0, high=4.0, epsilon=1.0):
    """Smith: choose a gap between sorted points, then a uniform point of it."""
    points = [low, *sorted(data), high]
    n = len(data)
    weights = [(points[i + 1] - points[i]) * math.exp(-epsilon / 2 * abs(i - q * n)) for i in range(n + 1)]
    total = sum(weights)
    i = rng.choice(n + 1, p=[w / total for w in weights])
    return rng.uniform(points[i], points[i + 1])


def smooth_median(data, rng: np.random.Generator, scale_by_data=True):
    """Smooth sensitivity with Cauchy noise; the smooth bound of these data sets is given by their spread."""
    rows = sorted(data)
    spread = max(rows[3] - rows[1], 1.0)
    return rows[2] + 2.0 * spread * rng.standard_cauchy()


def noisy_range(data, rng: np.random.Generator, b=1.0):
    low = min(data) + rng.laplace(0, b)
    high = max(data) + rng.laplace(0, b)
    return (low, high) if low <= high else (high, low)


def chi_square_test(table, rng: np.random.Generator, critical=3.84, b=1.0):
    """Goodness of fit to equal halves, on noisy counts."""
    a = table[0] + rng.laplace(0, b)
    c = table[1] + rng.laplace(0, b)
    n = sum(table)
    return ((a - n / 2) ** 2 + (c - n / 2) ** 2) / (n / 2) > critical


def binomial_test(successes, rng: np.random.Generator, n=20, epsilon=1.0):
    """Tulap-like noise: discrete Laplace plus uniform, then a threshold."""
    p = 1 - math.exp(-epsilon)
    z = successes + rng.geometric(p) - rng.geometric(p) + rng.uniform(-0.5, 0.5)
    return z > 14


def ab_test(groups, rng: np.random.Generator, b=0.5):
    first, second = groups
    return statistics.fmean(first) + rng.laplace(0, b) > statistics.fmean(second) + rng.laplace(0, b)


def sufficient_statistics(points, rng: np.random.Generator, b=1.0):
    x = np.array([[1.0, p[0]] for p in points])
    y = np.array([p[1] for p in points])
    gram = x.T @ x + np.triu(rng.laplace(0, b, size=(2, 2)))
    return gram[np.triu_indices(2)], x.T @ y + rng.laplace(0, b, size=2)


def noisy_ecdf(data, rng: np.random.Generator, b=1.0):
    rows = sorted(data)
    return [bisect.bisect_right(rows, t) + rng.laplace(0, b) for t in (1, 2, 3)]


def naive_bayes_label(counts, rng: np.random.Generator, b=1.0):
    """The label of a leaf: the larger noisy class count."""
    yes, no = (c + rng.laplace(0, b) for c in counts)
    return "yes" if yes > no else "no"


def dirichlet_style_sample(counts, rng: np.random.Generator, prior=2.0, n=3):
    """Synthetic data: n rows drawn from smoothed proportions."""
    p = (np.asarray(counts) + prior) / (sum(counts) + prior * len(counts))
    return sorted(rng.choice(len(counts), size=n, p=p).tolist())


def noisy_rank(scores, rng: np.random.Generator, b=1.0):
    noisy = np.asarray(scores) + rng.laplace(0, b, size=3)
    return [int(i) for i in np.argsort(noisy)]


def noisy_average(data, rng: np.random.Generator, epsilon=1.0):
    """Noisy sum over noisy count."""
    total = sum(data) + rng.laplace(0, 2 / epsilon)
    count = len(data) + rng.laplace(0, 2 / epsilon)
    return total / count


def regression_slope(points, rng: np.random.Generator, b=1.0):
    """NoisyStats: noisy covariance over noisy variance."""
    xs, ys = zip(*points, strict=True)
    mx, my = statistics.fmean(xs), statistics.fmean(ys)
    cov = sum((x - mx) * (y - my) for x, y in points) + rng.laplace(0, b)
    var = sum((x - mx) ** 2 for x in xs) + rng.laplace(0, b)
    if var <= 0:
        return None
    return cov / var


# ---- the truth ----


def _quotient(first, second, b: float, positive: bool = False) -> float:
    """The loss of (a + V) / (c + W) for Laplace draws of scale b; with `positive`, only where the divisor is above zero."""

    def log_density(y, a, c):
        kinks = sorted({0.0, c, *([a / y] if y else [])})
        inner = [k for k in kinks if k > 0 or not positive]
        low, high = (0.0 if positive else kinks[0] - 60 * b), kinks[-1] + 60 * b
        ends = [low, *(k for k in inner if low < k < high), high]
        return mp.log(mp.quad(lambda m: abs(m) * laplace_pdf(y * m - a, b) * laplace_pdf(m - c, b), ends))

    def ratio(y):
        return abs(float(log_density(y, *first) - log_density(y, *second)))

    def far(a, c):  # y^2 times the density tends to E|a + V| times the density of the divisor at 0
        size = abs(a) + b * math.exp(-abs(a) / b)
        half = (size + a) / 2 if positive else size
        return [math.log(x) - abs(c) / b for x in ((half, size - half) if positive else (size,))]

    with mp.workdps(20):
        inside = largest(ratio, -6.0, 6.0, 121)
    return max(inside, *(abs(p - q) for p, q in zip(far(*first), far(*second), strict=True)))


def _average() -> float:
    return _quotient((2.5, 3.0), (1.5, 2.0), 2.0)


def _slope() -> float:
    """The slope where the noisy variance is positive, or None."""
    below = laplace_cdf(-2.0)  # the variance is 2 under both inputs, so that None is as likely
    assert 0 < below < 1
    return _quotient((2.0, 2.0), (3.0, 2.0), 1.0, positive=True)


def _median() -> float:
    def law(data):
        return softmax([-abs(sum(x < c for x in data) - sum(x > c for x in data)) / 2 for c in (1, 2, 3, 4)])

    return of_lists(law([1, 2, 2, 3]), law([1, 2, 3, 3]))


def _quantile() -> float:
    def density(data):
        points = [0.0, *sorted(data), 4.0]
        heights = [math.exp(-abs(i - 0.5 * len(data)) / 2) for i in range(len(data) + 1)]
        total = sum(h * (b - a) for h, a, b in zip(heights, points, points[1:], strict=False))
        return lambda y: heights[bisect.bisect_right(points, y) - 1] / total

    p, q = density([1.0, 2.0, 2.5]), density([1.0, 2.0, 3.5])
    return max(abs(math.log(p(y) / q(y))) for y in (0.5, 1.5, 2.25, 3.0, 3.75))


def _smooth() -> float:
    """Cauchy(0, 2) at 3 against Cauchy(0, 4) at 3.5."""

    def log_density(y, c, s):
        return -math.log(s) - math.log1p(((y - c) / s) ** 2)

    def ratio(y):
        return abs(log_density(y, 3.0, 2.0) - log_density(y, 3.5, 4.0))

    return max(largest(ratio, -60.0, 60.0, 60001), math.log(2))


def _ab() -> float:
    def above(d):  # P(L1 - L2 > -d), scale 1/2: the difference has density (1 + 2|t|) e^(-2|t|) / 2
        t = abs(d) * 2
        tail = math.exp(-t) * (2 + t) / 4
        return 1 - tail if d >= 0 else tail

    p, q = above(1.0), above(0.5)
    return max(abs(math.log(p / q)), abs(math.log((1 - p) / (1 - q))))


def _leaf() -> float:
    def above(d):
        tail = math.exp(-abs(d)) * (2 + abs(d)) / 4
        return 1 - tail if d >= 0 else tail

    p, q = above(2), above(1)
    return max(abs(math.log(p / q)), abs(math.log((1 - p) / (1 - q))))


def _chi_square() -> float:
    def inside(table):
        radius = math.sqrt(3.84 * 5)

        def strip(u):  # a - 5 = u: the other lies within a chord
            half = mp.sqrt(max(0, radius**2 - u**2))
            return laplace_pdf(u + 5 - table[0]) * (laplace_cdf(5 + half - table[1]) - laplace_cdf(5 - half - table[1]))

        kinks = {table[0] - 5.0}
        for s in (-1, 1):
            c = abs(table[1] - 5.0)
            if c < radius:
                kinks.add(s * math.sqrt(radius**2 - c**2))
        return mp.quad(strip, sorted({-radius, radius, *(k for k in kinks if abs(k) < radius)}))

    p, q = inside((6, 4)), inside((7, 3))
    return of_lists([p, 1 - p], [q, 1 - q])


def _tulap() -> float:
    a = math.exp(-1)

    def above(s):  # P(s + G + U > 14): whole part above 14, or equal with the uniform above 0
        out = 0.0
        for k in range(-80, 81):
            out += (1 - a) / (1 + a) * a ** abs(k) * (1.0 if s + k > 14 else 0.5 if s + k == 14 else 0.0)
        return out

    p, q = above(12), above(13)
    return max(abs(math.log(p / q)), abs(math.log((1 - p) / (1 - q))))


def _ecdf() -> float:
    return 2.0  # one row moves from 1 to 3: two of the three counts change by 1


def _synthetic() -> float:
    def law(counts):
        p = [(c + 2) / (sum(counts) + 4) for c in counts]
        return [math.comb(3, k) * p[0] ** k * p[1] ** (3 - k) for k in range(4)]

    return of_lists(law([3, 1]), law([2, 2]))


def _ranks() -> float:
    def law(x):
        def order(i, j, k):  # x_i < x_j < x_k
            return integral(lambda y: laplace_pdf(y - x[j]) * laplace_cdf(y - x[i]) * (1 - laplace_cdf(y - x[k])), *x)

        return [order(*p) for p in itertools.permutations(range(3))]

    return of_lists(law([1.0, 2.0, 3.0]), law([2.0, 2.0, 2.0]))


CASES = (
    Case(
        "mean of clipped values",
        "Dwork et al. 2006",
        clipped_mean,
        ([3.0, 12.0, 5.0, 1.0], [3.0, 2.0, 5.0, 1.0]),
        lambda: 0.8,
        "closed form",
    ),
    Case(
        "mean with missing ages (None)",
        "Dwork et al. 2006",
        mean_with_missing,
        ([30, None, 50, 20], [30, 90, 50, 20]),
        lambda: 0.5,
        "closed form",
    ),
    Case(
        "sum with NaN in the data",
        "Dwork et al. 2006",
        nan_sum,
        ([1.0, math.nan, 0.5], [1.0, 0.25, 0.5]),
        lambda: 0.25,
        "closed form",
    ),
    Case(
        "count in a table of dicts",
        "Dwork et al. 2006",
        table_query,
        ([{"age": 50, "smoker": True}, {"age": 30, "smoker": True}], [{"age": 50, "smoker": True}]),
        lambda: 0.0,
        "closed form",
    ),
    Case(
        "totals by group",
        "McSherry 2009",
        group_by,
        ([("a", 1.0), ("b", 5.0)], [("a", 1.0), ("a", 5.0)]),
        lambda: 2.0,
        "closed form",
    ),
    Case(
        "sum and count, one row less", "McSherry 2009", sum_and_count, ([1.0, 0.5, 1.0], [1.0, 0.5]), lambda: 1.0, "closed form"
    ),
    Case("noisy average, one row less", "McSherry 2009", noisy_average, ([1.0, 0.5, 1.0], [1.0, 0.5]), _average, "integral"),
    Case(
        "slope of a regression (NoisyStats)",
        "Alabi et al. 2022",
        regression_slope,
        ([(0.0, 0.0), (1.0, 1.0), (2.0, 2.0)], [(0.0, 0.0), (1.0, 1.0), (2.0, 3.0)]),
        _slope,
        "integral",
    ),
    Case(
        "median by the exponential mechanism",
        "McSherry and Talwar 2007",
        median_by_candidates,
        ([1, 2, 2, 3], [1, 2, 3, 3]),
        _median,
        "closed form",
    ),
    Case(
        "quantile by intervals", "Smith 2011", quantile_by_intervals, ([1.0, 2.0, 2.5], [1.0, 2.0, 3.5]), _quantile, "closed form"
    ),
    Case(
        "median with smooth sensitivity, Cauchy",
        "Nissim et al. 2007",
        smooth_median,
        ([1, 2.5, 3, 3.5, 9], [1, 2.5, 3.5, 4.5, 9]),
        _smooth,
        "closed form",
    ),
    Case(
        "noisy minimum and maximum, in order",
        "Dwork et al. 2006",
        noisy_range,
        ([1.0, 4.0], [2.0, 4.0]),
        lambda: 1.0,
        "closed form",
    ),
    Case("chi-square test of noisy counts", "Gaboardi et al. 2016", chi_square_test, ((6, 4), (7, 3)), _chi_square, "integral"),
    Case("binomial test with Tulap noise", "Awan and Slavković 2018", binomial_test, (12, 13), _tulap, "enumeration"),
    Case(
        "A/B test on two lists",
        "Dwork and Roth 2014",
        ab_test,
        (([3.0, 4.0], [2.0, 3.0]), ([3.0, 3.0], [2.0, 3.0])),
        _ab,
        "closed form",
    ),
    Case(
        "sufficient statistics of a regression",
        "Vu and Slavković 2009",
        sufficient_statistics,
        ([(1.0, 2.0), (2.0, 3.0)], [(1.0, 2.0), (2.0, 4.0)]),
        lambda: 3.0,
        "closed form",
    ),
    Case("noisy distribution function", "Dwork et al. 2010", noisy_ecdf, ([1, 2, 3], [3, 2, 3]), _ecdf, "closed form"),
    Case("label of a leaf", "Friedman and Schuster 2010", naive_bayes_label, ([4, 2], [3, 2]), _leaf, "closed form"),
    Case(
        "synthetic rows from smoothed proportions",
        "Machanavajjhala et al. 2008",
        dirichlet_style_sample,
        ([3, 1], [2, 2]),
        _synthetic,
        "closed form",
    ),
    Case("ranks of noisy scores", "Hay et al. 2017", noisy_rank, ([1.0, 2.0, 3.0], [2.0, 2.0, 2.0]), _ranks, "integral"),
)
