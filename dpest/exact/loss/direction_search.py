"""The largest log ratio of two laws of a direction, by branch and bound over boxes that hold all directions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from dpest.errors import ExactRefused
from dpest.exact.inference.direction import NoisyRay, mixed
from dpest.exact.inference.ratio import BoundedDraw
from dpest.exact.loss.blocks import Block
from dpest.exact.loss.cover import as_good_as
from dpest.exact.loss.direction import Cone, DirectionSide
from dpest.exact.loss.logs import BothWays, Sup
from dpest.exact.loss.ratio import moved_noise
from dpest.numerics.logspace import Floats

_CLOSE = 1e-6  # relative: bounds are off by the square of a box's size, so that a tenth of it takes one or two rounds more
_LEAST = 5e-8  # what stays open of small losses: integrals leave a few times 1e-8 open
_MOST_SIDES = 2  # of boxes: with more, their number grows too fast
# Looked at in all rounds; what is open then stays in the bracket. Three noisy values take some 3,000 evaluations for a box: half
# of what a pair is given at most, so that a wide bracket is an answer and no refusal.
_MOST_BOXES = 25_000
_ROUNDS = 60  # each halves boxes: more are below the rounding of doubles
_FIRST = 4  # parts of each side at the start
_GRID = np.array([-1.0, -0.5, -1e-9, 0.0, 1e-9, 0.5, 1.0])  # of each side: where a search begins
_MOST_STARTS = 2000
_LEAST_STEP = 1e-5  # of a climb: the loss at a smooth maximum is known to the square of it


@dataclass
class _BestDirection:
    """The largest ratio that was evaluated in one direction, and where."""

    value: float = -math.inf
    lower: float = -math.inf
    u: Floats | None = None
    logs: tuple[float, float] = (-math.inf, -math.inf)


def direction_supremum(block: Block, *, each: bool = False) -> BothWays:
    """The block's loss in both directions; without `each` it is enough to know that the smaller one is smaller."""
    p, q = block.left, block.right
    assert isinstance(p, DirectionSide)
    assert isinstance(q, DirectionSide)
    cones = {c for c, _ in p.shares}
    if cones != {c for c, _ in q.shares}:
        raise ExactRefused("quotients of random values with conditions that differ between the inputs")
    if any(not a.excludes(b) for a, b in itertools.combinations(cones, 2)):
        raise ExactRefused("quotients of random values whose cases overlap")
    found = [_DirectionSearch(p, q, cone, each=each).answer() for cone in sorted(cones, key=repr)]
    return BothWays(*(_largest([(f.forward, f.backward)[way] for f in found]) for way in (0, 1)))


def _largest(sups: list[Sup]) -> Sup:
    best = max(sups, key=lambda s: s.value)
    return Sup(best.value, max(s.lower for s in sups), max(s.upper for s in sups), best.at, best.log_p, best.log_q)


class _DirectionSearch:
    """Both laws in one cone."""

    def __init__(self, p: DirectionSide, q: DirectionSide, cone: Cone, *, each: bool) -> None:
        self.p, self.q, self.cone = p, q, cone
        self.parts = tuple(tuple(s for c, s in side.shares if c == cone) for side in (p, q))
        self.sides = len(self.parts[0][0].noises)
        self.best = [_BestDirection(), _BestDirection()]
        self.each = each
        self.caps = _pairwise(self.parts[0], self.parts[1], cone), _pairwise(self.parts[1], self.parts[0], cone)

    def answer(self) -> BothWays:
        """The suprema with their brackets."""
        self._look(self._starts())
        if not self._done() and self.sides - 1 > _MOST_SIDES:
            self._climb()
        uppers = np.array(self.caps)
        if not self._done() and self.sides - 1 <= _MOST_SIDES:
            uppers = np.minimum(uppers, self._bounded())
        return BothWays(*(self._sup(way, float(uppers[way])) for way in (0, 1)))

    def _sup(self, way: int, upper: float) -> Sup:
        b = self.best[way]
        if b.u is None:
            raise ExactRefused("quotients of random values of which no direction was found that both inputs are known well at")
        assert self.p.shape is not None
        return Sup(b.value, b.lower, max(upper, b.value), self.p.shape.outputs(b.u), *b.logs)

    def _done(self) -> bool:
        """Whether the larger direction has reached what no direction exceeds, or each of them."""
        if self.each:
            return all(as_good_as(b.lower, cap) for b, cap in zip(self.best, self.caps, strict=True))
        return as_good_as(max(b.lower for b in self.best), max(self.caps))

    # -- what is reached ---------------------------------------------------------------------------------------------

    def _faces(self) -> list[tuple[int, float]]:
        """The charts: one coordinate is 1, or -1 where the two are told apart."""
        signs = (1.0, -1.0) if self.cone.rows else (1.0,)
        return [(k, s) for k in range(self.sides) for s in signs]

    def _starts(self) -> Floats:
        grid = _GRID if len(_GRID) ** (self.sides - 1) <= _MOST_STARTS else _GRID[[0, 3, 6]]
        if len(grid) ** (self.sides - 1) > _MOST_STARTS:  # single values against the others
            inner = np.concatenate([np.zeros((1, self.sides - 1)), np.ones((1, self.sides - 1)), np.eye(self.sides - 1)])
            inner = np.concatenate([inner, 1 - inner])
        else:
            inner = np.array(list(itertools.product(grid, repeat=self.sides - 1)))
        rows = [np.insert(inner, k, s, axis=1) for k, s in self._faces()]
        return np.concatenate(rows)

    def _inside(self, u: Floats) -> npt.NDArray[np.bool_]:
        if not self.cone.rows:
            return np.ones(len(u), bool)
        return np.asarray((u @ self.cone.table.T >= 0).all(axis=1))

    def _look(self, u: Floats) -> None:
        """Evaluate the ratio at directions."""
        u = u[self._inside(u)]
        if not len(u):
            return
        (a, e), (b, f) = (side.log_at(self.cone, u) for side in (self.p, self.q))
        known = np.isfinite(a) & np.isfinite(b) & (e < 1e-6) & (f < 1e-6)
        for way, sign in ((0, 1.0), (1, -1.0)):
            with np.errstate(invalid="ignore"):
                ratio = np.where(known, sign * (a - b), -np.inf)
            i = int(np.argmax(ratio))
            if ratio[i] > self.best[way].value:
                off = float(e[i] + f[i]) + 2.3e-16 * (4 + abs(float(a[i])) + abs(float(b[i])))
                logs = (float(a[i]), float(b[i])) if way == 0 else (float(b[i]), float(a[i]))
                self.best[way] = _BestDirection(float(ratio[i]), float(ratio[i]) - off, u[i], logs)

    def _climb(self) -> None:
        """From the best directions upwards, in steps along each coordinate that are halved where none helps."""
        for way in (0, 1):
            step = 0.25
            while step > _LEAST_STEP:
                start = self.best[way]
                assert start.u is not None
                moves = np.concatenate([np.eye(self.sides), -np.eye(self.sides)]) * step
                u = start.u + moves
                self._look(u / np.abs(u).max(axis=1)[:, None])
                if self.best[way].value <= start.value + 1e-12:
                    step *= 0.5

    # -- what is not exceeded ----------------------------------------------------------------------------------------

    def _bounded(self) -> Floats:
        """Upper bounds in both directions, by branch and bound."""
        boxes = self._first()
        uppers = np.full(2, -math.inf)
        seen = 0
        for turn in range(_ROUNDS):
            low, high = boxes
            seen += len(low)
            bounds = np.minimum(self._bounds(low, high), np.array(self.caps)[:, None])
            for bound in bounds:
                self._look(0.5 * (low + high)[np.argsort(-bound)[:32]])
            goals = np.array([b.value for b in self.best])[:, None]
            goals = goals if self.each else np.full((2, 1), goals.max())
            known = np.where(np.isfinite(goals), goals, 0.0)
            wanted = (bounds > goals + np.maximum(_LEAST, _CLOSE * np.abs(known))).any(axis=0)
            if turn == _ROUNDS - 1 or seen + 2 * int(wanted.sum()) > _MOST_BOXES:
                wanted[:] = False
            uppers = np.maximum(uppers, bounds[:, ~wanted].max(axis=1, initial=-math.inf))
            if not wanted.any():
                break
            boxes = self._halved(low[wanted], high[wanted])
        return uppers

    def _first(self) -> tuple[Floats, Floats]:
        edges = np.linspace(-1.0, 1.0, 2 * _FIRST + 1)
        lows, highs = [], []
        for k, s in self._faces():
            ends = [(edges[:-1], edges[1:])] * (self.sides - 1)
            for cell in itertools.product(*(range(len(e[0])) for e in ends)):
                lows.append(np.insert([e[0][c] for e, c in zip(ends, cell, strict=True)], k, s))
                highs.append(np.insert([e[1][c] for e, c in zip(ends, cell, strict=True)], k, s))
        return self._kept(np.array(lows), np.array(highs))

    def _halved(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        rows = np.arange(len(low))
        side = (high - low).argmax(axis=1)
        middle = 0.5 * (low + high)[rows, side]
        first, second = high.copy(), low.copy()
        first[rows, side] = middle
        second[rows, side] = middle
        return self._kept(np.concatenate([low, second]), np.concatenate([first, high]))

    def _kept(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """Without the boxes outside the cone: across its boundary both densities go on, and are bounded there too."""
        if not self.cone.rows:
            return low, high
        table = self.cone.table
        most = np.maximum(low[:, None, :] * table, high[:, None, :] * table).sum(axis=2)
        keep = (most > 0).all(axis=1)
        return low[keep], high[keep]

    def _bounds(self, low: Floats, high: Floats) -> Floats:
        """What the ratios are at most over each box, a row for each direction."""
        p, q = (mixed([s.on_boxes(low, high) for s in part]) for part in self.parts)
        half = 0.5 * (high - low)
        tilt = (np.abs(p.slopes - q.slopes) * half).sum(axis=1)
        off = p.error + q.error + ((p.error * np.abs(p.slopes).T + q.error * np.abs(q.slopes).T).T * half).sum(axis=1)
        out = []
        for one, other in ((p, q), (q, p)):
            bound = one.log - other.log + tilt + one.above * (1 + p.error) + other.below * (1 + q.error) + off
            out.append(np.where(np.isnan(bound) | (off > 0.1), np.inf, bound))
        return np.stack(out)


# -- a bound from the noisy values themselves ------------------------------------------------------------------------


def _pairwise(p: Sequence[NoisyRay], q: Sequence[NoisyRay], cone: Cone) -> float:
    """The largest of the losses of matching cases: a ratio of sums is no larger than the largest ratio of matching terms."""
    mine, others = sorted(p, key=_form), sorted(q, key=_form)
    if [_form(s) for s in mine] != [_form(s) for s in others]:
        return math.inf
    return max(_pair(a, b, cone) for a, b in zip(mine, others, strict=True))


def _form(share: NoisyRay) -> str:
    """What two cases must have in common to be compared term by term."""
    return repr([(repr(n.law), float(n.factor)) for n in share.noises])


def _pair(a: NoisyRay, b: NoisyRay, cone: Cone) -> float:
    out = a.log_weight - b.log_weight + a.error + b.error + 1e-14
    for i, (f, g) in enumerate(zip(a.noises, b.noises, strict=True)):
        f, g = (_bounded(x, i, cone) for x in (f, g))
        out += moved_noise(f, g)
    return out


def _bounded(noise: BoundedDraw, i: int, cone: Cone) -> BoundedDraw:
    """A value with the sign that the cone gives it."""
    signs = {row[i] > 0 for row in cone.rows if row[i] and sum(map(bool, row)) == 1}
    low, high = (0.0 if True in signs else -math.inf), (0.0 if False in signs else math.inf)
    return replace(noise, low=low, high=high)
