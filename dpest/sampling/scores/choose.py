"""Where to cut a score: the event that promises the largest bound, judged on samples that did not make the score."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtri

from dpest.results import Direction
from dpest.sampling.bounds.common_noise import FEWEST_BLOCKS, Prospect, normal_equivalent
from dpest.sampling.runs.outputs import Matrix

Codes = NDArray[np.int64]

_CANDIDATES = 300  # cuts at ever smaller masses in each tail, and as many in between
_MOST_GROUPS = 512  # blocks of which a variance is taken: 512 know it to 6 %
_FEWEST_HITS = 10  # an event with fewer promises what it does not keep
_OFTEN = 50  # hits under the other input from which common noise is worth counting on
_MODEL_ERROR = 0.3  # by which part a score may be wrong about the ratio of an event


@dataclass(frozen=True)
class Goal:
    """What the event is for: the final number of samples, alpha, delta, a claim, and a size to keep to, if any."""

    samples: int
    alpha: float
    delta: float = 0.0
    claim: float | None = None
    size: float | None = None  # the least probability under the less likely input
    block: int = 1024  # runs that share a stream
    common: bool = True  # whether the final samples may share their noise
    caution: float = 1.5  # standard errors taken off a ratio that was picked by its counts, out of many


@dataclass(frozen=True)
class Cut:
    """A threshold on a score, the direction it is for, and the bound that it promises."""

    direction: Direction
    threshold: float
    promise: float
    hits: tuple[int, int]  # on the choosing samples: under D, under D'
    stake: float | None  # for final samples with common noise; None: independent ones promise more
    given_total: bool  # which bound on independent samples promises more


@dataclass(frozen=True)
class CurvePoint:
    """The probability of {score beyond a threshold} under both inputs."""

    direction: Direction
    left: float
    right: float


@dataclass(frozen=True)
class ScoreLaws:
    """Both laws along a score: the share of outputs between neighbouring edges (the first and the last are open), and the event.

    The event is the scores from `cut` on, upwards if `above`.
    """

    edges: tuple[float, ...]
    left: tuple[float, ...]
    right: tuple[float, ...]
    cut: float
    above: bool


def score_laws(left: Matrix, right: Matrix, cut: float, above: bool, bins: int = 40) -> ScoreLaws:
    """The laws of a score under both inputs, in bins of one width that hold all but the outermost hundredth, and the cut."""
    pooled = np.concatenate([left, right])
    low, high = np.quantile(pooled[np.isfinite(pooled)], [0.005, 0.995]) if np.isfinite(pooled).any() else (0.0, 0.0)
    low, high = (min(low, cut), max(high, cut)) if math.isfinite(cut) else (low, high)
    edges = np.linspace(low, max(high, low + 1e-9 * max(abs(low), 1.0)), bins + 1)
    shares = [np.bincount(np.searchsorted(edges, x, side="right"), minlength=bins + 2) / len(x) for x in (left, right)]
    first, second = (tuple(s.tolist()) for s in shares)
    return ScoreLaws(tuple(edges.tolist()), first, second, float(cut), above)


def choose_cut(left: Matrix, right: Matrix, goal: Goal, *, is_ratio: bool = False) -> Cut:
    """The best cut of a score in either direction, from its values under both inputs, whose runs share streams block by block.

    Where the score is an estimate of the log-likelihood ratio, it has a say in how large the ratio of an event is; elsewhere
    counts alone decide, with twice the caution.
    """
    cuts = _candidates(left, right)
    codes = [np.searchsorted(cuts, values, side="left") for values in (left, right)]
    a, b = (_counts(code, len(cuts) + 1, goal.block) for code in codes)
    foreseen: tuple[Matrix | None, Matrix | None] = (None, None)
    if is_ratio:
        slope, shift = calibration(left, right)
        foreseen = _likelihoods(codes[0], -slope * left - shift, a), _likelihoods(codes[1], slope * right + shift, b)
    else:
        goal = replace(goal, caution=2 * goal.caution)
    # Cells lie between cuts: the last ones make {score > cut}, the first ones {score <= cut}.
    forward = best_event(Ordered(a, b, foreseen[0]).reversed(), goal)
    backward = best_event(Ordered(b, a, foreseen[1]), goal)
    if forward.promise >= backward.promise:
        cut = cuts[len(cuts) - 1 - forward.place]
        threshold = min(float(np.min(values, where=values > cut, initial=np.inf)) for values in (left, right))
        return Cut(Direction.LEFT, threshold, forward.promise, forward.hits, forward.stake, forward.given_total)
    hits = backward.hits[1], backward.hits[0]
    return Cut(
        Direction.RIGHT, float(cuts[backward.place]), backward.promise, hits, backward.stake, backward.given_total
    )


def calibration(left: Matrix, right: Matrix) -> tuple[float, float]:
    """The slope and shift that make a score a log-likelihood ratio, from its values under both inputs."""
    stride = max(1, (len(left) + len(right)) // 100_000)
    one, zero = left[::stride], right[::stride]
    score = np.concatenate([one, zero])
    first = np.arange(len(score)) < len(one)
    return calibrated(score, first.astype(np.float64), (~first).astype(np.float64))


def calibrated(score: Matrix, one: Matrix, zero: Matrix) -> tuple[float, float]:
    """The same from how often each score was seen under both inputs: a logistic regression on it."""
    middle, both = float(np.median(score)), one + zero
    score = score - middle
    slope, shift = 1.0, 0.0
    for _ in range(20):
        chance = expit(slope * score + shift)
        error, curve = both * chance - one, both * chance * (1 - chance)
        a, b, c = float(np.sum(curve * score**2)) + 1e-9, float(np.sum(curve * score)), float(curve.sum()) + 1e-9
        g, h = float(np.sum(error * score)), float(error.sum())
        determinant = a * c - b * b
        if determinant <= 1e-12 * a * c:
            break
        step = (c * g - b * h) / determinant
        slope -= min(max(step, -0.5), 0.5)
        shift -= min(max((a * h - b * g) / determinant, -1.0), 1.0)
        if abs(step) < 1e-4:
            break
    slope = min(max(slope, 0.0), 3.0)
    return slope, shift - slope * middle - math.log(max(float(one.sum()), 0.5) / max(float(zero.sum()), 0.5))


@dataclass(frozen=True, eq=False)
class Ordered:
    """Hits of cells, in the order in which they are joined, under the likelier input and the other, in groups of runs.

    Where there is one group, all runs are taken as independent. `foreseen` adds up the estimated likelihood ratios P'/P of the
    likelier outputs in each cell.
    """

    likelier: Matrix
    other: Matrix
    foreseen: Matrix | None

    def reversed(self) -> Ordered:
        """The cells from the last to the first."""
        foreseen = None if self.foreseen is None else self.foreseen[::-1]
        return Ordered(self.likelier[:, ::-1], self.other[:, ::-1], foreseen)


@dataclass(frozen=True)
class Best:
    """The best of some events, with the likelier input first: {the cells up to a place}, or that cell alone."""

    promise: float
    place: int
    hits: tuple[int, int]
    stake: float | None
    given_total: bool
    alone: bool = False


def best_event(cells: Ordered, goal: Goal) -> Best:
    """The event {the first cells} that promises most."""
    number = max(cells.likelier.shape[1] - 1, 1)  # all cells together are no event
    likelier, other = (np.cumsum(counts[:, :number], axis=1) for counts in (cells.likelier, cells.other))
    foreseen = None if cells.foreseen is None else np.cumsum(cells.foreseen[:number])
    return _best(Ordered(likelier, other, foreseen), int(cells.likelier.sum()), int(cells.other.sum()), goal)


def best_cell(cells: Ordered, goal: Goal) -> Best:
    """The single cell that promises most; the best of many promises too much, and so they need more caution."""
    caution = goal.caution + math.sqrt(2 * math.log(cells.likelier.shape[1]))
    trials = int(cells.likelier.sum()), int(cells.other.sum())
    return replace(_best(cells, *trials, replace(goal, caution=caution)), alone=True)


def _best(events: Ordered, trials: int, other_trials: int, goal: Goal) -> Best:
    a, b = events.likelier, events.other
    shares = _Shares(a.sum(axis=0), b.sum(axis=0), trials, other_trials)
    ratio = shares.ratio(goal.delta)
    spread = _spread(a, b, ratio) if len(a) > 1 else shares.spread(ratio)
    gained = np.maximum(shares.hits - goal.delta * trials, 0.5)
    shown, error = np.log(ratio), np.sqrt(spread) / gained
    if events.foreseen is not None:
        shown, error = _blended(shown, error, np.log(gained) - np.log(np.maximum(events.foreseen, 1e-300)))
    shown -= _below(goal.caution, error)
    common, total, each = _gaps(shares, spread, _feared(shares, gained, shown), goal)
    apart = np.minimum(total, each)
    promise = shown - np.minimum(common, apart)
    promise[shares.hits < min(_FEWEST_HITS, trials)] = -math.inf
    if goal.size is not None:
        promise[shares.others < goal.size * other_trials] = -math.inf
    best = int(np.argmax(promise))
    stake = None
    if common[best] < apart[best]:
        stake = _stake(shares, spread, best, goal, float(apart[best]))
    hits = int(shares.hits[best]), int(shares.others[best])
    return Best(float(promise[best]), best, hits, stake, bool(total[best] <= each[best]))


def _blended(counted: Matrix, error: Matrix, foreseen: Matrix) -> tuple[Matrix, Matrix]:
    """A counted ratio and the one that the score foresees, each by its precision, and the error of both together."""
    trust, model = 1 / error**2, 1 / (_MODEL_ERROR * np.abs(foreseen) + 1e-6) ** 2
    return (trust * counted + model * foreseen) / (trust + model), 1 / np.sqrt(trust + model)


def _candidates(left: Matrix, right: Matrix) -> Matrix:
    """Values at ever larger ranks from either end, by equal factors while they are small and by equal steps afterwards."""
    found = []
    for values in (np.sort(left), np.sort(right)):
        n = len(values)
        small = np.unique(np.geomspace(1, n, _CANDIDATES).astype(np.int64)) - 1
        even = np.linspace(0, n - 1, _CANDIDATES).astype(np.int64)
        found += [values[small], values[n - 1 - small], values[even]]
    return np.unique(np.concatenate(found))


def _counts(code: Codes, cells: int, block: int) -> Matrix:
    """How many outputs of each block lie in each cell; blocks are put together where they are many."""
    block *= -(-len(code) // (block * _MOST_GROUPS))
    number = -(-len(code) // block)
    place = np.repeat(np.arange(number) * cells, block)[: len(code)] + code
    return np.asarray(np.bincount(place, minlength=number * cells).reshape(number, cells), dtype=np.float64)


def _likelihoods(code: Codes, log_ratio: Matrix, counts: Matrix) -> Matrix:
    """The sum over the outputs in each cell of their likelihood ratios: P'(S) to P(S), far less noisy than a count."""
    return np.asarray(np.bincount(code, np.exp(np.clip(log_ratio, -700, 700)), minlength=counts.shape[1]))


@dataclass(frozen=True, eq=False)
class _Shares:
    """Hits of each event under both inputs."""

    hits: Matrix
    others: Matrix
    trials: int
    other_trials: int

    def ratio(self, delta: float) -> Matrix:
        """exp(epsilon) of each event; half a hit stands for none."""
        return np.maximum((self.hits + 0.5) / (self.trials + 1) - delta, 1e-9) / ((self.others + 0.5) / (self.other_trials + 1))

    def spread(self, ratio: Matrix) -> Matrix:
        """The variance of A - r B where all runs are independent, with half a hit's on either side for what was never seen."""
        a, b = (k * (1 - k / (n + 1)) for k, n in ((self.hits, self.trials), (self.others, self.other_trials)))
        return np.asarray(a + ratio**2 * b + (1 + ratio**2) / 2)


def _spread(a: Matrix, b: Matrix, ratio: Matrix) -> Matrix:
    """The variance of the sum of A - r B over all blocks, with half a hit's on either side for what was never seen."""
    residual = a - ratio * b
    residual -= residual.mean(axis=0)
    return np.asarray(np.einsum("ij,ij->j", residual, residual) + (1 + ratio**2) / 2)


def _below(z: float, error: Matrix) -> Matrix:
    """How far a bound at z standard errors lies below a log ratio: Poisson counts of this error are bounded so, even few."""
    return np.asarray(2 * np.arcsinh(z * error / 2))


def _feared(shares: _Shares, gained: Matrix, cautious: Matrix) -> Matrix:
    """Hits under the other input at the ratio that caution leaves; at least those that were seen, and half a one.

    Without this, an event that the other input never showed pays twice: for hits that it may have, and for having none.
    """
    afraid = gained / max(shares.trials, 1) * np.exp(-np.maximum(cautious, -700.0)) * shares.other_trials
    return np.asarray(np.maximum(np.minimum(afraid, shares.other_trials), shares.others + 0.5))


def _gaps(shares: _Shares, spread: Matrix, feared: Matrix, goal: Goal) -> tuple[Matrix, Matrix, Matrix]:
    """How far below the ratio the final bound will lie: with common noise; on independent samples given the total of hits, and
    by a bound on each probability.
    """
    ahead = goal.samples / max(shares.trials, 1)
    gained = np.maximum(shares.hits - goal.delta * shares.trials, 0.5)
    enough = goal.common and goal.samples >= FEWEST_BLOCKS * goal.block
    often = shares.others >= _OFTEN
    common = _below(normal_equivalent(goal.alpha), np.sqrt(spread / ahead) / gained)
    common = np.where(enough & often, common, math.inf)
    hits, others = (shares.hits + 0.5) * ahead, feared * ahead
    rest, other_rest = (1 - k / (n + 1) for k, n in ((shares.hits, shares.trials), (shares.others, shares.other_trials)))
    z = -float(ndtri(goal.alpha / 2))
    each = _below(z, np.sqrt(hits * rest) / (gained * ahead)) + _below(z, np.sqrt(other_rest / others))
    total = _below(-float(ndtri(goal.alpha)), np.sqrt(1 / hits + 1 / others))
    return common, np.full(total.shape, math.inf) if goal.delta else total, each


def _stake(shares: _Shares, spread: Matrix, place: int, goal: Goal, apart: float) -> float | None:
    """The stake for one event; None if what blocks may stray makes it worse than independent samples after all."""
    number = shares.trials / goal.block
    prospect = Prospect(
        goal.block,
        goal.samples // goal.block,
        float(shares.hits[place] + 0.5) / (shares.trials + 1),
        float(shares.others[place] + 0.5) / (shares.other_trials + 1),
        float(spread[place]) / number,
        goal.delta,
    )
    stake, gap = prospect.stake(goal.alpha)
    if gap >= apart:
        return None
    if goal.claim is None:
        return float(stake)
    return prospect.stake_against(goal.claim, goal.alpha, goal.caution * math.sqrt(float(spread[place])) / number)


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
