"""Noise in arrays, in shares and in shuffled lists: arrays that are filled in place, random rows, reports without an order."""

from __future__ import annotations

import math
import random

import numpy as np

from benchmarks.coverage.case import Case
from benchmarks.coverage.reference import loss, softmax

# -- arrays that are filled --------------------------------------------------------------------------------------------


def histogram_in_place(rows, rng: np.random.Generator, epsilon=1.0):
    counts = np.bincount(rows, minlength=3).astype(float)
    counts += rng.laplace(scale=2 / epsilon, size=counts.shape)
    counts[counts < 0] = 0
    return counts


def totals_in_array(stream, rng: np.random.Generator, epsilon=1.0):
    released = np.empty(len(stream))
    total = 0
    for t, x in enumerate(stream):
        total += x
        released[t] = total + rng.laplace(scale=len(stream) / epsilon)
    return released


def tree_in_array(counts, rng: np.random.Generator, epsilon=1.0):
    n = len(counts)
    tree = np.zeros(2 * n - 1)
    tree[n - 1 :] = counts
    for i in range(n - 2, -1, -1):
        tree[i] = tree[2 * i + 1] + tree[2 * i + 2]
    tree += rng.laplace(scale=(math.log2(n) + 1) / epsilon, size=tree.shape)
    return tree


class VectorLaplace:
    def __init__(self, epsilon, rng=None):
        self.scale = 1 / epsilon
        self.rng = rng if rng is not None else np.random.default_rng()

    def randomise(self, values):
        out = np.empty_like(np.asarray(values, dtype=float))
        for i, v in enumerate(values):
            out[i] = v + self.rng.laplace(0, self.scale)
        return out


def vector_class(values):
    return VectorLaplace(0.5).randomise(values)


def bootstrap_mean(rows, rng: np.random.Generator):
    rows = np.array(rows)
    picked = rows[rng.integers(0, len(rows), size=3)]
    return picked.mean() + rng.laplace(scale=1 / 3)


def exponential_by_multinomial(scores, rng: np.random.Generator, epsilon=1.0):
    p = np.exp(epsilon * np.asarray(scores) / 2)
    return int(np.argmax(rng.multinomial(1, p / p.sum())))


# -- shares and floors -------------------------------------------------------------------------------------------------


def geometric_by_logarithms(n, epsilon=0.5):
    def failures():
        return math.floor(math.log(random.random()) / -epsilon)

    return n + failures() - failures()


def histogram_by_floors(counts, rng: np.random.Generator, epsilon=0.5):
    noise = np.floor(rng.exponential(1 / epsilon, size=len(counts))) - np.floor(rng.exponential(1 / epsilon, size=len(counts)))
    return [int(c + z) for c, z in zip(counts, noise, strict=True)]


def polya_shares(values, rng: np.random.Generator, epsilon=0.5):
    n, p = len(values), 1 - math.exp(-epsilon)
    return sum(v + rng.negative_binomial(1 / n, p) - rng.negative_binomial(1 / n, p) for v in values)


# -- shuffled reports --------------------------------------------------------------------------------------------------


def shuffled_by_permutation(bits, rng: np.random.Generator, p=0.25):
    flips = rng.random(len(bits)) < p
    return rng.permutation(np.bitwise_xor(np.array(bits), flips.astype(int)))


def shuffled_kinds(values, k=4, gamma=0.4):
    reports = [random.randrange(k) if random.random() < gamma else v for v in values]
    random.shuffle(reports)
    return reports


# -- counts of reports -------------------------------------------------------------------------------------------------


def frequencies_by_bincount(values, rng: np.random.Generator, k=4, gamma=0.4):
    keep = rng.random(len(values)) >= gamma
    reports = np.where(keep, values, rng.integers(0, k, size=len(values)))
    return (np.bincount(reports, minlength=k) - len(values) * gamma / k) / (1 - gamma)


def frequencies_filled_in(values, k=4, gamma=0.4):
    counts = [0] * k
    for v in values:
        counts[random.randrange(k) if random.random() < gamma else v] += 1
    return counts


def survey_total(bits, p=0.25):
    return sum(1 - b if random.random() < p else b for b in bits)


# -- the truth ---------------------------------------------------------------------------------------------------------


def _multisets(laws):
    found = {(): 1.0}
    for law in laws:
        longer = {}
        for held, p in found.items():
            for v, q in enumerate(law):
                key = tuple(sorted((*held, v)))
                longer[key] = longer.get(key, 0.0) + p * q
        found = longer
    return found


def _shuffled_loss(law, left, right):
    return loss(_multisets(map(law, left)), _multisets(map(law, right)))


def _case(name, source, mechanism, pair, truth, reference="closed form"):
    return Case(name, source, mechanism, pair, truth if callable(truth) else lambda: truth, reference)


_BITS = [1, 0, 0, 1, 0, 1, 0, 0], [0, 0, 0, 1, 0, 1, 0, 0]
_VALUES = [3, 0, 1, 1, 2, 0], [0, 0, 1, 1, 2, 0]
_MORE_VALUES = _VALUES[0] * 2, _VALUES[1] + _VALUES[0]
CASES = (
    _case("noisy histogram, noise added in place", "Dwork et al. 2006", histogram_in_place, ([0, 1, 1], [0, 1, 2]), 1.0),
    _case("running totals, written into an array", "Dwork et al. 2010", totals_in_array, ([1, 0, 1, 1], [0, 0, 1, 1]), 1.0),
    _case("noisy tree in an array", "Hay et al. 2010", tree_in_array, ([0, 1, 1, 0], [0, 1, 1, 1]), 1.0),
    _case("Laplace on a vector, a class that fills an array", "Dwork et al. 2006", vector_class, ([1, 2], [2, 2]), 0.5),
    _case(
        "mean of a bootstrap sample",
        "Balle et al. 2018",
        bootstrap_mean,
        ([1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]),
        lambda: math.log(sum(math.comb(3, k) * 0.25**k * 0.75 ** (3 - k) * math.exp(k) for k in range(4))),
    ),
    _case(
        "exponential mechanism by a multinomial draw",
        "McSherry and Talwar 2007",
        exponential_by_multinomial,
        ([3, 1, 4], [2, 2, 3]),
        lambda: loss(dict(enumerate(softmax([1.5, 0.5, 2.0]))), dict(enumerate(softmax([1.0, 1.0, 1.5])))),
    ),
    _case("geometric noise as floors of logarithms", "Ghosh et al. 2012", geometric_by_logarithms, (3, 4), 0.5),
    _case("noisy counts by floors of exponentials", "Ghosh et al. 2012", histogram_by_floors, ([3, 1], [2, 1]), 0.5),
    _case("geometric noise from Pólya shares", "Goryczka and Xiong 2017", polya_shares, ([1, 0, 2], [1, 1, 2]), 0.5),
    _case(
        "shuffled answers by a permutation, n = 8",
        "Cheu et al. 2019",
        shuffled_by_permutation,
        _BITS,
        lambda: _shuffled_loss(lambda b: [0.25 + 0.5 * (b == v) for v in range(2)], *_BITS),
        "enumeration",
    ),
    _case(
        "shuffled k-ary answers, n = 6",
        "Balle et al. 2019",
        shuffled_kinds,
        _VALUES,
        lambda: _shuffled_loss(lambda x: [0.1 + 0.6 * (x == v) for v in range(4)], *_VALUES),
        "enumeration",
    ),
    _case(
        "frequencies from k-ary answers, bincount, n = 12",
        "Kairouz et al. 2016",
        frequencies_by_bincount,
        _MORE_VALUES,
        lambda: _shuffled_loss(lambda x: [0.1 + 0.6 * (x == v) for v in range(4)], *_MORE_VALUES),
        "enumeration",
    ),
    _case(
        "frequencies from k-ary answers, counted one by one, n = 12",
        "Kairouz et al. 2016",
        frequencies_filled_in,
        _MORE_VALUES,
        lambda: _shuffled_loss(lambda x: [0.1 + 0.6 * (x == v) for v in range(4)], *_MORE_VALUES),
        "enumeration",
    ),
    _case("survey of 300 people, the total", "Warner 1965", survey_total, ([1] * 300, [1] * 299 + [0]), math.log(3)),
)
