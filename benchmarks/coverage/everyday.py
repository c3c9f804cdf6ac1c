"""Mechanisms of a third list, written before this folder was read: remainders, samplers, releases that lean on earlier ones."""

from __future__ import annotations

import bisect
import itertools
import math
import random
import secrets
import statistics
from collections import Counter, deque

import numpy as np

from benchmarks.coverage.case import Case
from benchmarks.coverage.everyday_truth import (
    above_mean,
    angle,
    bearing,
    joint,
    log_middle,
    one_uniform,
    rappor_loss,
    residues,
    top_word,
    tries_again,
    two_geometrics,
    two_gradients,
)
from benchmarks.coverage.reference import largest, loss, of_lists, softmax

# -- remainders --------------------------------------------------------------------------------------------------------


def angle_with_laplace(x, rng: np.random.Generator, b=0.5):
    return (x + rng.laplace(0, b)) % 1.0


def bearing_with_gaussian(x, rng: np.random.Generator, sigma=60.0):
    return (x + rng.normal(0, sigma)) % 360


def masked_shares(x, rng: np.random.Generator, m=32, eps=0.5):
    a = math.exp(-eps)
    mask = rng.integers(0, m)
    first = (x[0] + int(rng.geometric(1 - a)) - int(rng.geometric(1 - a)) + mask) % m
    second = (x[1] + int(rng.geometric(1 - a)) - int(rng.geometric(1 - a)) - mask) % m
    return (first + second) % m


def coins_modulo(bits, m=16):
    source = random.SystemRandom()
    total = 0
    for b in bits:
        total = (total + b + sum(source.randint(0, 1) for _ in range(5))) % m
    return total


def first_servers_shares(bits, p=97):
    return [(b - secrets.randbelow(p)) % p for b in bits]


def parity_of_a_noisy_count(x, rng: np.random.Generator):
    return "even" if (x + rng.poisson(2)) % 2 == 0 else "odd"


def digits(x, rng: np.random.Generator, eps=0.6):
    a = math.exp(-eps)
    return divmod(x + int(rng.geometric(1 - a)) - int(rng.geometric(1 - a)), 10)


# -- samplers ----------------------------------------------------------------------------------------------------------


def laplace_of_four_gaussians(x, eps=0.5):
    a, b, c, d = (random.gauss(0, 1) for _ in range(4))
    return x + (a * b + c * d) / eps


def laplace_of_four_uniforms(x, eps=0.5):
    u = [1 - random.random() for _ in range(4)]
    return x + (math.log(u[0]) * math.cos(math.pi * u[1]) + math.log(u[2]) * math.cos(math.pi * u[3])) / eps


def laplace_as_a_scale_mixture(x, eps=1.0):
    return x + math.sqrt(2 * random.expovariate(1)) * random.gauss(0, 1) / eps


def geometric_of_one_uniform(value, eps=1.0):
    """As in IBM's library."""
    u = (random.random() - 0.5) * (1 + np.exp(-eps))
    sign = -1 if u < 0 else 1
    return int(np.round(value + sign * np.floor(np.log(sign * u) / -eps)))


def gaussian_by_polar_rejection(x, sigma=1.5):
    while True:
        u, v = random.uniform(-1, 1), random.uniform(-1, 1)
        s = u * u + v * v
        if 0 < s < 1:
            return x + sigma * u * math.sqrt(-2 * math.log(s) / s)


def planar_laplace(place, rng: np.random.Generator, eps=1.0):
    turn, radius = rng.uniform(0, 2 * math.pi), rng.gamma(2, 1 / eps)
    return place[0] + radius * math.cos(turn), place[1] + radius * math.sin(turn)


def table_cut_off(n, eps=1.0):
    a = math.exp(-eps)
    cumulative = list(itertools.accumulate((1 - a) / (1 + a) * a ** abs(k) for k in range(-20, 21)))
    return n + bisect.bisect(cumulative, random.random() * cumulative[-1]) - 20


def seed_drawn_among_four(x):
    return x + np.random.default_rng(random.randrange(4)).laplace(0, 1)


# -- conversions and text ----------------------------------------------------------------------------------------------


def numpys_numbers(x, rng: np.random.Generator, eps=0.5):
    return np.float64(x + rng.laplace(0, 1 / eps)), np.int64(np.round(x + rng.laplace(0, 1 / eps)))


def _rappor(value, k, f=0.5, p=0.5, q=0.75):
    permanent = []
    for i in range(k):
        u = random.random()
        if u < f / 2:
            permanent.append(1)
        elif u < f:
            permanent.append(0)
        else:
            permanent.append(1 if i == value else 0)
    return "".join(map(str, [int(random.random() < (q if b else p)) for b in permanent]))


def rappor_of_four_bits(value):
    return _rappor(value, 4)


def rappor_of_eight_bits(value):
    return _rappor(value, 8)


# -- releases that lean on earlier ones ---------------------------------------------------------------------------------


def two_gradient_steps(data, rng: np.random.Generator, b=2.0):
    w, out = 0.0, []
    for _ in range(2):
        w = w - 0.5 * (sum(np.clip(w - x, -1, 1) for x in data) + rng.laplace(0, b))
        out.append(w)
    return out


def count_above_the_released_mean(data, rng: np.random.Generator):
    middle = statistics.mean(data) + rng.laplace(0, 1)
    return middle, sum(1 if x > middle else 0 for x in data) + rng.laplace(0, 1)


def top_word_with_its_count(words, rng: np.random.Generator, eps=1.0):
    counts = Counter(words)
    noisy = {w: counts[w] + rng.laplace(0, 2 / eps) for w in ("a", "b", "c")}
    best = max(noisy, key=noisy.get)
    return best, counts[best] + rng.laplace(0, 2 / eps)


def three_tries(x, rng: np.random.Generator, eps=0.5):
    y, tries = x + rng.laplace(0, 1 / eps), 0
    while y < 0 and tries < 3:
        y, tries = x + rng.laplace(0, 1 / eps), tries + 1
    return max(y, 0)


# -- counts and order --------------------------------------------------------------------------------------------------


def rounded_histogram(counts, eps=1.0):
    return [max(0, round(c + random.expovariate(eps) - random.expovariate(eps))) for c in counts]


def histogram_cut_at_zero(counts, rng: np.random.Generator, eps=1.0):
    out, p = [], 1 - math.exp(-eps)
    for c in counts:
        v = c + int(rng.geometric(p)) - int(rng.geometric(p))
        if v < 0:
            v = 0
        out.append(v)
    return out


def quantile_of_noisy_values(data, rng: np.random.Generator, b=1.0):
    return np.quantile(np.array(data) + rng.laplace(0, b, size=len(data)), 0.5)


def sliding_sums(stream, rng: np.random.Generator, eps=0.5):
    window, out = deque(maxlen=2), []
    for x in stream:
        window.append(x)
        out.append(sum(window) + rng.laplace(0, 1 / eps))
    return out


def joint_quantiles(data, rng: np.random.Generator, eps=1.0):
    data = np.array(data)
    candidates = list(itertools.combinations_with_replacement(range(5), 2))
    n, scores = len(data), []
    for a, b in candidates:
        counts = np.array([np.sum(data < a), np.sum((data >= a) & (data < b)), np.sum(data >= b)])
        scores.append(-np.abs(counts - n / 3).sum())
    w = np.exp(eps / 4 * (np.array(scores) - max(scores)))
    return candidates[rng.choice(len(candidates), p=w / w.sum())]


def ordinal_response_by_rejection(x, k=5, eps=1.0):
    while True:
        y = random.randrange(k)
        if random.random() <= math.exp(-eps * abs(x - y) / 2):
            return y


JOINT = [0, 1, 2, 3, 4, 4], [0, 1, 2, 3, 4, 0]
LEANING = [0.0, 1.0, 5.0], [0.0, 1.0, 2.0]

CASES = (
    Case("Laplace noise on a circle", "Mardia and Jupp 1999", angle_with_laplace, (0.3, 0.9), angle, "closed form"),
    Case("Gaussian noise on a circle", "Mardia and Jupp 1999", bearing_with_gaussian, (0.0, 30.0), bearing, "closed form"),
    Case(
        "masked shares with geometric noise",
        "Bonawitz et al. 2017",
        masked_shares,
        ([3, 1], [3, 2]),
        lambda: of_lists(residues(4, 32, two_geometrics), residues(5, 32, two_geometrics)),
        "enumeration",
    ),
    Case(
        "coins of many users modulo m",
        "Dwork et al. 2006",
        coins_modulo,
        ([1, 0, 1], [1, 1, 1]),
        lambda: of_lists(*(residues(x, 16, lambda k: math.comb(15, k) if k >= 0 else 0) for x in (2, 3))),
        "enumeration",
    ),
    Case(
        "additive shares, one server's view",
        "Ben-Or et al. 1988",
        first_servers_shares,
        ([1, 0, 1], [1, 1, 1]),
        lambda: 0.0,
        "closed form",
    ),
    Case(
        "parity of a noisy count",
        "Kairouz et al. 2021",
        parity_of_a_noisy_count,
        (0, 1),
        lambda: math.log(1 / math.tanh(2)),
        "closed form",
    ),
    Case("tens and units of a noisy count", "Ghosh et al. 2009", digits, (7, 8), lambda: 0.6, "closed form"),
    Case("Laplace noise of four Gaussians", "Kotz et al. 2001", laplace_of_four_gaussians, (0, 1), lambda: 0.5, "closed form"),
    Case(
        "Laplace noise of four uniforms", "Holohan and Braghin 2021", laplace_of_four_uniforms, (0, 1), lambda: 0.5, "closed form"
    ),
    Case(
        "Laplace noise as a scale mixture",
        "Andrews and Mallows 1974",
        laplace_as_a_scale_mixture,
        (0, 1),
        lambda: 1.0,
        "closed form",
    ),
    Case(
        "geometric noise of one uniform",
        "Holohan et al. 2019",
        geometric_of_one_uniform,
        (5, 6),
        lambda: loss(*(one_uniform(x) for x in (5, 6))),
        "enumeration",
    ),
    Case(
        "Gaussian noise by polar rejection",
        "Marsaglia and Bray 1964",
        gaussian_by_polar_rejection,
        (1.0, 1.5),
        lambda: math.inf,
        "closed form",
    ),
    Case("planar Laplace, polar", "Andres et al. 2013", planar_laplace, ((0.0, 0.0), (1.0, 0.0)), lambda: 1.0, "closed form"),
    Case(
        "geometric noise by a table that ends", "Balcer and Vadhan 2018", table_cut_off, (7, 8), lambda: math.inf, "closed form"
    ),
    Case("a seed drawn among four", "Garfinkel and Leclerc 2020", seed_drawn_among_four, (3, 4), lambda: math.inf, "closed form"),
    Case("np.float64 and np.int64 of noisy values", "Dwork et al. 2006", numpys_numbers, (0, 1), lambda: 1.0, "closed form"),
    Case("RAPPOR as text, four bits", "Erlingsson et al. 2014", rappor_of_four_bits, (0, 1), rappor_loss, "closed form"),
    Case("RAPPOR as text, eight bits", "Erlingsson et al. 2014", rappor_of_eight_bits, (2, 5), rappor_loss, "closed form"),
    Case(
        "two clipped gradient steps",
        "Song et al. 2013",
        two_gradient_steps,
        ([1.0, -2.0], [1.0, 0.5]),
        two_gradients,
        "closed form",
    ),
    Case(
        "count above the released mean", "Dwork and Roth 2014", count_above_the_released_mean, LEANING, above_mean, "closed form"
    ),
    Case(
        "the top word with its count",
        "Dwork and Roth 2014",
        top_word_with_its_count,
        (["a", "b", "a"], ["a", "b", "b"]),
        top_word,
        "integral",
    ),
    Case("noise drawn again where it is negative", "Dwork and Roth 2014", three_tries, (0, 1), tries_again, "closed form"),
    Case(
        "rounded counts, none negative",
        "Dwork et al. 2006",
        rounded_histogram,
        ([3, 1, 5], [2, 1, 5]),
        lambda: 1.0,
        "closed form",
    ),
    Case(
        "geometric counts, none negative",
        "Ghosh et al. 2009",
        histogram_cut_at_zero,
        ([3, 1], [2, 1]),
        lambda: 1.0,
        "closed form",
    ),
    Case(
        "np.quantile of noisy values",
        "Dwork and Roth 2014",
        quantile_of_noisy_values,
        ([1.0, 2.0, 4.0], [2.0, 2.0, 4.0]),
        lambda: largest(lambda y: abs(log_middle(y, (1, 2, 4)) - log_middle(y, (2, 2, 4))), -40.0, 0.9),
        "closed form",
    ),
    Case(
        "sums over a sliding window", "Dwork et al. 2010", sliding_sums, ([1, 2, 3, 4], [1, 2, 3, 5]), lambda: 0.5, "closed form"
    ),
    Case(
        "two quantiles together",
        "Gillenwater et al. 2021",
        joint_quantiles,
        JOINT,
        lambda: of_lists(*map(joint, JOINT)),
        "enumeration",
    ),
    Case(
        "ordinal response by rejection",
        "Wang et al. 2016",
        ordinal_response_by_rejection,
        (2, 3),
        lambda: of_lists(*(softmax([-abs(x - y) / 2 for y in range(5)]) for x in (2, 3))),
        "closed form",
    ),
)
