"""The loss between two samples: events are chosen on one half and measured on the other."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpest.errors import InvalidInput
from dpest.numerics.binomial import ratio_lower
from dpest.sampling.cells import Cells, Codes, Label
from dpest.sampling.zeros import chance_explains_zero, ratio_upper

ALPHA = 0.05
_CANDIDATES = 20  # exclusive outputs that are looked at in each direction of a partition
_OFTEN = 10  # hits of an output that enters their union
_EVENTS = 200  # events, from small to large, that are looked at in each direction of a partition
_SHUFFLE = 20210523  # samples may come sorted: the halves are taken from a fixed permutation


@dataclass(frozen=True)
class Exclusive:
    """An output that only one input showed."""

    event: str
    direction: str
    hits: int
    samples: int
    other_samples: int
    bound: float  # the loss that its counts establish; infinite where chance cannot explain the zero


@dataclass(frozen=True)
class SampleLoss:
    """The estimate of the loss, and the outputs that only one input showed."""

    epsilon: float
    exclusive: tuple[Exclusive, ...]


@dataclass(frozen=True)
class _Halves:
    """Counts of every cell, in the half that chooses and in the half that measures; the likelier side first."""

    choose: tuple[Codes, Codes]
    measure: tuple[Codes, Codes]
    label: Label
    direction: str


def sample_loss(partitions: list[Cells]) -> SampleLoss:
    """The largest loss, over the partitions and both directions, of the events chosen in each."""
    if any(len(side) < 2 for side in (partitions[0].left, partitions[0].right)):
        raise InvalidInput("at least two samples of each law are needed: one to choose an event and one to measure it")
    ways = [way for cells in partitions for way in _both_ways(cells)]
    alpha = ALPHA / len(ways)
    shared = max(max(0.0, _measured(way)) for way in ways)
    found = tuple(zero for way in ways for zero in _exclusive(way, max(shared, _supported(way)), alpha / 2))
    return SampleLoss(max([shared, *(zero.bound for zero in found)]), found)


def _both_ways(cells: Cells) -> Iterator[_Halves]:
    rng = np.random.default_rng(_SHUFFLE)
    order = [rng.permutation(len(side)) for side in (cells.left, cells.right)]
    middle = [len(o) // 2 for o in order]
    first = cells.counts(order[0][: middle[0]], order[1][: middle[1]])
    second = cells.counts(order[0][middle[0] :], order[1][middle[1] :])
    yield _Halves(first, second, cells.label, "D over D'")
    yield _Halves(first[::-1], second[::-1], cells.label, "D' over D")


def _supported(way: _Halves) -> float:
    """The largest loss in this direction that cells seen on both sides support, at most."""
    p, q = (first + second for first, second in zip(way.choose, way.measure, strict=True))
    both = (p > 0) & (q > 0)
    return float(max([0.0, *ratio_upper(p[both], int(p.sum()), q[both], int(q.sum()), ALPHA / 2)]))


def _measured(way: _Halves) -> float:
    """The log ratio in one half of the event that the other half finds most promising, averaged over both ways round."""
    return (_held_out(way.choose, way.measure) + _held_out(way.measure, way.choose)) / 2


def _held_out(choose: tuple[Codes, Codes], measure: tuple[Codes, Codes]) -> float:
    event = _promising(*choose)
    k, j = (int(side[event].sum()) for side in measure)
    n, m = (int(side.sum()) for side in measure)
    return math.log(k / n) - math.log(j / m) if k and j else 0.0


def _promising(p: Codes, q: Codes) -> NDArray[np.bool_]:
    """The cells above a ratio, chosen so that the event's own lower bound is largest; above 1 where no bound is above 0."""
    n, m = int(p.sum()), int(q.sum())
    shared = np.flatnonzero((p > 0) & (q > 0))
    chosen = np.zeros(len(p), dtype=bool)
    if shared.size:
        ratio = p[shared] * m / (q[shared] * n)
        order = shared[np.argsort(-ratio, kind="stable")]
        ends = np.unique(np.geomspace(1, len(order), _EVENTS).astype(int)) - 1
        bounds = ratio_lower(np.cumsum(p[order])[ends], n, np.cumsum(q[order])[ends], m, ALPHA / len(ends))
        last = int(ends[np.argmax(bounds)]) if bounds.max() > 0 else int((ratio > 1).sum()) - 1
        chosen[order[: last + 1]] = True
    return chosen


def _exclusive(way: _Halves, supported: float, alpha: float) -> Iterator[Exclusive]:
    """Outputs that the choosing half saw on one side alone, and the measuring half too.

    A zero is infinite only if chance cannot explain it at the loss that shared outputs support at most: k hits on one side
    make exp(-k exp(-loss)) the probability of none on the other. Otherwise it counts with its confidence bound.
    """
    p, q = way.choose
    alone = np.flatnonzero((q == 0) & (p > 0))
    alone = alone[np.argsort(-p[alone], kind="stable")]
    often = alone[p[alone] >= _OFTEN]
    events = [alone[[i]] for i in range(min(len(alone), _CANDIDATES))] + ([often] if len(often) > 1 else [])
    n, m = (int(side.sum()) for side in way.measure)
    for cells in events:
        k, j = (int(side[cells].sum()) for side in way.measure)
        if j or not k:
            continue
        level = alpha / len(events)
        certain = not chance_explains_zero(k, supported, level)
        bound = math.inf if certain else float(ratio_lower(k, n, 0, m, level))
        hits, samples = int(p[cells].sum()) + k, int(p.sum()) + n
        yield Exclusive(_event(way, cells), way.direction, hits, samples, int(q.sum()) + m, bound)


def _event(way: _Halves, cells: Codes) -> str:
    shown = " or ".join(way.label(int(c)) for c in cells[:3])
    return shown if len(cells) <= 3 else f"{shown} or one of {len(cells) - 3} more"
