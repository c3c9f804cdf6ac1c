"""Noise by quantile functions, answers as p-values, and classes as libraries have them."""

from __future__ import annotations

import math
import random
import secrets
from statistics import NormalDist

import numpy as np
from scipy.stats import gennorm, laplace, norm, truncnorm

from benchmarks.coverage.case import Case
from benchmarks.coverage.reference import gaussian_delta


def laplace_quantile(x, rng: np.random.Generator, epsilon=0.5):
    return laplace.ppf(rng.random(), loc=x, scale=1 / epsilon)


def gaussian_quantile(x, sigma=1.0):
    return x + NormalDist(0, sigma).inv_cdf(random.random())


def p_value(successes, rng: np.random.Generator, n=20, epsilon=1.0):
    z = (successes + rng.laplace(0, 1 / epsilon) - n / 2) / math.sqrt(n / 4)
    return 2 * norm.sf(abs(z))


def rejected(successes, rng: np.random.Generator, n=20, epsilon=1.0):
    z = (successes + rng.laplace(0, 1 / epsilon) - n / 2) / math.sqrt(n / 4)
    return bool(2 * norm.sf(abs(z)) < 0.05)


def truncated_gaussian(x, low=0.0, high=1.0, sigma=0.5):
    return truncnorm.rvs((low - x) / sigma, (high - x) / sigma, loc=x, scale=sigma)


def generalised_gaussian(x, beta=0.5, scale=4.0):
    return x + gennorm.rvs(beta, scale=scale)


class Mechanism:
    """The base class of a library."""

    def __init__(self, *, epsilon, sensitivity=1.0, random_state=None):
        self.epsilon, self.sensitivity = float(epsilon), float(sensitivity)
        self._rng = secrets.SystemRandom() if random_state is None else np.random.default_rng(random_state)

    @property
    def scale(self):
        return self.sensitivity / self.epsilon


class FoldedLaplace(Mechanism):
    """Laplace noise that is folded back into the range of the data."""

    def __init__(self, *, lower, upper, **keywords):
        super().__init__(**keywords)
        self.lower, self.upper = lower, upper

    def _fold(self, value):
        if value < self.lower:
            return self._fold(2 * self.lower - value)
        if value > self.upper:
            return self._fold(2 * self.upper - value)
        return value

    def randomise(self, value):
        u = self._rng.random() - 0.5
        return self._fold(value - self.scale * math.copysign(1, u) * math.log(1 - 2 * abs(u)))


def folded_laplace(x):
    return FoldedLaplace(epsilon=0.5, lower=0, upper=10).randomise(x)


def rare_release(count, rng: np.random.Generator, epsilon=1.0, delta=1e-30):
    noisy = count + round(rng.laplace(0, 1 / epsilon))
    return noisy if noisy > 1 + math.log(1 / delta) / epsilon else None


def _two_sided(t):
    """ln P(|z| > t sqrt(5)) for ten and eleven successes of twenty, by Laplace tails."""
    bound = t * math.sqrt(5)
    return [math.log(0.5 * (math.exp(-(bound - d)) + math.exp(-(bound + d)))) for d in (0, 1)]


def _test():
    tails = _two_sided(norm.isf(0.025))
    others = [math.log1p(-math.exp(x)) for x in tails]
    return max(abs(tails[0] - tails[1]), abs(others[0] - others[1]))


def _truncated():
    """ln phi(y) - ln phi(y - 1/2), at sigma 1/2, is linear in y: the ends of [0, 1], and the two masses."""
    z = [norm.cdf((1 - x) / 0.5) - norm.cdf((0 - x) / 0.5) for x in (0.25, 0.75)]
    return max(abs(norm.logpdf((y - 0.25) / 0.5) - norm.logpdf((y - 0.75) / 0.5) - math.log(z[0] / z[1])) for y in (0.0, 1.0))


def _folded():
    """The images of a place under all foldings, summed; the ratio is largest at an end of the range."""

    def density(y, x):
        return math.fsum(math.exp(-abs(s * y + 20 * k - x) / 2) for k in range(-60, 61) for s in (1, -1))

    return max(abs(math.log(density(y, 3) / density(y, 4))) for y in (0.0, 3.0, 4.0, 10.0))


CASES = (
    Case("Laplace by SciPy's quantile function", "Dwork et al. 2006", laplace_quantile, (0, 1), lambda: 0.5, "closed form"),
    Case(
        "Gaussian by NormalDist.inv_cdf, delta(1)",
        "Balle and Wang 2018",
        gaussian_quantile,
        (0, 1),
        lambda: gaussian_delta(1, 1),
        "closed form",
        1.0,
    ),
    Case("p-value of a noisy test", "Awan and Slavković 2018", p_value, (10, 11), lambda: 1.0, "closed form"),
    Case("decision of a noisy test", "Awan and Slavković 2018", rejected, (10, 11), _test, "closed form"),
    Case("truncated Gaussian", "Liu 2019", truncated_gaussian, (0.25, 0.75), _truncated, "closed form"),
    Case("generalised Gaussian, shape 1/2", "Liu 2019", generalised_gaussian, (0, 1), lambda: 0.5, "closed form"),
    Case("folded Laplace, as a class", "Holohan et al. 2018", folded_laplace, (3, 4), _folded, "closed form"),
    Case("count released where it is far above zero", "Korolova et al. 2009", rare_release, (1, 2), lambda: 1.0, "closed form"),
)
