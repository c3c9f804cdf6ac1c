"""Bounds on the probabilities behind counts: exact, vectorised over counts, checked by round trip."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc, betaincc, betainccinv, betaincinv, betaln

from dpest.errors import InvalidInput

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
TailFunction = Callable[..., Any]

# A bound moves outward by this much relative to itself: more than the error of the incomplete beta function.
_OUTWARD = 1e-11
_STEPS = 200  # of a bisection: 63 halve 700 nats to the last digit of a double


def lower(k: ArrayLike, n: ArrayLike, alpha: float) -> Any:
    """The one-sided Clopper-Pearson lower bound: P(Binomial(n, p) >= k) <= alpha for each p below it."""
    hits, trials = _counts(k, n)
    level = _level(alpha)
    bound = np.zeros(hits.shape)
    some = hits > 0
    bound[some] = _beta_quantile(hits[some], trials[some] - hits[some] + 1, level, betainc, betaincinv)
    return (bound * (1 - _OUTWARD))[()]


def upper(k: ArrayLike, n: ArrayLike, alpha: float) -> Any:
    """The one-sided Clopper-Pearson upper bound: P(Binomial(n, p) <= k) <= alpha for each p above it."""
    hits, trials = _counts(k, n)
    level = _level(alpha)
    bound = np.ones(hits.shape)
    some = hits < trials
    bound[some] = _beta_quantile(hits[some] + 1, trials[some] - hits[some], level, betaincc, betainccinv)
    return np.minimum(bound * (1 + _OUTWARD), 1.0)[()]


def ratio_lower(k1: ArrayLike, n1: ArrayLike, k2: ArrayLike, n2: ArrayLike, alpha: float) -> Any:
    """A lower bound on ln(p1 / p2) from hits k1 of n1 and k2 of n2, given their total; 0 where nothing above 0 is shown.

    Given k1 + k2 = t, Poisson counts with p1 = r p2 make k1 binomial(t, r n1 / (r n1 + n2)), and inverting that test is exact.
    Binomial counts vary less than Poisson ones, so for r >= 1 the same test misses more rarely still.  For r < 1 it can miss
    too often, which is why the bound stops at 0.
    """
    hits1, trials1 = _counts(k1, n1)
    hits2, trials2 = _counts(k2, n2)
    hits1, trials1, hits2, trials2 = np.broadcast_arrays(hits1, trials1, hits2, trials2)
    total = hits1 + hits2
    share = np.asarray(lower(hits1, total, alpha))
    other = np.asarray(upper(hits2, total, alpha))
    bound = np.zeros(hits1.shape)
    some = share > 0
    bound[some] = np.log(share[some]) - np.log(other[some]) + np.log(trials2[some]) - np.log(trials1[some])
    return np.maximum(bound, 0.0)[()]


def ratio_lower_clopper_pearson(k1: ArrayLike, n1: ArrayLike, k2: ArrayLike, n2: ArrayLike, alpha: float) -> Any:
    """A lower bound on ln(p1 / p2) from two Clopper-Pearson bounds at alpha / 2 each; 0 where nothing above 0 is shown."""
    low = np.asarray(lower(k1, n1, alpha / 2))
    high = np.asarray(upper(k2, n2, alpha / 2))
    low, high = np.broadcast_arrays(low, high)
    bound = np.zeros(low.shape)
    some = low > 0
    bound[some] = np.log(low[some]) - np.log(high[some])
    return np.maximum(bound, 0.0)[()]


def confidence_sequence(k: ArrayLike, n: ArrayLike, alpha: float) -> tuple[Any, Any]:
    """Bounds on p that hold at all sample sizes at once with probability 1 - alpha, however often one looks.

    The likelihood of p against its Beta(1/2, 1/2) mixture is a martingale; by Ville's inequality the mixture exceeds the
    likelihood at the true p by a factor 1 / alpha with probability at most alpha (Robbins 1970).
    """
    hits, trials = _counts(k, n)
    misses = trials - hits
    level = betaln(hits + 0.5, misses + 0.5) - betaln(0.5, 0.5) + np.log(_level(alpha))

    def likely(p: Floats) -> NDArray[np.bool_]:
        with np.errstate(divide="ignore", invalid="ignore"):
            value = np.where(hits > 0, hits * np.log(p), 0.0) + np.where(misses > 0, misses * np.log1p(-p), 0.0)
        return np.asarray(value >= level)

    rate = np.where(trials > 0, hits / np.maximum(trials, 1), 0.5)
    low = np.where(hits > 0, _edge(likely, np.full(rate.shape, 1e-300), rate), 0.0)
    high = np.where(misses > 0, _edge(likely, np.ones(rate.shape), rate), 1.0)
    return (low * (1 - _OUTWARD))[()], np.minimum(high * (1 + _OUTWARD), 1.0)[()]


def _edge(inside: Callable[[Floats], NDArray[np.bool_]], outer: Floats, inner: Floats) -> Floats:
    """The point between an outer and an inner one where `inside` turns true, from the outer side, by bisection of logarithms."""
    out, within = np.log(outer), np.log(np.maximum(inner, 1e-300))
    for _ in range(_STEPS):
        middle = (out + within) / 2
        good = inside(np.exp(middle))
        within = np.where(good, middle, within)
        out = np.where(good, out, middle)
        if np.all(np.abs(out - within) <= 1e-12):
            break
    return np.asarray(np.exp(out))


def _beta_quantile(a: Ints, b: Ints, level: float, tail: TailFunction, inverse: TailFunction) -> Floats:
    """x with tail(a, b, x) = level; where scipy's inverse fails its round trip, by bisection of the tail itself."""
    x = np.asarray(inverse(a, b, level), dtype=np.float64)
    wrong = ~(np.abs(tail(a, b, x) - level) <= 1e-11 * level)
    if np.any(wrong):
        x[wrong] = _bisected(a[wrong], b[wrong], level, tail)
    return x


def _bisected(a: Ints, b: Ints, level: float, tail: TailFunction) -> Floats:
    """The same quantile by bisection of ln x, since it may lie at 1e-10."""
    rising = tail is betainc
    low, high = np.full(a.shape, -700.0), np.zeros(a.shape)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        left = (tail(a, b, np.exp(middle)) < level) == rising
        low, high = np.where(left, middle, low), np.where(left, high, middle)
    return np.asarray(np.exp(low if rising else high))


def _counts(k: ArrayLike, n: ArrayLike) -> tuple[Ints, Ints]:
    hits, trials = np.broadcast_arrays(np.asarray(k), np.asarray(n))
    if not (np.issubdtype(hits.dtype, np.integer) and np.issubdtype(trials.dtype, np.integer)):
        raise InvalidInput(f"counts must be whole numbers, got k = {k!r} and n = {n!r}")
    if np.any(hits < 0) or np.any(hits > trials):
        raise InvalidInput(f"hits must lie between 0 and the number of trials, got k = {k!r} and n = {n!r}")
    return hits.astype(np.int64), trials.astype(np.int64)


def _level(alpha: float) -> float:
    if not 0 < alpha < 1:
        raise InvalidInput(f"alpha must lie strictly between 0 and 1, got {alpha!r}")
    return float(alpha)
