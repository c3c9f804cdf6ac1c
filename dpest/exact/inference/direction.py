"""Several noisy values up to a common factor: what a normalised histogram tells of its counts.

Of values w it tells the line through w and the origin (or the ray, where conditions fix the sign of the factor). With a vector u
on it, the density is

    p(u) = integral of t^(r - 1) f_1(t u_1) ... f_r(t u_r) dt        over t > 0, and the same at -u where the sign is open

up to a constant that no input changes. One u_i is 1 or -1 and the others lie between -1 and 1: finitely many bounded boxes hold
all directions. On a box around m, with X(t) the sum of the slopes of ln f_i(t m_i) times the steps u_i - m_i and E the mean over
t in proportion to the integrand at m:

    ln p(u) - ln p(m)  <=  ln E e^X  <=  E X + E X^2 e^|X| / 2        since every ln f_i is concave
    ln p(u) - ln p(m)  >=  E X - E gap                                by Jensen; gap: how far ln f_i lies below its tangents

so that p is known on the box up to the square of its size.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import astuple, dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from dpest.exact.inference.ratio import BoundedDraw
from dpest.laws.continuous import Gaussian, Laplace, Logistic
from dpest.laws.laplace_sum import LaplaceSum
from dpest.numerics.effort import spend
from dpest.numerics.logspace import Floats
from dpest.numerics.quadrature import NODES, TAIL, WEIGHTS, RowNumbers, integrate

LogOfFactor: TypeAlias = Callable[[Floats], Floats]  # ln of an integrand at one t for each row

NOISE = (Laplace, LaplaceSum, Gaussian, Logistic)  # without ends, log-concave, and with bounds on how ln f bends
_STEPS = 24  # of a golden search for the largest value: down to 1e-5 of the first interval
_GOLDEN = (math.sqrt(5) - 1) / 2
# In lengths over which the integrand falls by e or more: e^-45 = 3e-20 is left out.
_FALL = np.array([0.0, 1.0, 2.5, 6.0, 15.0, 45.0])
_BROAD = 1e4  # scales of the noise, from the farthest place where it is likely: no direction needs more
# X is at most this and a share of what the integrand has fallen by: at the ends E X^2 e^|X| then has fallen by 25 and falls on.
_MOST_STEP, _FALL_SHARE, _LEFT_OUT = 8.0, 0.25, 1e-8
# Behind a turn the integrand may fall much faster than on the way to it: panels with a larger error than this are halved, so
# often at most. Branch and bound leaves fifty times as much open; most boxes need no halving.
_ROUGH, _HALVINGS = 1e-9, 6


@dataclass(frozen=True, eq=False)
class OnBoxes:
    """What is known of ln p on boxes: its value in the middle, the slopes there, and how far it may be from the tangent."""

    log: Floats
    slopes: Floats  # boxes x coordinates
    above: Floats
    below: Floats
    error: Floats  # relative, of all of them

    def with_rows(self, rows: npt.NDArray[np.intp], other: OnBoxes) -> OnBoxes:
        """The same with what is known better of some boxes."""
        fields = []
        for mine, better in zip(astuple(self), astuple(other), strict=True):
            table = mine.copy()
            table[rows] = better
            fields.append(table)
        return OnBoxes(*fields)


@dataclass(frozen=True)
class NoisyRay:
    """One case: independent noisy values, of which the direction counts, and the weight of the case."""

    noises: tuple[BoundedDraw, ...]
    oriented: bool  # whether u and -u are told apart
    log_weight: float = 0.0
    error: float = 0.0
    least: float = 0.0  # of t: where the last of the values has bounds, and u_r = 1
    most: float = math.inf

    def log(self, u: Floats) -> tuple[Floats, Floats]:
        """ln of the density at directions, and the relative error."""
        logs, error = self._ray(u)
        if not self.oriented:
            other, off = self._ray(-u)
            whole = np.logaddexp(logs, other)
            error = np.exp(logs - whole) * error + np.exp(other - whole) * off
            logs = whole
        return logs + self.log_weight, error + self.error

    def on_boxes(self, low: Floats, high: Floats) -> OnBoxes:
        """What is known of ln p on boxes."""
        half = 0.5 * (high - low)
        found = self._expanded(low + half, half)
        if not self.oriented:
            other = self._expanded(-low - half, half)
            found = mixed([found, OnBoxes(other.log, -other.slopes, other.above, other.below, other.error)])
        return OnBoxes(found.log + self.log_weight, found.slopes, found.above, found.below, found.error + self.error)

    def _ray(self, u: Floats) -> tuple[Floats, Floats]:
        """The integral over t > 0."""

        def log_f(row: RowNumbers, t: Floats) -> tuple[Floats, Floats | float]:
            return self._log_integrand(u[row][:, None, :], t), sum(noise.law.error for noise in self.noises)

        found = integrate(log_f, self._edges(u, np.zeros(u.shape)))
        return found.log_value, found.error + 1e-15

    def _log_integrand(self, u: Floats, t: Floats) -> Floats:
        with np.errstate(divide="ignore"):
            total = (len(self.noises) - 1) * np.log(t)
        for i, noise in enumerate(self.noises):
            total = total + noise.log_density(u[..., i] * t)
        return np.asarray(total)

    def _expanded(self, u: Floats, half: Floats) -> OnBoxes:
        """The means over t > 0, on panels that are halved where they are too wide."""
        edges = self._edges(u, half)
        found = self._means(u, half, edges)
        rows = np.arange(len(u))
        for _ in range(_HALVINGS):
            rough = found.error[rows] > _ROUGH
            if not rough.any():
                break
            rows, edges = rows[rough], _halved(edges[rough])
            found = found.with_rows(rows, self._means(u[rows], half[rows], edges))
        return found

    def _means(self, u: Floats, half: Floats, edges: Floats) -> OnBoxes:
        """The means over t > 0 on panels between given edges."""
        rows, sides = u.shape
        width = 0.5 * np.diff(edges, axis=1)
        t = (edges[:, :-1] + width)[:, :, None] + width[:, :, None] * NODES
        spend(t.size)
        logs = self._log_integrand(u[:, None, None, :], t)
        top = logs.max(axis=(1, 2))
        f = np.exp(logs - top[:, None, None])
        weight = f * width[:, :, None] * WEIGHTS
        whole = weight.sum(axis=(1, 2))
        step, gap, slopes = np.zeros(t.shape), np.zeros(t.shape), np.zeros((rows, sides))
        for i, noise in enumerate(self.noises):
            x, reach = u[:, i][:, None, None] * t, half[:, i][:, None, None] * t
            slope = t * log_slope(noise, x)
            slopes[:, i] = (weight * slope).sum(axis=(1, 2)) / whole
            step += np.abs(slope) * half[:, i][:, None, None]
            gap += below_tangent(noise, x, reach)
        with np.errstate(over="ignore"):
            above = (weight * 0.5 * step**2 * np.exp(np.minimum(step, 100.0))).sum(axis=(1, 2)) / whole
        fallen = top[:, None, None] - logs
        above = np.where((step - _FALL_SHARE * fallen).max(axis=(1, 2)) <= _MOST_STEP, above + _LEFT_OUT, np.inf)
        off = (np.abs(f @ TAIL).sum(axis=2) * width).sum(axis=1) / whole + 1e-12
        return OnBoxes(np.log(whole) + top, slopes, above, (weight * gap).sum(axis=(1, 2)) / whole, off)

    def _edges(self, u: Floats, half: Floats) -> Floats:
        """Where the integrand is large, and its turns. It is log-concave in t: what falls by e falls on at that rate."""

        def log_f(t: Floats) -> Floats:
            return self._log_integrand(u, t)

        far = self.least + max(abs(n.mode) + n.scale for n in self.noises) * _BROAD
        ends = np.full(len(u), self.least), np.full(len(u), min(far, self.most))
        top = _golden(log_f, *ends)
        peak = log_f(top)
        widths = [_fall(log_f, peak, top, end)[:, None] for end in ends]
        edges = [top[:, None] - widths[0] * _FALL, top[:, None] + widths[1] * _FALL[1:]]
        edges = [np.clip(x, self.least, self.most) for x in edges]
        turns = []
        with np.errstate(divide="ignore", invalid="ignore"):
            for i, noise in enumerate(self.noises):
                turns += [noise.mode / (u[:, i] + side * half[:, i]) for side in ((0.0, -1.0, 1.0) if half.any() else (0.0,))]
        table = np.stack([np.where(np.isfinite(x), x, 0.0) for x in turns], axis=1)
        first, last = edges[0].min(axis=1)[:, None], edges[1].max(axis=1)[:, None]
        return np.sort(np.concatenate([*edges, np.clip(table, first, last)], axis=1), axis=1)


def _halved(edges: Floats) -> Floats:
    """Rows of edges with the middle of each panel between them."""
    middle = 0.5 * (edges[:, :-1] + edges[:, 1:])
    return np.sort(np.concatenate([edges, middle], axis=1), axis=1)


def mixed(parts: list[OnBoxes]) -> OnBoxes:
    """The sum of several densities: every mean is one over all of them."""
    if len(parts) == 1:
        return parts[0]
    logs = np.stack([x.log for x in parts])
    whole = np.logaddexp.reduce(logs, axis=0)
    share = np.exp(logs - whole)
    slopes = sum(s[:, None] * x.slopes for s, x in zip(share, parts, strict=True))
    above, below, error = (
        sum(s * getattr(x, name) for s, x in zip(share, parts, strict=True)) for name in ("above", "below", "error")
    )
    return OnBoxes(whole, np.asarray(slopes), np.asarray(above), np.asarray(below), np.asarray(error))


def log_slope(noise: BoundedDraw, x: Floats) -> Floats:
    """The slope of ln f at a value (anywhere between both of them at a kink)."""
    size = float(noise.factor)
    z = (x - float(noise.offset)) / size
    match noise.law:
        case Laplace(b=b):
            return -np.sign(z) / (b * size)
        case Gaussian(sigma=sigma):
            return -z / (sigma**2 * size)
        case Logistic(b=b):
            return -np.tanh(z / (2 * b)) / (b * size)
        case LaplaceSum():
            return noise.law.log_slope(z) / size
    raise AssertionError(noise.law)


def below_tangent(noise: BoundedDraw, x: Floats, reach: Floats) -> Floats:
    """At most how far ln f lies below its tangent at x, up to a distance from it."""
    size = abs(float(noise.factor))
    match noise.law:
        case Laplace(b=b):
            return np.maximum(reach - np.abs(x - float(noise.offset)), 0.0) * 2 / (b * size)
        case Gaussian(sigma=sigma):
            return reach**2 / (2 * (sigma * size) ** 2)
        case Logistic(b=b):  # (ln f)'' = -(1 - tanh^2) / (2 b^2)
            return reach**2 / (4 * (b * size) ** 2)
        case LaplaceSum(b=b):
            # b^2 f_n'' = f_n - f_(n - 1), since the transform of a Laplace density is 1 / (1 + b^2 s^2), and |f_n'| <= f_n / b.
            # So (ln f_n)'' >= -f_(n - 1) / (b^2 f_n). And f_n is at least half of f_(n - 1), of which it is a mean.
            return reach**2 / (b * size) ** 2
    raise AssertionError(noise.law)


def _golden(f: LogOfFactor, low: Floats, high: Floats) -> Floats:
    """Where a function that rises and then falls is largest, in each row: first by powers of four, then by golden sections."""
    powers = low[:, None] + (high - low)[:, None] * 4.0 ** -np.arange(0.0, 32.0)
    values = np.stack([f(powers[:, k]) for k in range(powers.shape[1])], axis=1)
    best = values.argmax(axis=1)
    rows = np.arange(len(low))
    first = np.where(best == powers.shape[1] - 1, low, powers[rows, np.minimum(best + 1, powers.shape[1] - 1)])
    low, high = first, powers[rows, np.maximum(best - 1, 0)]
    a, b = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    fa, fb = f(a), f(b)
    for _ in range(_STEPS):
        left = fa > fb
        low, high = np.where(left, low, a), np.where(left, b, high)
        new = np.where(left, high - _GOLDEN * (high - low), low + _GOLDEN * (high - low))
        value = f(new)
        a, b = np.where(left, new, b), np.where(left, a, new)
        fa, fb = np.where(left, value, fb), np.where(left, fa, value)
    return np.asarray(0.5 * (low + high))


def _fall(f: LogOfFactor, peak: Floats, top: Floats, end: Floats) -> Floats:
    """How far from the top, towards an end, the function has fallen by 1: found from above, by halving."""
    away = end - top
    out = np.abs(away)
    for _ in range(60):
        fallen = f(np.abs(top + np.sign(away) * 0.5 * out)) < peak - 1.0
        if not fallen.any():
            break
        out = np.where(fallen, 0.5 * out, out)
    return out
