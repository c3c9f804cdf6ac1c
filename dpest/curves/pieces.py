"""Two densities on a line, cut into cells.

Between the edges that the caller gives (every kink is one) both densities are smooth. On each panel the masses come
from Gauss's rule and the range of the log ratio from its Legendre coefficients: a polynomial, the sum of c_k P_k, is
monotone where |c_1| exceeds the sum of k (k + 1) / 2 |c_k|, k >= 2, and otherwise stays within the sum of |c_k|, k >= 1,
of c_0. What a polynomial through the nodes leaves out is estimated from the last
coefficients, as in every quadrature of this package, and added four times over; that is an estimate for smooth
functions and no proof.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from dpest.curves.cells import ROUND, LossCells
from dpest.curves.tails import NormalTails, log_moment_beyond, reach_of_moment
from dpest.numerics.arrays import Arrays
from dpest.numerics.effort import counted_effort
from dpest.numerics.logspace import Floats, log_sum
from dpest.numerics.quadrature import legendre_rule

# places -> (ln p, ln q, relative error of either)
Densities = Callable[[Floats], tuple[Floats, Floats, Floats]]

_ORDER = 12  # points of the Gauss rule on a panel, exact up to degree 23: more cost time, fewer ask for more panels
_NODES, _WEIGHTS, _COEFFICIENTS = legendre_rule(_ORDER)
_AT_LOW = (-1.0) ** np.arange(_ORDER)  # P_k(-1)
_STEEPEST = np.arange(2, _ORDER) * np.arange(3, _ORDER + 1) / 2.0  # the largest |P_k'|
_SPREAD = 40.0  # by how much errors of the values at the nodes can grow at the ends of a panel (Lebesgue's constant, doubled)
_ROUNDS = 40
_MOST_CELLS = 60_000  # of one piece: a dozen doubles for each are some 6 MB; beyond, the bracket stays as wide as it is
_NEGLIGIBLE = -115.0  # ln of the share of both masses below which a cell need not be cut further
# Panels beyond the cells, for moments of high order, in deviations of the noise: at order t a panel adds (0.02 t)^2 / 8 at most
# to the logarithm of the moment, which is some t^2 / 2 there. Half of it takes twice as many panels.
_FURTHER = 0.02
_MOST_FURTHER = 20_000  # panels on one side, some 2 MB; a longer reach has wider ones
# Panels for a moment of mixtures of normal laws, in deviations: a Gauss rule of 12 points is exact to rounding there. Under a
# high order, what lies between two means bends more sharply, like the square root of the order.
_SMOOTH, _BENT = 0.25, 4.0
_ROUGH = 0.1  # error of ln of a panel's mass from which on it counts as not known
_WIDEST = 0.5  # the largest range of the log ratio in a cell that is not negligible
# Added variance of the loss, relative to its own: 5e-7 makes a composed curve wider by about 1e-6 at delta = 1e-12.
# Half of it costs 1.26 times as many cells.
_VARIANCE = 5e-7
_CLOSE = 1e-12  # relative to delta, what may depend on where inside a panel the ratio crosses e^epsilon
_ROOM = 1e4  # by which the mass of negligible panels on which the rule has not settled is multiplied
# What cutting may cost, in steps of about ten microseconds: densities that are integrals themselves get wider cells. Plain ones
# take a tenth of it for all cells; twice of it makes cells of slow ones narrower by a quarter.
_WORK = 200_000


@dataclass(frozen=True, eq=False)
class _Panels(Arrays):
    """Panels with their masses, their errors and the range of the ratio."""

    low_end: Floats
    high_end: Floats
    log_p: Floats
    log_q: Floats
    slack: Floats
    low: Floats
    high: Floats
    fuzzy: npt.NDArray[np.bool_]  # whether the rule has not settled


@dataclass(frozen=True, eq=False)
class DensityPiece:
    """Two densities on a line, with the panels to start from and what lies beyond them."""

    densities: Densities
    edges: Floats
    beyond: tuple[float, float] = (0.0, 0.0)
    bounds: tuple[float, float] = (-math.inf, math.inf)
    tails: tuple[NormalTails, NormalTails] | None = None  # of both densities, where they are mixtures of normal laws

    @cached_property
    def _coarse(self) -> _Panels:
        """Panels on which the rule has settled and the ratio hardly changes."""
        return _settled(self.densities, self.edges)

    @cached_property
    def cells(self) -> LossCells:
        """LossCells that are narrow enough for a composition."""
        return self._as_cells(self._narrow)

    @cached_property
    def _narrow(self) -> _Panels:
        return _narrowed(self.densities, self._coarse)

    def log_moment(self, order: float, swapped: bool) -> tuple[float, float] | None:
        """ln E e^(order * loss) by quadrature of p (p / q)^order on the whole line; None where the densities declare no tails.

        Mixtures of normal laws are smooth, and so is this: no cells are needed, and the bracket has the width of the rounding.
        """
        if self.tails is None:
            return None
        p, q = self.tails[::-1] if swapped else self.tails
        ends = -reach_of_moment(p.mirrored(), q.mirrored(), order), reach_of_moment(p, q, order)
        ends = min(ends[0], p.low, q.low), max(ends[1], p.high, q.high)  # the bounds beyond hold outside of all means
        step = min(_SMOOTH * p.least, _SMOOTH * p.least * math.sqrt(_BENT / (1 + order)))
        if not math.isfinite(ends[0] + ends[1]) or ends[1] - ends[0] > _MOST_FURTHER * step:
            return None
        edges = np.linspace(*ends, math.ceil((ends[1] - ends[0]) / step) + 1)
        half = 0.5 * np.diff(edges)
        x = (edges[:-1] + half)[:, None] + half[:, None] * _NODES
        log_p, log_q, error = (np.asarray(v).reshape(x.shape) for v in self.densities(x.ravel()))
        log_p, log_q = (log_q, log_p) if swapped else (log_p, log_q)
        logs, slack, _ = _mass(log_p + order * (log_p - log_q), error * (1 + 2 * order), half)
        total = float(log_sum(logs))
        off = float(np.exp(logs - total) @ slack)
        if not math.isfinite(total) or not off < _ROUGH:
            return None
        rest = [self._rest(end, sign, order, swapped) for end, sign in zip(ends, (-1, 1), strict=True)]
        return total - 1.12 * off, float(np.logaddexp.reduce([total + off, *rest]))

    def log_moment_beyond(self, order: float, swapped: bool) -> tuple[float, float]:
        """ln of bounds of E e^(order * loss) over what no cell holds, in this direction or the other one."""
        rough = self._narrow.slack > _ROUGH
        kept = self._narrow.pick(~rough)
        if self.tails is None or not kept.low.size or not np.isfinite([kept.low.min(), kept.high.max()]).all():
            return -math.inf, math.inf
        ends = float(kept.low_end.min()), float(kept.high_end.max())
        if np.any(rough & (self._narrow.low_end < ends[1]) & (self._narrow.high_end > ends[0])):
            return -math.inf, math.inf
        sides = [self._beyond(end, sign, order, swapped) for end, sign in zip(ends, (-1, 1), strict=True)]
        low, high = (float(log_sum(np.array(each))) for each in zip(*sides, strict=True))
        return low, high

    def _beyond(self, start: float, sign: int, order: float, swapped: bool) -> tuple[float, float]:
        """The same on one side: further panels as far as the moment reaches, and a bound of the rest."""
        assert self.tails is not None
        p, q = self.tails[::-1] if swapped else self.tails
        p, q = (p, q) if sign > 0 else (p.mirrored(), q.mirrored())
        end = reach_of_moment(p, q, order)
        low = high = -math.inf
        if sign * start < end < math.inf:
            count = min(_MOST_FURTHER, math.ceil((end - sign * start) / (_FURTHER * p.least)))
            edges = np.linspace(start, sign * end, count + 1)[::sign]
            further = self._as_cells(_measured(self.densities, edges[:-1], edges[1:]))
            if further.size == count and np.isfinite(further.low).all() and np.isfinite(further.high).all():
                cells = replace(further, beyond=(0.0, 0.0))
                cells = cells.swapped() if swapped else cells
                low, high = (float(log_sum(x.log_mass + order * x.loss)) for x in (cells.lower, cells.upper))
                start = sign * end
        return low, float(np.logaddexp(high, self._rest(start, sign, order, swapped)))

    def _rest(self, start: float, sign: int, order: float, swapped: bool) -> float:
        """ln of a bound of the moment beyond a place, on one side."""
        assert self.tails is not None
        p, q = self.tails[::-1] if swapped else self.tails
        p, q = (p, q) if sign > 0 else (p.mirrored(), q.mirrored())
        log_p, log_q, error = (float(x[0]) for x in self.densities(np.array([start])))
        log_p, log_q = (log_q, log_p) if swapped else (log_p, log_q)
        return log_moment_beyond(p, q, sign * start, log_p + error, log_p - log_q + 2 * error, order)

    def at(self, epsilon: float) -> LossCells:
        """LossCells that hardly straddle the places at which ln p/q crosses epsilon."""
        panels = self._coarse
        for _ in range(6):
            gap = _straddle(panels, epsilon)
            # This and the swapped direction both ask here: the smaller of the two deltas sets the scale.
            least = min(float(log_sum(side)) for side in _both_sides(panels, epsilon))
            wide = gap > math.log(_CLOSE) + max(least, float(log_sum(gap)) - 20.0)
            wide &= ~(_width(panels) <= 1e-12 * max(1.0, abs(epsilon)))  # constant up to rounding: nothing to cut
            if not wide.any():
                break
            cut = _cut_at_crossing(self.densities, panels.pick(wide), epsilon)
            panels = _Panels.joined([panels.pick(~wide), cut])
        return self._as_cells(panels)

    def _as_cells(self, p: _Panels) -> LossCells:
        """The panels as cells; negligible ones whose masses are not settled count as beyond, with room to spare."""
        rough = p.slack > _ROUGH
        beyond = [b + _ROOM * float(np.exp(log_sum(m[rough]))) for b, m in zip(self.beyond, (p.log_p, p.log_q), strict=True)]
        open_ratio = bool(np.any(rough & (p.high == np.inf))), bool(np.any(rough & (p.low == -np.inf)))
        ends = (-math.inf if open_ratio[1] else self.bounds[0], math.inf if open_ratio[0] else self.bounds[1])
        p = p.pick(~rough)
        slack = p.slack * 1.12  # ln(1 - r) >= -1.12 r up to a tenth
        return LossCells(p.log_p, p.log_q, slack, p.low, p.high, (beyond[0], beyond[1]), ends)


def _measured(densities: Densities, low: Floats, high: Floats) -> _Panels:
    """Masses and range of the ratio of each panel."""
    half = 0.5 * (high - low)
    x = (low + half)[:, None] + half[:, None] * _NODES
    log_p, log_q, error = (np.asarray(v).reshape(x.shape) for v in densities(x.ravel()))
    sides = [_mass(logs, error, half) for logs in (log_p, log_q)]
    ends = _range(log_p, log_q, error)
    slack = np.maximum(sides[0][1], sides[1][1])
    fuzzy = sides[0][2] | sides[1][2] | ends[2]
    return _Panels(low, high, sides[0][0], sides[1][0], slack, ends[0], ends[1], fuzzy)


def _mass(logs: Floats, error: Floats, half: Floats) -> tuple[Floats, Floats, npt.NDArray[np.bool_]]:
    """ln of the integral over each panel, its error, and whether the rule has not settled."""
    top = logs.max(axis=1)
    safe = np.where(np.isfinite(top), top, 0.0)
    f = np.exp(logs - safe[:, None])
    value = f @ _WEIGHTS
    rest = 4 * np.abs(f @ _COEFFICIENTS[-3:].T).sum(axis=1) + (f * error) @ _WEIGHTS
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = np.where(value > 0, rest / value, 0.0)
        log_value = np.where(value > 0, np.log(half * value) + safe, -np.inf)
    noise = ROUND * (8.0 + np.where(np.isfinite(log_value), np.abs(log_value), 0.0) + np.abs(safe))
    small = np.max(error, axis=1, initial=0.0) * 4 + 1e-13
    return log_value, np.asarray(relative + noise), np.asarray((relative > small) & (value > 0))


def _range(log_p: Floats, log_q: Floats, error: Floats) -> tuple[Floats, Floats, npt.NDArray[np.bool_]]:
    """The ends of ln p/q on each panel; a panel on which a law is partly impossible has no finite ones."""
    none_p, none_q = log_p == -np.inf, log_q == -np.inf
    with np.errstate(invalid="ignore"):
        ratio = np.where(none_p | none_q, 0.0, log_p - log_q)
    c = ratio @ _COEFFICIENTS.T
    size = np.where(none_p, 0.0, np.abs(log_p)) + np.where(none_q, 0.0, np.abs(log_q))
    noise = (error + ROUND * (2.0 + size)).max(axis=1)
    tail = 4 * np.abs(c[:, -3:]).sum(axis=1)
    swing = np.abs(c[:, 1:]).sum(axis=1) + tail + 2 * noise
    ends = np.stack([c @ _AT_LOW, c.sum(axis=1)])
    steady = np.abs(c[:, 1]) > np.abs(c[:, 2:]) @ _STEEPEST  # the polynomial is monotone: its ends are its range
    spare = tail + _SPREAD * noise
    low = np.where(steady, ends.min(axis=0) - spare, c[:, 0] - swing)
    high = np.where(steady, ends.max(axis=0) + spare, c[:, 0] + swing)
    mixed = (none_p.any(axis=1) & ~none_p.all(axis=1)) | (none_q.any(axis=1) & ~none_q.all(axis=1))
    only_p, only_q = none_q.all(axis=1) & ~none_p.all(axis=1), none_p.all(axis=1) & ~none_q.all(axis=1)
    low = np.where(mixed | only_q, -np.inf, np.where(only_p, np.inf, low))
    high = np.where(mixed | only_p, np.inf, np.where(only_q, -np.inf, high))
    return low, high, np.asarray(mixed | (tail > 1e-3 * swing + 100 * noise))


def _settled(densities: Densities, edges: Floats) -> _Panels:
    low, high = edges[:-1], edges[1:]
    done: list[_Panels] = []
    for turn in range(_ROUNDS):
        panels = _measured(densities, low, high)
        everything = _Panels.joined([*done, panels])
        open_ones = _worth(panels, everything) & (panels.fuzzy | (_width(panels) > _WIDEST))
        open_ones &= high - low > 1e-13 * np.maximum(np.abs(low), np.abs(high))
        count = int(open_ones.sum())
        if turn == _ROUNDS - 1 or sum(d.low.size for d in done) + 2 * count > _MOST_CELLS:
            open_ones[:] = False
        done.append(panels.pick(~open_ones))
        if not open_ones.any():
            break
        low, high = _divided(panels.pick(open_ones), 2)
    return _Panels.joined(done)


def _worth(panels: _Panels, everything: _Panels) -> npt.NDArray[np.bool_]:
    total_p, total_q = float(log_sum(everything.log_p)), float(log_sum(everything.log_q))
    return np.asarray((panels.log_p > total_p + _NEGLIGIBLE) | (panels.log_q > total_q + _NEGLIGIBLE))


def _width(panels: _Panels) -> Floats:
    with np.errstate(invalid="ignore"):
        return np.where(panels.high == panels.low, 0.0, panels.high - panels.low)


def _divided(panels: _Panels, parts: int) -> tuple[Floats, Floats]:
    """Each panel in equal parts."""
    at = np.linspace(0.0, 1.0, parts + 1)
    edges = panels.low_end[:, None] + (panels.high_end - panels.low_end)[:, None] * at
    edges[:, -1] = panels.high_end
    return edges[:, :-1].ravel(), edges[:, 1:].ravel()


def _narrowed(densities: Densities, panels: _Panels) -> _Panels:
    """Panels divided until splitting each to the ends of its range adds next to no variance, tilted or not."""
    most, measured = _MOST_CELLS, 0
    with counted_effort() as effort:
        for _ in range(_ROUNDS):
            low, high, kept = _divided_by_importance(panels, most)
            if not low.size:
                break
            panels = _Panels.joined([panels.pick(kept), _measured(densities, low, high)])
            measured += low.size
            most = min(_MOST_CELLS, _WORK * measured // max(effort.work, 1))
    return panels


def _divided_by_importance(panels: _Panels, most: int) -> tuple[Floats, Floats, npt.NDArray[np.bool_]]:
    """The ends of the parts of panels that are too wide, and which panels stay; no parts where there is no room for them."""
    weight, deviation = _importance(panels)
    with np.errstate(invalid="ignore"):
        share = np.where(np.isfinite(_width(panels)), weight * _width(panels) ** 2, 0.0)
    limit = _VARIANCE * deviation**2 / 8000
    open_ones = (share > limit) & (_width(panels) > 64 * (panels.slack + 1e-14))
    # A part of width w / m has a share that is smaller by m^3.
    parts = np.clip(2 ** np.ceil(np.log2(np.maximum(share / limit, 1.0)) / 3), 2, 16).astype(int)
    count = int(parts[open_ones].sum())
    room = most - panels.low.size
    if count > room:  # halve those that matter most
        open_ones &= share >= np.sort(share)[-min(max(room // 2, 1), share.size)]
        parts, count = np.full(parts.shape, 2), 2 * int(open_ones.sum())
    if not count or count > room:
        return np.empty(0), np.empty(0), ~open_ones
    ends = [_divided(panels.pick(open_ones & (parts == m)), m) for m in (2, 4, 8, 16)]
    return np.concatenate([e[0] for e in ends]), np.concatenate([e[1] for e in ends]), ~open_ones


def _importance(panels: _Panels) -> tuple[Floats, float]:
    """The largest share of each panel under either law and under tilts of it, and the smaller deviation of the loss."""
    both = np.isfinite(panels.log_p) & np.isfinite(panels.log_q)
    if not both.any():
        return np.zeros(panels.low.size), 1.0
    loss = np.where(both, panels.log_p - np.where(both, panels.log_q, 0.0), 0.0)
    shares: list[Floats] = []
    deviations = []
    for logs, sign in ((panels.log_p, 1.0), (panels.log_q, -1.0)):
        base = np.where(both, logs, -np.inf)
        plain = np.exp(base - log_sum(base))
        mean = float(plain @ loss)
        deviation = math.sqrt(max(float(plain @ (loss - mean) ** 2), 1e-30))
        deviations.append(deviation)
        for tilt in (0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 1 / deviation, 3 / deviation):
            tilted = base + sign * tilt * loss
            shares.append(np.exp(tilted - log_sum(tilted)))
    return np.maximum.reduce(shares), min(deviations)


def _both_sides(panels: _Panels, epsilon: float) -> tuple[Floats, Floats]:
    """ln of p - e^epsilon q where the ratio is surely larger, and of e^epsilon q - p where it is surely smaller."""
    p, q = panels.log_p, panels.log_q + epsilon
    with np.errstate(invalid="ignore", divide="ignore"):
        above = p + np.log(-np.expm1(np.minimum(q - p, 0.0)))
        below = q + np.log(-np.expm1(np.minimum(p - q, 0.0)))
    over = (panels.low >= epsilon) & (p > -np.inf)
    under = (panels.high <= epsilon) & (q > -np.inf)
    return np.where(over, above, -np.inf), np.where(under, below, -np.inf)


def _straddle(panels: _Panels, epsilon: float) -> Floats:
    """ln of how much delta(epsilon) can depend on where inside a panel its masses lie."""
    across = (panels.low < epsilon) & (panels.high > epsilon)
    with np.errstate(invalid="ignore", divide="ignore"):
        overlap = np.clip(np.minimum(epsilon - panels.low, panels.high - epsilon), 0.0, 1.0)
        out = np.maximum(panels.log_p, panels.log_q + epsilon) + np.log(overlap)
    return np.where(across, out, -np.inf)


def _cut_at_crossing(densities: Densities, panels: _Panels, epsilon: float) -> _Panels:
    """Each panel as what lies below the crossing, a sliver around it, and what lies above."""
    a, b = panels.low_end, panels.high_end
    x = _root(densities, a, b, epsilon)
    sliver = 1e-9 * (b - a)
    left, right = np.clip(x - sliver, a, b), np.clip(x + sliver, a, b)
    low, high = np.concatenate([a, left, right]), np.concatenate([left, right, b])
    real = high > low
    return _measured(densities, low[real], high[real])


def _root(densities: Densities, a: Floats, b: Floats, epsilon: float) -> Floats:
    """Where ln p/q crosses epsilon in each panel, by Ridders' rule; the middle where it does not."""

    def value(x: Floats) -> Floats:
        p, q, _ = densities(x)
        with np.errstate(invalid="ignore"):
            return np.clip(np.nan_to_num(p - q, nan=0.0) - epsilon, -1e6, 1e6)

    inset = 1e-12 * (b - a)
    lo, hi = a + inset, b - inset
    f_lo, f_hi = np.split(value(np.concatenate([lo, hi])), 2)
    crossing = f_lo * f_hi < 0
    x = 0.5 * (lo + hi)
    for _ in range(10 if crossing.any() else 0):
        middle = 0.5 * (lo + hi)
        f_m = value(middle)
        with np.errstate(invalid="ignore", divide="ignore"):
            x = middle + (middle - lo) * np.sign(f_lo - f_hi) * f_m / np.sqrt(f_m * f_m - f_lo * f_hi)
        x = np.where(crossing & np.isfinite(x), np.clip(x, lo, hi), middle)
        f = value(x)
        for y, f_y in ((middle, f_m), (x, f)):
            inside, left = (lo <= y) & (y <= hi), f_y * f_lo > 0
            lo, f_lo = np.where(inside & left, y, lo), np.where(inside & left, f_y, f_lo)
            hi, f_hi = np.where(inside & ~left, y, hi), np.where(inside & ~left, f_y, f_hi)
        if bool(np.all(np.abs(f[crossing]) < 1e-13)):
            break
    return np.asarray(x)
