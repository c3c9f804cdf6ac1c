"""From counts to a statement: an estimate of the loss, a valid lower bound, and an upper one where that is possible.

The samples come in two parts. The first chooses one event for each pair and direction; the second, which chose nothing,
bounds them. The confidence is spent once: half of it on the event that promised most, the rest evenly on the others, and
where an upper bound is given too, half of the whole on that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpest.numerics.binomial import lower as binomial_lower
from dpest.numerics.binomial import upper as binomial_upper
from dpest.numerics.maximum import largest
from dpest.results import Direction
from dpest.sampling.events import Chosen, Counts, Event, Floats, Hits, Ints, choose, promise
from dpest.sampling.table import Table
from dpest.sampling.zeros import Zeros

# In standard errors of the bound that is to come: the caution that pays, beside one for having chosen.
_CAUTION_FOR_BOUND = 2.0
_CAUTION_FOR_ESTIMATE = 0.5
_FIRST_EVIDENCE = 1.65
# Rarer outcomes enter the estimate only together, as part of an event, or where they clearly lead.
_RARE = 1e-3
_FEWEST_HITS = 10
# The expected count at which none is as likely as some: what a zero stands for in an estimate.
_EVEN_CHANCE = math.log(2)


@dataclass(frozen=True)
class Side:
    """What is known of one direction of one pair: the event that was bounded, and the one that shows most."""

    event: Event
    hits: Hits
    lower: float
    infinite: bool
    shown: Event
    shown_hits: Hits


@dataclass(frozen=True)
class Finding:
    """What is known of one pair."""

    epsilon: float
    lower: float
    upper: float
    forward: float
    backward: float
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
    points = [tuple(_points(table, side) for side in pair) for table, pair in zip(tables, sides, strict=True)]
    overall = _estimate([p for pair in points for p in pair])
    findings = tuple(_finding(*found, overall) for found in zip(points, sides, upper, strict=True))
    worst = max(range(len(findings)), key=lambda i: (findings[i].epsilon, findings[i].lower))
    lower, highest = max(f.lower for f in findings), max(f.upper for f in findings)
    epsilon = max(lower, math.inf if any(f.epsilon == math.inf for f in findings) else overall)
    return Conclusion(min(epsilon, highest), lower, highest, worst, findings)


def _finding(points: Sequence[_Points], sides: tuple[Side, Side], upper: float, overall: float) -> Finding:
    lower = max(side.lower for side in sides)
    if any(side.infinite for side in sides):
        upper = math.inf
    upper = max(upper, lower)
    most = min(overall, _estimate(points))
    each = [
        math.inf if side.infinite else max(side.lower, min(most, _estimate([p]))) for p, side in zip(points, sides, strict=True)
    ]
    forward, backward = (min(x, upper) for x in each)
    return Finding(max(forward, backward), lower, upper, forward, backward, sides)


# -- lower bounds --------------------------------------------------------------------------------------------------------


def _sides(tables: Sequence[Table], alpha: float) -> list[tuple[Side, Side]]:
    chosen = [[_chosen(table, d, _CAUTION_FOR_BOUND) for d in BOTH] for table in tables]
    ranked = sorted((-c.promise, i, k) for i, pair in enumerate(chosen) for k, c in enumerate(pair))
    lead = ranked[0][1:]
    others = max(1, 2 * len(tables) - 1)
    zeros = Zeros.of(tables, alpha)
    first, second = (
        [
            _side(table, pair[k], alpha / 2 if (i, k) == lead else alpha / 2 / others, zeros)
            for i, (table, pair) in enumerate(zip(tables, chosen, strict=True))
        ]
        for k in (0, 1)
    )
    return list(zip(first, second, strict=True))


def _chosen(table: Table, direction: Direction, caution: float) -> Chosen:
    ahead = max(1.0, float(table.bounding.left.sum()) / max(1.0, float(table.choosing.left.sum())))
    caution = 1 + caution / math.sqrt(ahead)
    return choose(table.choosing, table.orders(direction), direction, singles=not table.learned, caution=caution)


def _side(table: Table, chosen: Chosen, alpha: float, zeros: Zeros) -> Side:
    direction = chosen.event.direction
    hits = table.bounding.hits(chosen.event)
    lower = hits.lower(alpha, given_total=chosen.given_total) if _worth_claiming(table, chosen.event) else 0.0
    proof = zeros.proof(table, direction)
    if proof is not None:
        return Side(chosen.event, hits, lower, True, *proof)
    return Side(chosen.event, hits, lower, False, *_telling(table, chosen.event, hits))


def _worth_claiming(table: Table, event: Event) -> bool:
    """Whether the part that chose a learned event shows something too: equal laws then hardly ever get a bound above 0."""
    hits = table.choosing.hits(event)
    return not table.learned or not hits.fewer or hits.log_ratio > _FIRST_EVIDENCE * hits.error


def _telling(table: Table, event: Event, hits: Hits) -> tuple[Event, Hits]:
    """An outcome that shows more than the event that was bounded, or that event."""
    if table.learned:
        bolder = _chosen(table, event.direction, _CAUTION_FOR_ESTIMATE).event
        found = [(event, hits), (bolder, table.bounding.hits(bolder))]
    else:
        p, q = table.all.towards(event.direction)
        best = int(np.argmax(promise(p, p.sum(), q, q.sum(), 1.0)))
        single = Event(np.arange(len(p)) == best, event.direction)
        found = [(event, hits), (single, table.all.hits(single))]
    return max(found, key=lambda f: f[1].log_ratio - f[1].error if f[1].fewer else -math.inf)


# -- the estimate --------------------------------------------------------------------------------------------------------


_Points = tuple[Floats, Floats]


def _points(table: Table, side: Side) -> _Points:
    """Log ratios and their errors: of outcomes, or else of events that the first part chose and the second measured."""
    if not table.learned:
        ratios, errors = _outcomes(*table.all.towards(side.event.direction))
        if ratios.size:
            return ratios, errors
    bolder = table.bounding.hits(_chosen(table, side.event.direction, _CAUTION_FOR_ESTIMATE).event)
    events = [h for h in (side.hits, bolder) if h.more and h.of_fewer]
    p, n, q, m = np.array([(h.more, h.of_more, h.fewer or _EVEN_CHANCE, h.of_fewer) for h in events]).reshape(-1, 4).T
    return np.maximum(np.log(p / n) - np.log(q / m), 0.0), np.sqrt(1 / p - 1 / n + 1 / q - 1 / m)


def _outcomes(p: Ints, q: Ints) -> _Points:
    """The outcomes that are likelier under the first input."""
    n, m = int(p.sum()), int(q.sum())
    both = (p > 0) & (q > 0) & (np.maximum(p, q) >= _FEWEST_HITS) & (p * float(m) >= q * float(n))
    p, q = p[both], q[both]
    ratio = np.maximum(np.log(p / n) - np.log(q / m), 0.0)
    error = np.sqrt(1 / p - 1 / n + 1 / q - 1 / m + 1e-300)
    often = p / n >= _RARE
    if often.any():
        often |= (q >= _FEWEST_HITS) & (ratio - 4 * error > ratio[often].max())
        ratio, error = ratio[often], error[often]
    return ratio, error


def _estimate(points: Sequence[_Points]) -> float:
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
