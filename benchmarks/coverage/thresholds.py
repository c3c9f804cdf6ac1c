"""Histograms, thresholds, the sparse vector technique in its variants, propose-test-release."""

from __future__ import annotations

import math
import random
from collections import Counter

import mpmath as mp
import numpy as np

from benchmarks.coverage.case import Case
from benchmarks.coverage.reference import integral, laplace_cdf, laplace_pdf, of_lists


def noisy_histogram(rows, rng: np.random.Generator, epsilon=1.0):
    """Rows are words; one row more or less is the neighbour."""
    counts = Counter(rows)
    return {word: counts[word] + rng.laplace(0, 1 / epsilon) for word in ("cat", "dog", "owl")}


def noisy_bincount(values, rng: np.random.Generator, epsilon=1.0):
    counts = np.bincount(values, minlength=4)
    return counts + rng.laplace(0, 2 / epsilon, size=4)


def nonnegative_histogram(counts, rng: np.random.Generator, epsilon=1.0):
    return np.maximum(0, np.round(np.asarray(counts) + rng.laplace(0, 1 / epsilon, len(counts))))


def stability_histogram(rows, rng: np.random.Generator, threshold=5.0):
    """Keys that nobody has are not released; small noisy counts are dropped."""
    released = {}
    for word, count in Counter(rows).items():
        noisy = count + rng.laplace()
        if noisy >= threshold:
            released[word] = noisy
    return released


def partition_selection(users, delta=1e-3, epsilon=1.0):
    """Desfontaines, Voss and Gipson's optimal rule, up to two users."""
    keep = {0: 0.0, 1: delta, 2: math.exp(epsilon) * delta + delta}
    return random.random() < keep[len(users)]


def above_threshold(queries, rng: np.random.Generator, threshold=1.0, epsilon=1.0):
    noisy_threshold = threshold + rng.laplace(0, 2 / epsilon)
    for i, q in enumerate(queries):
        if q + rng.laplace(0, 4 / epsilon) >= noisy_threshold:
            return i
    return None


def sparse_vector(queries, rng: np.random.Generator, threshold=1.0, c=2, epsilon=1.0):
    """Lyu, Su and Li's algorithm 1."""
    rho = rng.laplace(scale=2 / epsilon)
    answers, count = [], 0
    for q in queries:
        if q + rng.laplace(scale=4 * c / epsilon) >= threshold + rho:
            answers.append("above")
            count += 1
            if count >= c:
                break
        else:
            answers.append("below")
    return answers


def sparse_vector_redrawn(queries, threshold=1.0, c=2, epsilon=1.0):
    """Algorithm 2: a new threshold after every positive answer."""
    t = threshold + np.random.laplace(0, 2 * c / epsilon)
    answers = []
    positives = 0
    for q in queries:
        if q + np.random.laplace(0, 4 * c / epsilon) >= t:
            answers.append(True)
            positives += 1
            t = threshold + np.random.laplace(0, 2 * c / epsilon)
            if positives >= c:
                return answers
        else:
            answers.append(False)
    return answers


def exponential_sparse_vector(queries, rng: np.random.Generator, threshold=1.0, epsilon=1.0):
    t = threshold + rng.exponential(2 / epsilon)
    for i, q in enumerate(queries):
        if q + rng.exponential(4 / epsilon) >= t:
            return i
    return -1


def discrete_sparse_vector(queries, rng: np.random.Generator, threshold=1, epsilon=1.0):
    def noise(scale):
        p = 1 - math.exp(-1 / scale)
        return rng.geometric(p) - rng.geometric(p)

    t = threshold + noise(2 / epsilon)
    return [bool(q + noise(4 / epsilon) >= t) for q in queries]


def between_thresholds(queries, rng: np.random.Generator, low=0.0, high=2.0, epsilon=1.0):
    shift = rng.laplace(0, 2 / epsilon)
    answers = []
    for q in queries:
        noisy = q + rng.laplace(0, 6 / epsilon)
        if noisy < low + shift:
            answers.append("L")
        elif noisy > high - shift:
            answers.append("R")
        else:
            answers.append("T")
            return answers
    return answers


def sparse_without_cutoff(queries, rng: np.random.Generator, threshold=0.0, epsilon=1.0):
    """Algorithm 6 (wrong): no limit on the positive answers."""
    t = threshold + rng.laplace(0, 2 / epsilon)
    return [q + rng.laplace(0, 2 / epsilon) >= t for q in queries]


def propose_test_release(data, rng: np.random.Generator, bound=0.5, epsilon=1.0):
    """Is the median stable? Distance to a data set whose local sensitivity is above the bound."""
    rows = sorted(data)
    m = len(rows) // 2
    distance = 0
    while distance < m and rows[m + distance] - rows[m - distance] <= bound:
        distance += 1
    if distance + rng.laplace(0, 2 / epsilon) <= 1.0:
        return None
    return rows[m] + rng.laplace(0, 2 * bound / epsilon)


def stable_mode(votes, rng: np.random.Generator, threshold=3.0, epsilon=1.0):
    (first, a), (_, b) = Counter(votes).most_common(2)
    if a - b + rng.laplace(0, 2 / epsilon) > threshold:
        return first
    return None


def noisy_count_above(rows, rng: np.random.Generator, threshold=3, epsilon=1.0):
    return len([r for r in rows if r > 0]) + rng.laplace(0, 1 / epsilon) > threshold


# ---- the truth ----


def _lap_above(x: float, b: float) -> float:
    return float(1 - laplace_cdf(-x, b))


def _over_threshold(law_at, pair, cuts=(0.0,), b=2.0) -> float:
    """Finite outputs whose probabilities are integrals over the noise of the threshold."""
    laws = []
    for data in pair:
        keys = list(law_at(data, 0.0))
        points = sorted({*cuts, *(float(x) for x in data)})
        laws.append([integral(lambda r, k=k, d=data: laplace_pdf(r, b) * law_at(d, r)[k], 0.0, *points) for k in keys])
    return of_lists(*laws)


def _answers(chances, c: int | None = None) -> dict[tuple[int, ...], float]:
    """The law of a sequence of independent answers that ends after c positive ones."""
    out = {(): 1.0}
    for chance in chances:
        step = {}
        for seen, mass in out.items():
            if c is not None and sum(seen) >= c:
                step[seen] = mass
                continue
            step[(*seen, 1)] = mass * chance
            step[(*seen, 0)] = mass * (1 - chance)
        out = step
    return out


def _svt(pair, t: float, b: float, c: int | None, b_threshold: float = 2.0) -> float:
    def law(data, r):
        return _answers([1 - laplace_cdf(t + r - q, b) for q in data], c)

    moved = [q - t for q in (*pair[0], *pair[1])]
    return _over_threshold(law, pair, tuple(moved), b_threshold)


def _redrawn(pair) -> float:
    """Two positive answers of algorithm 2: the runs between new thresholds are independent."""
    t, b_t, b = 1.0, 4.0, 8.0

    def run(data):
        out = []
        for k in range(len(data) + 1):
            passed = [*data[:k]]
            last = data[k] if k < len(data) else None

            def weight(r, passed=passed, last=last):
                value = laplace_pdf(r, b_t)
                for q in passed:
                    value *= laplace_cdf(t + r - q, b)
                return value if last is None else value * (1 - laplace_cdf(t + r - last, b))

            out.append(float(integral(weight, 0.0, *(q - t for q in data))))
        return out

    def law(data):
        out = {}
        for k, mass in enumerate(run(data)):
            if k == len(data):
                out[(k,)] = mass
                continue
            for j, more in enumerate(run(data[k + 1 :])):
                out[k, j] = mass * more
        return list(out.values())

    return of_lists(law(pair[0]), law(pair[1]))


def _exponential_svt(pair) -> float:
    def law(data):
        def missed(r, q):
            return 1 - math.exp(-max(0.0, 1 + r - q) / 4)

        out = []
        for k in range(len(data) + 1):

            def weight(r, k=k):
                value = mp.exp(-r / 2) / 2
                for q in data[:k]:
                    value *= missed(r, q)
                return value if k == len(data) else value * (1 - missed(r, data[k]))

            out.append(mp.quad(weight, [0, *sorted({max(0.0, q - 1) for q in data} - {0.0}), 5, 20, 80, mp.inf]))
        return out

    return of_lists(law(pair[0]), law(pair[1]))


def _discrete_svt(pair) -> float:
    def pmf(scale, k):
        a = math.exp(-1 / scale)
        return (1 - a) / (1 + a) * a ** abs(k)

    def tail(scale, k):  # P(noise >= k)
        a = math.exp(-1 / scale)
        return a**k / (1 + a) if k >= 0 else 1 - a ** (1 - k) / (1 + a)

    def law(data):
        out: dict[tuple[int, ...], float] = {}
        for r in range(-160, 161):
            for key, mass in _answers([tail(4, 1 + r - q) for q in data]).items():
                out[key] = out.get(key, 0.0) + pmf(2, r) * mass
        return list(out.values())

    return of_lists(law(pair[0]), law(pair[1]))


def _between(pair) -> float:
    def at(data, r):
        out = {"": 1}
        for q in data:
            low = laplace_cdf(0 + r - q, 6)
            high = 1 - laplace_cdf(max(2 - r, r) - q, 6)
            rest = 1 - low - high
            out = {k if k.endswith("T") else None: m for k, m in out.items() if k.endswith("T")} | {
                k + s: m * p for k, m in out.items() if not k.endswith("T") for s, p in (("L", low), ("R", high), ("T", rest))
            }
        return out

    cuts = [1.0, *(q for d in pair for q in d), *(2 - q for d in pair for q in d)]
    return _over_threshold(at, pair, tuple(cuts), 2.0)


def _ptr() -> float:
    low, high = (_lap_above(d - 1.0, 2) for d in (2, 1))
    moved = abs(3.0 - 3.2) / 1.0
    return max(abs(math.log(low / high)) + moved, abs(math.log((1 - low) / (1 - high))))


def _mode() -> float:
    p, q = (_lap_above(g - 3.0, 2) for g in (2, 1))
    return max(abs(math.log(p / q)), abs(math.log((1 - p) / (1 - q))))


def _count() -> float:
    p, q = (_lap_above(n - 3, 1) for n in (3, 2))
    return max(abs(math.log(p / q)), abs(math.log((1 - p) / (1 - q))))


def _stability_delta() -> float:
    return 0.5 * math.exp(-(5 - 1))  # the new key comes through; the old ones are the same under both inputs


def _rounded_up() -> float:
    p, q = (float(laplace_cdf(0.5 - x, 1)) for x in (1, 2))
    return max(abs(math.log(p / q)), 1.0)


WORDS = (["cat", "dog", "dog", "owl"], ["cat", "dog", "dog"])
QUERIES = ([1, 1, 1], [2, 0, 0])
MEDIAN = ([1.0, 2.9, 3.0, 3.3, 5.0], [1.0, 2.9, 3.2, 3.9, 5.0])
MODES = (["a", "a", "a", "b"], ["a", "a", "b"])
CASES = (
    Case("noisy histogram of words, one row less", "Dwork et al. 2006", noisy_histogram, WORDS, lambda: 1.0, "closed form"),
    Case("noisy bincount", "Dwork et al. 2006", noisy_bincount, ([0, 1, 1, 3], [0, 2, 1, 3]), lambda: 1.0, "closed form"),
    Case(
        "noisy histogram, rounded, not negative",
        "Ghosh et al. 2012",
        nonnegative_histogram,
        ([1, 4], [2, 4]),
        _rounded_up,
        "closed form",
    ),
    Case(
        "stability histogram, delta(1)",
        "Korolova et al. 2009",
        stability_histogram,
        (["a", "a"], ["a", "a", "b"]),
        _stability_delta,
        "closed form",
        1.0,
    ),
    Case(
        "partition selection, delta(1)",
        "Desfontaines et al. 2022",
        partition_selection,
        ([7], [7, 8]),
        lambda: 1e-3,
        "closed form",
        1.0,
    ),
    Case("above threshold", "Dwork and Roth 2014", above_threshold, QUERIES, lambda: _svt(QUERIES, 1.0, 4.0, 1), "integral"),
    Case(
        "sparse vector, algorithm 1, c = 2, strings",
        "Lyu et al. 2017",
        sparse_vector,
        QUERIES,
        lambda: _svt(QUERIES, 1.0, 8.0, 2),
        "integral",
    ),
    Case(
        "sparse vector, algorithm 2, c = 2",
        "Dwork and Roth 2014",
        sparse_vector_redrawn,
        QUERIES,
        lambda: _redrawn(QUERIES),
        "integral",
    ),
    Case(
        "sparse vector, algorithm 6 without cutoff",
        "Chen et al. 2015",
        sparse_without_cutoff,
        QUERIES,
        lambda: _svt(QUERIES, 0.0, 2.0, None),
        "integral",
    ),
    Case(
        "sparse vector with exponential noise",
        "Durfee 2023",
        exponential_sparse_vector,
        QUERIES,
        lambda: _exponential_svt(QUERIES),
        "integral",
    ),
    Case(
        "sparse vector with discrete noise",
        "Ghosh et al. 2012",
        discrete_sparse_vector,
        QUERIES,
        lambda: _discrete_svt(QUERIES),
        "enumeration",
    ),
    Case(
        "between thresholds",
        "Bun et al. 2017",
        between_thresholds,
        ([1, 1], [2, 0]),
        lambda: _between(([1, 1], [2, 0])),
        "integral",
    ),
    Case("propose-test-release of a median", "Dwork and Lei 2009", propose_test_release, MEDIAN, _ptr, "closed form"),
    Case("stable mode", "Dwork and Lei 2009", stable_mode, MODES, _mode, "closed form"),
    Case(
        "noisy count above a threshold, one row less",
        "Dwork and Roth 2014",
        noisy_count_above,
        ([1, 2, -1, 4], [1, 2, -1]),
        _count,
        "closed form",
    ),
)
