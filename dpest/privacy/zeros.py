"""Outputs that only one input showed: when is that a loss without bound, and when is it chance?"""

from __future__ import annotations

import math

import numpy as np

from dpest.privacy.events import Counts, Event, Hits
from dpest.privacy.table import Table
from dpest.results import Direction


def chance_explains_zero(hits: int, shared: float, events: int, alpha: float) -> bool:
    """Whether no hit under the other input is plausible at the largest loss that shared outputs support."""
    return math.exp(-hits * math.exp(-min(shared, 700.0))) >= alpha / events


def exclusive(counts: Counts, direction: Direction) -> Event:
    """All cells that were seen under one input alone."""
    p, q = counts.towards(direction)
    return Event((p > 0) & (q == 0), direction)


def largest_shared(table: Table) -> float:
    """The largest loss that outputs seen under both inputs support."""
    counts = table.decided_before
    both = (counts.left > 0) & (counts.right > 0)
    if not both.any():
        return 0.0
    ratios = np.log(counts.left[both] / counts.left.sum()) - np.log(counts.right[both] / counts.right.sum())
    return float(np.abs(ratios).max())


def proof_of_infinity(table: Table, direction: Direction, shared: float, events: int, alpha: float) -> Event | None:
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
