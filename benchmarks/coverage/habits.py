"""Mechanisms of a list that was written before this folder was read: tables, loops with a state, recursion, order statistics."""

from __future__ import annotations

import bisect
import itertools
import math
import random
from collections.abc import Sequence

import numpy as np

from benchmarks.coverage.case import Case
from benchmarks.coverage.reference import loss, of_lists, softmax

E = math.e


# -- tables and loops --------------------------------------------------------------------------------------------------


def table_without_a_last_return(scores, rng: np.random.Generator, epsilon=0.3):
    weights = np.exp(epsilon * np.array(scores) / 2)
    u, total = rng.random(), 0.0
    for i, p in enumerate(weights / weights.sum()):
        total += p
        if u < total:
            return i


def table_by_bisection(scores, epsilon=0.3):
    weights = [math.exp(epsilon * s / 2) for s in scores]
    cumulative = list(itertools.accumulate(w / sum(weights) for w in weights))
    return bisect.bisect(cumulative, random.random())


def best_passed_try(scores, rng: np.random.Generator, gamma=0.25):
    best = None
    while True:
        i = rng.integers(0, len(scores))
        passed = 1 if rng.random() < 1 / (1 + math.exp(-scores[i])) else 0
        if best is None or (passed, i) > best:
            best = (passed, i)
        if rng.random() < gamma:
            return best


def geometric_modulo(x, rng: np.random.Generator, m=8):
    a = math.exp(-1)
    return int(x + rng.geometric(1 - a) - rng.geometric(1 - a)) % m


def rounded_plus_geometric(x, rng: np.random.Generator):
    low = math.floor(x)
    k = low + (rng.random() < x - low)
    return k + rng.geometric(1 - 1 / E) - rng.geometric(1 - 1 / E)


# -- recursion and data-dependent ways ---------------------------------------------------------------------------------


def median_by_halving(xs, rng: np.random.Generator, low=0.0, high=8.0, depth=3):
    middle = (low + high) / 2
    if depth == 0:
        return middle
    left = sum(x < middle for x in xs) + rng.laplace(0, 3)
    if left > len(xs) / 2:
        return median_by_halving(xs, rng, low, middle, depth - 1)
    return median_by_halving(xs, rng, middle, high, depth - 1)


def folded(value, low, high):
    if value < low:
        return folded(2 * low - value, low, high)
    if value > high:
        return folded(2 * high - value, low, high)
    return value


def folded_laplace(x, rng: np.random.Generator):
    return folded(x + rng.laplace(0, 2), 0.0, 10.0)


def randomised_quantisation(x, rng: np.random.Generator, m=6, q=0.4):
    levels = np.linspace(-2, 2, m)
    kept = [0] + [i for i in range(1, m - 1) if rng.random() < q] + [m - 1]
    for a, b in itertools.pairwise(kept):
        if levels[a] <= x < levels[b]:
            return b if rng.random() < (x - levels[a]) / (levels[b] - levels[a]) else a


def median_of_three(xs, rng: np.random.Generator):
    return sorted(x + rng.laplace() for x in xs)[1]


def generalised_exponential(scores, rng: np.random.Generator, sensitivities=(1, 1, 2), t=2):
    ranks = [
        max((a + t * d - b - t * e) / (d + e) for b, e in zip(scores, sensitivities, strict=True))
        for a, d in zip(scores, sensitivities, strict=True)
    ]
    weights = np.exp([-r / 2 for r in ranks])
    return int(rng.choice(len(scores), p=weights / weights.sum()))


# -- references --------------------------------------------------------------------------------------------------------


def _exponential(pair: tuple[Sequence[float], Sequence[float]], epsilon: float = 0.3) -> float:
    return of_lists(*(softmax([epsilon * s / 2 for s in scores]) for scores in pair))


def _best_passed(scores: Sequence[float], gamma: float = 0.25) -> list[float]:
    passes = [1 / (1 + math.exp(-s)) for s in scores]
    weights = [(1 - p) / len(scores) for p in passes] + [p / len(scores) for p in passes]
    ends = [gamma * f / (1 - (1 - gamma) * f) for f in itertools.accumulate(weights)]
    return [b - a for a, b in zip([0.0, *ends], ends, strict=False)]


def _modulo(x: int, m: int = 8) -> list[float]:
    return [sum(math.exp(-abs(r - x + m * k)) for k in range(-60, 61)) for r in range(m)]


def _rounded(x: float) -> list[float]:
    low = math.floor(x)
    return [(x - low) * math.exp(-abs(k - low - 1)) + (1 - x + low) * math.exp(-abs(k - low)) for k in range(-3, 8)]


def _above(x: float, b: float) -> float:
    return 1 - math.exp(-x / b) / 2 if x >= 0 else math.exp(x / b) / 2


def _halving(xs: Sequence[float], low: float = 0.0, high: float = 8.0, depth: int = 3) -> dict[float, float]:
    middle = (low + high) / 2
    if depth == 0:
        return {middle: 1.0}
    p = _above(sum(x < middle for x in xs) - len(xs) / 2, 3.0)
    left, right = _halving(xs, low, middle, depth - 1), _halving(xs, middle, high, depth - 1)
    return {**{k: p * w for k, w in left.items()}, **{k: (1 - p) * w for k, w in right.items()}}


def _folded(x: float, y: float) -> float:
    images = (s * y + 20 * k for k in range(-60, 61) for s in (1, -1))
    return math.log(sum(math.exp(-abs(z - x) / 2) for z in images))


def _quantised(x: float, m: int = 6, q: float = 0.4) -> dict[int, float]:
    levels, out = np.linspace(-2, 2, m), dict.fromkeys(range(m), 0.0)
    for mask in itertools.product((0, 1), repeat=m - 2):
        kept = [0, *(i + 1 for i, on in enumerate(mask) if on), m - 1]
        weight = math.prod(q if on else 1 - q for on in mask)
        a, b = next(ends for ends in itertools.pairwise(kept) if levels[ends[0]] <= x < levels[ends[1]])
        share = (x - levels[a]) / (levels[b] - levels[a])
        out[b] += weight * share
        out[a] += weight * (1 - share)
    return out


def _generalised(scores: Sequence[float]) -> list[float]:
    d = (1, 1, 2)
    ranks = [max((scores[i] + 2 * d[i] - scores[j] - 2 * d[j]) / (d[i] + d[j]) for j in range(3)) for i in range(3)]
    return softmax([-r / 2 for r in ranks])


TABLE = [3, 7, 1, 9, 4, 4, 2, 8, 5], [4, 7, 2, 8, 4, 3, 2, 8, 6]  # its sums miss 1 by rounding
HALVED = [1, 2, 5, 6, 7], [1, 2, 5, 6, 0.5]
PASSED = [1, 0, -1], [0, 1, 0]

CASES = (
    Case(
        "exponential mechanism, a table without a last return",
        "McSherry and Talwar 2007",
        table_without_a_last_return,
        TABLE,
        lambda: _exponential(TABLE),
        "closed form",
    ),
    Case(
        "exponential mechanism, a table by bisection",
        "McSherry and Talwar 2007",
        table_by_bisection,
        TABLE,
        lambda: _exponential(TABLE),
        "closed form",
    ),
    Case(
        "generalised exponential mechanism",
        "Raskhodnikova and Smith 2016",
        generalised_exponential,
        ([1.0, 2.0, 4.0], [2.0, 2.0, 3.0]),
        lambda: of_lists(_generalised([1.0, 2.0, 4.0]), _generalised([2.0, 2.0, 3.0])),
        "closed form",
    ),
    Case(
        "random stopping, the best as a pair",
        "Liu and Talwar 2019",
        best_passed_try,
        PASSED,
        lambda: of_lists(*map(_best_passed, PASSED)),
        "closed form",
    ),
    Case(
        "geometric noise modulo m",
        "Kairouz et al. 2021",
        geometric_modulo,
        (3, 4),
        lambda: of_lists(_modulo(3), _modulo(4)),
        "enumeration",
    ),
    Case(
        "random rounding and geometric noise",
        "Kairouz et al. 2021",
        rounded_plus_geometric,
        (1.3, 2.2),
        lambda: of_lists(_rounded(1.3), _rounded(2.2)),
        "closed form",
    ),
    Case(
        "median by noisy halving, recursive",
        "Cormode et al. 2012",
        median_by_halving,
        HALVED,
        lambda: loss(*map(_halving, HALVED)),
        "closed form",
    ),
    Case(
        "folded Laplace, recursive",
        "Holohan et al. 2019",
        folded_laplace,
        (3.0, 4.0),
        lambda: max(abs(_folded(3.0, y) - _folded(4.0, y)) for y in (0.0, 3.0, 4.0, 10.0)),
        "closed form",
    ),
    Case(
        "randomised quantisation",
        "Youn et al. 2023",
        randomised_quantisation,
        (0.9, -0.7),
        lambda: loss(_quantised(0.9), _quantised(-0.7)),
        "enumeration",
    ),
    Case(
        "median of three noisy values",
        "Dwork and Roth 2014",
        median_of_three,
        ([0.0, 1.0, 2.0], [0.0, 1.0, 3.0]),
        lambda: math.log((E + E**3 + E**4) / (E + E**2 + E**3)),
        "closed form",
    ),
)
