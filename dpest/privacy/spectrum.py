"""Privacy loss as a distribution: for delta(eps) of a part of the output, and of independent parts together.

A spectrum is a list of outcomes with their probabilities under both inputs. Where outcomes are lumped together the
delta of what is left is a lower bound (lumping is post-processing); where an outcome is split into two extremes that
keep both of its probabilities it is an upper bound (the likelihood ratio is spread out).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpest.numerics.logspace import Floats, log_diff, log_sum, log_sum_by_row

_MOST_EXACT = 2_000_000
_GRID = 1 << 17


@dataclass(frozen=True)
class Spectrum:
    """Outcomes: ln of their probability under the first and the second law."""

    log_p: Floats
    log_q: Floats

    def delta(self, epsilon: float) -> float:
        """The sum over outcomes of (p - e^eps q), where positive."""
        gaps = log_diff(self.log_p, self.log_q + epsilon)
        return float(np.exp(log_sum(gaps))) if gaps.size else 0.0

    def swapped(self) -> Spectrum:
        """The other direction."""
        return Spectrum(self.log_q, self.log_p)

    def weighted(self, log_p: float, log_q: float) -> Spectrum:
        """Every outcome times a further independent event."""
        return Spectrum(self.log_p + log_p, self.log_q + log_q)


ONE = Spectrum(np.zeros(1), np.zeros(1))


def joined(parts: list[Spectrum]) -> Spectrum:
    """Outcomes of either part: they exclude each other."""
    return Spectrum(np.concatenate([s.log_p for s in parts]), np.concatenate([s.log_q for s in parts]))


def product(a: Spectrum, b: Spectrum) -> Spectrum | None:
    """Outcomes of both parts together, those with equal losses merged; None where there are too many."""
    if a.log_p.size * b.log_p.size > _MOST_EXACT:
        return None
    return merged(
        Spectrum(np.add.outer(a.log_p, b.log_p).ravel(), np.add.outer(a.log_q, b.log_q).ravel())
    )


def merged(s: Spectrum) -> Spectrum:
    """Outcomes with the same loss as one: their delta is the same."""
    with np.errstate(invalid="ignore"):
        loss = np.where(s.log_p == -np.inf, -np.inf, s.log_p - s.log_q)
    keep = s.log_p > -np.inf
    keep |= s.log_q > -np.inf
    _, where = np.unique(np.round(loss[keep], 13), return_inverse=True)
    where = where.ravel()
    size = int(where.max(initial=-1)) + 1
    return Spectrum(log_sum_by_row(where, s.log_p[keep], size), log_sum_by_row(where, s.log_q[keep], size))


@dataclass(frozen=True)
class Losses:
    """Probabilities p of losses i * step (first = the first i), and p of outcomes that the second law cannot produce."""

    step: float
    first: int
    p: Floats
    infinite: float

    def delta(self, epsilon: float) -> float:
        """Sum of p (1 - e^(eps - loss)) over larger losses, and all that is infinite."""
        loss = self.step * (self.first + np.arange(self.p.size))
        over = loss > epsilon
        return float(np.sum(self.p[over] * -np.expm1(epsilon - loss[over]))) + self.infinite

    def convolved(self, other: Losses) -> Losses:
        """The sum of independent losses."""
        n = self.p.size + other.p.size - 1
        size = 1 << max(1, (n - 1).bit_length())
        p = np.fft.irfft(np.fft.rfft(self.p, size) * np.fft.rfft(other.p, size), size)[:n]
        mass, others = float(self.p.sum()), float(other.p.sum())
        infinite = self.infinite * (others + other.infinite) + mass * other.infinite
        return Losses(self.step, self.first + other.first, np.maximum(p, 0.0), infinite)


def on_grid(s: Spectrum, step: float, *, up: bool) -> Losses:
    """The losses on a grid: each outcome split to the neighbours (an upper bound), or moved down (a lower one)."""
    possible = s.log_p > -np.inf
    p, loss = np.exp(s.log_p[possible]), s.log_p[possible] - s.log_q[possible]
    infinite = float(p[np.isinf(loss)].sum())
    finite = np.isfinite(loss)
    p, loss = p[finite], loss[finite]
    below = np.floor(loss / step + 1e-12)
    first = int(below.min(initial=0))
    out = np.zeros(int(below.max(initial=first)) - first + 2)
    at = (below - first).astype(int)
    if not up:
        np.add.at(out, at, p)
        return Losses(step, first, out, infinite)
    # q = p e^-loss is kept: the share that moves up solves share e^-(b + step) + (1 - share) e^-b = e^-loss.
    share = np.clip(np.expm1(-(loss - below * step)) / np.expm1(-step), 0.0, 1.0)
    np.add.at(out, at, p * (1 - share))
    np.add.at(out, at + 1, p * share)
    return Losses(step, first, out, infinite)


def grid_step(parts: list[Spectrum]) -> float:
    """A step that covers the finite losses of all parts together with a fixed number of points."""
    reach = 0.0
    for s in parts:
        with np.errstate(invalid="ignore"):
            loss = s.log_p - s.log_q
        finite = np.isfinite(loss) & (s.log_p > -60.0)
        reach += float(np.abs(loss[finite]).max(initial=0.0))
    return max(reach, 1e-9) / _GRID


def trimmed(s: Spectrum, *, up: bool) -> Spectrum:
    """Outcomes of negligible probability as infinite ones (an upper bound) or not at all (a lower one)."""
    rare = s.log_p <= -60.0
    if not rare.any():
        return s
    kept = Spectrum(s.log_p[~rare], s.log_q[~rare])
    rest = float(log_sum(s.log_p[rare]))
    return joined([kept, Spectrum(np.array([rest]), np.array([-math.inf]))]) if up and rest > -math.inf else kept
