"""Events chosen on one part of the samples, and what the other part says of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpest.numerics.binomial import ratio_lower, ratio_lower_clopper_pearson
from dpest.results import Direction

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Counts:
    """How many of the samples of each input fall into each cell."""

    left: Ints
    right: Ints

    def towards(self, direction: Direction) -> tuple[Ints, Ints]:
        """The counts with the input that is claimed to be likelier first."""
        return (self.left, self.right) if direction is Direction.LEFT else (self.right, self.left)

    def hits(self, event: Event) -> Hits:
        """The counts of an event."""
        p, q = self.towards(event.direction)
        return Hits(int(p[event.cells].sum()), int(p.sum()), int(q[event.cells].sum()), int(q.sum()))

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.left + other.left, self.right + other.right)


@dataclass(frozen=True)
class Event:
    """A set of cells, and the input under which it is claimed to be likelier."""

    cells: Mask
    direction: Direction


@dataclass(frozen=True)
class Hits:
    """An event's count under the input that makes it likelier, and under the other."""

    more: int
    of_more: int
    fewer: int
    of_fewer: int

    @property
    def log_ratio(self) -> float:
        """The log of the ratio of frequencies."""
        return _log_share(self.more, self.of_more) - _log_share(self.fewer, self.of_fewer) if self.more else -math.inf

    @property
    def error(self) -> float:
        """The standard error of the log ratio."""
        if not self.more or not self.fewer:
            return math.inf
        return math.sqrt(1 / self.more - 1 / self.of_more + 1 / self.fewer - 1 / self.of_fewer)

    def lower(self, alpha: float, *, given_total: bool) -> float:
        """A lower bound on the event's log ratio, at level alpha."""
        if not self.of_more or not self.of_fewer:
            return 0.0
        bound = ratio_lower if given_total else ratio_lower_clopper_pearson
        return float(bound(self.more, self.of_more, self.fewer, self.of_fewer, alpha))

    def times(self, factor: int) -> Hits:
        """The same frequencies in a larger sample."""
        return Hits(self.more * factor, self.of_more * factor, self.fewer * factor, self.of_fewer * factor)


def _log_share(k: int, n: int) -> float:
    return math.log(k) - math.log(n) if k else -math.inf


@dataclass(frozen=True)
class Chosen:
    """An event with the promise that made it the choice, and the bound that suits its size."""

    event: Event
    promise: float
    given_total: bool


def choose(counts: Counts, orders: Sequence[Ints], direction: Direction, *, singles: bool, caution: float) -> Chosen:
    """The event with the best promise: its log ratio less `caution` standard errors.

    Cells are joined in the given orders, which must not come from the same samples. Single cells are looked at too
    where that is asked for; the best of many promises too much, and so they need more caution.
    """
    p, q = counts.towards(direction)
    candidates = [_joined(p, q, order, caution) for order in orders]
    if singles:
        alone = promise(p, p.sum(), q, q.sum(), caution + math.sqrt(2 * math.log(len(p))))
        candidates.append((float(alone.max()), np.array([int(np.argmax(alone))])))
    best, cells = max(candidates, key=lambda c: c[0])
    event = Event(np.isin(np.arange(len(p)), cells), direction)
    return Chosen(event, best, _prefers_total(counts.hits(event)))


def ratio_order(counts: Counts, direction: Direction) -> Ints:
    """Cells in the order of their ratios, likeliest for the direction first."""
    p, q = counts.towards(direction)
    # Five more hits on either side: a cell seen once under one input alone does not come first.
    return np.argsort(-np.log((p + 5.0) / (q + 5.0 * q.sum() / max(p.sum(), 1))), kind="stable")


def score_order(scores: Floats, direction: Direction) -> Ints:
    """Cells in the order of scores, which are high where the first input is likelier."""
    return np.argsort(scores if direction is Direction.RIGHT else -scores, kind="stable")


def _joined(p: Ints, q: Ints, order: Ints, caution: float) -> tuple[float, Ints]:
    promises = promise(np.cumsum(p[order]), p.sum(), np.cumsum(q[order]), q.sum(), caution)
    best = int(np.argmax(promises))
    return float(promises[best]), order[: best + 1]


def promise(p: Ints, n: int, q: Ints, m: int, caution: float) -> Floats:
    """The log ratio less `caution` errors; where that is below 0, how far the ratio is from 0 counts, in errors.

    The logarithm of a small count is far from normal, and a count of 0 has an upper limit too: the limit of a root is
    used, sqrt(q + 3/8) being nearly normal with error 1/2 (Anscombe 1948), and the two sides' distances to their limits
    are added as squares (Zou and Donner 2008).
    """
    more, fewer = p + 0.5, q + 0.5
    ratio: Floats = np.log(more / (n + 1)) - np.log(fewer / (m + 1))
    below = caution * np.sqrt(np.maximum(1 / more - 1 / (n + 1), 1e-12))
    above = np.log(np.square(np.sqrt(q + 0.375) + caution / 2) / fewer) * np.sqrt(np.maximum(1 - fewer / (m + 1), 1e-12))
    distance = np.hypot(below, above)
    sure = ratio - distance
    return np.where(p > 0, np.where(sure > 0, sure, caution * (ratio / distance - 1)), -np.inf)


def _prefers_total(hits: Hits) -> bool:
    """Which of two bounds suits: both are valid, and the samples that bound must not be asked."""
    return hits.lower(0.05, given_total=True) >= hits.lower(0.05, given_total=False)
