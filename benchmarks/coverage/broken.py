"""Mechanisms that are broken on purpose: mistakes that people make, which an answer must show."""

from __future__ import annotations

import math
import random

import numpy as np

from benchmarks.coverage.case import Case
from benchmarks.coverage.reference import laplace_linear, of_lists, softmax


def scale_upside_down(x, rng: np.random.Generator, epsilon=0.5):
    return x + rng.laplace(0, epsilon)


def fixed_seed(x, epsilon=1.0):
    rng = np.random.default_rng(42)
    return x + rng.laplace(0, 1 / epsilon)


def noise_used_twice(values, rng: np.random.Generator, epsilon=1.0):
    z = rng.laplace(0, 1 / epsilon)
    return [v + z for v in values]


def noise_released(x, rng: np.random.Generator):
    z = rng.laplace()
    return x + z, z


def release_after_test(x, rng: np.random.Generator, threshold=1.0):
    if x + rng.laplace() > threshold:
        return x
    return None


def maximum_with_exponential_noise(counts, rng: np.random.Generator, epsilon=1.0):
    return max(c + rng.exponential(2 / epsilon) for c in counts)


def noise_on_positive_counts(counts, rng: np.random.Generator):
    return [c + rng.laplace() if c > 0 else 0 for c in counts]


def one_sided_noise(x, rng: np.random.Generator):
    return x + abs(rng.laplace())


def rounded_noise(x, rng: np.random.Generator):
    return x + round(rng.laplace())


def length_of_the_data(rows, rng: np.random.Generator):
    return [r + rng.laplace() for r in rows]


def budget_not_split(x, rng: np.random.Generator, times=3):
    return [x + rng.laplace() for _ in range(times)]


def scores_not_halved(scores, rng: np.random.Generator, epsilon=1.0):
    w = np.exp(epsilon * np.asarray(scores))
    return int(rng.choice(len(scores), p=w / w.sum()))


def sensitivity_forgotten(data, rng: np.random.Generator, epsilon=1.0):
    return sum(min(max(x, 0), 10) for x in data) + rng.laplace(0, 1 / epsilon)


def threshold_without_query_noise(queries, rng: np.random.Generator):
    t = 1 + rng.laplace(0, 2)
    return [q >= t for q in queries]


def biased_coin(answer, p=1.0):
    return answer if random.random() < p else 1 - answer


def gaussian_called_pure(x, rng: np.random.Generator):
    return x + rng.normal(0, 1)


def remainder_leaks(x, rng: np.random.Generator):
    noisy = x + 2 * round(rng.laplace(0, 1))
    return noisy


def noise_cancels(x, rng: np.random.Generator):
    z = rng.laplace()
    return (x + z) - z


def clipped_noise(x, rng: np.random.Generator, bound=2.0):
    return x + np.clip(rng.laplace(), -bound, bound)


def same_noise_for_parts(counts, rng: np.random.Generator):
    z = rng.laplace(size=2)
    return counts[0] + z[0], counts[1] + z[1], counts[0] + counts[1] + z[0]


class Counter:
    """Keeps its own budget, and never checks it."""

    def __init__(self, epsilon=1.0):
        self.epsilon = epsilon
        self.answers = []

    def ask(self, x):
        self.answers.append(x + np.random.laplace(0, 1 / self.epsilon))
        return self.answers[-1]


def unchecked_budget(values):
    counter = Counter()
    for v in values:
        counter.ask(v)
    return counter.answers


def infinite() -> float:
    """What one input can return and the other cannot."""
    return math.inf


CASES = (
    Case("scale upside down", "Lyu et al. 2017", scale_upside_down, (0, 1), lambda: 2.0, "closed form"),
    Case("a fixed seed inside", "Garfinkel and Leclerc 2020", fixed_seed, (0, 1), infinite, "disjoint supports"),
    Case(
        "one draw for all counts",
        "Kifer and Machanavajjhala 2011",
        noise_used_twice,
        ([1, 2], [2, 2]),
        infinite,
        "disjoint supports",
    ),
    Case("the noise itself is released", "Dwork and Roth 2014", noise_released, (0, 1), infinite, "disjoint supports"),
    Case("the true value after a noisy test", "Lyu et al. 2017", release_after_test, (0, 1), infinite, "disjoint supports"),
    Case(
        "largest noisy value with exponential noise",
        "Ding et al. 2018",
        maximum_with_exponential_noise,
        ([1, 1], [2, 2]),
        infinite,
        "disjoint supports",
    ),
    Case(
        "no noise on empty bins",
        "Korolova et al. 2009",
        noise_on_positive_counts,
        ([0, 3], [1, 3]),
        infinite,
        "disjoint supports",
    ),
    Case("one-sided noise", "Ding et al. 2018", one_sided_noise, (0, 1), infinite, "disjoint supports"),
    Case("rounded noise on a fraction", "Mironov 2012", rounded_noise, (0.5, 1.0), infinite, "disjoint supports"),
    Case(
        "the number of rows shows", "Dwork and Roth 2014", length_of_the_data, ([1, 2], [1, 2, 2]), infinite, "disjoint supports"
    ),
    Case("the budget is not split", "Dwork and Roth 2014", budget_not_split, (0, 1), lambda: 3.0, "closed form"),
    Case(
        "scores that are not halved",
        "McSherry and Talwar 2007",
        scores_not_halved,
        ([3, 2, 0], [2, 3, 1]),
        lambda: of_lists(softmax([3, 2, 0]), softmax([2, 3, 1])),
        "closed form",
    ),
    Case(
        "sensitivity forgotten", "Casacuberta et al. 2022", sensitivity_forgotten, ([3, 20], [3, 2]), lambda: 8.0, "closed form"
    ),
    Case(
        "sparse vector without query noise",
        "Stoddard et al. 2014",
        threshold_without_query_noise,
        ([1, 2], [2, 1]),
        infinite,
        "disjoint supports",
    ),
    Case("a coin that never lies", "Warner 1965", biased_coin, (0, 1), infinite, "disjoint supports"),
    Case("Gaussian noise, pure loss", "Dwork and Roth 2014", gaussian_called_pure, (0, 1), infinite, "closed form"),
    Case("parity shows", "Mironov 2012", remainder_leaks, (0, 1), infinite, "disjoint supports"),
    Case("noise that cancels", "Dwork and Roth 2014", noise_cancels, (0, 1), infinite, "disjoint supports"),
    Case("clipped noise", "Holohan et al. 2018", clipped_noise, (0, 1), infinite, "disjoint supports"),
    Case(
        "one draw for a part and the total",
        "Kifer and Machanavajjhala 2011",
        same_noise_for_parts,
        ([1, 2], [2, 2]),
        lambda: laplace_linear([[1, 0], [0, 1]], [1, 0]),
        "closed form",
    ),
    Case(
        "a budget that nobody checks", "Dwork and Roth 2014", unchecked_budget, ([0, 0, 0], [1, 1, 1]), lambda: 3.0, "closed form"
    ),
)
