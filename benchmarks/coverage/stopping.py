"""Private selection: candidates are tried a random number of times, and the best one is returned."""

from __future__ import annotations

import math
import random

import mpmath as mp
import numpy as np
from scipy.optimize import minimize_scalar

from benchmarks.coverage.case import Case
from benchmarks.coverage.reference import laplace_cdf, laplace_pdf, of_lists

# ---- the mechanisms ----


def until_a_coin(qualities, rng: np.random.Generator, gamma=0.2, scale=1.0):
    best, chosen = -math.inf, None
    while True:
        k = int(rng.integers(len(qualities)))
        score = qualities[k] + rng.laplace(scale=scale)
        if score > best:
            best, chosen = score, k
        if rng.random() < gamma:
            return chosen


def with_its_score(qualities, gamma=0.3):
    best = None
    while True:
        k = random.randrange(len(qualities))
        score = qualities[k] + np.random.laplace(0.0, 2.0)
        if best is None or score > best[1]:
            best = (k, score)
        if random.random() < gamma:
            break
    return best


def tuned_by_poisson_trials(accuracies, rng: np.random.Generator, mean=5):
    trials = rng.poisson(mean)
    best_accuracy, best_model = -np.inf, None
    for _ in range(trials):
        model = rng.integers(0, len(accuracies))
        accuracy = accuracies[model] + rng.gumbel(0, 0.5)
        if accuracy > best_accuracy:
            best_accuracy, best_model = accuracy, int(model)
    return best_model


def largest_of_a_geometric_number(total, rng: np.random.Generator):
    tries = rng.geometric(0.25)
    return max(total + rng.laplace(0, 1) for _ in range(tries))


# ---- the references ----

QUALITIES = ([3, 1, 2], [2, 2, 3])


def _chances(scores, cdf, pdf, growth):
    """P(k is kept) = integral of f(v - c_k) / n * E[T F(v)^(T - 1)]."""
    n = len(scores)
    places = sorted({-60, -8, *scores, 10, 60})

    def kept(k):
        return mp.quad(lambda v: pdf(v - scores[k]) / n * growth(sum(cdf(v - c) for c in scores) / n), places)

    return [float(kept(k)) for k in range(n)]


def _until_a_coin():
    return of_lists(*(_chances(x, laplace_cdf, laplace_pdf, lambda u: 0.2 / (1 - 0.8 * u) ** 2) for x in QUALITIES))


def _poisson():
    def cdf(z):
        return mp.exp(-mp.exp(-2 * z))

    def pdf(z):
        return 2 * mp.exp(-2 * z - mp.exp(-2 * z))

    laws = [_chances(x, cdf, pdf, lambda u: 5 * mp.exp(5 * (u - 1))) for x in QUALITIES]
    return of_lists(*([*law, math.exp(-5)] for law in laws))


def _with_its_score():
    def log_density(scores, k, v):
        below = sum(float(laplace_cdf((v - c) / 2)) for c in scores) / 3
        return -abs(v - scores[k]) / 2 - 2 * math.log(1 - 0.7 * below)

    return max(_highest(lambda v, k=k: abs(log_density(QUALITIES[0], k, v) - log_density(QUALITIES[1], k, v))) for k in range(3))


def _highest(f):
    """The largest value, on a grid that meets the kinks, and between the neighbours of its best place."""
    places = np.linspace(-40, 40, 8_001)
    values = [f(v) for v in places]
    k = int(np.argmax(values))
    inside = minimize_scalar(lambda v: -f(v), bounds=(places[k] - 0.01, places[k] + 0.01), options={"xatol": 1e-10})
    return max(values[k], -float(inside.fun))


def _largest():
    def log_density(c, v):
        return -abs(v - c) - 2 * math.log(1 - 0.75 * float(laplace_cdf(v - c)))

    return _highest(lambda v: abs(log_density(2, v) - log_density(3, v)))


CASES = (
    Case("private selection, random stopping", "Liu and Talwar 2019", until_a_coin, QUALITIES, _until_a_coin, "integral"),
    Case(
        "private selection, the best with its score",
        "Liu and Talwar 2019",
        with_its_score,
        QUALITIES,
        _with_its_score,
        "search",
    ),
    Case(
        "hyperparameters by a Poisson number of trials",
        "Papernot and Steinke 2022",
        tuned_by_poisson_trials,
        QUALITIES,
        _poisson,
        "integral",
    ),
    Case(
        "the largest of a geometric number of answers",
        "Liu and Talwar 2019",
        largest_of_a_geometric_number,
        (2, 3),
        _largest,
        "search",
    ),
)
