"""Additive noise: one number (or a vector of them) plus a draw, in the samplers that people write."""

from __future__ import annotations

import math
import random
from random import gauss

import mpmath as mp
import numpy as np
import scipy.stats

from benchmarks.coverage.case import Case
from benchmarks.coverage.reference import gaussian_delta, largest, of_lists, phi


def laplace_numpy(x, rng: np.random.Generator, epsilon=1.0):
    return x + rng.laplace(0.0, 1.0 / epsilon)


def laplace_legacy(x, epsilon=1.0):
    return x + np.random.laplace(loc=0, scale=1 / epsilon)


def laplace_scipy(x, epsilon=1.0):
    return x + scipy.stats.laplace.rvs(scale=1 / epsilon)


def laplace_float(x, rng: np.random.Generator, epsilon=1.0):
    return float(x + rng.laplace(0.0, 1.0 / epsilon))


def laplace_inverse_cdf(x, epsilon=1.0):
    u = random.random() - 0.5
    b = 1 / epsilon
    return x - b * math.copysign(1, u) * math.log(1 - 2 * abs(u))


def laplace_inverse_cdf_numpy(x, rng: np.random.Generator, epsilon=1.0):
    u = rng.uniform(-0.5, 0.5)
    return x - 1 / epsilon * np.sign(u) * np.log(1 - 2 * np.abs(u))


def laplace_two_exponentials(x, epsilon=1.0):
    return x + random.expovariate(epsilon) - random.expovariate(epsilon)


def laplace_sign(x, epsilon=1.0):
    sign = random.choice([-1, 1])
    return x + sign * random.expovariate(epsilon)


def laplace_vector(x, rng: np.random.Generator, epsilon=1.0):
    return np.asarray(x) + rng.laplace(scale=1 / epsilon, size=len(x))


def gaussian(x, sigma=1.0):
    return x + gauss(0, sigma)


def gaussian_box_muller(x, sigma=1.0):
    u, v = random.random(), random.random()
    z = math.sqrt(-2 * math.log(u)) * math.cos(2 * math.pi * v)
    return x + sigma * z > 1


def staircase(x, rng: np.random.Generator, epsilon=1.0, gamma=0.4):
    sign = 1 if rng.random() < 0.5 else -1
    steps = rng.geometric(1 - math.exp(-epsilon)) - 1
    u = rng.random()
    if rng.random() < gamma / (gamma + (1 - gamma) * math.exp(-epsilon)):
        noise = steps + gamma * u
    else:
        noise = steps + gamma + (1 - gamma) * u
    return x + sign * noise


def geometric_mechanism(count, rng: np.random.Generator, epsilon=1.0):
    p = 1 - math.exp(-epsilon)
    return int(count + rng.geometric(p) - rng.geometric(p))


def truncated_geometric(count, rng: np.random.Generator, n=10, epsilon=1.0):
    p = 1 - np.exp(-epsilon)
    noisy = count + rng.geometric(p) - rng.geometric(p)
    return min(max(noisy, 0), n)


def discrete_laplace_loop(count, epsilon=1.0):
    """Tosses a coin until it fails, once upwards and once downwards."""
    a = math.exp(-epsilon)
    up = 0
    while random.random() < a:
        up += 1
    down = 0
    while random.random() < a:
        down += 1
    return count + up - down


def discrete_laplace_canonne(count, t=2):
    """Canonne, Kamath and Steinke's sampler of scale t."""
    while True:
        u = random.randrange(t)
        if random.random() >= math.exp(-u / t):
            continue
        v = 0
        while random.random() < math.exp(-1):
            v += 1
        magnitude = u + t * v
        negative = random.random() < 0.5
        if negative and magnitude == 0:
            continue
        return count - magnitude if negative else count + magnitude


def discrete_gaussian_clamped(count, rng: np.random.Generator, sigma=2.0, n=5):
    support = np.arange(-30, 31)
    p = np.exp(-(support**2) / (2 * sigma**2))
    return int(np.clip(count + rng.choice(support, p=p / p.sum()), 0, n))


def skellam_clamped(count, rng: np.random.Generator, mu=4.0, n=5):
    return int(np.clip(count + rng.poisson(mu) - rng.poisson(mu), 0, n))


def skellam_scipy(count, n=5):
    return min(max(count + scipy.stats.skellam(4.0, 4.0).rvs(), 0), n)


def binomial_noise(count, rng: np.random.Generator, trials=100):
    return count + rng.binomial(trials, 0.5) - trials // 2


def student_t(x, rng: np.random.Generator, df=3, scale=2.0):
    return x + scale * rng.standard_t(df)


def cauchy(x, rng: np.random.Generator, scale=2.0):
    return x + scale * rng.standard_cauchy()


def logistic_noise(x, rng: np.random.Generator, scale=2.0):
    return x + rng.logistic(scale=scale)


def huber_rejection(x, rng: np.random.Generator, delta=1.0):
    """Density proportional to exp(-huber(z)): Gaussian in the middle, exponential tails; drawn by rejection from Laplace."""
    while True:
        z = rng.laplace()
        accept = math.exp(-0.5) if abs(z) > delta else np.exp(-0.5 * z * z + abs(z) - 1.0)
        if rng.random() < accept:
            return x + z


def bounded_laplace(x, rng: np.random.Generator, low=0.0, high=1.0, b=1.0):
    while True:
        y = x + rng.laplace(0, b)
        if low <= y <= high:
            return y


def truncated_laplace(x, rng: np.random.Generator, bound=3.0):
    z = rng.laplace()
    while abs(z) > bound:
        z = rng.laplace()
    return x + z


def uniform_noise(x, rng: np.random.Generator, w=2.0):
    return x + rng.uniform(-w, w)


def one_time_pad(x, rng: np.random.Generator):
    return (x + rng.random()) % 1.0


def snapping(x, rng: np.random.Generator, bound=4.0, step=0.5, b=1.0):
    y = np.clip(x, -bound, bound) + rng.laplace(0, b)
    return np.clip(step * np.round(y / step), -bound, bound)


def rounded_laplace(count, epsilon=1.0):
    return round(count + np.random.laplace(0, 1 / epsilon))


def gamma_shares(x, rng: np.random.Generator, parties=3, epsilon=1.0):
    """Distributed noise: each party adds a difference of gamma draws."""
    shares = [rng.gamma(1 / parties, 1 / epsilon) - rng.gamma(1 / parties, 1 / epsilon) for _ in range(parties)]
    return x + sum(shares)


def log_laplace(x, rng: np.random.Generator, epsilon=1.0):
    """Multiplicative noise on a positive number."""
    return math.exp(math.log(x) + rng.laplace(0, 1 / epsilon))


def exponentiated(x, rng: np.random.Generator, epsilon=1.0):
    return np.exp(x + rng.laplace(0, 1 / epsilon))


def product_of_gaussians(x, rng: np.random.Generator):
    """Laplace noise of scale 1 from four Gaussian draws."""
    a, b, c, d = rng.standard_normal(4)
    return x + a * b + c * d


def laplace_mixture(x, rng: np.random.Generator):
    scale = rng.choice([1.0, 4.0], p=[0.5, 0.5])
    return x + rng.laplace(0, scale)


def average_of_two(x, rng: np.random.Generator):
    return (x + rng.laplace() + x + rng.laplace()) / 2


# ---- the truth ----


def _power_law(df: float, d: float) -> float:
    """Student's t with the centre moved by d: the supremum is at the symmetric stationary points."""
    t = (-d + math.sqrt(d * d + 4 * df)) / 2
    return (df + 1) / 2 * math.log((1 + (t + d) ** 2 / df) / (1 + t * t / df))


def _clamped(pmf, first: int, second: int, n: int = 5) -> float:
    def law(centre):
        out = [mp.mpf(0)] * (n + 1)
        for k in range(-60, 61):
            out[min(max(centre + k, 0), n)] += pmf(k)
        return out

    return of_lists(law(first), law(second))


def _cut_gaussian(k: int):
    return mp.exp(-mp.mpf(k * k) / 8) if abs(k) <= 30 else mp.mpf(0)


def _skellam(k: int):
    return mp.exp(-8) * mp.besseli(abs(k), 8)


def _binomial_delta(eps: float) -> float:
    p = [mp.binomial(100, k) for k in range(101)] + [mp.mpf(0)]
    q = [mp.mpf(0)] + [mp.binomial(100, k) for k in range(101)]
    forward = sum(max(0, a - mp.exp(eps) * b) for a, b in zip(p, q, strict=True))
    return float(forward / mp.mpf(2) ** 100)


def _box_muller() -> float:
    p, q = 1 - phi(1.0), 1 - phi(0.0)
    return max(abs(math.log(p / q)), abs(math.log((1 - p) / (1 - q))))


def _bounded() -> float:
    def mass(x):
        return 1 - math.exp(-x) / 2 - math.exp(-(1 - x)) / 2

    a, b = 0.2, 0.7
    return max(abs(b - a + s * math.log(mass(a) / mass(b))) for s in (-1, 1))


def _truncated_delta() -> float:
    c = 1 - math.exp(-3)  # the mass that is kept; delta at eps = 1 is the mass out of the other's reach
    return (math.exp(-2) - math.exp(-3)) / 2 / c


def _snapped() -> float:
    def law(x):
        def upto(v):
            return math.exp(v - x) / 2 if v < x else 1 - math.exp(x - v) / 2

        edges = [-4 + 0.5 * k + 0.25 for k in range(16)]
        values = [upto(e) for e in edges]
        return [values[0], *(b - a for a, b in zip(values, values[1:], strict=False)), 1 - values[-1]]

    return of_lists(law(0.0), law(1.0))


def _mixed() -> float:
    def log_density(y):
        return math.log(math.exp(-abs(y)) / 4 + math.exp(-abs(y) / 4) / 16)

    return largest(lambda y: log_density(y) - log_density(y + 1), 0.0, 20.0, 40001)


def one() -> float:
    """The loss of Laplace noise of scale 1 at distance 1."""
    return 1.0


CASES = (
    Case("Laplace, numpy Generator", "Dwork et al. 2006", laplace_numpy, (0, 1), one, "closed form"),
    Case("Laplace, numpy.random", "Dwork et al. 2006", laplace_legacy, (0, 1), one, "closed form"),
    Case("Laplace, scipy.stats.laplace.rvs", "Dwork et al. 2006", laplace_scipy, (0, 1), one, "closed form"),
    Case("Laplace, float(...) around the answer", "Dwork et al. 2006", laplace_float, (0, 1), one, "closed form"),
    Case("Laplace, inverse cdf with math", "Dwork et al. 2006", laplace_inverse_cdf, (0, 1), one, "closed form"),
    Case("Laplace, inverse cdf with NumPy", "Dwork et al. 2006", laplace_inverse_cdf_numpy, (0, 1), one, "closed form"),
    Case("Laplace as a difference of exponentials", "Dwork et al. 2006", laplace_two_exponentials, (0, 1), one, "closed form"),
    Case("Laplace as sign times exponential", "Dwork et al. 2006", laplace_sign, (0, 1), one, "closed form"),
    Case("Laplace, a vector", "Dwork et al. 2006", laplace_vector, ([1, 2, 3], [2, 2, 2]), lambda: 2.0, "closed form"),
    Case("Laplace from four Gaussians", "Holohan and Braghin 2021", product_of_gaussians, (0, 1), one, "closed form"),
    Case("Laplace from gamma shares", "Ács and Castelluccia 2011", gamma_shares, (0, 1), one, "closed form"),
    Case("Gaussian, delta(1)", "Balle and Wang 2018", gaussian, (0, 1), lambda: gaussian_delta(1, 1), "closed form", 1.0),
    Case(
        "Gaussian by Box-Muller, above a threshold",
        "Box and Muller 1958",
        gaussian_box_muller,
        (0, 1),
        _box_muller,
        "closed form",
    ),
    Case("staircase", "Geng and Viswanath 2014", staircase, (0, 1), one, "closed form"),
    Case("geometric mechanism", "Ghosh et al. 2012", geometric_mechanism, (3, 4), one, "closed form"),
    Case("truncated geometric mechanism", "Ghosh et al. 2012", truncated_geometric, (3, 4), one, "closed form"),
    Case("discrete Laplace by tossing coins", "Ghosh et al. 2012", discrete_laplace_loop, (3, 4), one, "closed form"),
    Case("discrete Laplace, exact sampler", "Canonne et al. 2020", discrete_laplace_canonne, (3, 4), lambda: 0.5, "closed form"),
    Case(
        "discrete Gaussian, clamped",
        "Canonne et al. 2020",
        discrete_gaussian_clamped,
        (2, 3),
        lambda: _clamped(_cut_gaussian, 2, 3),
        "enumeration",
    ),
    Case("Skellam, clamped", "Agarwal et al. 2021", skellam_clamped, (2, 3), lambda: _clamped(_skellam, 2, 3), "enumeration"),
    Case(
        "Skellam from SciPy, clamped",
        "Agarwal et al. 2021",
        skellam_scipy,
        (2, 3),
        lambda: _clamped(_skellam, 2, 3),
        "enumeration",
    ),
    Case(
        "binomial noise, delta(0.5)",
        "Agarwal et al. 2018",
        binomial_noise,
        (0, 1),
        lambda: _binomial_delta(0.5),
        "enumeration",
        0.5,
    ),
    Case("Student's t, 3 degrees", "Bun and Steinke 2019", student_t, (0, 1), lambda: _power_law(3, 0.5), "closed form"),
    Case("Cauchy", "Nissim et al. 2007", cauchy, (0, 1), lambda: _power_law(1, 0.5), "closed form"),
    Case("logistic noise", "Bun and Steinke 2019", logistic_noise, (0, 1), lambda: 0.5, "closed form"),
    Case("Huber noise by rejection", "Muthukrishnan and Kalyani 2023", huber_rejection, (0, 1), one, "closed form"),
    Case("bounded Laplace by rejection", "Holohan et al. 2018", bounded_laplace, (0.2, 0.7), _bounded, "closed form"),
    Case("truncated Laplace, delta(1)", "Geng et al. 2020", truncated_laplace, (0, 1), _truncated_delta, "closed form", 1.0),
    Case("uniform noise, delta(0)", "Geng et al. 2019", uniform_noise, (0, 1), lambda: 0.25, "closed form", 0.0),
    Case("uniform noise modulo 1", "Shannon 1949", one_time_pad, (0.25, 0.75), lambda: 0.0, "closed form"),
    Case("snapping", "Mironov 2012", snapping, (0.0, 1.0), _snapped, "closed form"),
    Case("Laplace, rounded", "Ghosh et al. 2012", rounded_laplace, (3, 4), one, "closed form"),
    Case("Laplace on the logarithm", "Dwork et al. 2006", log_laplace, (1.0, 2.0), lambda: math.log(2), "closed form"),
    Case("exponential of a noisy value", "Dwork et al. 2006", exponentiated, (0, 1), one, "closed form"),
    Case("Laplace of a random scale", "Bun and Steinke 2019", laplace_mixture, (0, 1), _mixed, "closed form"),
    Case("average of two noisy answers", "Dwork et al. 2006", average_of_two, (0, 1), lambda: 2.0, "closed form"),
)
