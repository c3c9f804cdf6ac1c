"""Local protocols on categories and bits: each person randomises one value."""

from __future__ import annotations

import hashlib
import itertools
import math
import random
from fractions import Fraction

import numpy as np
from scipy.linalg import hadamard

from benchmarks.coverage.case import Case
from benchmarks.coverage.reference import loss, of_lists

E = math.e  # e^eps at eps = 1


def warner(truth, rng: np.random.Generator, p=0.75):
    if rng.random() < p:
        return truth
    return not truth


def two_coins(answer):
    if random.random() < 0.5:
        return answer
    return random.choice(["yes", "no"])


def k_rr(value, rng: np.random.Generator, domain=("a", "b", "c", "d"), epsilon=1.0):
    k = len(domain)
    if rng.random() < math.exp(epsilon) / (math.exp(epsilon) + k - 1):
        return value
    return rng.choice([v for v in domain if v != value])


def k_rr_shift(value, rng: np.random.Generator, k=10, epsilon=1.0):
    p = math.exp(epsilon) / (math.exp(epsilon) + k - 1)
    if rng.uniform() < p:
        return value
    return int((value + rng.integers(1, k)) % k)


def k_rr_resample(value, k=4, epsilon=1.0):
    """Keep the value, or draw any value but this one by drawing again."""
    if random.random() < math.exp(epsilon) / (math.exp(epsilon) + k - 1):
        return value
    other = random.randrange(k)
    while other == value:
        other = random.randrange(k)
    return other


def unary_encoding(value, rng: np.random.Generator, k=6, epsilon=1.0):
    bits = np.zeros(k, dtype=int)
    bits[value] = 1
    p = math.exp(epsilon / 2) / (1 + math.exp(epsilon / 2))
    return np.where(rng.random(k) < p, bits, 1 - bits)


def optimised_unary_encoding(value, k=6, epsilon=1.0):
    q = 1 / (math.exp(epsilon) + 1)
    return [int(random.random() < (0.5 if i == value else q)) for i in range(k)]


def rappor(value, rng: np.random.Generator, k=8, f=0.5, p=0.25, q=0.75):
    bits = np.zeros(k, dtype=int)
    for seed in range(2):
        digest = hashlib.sha256(f"{seed}:{value}".encode()).digest()
        bits[digest[0] % k] = 1
    u = rng.random(k)
    permanent = np.where(u < f / 2, 1, np.where(u < f, 0, bits))
    return (rng.random(k) < np.where(permanent == 1, q, p)).astype(int)


def hadamard_response(value, rng: np.random.Generator, epsilon=1.0):
    size = 8
    row = hadamard(size)[value + 1]
    inside = np.flatnonzero(row == 1)
    outside = np.flatnonzero(row == -1)
    if rng.random() < math.exp(epsilon) / (1 + math.exp(epsilon)):
        return int(rng.choice(inside))
    return int(rng.choice(outside))


def subset_selection(value, rng: np.random.Generator, k=5, w=2, epsilon=1.0):
    others = [v for v in range(k) if v != value]
    p = w * math.exp(epsilon) / (w * math.exp(epsilon) + k - w)
    if rng.random() < p:
        return frozenset([value, *random.sample(others, w - 1)])
    return frozenset(random.sample(others, w))


def local_hashing(value, g=2, epsilon=1.0):
    seed = random.randrange(8)
    h = hashlib.md5(f"{seed}|{value}".encode()).digest()[0] % g
    if random.random() >= math.exp(epsilon) / (math.exp(epsilon) + g - 1):
        h = 1 - h
    return seed, h


def optimised_local_hashing(value, rng: np.random.Generator, g=4, epsilon=1.0):
    a = int(rng.integers(1, 11))
    b = int(rng.integers(0, 11))
    h = ((a * value + b) % 11) % g
    if rng.random() < math.exp(epsilon) / (math.exp(epsilon) + g - 1):
        report = h
    else:
        report = (h + int(rng.integers(1, g))) % g
    return a, b, report


def count_mean_sketch(word, rng: np.random.Generator, m=4, epsilon=1.0):
    j = int(rng.integers(0, 3))
    v = -np.ones(m)
    v[hashlib.sha256(f"{j}{word}".encode()).digest()[0] % m] = 1
    flip = rng.random(m) < 1 / (1 + math.exp(epsilon / 2))
    return j, np.where(flip, -v, v)


def hadamard_count_sketch(word, rng: np.random.Generator, m=8, epsilon=1.0):
    column = hashlib.sha256(word.encode()).digest()[0] % m
    row = int(rng.integers(0, m))
    bit = hadamard(m)[row, column]
    if rng.random() < 1 / (1 + math.exp(epsilon)):
        bit = -bit
    return row, int(bit)


def threshold_histogram_encoding(value, rng: np.random.Generator, k=4, theta=0.7, epsilon=1.0):
    one_hot = np.eye(k)[value]
    noisy = one_hot + rng.laplace(0, 2 / epsilon, size=k)
    return [i for i in range(k) if noisy[i] > theta]


def summation_histogram_encoding(value, rng: np.random.Generator, k=4, epsilon=1.0):
    one_hot = np.eye(k)[value]
    return one_hot + rng.laplace(0, 2 / epsilon, size=k)


def key_value(pair, epsilon=1.0):
    """One key and a value in [-1, 1]; an absent key is None."""
    p = math.exp(epsilon / 2) / (1 + math.exp(epsilon / 2))
    value = 0.0 if pair is None else pair
    rounded = 1 if random.random() < (1 + value) / 2 else -1
    reported = rounded if random.random() < p else -rounded
    if pair is None:
        return (1, reported) if random.random() >= p else (0, 0)
    return (1, reported) if random.random() < p else (0, 0)


def thirty_answers(answers, p=0.75):
    return [a if random.random() < p else 1 - a for a in answers]


def noisy_sum_of_answers(answers, rng: np.random.Generator, p=0.75):
    total = 0
    for a in answers:
        if rng.random() < p:
            total += a
        else:
            total += 1 - a
    return total


def shuffled_answers(answers, p=0.75):
    reports = [a if random.random() < p else 1 - a for a in answers]
    random.shuffle(reports)
    return reports


def shuffled_counts(values, rng: np.random.Generator, k=3, gamma=0.5):
    """Blanket: with probability gamma a uniform value; the shuffled reports are a histogram."""
    histogram = [0] * k
    for v in values:
        if rng.random() < gamma:
            v = int(rng.integers(k))
        histogram[v] += 1
    return tuple(histogram)


# ---- the truth ----


def _unary_flips(p: float) -> float:
    return 2 * math.log(p / (1 - p))


def _hashes(value: str, k: int = 8) -> set[int]:
    return {hashlib.sha256(f"{seed}:{value}".encode()).digest()[0] % k for seed in range(2)}


def _rappor() -> float:
    f, p, q = 0.5, 0.25, 0.75
    one = (1 - f / 2) * q + f / 2 * p
    zero = f / 2 * q + (1 - f / 2) * p
    each = max(math.log(one / zero), math.log((1 - zero) / (1 - one)))
    first, second = _hashes("linux"), _hashes("windows")
    return (
        len(first - second) * math.log(one / zero) + len(second - first) * math.log((1 - zero) / (1 - one))
        if (len(first) == len(second))
        else each * len(first ^ second)
    )


def _subsets() -> float:
    def law(value):
        p = 2 * E / (2 * E + 3)
        out = {}
        for pick in itertools.combinations(range(5), 2):
            out[pick] = p / 4 if value in pick else (1 - p) / 6
        return out

    return loss(law(0), law(3))


def _olh() -> float:
    def law(value):
        out = {}
        for a, b in itertools.product(range(1, 11), range(11)):
            h = ((a * value + b) % 11) % 4
            for r in range(4):
                out[a, b, r] = (E if r == h else 1.0) / (E + 3) / 110
        return out

    return loss(law(1), law(7))


def _the() -> float:
    high = 1 - 0.5 * math.exp(-0.3 / 2)  # P(1 + Lap(2) > 0.7)
    low = 0.5 * math.exp(-0.7 / 2)
    return math.log(high / low) + math.log((1 - low) / (1 - high))


def _key_value() -> float:
    a = math.exp(0.5)
    p = a / (1 + a)

    def law(pair):
        v = 0.0 if pair is None else pair
        plus = (1 + v) / 2 * p + (1 - v) / 2 * (1 - p)
        there = p if pair is not None else 1 - p
        return {(1, 1): there * plus, (1, -1): there * (1 - plus), (0, 0): 1 - there}

    return loss(law(0.5), law(None))


def _counted(p: float, ones: int, n: int) -> list[float]:
    law = np.array([1.0])
    for chance in [p] * ones + [1 - p] * (n - ones):
        law = np.convolve(law, [1 - chance, chance])
    return law.tolist()


def _blanket() -> float:
    def law(values):
        out = {(0, 0, 0): Fraction(1)}
        for v in values:
            step = {}
            for h, mass in out.items():
                for w in range(3):
                    g = tuple(x + (i == w) for i, x in enumerate(h))
                    step[g] = step.get(g, 0) + mass * (Fraction(1, 6) + (Fraction(1, 2) if v == w else 0))
            out = step
        return out

    return loss(law([0, 0, 1, 1, 2, 2]), law([1, 0, 1, 1, 2, 2]))


HALF = ([0] * 20 + [1] * 20, [1] + [0] * 19 + [1] * 20)
THIRTY = ([0] * 30, [1] * 30)
FEW = ([0, 0, 1, 1, 1], [1, 0, 1, 1, 1])
CASES = (
    Case("randomised response", "Warner 1965", warner, (True, False), lambda: math.log(3), "closed form"),
    Case("randomised response, two coins", "Dwork and Roth 2014", two_coins, ("yes", "no"), lambda: math.log(3), "closed form"),
    Case("k-ary randomised response on strings", "Kairouz et al. 2014", k_rr, ("a", "c"), lambda: 1.0, "closed form"),
    Case("k-ary randomised response by a shift", "Kairouz et al. 2014", k_rr_shift, (3, 8), lambda: 1.0, "closed form"),
    Case("k-ary randomised response, drawn again", "Kairouz et al. 2014", k_rr_resample, (0, 2), lambda: 1.0, "closed form"),
    Case("symmetric unary encoding", "Erlingsson et al. 2014", unary_encoding, (0, 4), lambda: 1.0, "closed form"),
    Case("optimised unary encoding", "Wang et al. 2017", optimised_unary_encoding, (0, 4), lambda: 1.0, "closed form"),
    Case("RAPPOR, both responses", "Erlingsson et al. 2014", rappor, ("linux", "windows"), _rappor, "closed form"),
    Case("Hadamard response", "Acharya, Sun and Zhang 2019", hadamard_response, (0, 2), lambda: 1.0, "closed form"),
    Case("subset selection, a frozenset", "Ye and Barg 2018", subset_selection, (0, 3), _subsets, "enumeration"),
    Case("binary local hashing", "Bassily and Smith 2015", local_hashing, ("x", "y"), lambda: 1.0, "closed form"),
    Case("optimised local hashing", "Wang et al. 2017", optimised_local_hashing, (1, 7), _olh, "enumeration"),
    Case("count mean sketch", "Apple 2017", count_mean_sketch, ("hi", "you"), lambda: 1.0, "closed form"),
    Case("Hadamard count mean sketch", "Apple 2017", hadamard_count_sketch, ("hi", "you"), lambda: 1.0, "closed form"),
    Case("thresholded histogram encoding", "Wang et al. 2017", threshold_histogram_encoding, (0, 2), _the, "closed form"),
    Case("summed histogram encoding", "Wang et al. 2017", summation_histogram_encoding, (0, 2), lambda: 1.0, "closed form"),
    Case("key and value (PrivKV)", "Ye et al. 2019", key_value, (0.5, None), _key_value, "enumeration"),
    Case("thirty randomised answers", "Warner 1965", thirty_answers, THIRTY, lambda: 30 * math.log(3), "closed form"),
    Case(
        "sum of forty randomised answers",
        "Cheu et al. 2019",
        noisy_sum_of_answers,
        HALF,
        lambda: of_lists(_counted(0.75, 20, 40), _counted(0.75, 21, 40)),
        "enumeration",
    ),
    Case(
        "shuffled answers, n = 5",
        "Cheu et al. 2019",
        shuffled_answers,
        FEW,
        lambda: of_lists(_counted(0.75, 3, 5), _counted(0.75, 4, 5)),
        "enumeration",
    ),
    Case(
        "shuffled k-ary answers as a histogram, n = 6",
        "Balle et al. 2019",
        shuffled_counts,
        ([0, 0, 1, 1, 2, 2], [1, 0, 1, 1, 2, 2]),
        _blanket,
        "enumeration",
    ),
)
