"""Where to cut a score: the event that promises the largest bound, judged on samples that did not make the score."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtri

from dpest.audit.outputs import Matrix
from dpest.results import Direction

_CANDIDATES = 300
_FEWEST_HITS = 10
_AGREEMENT = 2.0  # standard errors by which a count may fall short of the estimated ratio
_CAUTION = 2.5  # standard errors taken off a ratio that was picked by its count
# Standard errors by which the estimated ratio of an event may exceed the counted one: with many weights, those that came out
# too large gather in the small events, so that these must do better than their count.
FEW_WEIGHTS = 0.5
MANY_WEIGHTS = -0.5


@dataclass(frozen=True)
class Goal:
    """What the event is for: the final number of samples, alpha, delta, and a size to keep to, if any."""

    samples: int
    alpha: float
    delta: float = 0.0
    size: float | None = None  # the least probability under the less likely input
    leeway: float = MANY_WEIGHTS
    noise: float = 0.0  # the standard error of the ratio of one output


@dataclass(frozen=True)
class Cut:
    """A threshold on a score, the direction it is for, and the bound that it promises."""

    direction: Direction
    threshold: float
    promise: float
    hits: tuple[int, int]  # on the choosing samples: under D, under D'


@dataclass(frozen=True)
class CurvePoint:
    """The probability of {score beyond a threshold} under both inputs."""

    direction: Direction
    left: float
    right: float


def choose_cut(left: Matrix, right: Matrix, goal: Goal, ratio: tuple[Matrix, Matrix] | None) -> Cut:
    """The best cut of a score in either direction, from its values under both inputs.

    `ratio` is an estimate of the log-likelihood ratio of the same outputs (often the score itself), which judges small events
    far better than their counts; without it, counts alone judge, with caution.
    """
    slope, shift = (0.0, 0.0) if ratio is None else calibration(*ratio)
    itself = ratio is not None and ratio[0] is left
    forward = _best(-left, -right, _Ratio(slope, -shift, None if ratio is None or itself else -ratio[0], ratio is not None), goal)
    backward = _best(right, left, _Ratio(slope, shift, None if ratio is None or itself else ratio[1], ratio is not None), goal)
    if forward[0] >= backward[0]:
        promise, threshold, k1, k2 = forward
        return Cut(Direction.LEFT, -threshold, promise, (k1, k2))
    promise, threshold, k1, k2 = backward
    return Cut(Direction.RIGHT, threshold, promise, (k2, k1))


def calibration(left: Matrix, right: Matrix) -> tuple[float, float]:
    """The slope and shift that make a score a log-likelihood ratio: a logistic regression on it."""
    stride = max(1, (len(left) + len(right)) // 400_000)
    score = np.concatenate([left[::stride], right[::stride]])
    target = np.concatenate([np.ones(len(left[::stride])), np.zeros(len(right[::stride]))])
    middle = float(np.median(score))
    score = score - middle
    slope, shift = 1.0, 0.0
    for _ in range(20):
        chance = expit(slope * score + shift)
        error, curve = chance - target, chance * (1 - chance)
        a, b, c = float(curve @ score**2) + 1e-9, float(curve @ score), float(curve.sum()) + 1e-9
        g, h = float(error @ score), float(error.sum())
        determinant = a * c - b * b
        if determinant <= 1e-12 * a * c:
            break
        step = (c * g - b * h) / determinant
        slope -= min(max(step, -0.5), 0.5)
        shift -= min(max((a * h - b * g) / determinant, -1.0), 1.0)
        if abs(step) < 1e-4:
            break
    slope = min(max(slope, 0.0), 3.0)
    return slope, shift - slope * middle - math.log(len(left) / len(right))


@dataclass(frozen=True, eq=False)
class _Ratio:
    """ln P'/P of the likelier sample: affine in its own value, or in another one; or not known."""

    slope: float
    shift: float
    of: Matrix | None
    known: bool


def _best(likelier: Matrix, other: Matrix, ratio: _Ratio, goal: Goal) -> tuple[float, float, int, int]:
    """Over events {value <= t}: (promise, t, hits, other hits) of the best."""
    a, b = np.sort(likelier), np.sort(other)
    cuts = _candidates(a, b)
    k1, k2 = np.searchsorted(a, cuts, side="right"), np.searchsorted(b, cuts, side="right")
    known = a if ratio.of is None else ratio.of[np.argsort(likelier)]
    calibrated = _calibrated(ratio.slope * known + ratio.shift, k1) if ratio.known else None
    promise = _promises(k1, k2, calibrated, len(a), len(b), goal)
    if goal.size is not None:
        promise = np.where(k2 >= goal.size * len(b), promise, -math.inf)
    best = int(np.argmax(promise))
    if calibrated is not None:
        best = _widened(best, calibrated, *_counted(k1, k2, len(a), len(b)), goal.noise)
    return float(promise[best]), float(cuts[best]), int(k1[best]), int(k2[best])


def _widened(best: int, calibrated: Matrix, counted: Matrix, error: Matrix, noise: float) -> int:
    """The largest event whose ratio is as good within the noise of the score: its bound loses least to the final samples."""
    alike = (calibrated >= calibrated[best] - noise) & (counted >= calibrated - _AGREEMENT * error)
    return max([best, *np.flatnonzero(alike).tolist()]) if noise > 0 else best


def _counted(k1: NDArray[np.int64], k2: NDArray[np.int64], n1: int, n2: int) -> tuple[Matrix, Matrix]:
    """The log ratio of two shares, and its standard error."""
    ratio = np.log((k1 + 0.5) / (n1 + 1)) - np.log((k2 + 0.5) / (n2 + 1))
    return np.asarray(ratio), np.asarray(np.sqrt(1 / (k1 + 0.5) + 1 / (k2 + 0.5)))


def _candidates(a: Matrix, b: Matrix) -> Matrix:
    cuts = np.unique(np.concatenate([s[np.unique(np.geomspace(1, len(s), _CANDIDATES).astype(np.int64)) - 1] for s in (a, b)]))
    return np.asarray(cuts)


def _calibrated(ratio: Matrix, hits: NDArray[np.int64]) -> Matrix:
    """ln P(S) / P'(S) by the ratio of each hit: P'(S) is the sum of P'/P over the hits, far less noisy than a count."""
    weight = np.concatenate([[0.0], np.cumsum(np.exp(np.clip(ratio, -700, 700)))])
    return np.asarray(np.log(np.maximum(hits, 1)) - np.log(np.maximum(weight[hits], 1e-300)))


def _promises(k1: NDArray[np.int64], k2: NDArray[np.int64], calibrated: Matrix | None, n1: int, n2: int, goal: Goal) -> Matrix:
    """The bound that the final samples would give, if the ratio is the calibrated one but hardly above the counted one."""
    counted, error = _counted(k1, k2, n1, n2)
    if calibrated is None:  # noqa: SIM108
        ratio = counted - _CAUTION * error
    else:
        ratio = np.minimum(calibrated, counted + goal.leeway * error)
    f1 = np.asarray(k1 * (goal.samples / n1), dtype=np.float64)
    promise = _bound(f1, np.asarray(f1 * np.exp(-ratio)), goal)
    return np.where(k1 >= min(_FEWEST_HITS, n1), promise, -math.inf)


def _bound(f1: Matrix, f2: Matrix, goal: Goal) -> Matrix:
    """The normal approximation of the final bound from expected counts."""
    if goal.delta == 0:
        z = -float(ndtri(goal.alpha))
        return np.asarray(np.log((f1 + 0.5) / (f2 + 0.5)) - z * np.sqrt(1 / (f1 + 0.5) + 1 / (f2 + 0.5)))
    z = -float(ndtri(goal.alpha / 2))
    low = f1 - z * np.sqrt(f1 + 1) - goal.delta * goal.samples
    high = f2 + z * np.sqrt(f2 + 1) + 1
    return np.asarray(np.where(low > 0, np.log(np.maximum(low, 1e-300) / high), -1e3 + low / goal.samples))


def trade_off(left: Matrix, right: Matrix, points: int = 60) -> tuple[CurvePoint, ...]:
    """How probable the events of a score are under both inputs, from the smallest to the largest, in both directions."""
    found = []
    for direction, likelier, other in ((Direction.LEFT, -left, -right), (Direction.RIGHT, right, left)):
        a, b = np.sort(likelier), np.sort(other)
        cuts = np.unique(a[np.unique(np.geomspace(1, len(a), points).astype(np.int64)) - 1])
        p, q = np.searchsorted(a, cuts, "right") / len(a), np.searchsorted(b, cuts, "right") / len(b)
        if direction is Direction.RIGHT:
            p, q = q, p
        found += [CurvePoint(direction, float(x), float(y)) for x, y in zip(p, q, strict=True)]
    return tuple(found)
