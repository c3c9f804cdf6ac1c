"""Quotients of two noisy values: y = T / S, one draw solved for and the other integrated out.

    p(y) = integral of |s| f_T(y s) f_S(s) ds,   and in terms of t = 1 / y:   p(t) = integral of |r| f_T(r) f_S(t r) dr

Both forms together cover the whole line, its far ends included, with bounded intervals. For an interval of y the density of
T at y s lies between its values at the ends and its largest value in between: an enclosure of p over the interval.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

import numpy as np

from dpest.laws.continuous import Gaussian, Laplace, Logistic
from dpest.laws.images import Moved
from dpest.laws.law import Continuous
from dpest.numerics.elementary import Kind
from dpest.numerics.logspace import Floats
from dpest.numerics.quadrature import RowNumbers, integrate, with_tails
from dpest.numerics.rationals import Rational

_REACH = -3000.0  # ln of the density at which a law ends: quotients are asked for far out, where a denominator is close to 0
_FAR = 1e9  # scales of the noise from zero: doubles are 1e-7 scales apart there
_HALVED = 8  # times, at most, for roots of noise: down to 1/128 of a panel of a hundred scales
_BEYOND = 80.0  # scales of the noise beyond the last turn: the integrand falls by e^-80 = 2e-35 there


class Chart(Enum):
    """The number that stands for a quotient: y itself, or one over it."""

    Y = "y"
    INVERSE = "1 / y"


class Which(Enum):
    """Which value of a density over an interval."""

    MOST = "the largest"
    LEAST = "the smallest"


def is_root(law: Continuous) -> bool:
    """Whether it is the square root, or a higher one, of Laplace or logistic noise: it falls at least as fast as these."""
    if not isinstance(law, Moved) or not isinstance(law.law, Laplace | Logistic) or law.function.kind is not Kind.POWER:
        return False
    return law.function.parameter is not None and 0 < law.function.parameter < 1


@dataclass(frozen=True)
class BoundedDraw:
    """factor * draw + offset, where it lies between two bounds."""

    law: Continuous
    factor: Rational
    offset: Rational
    low: float = -math.inf
    high: float = math.inf

    def log_density(self, x: Floats) -> Floats:
        """ln of the density, without the bounds."""
        return self.law.log_density((x - float(self.offset)) / float(self.factor)) - math.log(abs(float(self.factor)))

    def place(self, draw: float) -> float:
        """The value where the draw has a value."""
        return float(self.factor) * draw + float(self.offset)

    @property
    def scale(self) -> float:
        """The length over which the density changes."""
        return self.law.scale * abs(float(self.factor))

    @cached_property
    def turns(self) -> tuple[float, ...]:
        """Where the density is not smooth, turns, begins or ends."""
        inner = (*self.law.kinks, *((self.law.mode,) if self.law.mode is not None else ()))
        return tuple(dict.fromkeys([*map(self.place, inner), *(e for e in (self.low, self.high) if math.isfinite(e))]))

    def ends_around(self, forced: Floats) -> tuple[Floats, Floats]:
        """How far it goes, where conditions on others force it to a place: so far beyond that place that the rest is nothing."""
        low, high = sorted(map(self.place, self.law.reach(_REACH)))
        nearest = np.clip(forced, self.low, self.high)
        first, last = sorted(map(self.place, self.law.support))
        room = _BEYOND * self.scale
        least, most = np.minimum(low, nearest - room), np.maximum(high, nearest + room)
        return np.maximum(least, max(first, self.low)), np.minimum(most, min(last, self.high))

    def nearest(self, z: Floats, to: float) -> Floats:
        """The number closest to `to` whose multiple by z lies between the bounds; infinite where there is none."""
        with np.errstate(divide="ignore", invalid="ignore"):
            a, b = self.low / z, self.high / z
        low, high = np.minimum(a, b), np.maximum(a, b)
        free = 0.0 if self.low <= 0 <= self.high else np.inf
        return np.where(z == 0, np.where(free == 0, to, np.inf), np.clip(to, low, high))

    @cached_property
    def mode(self) -> float:
        """Where the density is largest; of a root, where that of the value is."""
        if isinstance(self.law, Moved):
            inner = self.law.law.mode
            assert inner is not None
            return self.place(self.law.limit(inner))
        assert self.law.mode is not None
        return self.place(self.law.mode)

    @property
    def is_root(self) -> bool:
        """Whether it is a root of noise: integrated over, but not solved for, since its logarithm need not be concave."""
        return is_root(self.law)

    def log_at(self, x: Floats) -> Floats:
        """ln of the density, zero outside the bounds."""
        return np.where((x >= self.low) & (x <= self.high), self.log_density(x), -np.inf)

    def log_within(self, x: Floats, span: QuotientSpan, which: Which) -> Floats:
        """ln of f(z x) e^(-tilt (z - middle)) for the z of a span at which it is largest or smallest."""
        a, b = span.low * x, span.high * x
        low, high = np.minimum(a, b), np.maximum(a, b)
        half = 0.5 * (span.high - span.low)
        first, last = self.log_density(a) + span.tilt * half, self.log_density(b) - span.tilt * half
        if which is Which.LEAST:  # the logarithm is concave in z: smallest at an end
            return np.where((low >= self.low) & (high <= self.high), np.minimum(first, last), -np.inf)
        if self._bend is None:
            top = self.log_density(np.clip(self.mode, low, high)) + np.abs(span.tilt) * half
        else:
            with np.errstate(divide="ignore", invalid="ignore"):
                turn = self.log_density(np.asarray(self.mode)) - span.tilt * (self.mode / x - 0.5 * (span.low + span.high))
            inside = (low < self.mode) & (self.mode < high)
            top = np.maximum(np.maximum(first, last), np.where(inside, turn, -np.inf)) + self._bend * (high - low) ** 2 / 8
        return np.where((high > self.low) & (low < self.high), top, -np.inf)

    @cached_property
    def _bend(self) -> float | None:
        """How much ln f bends at most, apart from a kink at the mode: between its ends it exceeds them by that much."""
        factor = float(self.factor) ** 2
        match self.law:
            case Laplace():
                return 0.0
            case Gaussian(sigma=sigma):
                return 1 / (sigma**2 * factor)
            case Logistic(b=b):
                return 1 / (2 * b**2 * factor)
        return None


@dataclass(frozen=True, eq=False)
class QuotientSpan:
    """Intervals of z, and by how much ln p grows along each: what both laws share of that is taken out."""

    low: Floats
    high: Floats
    tilt: Floats

    def rows(self, row: RowNumbers) -> QuotientSpan:
        """Some of the intervals, as columns."""
        return QuotientSpan(self.low[row][:, None], self.high[row][:, None], self.tilt[row][:, None])


@dataclass(frozen=True)
class Share:
    """One case of a quotient: noisy top over noisy bottom, or over a number; with the weight of the case."""

    top: BoundedDraw
    bottom: BoundedDraw | Rational
    log_weight: float = 0.0
    error: float = 0.0
    least: float = -math.inf  # the quotient lies between these two: conditions may say so
    most: float = math.inf

    def _inside(self, chart: Chart, z: Floats, logs: Floats) -> Floats:
        """ln of a density with the weight of the case, where the quotient may lie; else minus infinity."""
        if chart is Chart.Y:
            y = z
        else:
            with np.errstate(divide="ignore"):
                y = 1 / z
        return np.where((y >= self.least) & (y <= self.most), logs + self.log_weight, -np.inf)

    def at(self, chart: Chart, z: Floats) -> tuple[Floats, Floats]:
        """ln of the case's density in terms of the chart's number, and the relative error."""
        if not isinstance(self.bottom, BoundedDraw):
            k = float(self.bottom)
            if chart is Chart.Y:
                logs = self.top.log_at(k * z) + math.log(abs(k))
            else:
                with np.errstate(divide="ignore", invalid="ignore"):
                    logs = self.top.log_at(k / z) + math.log(abs(k)) - 2 * np.log(np.abs(z))
                logs = np.where(z == 0, -np.inf, logs)
            return self._inside(chart, z, logs), np.full(z.shape, self.error + 1e-15)
        own, other = self._roles(chart)
        logs, error = _integral(own, other, QuotientSpan(z, z, np.zeros(z.shape)), None)
        return self._inside(chart, z, logs), error + self.error

    def within(self, chart: Chart, span: QuotientSpan, which: Which) -> tuple[Floats, Floats]:
        """The same at its largest or smallest over intervals, tilted; no interval reaches across an end of the quotient."""
        middle = 0.5 * (span.low + span.high)
        if not isinstance(self.bottom, BoundedDraw):
            logs = self._fixed(float(self.bottom), chart, span, which)
            return self._inside(chart, middle, logs), np.full(span.low.shape, self.error + 1e-15)
        own, other = self._roles(chart)
        logs, error = _integral(own, other, span, which)
        return self._inside(chart, middle, logs), error + self.error

    def _roles(self, chart: Chart) -> tuple[BoundedDraw, BoundedDraw]:
        """What is integrated, and what is solved for."""
        assert isinstance(self.bottom, BoundedDraw)
        return (self.bottom, self.top) if chart is Chart.Y else (self.top, self.bottom)

    def _fixed(self, k: float, chart: Chart, span: QuotientSpan, which: Which) -> Floats:
        """The density of T / k: |k| f(k y), or |k| f(k / t) / t^2."""
        sign = 1.0 if which is Which.MOST else -1.0
        room = sign * 0.5 * np.abs(span.tilt) * (span.high - span.low)
        one = np.ones(())
        if chart is Chart.Y:
            flat = QuotientSpan(k * span.low, k * span.high, np.zeros(span.low.shape))
            return self.top.log_within(one, flat, which) + math.log(abs(k)) + room
        touches = (span.low <= 0) & (span.high >= 0)
        a, b = np.where(touches, 1.0, span.low), np.where(touches, 1.0, span.high)
        inside = self.top.log_within(one, QuotientSpan(k / b, k / a, np.zeros(a.shape)), which) + math.log(abs(k)) + room
        squares = -2 * np.log(np.abs(a)), -2 * np.log(np.abs(b))
        pick = np.maximum(*squares) if which is Which.MOST else np.minimum(*squares)
        return np.where(touches, np.inf if which is Which.MOST else -np.inf, inside + pick)


def _integral(own: BoundedDraw, other: BoundedDraw, span: QuotientSpan, which: Which | None) -> tuple[Floats, Floats]:
    """The integral of |x| f_own(x) f_other(z x) over x: at z, or enclosed over intervals; and its relative error."""
    low, high = span.low, span.high
    rows = low.size
    columns = [np.zeros(rows), *(np.full(rows, k) for k in own.turns)]
    with np.errstate(divide="ignore", invalid="ignore"):
        for m in other.turns:
            columns += [m / low, m / high, 2 * m / (low + high)] if which is not None else [m / low]
    forced = np.stack([other.nearest(low, own.mode), other.nearest(high, own.mode)])
    lost = ~(np.abs(forced) <= _FAR * own.scale).all(axis=0)  # so far out, doubles are too coarse for the noise
    forced = np.where(lost, own.mode, forced)
    sides = [own.ends_around(x) for x in forced]
    first, last = np.minimum(sides[0][0], sides[1][0]), np.maximum(sides[0][1], sides[1][1])
    table = np.stack([np.where(np.isfinite(c), c, 0.0) for c in columns], axis=1)
    table = np.clip(table, first[:, None], last[:, None])
    widest = float(np.maximum(np.abs(low), np.abs(high)).max(initial=0.0))
    finest = min(own.scale, other.scale / widest if widest else math.inf)

    def log_f(row: RowNumbers, x: Floats) -> tuple[Floats, Floats | float]:
        here = span.rows(row)
        with np.errstate(divide="ignore"):
            size = np.log(np.abs(x))
        inner = other.log_at(here.low * x) if which is None else other.log_within(x, here, which)
        return size + own.log_density(x) + inner, own.law.error + other.law.error

    # Beyond all turns a log-concave integrand falls at least as fast as its own noise: by e^-80 or more.
    start = np.maximum(table.min(axis=1) - _BEYOND * own.scale, first)
    stop = np.minimum(table.max(axis=1) + _BEYOND * own.scale, last)
    # Enclosures are coarse anyhow: their panels are not halved, and what that costs is in their error. Roots fall so fast that
    # too little of them would be seen.
    halvings = () if which is None else (_HALVED if own.is_root else 1,)
    found = integrate(log_f, with_tails(table, start, stop, finest), *halvings)
    return found.log_value, np.where(lost, np.inf, found.error + 1e-15)


Answer = tuple[Floats, Floats]


def density(shares: tuple[Share, ...], chart: Chart, z: Floats) -> Answer:
    """ln of the sum of the cases at z, and its relative error."""
    return _sum([s.at(chart, z) for s in shares])


def enclosed(shares: tuple[Share, ...], chart: Chart, span: QuotientSpan, which: Which) -> Answer:
    """ln of the sum of the cases, at most or at least, over intervals; tilted."""
    return _sum([s.within(chart, span, which) for s in shares])


def _sum(answers: list[Answer]) -> Answer:
    logs, errors = np.stack([a[0] for a in answers]), np.stack([a[1] for a in answers])
    with np.errstate(invalid="ignore"):
        whole = np.logaddexp.reduce(logs, axis=0)
        finite = np.isfinite(whole)
        error = (np.exp(logs - np.where(finite, whole, np.inf)) * errors).sum(axis=0)
        # A logarithm is rounded as its size is: far out that is more than all other errors.
        error += 1e-15 * np.abs(np.where(finite, whole, 0.0))
    return whole, np.asarray(np.nan_to_num(error, nan=0.0, posinf=1.0))
