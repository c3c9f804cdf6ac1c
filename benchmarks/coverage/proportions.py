"""Functions of continuous noise: proportions, directions in the plane, posterior samples, variances around a mean."""

from __future__ import annotations

import math
import random
from collections import Counter

import numpy as np
from scipy import integrate, optimize

from benchmarks.coverage.case import Case


def normalised_histogram(counts, rng: np.random.Generator, epsilon=1.0):
    noisy = np.asarray(counts) + rng.laplace(0, 1 / epsilon, size=len(counts))
    return noisy / noisy.sum()


def clipped_distribution(words, rng: np.random.Generator, epsilon=1.0):
    counts = Counter(words)
    noisy = {w: max(counts[w] + rng.laplace(0, 1 / epsilon), 0) for w in ("a", "b", "c")}
    total = sum(noisy.values())
    return {w: v / total for w, v in noisy.items()} if total > 0 else dict.fromkeys(noisy, 1 / 3)


def proportion(counts, rng: np.random.Generator, epsilon=1.0):
    yes, no = (c + rng.laplace(0, 1 / epsilon) for c in counts)
    return yes / (yes + no)


def gaussian_average(data, rng: np.random.Generator, sigma=1.0):
    total, count = sum(data) + rng.normal(0, sigma), len(data) + rng.normal(0, sigma)
    return total / count


def share_of_the_first(counts, rng: np.random.Generator, epsilon=1.0):
    noisy = np.asarray(counts) + rng.laplace(0, 1 / epsilon, size=3)
    return noisy[0] / noisy.sum()


def precision_and_recall(counts, rng: np.random.Generator, b=2.0):
    tp, fp, fn = (c + rng.laplace(0, b) for c in counts)
    return {"precision": tp / (tp + fp), "recall": tp / (tp + fn)}


def planar_laplace(location, rng: np.random.Generator, epsilon=0.5):
    angle, radius = rng.uniform(0, 2 * np.pi), rng.gamma(2, 1 / epsilon)
    return location[0] + radius * np.cos(angle), location[1] + radius * np.sin(angle)


def planar_laplace_of_logarithms(location, epsilon=0.5):
    angle = 2 * math.pi * random.random()
    radius = -(math.log(random.random()) + math.log(random.random())) / epsilon
    return location[0] + radius * math.cos(angle), location[1] + radius * math.sin(angle)


def exponential_radius(location, rng: np.random.Generator, epsilon=0.5):
    """Wrong: the area of a ring grows with its radius."""
    angle, radius = rng.uniform(0, 2 * np.pi), rng.exponential(1 / epsilon)
    return location[0] + radius * np.cos(angle), location[1] + radius * np.sin(angle)


def output_perturbation(weights, rng: np.random.Generator, scale=0.5):
    direction = rng.normal(size=len(weights))
    direction /= np.linalg.norm(direction)
    return np.asarray(weights) + rng.gamma(len(weights), scale) * direction


def posterior_sample(successes, rng: np.random.Generator, n=5):
    return rng.beta(successes + 1, n - successes + 1)


def dirichlet_posterior(counts, rng: np.random.Generator):
    return rng.dirichlet(np.asarray(counts) + 1)


def clipped_mean_and_variance(data, rng: np.random.Generator, b=1 / 3):
    mean = np.clip(np.mean(data) + rng.laplace(0, b), 0, 1)
    return mean, np.mean((np.asarray(data) - mean) ** 2) + rng.laplace(0, b)


def mean_and_variance(data, rng: np.random.Generator, b=1 / 3):
    mean = sum(data) / len(data) + rng.laplace(0, b)
    return mean, sum((x - mean) ** 2 for x in data) / len(data) + rng.laplace(0, b)


def lloyd_step(points, rng: np.random.Generator, b=2.0):
    points, centres = np.array(points), np.array([[0.0, 0.0], [1.0, 1.0]])
    label = np.argmin(((points[:, None] - centres) ** 2).sum(-1), axis=1)
    out = []
    for k in range(len(centres)):
        own = points[label == k]
        count, total = len(own) + rng.laplace(0, b), own.sum(axis=0) + rng.laplace(0, b, size=2)
        out.append(total / max(count, 1))
    return np.array(out)


# ---- the truth ----


def _of_two(p: tuple[float, float], q: tuple[float, float], *, gaussian: bool) -> float:
    """The loss of the direction of two noisy values: both densities integrated along lines, the angle searched for."""

    def density(centre: tuple[float, float], angle: float) -> float:
        a, b = math.cos(angle), math.sin(angle)

        def f(t: float) -> float:
            x, y = t * a - centre[0], t * b - centre[1]
            return abs(t) * math.exp(-(x * x + y * y) / 2 if gaussian else -abs(x) - abs(y))

        ends = sorted({-50.0, 0.0, 50.0, *(c / s for c, s in zip(centre, (a, b), strict=True) if s and abs(c / s) < 50)})
        pieces = [x for s, t in zip(ends, ends[1:], strict=False) for x in np.linspace(s, t, 9)[:-1]] + [ends[-1]]
        return math.fsum(integrate.quad(f, s, t, epsabs=0, epsrel=1e-12)[0] for s, t in zip(pieces, pieces[1:], strict=False))

    def ratio(angle: float) -> float:
        return math.log(density(p, angle) / density(q, angle))

    best = -math.inf
    for sign in (1.0, -1.0):
        start = max(np.linspace(0, math.pi, 120), key=lambda t, s=sign: s * ratio(t))
        around = {"bounds": (start - 0.03, start + 0.03), "method": "bounded", "options": {"xatol": 1e-10}}
        best = max(best, -float(optimize.minimize_scalar(lambda t, s=sign: -s * ratio(t), **around).fun))
    return best


_PAPER = "Dwork et al. 2006, post-processed"
CASES = (
    Case("normalised histogram", _PAPER, normalised_histogram, ([3, 2, 1, 4], [4, 2, 1, 4]), lambda: 1.0, "closed form"),
    Case(
        "distribution of words", _PAPER, clipped_distribution, (["a", "b", "a", "c"], ["a", "b", "a"]), lambda: 1.0, "closed form"
    ),
    Case(
        "proportion, a row that changes sides",
        _PAPER,
        proportion,
        ([3, 2], [4, 1]),
        lambda: _of_two((3, 2), (4, 1), gaussian=False),
        "integral",
    ),
    Case(
        "Gaussian sum over Gaussian count",
        "Dwork et al. 2006, post-processed",
        gaussian_average,
        ([1.0, 1.0, 0.5, 0.5], [1.0, 1.0, 0.5]),
        lambda: _of_two((3.0, 4.0), (2.5, 3.0), gaussian=True),
        "integral",
    ),
    Case("share of one count", _PAPER, share_of_the_first, ([3, 2, 1], [4, 2, 1]), lambda: 1.0, "closed form"),
    Case("precision and recall", _PAPER, precision_and_recall, ([3, 2, 5], [4, 2, 5]), lambda: 0.5, "closed form"),
    Case("planar Laplace", "Andres et al. 2013", planar_laplace, ((0.0, 1.0), (3.0, -3.0)), lambda: 2.5, "closed form"),
    Case(
        "planar Laplace from uniform numbers",
        "Andres et al. 2013",
        planar_laplace_of_logarithms,
        ((0.0, 1.0), (3.0, -3.0)),
        lambda: 2.5,
        "closed form",
    ),
    Case(
        "planar noise with an exponential radius",
        "wrong on purpose",
        exponential_radius,
        ((0.0, 0.0), (1.0, 0.0)),
        lambda: math.inf,
        "closed form",
    ),
    Case(
        "output perturbation of a classifier",
        "Chaudhuri et al. 2011",
        output_perturbation,
        ([0.0, 1.0, 2.0], [0.2, 0.9, 2.2]),
        lambda: 0.6,
        "closed form",
    ),
    Case("one posterior sample", "Dimitrakakis et al. 2014", posterior_sample, (3, 4), lambda: math.inf, "closed form"),
    Case(
        "one sample of a Dirichlet posterior",
        "Machanavajjhala et al. 2008",
        dirichlet_posterior,
        ([3, 2, 1], [4, 2, 1]),
        lambda: math.inf,
        "closed form",
    ),
    Case(
        "variance around a clipped released mean",
        _PAPER,
        clipped_mean_and_variance,
        ([0.2, 0.5, 0.9], [0.2, 0.5, 0.1]),
        lambda: 1.6,
        "closed form",
    ),
    Case(
        "variance around a released mean",
        "wrong on purpose",
        mean_and_variance,
        ([0.2, 0.5, 0.9], [0.2, 0.5, 0.1]),
        lambda: math.inf,
        "closed form",
    ),
    Case(
        "a step of k-means in the plane",
        "Blum et al. 2005",
        lloyd_step,
        ([[0.2, 0.1], [0.9, 0.8], [0.7, 0.6]], [[0.2, 0.1], [0.9, 0.8]]),
        lambda: 1.15,
        "closed form",
    ),
)
