"""Branch and bound for the largest log ratio of two sums of log-concave pieces on finitely many cells of a line.

Between two places a concave function lies above its chord and below the lines through its neighbouring values. So the
values at the places looked at already enclose both densities everywhere, and intervals that may hold more than the best
value seen are cut until none does. Nothing is sampled: what is pruned is proved.

With pieces whose log has a second derivative of at most M the same holds up to M h^2 terms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from dpest.exact.inference.factors import Indicator, depth
from dpest.exact.loss.logs import OPEN_ENDED, Ends, Logs
from dpest.exact.loss.pieces import Piece
from dpest.numerics.logspace import Floats, log_sum

_FIRST = 9  # places in a cell to begin with
_LONG = 4.0  # scales from which on a cell begins with more places near its ends
_PARTS, _AT_ONCE = (4, 16), 96  # parts that an interval is cut into, and places that a round adds as long as that allows
_ROUNDS = 60
_FEW, _MOST = 2_000, 6_000  # places up to which intervals are cut until they are close, and until they are roughly so
_MOST_NESTED = 60  # the same where each place takes an integral of integrals, which is some hundred times as slow
_MOST_PAIRS = 64  # pieces up to which matching ones are compared with each other, too
_UNEVEN = 64.0  # an interval this many times longer than its neighbour gets no line from there: errors would grow as much
_CLOSE, _ROUGHLY = 1e-11, 1e-7  # relative to the loss: gaps at which an interval is left alone
LEAST = 1e-3  # smaller losses than this are known as well as this one
_AS_GOOD = 1e-10  # relative: a loss this near to a proved bound is the largest; limits are known to 1e-11 or so
_FIRST_OF_ALL = 0.005  # intervals with less than this share of the largest gap wait for the next round
_ROUND = 2.3e-16

Bools = npt.NDArray[np.bool_]
Indices = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Cell:
    """An interval between kinks, and which pieces of either law are positive in it."""

    low: float
    high: float
    p: tuple[bool, ...]
    q: tuple[bool, ...]
    open: int = 0  # -1 or 1: the side on which it goes far out

    @property
    def middle(self) -> float:
        return 0.5 * (self.low + self.high)


@dataclass(frozen=True)
class Covered:
    """Everything that was evaluated, and what bounds the log ratio on all cells, in both directions."""

    logs: Logs
    forward: float
    backward: float


@dataclass(eq=False)
class _Table:
    """One law's pieces at the places looked at: pieces x places."""

    pieces: Sequence[Piece]
    active: Bools  # pieces x cells
    logs: Floats
    errors: Floats

    def more(self, y: Floats, cell: Indices, middle: Floats) -> tuple[Floats, Floats]:
        """Values at new places."""
        logs, errors = np.full((len(self.pieces), y.size), -np.inf), np.zeros((len(self.pieces), y.size))
        for k, piece in enumerate(self.pieces):
            on = self.active[k][cell]
            if np.any(on):
                logs[k, on], errors[k, on] = piece.log(y[on], middle[on])
        errors = errors + _ROUND * (1.0 + np.where(np.isfinite(logs), np.abs(logs), 0.0))
        return np.where(np.isfinite(errors), logs, -np.inf), errors

    def total(self) -> tuple[Floats, Floats]:
        """The law's log density and its relative error."""
        if len(self.pieces) == 1:
            return self.logs[0], np.where(np.isfinite(self.errors[0]) & (self.logs[0] > -np.inf), self.errors[0], 0.0)
        whole = log_sum(self.logs, axis=0)
        known = np.where(whole > -np.inf, whole, np.inf)
        share = np.exp(self.logs - known)
        return whole, (share * np.where(np.isfinite(self.errors), self.errors, 0.0)).sum(axis=0)


def as_good_as(reached: float, most: float) -> bool:
    """Whether a loss that was reached is the largest there is, but for what branch and bound would leave open as well."""
    return reached >= most - _AS_GOOD * max(LEAST, abs(most))


def cover(p: Sequence[Piece], q: Sequence[Piece], cells: Sequence[Cell], known: Ends, most: Ends = OPEN_ENDED) -> Covered:
    """Bounds on all cells; `known` are losses that are reached elsewhere, below which nothing is worth a look.

    Once a loss of `most` is reached, which none exceeds, that direction is left as it is. Pieces without a bound on their
    curvature are searched as if they were log-concave, and nothing is proved.
    """
    search = _CoverSearch(p, q, cells, known, most)
    for _ in range(_ROUNDS):
        if not search.refine():
            break
    return search.result()


class _CoverSearch:
    """The places looked at, sorted by cell and place; each interval has the bounds found so far."""

    def __init__(self, p: Sequence[Piece], q: Sequence[Piece], cells: Sequence[Cell], known: Ends, most: Ends) -> None:
        self.known, self.limits = known, most
        self.most = _MOST if max((depth(f) for x in (*p, *q) for f in x.factors), default=0) < 2 else _MOST_NESTED
        self.middles = np.array([c.middle for c in cells])
        scale = min((x.scales[0] for x in (*p, *q)), default=np.inf)
        spans = [_first_places(c, scale) for c in cells]
        self.y = np.concatenate(spans)
        self.cell: Indices = np.concatenate([np.full(len(s), i) for i, s in enumerate(spans)])
        self.p, self.q = (
            _Table(x, np.array([[getattr(c, side)[k] for c in cells] for k in range(len(x))], bool).reshape(len(x), -1), *_EMPTY)
            for x, side in ((p, "p"), (q, "q"))
        )
        for table in (self.p, self.q):
            table.logs, table.errors = table.more(self.y, self.cell, self.middles[self.cell])
        self.pairs = self._pairs(p, q)
        self.bounds = np.full((2, self.y.size), np.inf)  # of the interval to the right of each place
        self.noise = np.zeros((2, self.y.size))
        self._bound(np.arange(self.y.size))

    def _pairs(self, p: Sequence[Piece], q: Sequence[Piece]) -> tuple[_Table, _Table] | None:
        """Both laws without what matching pieces have in common; None where they do not match."""
        if len(p) != len(q) or len(p) > _MOST_PAIRS:
            return None
        rest = [_apart(a, b) for a, b in zip(p, q, strict=True)]
        if all(r[0].factors == a.factors for r, a in zip(rest, p, strict=True)):
            return (self.p, self.q) if len(p) > 1 else None  # a single pair is what the law itself is
        one, two = (_Table([r[i] for r in rest], t.active, *_EMPTY) for i, t in enumerate((self.p, self.q)))
        for table in (one, two):
            table.logs, table.errors = table.more(self.y, self.cell, self.middles[self.cell])
        return one, two

    def ratios(self) -> Logs:
        """Both totals at all places."""
        a, e = self.p.total()
        b, f = self.q.total()
        return Logs(self.y[:, None], a, b, e + f)

    def refine(self) -> bool:
        """Cuts what may still hold more than the best value; False where nothing does."""
        logs = self.ratios()
        open_ = np.zeros(self.y.size, bool)
        free = self._inner() & self._wide()
        reached = [_best(each) for each in (logs, logs.swapped())]
        bests = [max(a, b) for a, b in zip(self.known, reached, strict=True)]
        size = max([abs(b) for b in (*bests, *reached) if np.isfinite(b)] + [LEAST])
        for way, best in enumerate(bests):
            if best < np.inf and not as_good_as(reached[way], self.limits[way]):
                excess = np.where(free, self.bounds[way] - self.noise[way] - best, -np.inf)
                close = (_CLOSE if self.y.size < _FEW else _ROUGHLY) * size
                open_ |= excess > max(close, min(_FIRST_OF_ALL * float(excess.max(initial=-np.inf)), 1.0))
        which = np.flatnonzero(open_)
        if not which.size or self.y.size > self.most:
            return False
        self._insert(which)
        return True

    def _inner(self) -> Bools:
        """Whether the next place is in the same cell."""
        return np.append(self.cell[1:] == self.cell[:-1], False)

    def _wide(self) -> Bools:
        """Whether there are floats enough between a place and the next to cut there."""
        return np.append(np.diff(self.y), 0.0) > 64 * _ROUND * np.maximum(np.abs(self.y), np.abs(np.roll(self.y, -1)))

    def _insert(self, which: Indices) -> None:
        parts = int(np.clip(_AT_ONCE // which.size, *_PARTS))
        steps = np.arange(1, parts) / parts
        low, high = self.y[which], self.y[which + 1]
        new = (low[:, None] + (high - low)[:, None] * steps).ravel()
        cell = np.repeat(self.cell[which], parts - 1)
        y, cells = np.concatenate([self.y, new]), np.concatenate([self.cell, cell])
        order = np.lexsort((y, cells))
        for table in {id(t): t for t in (self.p, self.q, *(self.pairs or ()))}.values():
            logs, errors = table.more(new, cell, self.middles[cell])
            table.logs = np.concatenate([table.logs, logs], axis=1)[:, order]
            table.errors = np.concatenate([table.errors, errors], axis=1)[:, order]
        fresh = np.concatenate([np.isin(np.arange(self.y.size), which), np.ones(new.size, bool)])[order]
        self.bounds = np.concatenate([self.bounds, np.repeat(self.bounds[:, which], parts - 1, axis=1)], axis=1)[:, order]
        self.noise = np.concatenate([self.noise, np.repeat(self.noise[:, which], parts - 1, axis=1)], axis=1)[:, order]
        self.y, self.cell = y[order], cells[order]
        self._bound(np.flatnonzero(fresh))

    def _bound(self, which: Indices) -> None:
        """Bounds of the intervals to the right of some places."""
        which = which[self._inner()[which]]
        edges = _Edges(self.y, self.cell, which)
        enclosed = [_enclosed(t, edges) for t in (self.p, self.q)]
        bound = _largest_ratio if len(self.p.pieces) == len(self.q.pieces) == 1 else _ratio_bound
        for way, (over, under) in enumerate((enclosed, enclosed[::-1])):
            found, noise = bound(over, under)
            self._improve(way, which, found, noise)
        if self.pairs is not None and which.size:
            enclosed = enclosed if self.pairs[0] is self.p else [_enclosed(t, edges) for t in self.pairs]
            for way, (over, under) in enumerate((enclosed, enclosed[::-1])):
                self._improve(way, which, *_largest_ratio(over, under))

    def _improve(self, way: int, which: Indices, found: Floats, noise: Floats) -> None:
        better = found < self.bounds[way, which]
        self.bounds[way, which] = np.where(better, found, self.bounds[way, which])
        self.noise[way, which] = np.where(better, noise, self.noise[way, which])

    def result(self) -> Covered:
        """What is proved on all cells; on those that hold hardly a float their few values are all there is."""
        logs, inner = self.ratios(), self._inner()
        narrow = ~self._wide()
        tops = []
        for way, each in enumerate((logs, logs.swapped())):
            here = np.where(np.isfinite(each.p) & np.isfinite(each.q), each.ratio + 8 * each.slack(), -np.inf)
            found = np.where(inner & narrow, np.maximum(here, np.roll(here, -1)), self.bounds[way])
            alone = np.bincount(self.cell, minlength=self.middles.size)[self.cell] == 1
            tops.append(max(float(found[inner].max(initial=-np.inf)), float(here[alone].max(initial=-np.inf))))
        proved = all(p.bounded for p in (*self.p.pieces, *self.q.pieces))
        return Covered(logs, tops[0] if proved else np.inf, tops[1] if proved else np.inf)


_EVEN = np.arange(_FIRST) / (_FIRST - 1)
_GROWING = np.concatenate([[0.0], 2.0 ** np.arange(-24.0, 0.5)])
_STEPS = {0: _EVEN, 1: _GROWING, -1: 1.0 - _GROWING[::-1]}
_NEAR = 2.0 ** np.arange(-2.0, 9.0)  # scales from the ends of a cell that is much longer than that
_EMPTY = (np.empty((0, 0)), np.empty((0, 0)))


def _first_places(cell: Cell, scale: float) -> Floats:
    """Places in a cell to begin with: even ones, and more towards the ends of a long one, where densities have their kinks."""
    length = cell.high - cell.low
    places = cell.low + length * _STEPS[cell.open]
    if not cell.open and length > _LONG * scale:
        near = scale * _NEAR[scale * _NEAR < 0.5 * length]
        places = np.concatenate([places, cell.low + near, cell.high - near])
    return np.unique(np.clip(places, cell.low, cell.high))


def _best(logs: Logs) -> float:
    """The largest ratio that is certain, at places where both densities are known."""
    usable = np.isfinite(logs.p) & np.isfinite(logs.q)
    return float((logs.ratio - logs.slack())[usable].max(initial=-np.inf))


class _Edges:
    """Some intervals with their ends and neighbours."""

    def __init__(self, y: Floats, cell: Indices, which: Indices) -> None:
        last = y.size - 1
        self.i, self.j = which, which + 1
        self.cells = cell[which]
        self.before, self.after = np.maximum(which - 1, 0), np.minimum(which + 2, last)
        self.low, self.high = y[self.i], y[self.j]
        self.h = self.high - self.low
        self.left, self.right = self.low - y[self.before], y[self.after] - self.high
        even_left, even_right = self.h <= _UNEVEN * self.left, self.h <= _UNEVEN * self.right
        self.has_left = (which > 0) & (cell[self.before] == cell[which]) & even_left
        self.has_right = (which + 2 <= last) & (cell[self.after] == cell[which]) & even_right


@dataclass(frozen=True)
class _Enclosed:
    """Each piece on each interval between straight lines: their values at both ends, and the errors that are in them."""

    upper: tuple[Floats, Floats]
    lower: tuple[Floats, Floats]
    error: Floats


def _enclosed(t: _Table, e: _Edges) -> _Enclosed:
    g0, g1, before, after = t.logs[:, e.i], t.logs[:, e.j], t.logs[:, e.before], t.logs[:, e.after]
    known0, known1 = np.isfinite(g0), np.isfinite(g1)
    bend, wide = _bends(t.pieces, e.low, e.high), _bends(t.pieces, e.low - e.left, e.high + e.right)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        rise = (g0 - before) / e.left + 0.5 * wide * (e.left + e.h)
        fall = (after - g1) / e.right - 0.5 * wide * (e.h + e.right)
        chord = (g1 - g0) / e.h
        over_left = np.where(e.has_left & np.isfinite(before), np.maximum(rise - chord, 0.0) * e.h, np.inf)
        over_right = np.where(e.has_right & np.isfinite(after), np.maximum(chord - fall, 0.0) * e.h, np.inf)
        less, more = np.minimum(over_left, over_right), np.maximum(over_left, over_right)
        gap = np.where(np.isinf(more), less, np.where(more > 0, less / (1.0 + less / more), 0.0))
        stretch = 1.0 + 2.0 * np.maximum(np.where(e.has_left, e.h / e.left, 0.0), np.where(e.has_right, e.h / e.right, 0.0))
        # Where an end is not known, the line from the other side goes on.
        from_right = np.where(e.has_right & np.isfinite(after), g1 - fall * e.h, np.inf)
        from_left = np.where(e.has_left & np.isfinite(before), g0 + rise * e.h, np.inf)
    errors = np.where(np.isfinite(t.logs), t.errors, 0.0)  # a place where nothing is known takes no part
    e0, e1, lines = errors[:, e.i], errors[:, e.j], np.maximum(errors[:, e.before], errors[:, e.after])
    error = np.maximum.reduce([e0, e1, lines])
    error = np.where(np.isfinite(error), error, 0.0) * stretch
    both = known0 & known1
    with np.errstate(invalid="ignore"):
        # Where the piece falls (or rises) all the way by far more than a line can tell, its larger end is the better bound.
        rises = e.has_right & (after - g1 > t.errors[:, e.after] + e1)
        falls = e.has_left & (before - g0 > t.errors[:, e.before] + e0)
        flat = both & (rises | falls) & ((gap > 1.0) | (error > 1.0)) & (wide == 0.0)
        largest = np.where(rises, g1 + e1, g0 + e0)
        error = np.where(flat, 0.0, error)
        raised = np.where(flat, largest, g0 + gap), np.where(flat, largest, g1 + gap)
    u0 = np.where(both, raised[0], np.where(known1, from_right, np.where(known0, g0, np.inf)))
    u1 = np.where(both, raised[1], np.where(known0, from_left, np.where(known1, g1, np.inf)))
    off = ~t.active[:, e.cells]
    sag = bend * e.h * e.h / 8 if np.any(bend) else bend
    # ln(1 - e) >= -2 e for e <= 1/2; larger errors come with huge logarithms only.
    lower = [np.where(both & ~off, g - sag - 2 * own, -np.inf) for g, own in ((g0, e0), (g1, e1))]
    upper = [np.where(off, -np.inf, u + error) for u in (u0, u1)]
    return _Enclosed((upper[0], upper[1]), (lower[0], lower[1]), error)


def _bends(pieces: Sequence[Piece], low: Floats, high: Floats) -> Floats:
    """Bounds on the second derivatives, 0 at least; 0 for pieces without one."""
    if all(p.concave or not p.bounded for p in pieces):
        return np.zeros((len(pieces), low.size))
    rows = [np.maximum(p.curvature(low, high), 0.0) if p.bounded else np.zeros(low.shape) for p in pieces]
    return np.array(rows).reshape(len(pieces), -1)


def _apart(a: Piece, b: Piece) -> tuple[Piece, Piece]:
    """Two pieces without their common factors."""
    first, second = list(a.factors), list(b.factors)
    for f in a.factors:
        if f in second and not isinstance(f, Indicator):  # a bound costs nothing
            first.remove(f)
            second.remove(f)
    return replace(a, factors=tuple(first)), replace(b, factors=tuple(second))


def _largest_ratio(over: _Enclosed, under: _Enclosed) -> tuple[Floats, Floats]:
    """A ratio of sums is at most the largest ratio of matching terms."""
    with np.errstate(invalid="ignore"):
        ends = [np.where(u == -np.inf, -np.inf, u - v) for u, v in zip(over.upper, under.lower, strict=True)]
    largest = np.maximum(ends[0], ends[1])
    which = np.argmax(largest, axis=0), np.arange(largest.shape[1])
    return largest[which], (over.error + under.error)[which]


def _ratio_bound(over: _Enclosed, under: _Enclosed) -> tuple[Floats, Floats]:
    """A bound on ln (sum of pieces) - ln (sum of pieces), and the part of it that errors make up.

    With straight lines as exponents both are convex: the first lies below its chord, the second above its tangent.
    """
    top = [log_sum(u, axis=0) for u in over.upper]
    with np.errstate(invalid="ignore"):
        noise = np.maximum.reduce([t - log_sum(u - over.error, axis=0) for t, u in zip(top, over.upper, strict=True)])
    low, high = under.lower
    with np.errstate(invalid="ignore"):
        centre = 0.5 * low + 0.5 * high
        whole = log_sum(centre, axis=0)
        share = np.exp(centre - np.where(whole > -np.inf, whole, np.inf))
        lean = np.where(share > 0, share * 0.5 * (high - low), 0.0).sum(axis=0)
        ends = [t - b for t, b in zip(top, (whole - lean, whole + lean), strict=True)]
    ends = [np.where(t == -np.inf, -np.inf, np.where(whole == -np.inf, np.inf, e)) for t, e in zip(top, ends, strict=True)]
    below = (share * under.error).sum(axis=0)
    return np.maximum(ends[0], ends[1]), np.where(np.isfinite(noise), noise, 0.0) + below
