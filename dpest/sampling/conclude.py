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
from dpest.results import CountedBound, Direction, Hits
from dpest.sampling.bounds.cell_sets import CellCounts, CellSet, Floats, Ints
from dpest.sampling.tables import Chosen, Table
from dpest.sampling.zeros import Zeros

# Standard errors taken off the ratio of an event that is chosen among many: for the bound as in audits, for the estimate fewer,
# since a bold choice that was wrong costs the estimate little.
_CAUTION_FOR_BOUND = 1.5
_CAUTION_FOR_ESTIMATE = 0.5  # see above
_NO_BOUND = 0.5  # the level at which a bound is the estimate itself
# Standard errors from which outcomes are taken to differ, and count by themselves in the estimate: at 3, one table of geometric
# noise in ten is taken so by chance (one in fifty at 4); sparse vectors, whose outcomes do differ, show 5 to 10 at 400,000.
_DIFFERENT = 4.0
# Standard errors below the rest. Without leaving such outcomes out, rounded Laplace noise, whose middle output loses less, was
# estimated 8 % too high; at 3, too few outcomes of SVT1 are left to see that they differ (0.978 of the loss, 1.011 at 4).
_CLEARLY_BELOW = 4.0
_FIRST_EVIDENCE = 1.65  # standard errors: one-sided 95 %
# Rarer outcomes enter the estimate only together, as part of an event, or where they clearly lead.
_RARE = 1e-3
_FEWEST_HITS = 10  # below, a normal error says little
# The expected count at which none is as likely as some: what a zero stands for in an estimate.
_EVEN_CHANCE = math.log(2)


@dataclass(frozen=True)
class DirectionFinding:
    """What is known of one direction of one pair: the event that was bounded, and the one that shows most."""

    event: CellSet
    bound: CountedBound
    infinite: bool
    shown: CellSet
    shown_hits: Hits

    @property
    def lower(self) -> float:
        """The bound that follows from the counts."""
        return self.bound.lower


@dataclass(frozen=True)
class Finding:
    """What is known of one pair."""

    epsilon: float
    lower: float
    upper: float
    forward: float
    backward: float
    sides: tuple[DirectionFinding, DirectionFinding]


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


def _finding(
    points: Sequence[_Points], sides: tuple[DirectionFinding, DirectionFinding], upper: float, overall: float
) -> Finding:
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


def _sides(tables: Sequence[Table], alpha: float) -> list[tuple[DirectionFinding, DirectionFinding]]:
    chosen = [[table.choose(d, alpha / 2, _CAUTION_FOR_BOUND) for d in BOTH] for table in tables]
    ranked = sorted((-c.promise, i, k) for i, pair in enumerate(chosen) for k, c in enumerate(pair))
    lead = ranked[0][1:]
    others = max(1, 2 * len(tables) - 1)
    measured = [table.bounding.hits(c.event) for table, pair in zip(tables, chosen, strict=True) for c in pair]
    zeros = Zeros.of(tables, max([0.0, *(h.log_ratio for h in measured if h.fewer)]), alpha)
    first, second = (
        [
            _side(table, pair[k], alpha / 2 if (i, k) == lead else alpha / 2 / others, zeros)
            for i, (table, pair) in enumerate(zip(tables, chosen, strict=True))
        ]
        for k in (0, 1)
    )
    return list(zip(first, second, strict=True))


def _bold(table: Table, direction: Direction) -> CellSet:
    """The event that shows most, with little caution."""
    return table.choose(direction, _NO_BOUND, _CAUTION_FOR_ESTIMATE).event


def _side(table: Table, chosen: Chosen, alpha: float, zeros: Zeros) -> DirectionFinding:
    direction = chosen.event.direction
    hits = table.bounding.hits(chosen.event)
    bound = hits.bound(alpha if _worth_claiming(table, chosen.event) else 0.0, given_total=chosen.given_total)
    proof = zeros.proof(table, direction)
    if proof is not None:
        return DirectionFinding(chosen.event, bound, True, *proof)
    return DirectionFinding(chosen.event, bound, False, *_telling(table, chosen.event, hits))


def _worth_claiming(table: Table, event: CellSet) -> bool:
    """Whether the part that chose a learned event shows something too: equal laws then hardly ever get a bound above 0."""
    hits = table.choosing.hits(event)
    return not table.learned or not hits.fewer or hits.log_ratio > _FIRST_EVIDENCE * hits.error


def _telling(table: Table, event: CellSet, hits: Hits) -> tuple[CellSet, Hits]:
    """The event that was bounded, or a bolder one that shows more."""
    bolder = _bold(table, event.direction)
    found = [(event, hits), (bolder, table.bounding.hits(bolder))]
    return max(found, key=lambda f: f[1].log_ratio - f[1].error if f[1].fewer else -math.inf)


# -- the estimate --------------------------------------------------------------------------------------------------------


_Points = tuple[Floats, Floats]


def _points(table: Table, side: DirectionFinding) -> _Points:
    """Log ratios and their errors: of events that the first part chose and the second measured, or of single outcomes.

    The largest ratio of many outcomes is too large by chance, so that they count only where they are seen to differ.
    """
    direction = side.event.direction
    events = [h for h in (side.bound, table.bounding.hits(_bold(table, direction))) if h.more and h.of_fewer]
    p, n, q, m = np.array([(h.more, h.of_more, h.fewer or _EVEN_CHANCE, h.of_fewer) for h in events]).reshape(-1, 4).T
    ratios, errors = np.maximum(np.log(p / n) - np.log(q / m), 0.0), np.sqrt(1 / p - 1 / n + 1 / q - 1 / m)
    if not table.learned and _differ(*table.favoured(direction)):
        single = _outcomes(*table.all.towards(direction))
        return np.concatenate([ratios, single[0]]), np.concatenate([errors, single[1]])
    return ratios, errors


def _differ(p: Ints, q: Ints) -> bool:
    """Whether some of the outcomes have larger ratios than all of them together, by more than chance explains.

    Squared distances in standard errors, of those above alone: half a unit each on average, with a variance of 5/4. Outcomes that
    lie clearly below the rest are left out first: beside them, outcomes of one ratio would all seem to stand out.
    """
    often = p + q >= _FEWEST_HITS
    p, total = p[often], (p + q)[often]
    while len(p) >= 2:
        share = min(max(float(p.sum() / total.sum()), 1e-9), 1 - 1e-9)
        off = (p - total * share) / np.sqrt(total * share * (1 - share))
        kept = off > -_CLEARLY_BELOW
        if kept.all():
            return float(np.sum(np.maximum(off, 0.0) ** 2)) > len(p) / 2 + _DIFFERENT * math.sqrt(1.25 * len(p))
        p, total = p[kept], total[kept]
    return True


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


def _upper(counts: CellCounts, alpha: float) -> float:
    n, m = int(counts.left.sum()), int(counts.right.sum())
    if not n or not m or (counts.left == 0).any() or (counts.right == 0).any():
        return math.inf
    enclosed = [
        (np.log(binomial_lower(k, total, alpha)), np.log(binomial_upper(k, total, alpha)))
        for k, total in ((counts.left, n), (counts.right, m))
    ]
    (left_low, left_high), (right_low, right_high) = enclosed
    return float(max((left_high - right_low).max(), (right_high - left_low).max(), 0.0))
