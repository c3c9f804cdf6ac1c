"""The outputs of a pair of laws, cut into cells: what is known of each is two masses and the range of the log ratio.

A single outcome is a cell whose range is one number. From cells come two lists of losses between which the truth lies
(Blackwell's order; composition keeps it):

* upper: each cell as two outcomes at the ends of its range that keep both masses (the ratio is spread out),
* lower: each cell as one outcome (lumping is post-processing).

Masses carry errors. A larger p and a smaller q make every delta larger, so the upper list takes p + error and
q - error, and the lower list the opposite.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from dpest.numerics.logspace import Floats, log_sum, log_sum_by_row

ROUND = 2.3e-16  # a little more than the unit roundoff of doubles, 2^-52
_COARSE = 1024
_SIZEABLE = math.log(1e-6)
_ROUGH = 1e-9  # a relative error that is looked at more closely: exact cases keep theirs, a few roundings
LARGE = 700.0  # the logarithm of the largest relative error that is told: a double holds e^709
_SAME = 1e-12  # losses closer than this, relative to their size, are merged; the range of the merged cell covers them


@dataclass(frozen=True, eq=False)
class LossCells:
    """ln of each cell's masses under both laws, the error of both, and the ends of ln p/q inside."""

    log_p: Floats
    log_q: Floats
    slack: Floats  # |ln true mass - ln mass| is at most this, for either law
    low: Floats  # ln p/q lies between low and high everywhere in the cell
    high: Floats
    beyond: tuple[float, float] = (0.0, 0.0)  # mass under p and q that no cell holds, at most
    bounds: tuple[float, float] = (-math.inf, math.inf)  # where ln p/q lies in what no cell holds
    loose: tuple[float, float] = (0.0, 0.0)  # further mass under p and q that may lie anywhere, at most

    @property
    def size(self) -> int:
        """How many cells there are."""
        return int(self.log_p.size)

    def swapped(self) -> LossCells:
        """The other direction."""
        ends = (-self.bounds[1], -self.bounds[0])
        return LossCells(self.log_q, self.log_p, self.slack, -self.high, -self.low, self.beyond[::-1], ends, self.loose[::-1])

    def weighted(self, log_p: float, log_q: float, error: float = 0.0) -> LossCells:
        """Every cell together with a further independent event."""
        assert not any(self.loose)
        if log_p == log_q == error == 0.0:
            return self
        with np.errstate(invalid="ignore"):
            p, q, shift = self.log_p + log_p, self.log_q + log_q, log_p - log_q
            low, high = _moved(self.low, shift), _moved(self.high, shift)
        noise = rounding(p, q)
        ends = (self.bounds[0] + shift - error, self.bounds[1] + shift + error) if math.isfinite(shift) else (-math.inf, math.inf)
        more = 1 + 1e-12 + 2 * error
        beyond = (self.beyond[0] * math.exp(log_p) * more, self.beyond[1] * math.exp(log_q) * more)
        spare = 2 * error + noise
        return LossCells(p, q, self.slack + error + noise, low - spare, high + spare, beyond, ends)

    @cached_property
    def losses(self) -> Floats:
        """ln of the ratio of the masses; plus infinity where q has none, minus infinity where p has none."""
        with np.errstate(invalid="ignore"):
            return np.where(self.log_p == -np.inf, -np.inf, self.log_p - self.log_q)

    @cached_property
    def upper(self) -> Losses:
        """Losses that dominate those of the pair."""
        return _spread(self)

    @cached_property
    def lower(self) -> Losses:
        """Losses that those of the pair dominate."""
        return _lumped(self)

    @property
    def most(self) -> float:
        """An upper end of ln p/q wherever p has mass."""
        if self.loose[0] > 0:
            return math.inf
        ends = self.high[self.log_p > -np.inf]
        top = float(ends.max(initial=-math.inf))
        return max(top, self.bounds[1]) if self.beyond[0] > 0 else top


@dataclass(frozen=True, eq=False)
class Losses:
    """Privacy losses with ln of their probabilities under the first law, sorted; the mass at infinity stands apart."""

    log_mass: Floats
    loss: Floats
    infinite: float
    doubt: float = 0.0  # by how much the losses of sizeable cells were lowered because of the errors of their masses

    @cached_property
    def mass(self) -> float:
        """The probability of a finite loss."""
        return float(np.exp(log_sum(self.log_mass))) if self.log_mass.size else 0.0

    @cached_property
    def coarse(self) -> Losses:
        """Neighbours merged until few are left: enough to plan with, no bound of anything."""
        if self.loss.size <= _COARSE:
            return self
        group = (np.arange(self.loss.size) * _COARSE // self.loss.size).astype(np.intp)
        mass = log_sum_by_row(group, self.log_mass, _COARSE)
        weight = np.exp(self.log_mass - np.where(np.isfinite(mass), mass, 0.0)[group])
        return Losses(mass, np.asarray(np.bincount(group, weight * self.loss, _COARSE), float), self.infinite)


def single(log_p: npt.ArrayLike, log_q: npt.ArrayLike, error: npt.ArrayLike = 0.0) -> LossCells:
    """Outcomes with these probabilities (as logarithms, with relative errors), those with equal losses as one cell."""
    p, q = np.asarray(log_p, float), np.asarray(log_q, float)
    slack = np.broadcast_to(np.asarray(error, float), p.shape) + rounding(p, q)
    with np.errstate(invalid="ignore"):
        ratio = np.where(p == -np.inf, -np.inf, p - q)
    return merged(LossCells(p, q, slack, ratio - 2 * slack, ratio + 2 * slack))


def rounding(p: Floats, q: Floats) -> Floats:
    """How far two computed logarithms may be off by their own rounding."""
    size = np.maximum(np.where(np.isfinite(p), np.abs(p), 0.0), np.where(np.isfinite(q), np.abs(q), 0.0))
    return np.asarray(ROUND * (2.0 + size))


def joined(parts: list[LossCells]) -> LossCells:
    """Cells of parts that exclude each other."""
    if len(parts) == 1:
        return parts[0]
    p, q, slack = (np.concatenate([getattr(c, name) for c in parts]) for name in ("log_p", "log_q", "slack"))
    low, high = (np.concatenate([getattr(c, name) for c in parts]) for name in ("low", "high"))
    beyond = tuple(math.fsum(c.beyond[i] for c in parts) * (1 + 1e-15) for i in (0, 1))
    open_parts = [c.bounds for c in parts if any(c.beyond)]
    ends = (min(b[0] for b in open_parts), max(b[1] for b in open_parts)) if open_parts else (-math.inf, math.inf)
    loose = (math.fsum(c.loose[0] for c in parts), math.fsum(c.loose[1] for c in parts))
    return LossCells(p, q, slack, low, high, (beyond[0], beyond[1]), ends, loose)


def product(a: LossCells, b: LossCells) -> LossCells:
    """Cells of two independent parts together."""
    with np.errstate(invalid="ignore"):
        p, q = np.add.outer(a.log_p, b.log_p).ravel(), np.add.outer(a.log_q, b.log_q).ravel()
        slack = np.add.outer(a.slack, b.slack).ravel() + rounding(p, q)
        low = np.add.outer(a.low, b.low).ravel() - slack
        high = np.add.outer(a.high, b.high).ravel() + slack
    unknown = [_left_over(a, b, i) for i in (0, 1)]
    ends = (-math.inf, math.inf)
    if any(unknown):
        ends = (least(a) + least(b), _most(a) + _most(b))
    loose = (a.loose[0] + b.loose[0], a.loose[1] + b.loose[1])
    return merged(LossCells(p, q, slack, low, high, (unknown[0], unknown[1]), ends, loose))


def _left_over(a: LossCells, b: LossCells, i: int) -> float:
    """Mass of a product that lies in no product of cells: one of the parts is outside its cells; totals are at most 1."""
    return (a.beyond[i] + b.beyond[i]) * (1 + 1e-15)


def least(c: LossCells) -> float:
    """A lower end of ln p/q wherever q has mass."""
    ends = c.low[c.log_q > -np.inf]
    bottom = float(ends.min(initial=math.inf))
    return min(bottom, c.bounds[0]) if any(c.beyond) else bottom


def _most(c: LossCells) -> float:
    return max(c.most, c.bounds[1]) if any(c.beyond) else c.most


def merged(c: LossCells) -> LossCells:
    """Cells with equal losses as one, impossible ones left out."""
    keep = (c.log_p > -np.inf) | (c.log_q > -np.inf)
    loss = c.losses[keep]
    order = np.argsort(loss, kind="stable")
    p, q, slack, low, high = (x[keep][order] for x in (c.log_p, c.log_q, c.slack, c.low, c.high))
    loss = loss[order]
    if not loss.size:
        return LossCells(p, q, slack, low, high, c.beyond, c.bounds, c.loose)
    with np.errstate(invalid="ignore"):
        apart = np.diff(loss) > _SAME * np.maximum(1.0, np.where(np.isfinite(loss[1:]), np.abs(loss[1:]), 0.0))
    group = np.concatenate([[0], np.cumsum(apart)]).astype(np.intp)
    if group[-1] + 1 == loss.size:
        return LossCells(p, q, slack, low, high, c.beyond, c.bounds, c.loose)
    starts = np.flatnonzero(np.concatenate([[True], apart]))
    rows = int(group[-1]) + 1
    new_p, new_q = log_sum_by_row(group, p, rows), log_sum_by_row(group, q, rows)
    count = np.diff(np.append(starts, loss.size))
    noise = ROUND * (4.0 + np.log2(count)) + rounding(new_p, new_q)
    worst = np.maximum.reduceat(slack, starts)
    if worst.max() > _ROUGH:
        worst = np.minimum(worst, np.maximum(slack_of_sums(group, p, new_p, slack), slack_of_sums(group, q, new_q, slack)))
    ends = np.minimum.reduceat(low, starts), np.maximum.reduceat(high, starts)
    return LossCells(new_p, new_q, worst + noise, *ends, c.beyond, c.bounds, c.loose)


def slack_of_sums(group: npt.NDArray[np.intp], logs: Floats, sums: Floats, slack: Floats) -> Floats:
    """How far the logarithm of each group's sum may be off: each part by its own share, which is next to nothing far out."""
    known = np.where(sums > -np.inf, sums, 0.0)
    # For sum w = 1: ln(sum w e^s) and -ln(sum w e^-s) are both at most sum w (e^s - 1).
    off = np.exp(np.minimum(logs - known[group] + slack, LARGE)) * -np.expm1(-slack)
    return np.asarray(np.bincount(group, off, len(sums)), float)


def _moved(ends: Floats, shift: float) -> Floats:
    """Ends of ranges, shifted; infinite ones stay, and a part that one law cannot produce has none."""
    return np.where(np.isfinite(ends), ends + shift, ends) if math.isfinite(shift) else np.full(ends.shape, shift)


def _lumped(c: LossCells) -> Losses:
    """p - error at the loss ln (p - error) / (q + error), less rounding."""
    mass = c.log_p - c.slack
    possible = mass > -np.inf
    mass = mass[possible]
    other = c.log_q[possible] + c.slack[possible]
    if c.loose[1] > 0.0:  # all of it may lie on any one cell
        other = np.logaddexp(other, math.log(c.loose[1])) + 4 * ROUND
    with np.errstate(invalid="ignore"):
        loss = mass - other
    endless = loss == np.inf
    loss = loss - ROUND * (2.0 + np.abs(np.where(endless, 0.0, loss)) + np.abs(mass))
    infinite = float(np.exp(log_sum(mass[endless]))) * (1 - 1e-14) if endless.any() else 0.0
    sizeable = ~endless & (mass > _SIZEABLE)
    doubt = float((c.losses[possible][sizeable] - loss[sizeable]).max(initial=0.0))
    return replace(_sorted(mass[~endless], loss[~endless], infinite), doubt=doubt)


def _spread(c: LossCells) -> Losses:
    """p + error and q - error at the ends of the ratio's range."""
    possible = c.log_p > -np.inf
    mass = c.log_p[possible] + c.slack[possible]
    with np.errstate(invalid="ignore"):
        loss = mass - (c.log_q[possible] - c.slack[possible])
        loss = loss + ROUND * (2.0 + np.abs(np.where(np.isfinite(loss), loss, 0.0)) + np.abs(mass))
        high, low = np.maximum(c.high[possible], loss), np.minimum(c.low[possible], loss)
    endless = loss == np.inf
    infinite = float(np.exp(log_sum(mass[endless]))) * (1 + 1e-14) if endless.any() else 0.0
    mass, loss, high, low = (x[~endless] for x in (mass, loss, high, low))
    share = upward_share(loss, low, high)
    log_up, log_down = _logs(share)
    masses, losses = np.concatenate([mass + log_up, mass + log_down]), np.concatenate([high, low])
    endless = (losses == np.inf) & (masses > -np.inf)
    infinite += float(np.exp(log_sum(masses[endless]))) * (1 + 1e-14) if endless.any() else 0.0
    real = np.isfinite(losses) & (masses > -np.inf)
    masses, losses = masses[real], losses[real]
    if c.beyond[0] > 0.0:
        if math.isfinite(c.bounds[1]):
            masses, losses = np.append(masses, math.log(c.beyond[0])), np.append(losses, c.bounds[1])
        else:
            infinite += c.beyond[0]
    infinite = (infinite + c.loose[0]) * (1 + 4 * ROUND)
    return _sorted(masses + ROUND * (4.0 + np.abs(masses)), losses, infinite)


def upward_share(loss: Floats, low: Floats, high: Floats) -> Floats:
    """The share of p that sits at the higher loss so that both masses are kept, with the loss rounded upwards.

    share e^-high + (1 - share) e^-low = e^-loss. Differences of losses carry rounding errors that are as large as the
    rounding of the losses; the loss is raised by more than that, which only makes every delta larger.
    """
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        guard = 4 * ROUND * sum(np.where(np.isfinite(x), np.abs(x), 0.0) for x in (loss, low, high))
        raised = np.minimum(loss + guard, high)
        share = np.expm1(low - raised) / np.expm1(low - high)
        endless = ~np.isfinite(low) | ~np.isfinite(high)
        # Towards an infinite end only the other one keeps a share: e^-inf = 0.
        open_share = np.where(high == np.inf, np.where(np.isfinite(low), -np.expm1(low - raised), 1.0), 1.0)
    share = np.where(endless, open_share, share)
    share = np.where(high - low <= guard, 1.0, share)
    return np.asarray(np.clip(share * (1 + 8 * ROUND), 0.0, 1.0))


def _logs(share: Floats) -> tuple[Floats, Floats]:
    with np.errstate(divide="ignore"):
        return np.log(share), np.log1p(-share)


def _sorted(mass: Floats, loss: Floats, infinite: float) -> Losses:
    order = np.argsort(loss, kind="stable")
    return Losses(mass[order], loss[order], infinite)
