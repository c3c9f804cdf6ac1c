"""Mechanisms of a fifth list, in the idiom of libraries and teaching material: classes, text, shuffles, sums."""

from __future__ import annotations

import json
import math
import random
import secrets
from abc import ABC, abstractmethod
from collections import Counter
from fractions import Fraction

import numpy as np
import scipy.stats
from mpmath import mp

from benchmarks.coverage.case import Case
from benchmarks.coverage.reference import laplace_cdf, laplace_pdf, loss, of_lists, phi

# -- classes -----------------------------------------------------------------------------------------------------------


class DPMechanism(ABC):
    def __init__(self, *, epsilon, sensitivity=1, random_state=None):
        self.epsilon, self.sensitivity = self._check(epsilon), sensitivity
        self._rng = secrets.SystemRandom() if random_state is None else random.Random(random_state)

    @classmethod
    def _check(cls, epsilon):
        if epsilon <= 0:
            raise ValueError("Epsilon must be positive")
        return float(epsilon)

    def _laplace_sampler(self):
        u = self._rng.random() - 0.5
        return -math.copysign(1, u) * math.log(1 - 2 * abs(u))

    @abstractmethod
    def randomise(self, value): ...


class LaplaceBoundedDomain(DPMechanism):
    def __init__(self, *, lower, upper, **options):
        super().__init__(**options)
        self.lower, self.upper = lower, upper

    def randomise(self, value):
        scale = self.sensitivity / self.epsilon
        while True:
            noisy = value + scale * self._laplace_sampler()
            if self.lower <= noisy <= self.upper:
                return noisy


def bounded_domain(value):
    return LaplaceBoundedDomain(epsilon=1.0, lower=0, upper=1).randomise(value)


class GeometricSampler:
    def __init__(self, p):
        self.p, self.rng = p, random.SystemRandom()

    def draw(self):
        if self.rng.random() < self.p:
            return 0
        return 1 + self.draw()


def recursive_geometric(n):
    sampler = GeometricSampler(0.4)
    return n + sampler.draw() - sampler.draw()


# -- text --------------------------------------------------------------------------------------------------------------


def sentence(n):
    return f"approximately {round(n + np.random.laplace(0, 2.0))} people"


def two_digits(n):
    return f"{n + np.random.laplace(0, 2.0):.2f} Euro"


def json_counts(counts):
    return json.dumps({k: round(v + np.random.laplace(0, 1.0)) for k, v in counts.items()})


def csv_line(counts):
    return ",".join(f"{name}:{c + np.random.laplace(0, 2.0):.1f}" for name, c in counts.items())


def talkative(n):
    noisy = n + np.random.laplace(0, 2.0)
    print(f"noisy count: {noisy:.2f}")
    return noisy


# -- shuffles, sums, names ---------------------------------------------------------------------------------------------


def shuffled_counter(bits):
    reports = [b if random.random() < 0.5 else random.randint(0, 1) for b in bits]
    random.shuffle(reports)
    return Counter(reports)


def twelve_uniforms(x):
    z = sum(random.random() for _ in range(12)) - 6
    return "above" if x + z >= 0 else "below"


PHI = scipy.stats.norm.cdf


def p_value(x):
    return PHI(x + random.gauss(0, 1)) > 0.7


# -- out of reach ------------------------------------------------------------------------------------------------------


def synthetic_rows(column):
    counts = Counter(column)
    noisy = {k: max(counts[k] + np.random.laplace(scale=1.0), 0.5) for k in ("y", "n")}
    total = sum(noisy.values())
    return list(np.random.choice(["y", "n"], size=2, p=[v / total for v in noisy.values()]))


def polar_method(x):
    while True:
        u, v = 2 * random.random() - 1, 2 * random.random() - 1
        s = u * u + v * v
        if 0 < s < 1:
            break
    return x + u * math.sqrt(-2 * math.log(s) / s) > 1


def poisson_by_products(x):
    bound, k, p = math.exp(-2.0), 0, 1.0
    while p > bound:
        k += 1
        p *= random.random()
    return min(x + k - 1, 4)


# -- references --------------------------------------------------------------------------------------------------------


def _inside(x):
    return float(laplace_cdf(1 - x) - laplace_cdf(-x))


def _answers(ones, zeros):
    law = {}
    for j in range(ones + 1):
        for k in range(zeros + 1):
            chance = math.comb(ones, j) * 0.75**j * 0.25 ** (ones - j) * math.comb(zeros, k) * 0.25**k * 0.75 ** (zeros - k)
            law[j + k] = law.get(j + k, 0.0) + chance
    return law


def _twelve(x):
    """P(the sum of twelve uniform numbers < 6 - x), in fractions."""
    z = 6 - Fraction(x)
    below = sum((-1) ** k * math.comb(12, k) * (z - k) ** 12 for k in range(math.floor(z) + 1)) / math.factorial(12)
    return [float(below), float(1 - below)]


def _synthetic(counts):
    """The probabilities of two, one and no answers "y": the noisy counts are integrated out."""

    def held(n):
        """(value, weight) of max(n + Laplace, 1 / 2): an atom, and nodes of a Gauss rule."""
        nodes, weights = np.polynomial.legendre.leggauss(60)
        found = [(0.5, float(laplace_cdf(0.5 - n)))]
        cuts = [0.5, *(n + k for k in (0, 2, 5, 10, 20, 40))]
        for low, high in zip(cuts, cuts[1:], strict=False):
            for z, w in zip(nodes, weights, strict=True):
                y = low + (high - low) * (z + 1) / 2
                found.append((y, w * (high - low) / 2 * float(laplace_pdf(y - n))))
        return found

    pairs = [(a / (a + b), p * q) for a, p in held(counts[0]) for b, q in held(counts[1])]
    return [math.fsum(w * y**k * (1 - y) ** (2 - k) for y, w in pairs) for k in range(3)]


CASES = (
    Case(
        "bounded-domain Laplace, a library's class",
        "Holohan et al. 2020",
        bounded_domain,
        (0.0, 0.4),
        lambda: 0.4 + math.log(_inside(0.4) / _inside(0.0)),
        "closed form",
    ),
    Case(
        "geometric noise, a recursive method",
        "Ghosh et al. 2009",
        recursive_geometric,
        (0, 1),
        lambda: -math.log(0.6),
        "closed form",
    ),
    Case("noisy count in a sentence", "Dwork et al. 2006", sentence, (41, 42), lambda: 0.5, "closed form"),
    Case("noisy amount with two digits", "Dwork et al. 2006", two_digits, (41.0, 42.0), lambda: 0.5, "closed form"),
    Case(
        "noisy counts as JSON", "Dwork et al. 2006", json_counts, ({"a": 2, "b": 5}, {"a": 3, "b": 5}), lambda: 1.0, "closed form"
    ),
    Case(
        "noisy counts in a line of text",
        "Dwork et al. 2006",
        csv_line,
        ({"a": 2, "b": 5}, {"a": 3, "b": 4}),
        lambda: 1.0,
        "closed form",
    ),
    Case("noisy count, printed on the way", "Dwork et al. 2006", talkative, (1.0, 2.0), lambda: 0.5, "closed form"),
    Case(
        "shuffled answers in a Counter",
        "Cheu et al. 2019",
        shuffled_counter,
        ([1, 1, 0, 0, 1], [1, 1, 0, 0, 0]),
        lambda: loss(_answers(3, 2), _answers(2, 3)),
        "enumeration",
    ),
    Case(
        "twelve uniform numbers as Gaussian noise",
        "Dwork et al. 2006",
        twelve_uniforms,
        (0.5, -0.5),
        lambda: of_lists(_twelve(0.5), _twelve(-0.5)),
        "closed form",
    ),
    Case(
        "p-value, the distribution function by another name",
        "Dwork and Roth 2014",
        p_value,
        (0.0, 1.0),
        lambda: max(
            abs(math.log(phi(-z) / phi(1 - z))) if side else abs(math.log(phi(z) / phi(z - 1)))
            for z in (float(mp.sqrt(2) * mp.erfinv(mp.mpf("0.4"))),)
            for side in (0, 1)
        ),
        "closed form",
    ),
    Case(
        "synthetic rows from a noisy histogram",
        "Near and Abuah 2021",
        synthetic_rows,
        (["y", "y", "n"], ["y", "y", "n", "n"]),
        lambda: of_lists(_synthetic((2, 1)), _synthetic((2, 2))),
        "integral",
    ),
    Case(
        "Gaussian noise by the polar method, above a bound",
        "Dwork et al. 2006",
        polar_method,
        (0.0, 1.0),
        lambda: of_lists([phi(1.0), 1 - phi(1.0)], [0.5, 0.5]),
        "closed form",
    ),
    Case("Poisson noise by products", "Knuth 1969", poisson_by_products, (1, 2), lambda: math.inf, "closed form"),
)
