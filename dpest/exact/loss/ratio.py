"""The largest log ratio of two laws of a quotient, by branch and bound over y and over 1 / y, with both ends justified."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from dpest.errors import ExactRefused
from dpest.exact.inference.cases import Affine, Expansion, Ratio
from dpest.exact.inference.ratio import BoundedDraw, Chart, QuotientSpan, Share, Which, density, enclosed, is_root
from dpest.exact.inference.stars import condition_components
from dpest.exact.loss.blocks import Block, IntegratedLaw, Measures
from dpest.exact.loss.far_quotients import FarSide, far_side
from dpest.exact.loss.logs import NOTHING, BothWays, Sup
from dpest.lang.nodes import Draw, Linear, scaled
from dpest.laws.continuous import Laplace, Logistic
from dpest.laws.laplace_sum import LaplaceSum
from dpest.laws.law import Continuous
from dpest.numerics.logspace import Floats, log_sum
from dpest.numerics.rationals import ONE, ZERO, Rational
from dpest.trace.literal import Literal

_ROUNDED = 1e-15  # relative: a few roundings of a double
_FIRST = 32  # intervals on each side of zero, in each chart
_CLOSE = 2e-6  # relative: half of it takes 1.4 times as many intervals, and the maximum is smooth
_LEAST = 2e-7  # what stays open of losses below a tenth, for which that many more intervals are needed
_ROUNDS = 30
_MOST_CELLS = 4000  # intervals looked at in one round; what is wider then stays in the bracket


@dataclass(frozen=True, eq=False)
class RatioSide(IntegratedLaw):
    """One law of a quotient: a sum over its cases, none of which is a product of components."""

    shares: tuple[Share, ...] = ()
    offset: Rational = ZERO  # what is added to the quotient

    def log(self, y: Floats) -> tuple[Floats, Floats]:
        """ln of the density at each row of y, and its relative error."""
        if not self.shares:
            return np.full(y.shape[0], -np.inf), np.zeros(y.shape[0])
        return density(self.shares, Chart.Y, y[:, 0] - float(self.offset))

    @cached_property
    def impossible(self) -> bool:
        """Whether there is no case."""
        return not self.shares

    @cached_property
    def log_total(self) -> float:
        """ln of the probability of its cases together; those with bounds on the noise count as certain."""
        return float(log_sum(np.array([s.log_weight for s in self.shares])))

    @cached_property
    def key(self) -> frozenset[Any]:
        """Equal for sides that are the same law."""
        return frozenset((s, self.offset, self.shares.count(s)) for s in self.shares)


def ratio_sides(left: list[Expansion], right: list[Expansion], position: int, measures: Measures) -> tuple[RatioSide, RatioSide]:
    """Both laws of one output that is a quotient in some case."""
    offsets = {x.offset for case in (*left, *right) for x in (case.values[position],) if isinstance(x, Ratio)}
    if len(offsets) > 1:
        raise ExactRefused("a quotient of random values plus a number that differs from case to case")
    offset = next(iter(offsets), ZERO)
    p, q = (
        _with_floors([_share(case, position, offset, measures, _units(cases, position)) for case in cases])
        for cases in (left, right)
    )
    return RatioSide((), measures, p, offset), RatioSide((), measures, q, offset)


def _with_floors(shares: Sequence[Share]) -> tuple[Share, ...]:
    """The cases, with the root of a floor as one number: the case below it and the one above it round it in two ways."""
    floors = [float(s.bottom) for s in shares if not isinstance(s.bottom, BoundedDraw)]
    out = []
    for s in shares:
        if isinstance(s.bottom, BoundedDraw) and s.bottom.is_root:
            low = next((k for k in floors if math.isclose(k, s.bottom.low, rel_tol=_ROUNDED)), s.bottom.low)
            s = replace(s, bottom=replace(s.bottom, low=low))
        out.append(s)
    return tuple(out)


def _units(cases: Sequence[Expansion], position: int) -> dict[Any, Rational]:
    """How often the noise of a top is in it, where it is divided by another value."""
    tops = [x.top for case in cases for x in (case.values[position],) if isinstance(x, Ratio) and len(x.top.terms) == 1]
    return {top.terms[0][0]: top.terms[0][1] for top in tops}


def _share(case: Expansion, position: int, offset: Rational, measures: Measures, units: Mapping[Any, Rational]) -> Share:
    value = case.values[position]
    if isinstance(value, Ratio):
        top, bottom = value.top, value.bottom
    else:
        assert isinstance(value, Affine)
        top, bottom = Linear(value.value.terms, value.value.constant - offset), Linear((), ONE)
        if len(top.terms) == 1 and top.terms[0][0] in units:  # as the same top over a number
            by = units[top.terms[0][0]] / top.terms[0][1]
            top, bottom = (scaled(top, by), Linear((), by)) if by > 0 else (top, bottom)
    above, below = _noise(top, case.literals), _noise(bottom, case.literals, roots=True)
    used = [d for v in (top, bottom) for d, _ in v.terms]
    if above is None or len({id(d) for d in used}) < len(used):
        raise ExactRefused("a quotient of random values that share noise, or whose top has none")
    rest = [x for x in case.literals if not any(d is u for d, _ in x.terms for u in used)]
    least, most = _range(above, below, top, bottom, [x for x in case.literals if len(x.terms) > 1 and x not in rest])
    if below is None:  # what bounds the top bounds the quotient, at whose ends no interval is cut in two
        ends = sorted(e / float(bottom.constant) for e in (above.low, above.high))
        least, most = max(least, ends[0]), min(most, ends[1])
        above = replace(above, low=-math.inf, high=math.inf)
    log_weight = error = 0.0
    for placed in condition_components(rest, case.loops):
        logs, off = measures.of(placed.component).log(np.empty((1, 0)))
        log_weight, error = log_weight + float(logs[0]), error + float(off[0])
    return Share(above, bottom.constant if below is None else below, log_weight, error, least, most)


def _range(
    above: BoundedDraw, below: BoundedDraw | None, top: Linear, bottom: Linear, literals: list[Literal]
) -> tuple[float, float]:
    """Where conditions on top and bottom together let the quotient lie: top >= r * bottom, for a bottom of one sign."""
    least, most = -math.inf, math.inf
    for x in literals:
        terms = dict(x.terms)
        if below is None or (below.low < 0 < below.high) or set(terms) != {top.terms[0][0], bottom.terms[0][0]}:
            raise ExactRefused("a quotient of random values that are compared with other random values")
        a, b = (terms[v.terms[0][0]] / v.terms[0][1] for v in (top, bottom))  # type: ignore[index]  # a * top + b * bottom + c >= 0
        if x.constant != a * top.constant + b * bottom.constant:
            raise ExactRefused("a quotient of random values that are compared with each other")
        bound = float(-b / a)
        upwards = (a > 0) == (below.low >= 0)
        least, most = (max(least, bound), most) if upwards else (least, min(most, bound))
    return least, most


def _noise(value: Linear, literals: tuple[Literal, ...], *, roots: bool = False) -> BoundedDraw | None:
    """A noisy value with the bounds that conditions set; None for a number."""
    if not value.terms:
        return None
    ((draw, c), *others) = value.terms
    law = draw.law if isinstance(draw, Draw) else None
    known = isinstance(law, Continuous) and law.mode is not None and law.log_concave
    if others or not isinstance(law, Continuous) or not (known or (roots and is_root(law))):
        raise ExactRefused("a quotient of sums of several random values, or of noise that is not log-concave")
    low, high = -math.inf, math.inf
    for x in literals:
        if len(x.terms) == 1 and x.terms[0][0] is draw:
            bound = float(c * (-x.constant / x.terms[0][1]) + value.constant)
            low, high = (max(low, bound), high) if (x.terms[0][1] > 0) == (c > 0) else (low, min(high, bound))
    return BoundedDraw(law, c, value.constant, low, high)


# -- the supremum ------------------------------------------------------------------------------------------------------


@dataclass
class _Best:
    """The largest ratio that was evaluated in one direction, and where."""

    value: float = -math.inf
    lower: float = -math.inf
    at: float = 0.0
    logs: tuple[float, float] = (-math.inf, -math.inf)


def quotient_supremum(block: Block, *, each: bool = False) -> BothWays:
    """The block's loss in both directions; the smaller one stays open, below the larger, unless `each` is asked for."""
    p, q = block.left, block.right
    assert isinstance(p, RatioSide)
    assert isinstance(q, RatioSide)
    if p.impossible or q.impossible:
        return _one_sided(p, q)
    found = _RatioSearch(p, q, each=each).answer()
    return BothWays(_moved_by(found.forward, p.offset), _moved_by(found.backward, p.offset))


def _moved_by(sup: Sup, offset: Rational) -> Sup:
    return replace(sup, at=tuple(y + float(offset) for y in sup.at))


def _one_sided(p: RatioSide, q: RatioSide) -> BothWays:
    def sup(a: RatioSide, b: RatioSide) -> Sup:
        if a.impossible:
            return NOTHING
        return Sup(math.inf, math.inf, math.inf, (0.0,), 0.0, -math.inf) if b.impossible else NOTHING

    return BothWays(sup(p, q), sup(q, p))


@dataclass(frozen=True, eq=False)
class _Cells:
    """Intervals of a chart, and the directions in which each may still hold more than was reached."""

    chart: Chart
    low: Floats
    high: Floats
    ways: npt.NDArray[np.bool_]  # a row for each direction

    def halves(self, wanted: npt.NDArray[np.bool_]) -> _Cells:
        """Both halves of the intervals that are wanted in a direction."""
        kept = wanted.any(axis=0)
        low, high, ways = self.low[kept], self.high[kept], wanted[:, kept]
        middle = 0.5 * (low + high)
        return _Cells(self.chart, np.r_[low, middle], np.r_[middle, high], np.hstack([ways, ways]))

    def far(self, side: FarSide) -> npt.NDArray[np.bool_]:
        """The intervals all of whose quotients are that far out."""
        if self.chart is Chart.Y:
            return np.zeros(len(self.low), bool)
        return (self.low >= min(0.0, side.nearest)) & (self.high <= max(0.0, side.nearest))


@dataclass(frozen=True, eq=False)
class _AtEnds:
    """What was evaluated at the two ends of each interval: ln of the first density, ln p - ln q, and how far it may be off."""

    log_p: Floats
    ratio: Floats
    error: Floats


class _RatioSearch:
    """Branch and bound: what cannot exceed the larger loss is not looked at more closely; or, of `each` direction, its own."""

    def __init__(self, p: RatioSide, q: RatioSide, *, each: bool) -> None:
        self.p, self.q = p.shares, q.shares
        self.each = each
        self.best = [_Best(), _Best()]
        self.unit = _unit(self.p + self.q)
        self.caps = np.array([_pairwise(self.p, self.q), _pairwise(self.q, self.p)])[:, None]
        self.far = [side for sign in (1, -1) if (side := far_side(self.p, self.q, sign)) is not None]
        if any(isinstance(s.bottom, BoundedDraw) and s.bottom.is_root for s in self.p + self.q):
            if len(self.far) < 2:
                raise ExactRefused("a quotient by a root of a random value that is not bounded away from zero")
            self.unit = max([self.unit, *(1 / abs(side.nearest) for side in self.far)])  # beyond, the ratio is monotone
        for side in self.far:
            self._reach(side)

    def answer(self) -> BothWays:
        """The suprema with their brackets."""
        cells = [self._first(chart) for chart in Chart]
        uppers = np.full(2, -math.inf)
        for turn in range(_ROUNDS):
            ends = [self._look(c) for c in cells]
            goals = np.array([b.value for b in self.best])
            goals = (goals if self.each else np.full(2, goals.max()))[:, None]
            following = []
            for c, logs in zip(cells, ends, strict=True):
                bounds = np.minimum(self._bounds(c, logs), self.caps)
                wanted = c.ways & (bounds > goals + np.maximum(_LEAST, _CLOSE * np.abs(goals)))
                wanted &= c.high - c.low > 1e-13 * np.maximum(np.abs(c.low), np.abs(c.high))
                if turn == _ROUNDS - 1 or int(wanted.any(axis=0).sum()) > _MOST_CELLS:
                    wanted[:] = False
                uppers = np.maximum(uppers, np.where(c.ways & ~wanted, bounds, -np.inf).max(axis=1, initial=-math.inf))
                if wanted.any():
                    following.append(c.halves(wanted))
            cells = following
            if not cells:
                break
        sups = [
            Sup(b.value, b.lower, max(float(u), b.value), (b.at,), *b.logs, limit=math.isinf(b.at))
            for b, u in zip(self.best, uppers, strict=True)
        ]
        return BothWays(sups[0], sups[1])

    def _first(self, chart: Chart) -> _Cells:
        unit = self.unit if chart is Chart.Y else 1 / self.unit
        ends = [e for s in self.p + self.q for e in (s.least, s.most) if math.isfinite(e)]
        ends = ends if chart is Chart.Y else [1 / e for e in ends if e]
        ends += [] if chart is Chart.Y else [side.nearest for side in self.far]
        edges = np.unique([*np.linspace(-unit, unit, 2 * _FIRST + 1), *(e for e in ends if abs(e) < unit)])
        return _Cells(chart, edges[:-1], edges[1:], np.ones((2, len(edges) - 1), bool))

    def _reach(self, side: FarSide) -> None:
        """The limit is a loss that is approached; the densities shown with it are those of a quotient on the way."""
        z = np.array([math.copysign(min(abs(side.nearest), 1 / self.unit), side.nearest)])
        a, b = (float(density(x, Chart.INVERSE, z)[0][0]) for x in (self.p, self.q))
        for way, (value, logs) in enumerate(((side.limit, (a, b)), (-side.limit, (b, a)))):
            if value > self.best[way].value:
                self.best[way] = _Best(value, value - side.slack, math.copysign(math.inf, side.nearest), logs)

    def _bounds(self, cells: _Cells, ends: _AtEnds) -> Floats:
        """What the ratios are at most over each interval, a row for each direction; only where that is asked for."""
        with np.errstate(invalid="ignore"):
            tilt = (ends.log_p[1] - ends.log_p[0]) / (cells.high - cells.low)
        tilt = np.where(np.isfinite(tilt), tilt, 0.0)
        out = np.full(cells.ways.shape, -np.inf)
        far = self._far_bounds(cells, ends)
        near = np.isnan(far).any(axis=0)
        out[:, ~near] = far[:, ~near]
        for way, (one, other) in enumerate(((self.p, self.q), (self.q, self.p))):
            rows = cells.ways[way] & near
            if not rows.any():
                continue
            span = QuotientSpan(cells.low[rows], cells.high[rows], tilt[rows])
            most, e = enclosed(one, cells.chart, span, Which.MOST)
            least, f = enclosed(other, cells.chart, span, Which.LEAST)
            with np.errstate(invalid="ignore"):
                bound = most - least + e + f
            unknown = np.isnan(bound) | (e > 0.1) | (f > 0.1)
            out[way, rows] = np.where(most == -np.inf, -np.inf, np.where(unknown, np.inf, bound))
        return out

    def _far_bounds(self, cells: _Cells, ends: _AtEnds) -> Floats:
        """The same where the ratio is monotone: the larger at both ends, one of which may be the limit; else not a number."""
        out = np.full(cells.ways.shape, np.nan)
        for side in self.far:
            rows = cells.far(side)
            z = np.stack([cells.low[rows], cells.high[rows]])
            ratio = np.where(z == 0, side.limit, ends.ratio[:, rows])
            error = np.where(z == 0, 0.0, ends.error[:, rows]) + side.slack
            out[:, rows] = np.stack([(ratio + error).max(axis=0), (error - ratio).max(axis=0)])
        return out

    def _look(self, cells: _Cells) -> _AtEnds:
        """Evaluate the ratio at the middle and both ends of each interval."""
        chart = cells.chart
        z, at = np.unique(np.concatenate([cells.low, cells.high, 0.5 * (cells.low + cells.high)]), return_inverse=True)
        (a, e), (b, f) = (density(side, chart, z) for side in (self.p, self.q))
        known = np.isfinite(a) & np.isfinite(b) & (e < 0.1) & (f < 0.1)
        with np.errstate(invalid="ignore"):
            ratios = np.where(known, a - b, np.nan)
            errors = e + f + 2.3e-16 * (4 + np.abs(a) + np.abs(b))
        for way, sign in ((0, 1.0), (1, -1.0)):
            ratio = np.where(known, sign * ratios, -np.inf)
            i = int(np.argmax(ratio))
            if ratio[i] > self.best[way].value:
                y = float(z[i]) if chart is Chart.Y else float(1 / z[i]) if z[i] else math.inf
                logs = (float(a[i]), float(b[i])) if way == 0 else (float(b[i]), float(a[i]))
                self.best[way] = _Best(float(ratio[i]), float(ratio[i] - errors[i]), y, logs)
        a, ratios, errors = (x[at.ravel()][: 2 * len(cells.low)].reshape(2, -1) for x in (a, ratios, errors))
        return _AtEnds(a, ratios, errors)


def _unit(shares: tuple[Share, ...]) -> float:
    """A quotient of ordinary size: up to there y is looked at, beyond it 1 / y."""
    tops = [abs(float(s.top.offset)) + s.top.scale for s in shares]
    bottoms = [
        abs(float(b.offset)) + b.scale if isinstance(b, BoundedDraw) else abs(float(b)) for b in (s.bottom for s in shares)
    ]
    return max(tops) / max(bottoms)


# -- a bound from the two noisy values themselves ----------------------------------------------------------------------


def _pairwise(p: tuple[Share, ...], q: tuple[Share, ...]) -> float:
    """The largest of the losses of matching cases: a ratio of sums is no larger than the largest ratio of matching terms."""
    if not p:
        return -math.inf
    others = sorted(q, key=_form)
    mine = sorted(p, key=_form)
    if [_form(s) for s in mine] != [_form(s) for s in others]:
        return math.inf
    return max(_pair(a, b) for a, b in zip(mine, others, strict=True))


def _form(share: Share) -> str:
    """What two cases must have in common to be compared term by term."""
    noises = [n for n in (share.top, share.bottom) if isinstance(n, BoundedDraw)]
    shape = [(repr(n.law), float(n.factor), n.low, n.high, share.least, share.most) for n in noises]
    return repr((shape, None if isinstance(share.bottom, BoundedDraw) else float(share.bottom)))


def _pair(a: Share, b: Share) -> float:
    out = a.log_weight - b.log_weight + a.error + b.error + moved_noise(a.top, b.top)
    if isinstance(a.bottom, BoundedDraw) and isinstance(b.bottom, BoundedDraw):
        out += moved_noise(a.bottom, b.bottom)
    return out + 1e-14


def moved_noise(f: BoundedDraw, g: BoundedDraw) -> float:
    """The supremum of ln f - ln g between the bounds: for log-concave noise that is moved, it is monotone."""
    if f.offset == g.offset:
        return 0.0
    far = 1600.0 * f.scale + abs(float(f.offset)) + abs(float(g.offset))
    places = np.array([max(f.low, -far), min(f.high, far)])
    one, other = f.log_density(places), g.log_density(places)
    with np.errstate(invalid="ignore"):
        ratio = one - other + 4e-16 * (np.abs(one) + np.abs(other))  # each is rounded to the size that it has far out
    # Beyond the last kink these are constant, or within e^-1000 of their limit; other noise needs finite bounds.
    bounded = bool(np.isfinite([f.low, f.high]).all() and np.isfinite(ratio).all())
    if isinstance(f.law, LaplaceSum) and not bounded:
        return float(abs(f.offset - g.offset)) / (f.law.b * abs(float(f.factor))) * (1 + 1e-15)
    if isinstance(f.law, Laplace | Logistic) or bounded:
        return float(ratio.max()) * (1 + 1e-15) + 1e-15
    return math.inf
