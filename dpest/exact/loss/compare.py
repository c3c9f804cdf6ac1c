"""Two traces -> the privacy loss of the pair, both directions, with the place where it is largest."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeAlias, TypeVar

import numpy as np

from dpest.exact.inference.cases import Constant
from dpest.exact.inference.factors import depth
from dpest.exact.loss.blocks import CoordinateKind, Measures
from dpest.exact.loss.buckets import Bucket, Group, buckets
from dpest.exact.loss.cover import as_good_as
from dpest.exact.loss.logs import ANY, OPEN_ENDED, BothWays, Sup
from dpest.exact.loss.mass import BothMasses, TotalMass, with_stratum
from dpest.exact.loss.strata import REAL, Stratum
from dpest.exact.loss.supremum import glimpse, supremum
from dpest.exact.loss.undone import Layers, Taken, undone
from dpest.trace.columns import constant_key
from dpest.trace.explore import Trace


@dataclass(frozen=True, eq=False)
class StratumLoss:
    """One stratum's loss in one direction: the sum over its blocks."""

    stratum: Stratum
    sups: tuple[Sup, ...]
    value: float
    lower: float
    upper: float
    log_p: float  # of the likeliest law's mass or density at the place
    log_q: float


@dataclass(frozen=True, eq=False)
class Loss:
    """The loss in one direction: the worst bucket, and the worst stratum of each of its groups."""

    value: float
    lower: float
    upper: float
    bucket: Bucket | None
    parts: tuple[StratumLoss, ...]
    settled: bool = True  # whether unexplored paths weigh nothing beside it
    log_unseen: float = -math.inf  # where the other law was not seen to produce the event: what it may weigh there at most


@dataclass(frozen=True, eq=False)
class Comparison:
    """The losses in both directions, and everything that they were taken over."""

    forward: Loss
    backward: Loss
    buckets: tuple[Bucket, ...]
    log_unexplored: tuple[float, float]


_NEGLIGIBLE = 25.0  # nats by which unexplored mass must be smaller than an output's to be negligible beside it

ZERO = Loss(0.0, 0.0, 0.0, None, ())


class OtherProof(Protocol):
    """Upper bounds on the loss in both directions that are proved in another way; None where there are none."""

    @property
    def adds_up(self) -> bool:
        """Whether outputs that share no draw are independent."""

    def bound(self) -> tuple[float, float] | None:
        """The bounds for all outputs."""

    def bound_of(self, key: Any, positions: tuple[int, ...] | None) -> tuple[float, float] | None:
        """The bounds for outputs of one shape, at some positions or at all of them."""


def compare(
    left: Trace,
    right: Trace,
    measures: Measures | None = None,
    proof: Callable[[], OtherProof] | None = None,
    worth: tuple[float, float] = ANY,
) -> Comparison:
    """The privacy loss between the programs' outputs; `proof` is asked for where suprema are slow or stay open.

    Where a direction has no loss above `worth`, its bracket may be wide.
    """
    measures = measures or Measures()
    left, right, layers = undone(left, right)
    found = [replace(b, layers=_of_bucket(b, layers)) if layers else b for b in buckets(left, right, measures)]
    blocks = (block for b in found for g in b.groups for stratum in g.strata for block in stratum.blocks)
    measures.prepare(c for block in blocks for side in (block.left, block.right) for c in side.weights())
    unexplored = left.log_unexplored, right.log_unexplored
    ways: list[list[Loss]] = [[], []]
    bounds: tuple[float, float] | None = None
    least = (-math.inf, -math.inf)  # the upper ends of what was not looked at
    total = TotalMass()
    in_one_piece = all(map(_in_one_piece, (left, right)))
    if in_one_piece:  # no group of outputs loses less than nothing
        worth = max(worth[0], 0.0), max(worth[1], 0.0)
    for i, bucket in enumerate(found):
        if i and proof is not None and _slow(bucket):
            bounds = bounds or proof().bound()
            if bounds is not None and all(_reached(losses, bound) for losses, bound in zip(ways, bounds, strict=True)):
                least = bounds
                total.unknown()
                continue
        each = sum(any(map(_searched, g.strata)) for g in bucket.groups) > 1
        groups = [_group_losses(g, _OpenStrata(bucket, g, proof), worth, each=each) for g in bucket.groups]
        total.add([g.masses for g in groups])
        for way, missing in ((0, unexplored), (1, unexplored[::-1])):
            loss = _bucket_loss(bucket, [g.ways[way] for g in groups], missing)
            if loss is not None:
                ways[way].append(loss)
    total.check(left, right)
    forward, backward = (_worst(losses, trace) for losses, trace in zip(ways, (left, right), strict=True))
    if in_one_piece:
        forward, backward = _at_least_nothing(forward), _at_least_nothing(backward)
    off = left.error + right.error
    forward = replace(forward, lower=forward.lower - off, upper=max(forward.upper, least[0]) + off)
    backward = replace(backward, lower=backward.lower - off, upper=max(backward.upper, least[1]) + off)
    return Comparison(forward, backward, tuple(found), unexplored)


def _in_one_piece(trace: Trace) -> bool:
    """Whether a program has one path, without conditions: every group of its outputs then has all of the probability."""
    path = trace.paths[0]
    bare = not (path.conditions or path.loops or trace.cycles or trace.error)
    return bare and len(trace.paths) == 1 and trace.log_unexplored == -math.inf


def _at_least_nothing(x: Loss) -> Loss:
    return replace(x, value=max(x.value, 0.0), lower=max(x.lower, 0.0), upper=max(x.upper, 0.0))


def _of_bucket(bucket: Bucket, layers: Layers) -> dict[int, Taken]:
    """The functions that outputs of the bucket went through before they were taken off, by position."""
    return {i: layers[bucket.structure, i] for i in range(bucket.size) if (bucket.structure, i) in layers}


def _slow(bucket: Bucket) -> bool:
    """Whether a density of the bucket is an integral of integrals."""
    blocks = (b for g in bucket.groups for s in g.strata for b in s.blocks if CoordinateKind.REAL in b.kinds)
    return any(depth(f) > 1 for b in blocks for side in (b.left, b.right) for f in side.factors())


def _reached(losses: list[Loss], bound: float) -> bool:
    """Whether a loss was found that no other can exceed by more than branch and bound leaves open."""
    return max((x.lower for x in losses), default=-math.inf) >= bound - OPEN * max(1.0, bound)


def _worst(losses: list[Loss], likelier: Trace) -> Loss:
    """The largest loss; without an upper bound where a path that was not explored may return what no other one does."""
    closed = likelier.log_unexplored == -math.inf or likelier.closed
    if not losses:
        return ZERO if closed else replace(ZERO, upper=math.inf)
    worst = max(losses, key=lambda loss: (loss.value, loss.settled))
    upper = max(loss.upper for loss in losses) if closed else math.inf
    return replace(worst, lower=max(loss.lower for loss in losses), upper=upper)


class _OpenStrata:
    """The upper bounds that are proved for a group's strata, once one of them needed a bound or many are slow."""

    def __init__(self, bucket: Bucket, group: Group, proof: Callable[[], OtherProof] | None) -> None:
        self._bucket, self._group, self._proof = bucket, group, proof
        searched = [s for s in group.strata if _searched(s)]
        self._asked = len(searched) >= _MANY or any(map(_integrated, searched))

    def known(self, stratum: Stratum) -> tuple[float, float]:
        """The bounds of a stratum that takes a search."""
        found = self._bound(stratum) if self._asked and _searched(stratum) else None
        return found or (math.inf, math.inf)

    def closed(self, stratum: Stratum, losses: list[StratumLoss | None]) -> list[StratumLoss | None]:
        """The losses of a stratum in both directions, with the upper ends that are proved where they are open."""
        if not any(x is not None and is_open(x) for x in losses):
            return losses
        bounds = self._bound(stratum)
        if bounds is None:
            return losses
        self._asked = True
        return [x and below(x, bound) for x, bound in zip(losses, bounds, strict=True)]

    def _bound(self, stratum: Stratum) -> tuple[float, float] | None:
        if self._proof is None or any(kind is not CoordinateKind.REAL for b in stratum.blocks for kind in b.kinds):
            return None
        proof, fixed = self._proof(), dict(self._bucket.constants)
        positions: tuple[int, ...] | None = self._group.positions
        leaves = dict(stratum.leaves)
        if not proof.adds_up:
            if len(self._bucket.groups) > 1:
                return None
            positions, leaves = None, leaves | {i: Constant(x) for i, x in fixed.items()}
        shape = tuple(("=", constant_key(x.value)) if isinstance(x, Constant) else (REAL,) for _, x in sorted(leaves.items()))
        key = self._bucket.structure, shape
        return proof.bound_of(key if positions is None else (*key, positions), positions)


_MANY = 3  # strata that take a search: from so many on, bounds by alignments are asked for first


def _searched(stratum: Stratum) -> bool:
    """Whether its loss takes a search along a coordinate."""
    return any(b.dimension and not b.equal for b in stratum.blocks)


def _integrated(stratum: Stratum) -> bool:
    """Whether a density on one coordinate is an integral, which branch and bound encloses slowly or not at all."""
    blocks = [b for b in stratum.blocks if b.kinds == (CoordinateKind.REAL,)]
    return any(depth(f) for b in blocks for side in (b.left, b.right) for f in side.factors())


OPEN = 2e-6  # relative: a bracket that is wider than branch and bound leaves it is worth a proof by alignments


def is_open(x: Loss | StratumLoss) -> bool:
    """Whether the upper end is far from what was reached."""
    return x.upper - x.value > OPEN * max(1.0, x.value) and x.value != math.inf


Bounded = TypeVar("Bounded", Loss, StratumLoss)


def below(x: Bounded, bound: float) -> Bounded:
    """The loss under a proved bound, which is right in rationals: a lower end above it has rounding that it does not know of."""
    if max(x.value, x.lower) <= x.upper <= bound:
        return x
    upper = min(x.upper, bound)
    return replace(x, value=min(x.value, upper), lower=min(x.lower, upper), upper=upper)


@dataclass(frozen=True, eq=False)
class _GroupLosses:
    """The worst stratum of a group in each direction (None where the law cannot produce any), and how likely the group is."""

    ways: tuple[StratumLoss | None, StratumLoss | None]
    masses: BothMasses


def _group_losses(group: Group, bounds: _OpenStrata, worth: tuple[float, float] = ANY, *, each: bool = False) -> _GroupLosses:
    """The losses of a group's strata; with `each`, both directions add to those of other groups, and neither stays open."""
    best: list[StratumLoss | None] = [None, None]
    upper = [-math.inf, -math.inf]
    masses: BothMasses = (0.0, 0.0) if group.complete else None
    for stratum in _promising_first(group.strata, bounds):
        reached = [b.lower if b is not None else -math.inf for b in best]
        proved = bounds.known(stratum)
        within = [as_good_as(max(a, w), b) for a, w, b in zip(reached, worth, proved, strict=True)]
        if all(within) and None not in best:
            upper = [max(a, b) for a, b in zip(upper, proved, strict=True)]
            masses = None
            continue
        least = [math.inf if done else max(a, b) for done, a, b in zip(within, reached, worth, strict=True)]
        sups = _suprema(stratum, least, proved, each=each)
        masses = with_stratum(masses, stratum, sups)
        losses = [_stratum_loss(stratum, sups, way) for way in (0, 1)]
        losses = [x and below(x, bound) for x, bound in zip(losses, proved, strict=True)]
        for way, loss in enumerate(bounds.closed(stratum, losses)):
            if loss is None:
                continue
            upper[way] = max(upper[way], loss.upper)
            current = best[way]
            if current is None or loss.value > current.value:
                best[way] = loss
    return _GroupLosses((_capped(best[0], upper[0]), _capped(best[1], upper[1])), masses)


def _promising_first(strata: Sequence[Stratum], bounds: _OpenStrata) -> list[Stratum]:
    """The strata by dimension, and then those first that seem to hold most in either direction.

    Once much was reached, the others need only be known to hold less.
    """
    if len(strata) < 2:
        return list(strata)
    dimension = {id(s): max((b.dimension for b in s.blocks), default=0) for s in strata}
    known = {id(s): bounds.known(s) for s in strata}
    seen = {id(s): _by_bounds(s, *known[id(s)]) if max(known[id(s)]) < math.inf else _glimpsed(s) for s in strata}
    place = {id(s): len(strata) for s in strata}
    for way in (0, 1):
        for i, s in enumerate(sorted(strata, key=lambda s: seen[id(s)][way])):
            place[id(s)] = min(place[id(s)], i)
    return sorted(strata, key=lambda s: (dimension[id(s)], place[id(s)]))


Promise: TypeAlias = tuple[tuple[float, ...], tuple[float, ...]]  # in both directions: the smallest comes first


def _glimpsed(stratum: Stratum) -> Promise:
    """What a few places show of the losses."""
    found = [glimpse(b) for b in stratum.blocks] if _searched(stratum) else []
    return (-sum(x[0] for x in found),), (-sum(x[1] for x in found),)


def _by_bounds(stratum: Stratum, forward: float, backward: float) -> Promise:
    """What the bounds let expect: of equal ones, that is reached most where the other direction has least.

    Outputs that take fewer conditions are likelier, and easier to check by hand.
    """
    asked = sum(b.left.conditions for b in stratum.blocks)
    return (-forward, backward, asked), (-backward, forward, asked)


def _suprema(stratum: Stratum, reached: list[float], proved: tuple[float, float], *, each: bool) -> list[BothWays]:
    """The losses of a stratum's blocks; a single hard one need only be known where it adds to more than was reached."""
    easy = {i: supremum(b) for i, b in enumerate(stratum.blocks) if b.dimension == 0 or b.equal}
    worth, most = ANY, OPEN_ENDED
    given = [(s.forward, s.backward) for s in easy.values()]
    if len(easy) == len(stratum.blocks) - 1 and all(math.isfinite(x.upper) for both in given for x in both):
        others = [sum(both[way].upper for both in given) for way in (0, 1)]
        worth = reached[0] - others[0], reached[1] - others[1]
        others = [sum(both[way].lower for both in given) for way in (0, 1)]
        most = proved[0] - others[0], proved[1] - others[1]
    each = each or len(stratum.blocks) > 1
    return [easy[i] if i in easy else supremum(b, worth, most, each=each) for i, b in enumerate(stratum.blocks)]


def _capped(loss: StratumLoss | None, upper: float) -> StratumLoss | None:
    if loss is None or upper <= loss.upper:
        return loss
    return StratumLoss(loss.stratum, loss.sups, loss.value, loss.lower, upper, loss.log_p, loss.log_q)


def _stratum_loss(stratum: Stratum, sups: list[BothWays], way: int) -> StratumLoss | None:
    """Independent blocks add, per direction; one impossible block makes the whole stratum impossible."""
    chosen = [(s.forward, s.backward)[way] for s in sups]
    if any(not s.possible for s in chosen):
        return None
    return StratumLoss(
        stratum,
        tuple(chosen),
        math.fsum(s.value for s in chosen) if all(math.isfinite(s.value) for s in chosen) else math.inf,
        sum(s.lower for s in chosen),
        sum(s.upper for s in chosen),
        sum(s.log_p for s in chosen),
        sum(s.log_q for s in chosen),
    )


def _bucket_loss(bucket: Bucket, parts: list[StratumLoss | None], unexplored: tuple[float, float]) -> Loss | None:
    """Groups share no noise: their losses add. Mass on unexplored paths may belong to any event: it widens the bracket."""
    if any(p is None for p in parts):
        return None
    kept = tuple(p for p in parts if p is not None)
    value = sum(p.value for p in kept)
    lower, upper = sum(p.lower for p in kept), sum(p.upper for p in kept)
    missing_p, missing_q = unexplored
    settled = True
    if missing_p > -math.inf or missing_q > -math.inf:
        log_p, log_q = sum(p.log_p for p in kept), sum(p.log_q for p in kept)
        settled = min(log_p - missing_p, log_q - missing_q) > _NEGLIGIBLE
        if value == math.inf:
            value, lower, upper = _unproved(log_p, missing_q)
            return Loss(value, lower, upper, bucket, kept, settled, missing_q)
        lower -= float(np.logaddexp(0.0, missing_q - log_q))
        upper += float(np.logaddexp(0.0, missing_p - log_p))
    return Loss(value, lower, upper, bucket, kept, settled)


def _unproved(log_p: float, missing_q: float) -> tuple[float, float, float]:
    """An output seen on one side only, while the other side has unexplored paths that may produce it."""
    at_least = log_p - missing_q
    return at_least, at_least, math.inf
