"""From counts to a statement: an estimate of the loss, a valid lower bound, and an upper one where that is possible.

The samples come in two parts. The first chooses one event for each pair and direction; the second, which chose nothing,
bounds them. The confidence is spent once: half of it on the event that promised most, the rest evenly on the others, and
where an upper bound is given too, half of the whole on that.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dpest.engine.columns import Shape
from dpest.numerics.binomial import lower as binomial_lower
from dpest.numerics.binomial import upper as binomial_upper
from dpest.numerics.maximum import largest
from dpest.privacy.events import (
    Chosen,
    Counts,
    Event,
    Floats,
    Hits,
    Ints,
    Mask,
    chance_explains_zero,
    choose,
    exclusive,
    ratio_order,
    score_order,
)
from dpest.results import Direction

# In standard errors of the bound that is to come: the caution that pays, beside one for having chosen.
_CAUTION_FOR_BOUND = 2.0
_CAUTION_FOR_ESTIMATE = 0.5
# Rarer outcomes enter the estimate only together, as part of an event, or where they clearly lead.
_RARE = 1e-3
_FEWEST_HITS = 10


@dataclass(frozen=True)
class Table:
    """The counts of one pair in the parts that order the cells, choose events, and bound them.

    Cells are outcomes or (`learned`) intervals of a score that was learned before; `scores` are high where the first
    input is likelier.
    """

    ordering: Counts
    choosing: Counts
    bounding: Counts
    learned: bool
    words: Callable[[Mask], str]
    scores: Floats | None
    outcomes: frozenset[Shape] = frozenset()

    @property
    def all(self) -> Counts:
        """All parts together."""
        return self.ordering + self.choosing + self.bounding

    @property
    def decided_before(self) -> Counts:
        """The counts of the cells that may be looked at one by one: all of them, unless the cells were made to differ."""
        return self.bounding if self.learned else self.all

    def orders(self, direction: Direction) -> list[Ints]:
        """The orders in which cells are joined to events."""
        by_score = [] if self.scores is None else [score_order(self.scores, direction)]
        return by_score if self.learned else [*by_score, ratio_order(self.ordering, direction)]


@dataclass(frozen=True)
class Side:
    """What is known of one direction of one pair."""

    event: Event
    hits: Hits
    lower: float
    infinite: Hits | None
    infinite_event: Event | None


@dataclass(frozen=True)
class Finding:
    """What is known of one pair."""

    epsilon: float
    lower: float
    upper: float
    sides: tuple[Side, Side]


@dataclass(frozen=True)
class Conclusion:
    """What is known of all pairs together."""

    epsilon: float
    lower: float
    upper: float
    worst: int
    findings: tuple[Finding, ...]


BOTH = (Direction.LEFT, Direction.RIGHT)


def conclude(tables: Sequence[Table], alpha: float, *, exhaustive: bool) -> Conclusion:
    """The largest loss over the pairs, at confidence 1 - alpha for everything that is said."""
    upper = _uppers(tables, alpha / 2) if exhaustive else [math.inf] * len(tables)
    sides = _sides(tables, alpha / 2 if exhaustive else alpha)
    points = [_points(table, pair) for table, pair in zip(tables, sides, strict=True)]
    overall = _estimate(points)
    findings = tuple(_finding(*found, overall) for found in zip(points, sides, upper, strict=True))
    worst = max(range(len(findings)), key=lambda i: (findings[i].epsilon, findings[i].lower))
    lower, highest = max(f.lower for f in findings), max(f.upper for f in findings)
    epsilon = max(lower, math.inf if any(f.epsilon == math.inf for f in findings) else overall)
    return Conclusion(min(epsilon, highest), lower, highest, worst, findings)


def _finding(points: tuple[Floats, Floats], sides: tuple[Side, Side], upper: float, overall: float) -> Finding:
    lower = max(side.lower for side in sides)
    infinite = any(side.infinite for side in sides)
    epsilon = math.inf if infinite else max(lower, min(_estimate([points]), overall))
    return Finding(min(epsilon, upper) if not infinite else epsilon, lower, math.inf if infinite else max(upper, lower), sides)


# -- lower bounds --------------------------------------------------------------------------------------------------------


def _sides(tables: Sequence[Table], alpha: float) -> list[tuple[Side, Side]]:
    chosen = [[_chosen(table, d, _CAUTION_FOR_BOUND) for d in BOTH] for table in tables]
    ranked = sorted((-c.promise, i, k) for i, pair in enumerate(chosen) for k, c in enumerate(pair))
    lead = ranked[0][1:]
    others = max(1, 2 * len(tables) - 1)
    shared = max(0.0, *(_largest_shared(table) for table in tables))
    looked_at = sum(2 * len(table.all.left) + 2 for table in tables)
    zero = (shared, looked_at, alpha)
    first, second = (
        [
            _side(table, pair[k], alpha / 2 if (i, k) == lead else alpha / 2 / others, zero)
            for i, (table, pair) in enumerate(zip(tables, chosen, strict=True))
        ]
        for k in (0, 1)
    )
    return list(zip(first, second, strict=True))


def _chosen(table: Table, direction: Direction, caution: float) -> Chosen:
    ahead = max(1.0, float(table.bounding.left.sum()) / max(1.0, float(table.choosing.left.sum())))
    caution = 1 + caution / math.sqrt(ahead)
    return choose(table.choosing, table.orders(direction), direction, singles=not table.learned, caution=caution)


def _side(table: Table, chosen: Chosen, alpha: float, zero: tuple[float, int, float]) -> Side:
    hits = table.bounding.hits(chosen.event)
    proof = _proof(table, chosen.event.direction, *zero)
    found = None if proof is None else table.decided_before.hits(proof)
    return Side(chosen.event, hits, hits.lower(alpha, given_total=chosen.given_total), found, proof)


# -- zeros ---------------------------------------------------------------------------------------------------------------


def _largest_shared(table: Table) -> float:
    """The largest loss that outputs seen under both inputs support."""
    counts = table.decided_before
    both = (counts.left > 0) & (counts.right > 0)
    if not both.any():
        return 0.0
    ratios = np.log(counts.left[both] / counts.left.sum()) - np.log(counts.right[both] / counts.right.sum())
    return float(np.abs(ratios).max())


def _proof(table: Table, direction: Direction, shared: float, events: int, alpha: float) -> Event | None:
    """An event that only one input showed, where chance cannot explain it."""
    together = exclusive(table.ordering + table.choosing, direction)
    hits = table.bounding.hits(together)
    if hits.more and not hits.fewer and not chance_explains_zero(_scaled(hits), shared, events, alpha):
        return together
    counts = table.decided_before
    p, q = counts.towards(direction)
    alone = np.flatnonzero((p > 0) & (q == 0))
    if not alone.size or not q.sum():
        return None
    best = alone[np.argmax(p[alone])]
    event = Event(np.arange(len(p)) == best, direction)
    return None if chance_explains_zero(_scaled(counts.hits(event)), shared, events, alpha) else event


def _scaled(hits: Hits) -> int:
    """The hits that as many samples of the first input would show as there are of the second."""
    return int(hits.more * min(1.0, hits.of_fewer / hits.of_more))


# -- the estimate --------------------------------------------------------------------------------------------------------


def _points(table: Table, sides: tuple[Side, Side]) -> tuple[Floats, Floats]:
    """Log ratios and their errors: of outcomes, or else of events that the first part chose and the second measured."""
    if not table.learned:
        ratios, errors = _outcomes(table.all)
        if ratios.size:
            return ratios, errors
    bolder = (table.bounding.hits(_chosen(table, d, _CAUTION_FOR_ESTIMATE).event) for d in BOTH)
    events = [h for h in (*(side.hits for side in sides), *bolder) if h.more and h.fewer]
    return np.array([max(0.0, h.log_ratio) for h in events]), np.array([h.error for h in events])


def _outcomes(counts: Counts) -> tuple[Floats, Floats]:
    n, m = int(counts.left.sum()), int(counts.right.sum())
    both = (counts.left > 0) & (counts.right > 0) & (np.maximum(counts.left, counts.right) >= _FEWEST_HITS)
    p, q = counts.left[both], counts.right[both]
    ratio = np.abs(np.log(p / n) - np.log(q / m))
    error = np.sqrt(1 / p - 1 / n + 1 / q - 1 / m + 1e-300)
    often = np.maximum(p / n, q / m) >= _RARE
    if often.any():
        often |= (np.minimum(p, q) >= _FEWEST_HITS) & (ratio - 4 * error > ratio[often].max())
        ratio, error = ratio[often], error[often]
    return ratio, error


def _estimate(points: Sequence[tuple[Floats, Floats]]) -> float:
    return largest(np.concatenate([r for r, _ in points]), np.concatenate([e for _, e in points]))


# -- upper bounds --------------------------------------------------------------------------------------------------------


def _uppers(tables: Sequence[Table], alpha: float) -> list[float]:
    """An upper bound for each pair: every outcome's probability is enclosed under every input, all at once."""
    statements = sum(4 * len(table.all.left) for table in tables)
    return [_upper(table.all, alpha / max(1, statements)) for table in tables]


def _upper(counts: Counts, alpha: float) -> float:
    n, m = int(counts.left.sum()), int(counts.right.sum())
    if not n or not m or (counts.left == 0).any() or (counts.right == 0).any():
        return math.inf
    enclosed = [
        (np.log(binomial_lower(k, total, alpha)), np.log(binomial_upper(k, total, alpha)))
        for k, total in ((counts.left, n), (counts.right, m))
    ]
    (left_low, left_high), (right_low, right_high) = enclosed
    return float(max((left_high - right_low).max(), (right_high - left_low).max(), 0.0))
