"""Answers of a dozen people, each one of several words, and what is made of them; sketches, streams and waiting times."""

from __future__ import annotations

import math
import random
import zlib
from collections import Counter
from fractions import Fraction
from itertools import permutations

import numpy as np

from benchmarks.coverage.case import Case
from benchmarks.coverage.reference import loss

COLOURS = ["red", "green", "blue", "black"]


def reports_counter(data):
    reports = []
    for colour in data:
        if random.random() < 0.7:
            reports.append(colour)
        else:
            reports.append(random.choice([c for c in COLOURS if c != colour]))
    return Counter(reports)


def reported(colour):
    return colour if random.random() < 0.7 else random.choice([c for c in COLOURS if c != colour])


def reports_by_colour(data):
    counts = Counter(reported(c) for c in data)
    return {c: counts[c] for c in COLOURS}


def reports_of_each(data, rng: np.random.Generator):
    reports = [rng.choice(COLOURS, p=[0.7 if c == x else 0.1 for c in COLOURS]) for x in data]
    return [reports.count(c) for c in COLOURS]


def kept_rows(rows, rng):
    kept = []
    for r in rows:
        if r and rng.random() < 0.3:
            kept.append(r)
    return min(len(kept), 3)


def knuth(rate):
    limit = math.exp(-rate)
    k, product = 0, 1.0
    while True:
        product *= random.random()
        if product <= limit:
            return k
        k += 1


def poisson_response(count):
    return min(knuth(1.5 + count), 5)


def arrivals_in_an_hour(count, rng):
    clock, seen = 0.0, -1
    while clock < 1.5 + count:
        clock += rng.exponential()
        seen += 1
    return min(seen, 5)


def permute_and_flip_pop(scores):
    left = list(range(len(scores)))
    top = max(scores)
    while True:
        i = left.pop(random.randrange(len(left)))
        if random.random() < math.exp((scores[i] - top) / 2):
            return i


def adjacent_swaps(ranking, rng):
    r = list(ranking)
    for i in range(len(r) - 1):
        if rng.random() < 1 / 3:
            r[i], r[i + 1] = r[i + 1], r[i]
    return r


def hashed_word(word, rng):
    seed = int(rng.integers(32))
    h = zlib.crc32(f"{seed}-{word}".encode()) % 2
    if rng.random() < 0.75:
        return seed, h
    return seed, 1 - h


# -- references --------------------------------------------------------------------------------------------------------


def _thinned(n):
    law = {k: math.comb(n, k) * Fraction(3, 10) ** k * Fraction(7, 10) ** (n - k) for k in range(n + 1)}
    return {k: p if k < 3 else sum(law[j] for j in law if j >= 3) for k, p in law.items() if k <= 3}


def _poisson(rate):
    law = {k: math.exp(-rate) * rate**k / math.factorial(k) for k in range(5)}
    return {**law, 5: 1.0 - math.fsum(law.values())}


def _permute_and_flip(scores):
    law: dict[int, float] = {}
    for order in permutations(range(len(scores))):
        left = 1.0 / math.factorial(len(scores))
        for i in order:
            kept = math.exp((scores[i] - max(scores)) / 2)
            law[i] = law.get(i, 0.0) + left * kept
            left *= 1.0 - kept
    return law


def _swaps(ranking):
    law = {tuple(ranking): Fraction(1)}
    for i in range(len(ranking) - 1):
        after: dict[tuple[str, ...], Fraction] = {}
        for r, p in law.items():
            for order, q in ((r, Fraction(2, 3)), ((*r[:i], r[i + 1], r[i], *r[i + 2 :]), Fraction(1, 3))):
                after[order] = after.get(order, Fraction(0)) + p * q
        law = after
    return law


def _hashed(word):
    said = {seed: zlib.crc32(f"{seed}-{word}".encode()) % 2 for seed in range(32)}
    return {(seed, h): Fraction(3 if said[seed] == h else 1, 128) for seed in range(32) for h in (0, 1)}


_PEOPLE = ["red"] * 10, ["blue"] + ["red"] * 9
_SCORES = [4, 3, 1, 2], [3, 4, 1, 2]
_RANKINGS = list("abcd"), list("bacd")
_CLOSED, _LISTED = "closed form", "enumeration"
_KAIROUZ = "Kairouz et al. 2016"
CASES = (
    Case("ten reports of four words, a Counter", _KAIROUZ, reports_counter, _PEOPLE, lambda: math.log(7), _CLOSED),
    Case("ten reports of four words, by a helper", _KAIROUZ, reports_by_colour, _PEOPLE, lambda: math.log(7), _CLOSED),
    Case("ten reports of four words, weighted", _KAIROUZ, reports_of_each, _PEOPLE, lambda: math.log(7), _CLOSED),
    Case(
        "sampled rows in a list, capped",
        "Li et al. 2012",
        kept_rows,
        ([1] * 15, [1] * 14 + [0]),
        lambda: loss(_thinned(15), _thinned(14)),
        _LISTED,
    ),
    Case(
        "Poisson response by Knuth's sampler, capped",
        "Knuth 1969",
        poisson_response,
        (1, 2),
        lambda: loss(_poisson(2.5), _poisson(3.5)),
        _CLOSED,
    ),
    Case(
        "Poisson response by waiting times, capped",
        "Ross 1996",
        arrivals_in_an_hour,
        (1, 2),
        lambda: loss(_poisson(2.5), _poisson(3.5)),
        _CLOSED,
    ),
    Case(
        "permute-and-flip by pop",
        "McKenna and Sheldon 2020",
        permute_and_flip_pop,
        _SCORES,
        lambda: loss(*map(_permute_and_flip, _SCORES)),
        _LISTED,
    ),
    Case("ranking with random swaps", "Mallows 1957", adjacent_swaps, _RANKINGS, lambda: loss(*map(_swaps, _RANKINGS)), _LISTED),
    Case(
        "local hashing by a checksum of text",
        "Wang et al. 2017",
        hashed_word,
        ("apple", "pear"),
        lambda: loss(_hashed("apple"), _hashed("pear")),
        _LISTED,
    ),
)
