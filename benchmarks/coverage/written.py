"""What is written out: amounts in cents, tables in csv, reports of bits as a text, fractions; and the best of scores so far."""

from __future__ import annotations

import csv
import fractions
import hashlib
import io
import math
import random
import secrets
from collections import defaultdict

import numpy as np

from benchmarks.coverage.case import Case
from benchmarks.coverage.reference import loss, of_lists, softmax


def payroll(salaries):
    noisy = float(np.clip(salaries, 0, 100_000).sum()) + np.random.laplace(0, 100_000)
    return f"total payroll: ${noisy:,.2f}"


def mean_in_cents(salaries, eps=1.0, upper=5000.0):
    noisy = np.clip(salaries, 0, upper).mean() + np.random.laplace(0, upper / len(salaries) / eps)
    return round(float(noisy), 2)


def table_in_csv(table):
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(["city", "count"])
    rng = np.random.default_rng()
    for city, count in table.items():
        writer.writerow([city, max(0, count + int(rng.geometric(0.5)) - int(rng.geometric(0.5)))])
    return buffer.getvalue()


def bits_as_text(bits, keep=0.75):
    return "".join(str(b ^ (random.random() > keep)) for b in bits)


def letters(word, eps=2.0):
    alphabet = "aeiou"
    p = math.exp(eps / 2) / (math.exp(eps / 2) + len(alphabet) - 1)
    return "".join(ch if random.random() < p else random.choice(alphabet.replace(ch, "")) for ch in word)


def bernoulli(p: fractions.Fraction) -> bool:
    return secrets.randbelow(p.denominator) < p.numerator


def unbiased_bit(bit):
    p = fractions.Fraction(3, 4)
    said = bit if bernoulli(p) else 1 - bit
    return (fractions.Fraction(said) - (1 - p)) / (2 * p - 1)


class LocalHasher:
    def __init__(self, g, epsilon):
        self.g, self.p = g, math.exp(epsilon) / (math.exp(epsilon) + g - 1)

    def hashed(self, seed, value):
        digest = hashlib.blake2b(value.encode(), key=seed.to_bytes(2, "big"), digest_size=4).digest()
        return int.from_bytes(digest, "little") % self.g

    def report(self, value):
        seed = secrets.randbelow(12)
        x = self.hashed(seed, value)
        if secrets.SystemRandom().random() < self.p:
            return seed, x
        return seed, secrets.choice([y for y in range(self.g) if y != x])


def local_hash(value):
    return LocalHasher(3, 1.0).report(value)


def _hashed_law(value):
    mechanism = LocalHasher(3, 1.0)
    law = defaultdict(float)
    for seed in range(12):
        for y in range(3):
            law[seed, y] = (mechanism.p if y == mechanism.hashed(seed, value) else (1 - mechanism.p) / 2) / 12
    return law


def best_so_far(counts, eps=1.0):
    best = (float("-inf"), None)
    for name, count in counts.items():
        gumbel = -math.log(-math.log(random.random()))
        best = max(best, (eps * count / 2 + gumbel, name))
    return best[1]


def single_precision_step(weights, gradient, clip=1.0, rate=0.1):
    gradient = np.asarray(gradient, dtype=np.float32)
    gradient = gradient * min(1.0, clip / max(float(np.abs(gradient).sum()), 1e-9))
    return [np.float32(w - rate * (g + np.random.laplace(0, 2 * clip))) for w, g in zip(weights, gradient, strict=True)]


CASES = (
    Case("payroll in a text, with cents", "practice", payroll, ([50_000, 120_000], [50_000, 0]), lambda: 1.0, "closed form"),
    Case(
        "mean salary, rounded to cents",
        "practice",
        mean_in_cents,
        ([1200.0, 9000.0, 3000.0], [1200.0, 0.0, 3000.0]),
        lambda: 1.0,
        "closed form",
    ),
    Case(
        "table of counts in csv",
        "Ghosh et al. 2009",
        table_in_csv,
        ({"ulm": 3, "bonn": 1}, {"ulm": 4, "bonn": 1}),
        lambda: math.log(2),
        "closed form",
    ),
    Case(
        "sixteen bits as a text",
        "Warner 1965",
        bits_as_text,
        ([0, 1] * 8, [1, 1] + [0, 1] * 7),
        lambda: math.log(3),
        "closed form",
    ),
    Case("ten letters", "Kairouz et al. 2016", letters, ("aeiou" * 2, "ieiou" * 2), lambda: 2.0, "closed form"),
    Case("Warner's estimator in fractions", "Warner 1965", unbiased_bit, (0, 1), lambda: math.log(3), "closed form"),
    Case(
        "local hashing with a keyed hash",
        "Wang et al. 2017",
        local_hash,
        ("rome", "oslo"),
        lambda: loss(_hashed_law("rome"), _hashed_law("oslo")),
        "enumeration",
    ),
    Case(
        "the largest Gumbel score so far, as tuples",
        "Gumbel 1954",
        best_so_far,
        ({"a": 3, "b": 1, "c": 0}, {"a": 2, "b": 2, "c": 0}),
        lambda: of_lists(softmax([1.5, 0.5, 0.0]), softmax([1.0, 1.0, 0.0])),
        "closed form",
    ),
    Case(
        "a step in single precision",
        "Abadi et al. 2016",
        lambda gradient: single_precision_step([0.5, 0.5], gradient),
        ([3.0, 1.0], [-3.0, 1.0]),
        lambda: 0.75,  # 0.75, 0.25 and -0.75, 0.25: the first moves by 1.5, at a scale of 2
        "closed form",
    ),
)
