"""Exact samplers that toss coins, code that checks its numbers, and arrays that are changed where they are."""

from __future__ import annotations

import math
import random
import secrets
from fractions import Fraction

import numpy as np

from benchmarks.coverage.case import Case
from benchmarks.coverage.reference import loss, softmax


def bernoulli(p):
    return 1 if random.randrange(p.denominator) < p.numerator else 0


def bernoulli_exp_small(x):
    k = 1
    while True:
        if bernoulli(x / k) == 1:
            k += 1
        else:
            break
    return k % 2


def bernoulli_exp(x):
    while x > 1:
        if bernoulli_exp_small(Fraction(1, 1)) == 1:
            x = x - 1
        else:
            return 0
    return bernoulli_exp_small(x)


def randomised_response_exp(bit):
    return bit if bernoulli_exp(Fraction(3, 2)) == 0 else 1 - bit


def permute_and_flip_exact(scores):
    order = list(range(len(scores)))
    random.shuffle(order)
    for i in order:
        if bernoulli_exp(Fraction(max(scores) - scores[i], 2)):
            return i
    return None


class Exponential:
    def __init__(self, epsilon, sensitivity):
        self.scale = epsilon / sensitivity / 2
        self._rng = secrets.SystemRandom()

    def randomise(self, utility):
        utility = np.asarray(utility, dtype=float)
        weights = np.exp(self.scale * (utility - utility.max()))
        cumulative = np.cumsum(weights / weights.sum())
        rand = self._rng.random()
        if np.any(rand <= cumulative):
            index = np.argmax(rand <= cumulative)
        elif math.isclose(rand, cumulative[-1]):
            index = len(cumulative) - 1
        else:
            raise RuntimeError("no candidate was found")
        return int(index)


def exponential_with_a_check(utility):
    return Exponential(1.0, 1.0).randomise(utility)


def laplace_with_a_type_check(x, epsilon=1.0):
    y = x + random.expovariate(epsilon) - random.expovariate(epsilon)
    if not isinstance(y, float) or math.isnan(y):
        raise TypeError("a number is wanted")
    return round(y, 3)


def histogram_add_at(rows, rng: np.random.Generator, bins=3, epsilon=1.0):
    counts = np.zeros(bins, dtype=int)
    np.add.at(counts, rows, 1)
    p = 1 - np.exp(-epsilon / 2)
    counts += rng.geometric(p, size=bins) - rng.geometric(p, size=bins)
    return counts


def histogram_rounded(values, rng: np.random.Generator, epsilon=1.0):
    counts, _ = np.histogram(values, bins=3, range=(0, 1))
    noisy = counts + rng.laplace(0, 2 / epsilon, size=counts.shape)
    return np.maximum(noisy, 0).round(2)


def counts_in_integers(counts, rng: np.random.Generator, epsilon=0.7):
    out = np.zeros(len(counts), dtype=np.int64)
    for i in range(len(counts)):
        out[i] = counts[i] + rng.geometric(1 - np.exp(-epsilon)) - rng.geometric(1 - np.exp(-epsilon))
    return out


def _permute_and_flip_loss() -> float:
    from itertools import permutations

    def chances(scores: list[int]) -> dict[int, float]:
        out = dict.fromkeys(range(len(scores)), 0.0)
        for order in permutations(range(len(scores))):
            left = 1 / math.factorial(len(scores))
            for i in order:
                p = math.exp((scores[i] - max(scores)) / 2)
                out[i] += left * p
                left *= 1 - p
        return out

    return loss(chances([3, 2, 0]), chances([2, 3, 1]))


def _exponential_loss() -> float:
    return loss(*(dict(enumerate(softmax([s / 2 for s in u]))) for u in _UTILITY))


_UTILITY = [0.0, 1.0, 3.0, 2.0], [1.0, 1.0, 2.0, 3.0]
_CLOSED = "closed form"
CASES = (
    Case(
        "randomised response by exact exponential coins",
        "Canonne et al. 2020",
        randomised_response_exp,
        (0, 1),
        lambda: math.log(math.expm1(1.5)),
        _CLOSED,
    ),
    Case(
        "permute-and-flip with exact coins",
        "McKenna and Sheldon 2020",
        permute_and_flip_exact,
        ([3, 2, 0], [2, 3, 1]),
        _permute_and_flip_loss,
        "enumeration",
    ),
    Case(
        "exponential mechanism, a class that checks its sums",
        "McSherry and Talwar 2007",
        exponential_with_a_check,
        _UTILITY,
        _exponential_loss,
        _CLOSED,
    ),
    Case("Laplace, its type checked", "Dwork et al. 2006", laplace_with_a_type_check, (1, 2), lambda: 1.0, _CLOSED),
    Case("noisy histogram by np.add.at", "Ghosh et al. 2012", histogram_add_at, ([0, 1, 1], [0, 1, 2]), lambda: 1.0, _CLOSED),
    Case("noisy histogram, rounded", "Dwork et al. 2006", histogram_rounded, ([0.1, 0.7], [0.1, 0.2]), lambda: 1.0, _CLOSED),
    Case("geometric noise in whole numbers", "Ghosh et al. 2012", counts_in_integers, ([2, 1], [2, 0]), lambda: 0.7, _CLOSED),
)
