"""The largest of many noisy numbers, without the optimism of taking the largest.

The true sizes |theta_j| are modelled as draws from one unknown law: a mixture of uniform laws, on [0, a] or on the shell
[0.8 a, a], whose weights are fitted by maximum likelihood (adaptive shrinkage: Stephens, Biostatistics 2017; the shells are
for sizes that are all alike) and stopped early: the more numbers there are to learn from, the later. The estimate is the
posterior mean of the largest size, among laws that reach no further than the largest number seen. Where one number clearly
leads, there is nothing to correct, and the estimate is that number.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_WIDTHS = 50  # of the family of priors, from 2 % of the largest number to all of it: 8 % from one to the next
_FEWEST_STEPS = 10  # of the fit of a mixture
_NUMBERS_PER_STEP = 6  # many numbers tell more of the mixture, and are worth more steps
_POINTS = 400  # even places at which the law of the largest is worked out, beside the ends of all shells
_MOST = 500  # numbers that are looked at, the largest ones: the table of numbers and places stays below 5 MB
_SHELL = 0.8  # inner radius of a shell: numbers that are all about as large
_SHELLS = 0.1  # the share of shells before anything is seen: most numbers are taken to be spread out
_TINY = 1e-300  # keeps quotients finite
# Errors that a leader stays ahead by, and how many times its error makes a number badly known: so the estimate for two-sided
# geometric noise of scale 1 from 10^5 samples is 3 % above the truth on average (without this rule 13 %), and estimates of
# sparse vectors, whose outcomes are all known about equally well, stay as they are.
_SURE = 2.0
_BADLY_KNOWN = 2.0  # times the leader's error, see above
# How soon a leader counts as alone: its weight is (the sum of squared chances to be the largest) to this power.
_ALONE = 6


def largest(sizes: npt.ArrayLike, errors: npt.ArrayLike) -> float:
    """An estimate of max |theta_j| from |theta_j + noise| and the noise's standard errors."""
    m, s = np.abs(np.asarray(sizes, float)), np.asarray(errors, float)
    if not m.size or m.max() == 0:
        return 0.0
    m, s = _contenders(m, s)
    if m.max() == 0:
        return 0.0
    if m.size == 1:
        return float(m[0])
    points, below = _posterior(m, s)
    together = np.log(below).sum(axis=1)
    mean = float(np.trapezoid(-np.expm1(together), points))
    chances = _chances(below, together)
    alone = float((chances**2).sum()) ** _ALONE
    return alone * float(chances @ m) + (1 - alone) * mean


def _contenders(m: Floats, s: Floats) -> tuple[Floats, Floats]:
    """Those that could be the largest; the fit needs no more than the first few hundred.

    Beside a number that is known well, one that is known badly says nothing of a larger size, unless chance cannot explain it.
    """
    leader = int(np.argmax(m - _SURE * s))
    excess = (m - m[leader]) / np.maximum(np.hypot(s, s[leader]), _TINY)
    told = (s <= _BADLY_KNOWN * s[leader]) | (excess > 1 + np.sqrt(2 * np.log(m.size)))
    m, s = m[told], s[told]
    keep = np.argsort(-(m + 2 * s), kind="stable")[:_MOST]
    return m[keep], np.maximum(s[keep], 1e-12 * m.max())


def _inside(low: Floats, high: Floats, m: Floats, s: Floats) -> Floats:
    """P(low <= |m + s Z| <= high)."""
    right = ndtr((high - m) / s) - ndtr((low - m) / s)
    return np.asarray(right + ndtr((-low - m) / s) - ndtr((-high - m) / s))


def _posterior(m: Floats, s: Floats) -> tuple[Floats, Floats]:
    """Points u, and P(|theta_j| <= u) given everything, for each number j (columns)."""
    ends = np.geomspace(0.02 * m.max(), m.max(), _WIDTHS)
    low, high = np.concatenate([0 * ends, _SHELL * ends]), np.concatenate([ends, ends])
    first = np.repeat([1 - _SHELLS, _SHELLS], _WIDTHS) / _WIDTHS
    inside = _inside(low, high, m[:, None], s[:, None])
    shares = _mixture(inside / (high - low) + _TINY, first) / np.maximum(inside, _TINY)
    near = (m[:100, None] + s[:100, None] * np.arange(-4, 5)).ravel()
    points = np.unique(np.clip(np.concatenate([low, high, near, np.linspace(0, high[-1], _POINTS)]), 0, high[-1]))
    return points, np.clip(_cumulative(points, low, high, shares, m, s), _TINY, 1.0).T


def _cumulative(points: Floats, low: Floats, high: Floats, shares: Floats, m: Floats, s: Floats) -> Floats:
    """The mixture's posterior below each point: components that end before it, and the part of those that it lies in."""
    nothing = np.zeros((m.size, 1))

    def summed(order: Ints, each: Floats) -> Floats:
        return np.hstack([nothing, np.cumsum(each[:, order], axis=1)])

    starting, ending = np.argsort(low, kind="stable"), np.argsort(high, kind="stable")
    begun = np.searchsorted(low[starting], points, side="left")
    done = np.searchsorted(high[ending], points, side="right")
    base = shares * _inside(nothing, low, m[:, None], s[:, None])
    whole = shares * _inside(low, high, m[:, None], s[:, None])
    open_share = summed(starting, shares)[:, begun] - summed(ending, shares)[:, done]
    open_base = summed(starting, base)[:, begun] - summed(ending, base)[:, done]
    below = _inside(nothing, points, m[:, None], s[:, None])
    return summed(ending, whole)[:, done] + below * open_share - open_base


def _mixture(likelihood: Floats, weights: Floats) -> Floats:
    """The share of each component in each number, after fitting the weights of the components by EM."""
    for _ in range(max(_FEWEST_STEPS, len(likelihood) // _NUMBERS_PER_STEP)):
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
