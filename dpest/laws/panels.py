"""A measure whose density is kept as a polynomial on each of many panels: what products and convolutions leave behind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from dpest.laws.law import Continuous, Rng
from dpest.numerics.logspace import Floats, log_diff, log_sum
from dpest.numerics.quadrature import NODES, TO_COEFFICIENTS, rounding

_HALVINGS = 40
_MOST = 20_000  # panels that one round may hold before no more are halved
_RANGE = 6.0  # nats that a density may span on one panel


@dataclass(frozen=True, eq=False)
class Panels(Continuous):
    """Density e^offset * (Legendre series) on each panel [edge_i, edge_i+1]; not normalised."""

    edges: Floats
    offsets: Floats
    coefficients: Floats  # panels x ORDER
    kink_points: tuple[float, ...]
    length: float
    relative_error: float
    name: str = "a computed law"

    kinks = property(lambda self: self.kink_points)
    scale = property(lambda self: self.length)
    error = property(lambda self: self.relative_error)
    support = property(lambda self: (float(self.edges[0]), float(self.edges[-1])))

    def reach(self, log_mass: float) -> tuple[float, float]:
        return self.support

    @cached_property
    def _half(self) -> Floats:
        return 0.5 * np.diff(self.edges)

    @cached_property
    def _antiderivative(self) -> Floats:
        """Legendre coefficients of the integral from the panel's left end."""
        return np.asarray(np.polynomial.legendre.legint(self.coefficients, lbnd=-1, axis=1)) * self._half[:, None]

    @cached_property
    def _log_panel(self) -> Floats:
        with np.errstate(divide="ignore"):
            return np.log(np.maximum(2 * self._half * self.coefficients[:, 0], 0.0)) + self.offsets

    @cached_property
    def _below(self) -> Floats:
        return np.concatenate([[-np.inf], np.logaddexp.accumulate(self._log_panel)])

    @cached_property
    def _above(self) -> Floats:
        return np.concatenate([np.logaddexp.accumulate(self._log_panel[::-1])[::-1], [-np.inf]])

    @property
    def log_mass(self) -> float:
        return float(self._below[-1])

    def _locate(self, x: Floats) -> tuple[npt.NDArray[np.intp], Floats]:
        at = np.clip(np.searchsorted(self.edges, x, side="right") - 1, 0, len(self.edges) - 2)
        return at, (x - self.edges[at]) / self._half[at] - 1

    def log_density(self, x: npt.ArrayLike) -> Floats:
        x = np.asarray(x, float)
        at, z = self._locate(x)
        with np.errstate(divide="ignore", invalid="ignore"):
            out = np.log(np.maximum(_series(self.coefficients, at, z), 0.0)) + self.offsets[at]
        return np.where((x >= self.edges[0]) & (x <= self.edges[-1]), out, -np.inf)

    def log_cdf(self, x: npt.ArrayLike) -> Floats:
        return self.log_interval(-np.inf, x)

    def log_sf(self, x: npt.ArrayLike) -> Floats:
        return self.log_interval(x, np.inf)

    def log_interval(self, low: npt.ArrayLike, high: npt.ArrayLike) -> Floats:
        low, high = np.broadcast_arrays(np.asarray(low, float), np.asarray(high, float))
        low, high = np.clip(low, *self.support), np.clip(high, *self.support)
        i, z_low = self._locate(low)
        j, z_high = self._locate(high)
        left, right = _series(self._antiderivative, i, z_low), _series(self._antiderivative, j, z_high)
        with np.errstate(divide="ignore", invalid="ignore"):
            within = np.log(np.maximum(right - left, 0.0)) + self.offsets[i]
            rest = np.log(np.maximum(np.exp(self._log_panel[i] - self.offsets[i]) - left, 0.0)) + self.offsets[i]
            start = np.log(np.maximum(right, 0.0)) + self.offsets[j]
        across = np.logaddexp(np.logaddexp(rest, start), self._between(i + 1, np.maximum(j, i + 1)))
        return np.where(low < high, np.where(i == j, within, across), -np.inf)

    def _between(self, i: npt.NDArray[np.intp], j: npt.NDArray[np.intp]) -> Floats:
        """ln of the mass of the whole panels i..j-1, from the side that loses fewer digits."""
        left, right = log_diff(self._below[j], self._below[i]), log_diff(self._above[i], self._above[j])
        return np.where(self._below[i] < self._above[j], left, right)

    def sample(self, rng: Rng, size: int) -> npt.NDArray[np.generic]:
        return np.asarray(self.quantile(rng.random(size)))

    def quantile(self, p: npt.ArrayLike) -> Floats:
        """The point below which the share p of the mass lies, by bisection."""
        p = np.asarray(p, float)
        low, high = np.full(p.shape, self.edges[0]), np.full(p.shape, self.edges[-1])
        goal = np.log(p) + self.log_mass
        for _ in range(200):
            middle = 0.5 * (low + high)
            under = self.log_cdf(middle) < goal
            low, high = np.where(under, middle, low), np.where(under, high, middle)
            if np.all((middle == low) | (middle == high)) and np.all(high - low <= 1e-15 * np.maximum(1, np.abs(high))):
                break
        return 0.5 * (low + high)

    def words(self) -> str:
        return self.name


def _series(coefficients: Floats, at: npt.NDArray[np.intp], z: Floats) -> Floats:
    """Each point's own Legendre series (Clenshaw)."""
    z = np.clip(z, -1.0, 1.0)
    b1 = b2 = np.zeros(np.shape(z))
    columns = np.ascontiguousarray(coefficients.T)
    for k in range(columns.shape[0] - 1, 0, -1):
        b1, b2 = columns[k][at] + (2 * k + 1) / (k + 1) * z * b1 - (k + 1) / (k + 2) * b2, b1
    return np.asarray(columns[0][at] + z * b1 - 0.5 * b2)


def tabulate(
    log_f: Callable[[Floats], tuple[Floats, float]], edges: Floats, kinks: tuple[float, ...], scale: float, name: str
) -> Panels:
    """The measure with density e^log_f between the first and the last edge, on panels as fine as it takes.

    `log_f` answers with the relative error of its values; no panel is halved to look below it.
    """
    low, high = edges[:-1], edges[1:]
    wide = high - low > 1e-13 * np.maximum(np.abs(low), np.abs(high))
    low, high = low[wide], high[wide]
    kept: list[tuple[Floats, Floats, Floats, Floats]] = []
    worst = noise = 0.0
    loose: list[Floats] = []  # ln of the mass that panels at a vanishing edge may be off by
    for halving in range(_HALVINGS):
        half = 0.5 * (high - low)
        logs, error = log_f((low + half)[:, None] + half[:, None] * NODES)
        noise = max(noise, error)
        offset, coefficients, tail, span = _expanded(logs)
        smooth = tail <= 1e-14 + 4 * noise + rounding(offset)
        # A density that vanishes at an edge spans any number of nats there; what is left is as small as it is narrow.
        fine = ~np.isfinite(offset) | (smooth & ((span <= _RANGE) | (halving >= 12)))
        if halving == _HALVINGS - 1 or fine.size > _MOST:
            fine[:] = True
        kept.append((low[fine], high[fine], np.where(np.isfinite(offset), offset, 0.0)[fine], coefficients[fine]))
        worst = max(worst, float(tail[fine & smooth & (span <= _RANGE)].max(initial=0.0)))
        rough = fine & np.isfinite(offset) & ~(smooth & (span <= _RANGE))
        loose.append(np.log(np.maximum(tail * half, 1e-300))[rough] + offset[rough])
        if fine.all():
            break
        middle = (low + half)[~fine]
        low, high = np.concatenate([low[~fine], middle]), np.concatenate([middle, high[~fine]])
    starts, ends, offsets, series = (np.concatenate([k[i] for k in kept]) for i in range(4))
    order = np.argsort(starts)
    ends_of = (float(starts.min()), float(ends.max()))
    law = Panels(np.append(starts[order], ends_of[1]), offsets[order], series[order], (*kinks, *ends_of), scale, 0.0, name)
    share = float(np.exp(log_sum(np.concatenate(loose)) - law.log_mass)) if law.log_mass > -np.inf else 0.0
    return replace(law, relative_error=noise + worst + share)


def _expanded(logs: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """ln of the largest value, the scaled Legendre coefficients, the size of the last ones, and the span in nats."""
    top = logs.max(axis=1)
    safe = np.where(np.isfinite(top), top, 0.0)
    coefficients = np.exp(logs - safe[:, None]) @ TO_COEFFICIENTS.T
    low = logs.min(axis=1)
    span = np.where(np.isfinite(low), safe - low, np.inf)
    return top, coefficients, np.abs(coefficients[:, -2:]).max(axis=1), np.where(np.isfinite(top), span, 0.0)


