"""Steps that are repeated, mixtures, released or withheld values, and what delta they have."""

from __future__ import annotations

import itertools
import math
import random
import statistics
from collections import Counter, defaultdict

import mpmath as mp
import numpy as np
import pandas as pd

from benchmarks.coverage.case import Case
from benchmarks.coverage.reference import amplified, gaussian_delta, laplace_cdf, phi

# -- references --------------------------------------------------------------------------------------------------------


def _delta(p, q, eps):
    """delta(eps) of two finite laws, in both directions."""
    e = math.exp(eps)
    return max(math.fsum(max(0.0, a.get(k, 0) - e * b.get(k, 0)) for k in {*p, *q}) for a, b in ((p, q), (q, p)))


def _normal(y, sigma=1):
    return mp.npdf(y, 0, sigma)


def _over(f, g, eps, *ends):
    """The integral of max(0, f - e^eps g), and the same the other way round, between ends beside and between the crossings."""
    e = mp.exp(eps)

    def one(p, q):
        def gain(y):
            return p(y) - e * q(y)

        cuts = [mp.mpf(ends[0])]
        for a, b in itertools.pairwise(ends):
            low, high = mp.mpf(a) + mp.mpf(10) ** -20, mp.mpf(b) - mp.mpf(10) ** -20
            if gain(low) * gain(high) < 0:
                cuts.append(mp.findroot(gain, (low, high), solver="bisect", tol=1e-40, maxsteps=200))
            cuts.append(mp.mpf(b))
        return sum(mp.quad(gain, [a, (a + b) / 2, b]) for a, b in itertools.pairwise(cuts) if gain((a + b) / 2) > 0)

    return float(max(one(f, g), one(g, f)))


# -- steps on samples --------------------------------------------------------------------------------------------------


def noisy_sums_of_samples(grads, steps=4, q=0.2, scale=1.0):
    released = []
    for _ in range(steps):
        batch = [g for g in grads if random.random() < q]
        released.append(sum(batch) + np.random.laplace(scale=scale))
    return released


def running_model(grads, q=0.25, lr=0.5, clip=1.0):
    w, path = 0.0, []
    for _ in range(3):
        mask = np.random.binomial(1, q, size=len(grads))
        step = np.sum(mask * np.clip(grads, -clip, clip)) + np.random.laplace(scale=2 * clip)
        w -= lr * step
        path.append(w)
    return path


def coins_of_two_columns(row):
    return {name: (value if random.random() < 0.5 else 0.0) + np.random.laplace() for name, value in row.items()}


def one_coin_for_two(x):
    kept = x if random.random() < 0.5 else 0.0
    return kept + np.random.laplace(), kept + np.random.laplace()


def noisy_gradient_of_a_sample(rows, q=0.3, clip=1.0):
    batch = [np.array(r) for r in rows if random.random() < q]
    clipped = [g * min(1, clip / max(np.abs(g).sum(), 1e-12)) for g in batch]
    return np.sum(clipped, axis=0) + np.random.laplace(scale=2 * clip, size=2) if clipped else np.random.laplace(scale=2, size=2)


# -- mixtures and scales -----------------------------------------------------------------------------------------------


def random_sigma(x):
    sigma = 1.0 if random.random() < 0.5 else 3.0
    return np.random.normal(x, sigma)


def _sigma_mixture(m):
    return lambda y: (_normal(y - m) + _normal(y - m, 3)) / 2


def clip_by_a_noisy_count(xs):
    bound = 4 if sum(x > 4 for x in xs) + np.random.laplace() > 0.5 else 2
    return sum(min(x, bound) for x in xs) + np.random.laplace(scale=bound)


def _clipped_by_count():
    p = {k: 1 - laplace_cdf(mp.mpf(1) / 2 - k) for k in (0, 1)}

    def law(y, k, sums):
        return sum(w * mp.exp(-abs(y - s) / b) / (2 * b) for w, s, b in ((p[k], sums[0], 4), (1 - p[k], sums[1], 2)))

    places = [*range(-400, 400), 4000, -4000]
    return float(max(abs(mp.log(law(y, 0, (4, 3)) / law(y, 1, (5, 3)))) for y in places))


# -- released or withheld ----------------------------------------------------------------------------------------------


def kept_if_large(x, bound=1.5):
    noisy = x + np.random.normal()
    return noisy if noisy > bound else None


def new_partitions(hist, tau=3.0):
    return {k: v for k, c in hist.items() if (v := c + random.gauss(0, 1)) > tau}


def union_of_sets(users, eps=1.0, tau=5):
    counts = defaultdict(int)
    for tokens in users:
        for token in sorted(tokens):
            counts[token] += 1
    rng = np.random.default_rng()
    alpha = math.exp(-eps)
    return [t for t in sorted(counts) if counts[t] + rng.geometric(1 - alpha) - rng.geometric(1 - alpha) >= tau]


def count_group_by(df: pd.DataFrame, epsilon: float = 1.0, tau: float = 4.0):
    counts = df.groupby("city").size()
    noisy = counts + np.random.laplace(0, 1 / epsilon, len(counts))
    return noisy[noisy > tau].to_dict()


_CITIES = pd.DataFrame({"city": ["t", "t", "u"]}), pd.DataFrame({"city": ["t", "t"]})


def stable_mode(xs):
    mode = statistics.mode(xs)
    counts = Counter(xs)
    distance = counts[mode] - max((c for v, c in counts.items() if v != mode), default=0)
    return mode if (distance + 1) // 2 + np.random.laplace() > 4 else "no"


def clipped_series(xs):
    noisy = pd.Series(xs, dtype=float) + np.random.normal(0, 2, len(xs))
    return noisy.clip(lower=-1e6).cumsum()


# -- transformed noise -------------------------------------------------------------------------------------------------


def distance_from_zero(x):
    return abs(random.gauss(x, 1))


def factor_of_noise(x):
    return x * random.lognormvariate(0, 0.5)


def clipped_noise(x):
    return x + np.clip(np.random.laplace(), -5, 5)


def normal_on_half_steps(x):
    return np.round(2 * (x + np.random.normal())) / 2


def _half_steps(x):
    return {k: phi(k + 0.25 - x) - phi(k - 0.25 - x) for k in np.arange(-9, 13, 0.5)}


def coins_six_times(bits):
    p = 1 / (1 + math.exp(-0.5))
    return "".join(str(b) if random.random() < p else str(1 - b) for b in bits)


def _coins(bit):
    p = 1 / (1 + math.exp(-0.5))
    return {k: math.comb(6, k) * (p**k * (1 - p) ** (6 - k) if bit else p ** (6 - k) * (1 - p) ** k) for k in range(7)}


def normal_sparse_vector(queries):
    bound = random.gauss(2, 1)
    for i, q in enumerate(queries):
        if random.gauss(q, 2) >= bound:
            return i
    return None


def _sparse(queries):
    def weight(k):
        def f(t):
            below = mp.fprod(mp.ncdf((t - q) / 2) for q in (queries if k is None else queries[:k]))
            return _normal(t - 2) * below * (1 if k is None else mp.ncdf((queries[k] - t) / 2))

        return mp.quad(f, [-12, -4, 0, 2, 4, 8, 16])

    return {k: float(weight(k)) for k in (*range(len(queries)), None)}


def _case(name, source, mechanism, pair, truth, reference="closed form", delta_at=None):
    return Case(name, source, mechanism, pair, truth if callable(truth) else lambda: truth, reference, delta_at)


_ABADI, _DWORK, _WILSON = "Abadi et al. 2016", "Dwork et al. 2006", "Wilson et al. 2020"

CASES = (
    _case("four noisy sums of samples", "Li et al. 2012", noisy_sums_of_samples, ([1.0], [0.0]), lambda: 4 * amplified(1, 0.2)),
    _case("a model after each of three sampled steps", _ABADI, running_model, ([2.0], [0.0]), lambda: 3 * amplified(0.5, 0.25)),
    _case(
        "a coin for each column",
        "Li et al. 2012",
        coins_of_two_columns,
        ({"a": 1.0, "b": 2.0}, {"a": 0.0, "b": 0.0}),
        lambda: amplified(1, 0.5) + amplified(2, 0.5),
    ),
    _case("one coin for both columns", "Li et al. 2012", one_coin_for_two, (1.0, 0.0), lambda: amplified(2, 0.5)),
    _case(
        "noisy gradient of a sample",
        _ABADI,
        noisy_gradient_of_a_sample,
        ([(3.0, -1.0), (1.0, 0.0)], [(1.0, 0.0)]),
        lambda: amplified(0.5, 0.3),
    ),
    _case(
        "Gaussian noise of a random scale, delta(0.3)",
        "Balle and Wang 2018",
        random_sigma,
        (0, 1),
        lambda: _over(_sigma_mixture(0), _sigma_mixture(1), 0.3, -40, -6, 0.5, 7, 40),
        "integral",
        0.3,
    ),
    _case("clipped by a noisy count", "Andrew et al. 2021", clip_by_a_noisy_count, ([1, 3], [1, 6]), _clipped_by_count, "search"),
    _case(
        "kept if it is large, delta(0.5)",
        "wrong on purpose",
        kept_if_large,
        (1, 2),
        lambda: phi(0) - math.exp(0.5) * phi(-1),
        "closed form",
        0.5,
    ),
    _case(
        "two new partitions, delta(2)",
        _WILSON,
        new_partitions,
        ({"a": 3, "b": 1, "c": 1}, {"a": 3}),
        lambda: 1 - phi(2) ** 2,
        "closed form",
        2.0,
    ),
    _case(
        "union of sets, geometric noise, delta(1)",
        "Gopi et al. 2020",
        union_of_sets,
        ([{"x", "y"}, {"x"}], [{"x"}, {"x"}]),
        lambda: math.exp(-4) / (1 + math.exp(-1)),
        "closed form",
        1.0,
    ),
    _case("counts of a group by, delta(1)", _WILSON, count_group_by, _CITIES, lambda: math.exp(-3) / 2, "closed form", 1.0),
    _case(
        "a stable mode, delta(0.5)",
        "Dwork and Lei 2009",
        stable_mode,
        ([5] * 6 + [9], [5] * 4 + [9] * 2),
        lambda: (1 - math.exp(0.5 - 2)) * math.exp(-1) / 2,
        "closed form",
        0.5,
    ),
    _case(
        "running sums of a clipped series, delta(0.3)",
        _DWORK,
        clipped_series,
        ([4, 5, 1], [5, 5, 1]),
        lambda: gaussian_delta(0.5, 0.3),
        "closed form",
        0.3,
    ),
    _case(
        "distance from zero, delta(0.5)",
        _DWORK,
        distance_from_zero,
        (1, 2),
        lambda: _over(lambda y: _normal(y - 1) + _normal(y + 1), lambda y: _normal(y - 2) + _normal(y + 2), 0.5, 0, 1.6, 12),
        "integral",
        0.5,
    ),
    _case(
        "a factor of log-normal noise, delta(0.3)",
        _DWORK,
        factor_of_noise,
        (2.0, 3.0),
        lambda: gaussian_delta(math.log(1.5) / 0.5, 0.3),
        "closed form",
        0.3,
    ),
    _case(
        "noise that is clipped, delta(1)",
        "wrong on purpose",
        clipped_noise,
        (0, 1),
        lambda: (math.exp(-4) + math.exp(-5)) / 2,
        "closed form",
        1.0,
    ),
    _case(
        "normal noise on half steps, delta(0.7)",
        "Canonne et al. 2020",
        normal_on_half_steps,
        (1, 2),
        lambda: _delta(_half_steps(1), _half_steps(2), 0.7),
        "enumeration",
        0.7,
    ),
    _case(
        "six coins as a text, delta(1)",
        "Kairouz et al. 2015",
        coins_six_times,
        ([1] * 6, [0] * 6),
        lambda: _delta(_coins(1), _coins(0), 1),
        "enumeration",
        1.0,
    ),
    _case(
        "sparse vector with normal noise, delta(0.1)",
        "Zhu and Wang 2020",
        normal_sparse_vector,
        ([1, 2, 2], [2, 1, 3]),
        lambda: _delta(_sparse([1, 2, 2]), _sparse([2, 1, 3]), 0.1),
        "integral",
        0.1,
    ),
)
