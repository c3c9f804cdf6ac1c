"""Ways to the truth that share nothing with the engine: sums over finite laws, integrals at 30 digits, linear programs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import mpmath as mp
import numpy as np
from scipy.optimize import linprog, minimize_scalar

DIGITS = 30  # of integrals; sums of two laws are compared at 1e-9
mp.mp.dps = max(mp.mp.dps, DIGITS)  # the tests set 50 for all of them


def loss(p: Mapping[Any, float], q: Mapping[Any, float]) -> float:
    """The largest log ratio of two finite laws, in both directions."""
    worst = 0.0
    for key in set(p) | set(q):
        a, b = p.get(key, 0), q.get(key, 0)
        if (a == 0) != (b == 0):
            return math.inf
        if a:
            worst = max(worst, abs(float(mp.log(mp.mpf(a) / mp.mpf(b)))))
    return worst


def of_lists(p: Sequence[float], q: Sequence[float]) -> float:
    """The same for two lists of probabilities."""
    return loss(dict(enumerate(p)), dict(enumerate(q)))


def softmax(scores: Sequence[float]) -> list[float]:
    """Probabilities proportional to the exponentials of the scores."""
    total = math.fsum(math.exp(s) for s in scores)
    return [math.exp(s) / total for s in scores]


def laplace_pdf(y: Any, b: Any = 1) -> Any:
    """The density of Laplace noise."""
    return mp.exp(-abs(y) / b) / (2 * b)


def laplace_cdf(y: Any, b: Any = 1) -> Any:
    """The distribution function of Laplace noise."""
    return mp.exp(y / b) / 2 if y < 0 else 1 - mp.exp(-y / b) / 2


def integral(f: Callable[[Any], Any], *cuts: float) -> Any:
    """The integral over the whole line, with panels that end at the kinks."""
    inner = sorted(set(cuts))
    ends = [inner[0] - 60, inner[0] - 12, *inner, inner[-1] + 12, inner[-1] + 60]
    return mp.quad(f, [-mp.inf, *ends, mp.inf])


def winners(centres: Sequence[float], pdf: Callable[[Any], Any], cdf: Callable[[Any], Any]) -> list[Any]:
    """The probability of each index to be the largest of centre + noise."""

    def first(i: int) -> Callable[[Any], Any]:
        others = [c for j, c in enumerate(centres) if j != i]
        return lambda y: pdf(y - centres[i]) * mp.fprod(cdf(y - c) for c in others)

    return [integral(first(i), *centres) for i in range(len(centres))]


def laplace_linear(rows: Any, difference: Sequence[float], scales: float | Sequence[float] = 1.0) -> float:
    """The loss of releasing rows @ noise + centre for Laplace noise, where the centre moves by this difference.

    The released vector has a log-concave density, so the supremum of its log ratio is the recession function of minus its
    logarithm at the difference: the least sum |s_i| / b_i over shifts s of the noise with rows @ s = difference.
    """
    matrix = np.asarray(rows, dtype=float)
    b = np.broadcast_to(np.asarray(scales, dtype=float), (matrix.shape[1],))
    found = linprog(np.concatenate([1 / b, 1 / b]), A_eq=np.hstack([matrix, -matrix]), b_eq=np.asarray(difference, dtype=float))
    return float(found.fun) if found.success else math.inf


def largest(f: Callable[[float], float], low: float, high: float, points: int = 4001) -> float:
    """The largest value of a smooth function on an interval: the best of a grid, refined."""
    grid = np.linspace(low, high, points)
    values = [f(float(x)) for x in grid]
    k = int(np.argmax(values))
    near = grid[max(k - 1, 0)], grid[min(k + 1, points - 1)]
    found = minimize_scalar(lambda x: -f(float(x)), bounds=near, method="bounded", options={"xatol": 1e-13})
    return max(values[k], -float(found.fun))


def phi(x: float) -> float:
    """The distribution function of the standard normal law."""
    return float(mp.ncdf(x))


def gaussian_delta(mu: float, eps: float) -> float:
    """delta(eps) of Gaussian noise of standard deviation 1 whose centre moves by mu (Balle and Wang 2018)."""
    m, e = mp.mpf(mu), mp.mpf(eps)
    return float(mp.ncdf(m / 2 - e / m) - mp.exp(e) * mp.ncdf(-m / 2 - e / m))


def amplified(eps: float, q: float) -> float:
    """The loss of a mechanism of loss eps on a Poisson sample of rate q: ln(1 + q (e^eps - 1))."""
    return math.log1p(q * math.expm1(eps))
