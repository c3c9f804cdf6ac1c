"""Mechanisms of notebooks and courses: seeds of the operating system, choices, local protocols, training, texts."""

from __future__ import annotations

import functools
import heapq
import itertools
import math
import operator
import random
import secrets
import zlib
from collections import defaultdict

import numpy as np
from scipy.special import expit, logsumexp

from benchmarks.coverage.case import Case
from benchmarks.coverage.reference import gaussian_delta, loss

# -- seeds of the operating system -------------------------------------------------------------------------------------


def seed_of_secrets(xs):
    rng = np.random.default_rng(secrets.randbits(128))
    return np.sum(xs) + rng.laplace(0, 2)


def children_of_a_seed(xs):
    one, other = (np.random.default_rng(c) for c in np.random.SeedSequence().spawn(2))
    return sum(xs) + one.laplace(0, 2), len(xs) + other.laplace(0, 2)


def bits_of_a_generator(xs):
    rng = np.random.Generator(np.random.PCG64())
    return min(max(np.mean(np.clip(xs, 0, 1)) + rng.laplace(0, 1 / len(xs)), 0), 1)


# -- choices and rankings ----------------------------------------------------------------------------------------------


def two_largest_items(scores):
    noisy = {k: v + np.random.gumbel(scale=2.0) for k, v in scores.items()}
    return [k for k, _ in heapq.nlargest(2, noisy.items(), key=operator.itemgetter(1))]


def ranking(scores):
    return [k for _, k in sorted(((v + np.random.gumbel(scale=2.0), k) for k, v in scores.items()), reverse=True)]


def _ranked(scores, k):
    law = {}
    for names in itertools.permutations(scores, k):
        p, left = 1.0, {name: math.exp(v / 2) for name, v in scores.items()}
        for name in names:
            p *= left[name] / math.fsum(left.values())
            del left[name]
        law[names] = p
    return law


def tournament(scores):
    if len(scores) == 1:
        return scores[0]
    half = len(scores) // 2
    (n1, s1), (n2, s2) = tournament(scores[:half]), tournament(scores[half:])
    return (n1, s1) if s1 + np.random.laplace(0, 2) >= s2 + np.random.laplace(0, 2) else (n2, s2)


def _beats(d):
    p = 0.5 * math.exp(-abs(d) / 2) * (1 + abs(d) / 4)
    return 1 - p if d > 0 else p


def _tournament(a, b, c, d):
    law = defaultdict(float)
    for (i, x, p), (j, y, q) in itertools.product(
        ((0, a, _beats(a - b)), (1, b, 1 - _beats(a - b))), ((2, c, _beats(c - d)), (3, d, 1 - _beats(c - d)))
    ):
        law[i] += p * q * _beats(x - y)
        law[j] += p * q * (1 - _beats(x - y))
    return law


def quantile_by_intervals(xs, low=0.0, high=10.0, eps=1.0):
    z = np.concatenate(([low], np.sort(np.clip(xs, low, high)), [high]))
    widths = np.diff(z)
    with np.errstate(divide="ignore"):
        logs = np.log(widths) - eps / 2 * np.abs(np.arange(len(widths)) - len(xs) / 2)
    i = np.random.choice(len(widths), p=np.exp(logs - logsumexp(logs)))
    return np.random.uniform(z[i], z[i + 1])


def _interval_density(xs, y):
    z = [0.0, *sorted(xs), 10.0]
    heights = [math.exp(-abs(i - len(xs) / 2) / 2) for i in range(len(z) - 1)]
    total = math.fsum(h * (b - a) for h, a, b in zip(heights, z, z[1:], strict=False))
    return heights[max(i for i in range(len(heights)) if z[i] <= y)] / total


def _quantile():
    one, other = [2.0, 3.0, 7.0, 8.0], [2.0, 5.0, 7.0, 8.0]
    cuts = sorted({0.0, 10.0, *one, *other})
    middles = [(a + b) / 2 for a, b in itertools.pairwise(cuts)]
    return max(abs(math.log(_interval_density(one, y) / _interval_density(other, y))) for y in middles)


# -- local protocols and training --------------------------------------------------------------------------------------


def hashed_answer(word, g=4):
    seed = random.getrandbits(3)
    h = zlib.crc32(f"{seed}:{word}".encode()) % g
    if random.random() < math.e / (math.e + g - 1):
        return seed, h
    return seed, random.choice([v for v in range(g) if v != h])


def parity_of_flipped_bits(bits):
    return functools.reduce(operator.xor, (b ^ (secrets.randbelow(10) == 0) for b in bits))


def bagged_total(rows):
    return sum(rows[random.randrange(len(rows))] for _ in range(2)) + np.random.laplace(0, 1)


def logistic_step(batch, w=(0.5, -0.25), clip=1.0, sigma=2.0):
    w = np.array(w)
    total = np.zeros_like(w)
    for x, y in batch:
        g = (expit(w @ np.array(x)) - y) * np.array(x)
        total += g * min(1.0, clip / (np.linalg.norm(g) + 1e-12))
    return w - 0.1 * (total + np.random.normal(0, sigma * clip, w.shape)) / len(batch)


def _logistic():
    p = 1 / (1 + math.exp(-1.25))  # the point (3, 1) changes its label: both gradients are longer than 1, and opposite
    assert min(p, 1 - p) * math.hypot(3, 1) < 1 < max(p, 1 - p) * math.hypot(3, 1)
    return gaussian_delta((1 + min(p, 1 - p) * math.hypot(3, 1)) / 2, 0.25)


class Momentum:
    def __init__(self, rate, decay, sigma):
        self.rate, self.decay, self.sigma, self.speed = rate, decay, sigma, 0.0

    def step(self, w, gradient):
        self.speed = self.decay * self.speed + gradient + random.gauss(0, self.sigma)
        return w - self.rate * self.speed


def three_steps_with_momentum(xs):
    optimiser, w = Momentum(0.1, 0.9, 2.0), 0.0
    for x in xs:
        w = optimiser.step(w, max(-1.0, min(1.0, x)))
    return w


# -- texts -------------------------------------------------------------------------------------------------------------


def table_of_a_page(counts):
    row = "<td>{name}</td><td>{value:,.1f}</td>"
    return "".join(row.format(name=k, value=v + np.random.laplace()) for k, v in counts.items())


def share_in_percent(bits):
    noisy = sum(bits) + random.choice([-1, 1]) * np.random.exponential(1)
    return f"{min(max(noisy / len(bits), 0), 1):.1%}"


def _case(name, source, mechanism, pair, truth, reference="closed form", delta_at=None):
    return Case(name, source, mechanism, pair, truth if callable(truth) else lambda: truth, reference, delta_at)


_DWORK, _ROTH = "Dwork et al. 2006", "Dwork and Roth 2014"
_SCORES = {"x": 3, "y": 1, "z": 0}, {"x": 2, "y": 2, "z": 1}

CASES = (
    _case("Laplace, a seed of secrets", "Garfinkel and Leclerc 2020", seed_of_secrets, ([1, 2], [1, 1]), 0.5),
    _case("Laplace, children of a seed sequence", "Garfinkel and Leclerc 2020", children_of_a_seed, ([1, 2], [1, 1]), 0.5),
    _case("clamped mean, bits of PCG64", _DWORK, bits_of_a_generator, ([0.5, 1.0, 0.0], [0.5, 1.0, 0.6]), 0.6),
    _case(
        "two largest items by heapq",
        "Durfee and Rogers 2019",
        two_largest_items,
        _SCORES,
        lambda: loss(*(_ranked(s, 2) for s in _SCORES)),
    ),
    _case("ranking of names", "Durfee and Rogers 2019", ranking, _SCORES, lambda: loss(*(_ranked(s, 3) for s in _SCORES))),
    _case(
        "noisy tournament, recursive",
        _ROTH,
        lambda scores: tournament(list(enumerate(scores)))[0],
        ([3, 1, 2, 2], [2, 2, 3, 1]),
        lambda: loss(_tournament(3, 1, 2, 2), _tournament(2, 2, 3, 1)),
    ),
    _case("quantile by intervals", "Smith 2011", quantile_by_intervals, ([2.0, 3.0, 7.0, 8.0], [2.0, 5.0, 7.0, 8.0]), _quantile),
    _case("local hashing with crc32", "Wang et al. 2017", hashed_answer, ("dog", "cat"), 1.0),
    _case(
        "parity of flipped bits, reduced",
        "Warner 1965",
        parity_of_flipped_bits,
        ([1, 0, 1], [1, 1, 1]),
        lambda: math.log((1 + 0.8**3) / (1 - 0.8**3)),
    ),
    _case(
        "total of a bootstrap sample, by indices",
        "Balle et al. 2018",
        bagged_total,
        ([0, 0, 0], [0, 1, 0]),
        lambda: 2 * math.log(2 / 3 + math.e / 3),
    ),
    _case(
        "step of a logistic regression, delta(0.25)",
        "Abadi et al. 2016",
        logistic_step,
        ([((1, 2), 1), ((3, 1), 0)], [((1, 2), 1), ((3, 1), 1)]),
        _logistic,
        delta_at=0.25,
    ),
    _case(
        "three steps with momentum, delta(0.1)",
        "Abadi et al. 2016",
        three_steps_with_momentum,
        ([0.5, 2, 0.1], [0.5, 0, 0.1]),
        lambda: gaussian_delta(1.9 / (2 * math.sqrt(2.71**2 + 1.9**2 + 1)), 0.1),
        delta_at=0.1,
    ),
    _case("a table of a page, with commas", _DWORK, table_of_a_page, ({"a": 1, "b": 2}, {"a": 1, "b": 1}), 1.0),
    _case("a share in percent", _DWORK, share_in_percent, ([1, 0, 1, 0], [1, 1, 1, 0]), 1.0),
)
