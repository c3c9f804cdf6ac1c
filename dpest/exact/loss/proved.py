"""The supremum of the log ratio on one real coordinate, with both ends justified.

The line is cut at the kinks of both laws. Inside, branch and bound encloses the ratio; beside places where densities vanish
and far out, what factors and laws declare does. A part of the line where only one law is positive proves an infinite loss.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from dpest.errors import BudgetExceeded
from dpest.exact.inference.exponential_tails import FarLaws, FarRatio, WeighedFactors
from dpest.exact.inference.expressions import Expr, expr
from dpest.exact.inference.heavy_tails import heavy_pair
from dpest.exact.inference.rays import Ray
from dpest.exact.loss.blocks import Block
from dpest.exact.loss.cover import Cell, as_good_as, cover
from dpest.exact.loss.edges import beside, edge
from dpest.exact.loss.far import Far, far
from dpest.exact.loss.logs import ANY, OPEN_ENDED, BothWays, Ends, Logs, Sup, best
from dpest.exact.loss.periodic import periodic
from dpest.exact.loss.pieces import Piece, cell_edges, matched, pieces
from dpest.numerics.effort import limited_effort
from dpest.numerics.logspace import Floats, log_sum
from dpest.numerics.rationals import ZERO, Rational, exact

_OUT = 48.0  # scales beyond the last kink up to which branch and bound goes; e^-48 is beyond what a float adds to 1
_FARTHER = (1, 16, 256, 4096, 65536)  # heavier tails come to their limits later: multiples that are tried in turn
_NEARER = (0.25, 0.5)  # at which laws that are exponentials may have settled
_AT_ONCE = (2.0**-10, *_NEARER)  # the same for laws that bend: a constant ratio takes them thousands of cells for each scale
_DOUBLINGS = 48  # steps by the root of 2 in which heavier tails than exponential ones are tried, beginning at a quarter
_ENOUGH = 3  # of those, how many where no tail settles: what lies between is cut into the more pieces the farther it goes
_MOST_AGAIN = 100_000_000  # evaluations for tails that are followed to where they settle, before nearer ones have to do
_GLIMPSED = np.r_[np.linspace(0.01, 0.99, 33), 4.0 ** -np.arange(4, 9), 1 - 4.0 ** -np.arange(4, 9)]  # of a cell: a first look
_SETTLED, _NEARLY = 1e-11, 1e-6  # relative: gaps to its limit at which a tail has settled, or has nearly, as powers do
_BESIDE = (2.0**-20, 2.0**-16, 2.0**-12)  # of a scale: how far a place where densities vanish is given a treatment of its own
_JOINTS = 4.0  # units in the last place: two constants with two roundings each
_WELL = 1e-6  # the relative error up to which a piece is known well


@dataclass(frozen=True)
class LimitPlace:
    """A limit that the ratio has in both directions, and a bound around it."""

    at: float
    forward: Far
    backward: Far
    shown: tuple[float, float]  # both log densities somewhere near

    def way(self, way: int) -> Far:
        return (self.forward, self.backward)[way]


_TailFrom = tuple[float, tuple[Far, Far]]  # how far from the last kink a tail begins, and what is known of it in both directions


@dataclass(frozen=True)
class Alone:
    """A cell in which only one law is positive."""

    at: float
    way: int  # 0 where it is the first
    log: float


def proved(block: Block, worth: Ends = ANY, most: Ends = OPEN_ENDED) -> BothWays | None:
    """The block's loss in both directions; None where its laws are not sums of pieces that can be enclosed.

    Where a direction has no loss above `worth`, or reaches `most`, which no loss exceeds, that is all that is worked out.
    """
    p, q = pieces(block.left), pieces(block.right)
    if p is not None and q is not None and (p or q):
        return _Line(p, q, block).answer(worth, most)
    found = periodic(block)
    return None if found is None else _Line(found.p, found.q, block, found.window).answer(worth, most)


class _Line:
    """Both laws as pieces, and the cells between their kinks."""

    def __init__(
        self,
        p: Sequence[Piece],
        q: Sequence[Piece],
        block: Block,
        window: Rational | None = None,
        *,
        goal: float = math.inf,
    ) -> None:
        self.p, self.q, self.block = matched(list(p)), matched(list(q)), block
        scales = [x.scales for x in (*p, *q)]
        self.finest = min(s[0] for s in scales) if scales else 1.0
        self.widest = max(s[1] for s in scales) if scales else 1.0
        if not (0 < self.widest < math.inf and self.finest < math.inf):
            self.finest, self.widest = block.scale, block.widest
        self.edges = cell_edges((p, q)) or [exact(0)]
        self.window = window
        if window is not None:
            self.edges = [-window, *(e for e in self.edges if abs(e) < window), window]
        self.kinks = np.array([float(e) for e in self.edges])
        self.rounding = self._rounding()
        self.places: list[LimitPlace] = []
        self.alone: list[Alone] = []
        self.goal = goal  # tails are followed until they settle, or hold no more than that
        self.unsettled: list[float] = []  # what tails that have not settled may hold

    def _rounding(self) -> Rational:
        """How far kinks that coincide in the author's formula may lie apart in a law of several parts.

        Such a law is put together at constants that the program works out in different ways for its different parts
        (`-C + (l + C)` for the end of one, `l` for the beginning of the next): each has a rounding or two of the largest
        number in it. Nothing is claimed of outputs in between. Two laws of one part have no such
        joints, and no such leave.
        """
        if max(len(self.p), len(self.q)) < 2 or self.window is not None:
            return ZERO
        return exact(_JOINTS * float(np.spacing(np.max(np.abs(self.kinks)))))

    def answer(self, worth: Ends, most: Ends) -> BothWays:
        cells = self._cells()
        reached = self._glimpsed(cells) if self.unsettled and self.goal == math.inf else math.inf
        if max(self.unsettled, default=-math.inf) > reached + _NEARLY * max(1.0, reached):
            with suppress(BudgetExceeded), limited_effort(_MOST_AGAIN):
                return _Line(self.p, self.q, self.block, goal=reached).answer(worth, most)
        limits = [max((f.limit - f.error for f in self._fars(way) if f.limit is not None), default=-math.inf) for way in (0, 1)]
        known = [math.inf if as_good_as(x, top) else max(x, w) for x, top, w in zip(limits, most, worth, strict=True)]
        for x in self.alone:
            known[x.way] = math.inf
        if cells:
            found = cover(self.p, self.q, cells, (known[0], known[1]), most)
            logs, uppers = found.logs, (found.forward, found.backward)
        else:
            logs, uppers = Logs(np.empty((0, 1)), *(np.empty(0) for _ in range(3))), (-math.inf, -math.inf)
        usable = np.isfinite(logs.p) & np.isfinite(logs.q)
        logs = logs.pick(usable)
        ways = [self._way(logs if way == 0 else logs.swapped(), way, uppers[way]) for way in (0, 1)]
        return BothWays(ways[0], ways[1])

    def _glimpsed(self, cells: Sequence[Cell]) -> float:
        """A loss that some places show, or limits."""
        found = [abs(f.limit) for f in self._fars(0) if f.limit is not None]
        for c in cells:
            y = c.low + (c.high - c.low) * _GLIMPSED
            logs = [[x.log(y, y)[0] for x, on in zip(own, at, strict=True) if on] for own, at in ((self.p, c.p), (self.q, c.q))]
            ratio = log_sum(np.array(logs[0]), axis=0) - log_sum(np.array(logs[1]), axis=0)
            found.append(float(np.abs(ratio[np.isfinite(ratio)]).max(initial=0.0)))
        return max(found, default=0.0)

    def _fars(self, way: int) -> list[Far]:
        return [place.way(way) for place in self.places]

    def _way(self, logs: Logs, way: int, upper: float) -> Sup:
        """The best of what was evaluated and of the limits; the bound is the largest of all bounds."""
        for x in self.alone:
            if x.way == way:
                return Sup(math.inf, math.inf, math.inf, (x.at,), x.log, -math.inf)
        sup = best(logs)
        top = max([upper, *(f.upper for f in self._fars(way))])
        for place in self.places:
            f = place.way(way)
            if f.limit is None or f.limit == -math.inf:
                continue
            shown = place.shown[::-1] if way else place.shown
            if f.limit == math.inf:
                return Sup(math.inf, math.inf, math.inf, (place.at,), *shown, limit=True)
            if f.limit > sup.value + (sup.upper - sup.value) + f.error:
                sup = Sup(f.limit, f.limit - f.error, f.limit + f.error, (place.at,), *shown, limit=True)
            else:
                sup = replace(sup, lower=max(sup.lower, f.limit - f.error))
        if not sup.possible:
            return sup
        sup = replace(sup, value=min(max(sup.value, sup.lower), top), upper=max(top, sup.lower))
        return sup if sup.limit else self._with_ray(sup, logs, way)

    def _with_ray(self, sup: Sup, logs: Logs, way: int) -> Sup:
        """Marks a supremum that a whole half-line attains: an event with a probability, not only a density."""
        y = logs.y[:, 0]
        holds = logs.ratio >= sup.value - 2 * logs.slack() - (sup.value - sup.lower)
        for place in self.places:
            f = place.way(way)
            if math.isfinite(place.at) or f.limit is None or abs(f.limit - sup.value) > 4 * f.error + (sup.value - sup.lower):
                continue
            side = 1 if place.at > 0 else -1
            order = np.argsort(-side * y)
            run = np.cumprod(holds[order].astype(int)).astype(bool)
            if run.sum() > 2 and f.upper <= sup.value + 16 * f.error:
                return replace(sup, at=(float(y[order][run][-1]),), ray=side)
        return sup

    # -- cells ---------------------------------------------------------------------------------------------------------

    def _cells(self) -> list[Cell]:
        out = [c for side in (-1, 1) if self.window is None and (c := self._outer(side))]
        for low, high in zip(self.edges, self.edges[1:], strict=False):
            if _without_numbers(low, high) or high - low <= self.rounding:
                continue
            p, q = self.active((low + high) / 2)
            if self._both(p, q, 0.5 * (float(low) + float(high))):
                out.append(Cell(float(low), float(high), p, q))
        vanishing = self._vanishing(out)
        out = [self._cut(c, ends) for c, ends in zip(out, vanishing, strict=True)]
        return sorted((c for c in out if c.low <= c.high), key=lambda c: (c.low, c.high))

    def active(self, y: Rational) -> tuple[tuple[bool, ...], tuple[bool, ...]]:
        return tuple(x.active(y) for x in self.p), tuple(x.active(y) for x in self.q)

    def _both(self, p: tuple[bool, ...], q: tuple[bool, ...], y: float) -> bool:
        """Whether both laws are positive in a cell; one alone proves an infinite loss."""
        if any(p) and any(q):
            return True
        for way, (own, active) in enumerate(((self.p, p), (self.q, q))):
            if any(active):
                self.alone.append(Alone(y, way, _total(own, active, y)))
        return False

    def _outer(self, side: int) -> Cell | None:
        """The half-line beyond the last kink: a finite cell, and what is declared of the rest."""
        end = self.edges[-1] if side > 0 else self.edges[0]
        p, q = self.active(end + side * exact(_OUT * self.widest))
        if not any(p) and not any(q):
            return None
        out = _OUT * self.widest
        if not self._both(p, q, float(end) + side * out):
            return None
        floor = max(x.log_floor for x in (*self.p, *self.q))
        for factor in (2.0**-k for k in range(8)):
            if floor == -math.inf or min(self._shown(p, q, float(end) + side * out * factor)) > floor:
                out *= factor
                break
        out = self._tails(end, side, out, p, q)
        ends = sorted((float(end), float(end) + side * out))
        return Cell(ends[0], ends[1], p, q, side if out > 4 * _OUT * self.widest else 0)

    def _tails(self, end: Rational, side: int, out: float, p: tuple[bool, ...], q: tuple[bool, ...]) -> float:
        """Takes the tail in from as near as it has settled, and says from where."""
        found: list[_TailFrom] = []
        first, second = ([x for x, on in zip(own, active, strict=True) if on] for own, active in ((self.p, p), (self.q, q)))
        bent = not all(x.concave for x in (*first, *second))
        carried = self._carried(first, second, end, side, out) if bent else None
        if carried is not None:
            return self._from(carried, end, side, p, q)
        laws = FarLaws(_weighed(first), _weighed(second))
        for times in (*(_AT_ONCE if bent else _NEARER), *_FARTHER):
            start = float(exact(float(end) + side * out * times) - end) * side  # as the float beyond which it holds
            ray = Ray(-1, side, end, start)
            settled = laws.ratio(ray)
            if settled is not None:
                found = [(out * times, _both_ways(settled))]
                break
            if times < 1 and not bent:
                continue
            one, two = ([x.tail(ray) for x in own] for own in (first, second))
            ways = far(one, two, start), far(two, one, start)
            if times < 1:
                if all(_settled(f, _SETTLED) for f in ways):
                    return self._from((out * times, ways), end, side, p, q)
                continue
            found.append((out * times, ways))
            helpless = all(f.upper == math.inf for f in ways)
            if all(_settled(f, _SETTLED) for f in ways) or (helpless and (ways[0].limit is not None or times > 1)):
                break
        ready = [x for x in found if all(_settled(f, _NEARLY) for f in x[1])]
        some = [x for x in found if any(f.upper < math.inf for f in x[1])][:_ENOUGH]
        return self._from((ready or some[::-1] or found)[0], end, side, p, q)

    def _from(self, tail: _TailFrom, end: Rational, side: int, p: tuple[bool, ...], q: tuple[bool, ...]) -> float:
        """Takes the tail in, and says from where."""
        start, ways = tail
        self.places.append(LimitPlace(side * math.inf, *ways, self._shown(p, q, float(end) + side * start)))
        return start

    def _carried(self, first: list[Piece], second: list[Piece], end: Rational, side: int, out: float) -> _TailFrom | None:
        """The tail of values that outweigh the noise added to them: from as near as it is known, or has settled."""
        pair = heavy_pair(_weighed(first), _weighed(second), Ray(-1, side, end, out))
        if isinstance(pair, FarRatio):
            return out, _both_ways(pair)
        found: _TailFrom | None = None
        for k in range(_DOUBLINGS if pair is not None else 0):
            start = float(exact(float(end) + side * out * 2.0 ** (k / 2 - 2)) - end) * side
            ratio = pair.ratio(start) if pair is not None else None
            if ratio is None:
                continue
            found = start, _both_ways(ratio)
            open_ = [f.upper for f in found[1] if not _settled(f, _NEARLY)]
            if max(open_, default=-math.inf) <= max(0.0, self.goal):
                self.unsettled += open_
                break
        return found

    def _shown(self, p: tuple[bool, ...], q: tuple[bool, ...], y: float) -> tuple[float, float]:
        return _total(self.p, p, y), _total(self.q, q, y)

    # -- places where a density vanishes -------------------------------------------------------------------------------

    def _cut(self, cell: Cell, vanishing: tuple[bool, bool]) -> Cell:
        """Takes out what lies beside an end at which either law vanishes, and bounds it by orders of vanishing."""
        for side, end, vanishes in ((1, cell.low, vanishing[0]), (-1, cell.high, vanishing[1])):
            if not vanishes or end not in self.kinks:
                continue
            place = self.edges[int(np.flatnonzero(self.kinks == end)[0 if side < 0 else -1])]
            cut = self._cut_at(cell, end, side)
            if not cell.low < cut < cell.high:
                continue
            start = float(side * (exact(cut) - place))
            both = [
                [edge(x, place, side, start) for x, on in zip(own, active, strict=True) if on]
                for own, active in ((self.p, cell.p), (self.q, cell.q))
            ]
            ways = beside(both[0], both[1], start), beside(both[1], both[0], start)
            self.places.append(LimitPlace(float(place), *ways, self._shown(cell.p, cell.q, cut)))
            cell = replace(cell, low=cut) if side > 0 else replace(cell, high=cut)
        return cell

    def _cut_at(self, cell: Cell, end: float, side: int) -> float:
        """As near the end as all pieces are known well: tables are not, where what they hold vanishes."""
        cut = end
        for share in _BESIDE:
            reach = max(share * min(self.finest, cell.high - cell.low), 4096 * float(np.spacing(abs(end))))
            cut = end + side * reach
            at, middle = np.array([cut]), np.array([cell.middle])
            pieces = [x for own, active in ((self.p, cell.p), (self.q, cell.q)) for x, on in zip(own, active, strict=True) if on]
            if all(x.log(at, middle)[1][0] < _WELL for x in pieces):
                break
        return cut

    def _vanishing(self, cells: Sequence[Cell]) -> list[tuple[bool, bool]]:
        """Whether either law vanishes (or is not known) at the lower and at the upper end of each cell."""
        y = np.array([end for c in cells for end in (c.low, c.high)])
        middle = np.repeat([c.middle for c in cells], 2)
        gone = np.zeros(y.size, bool)
        for own, side in ((self.p, "p"), (self.q, "q")):
            known = np.zeros(y.size, bool)
            for k, piece in enumerate(own):
                on = np.repeat([bool(getattr(c, side)[k]) for c in cells], 2)
                if np.any(on):
                    logs, errors = piece.log(y[on], middle[on])
                    known[on] |= np.isfinite(logs) & np.isfinite(errors)
            gone |= ~known
        return [(bool(a), bool(b)) for a, b in gone.reshape(-1, 2)]


def _weighed(own: Sequence[Piece]) -> list[WeighedFactors]:
    return [(x.log_weight, x.error, x.factors) for x in own]


def _both_ways(found: FarRatio) -> tuple[Far, Far]:
    limit, error = found.limit, found.error
    return Far(limit, error, found.high + error), Far(-limit, error, -found.low + error)


def _without_numbers(low: Rational, high: Rational) -> bool:
    """Whether no floating-point number lies strictly between two kinks: no run of the program shows such an output.

    Kinks that coincide in the author's formula differ by the rounding of its constants (`v + b` once as the end of a uniform
    draw, once as a sum); what lies between them is no output that anybody can see.
    """
    first = float(low)
    if exact(first) <= low:
        first = math.nextafter(first, math.inf)
    return bool(exact(first) >= high)


def _total(own: Sequence[Piece], active: tuple[bool, ...], y: float) -> float:
    at = np.array([y])
    return float(log_sum(np.array([float(x.log(at, at)[0][0]) for x, on in zip(own, active, strict=True) if on])))


def _settled(f: Far, gap: float) -> bool:
    if f.limit is None or math.isinf(f.limit):
        return f.upper < math.inf or f.limit == math.inf
    return f.upper - f.limit <= gap * max(abs(f.limit), 1e-3) + 4 * f.error


def limit_along(block: Block, place: Floats, direction: Floats) -> tuple[Far, Far] | None:
    """What the log ratio, and its inverse, tend to along a half-line in several coordinates; None where nothing is declared."""

    def on_ray(e: Expr, outputs: tuple[int, ...]) -> Expr:
        where = {v: outputs[-1 - v] for v, _ in e.terms if v < 0}
        constant = sum((c * exact(float(place[where[v]])) for v, c in e.terms if v < 0), e.constant)
        slope = sum((c * exact(float(direction[where[v]])) for v, c in e.terms if v < 0), ZERO)
        return expr([*((v, c) for v, c in e.terms if v >= 0), (-1, slope)], constant)

    p, q = (pieces(side, on_ray) for side in (block.left, block.right))
    if p is None or q is None or not p or not q:
        return None
    line = _Line(p, q, block)
    end = line.edges[-1]
    start = _OUT * line.widest
    on = line.active(end + exact(start))
    if not any(on[0]) or not any(on[1]):
        return None
    ray = Ray(-1, 1, end, start)
    one, two = ([x.tail(ray) for x, a in zip(own, active, strict=True) if a] for own, active in zip((p, q), on, strict=True))
    return far(one, two, start), far(two, one, start)
