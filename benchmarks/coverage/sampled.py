"""Subsampling, steps of private training, aggregation of samples."""

from __future__ import annotations

import itertools
import math
import random
import statistics

import mpmath as mp
import numpy as np

from benchmarks.coverage.case import Case
from benchmarks.coverage.reference import amplified, gaussian_delta, largest, of_lists


def poisson_sampled_count(rows, rng: np.random.Generator, q=0.25, epsilon=1.0):
    sample = [r for r in rows if rng.random() < q]
    return len(sample) + rng.laplace(0, 1 / epsilon)


def poisson_sampled_mask(rows, rng: np.random.Generator, q=0.25, epsilon=1.0):
    rows = np.asarray(rows)
    mask = rng.random(len(rows)) < q
    return np.sum(rows * mask) + rng.laplace(0, 1 / epsilon)


def sampled_without_replacement(rows, m=2, epsilon=1.0):
    sample = random.sample(rows, m)
    return sum(sample) + np.random.laplace(0, 1 / epsilon)


def sampled_batch(rows, rng: np.random.Generator, m=2, epsilon=1.0):
    rows = np.asarray(rows, dtype=float)
    batch = rows[rng.choice(len(rows), size=m, replace=False)]
    return batch.mean() + rng.laplace(0, 1 / (m * epsilon))


def bootstrap_sum(rows, rng: np.random.Generator, epsilon=1.0):
    """With replacement."""
    rows = np.asarray(rows)
    picked = rows[rng.integers(0, len(rows), size=2)]
    return picked.sum() + rng.laplace(0, 1 / epsilon)


def sampled_randomised_response(rows, rng: np.random.Generator, p=0.75):
    x = rows[rng.integers(len(rows))]
    return x if rng.random() < p else 1 - x


def sgd_step(gradients, rng: np.random.Generator, clip=1.0, sigma=2.0):
    clipped = [g * min(1.0, clip / abs(g)) if g else 0.0 for g in gradients]
    return sum(clipped) + rng.normal(0, sigma * clip)


def sgd_step_vectors(gradients, rng: np.random.Generator, clip=1.0, sigma=2.0):
    gradients = np.asarray(gradients, dtype=float)
    norms = np.linalg.norm(gradients, axis=1)
    clipped = gradients / np.maximum(1, norms / clip)[:, None]
    return (clipped.sum(axis=0) + rng.normal(0, sigma * clip, size=2)) / len(gradients)


def sgd_sampled_step(gradients, rng: np.random.Generator, q=0.1, sigma=1.0):
    total = 0.0
    for g in gradients:
        if rng.random() < q:
            total += max(-1.0, min(1.0, g))
    return total + rng.normal(0, sigma)


def laplace_training(gradient, rng: np.random.Generator, steps=10, q=0.2, rate=0.5, b=4.0):
    """The gradient of one person, who takes part in each step with probability q; every iterate is public."""
    w, iterates = 0.0, []
    for _ in range(steps):
        g = gradient if rng.random() < q else 0.0
        w = w - rate * (g + rng.laplace(0, b))
        iterates.append(w)
    return iterates


def last_iterate(x, rng: np.random.Generator, steps=2, rate=0.5):
    """Only the last of the iterates is released."""
    w = 0.0
    for _ in range(steps):
        w = w - rate * (w - x) + rng.laplace(0, 1.0)
    return w


def noisy_sign_step(gradients, rng: np.random.Generator, b=2.0):
    return [1 if g + rng.laplace(0, b) > 0 else -1 for g in gradients]


def random_check_in(x, rng: np.random.Generator, rounds=3, b=1.0):
    mine = rng.integers(rounds)
    return [(x if t == mine else 0) + rng.laplace(0, b) for t in range(rounds)]


def sample_and_aggregate(rows, rng: np.random.Generator, blocks=3, epsilon=1.0):
    size = len(rows) // blocks
    means = [statistics.fmean(rows[i * size : (i + 1) * size]) for i in range(blocks)]
    return statistics.median(means) + rng.laplace(0, 1 / epsilon)


def one_of_two_mechanisms(x, rng: np.random.Generator):
    return x + rng.laplace(0, 1.0) if rng.random() < 0.5 else x + rng.normal(0, 1.0)


def noisy_federated_mean(updates, rng: np.random.Generator, b=1.0):
    """Each client adds a share of the noise; the server sees the mean."""
    noisy = [u + rng.laplace(0, b) for u in updates]
    return sum(noisy) / len(noisy)


def dropout(bits, rng: np.random.Generator, keep=0.5, p=0.75):
    kept = [b for b in bits if rng.random() < keep]
    return [b if rng.random() < p else 1 - b for b in kept]


# ---- the truth ----


def _mixed(law_p, law_q, low=-6.0, high=8.0) -> float:
    """Mixtures of unit Laplace densities: the supremum lies at a kink or in a tail, where all ratios are monotone."""

    def log_density(law, y):
        return math.log(math.fsum(w * math.exp(-abs(y - c)) for c, w in law.items()))

    def ratio(y):
        return abs(log_density(law_p, y) - log_density(law_q, y))

    kinks = [*law_p, *law_q, low * 5, high * 5]
    return max(max(map(ratio, kinks)), largest(ratio, low, high))


def _drawn(rows, m: int, divide: float = 1.0):
    picks = list(itertools.combinations(range(len(rows)), m))
    out: dict[float, float] = {}
    for pick in picks:
        total = sum(rows[i] for i in pick) / divide
        out[total] = out.get(total, 0) + 1 / len(picks)
    return out


def _replaced(rows):
    out: dict[float, float] = {}
    for a in rows:
        for b in rows:
            out[a + b] = out.get(a + b, 0) + 1 / len(rows) ** 2
    return out


def _poisson(rows, q: float):
    out = {0.0: 1.0}
    for r in rows:
        step: dict[float, float] = {}
        for total, w in out.items():
            step[total] = step.get(total, 0) + w * (1 - q)
            step[total + r] = step.get(total + r, 0) + w * q
        out = step
    return out


def _sampled_gaussian_delta(eps: float, q: float = 0.1) -> float:
    """delta of N(0, 1) against (1 - q) N(0, 1) + q N(1, 1), the larger direction."""

    def gap(first, second):
        return mp.quad(lambda y: max(0, first(y) - mp.exp(eps) * second(y)), [-mp.inf, *_crossings(first, second, eps), mp.inf])

    def without(y):
        return mp.npdf(y)

    def with_it(y):
        return (1 - q) * mp.npdf(y) + q * mp.npdf(y - 1)

    return float(max(gap(without, with_it), gap(with_it, without)))


def _crossings(first, second, eps: float):
    grid = [mp.mpf(k) / 8 for k in range(-80, 81)]
    values = [first(y) - mp.exp(eps) * second(y) for y in grid]
    out = []
    for a, b, u, v in zip(grid, grid[1:], values, values[1:], strict=False):
        if u * v < 0:
            out.append(mp.findroot(lambda y: first(y) - mp.exp(eps) * second(y), (a, b), solver="anderson"))
    return out


def _iterated() -> float:
    """x - x/4 + L1/2 + L2 against the same for x': the sum of independent log-concave draws loses d over the larger scale."""
    return 0.75 / 1.0


def _sign(pair) -> float:
    def up(x):
        return 1 - 0.5 * math.exp(-x / 2) if x >= 0 else 0.5 * math.exp(x / 2)

    forward = backward = 0.0
    for a, b in zip(*pair, strict=True):
        ratios = [math.log(up(a) / up(b)), math.log((1 - up(a)) / (1 - up(b)))]
        forward += max(ratios)
        backward += max(-r for r in ratios)
    return max(forward, backward)


def _check_in() -> float:
    """With every output far above: each round's ratio is e, so the mixture's is e; far below 1/e: both are reached."""
    return 1.0


def _half_gaussian() -> float:
    def log_density(y):
        return math.log(math.exp(-abs(y)) / 4 + math.exp(-y * y / 2) / math.sqrt(2 * math.pi) / 2)

    return largest(lambda y: abs(log_density(y) - log_density(y - 1)), -25.0, 25.0, 20001)


def _dropped(bits, keep=0.5, p=0.75):
    out: dict[tuple[int, ...], float] = {(): 1.0}
    for b in bits:
        step: dict[tuple[int, ...], float] = {}
        for seen, w in out.items():
            step[seen] = step.get(seen, 0) + w * (1 - keep)
            for v in (0, 1):
                step[(*seen, v)] = step.get((*seen, v), 0) + w * keep * (p if v == b else 1 - p)
        out = step
    return out


def _dropout() -> float:
    p, q = _dropped([0, 1, 1]), _dropped([1, 1, 1])
    return of_lists([p[k] for k in p], [q[k] for k in p])


COUNTS = ([1, 1, 1], [1, 1])
BITS = ([0, 1, 1, 0], [1, 1, 1, 0])
SIGNS = ([0.5, -0.25], [-0.5, 0.75])
CASES = (
    Case(
        "Poisson-sampled count, one row less",
        "Balle et al. 2018",
        poisson_sampled_count,
        COUNTS,
        lambda: _mixed(_poisson([1] * 3, 0.25), _poisson([1] * 2, 0.25)),
        "closed form",
    ),
    Case(
        "Poisson-sampled sum with a mask",
        "Balle et al. 2018",
        poisson_sampled_mask,
        ([1, 0, 1], [1, 1, 1]),
        lambda: _mixed(_poisson([1, 0, 1], 0.25), _poisson([1, 1, 1], 0.25)),
        "closed form",
    ),
    Case(
        "sum of a sample without replacement",
        "Balle et al. 2018",
        sampled_without_replacement,
        BITS,
        lambda: _mixed(_drawn(BITS[0], 2), _drawn(BITS[1], 2)),
        "closed form",
    ),
    Case(
        "mean of a batch without replacement",
        "Bassily et al. 2014",
        sampled_batch,
        BITS,
        lambda: _mixed(_drawn(BITS[0], 2), _drawn(BITS[1], 2)),
        "closed form",
    ),
    Case(
        "sum of a bootstrap sample",
        "Balle et al. 2018",
        bootstrap_sum,
        BITS,
        lambda: _mixed(_replaced(BITS[0]), _replaced(BITS[1])),
        "closed form",
    ),
    Case(
        "randomised response of a sampled row",
        "Kasiviswanathan et al. 2011",
        sampled_randomised_response,
        BITS,
        lambda: of_lists([0.5, 0.5], [0.375, 0.625]),
        "closed form",
    ),
    Case(
        "DP-SGD step, delta(1)",
        "Abadi et al. 2016",
        sgd_step,
        ([3.0, 0.5], [-0.5, 0.5]),
        lambda: gaussian_delta(0.75, 1),
        "closed form",
        1.0,
    ),
    Case(
        "DP-SGD step on vectors, delta(1)",
        "Abadi et al. 2016",
        sgd_step_vectors,
        ([[3.0, 4.0], [0.0, 0.5]], [[0.0, 0.0], [0.0, 0.5]]),
        lambda: gaussian_delta(0.5, 1),
        "closed form",
        1.0,
    ),
    Case(
        "DP-SGD step on a Poisson sample, delta(0.5)",
        "Abadi et al. 2016",
        sgd_sampled_step,
        ([0.0], [1.0]),
        lambda: _sampled_gaussian_delta(0.5),
        "integral",
        0.5,
    ),
    Case(
        "ten training steps, every iterate public",
        "Bassily et al. 2014",
        laplace_training,
        (0.0, 4.0),
        lambda: 10 * amplified(1.0, 0.2),
        "closed form",
    ),
    Case("last iterate of two steps", "Feldman et al. 2018", last_iterate, (0, 1), _iterated, "closed form"),
    Case("noisy signs of gradients", "Bernstein et al. 2018", noisy_sign_step, SIGNS, lambda: _sign(SIGNS), "closed form"),
    Case("random check-in", "Balle et al. 2020", random_check_in, (0, 1), _check_in, "closed form"),
    Case(
        "sample and aggregate, median of means",
        "Nissim et al. 2007",
        sample_and_aggregate,
        ([1, 3, 2, 4, 6, 6], [1, 3, 9, 9, 6, 6]),
        lambda: 3.0,
        "closed form",
    ),
    Case("one of two mechanisms", "Balle et al. 2018", one_of_two_mechanisms, (0, 1), _half_gaussian, "closed form"),
    Case(
        "noisy federated mean",
        "McMahan et al. 2018",
        noisy_federated_mean,
        ([1.0, 2.0, 3.0], [2.0, 2.0, 3.0]),
        lambda: 1.0,
        "closed form",
    ),
    Case(
        "dropout before randomised response",
        "Kasiviswanathan et al. 2011",
        dropout,
        ([0, 1, 1], [1, 1, 1]),
        _dropout,
        "enumeration",
    ),
)
