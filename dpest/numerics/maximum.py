"""The largest of many noisy numbers, without the optimism of taking the largest.

The true sizes |theta_j| are modelled as draws from one unknown law that falls off from zero: a mixture of uniform laws on
[-a, a], whose weights are fitted by maximum likelihood (adaptive shrinkage: Stephens, Biostatistics 2017). The estimate is
the posterior mean of the largest size, among laws that reach no further than the largest number seen. Where one number
clearly leads, there is nothing to correct, and the estimate is that number.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

Floats = npt.NDArray[np.float64]

_WIDTHS = 50
_ITERATIONS = 30
_POINTS = 400
_MOST = 2000
_TINY = 1e-300
# How soon a leader counts as alone: its weight is (the sum of squared chances to be the largest) to this power.
_ALONE = 6


def largest(sizes: npt.ArrayLike, errors: npt.ArrayLike) -> float:
    """An estimate of max |theta_j| from |theta_j + noise| and the noise's standard errors."""
    m, s = np.abs(np.asarray(sizes, float)), np.asarray(errors, float)
    if not m.size or m.max() == 0:
        return 0.0
    m, s = _contenders(m, s)
    if m.size == 1:
        return float(m[0])
    widths = np.geomspace(0.02 * m.max(), m.max(), _WIDTHS)
    points, below = _posterior(m, s, widths)
    together = np.log(below).sum(axis=1)
    mean = float(np.trapezoid(-np.expm1(together), points))
    chances = _chances(below, together)
    alone = float((chances**2).sum()) ** _ALONE
    return alone * float(chances @ m) + (1 - alone) * mean


def _contenders(m: Floats, s: Floats) -> tuple[Floats, Floats]:
    """Those that could be the largest; the fit needs no more than the first two thousand."""
    keep = np.argsort(-(m + 2 * s), kind="stable")[:_MOST]
    return m[keep], np.maximum(s[keep], 1e-12 * m.max())


def _between(u: Floats, m: Floats, s: Floats) -> Floats:
    """P(-u <= m + s Z <= u)."""
    return np.asarray(ndtr((u - m) / s) - ndtr((-u - m) / s))


def _posterior(m: Floats, s: Floats, widths: Floats) -> tuple[Floats, Floats]:
    """Points u, and P(|theta_j| <= u) given everything, for each number j (columns)."""
    inside = _between(widths, m[:, None], s[:, None])
    weights = _mixture(inside / widths + _TINY)
    points = np.unique(np.concatenate([[0.0], widths, np.linspace(0, widths[-1], _POINTS)]))
    done = np.hstack([np.zeros((m.size, 1)), np.cumsum(weights, axis=1)])
    share = weights / np.maximum(inside, _TINY)
    ahead = np.hstack([np.cumsum(share[:, ::-1], axis=1)[:, ::-1], np.zeros((m.size, 1))])
    at = np.searchsorted(widths, points, side="right")
    below = done[:, at] + _between(points, m[:, None], s[:, None]) * ahead[:, at]
    return points, np.clip(below, _TINY, 1.0).T


def _mixture(likelihood: Floats) -> Floats:
    """The share of each width in each number, after fitting the weights of the widths by EM."""
    weights = np.full(likelihood.shape[1], 1 / likelihood.shape[1])
    for _ in range(_ITERATIONS):
        shares = likelihood * weights
        shares /= shares.sum(axis=1, keepdims=True)
        weights = shares.mean(axis=0)
    return np.asarray(shares)


def _chances(below: Floats, together: Floats) -> Floats:
    """The posterior probability of each number to be the largest."""
    others = together[:, None] - np.log(below)
    middle = np.exp((others[1:] + others[:-1]) / 2)
    chances = (np.diff(below, axis=0) * middle).sum(axis=0)
    total = chances.sum()
    return np.asarray(chances / total if total > 0 else np.full(chances.shape, 1 / chances.size))
