"""Noise by quantile functions, answers as p-values, and classes as libraries have them."""

from __future__ import annotations

import math
import random
import secrets
from statistics import NormalDist

import numpy as np
from scipy.optimize import minimize_scalar
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


def exponential_by_rejection(x, rng: np.random.Generator, epsilon=1.0):
    """A point of [0, 1] with a density proportional to exp(-epsilon |y - x|)."""
    while True:
        y = rng.uniform(0, 1)
        if rng.random() < math.exp(-epsilon * abs(y - x)):
            return y


def gaussian_by_rejection(x, low=0.0, high=4.0):
    while True:
        y = random.uniform(low, high)
        if random.random() < math.exp(-((y - x) ** 2) / 2):
            return y


def logistic_acceptance(x, rng: np.random.Generator, scale=2.0):
    while True:
        noise = rng.laplace(0, scale)
        if rng.random() < 1 / (1 + math.exp(-noise)):
            return x + noise


def student_by_hand(median, rng: np.random.Generator, smooth=1.0, degrees=3):
    return median + smooth * rng.normal() / math.sqrt(rng.chisquare(degrees) / degrees)


def cauchy_by_hand(median, rng: np.random.Generator, smooth=2.0):
    return median + smooth * rng.standard_normal() / rng.standard_normal()


def unit_gradient(gradient, rng: np.random.Generator, sigma=1.0):
    noisy = np.array(gradient) + rng.normal(0, sigma, size=2)
    return noisy / np.linalg.norm(noisy)


def power_iteration_step(rows, rng: np.random.Generator, scale=2.0):
    """One step towards the first principal component: noise on the sums, then a unit vector."""
    x = np.array(rows, float)
    v = np.ones(2) / math.sqrt(2)
    w = x.T @ (x @ v) + rng.laplace(0, scale, size=2)
    norm_of_w = math.sqrt(w[0] ** 2 + w[1] ** 2)
    return (w[0] / norm_of_w, w[1] / norm_of_w)


def _accepted():
    """Densities exp(-|y - x|) on [0, 1] for x at 0 and at 1/2: the ratio is largest at the centres."""
    totals = [1 - math.exp(-1), 2 * (1 - math.exp(-0.5))]
    return max(abs(side * 0.5 + math.log(totals[0] / totals[1])) for side in (1, -1))


def _bells():
    """ln of the ratio of two Gaussian densities on [0, 4] is linear in y."""
    masses = [norm.cdf(4 - x) - norm.cdf(-x) for x in (0, 1)]
    return max(abs(norm.logpdf(y) - norm.logpdf(y - 1) - math.log(masses[0] / masses[1])) for y in (0.0, 4.0))


def _direction():
    """The density of the direction u of Gaussian noise around m is e^(-|m|^2 / 2) (1 + d Phi(d) / phi(d)) / 2 pi with d = u.m."""

    def log_density(angle, m):
        d = m[0] * math.cos(angle) + m[1] * math.sin(angle)
        return math.log1p(d * norm.cdf(d) / norm.pdf(d)) - (m[0] ** 2 + m[1] ** 2) / 2

    def less(angle):
        return -abs(log_density(angle, (2.0, 1.0)) - log_density(angle, (2.5, 1.0)))

    start = min((2 * math.pi * k / 720 for k in range(720)), key=less)
    found = minimize_scalar(less, bounds=(start - 0.01, start + 0.01), method="bounded", options={"xatol": 1e-12})
    return -float(found.fun)


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
    Case(
        "exponential mechanism by rejection",
        "McSherry and Talwar 2007",
        exponential_by_rejection,
        (0, 0.5),
        _accepted,
        "closed form",
    ),
    Case("truncated Gaussian by rejection", "Liu 2019", gaussian_by_rejection, (0, 1), _bells, "closed form"),
    # The density falls by e^(-t / 2) upwards and by e^(-3 t / 2) downwards.
    Case("Laplace proposals, logistic acceptance", "von Neumann 1951", logistic_acceptance, (0, 1), lambda: 1.5, "closed form"),
    Case(
        "Student noise by hand, smooth sensitivity",
        "Nissim et al. 2007",
        student_by_hand,
        (3, 4),
        lambda: 4 * math.asinh(1 / (2 * math.sqrt(3))),
        "closed form",
    ),
    Case(
        "Cauchy noise as a ratio, smooth sensitivity",
        "Nissim et al. 2007",
        cauchy_by_hand,
        (3, 4),
        lambda: 2 * math.asinh(1 / 4),
        "closed form",
    ),
    Case("noisy gradient as a unit vector", "Cortés et al. 2016", unit_gradient, ([2, 1], [2.5, 1]), _direction, "closed form"),
    # One row (1, 0) moves the first sum by sqrt(1/2), which shows in full along a ray near an axis.
    Case(
        "one noisy step of power iteration",
        "Hardt and Price 2014",
        power_iteration_step,
        ([[1, 1], [2, 1]], [[1, 1], [2, 1], [1, 0]]),
        lambda: math.sqrt(0.5) / 2,
        "closed form",
    ),
)
