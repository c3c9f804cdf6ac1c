"""Further mechanisms, and known ones in other idioms: bits, strings, helper functions, dataclasses, loops that count."""

from __future__ import annotations

import math
import random
import secrets
from collections import Counter, namedtuple
from dataclasses import dataclass, field

import numpy as np

from benchmarks.coverage.case import Case
from benchmarks.coverage.reference import loss, softmax

E = math.e


# -- bits and texts ----------------------------------------------------------------------------------------------------


def hadamard_bit(x):
    j = random.randrange(8)
    bit = (-1) ** bin(j & x).count("1")
    if random.random() >= E / (1 + E):
        bit = -bit
    return j, bit


def flipped_mask(v, rng: np.random.Generator):
    mask = sum(int(rng.random() < 0.25) << i for i in range(3))
    return v ^ mask


def flipped_array(bits, rng: np.random.Generator):
    return np.array(bits) ^ (rng.random(len(bits)) < 0.25)


@dataclass
class Channel:
    keep: float
    rng: random.Random

    def send(self, bit):
        return bit if self.rng.random() < self.keep else 1 - bit


def dataclass_response(bits, rng: random.Random):
    channel = Channel(0.9, rng)
    return "".join(str(channel.send(b)) for b in bits)


def harmony_bit(x):
    pr = (x * (E - 1) + E + 1) / (2 * (E + 1))
    return (E + 1) / (E - 1) if random.random() < pr else -(E + 1) / (E - 1)


def _harmony(x):
    p = (x * (E - 1) + E + 1) / (2 * (E + 1))
    return {1: p, 0: 1 - p}


def polling(rows):
    answers = []
    for r in rows:
        if random.choice(["heads", "tails"]) == "heads":
            answers.append("yes" if r else "no")
        else:
            answers.append("yes" if random.choice(["heads", "tails"]) == "heads" else "no")
    return answers


# -- numbers -----------------------------------------------------------------------------------------------------------


def piecewise_one_uniform(t, rng: np.random.Generator):
    eps = 1.0
    z = math.exp(eps / 2)
    c = (z + 1) / (z - 1)
    low = (c + 1) / 2 * t - (c - 1) / 2
    high = low + c - 1
    if rng.uniform() < z / (z + 1):
        return rng.uniform(low, high)
    left, right = low + c, c - high
    x = rng.uniform(0, left + right)
    return -c + x if x < left else high + (x - left)


def square_wave_one_uniform(v):
    b = (E - E + 1) / (2 * E * (E - 2))
    p = E / (2 * b * E + 1)
    if random.random() < 2 * b * p:
        return random.uniform(v - b, v + b)
    y = random.uniform(0, 1)  # what is left of [-b, 1 + b] has length 1
    return y - b if y < v else y + b


def staircase_formula(x):
    eps = 1.0
    gamma = 1 / (1 + math.exp(eps / 2))
    s = 1 if random.random() < 0.5 else -1
    g = np.random.geometric(1 - math.exp(-eps)) - 1
    u = random.random()
    b = 0 if random.random() < gamma / (gamma + (1 - gamma) * math.exp(-eps)) else 1
    return x + s * ((1 - b) * (g + gamma * u) + b * (g + gamma + (1 - gamma) * u))


def laplace_copysign(x):
    u = random.random() - 0.5
    return x - 2 * math.copysign(1.0, u) * math.log(1 - 2 * abs(u))


def laplace_log_ratio(x, rng: np.random.Generator):
    u, v = rng.random(), rng.random()
    return x + 2 * np.log(u / v)


def laplace_secrets(x):
    r = secrets.SystemRandom()
    return x + r.expovariate(0.5) * r.choice((-1, 1))


def tosses(p):
    k = 0
    while random.random() > p:
        k += 1
    return k


def tosses_up_to(p, rng):
    k = 0
    while True:
        k += 1
        if rng.random() < p:
            return k


def geometric_helper(n):
    return n + tosses(1 - math.exp(-0.7)) - tosses(1 - math.exp(-0.7))


def geometric_from_one(n, rng: np.random.Generator):
    p = 1 - math.exp(-0.7)
    return n + tosses_up_to(p, rng) - tosses_up_to(p, rng)


def signed_tosses(n):
    while True:
        z, sign = tosses(1 - math.exp(-0.7)), random.choice([-1, 1])
        if not (z == 0 and sign == -1):
            return n + sign * z


def poisson_noise(x, rng: np.random.Generator):
    return x + rng.poisson(4)


def skellam_noise(x, rng: np.random.Generator):
    return x + rng.poisson(4) - rng.poisson(4)


def triangular_noise(x):
    return x + random.triangular(-5, 5, 0)


def correlated_gaussian(x, rng: np.random.Generator):
    return bool(rng.multivariate_normal([x, -x], np.eye(2))[0] > 0.5)


def box_muller(x):
    u1, u2 = random.random(), random.random()
    return x + 3 * math.sqrt(-2 * math.log(u1)) * math.cos(2 * math.pi * u2)


# -- selection and thresholds ------------------------------------------------------------------------------------------


def exponential_mode(votes):
    candidates = ["a", "b", "c"]
    counts = Counter(votes)
    return random.choices(candidates, weights=[math.exp(counts[c]) for c in candidates], k=1)[0]


def noisy_mode_named(data, rng: np.random.Generator):
    Item = namedtuple("Item", "name score")
    items = [Item(k, v + rng.laplace(0, 1)) for k, v in sorted(Counter(data).items())]
    return max(items, key=lambda it: it.score).name


def _first_larger(d):
    t = 0.5 * math.exp(-abs(d)) * (1 + abs(d) / 2)
    p = 1 - t if d > 0 else t
    return {0: p, 1: 1 - p}


def heavy_hitters(h, rng: np.random.Generator):
    noisy = np.asarray(h) + rng.laplace(0, 2, 3)
    return {i for i, v in enumerate(noisy) if v > 2}


def integer_histogram(h, rng: np.random.Generator):
    noisy = np.array(h) + rng.laplace(0, 2, len(h))
    return np.maximum(np.rint(noisy), 0).astype(int).tolist()


def threshold_list(data, rng: np.random.Generator):
    released = []
    for k in "abc":
        v = data.count(k) + rng.laplace(scale=2)
        if v >= 4:
            released.append((k, round(v)))
    return released


def stopping_state(queries, rng: np.random.Generator):
    @dataclass
    class Sparse:
        threshold: float
        remaining: int = 1
        log: list = field(default_factory=list)

        def ask(self, q):
            if self.remaining:
                above = q + rng.laplace(scale=1) >= self.threshold
                if above:
                    self.remaining -= 1
                self.log.append(bool(above))

    s = Sparse(1.0)
    for q in queries:
        s.ask(q)
    return tuple(s.log)


def _stopping(queries):
    law, left = {}, 1.0
    for i, q in enumerate(queries):
        d = 1.0 - q
        above = 0.5 * math.exp(-d) if d > 0 else 1 - 0.5 * math.exp(d)
        law[i] = left * above
        left *= 1 - above
    return {**law, None: left}


# -- matrices and training ---------------------------------------------------------------------------------------------


def haar_solve(x, rng: np.random.Generator):
    h = np.array([[1, 1, 1, 1], [1, 1, -1, -1], [1, -1, 0, 0], [0, 0, 1, -1]])
    return np.linalg.solve(h, h @ np.array(x) + rng.laplace(0, 3, 4))


def tree_levels(xs):
    level, tree = list(xs), []
    while level:
        tree.append([v + np.random.laplace(0, 3) for v in level])
        if len(level) == 1:
            break
        level = [level[i] + level[i + 1] for i in range(0, len(level), 2)]
    return tree


def batch_by_permutation(rows, rng: np.random.Generator):
    rows = np.array(rows)
    return rows[rng.permutation(len(rows))[:2]].sum() + rng.laplace()


def two_moments(x, rng: np.random.Generator):
    m1 = np.sum(x) + rng.laplace(0, 2)
    m2 = np.sum(np.square(x)) + rng.laplace(0, 2)
    return m1 / len(x), m2 / len(x) - (m1 / len(x)) ** 2


def _constant(x):
    return lambda: x


def _closed(name, source, mechanism, pair, truth):
    return Case(name, source, mechanism, pair, truth if callable(truth) else _constant(truth), "closed form")


CASES = (
    _closed("Hadamard response, one bit of a random row", "Acharya et al. 2019", hadamard_bit, (1, 2), 1.0),
    _closed("randomised response on the bits of a number", "Warner 1965", flipped_mask, (5, 6), 2 * math.log(3)),
    _closed("randomised response, exclusive or of arrays", "Warner 1965", flipped_array, ([0, 1], [1, 1]), math.log(3)),
    _closed("randomised response, a dataclass", "Warner 1965", dataclass_response, ([0, 1, 1, 0], [0, 1, 0, 0]), math.log(9)),
    _closed("Harmony, one bit", "Nguyên et al. 2016", harmony_bit, (0.3, -0.4), lambda: loss(_harmony(0.3), _harmony(-0.4))),
    _closed("polling with two coins, strings", "Warner 1965", polling, ([1, 0, 1, 1], [1, 0, 1, 0]), math.log(3)),
    _closed("piecewise mechanism, one uniform outside", "Wang et al. 2019", piecewise_one_uniform, (0.68, -0.25), 1.0),
    _closed("square wave, one uniform outside", "Li et al. 2020", square_wave_one_uniform, (0.2, 0.7), 1.0),
    _closed("staircase, by its formula", "Geng and Viswanath 2014", staircase_formula, (0.0, 1.0), 1.0),
    _closed("Laplace, inverse cdf with copysign", "Dwork et al. 2006", laplace_copysign, (10, 11), 0.5),
    _closed("Laplace as a log ratio of uniforms", "Dwork et al. 2006", laplace_log_ratio, (10, 11), 0.5),
    _closed("Laplace from the system's generator", "Dwork et al. 2006", laplace_secrets, (3, 4), 0.5),
    _closed("discrete Laplace, a helper that tosses coins", "Ghosh et al. 2012", geometric_helper, (4, 5), 0.7),
    _closed("discrete Laplace, tosses up to a success", "Ghosh et al. 2012", geometric_from_one, (4, 5), 0.7),
    _closed("discrete Laplace, signed, minus zero drawn again", "Canonne et al. 2020", signed_tosses, (4, 5), 0.7),
    _closed("Poisson noise", "Agarwal et al. 2021", poisson_noise, (3, 4), math.inf),
    _closed("Skellam noise", "Agarwal et al. 2021", skellam_noise, (3, 4), math.inf),
    _closed("triangular noise", "Dwork et al. 2006", triangular_noise, (3, 4), math.inf),
    _closed(
        "Gaussian vector, one coordinate above a threshold",
        "Dwork and Roth 2014",
        correlated_gaussian,
        (0, 1),
        lambda: abs(math.log(math.erfc(0.5 / math.sqrt(2)) / math.erfc(-0.5 / math.sqrt(2)))),
    ),
    _closed("Gaussian by Box-Muller, released", "Box and Muller 1958", box_muller, (3, 4), math.inf),
    _closed(
        "mode by the exponential mechanism, a Counter",
        "McSherry and Talwar 2007",
        exponential_mode,
        (["a", "b", "b"], ["a", "b", "a"]),
        lambda: loss(dict(enumerate(softmax([1, 2, 0]))), dict(enumerate(softmax([2, 1, 0])))),
    ),
    _closed(
        "noisy mode, named tuples",
        "Dwork and Roth 2014",
        noisy_mode_named,
        (["x", "y", "x"], ["x", "y", "y"]),
        lambda: loss(_first_larger(1), _first_larger(-1)),
    ),
    _closed("heavy hitters as a set", "Dwork and Roth 2014", heavy_hitters, ([3, 0, 1], [3, 1, 1]), 0.5),
    _closed("noisy histogram of whole numbers, vectorised", "Dwork et al. 2006", integer_histogram, ([3, 0, 1], [3, 1, 1]), 0.5),
    _closed("thresholded counts, a growing list", "Korolova et al. 2009", threshold_list, (list("aaba"), list("aba")), 0.5),
    _closed(
        "noisy queries against a public threshold, an object with state",
        "Lyu et al. 2017",
        stopping_state,
        ([0.0, 2.0, 1.0], [1.0, 1.0, 2.0]),
        lambda: loss(_stopping([0.0, 2.0, 1.0]), _stopping([1.0, 1.0, 2.0])),
    ),
    _closed("wavelets by a linear system", "Xiao et al. 2010", haar_solve, ([1.0, 0.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0]), 1.0),
    _closed("noisy tree, level by level", "Hay et al. 2010", tree_levels, ([1, 0, 2, 1], [1, 1, 2, 1]), 1.0),
    _closed(
        "sum of a batch by a permutation",
        "Balle et al. 2018",
        batch_by_permutation,
        ([0, 0, 0, 0], [0, 1, 0, 0]),
        math.log(0.5 + 0.5 * E),
    ),
    _closed("mean and variance from two noisy moments", "Dwork and Roth 2014", two_moments, ([1, 0, 1], [1, 0, 0]), 1.0),
)
