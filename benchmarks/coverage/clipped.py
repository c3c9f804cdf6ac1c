"""Statistics of clipped noisy counts, products, order statistics and tests: what is computed from several noisy values."""

from __future__ import annotations

import math
import random

import mpmath as mp
import numpy as np

from benchmarks.coverage.case import Case


def odds_ratio(table, rng: np.random.Generator, epsilon=1.0):
    a, b, c, d = (max(x + rng.laplace(0, 1 / epsilon), 0.5) for x in table)
    return (a * d) / (b * c)


def kaplan_meier(rows, rng: np.random.Generator, epsilon=1.0):
    s, curve = 1.0, []
    for n, d in zip(*rows, strict=True):
        at_risk = max(n + rng.laplace(0, 2 / epsilon), 1.0)
        deaths = min(max(d + rng.laplace(0, 2 / epsilon), 0.0), at_risk)
        s *= 1 - deaths / at_risk
        curve.append(s)
    return curve


def chi_square_statistic(table, rng: np.random.Generator, epsilon=1.0):
    noisy = [max(x + rng.laplace(0, 1 / epsilon), 0.1) for x in table]
    n = sum(noisy)
    return sum((x - n / 3) ** 2 / (n / 3) for x in noisy)


def f1_score(counts, rng: np.random.Generator, epsilon=1.0):
    tp, fp, fn = [max(c + rng.laplace(0, 1 / epsilon), 0) for c in counts]
    if tp == 0:
        return 0.0
    return 2 * tp / (2 * tp + fp + fn)


def gini_impurity(counts, rng: np.random.Generator, epsilon=1.0):
    c = [max(x + rng.laplace(0, 1 / epsilon), 0) + 1e-3 for x in counts]
    n = sum(c)
    return 1 - sum((x / n) ** 2 for x in c)


def chi_square_two_by_two(table, rng: np.random.Generator, epsilon=1.0, least=0.5):
    a, b, c, d = (max(count + rng.laplace(0, 1 / epsilon), least) for count in table)
    n = a + b + c + d
    return n * (a * d - b * c) ** 2 / ((a + b) * (c + d) * (a + c) * (b + d))


def children_scaled(counts, rng: np.random.Generator, b=1.0):
    total = max(sum(counts) + rng.laplace(0, b), 0.0)
    kids = np.maximum(np.array(counts) + rng.laplace(0, b, size=2), 0.0)
    if kids.sum() == 0:
        return [total / 2, total / 2]
    return list(kids * total / kids.sum())


def revenue(numbers, rng: np.random.Generator, b=1.0):
    price, count = numbers
    return (price + rng.laplace(0, b)) * (count + rng.laplace(0, b))


def median_of_four(values, rng: np.random.Generator, b=1.0):
    return np.median(np.asarray(values) + rng.laplace(0, b, size=len(values)))


def trimmed_mean(values, b=1.0):
    noisy = sorted(v + np.random.laplace(0, b) for v in values)
    return sum(noisy[1:-1]) / (len(noisy) - 2)


def truncated_by_quantiles(x, low=0.0, high=10.0, b=2.0):
    def below(t):
        return 0.5 * math.exp((t - x) / b) if t < x else 1 - 0.5 * math.exp(-(t - x) / b)

    u = random.uniform(below(low), below(high))
    return x + b * math.log(2 * u) if u < 0.5 else x - b * math.log(2 - 2 * u)


def mean_and_deviation(data, rng: np.random.Generator, epsilon=1.0):
    n = len(data)
    m = np.mean(data) + rng.laplace(scale=2 / (n * epsilon))
    v = np.var(data) + rng.laplace(scale=2 / (n * epsilon))
    return m, math.sqrt(max(v, 0.0))


def z_test(groups, rng: np.random.Generator, b=0.5):
    (s1, n1), (s2, n2) = groups
    p1 = (s1 + rng.laplace(0, b)) / n1
    p2 = (s2 + rng.laplace(0, b)) / n2
    return abs(p1 - p2) > 1.96 * math.sqrt(0.25 / n1 + 0.25 / n2)


def rank_test(groups, rng: np.random.Generator, epsilon=1.0):
    x, y = groups
    u = sum(1.0 if a > b else 0.5 if a == b else 0.0 for a in x for b in y)
    noisy = u + rng.laplace(0, max(len(x), len(y)) / epsilon)
    z = (noisy - len(x) * len(y) / 2) / math.sqrt(len(x) * len(y) * (len(x) + len(y) + 1) / 12)
    return math.erfc(abs(z) / math.sqrt(2))


def norm_above_bound(gradients, rng: np.random.Generator, sigma=1.0):
    total = np.sum([np.array(g) / max(1.0, np.linalg.norm(g)) for g in gradients], axis=0)
    noisy = total + rng.normal(0, sigma, size=2)
    return float(np.sqrt(noisy[0] ** 2 + noisy[1] ** 2)) > 2.0


def above_threshold_gaussian(queries, rng: np.random.Generator, t=1.0, sigma=1.0):
    threshold = t + rng.normal(0, sigma)
    for i, q in enumerate(queries):
        if q + rng.normal(0, 2 * sigma) >= threshold:
            return i
    return None


def noisy_max_above(counts, rng: np.random.Generator, sigma=1.0):
    noisy = np.array(counts) + rng.normal(0, sigma, size=len(counts))
    i = int(np.argmax(noisy))
    return i, noisy[i] > 3.0


def three_tries(x, rng: np.random.Generator, t=1.0):
    for _ in range(3):
        y = x + rng.laplace(0, 1)
        if y > t:
            return y
    return None


def dwork_lei_scale(data, rng: np.random.Generator, epsilon=1.0):
    s = sorted(data)
    iqr = s[(3 * len(s)) // 4] - s[len(s) // 4]
    return math.exp(math.log(iqr) + rng.laplace(0, 1 / epsilon))


def accuracy(counts, rng: np.random.Generator):
    tp, tn, fp, fn = np.clip(np.asarray(counts) + rng.laplace(0, 1, size=4), 0, None)
    total = tp + tn + fp + fn
    return (tp + tn) / total if total > 0 else 0.5


def growth_rate(totals, rng: np.random.Generator):
    before, after = (max(v + rng.laplace(0, 2), 1.0) for v in totals)
    return (after - before) / before


def t_statistic(moments, rng: np.random.Generator, mu=0.0, n=25):
    mean = moments[0] + rng.laplace(0, 0.2)
    deviation = max(moments[1] + rng.laplace(0, 0.2), 0.1)
    return (mean - mu) / (deviation / math.sqrt(n))


def lift_of_a_rule(counts, rng: np.random.Generator, n=100):
    a, b, both = (min(max(x + rng.laplace(0, 2), 1), n) for x in counts)
    return both * n / (a * b)


def herfindahl_index(sales, rng: np.random.Generator):
    shares = [max(v + rng.laplace(0, 1), 0.0) for v in sales]
    total = sum(shares)
    return sum((v / total) ** 2 for v in shares) if total > 0 else 0.0


def mean_mass_index(totals, rng: np.random.Generator):
    weight, height = totals[0] + rng.laplace(0, 5), max(totals[1] + rng.laplace(0, 0.1), 1.0)
    return weight / height**2


# ---- the truth ----


def _most(p, q) -> float:
    return float(max(abs(mp.log(a / b)) for a, b in zip(p, q, strict=True)))


def _three_of_four() -> float:
    """Far out three of four values are there, and the fourth is not: sums of three exponentials."""

    def log_tail(q, sign):
        return sign * sum(q) + math.log(sum(math.exp(-sign * x) for x in q))

    return max(abs(log_tail((1, 2, 3, 4), s) - log_tail((1, 2, 4, 4), s)) for s in (1, -1))


def _truncated() -> float:
    def weight(x):
        return 1 - 0.5 * math.exp(-x / 2) - 0.5 * math.exp(-(10 - x) / 2)

    return 0.5 + abs(math.log(weight(4.0) / weight(5.0)))


def _two_sided() -> float:
    bound = 1.96 * math.sqrt(0.05) / 0.05  # in units of the noise of either proportion

    def outside(m):
        def beyond(x):  # the difference of two Laplace draws
            tail = math.exp(-abs(x)) * (2 + abs(x)) / 4
            return tail if x >= 0 else 1 - tail

        p = beyond(bound - m) + 1 - beyond(-bound - m)
        return p, 1 - p

    return _most(outside(8.0), outside(6.0))


def _folded() -> float:
    """A noisy value up to its sign, around 3.5 and around 2.5, with noise of scale 3: ratios of hyperbolic cosines."""

    def log_density(t, c):
        return math.log(math.exp(-abs(t - c) / 3) + math.exp(-abs(-t - c) / 3))

    return max(abs(log_density(t, 3.5) - log_density(t, 2.5)) for t in (0.0, 2.5, 3.5, 9.0))


def _rice() -> float:
    def law(nu):
        p = mp.quad(lambda r: r * mp.exp(-(r * r + nu * nu) / 2) * mp.besseli(0, r * nu), [0, 1, 2])
        return p, 1 - p

    return _most(law(2), law(1))


def _first_above() -> float:
    def law(queries):
        def chance(i):
            def at(t):
                missed = mp.fprod(mp.ncdf((t - q) / 2) for q in queries[:i])
                return mp.npdf(t, 1, 1) * missed * (1 - mp.ncdf((t - queries[i]) / 2) if i < len(queries) else 1)

            return mp.quad(at, mp.linspace(-12, 14, 27))

        return [chance(i) for i in range(len(queries) + 1)]

    return _most(law([0, 1]), law([1, 0]))


def _largest_above() -> float:
    def law(counts):
        pieces = mp.linspace(-9, 3, 25), mp.linspace(3, 15, 25)
        return [mp.quad(lambda y, i=i: mp.npdf(y, counts[i], 1) * mp.ncdf(y - counts[1 - i]), x) for i in (0, 1) for x in pieces]

    return _most(law([2, 1]), law([1, 2]))


def _tries() -> float:
    p = [math.exp(x - 1) / 2 for x in (0.0, 0.5)]
    rounds = [sum((1 - a) ** k for k in range(3)) for a in p]
    return max(abs(math.log(rounds[0] / rounds[1]) - 0.5), 3 * math.log((1 - p[0]) / (1 - p[1])))


_PAPER = "Dwork et al. 2006, post-processed"
_WHOLE = "closed form"  # the loss of the noisy values, which an output that comes about has
CASES = (
    Case("odds ratio", _PAPER, odds_ratio, ([8, 3, 2, 7], [9, 3, 2, 7]), lambda: 1.0, _WHOLE),
    Case("survival curve", "Gondara and Wang 2020", kaplan_meier, (([5, 3], [1, 1]), ([5, 3], [1, 2])), lambda: 0.5, _WHOLE),
    Case("chi-square statistic", "Gaboardi et al. 2016", chi_square_statistic, ([5, 4, 3], [6, 4, 3]), lambda: 1.0, _WHOLE),
    Case("F1 score", _PAPER, f1_score, ([4, 2, 1], [3, 2, 1]), lambda: 1.0, _WHOLE),
    Case("Gini impurity", "Friedman and Schuster 2010", gini_impurity, ([4, 2], [3, 2]), lambda: 1.0, _WHOLE),
    Case(
        "chi-square of two by two counts",
        "Gaboardi et al. 2016",
        chi_square_two_by_two,
        ([8, 3, 2, 7], [9, 3, 2, 7]),
        lambda: 1.0,
        _WHOLE,
    ),
    Case("children scaled to their total", "Cormode et al. 2012", children_scaled, ([1.0, 3.0], [2.0, 3.0]), lambda: 2.0, _WHOLE),
    Case("product of two noisy numbers", _PAPER, revenue, ((2.0, 3.0), (2.0, 4.0)), lambda: 1.0, _WHOLE),
    Case(
        "median of four noisy values",
        _PAPER,
        median_of_four,
        ([1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 4.0, 4.0]),
        _three_of_four,
        _WHOLE,
    ),
    Case(
        "trimmed mean of noisy values", _PAPER, trimmed_mean, ([1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 4.0, 4.0]), _three_of_four, _WHOLE
    ),
    Case("truncated Laplace by quantiles", "Holohan et al. 2018", truncated_by_quantiles, (4.0, 5.0), _truncated, "closed form"),
    Case("accuracy of a classifier", _PAPER, accuracy, ([5, 4, 1, 2], [6, 4, 1, 2]), lambda: 1.0, _WHOLE),
    Case("growth rate", _PAPER, growth_rate, ([10.0, 12.0], [10.0, 13.0]), lambda: 0.5, _WHOLE),
    Case("t statistic", _PAPER, t_statistic, ((0.5, 1.0), (0.6, 1.05)), lambda: 0.75, _WHOLE),
    Case("lift of a rule", _PAPER, lift_of_a_rule, ((30, 20, 10), (31, 20, 11)), lambda: 1.0, _WHOLE),
    Case("Herfindahl index", _PAPER, herfindahl_index, ([5, 3, 2], [6, 3, 2]), lambda: 1.0, _WHOLE),
    Case("body mass index", _PAPER, mean_mass_index, ((70.0, 1.75), (72.0, 1.75)), lambda: 0.4, _WHOLE),
    Case(
        "mean and standard deviation",
        _PAPER,
        mean_and_deviation,
        ([0.0, 1.0, 1.0, 0.0], [0.0, 1.0, 1.0, 1.0]),
        lambda: 2 * (0.25 + 0.0625),
        "closed form",
    ),
    Case("test of two proportions", _PAPER, z_test, (((7, 10), (3, 10)), ((6, 10), (3, 10))), _two_sided, "closed form"),
    Case(
        "p-value of a rank test",
        "Couch et al. 2019",
        rank_test,
        (([3.0, 4.0, 5.0], [1.0, 2.0, 3.5]), ([3.0, 4.0, 3.2], [1.0, 2.0, 3.5])),
        _folded,
        "closed form",
    ),
    Case(
        "norm of a noisy gradient above a bound",
        "Abadi et al. 2016, post-processed",
        norm_above_bound,
        ([(1.0, 0.0), (1.0, 0.0)], [(1.0, 0.0), (0.0, 0.0)]),
        _rice,
        "integral",
    ),
    Case(
        "above threshold, Gaussian noise",
        "Zhu and Wang 2020",
        above_threshold_gaussian,
        ([0.0, 1.0], [1.0, 0.0]),
        _first_above,
        "integral",
    ),
    Case("noisy maximum, above a bound", _PAPER, noisy_max_above, ([2.0, 1.0], [1.0, 2.0]), _largest_above, "integral"),
    Case("three tries above a bound", "Liu and Talwar 2019", three_tries, (0.0, 0.5), _tries, "closed form"),
    Case(
        "interquartile range on the logarithm",
        "Dwork and Lei 2009",
        dwork_lei_scale,
        ([1.0, 2.0, 3.0, 5.0], [1.0, 2.0, 3.0, 6.0]),
        lambda: math.log(4 / 3),
        "closed form",
    ),
)
