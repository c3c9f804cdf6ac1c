"""The final bound: counts on fresh samples into a statement about epsilon or delta, one alpha spent once."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dpest.numerics import binomial
from dpest.results import Direction
from dpest.sampling.bounds.common_noise import Blocks, epsilon_lower_common, p_value_common
from dpest.sampling.bounds.dependence import Unit


@dataclass(frozen=True)
class Counts:
    """Hits of an event under both inputs; with what blocks of common noise show of their dependence, if they had any."""

    left: int = 0
    right: int = 0
    trials_left: int = 0
    trials_right: int = 0
    blocks: Blocks | None = None

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            self.left + other.left,
            self.right + other.right,
            self.trials_left + other.trials_left,
            self.trials_right + other.trials_right,
            self.blocks + other.blocks if self.blocks and other.blocks else self.blocks or other.blocks,
        )

    def ordered(self, direction: Direction) -> tuple[int, int, int, int]:
        """(hits, trials) under the likelier input, then under the other."""
        if direction is Direction.LEFT:
            return self.left, self.trials_left, self.right, self.trials_right
        return self.right, self.trials_right, self.left, self.trials_left


@dataclass(frozen=True)
class Statement:
    """What is to be bounded and how, fixed before the final samples: the direction, delta, alpha, and how samples are drawn.

    With a stake, both inputs run on the same streams, and the bound holds whenever one stops; without, on streams of their own.
    `given_total` says which of two bounds on independent counts is used: the event's size decides which is sharper.
    `looks` says that the counts are looked at while they grow: half of alpha then pays for that, half for the bound at the end.
    """

    direction: Direction
    alpha: float
    delta: float = 0.0
    stake: float | None = None
    unit: Unit = Unit.RUNS
    looks: bool = False
    given_total: bool = True

    def lower(self, counts: Counts, *, ended: bool = True) -> float:
        """The lower bound on epsilon that these counts prove; `ended`: their number was fixed beforehand and is reached."""
        if self.stake is not None:
            if counts.blocks is None:
                return 0.0
            return epsilon_lower_common(self.oriented(counts), self.stake, self.alpha, self.delta, self.unit)
        alpha = self.alpha / 2 if self.looks else self.alpha
        found = [epsilon_lower(counts, self.direction, alpha, self.delta, given_total=self.given_total)] if ended else []
        if self.looks or not ended:
            found.append(epsilon_lower_anytime(counts, self.direction, alpha, self.delta))
        return max(found)

    def p_value(self, counts: Counts, claim: float) -> float:
        """A p-value of "the mechanism is claim-DP" from counts in blocks."""
        assert self.stake is not None
        return p_value_common(self.oriented(counts), self.stake, self.alpha, claim, self.delta, self.unit)

    def oriented(self, counts: Counts) -> Blocks:
        """The blocks with the likelier input first."""
        assert counts.blocks is not None
        return counts.blocks if self.direction is Direction.LEFT else counts.blocks.swapped()


def epsilon_lower(
    counts: Counts, direction: Direction, alpha: float, delta: float = 0.0, *, given_total: bool = True
) -> float:
    """A lower bound on epsilon at this delta that fails with probability at most alpha, for an event fixed beforehand.

    The counts under both inputs are independent.
    """
    k1, n1, k2, n2 = counts.ordered(direction)
    if n1 == 0 or n2 == 0:
        return 0.0
    if delta == 0 and given_total:
        return float(binomial.ratio_lower(k1, n1, k2, n2, alpha))
    low, high = _shares(counts, direction, alpha, anytime=False)
    return _log_ratio(low - delta, high)


def epsilon_lower_published(
    counts: Counts, direction: Direction, alpha: float, floor: float = 0.0, *, anytime: bool = False
) -> float:
    """DP-Sniper's bound: Clopper-Pearson at alpha / 2 on each side, probabilities below the floor counted as the floor."""
    low, high = _shares(counts, direction, alpha, anytime)
    return _log_ratio(max(low, floor), max(high, floor))


def _shares(counts: Counts, direction: Direction, alpha: float, anytime: bool) -> tuple[float, float]:
    """A lower bound on P(S) and an upper one on P'(S) that hold together, whatever the counts have to do with each other."""
    k1, n1, k2, n2 = counts.ordered(direction)
    if n1 == 0 or n2 == 0:
        return 0.0, 1.0
    if anytime:
        low, high = binomial.confidence_sequence(k1, n1, alpha / 2)[0], binomial.confidence_sequence(k2, n2, alpha / 2)[1]
        return float(low), float(high)
    return float(binomial.lower(k1, n1, alpha / 2)), float(binomial.upper(k2, n2, alpha / 2))


def epsilon_lower_anytime(counts: Counts, direction: Direction, alpha: float, delta: float = 0.0) -> float:
    """The same statement when one may look as often as one likes and stop when one likes."""
    low, high = _shares(counts, direction, alpha, anytime=True)
    return _log_ratio(low - delta, high)


def delta_lower(counts: Counts, direction: Direction, alpha: float, epsilon: float, *, anytime: bool = False) -> float:
    """A lower bound on delta at this epsilon: P(S) - exp(epsilon) P'(S)."""
    low, high = _shares(counts, direction, alpha, anytime)
    return max(low - math.exp(min(epsilon, 700.0)) * high, 0.0)


def point_estimate(counts: Counts, direction: Direction, delta: float = 0.0) -> float:
    """The loss that the counts show; half a hit stands for none."""
    k1, n1, k2, n2 = counts.ordered(direction)
    if k1 == 0 or n1 == 0 or n2 == 0:
        return 0.0
    return _log_ratio(k1 / n1 - delta, max(k2, 0.5) / n2)


def _log_ratio(high: float, low: float) -> float:
    return max(math.log(high) - math.log(low), 0.0) if high > 0 else 0.0
