"""A measure whose density is kept as a polynomial on each of many panels: what products and convolutions leave behind."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from dpest.laws.asymptote import Asymptote
from dpest.laws.law import Continuous, Rng
from dpest.numerics.logspace import Floats, log1mexp, log_diff
from dpest.numerics.quadrature import NODES, ORDER, TO_COEFFICIENTS, rounding

_HALVINGS = 40  # down to 1e-12 of the first panel; what is missed there is in the error
_MOST = 20_000  # panels that one round may hold before no more are halved
NEGLIGIBLE = 800.0  # how many nats below the largest value a tabulated density ends
_SHORT = 100.0
_RANGE = 6.0  # nats that a density may span on one panel
_SLOPE_ERROR = 1e-14  # the relative error of the slope with which a table goes on beyond its ends


LogFunction = Callable[[Floats], tuple[Floats, Floats | float]]  # points -> (ln f, relative error of f)


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
    trusted: float = 700.0  # nats below its largest value down to which the density is known well
    # ln of the density at either end, and its slope outwards: beyond an open end it decays exponentially.
    tails: tuple[tuple[float, float] | None, tuple[float, float] | None] = (None, None)
    guessed: tuple[bool, bool] = (False, False)  # whether the decay beyond an open end is not exactly exponential
    concave: bool = False  # whether the measure that was tabulated is known to be log-concave

    declared: tuple[Asymptote | None, Asymptote | None] = (None, None)  # its asymptotes to the left and to the right

    @property
    def log_concave(self) -> bool:
        return self.concave

    def asymptote(self, side: int) -> Asymptote | None:
        return self.declared[0 if side < 0 else 1]

    @property
    def kinks(self) -> tuple[float, ...]:
        return self.kink_points

    @property
    def scale(self) -> float:
        return self.length

    @property
    def error(self) -> float:
        return self.relative_error

    @property
    def support(self) -> tuple[float, float]:
        low, high = self._ends
        return (-np.inf if self.tails[0] else low, np.inf if self.tails[1] else high)

    @property
    def _ends(self) -> tuple[float, float]:
        return float(self.edges[0]), float(self.edges[-1])

    def reach(self, log_mass: float) -> tuple[float, float]:
        return self._ends

    def log_beyond(self, log_mass: float) -> float:
        return self.log_mass - NEGLIGIBLE + 10.0

    @cached_property
    def _half(self) -> Floats:
        return 0.5 * np.diff(self.edges)

    @cached_property
    def _antiderivative(self) -> Floats:
        """Chebyshev coefficients of the integral from the panel's left end."""
        legendre = np.polynomial.legendre.legint(self.coefficients, lbnd=-1, axis=1)
        return np.asarray(legendre @ _CHEBYSHEV) * self._half[:, None]

    @cached_property
    def _chebyshev(self) -> Floats:
        return np.asarray(self.coefficients @ _CHEBYSHEV[:-1, :-1])

    @cached_property
    def _log_panel(self) -> Floats:
        with np.errstate(divide="ignore"):
            return np.log(np.maximum(2 * self._half * self.coefficients[:, 0], 0.0)) + self.offsets

    @cached_property
    def _log_largest(self) -> Floats:
        """ln of a panel's mass, or of its largest density where that is more."""
        return np.maximum(self._log_panel, np.where(self.coefficients[:, 0] > 0, self.offsets, -np.inf))

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
            # Rounding must not make zero of a density that vanishes at an edge: zero is a fact.
            values = np.maximum(_series(self._chebyshev, at, z), np.where(self.coefficients[at, 0] > 0, 1e-30, 0.0))
            out = np.log(values) + self.offsets[at]
        out = np.where((x >= self.edges[0]) & (x <= self.edges[-1]), out, -np.inf)
        for sign, end, tail in zip((-1, 1), self._ends, self.tails, strict=True):
            if tail:
                out = np.where(sign * x > sign * end, tail[0] + tail[1] * sign * (x - end), out)
        return out

    def noise(self, x: npt.ArrayLike, log_value: Floats) -> Floats:
        """The relative error of a density or mass that the panel around x makes: its series is good to a share of the panel.

        Beyond the table it is the slope there that counts, times the depth; where that is a guess, all that is known is that the
        density goes on falling.
        """
        x = np.asarray(x, float)
        low, high = self._ends
        at = np.clip(np.searchsorted(self.edges, x, side="right") - 1, 0, len(self.edges) - 2)
        known = np.where(np.isfinite(log_value), log_value, np.inf)
        inside = (self.relative_error + 2e-15) * np.exp(np.clip(self._log_largest[at] - known, 0.0, 700.0))
        within = (x >= low) & (x <= high)
        if within.all() and not any(self.guessed):
            return inside
        deep = _SLOPE_ERROR * np.where(np.isfinite(log_value), np.abs(log_value), 0.0)
        for sign, end, tail, guessed in zip((-1, 1), self._ends, self.tails, self.guessed, strict=True):
            if tail and guessed:
                deep = np.where(sign * x > sign * end, np.exp(np.clip(tail[0] - known, 0.0, 700.0)), deep)
                inside = inside + np.exp(np.minimum(tail[0] - math.log(-tail[1]) - known, 700.0))  # all mass beyond the end
        return np.where(within, inside, deep)

    @cached_property
    def _below_open(self) -> Floats:
        """ln of the mass below each edge, with what lies beyond an open left end."""
        before = -np.inf if self.tails[0] is None else _whole_tail(self.tails[0])
        return np.asarray(np.logaddexp.accumulate(np.concatenate([[before], self._log_panel])))

    def log_cdf(self, x: npt.ArrayLike) -> Floats:
        x = np.asarray(x, float)
        low, high = self._ends
        left, right = self.tails
        i, z = self._locate(np.clip(x, low, high))
        with np.errstate(divide="ignore"):
            part = np.log(np.maximum(_series(self._antiderivative, i, z), 0.0)) + self.offsets[i]
        out = np.logaddexp(self._below_open[i], part)
        if np.any(x <= low):
            tail = -np.inf if left is None else _whole_tail(left) + left[1] * (low - np.minimum(x, low))
            out = np.where(x <= low, tail, out)
        if right is not None and np.any(x > high):
            beyond = _tail_mass(right, np.zeros(x.shape), x - high)
            out = np.where(x > high, np.logaddexp(self._below_open[-1], beyond), out)
        return out

    def log_sf(self, x: npt.ArrayLike) -> Floats:
        x = np.asarray(x, float)
        i, z = self._locate(np.clip(x, *self._ends))
        left = _series(self._antiderivative, i, z)
        with np.errstate(divide="ignore"):
            part = np.log(np.maximum(np.exp(self._log_panel[i] - self.offsets[i]) - left, 0.0)) + self.offsets[i]
        inner = np.where(x < self._ends[1], np.logaddexp(self._above[i + 1], part), -np.inf)
        return self._with_tails(inner, x, np.full(x.shape, np.inf))

    def log_interval(self, low: npt.ArrayLike, high: npt.ArrayLike) -> Floats:
        low, high = np.broadcast_arrays(np.asarray(low, float), np.asarray(high, float))
        return self._with_tails(self._inside(np.clip(low, *self._ends), np.clip(high, *self._ends)), low, high)

    def _with_tails(self, out: Floats, low: Floats, high: Floats) -> Floats:
        """The mass inside the table, and what lies beyond its open ends."""
        for sign, end, tail in zip((-1, 1), self._ends, self.tails, strict=True):
            if tail and np.any(sign * (high if sign > 0 else low) > sign * end):
                near, far = (low, high) if sign > 0 else (-high, -low)
                out = np.logaddexp(out, _tail_mass(tail, near - sign * end, far - sign * end))
        return np.where(low < high, out, -np.inf)

    def _inside(self, low: Floats, high: Floats) -> Floats:
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
        return np.asarray(0.5 * (low + high))

    def words(self) -> str:
        return self.name


def _whole_tail(tail: tuple[float, float]) -> float:
    """ln of the mass beyond an open end."""
    return tail[0] - math.log(-tail[1])


def _tail_mass(tail: tuple[float, float], near: Floats, far: Floats) -> Floats:
    """ln of the mass between two distances beyond an open end."""
    log_end, slope = tail
    near, far = np.maximum(near, 0.0), np.maximum(far, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        out = log_end + slope * near - np.log(-slope) + log1mexp(slope * (far - near))
    return np.where(near < far, out, -np.inf)


def _to_chebyshev(size: int) -> Floats:
    """The matrix that takes Legendre coefficients to Chebyshev ones, from values at the Chebyshev points."""
    angle = math.pi * (np.arange(2 * size) + 0.5) / (2 * size)
    legendre = np.polynomial.legendre.legvander(np.cos(angle), size - 1)
    waves = np.cos(angle[:, None] * np.arange(size)) / size
    waves[:, 0] *= 0.5
    return np.asarray(legendre.T @ waves)


_CHEBYSHEV = _to_chebyshev(ORDER + 1)


def _series(chebyshev: Floats, at: npt.NDArray[np.intp], z: Floats) -> Floats:
    """Each point's own series: T_k(cos a) = cos(k a) for few points, Clenshaw's recurrence for many."""
    z = np.clip(z, -1.0, 1.0)
    if z.size < 200:
        waves = np.cos(np.arccos(z)[..., None] * np.arange(chebyshev.shape[1]))
        return np.asarray(np.einsum("...k,...k->...", waves, chebyshev[at]))
    b1 = b2 = np.zeros(z.shape)
    own = chebyshev.T[:, at]
    twice = 2 * z
    for c in own[:0:-1]:
        b1, b2 = c + twice * b1 - b2, b1
    return np.asarray(own[0] + z * b1 - b2)


def tabulate(
    log_f: LogFunction,
    edges: Floats,
    kinks: tuple[float, ...],
    scale: float,
    name: str,
    trusted: float = 700.0,
    concave: bool = False,
) -> Panels:
    """The measure with density e^log_f between the first and the last edge, on panels as fine as it takes.

    `log_f` answers with the relative error of its values; no panel is halved to look below it. An end at which the
    density is positive but negligible is open: the density is taken to decay exponentially beyond it.
    """
    all_edges = edges
    for nats in (_SHORT, NEGLIGIBLE):  # where the tails are exponential already a short table says it all
        edges = _worthwhile(log_f, all_edges, kinks, nats)
        ends = [_tail(log_f, float(end), sign, scale) for sign, end in ((-1, edges[0]), (1, edges[-1]))]
        if all(e.exact for e in ends):
            break
    low, high = edges[:-1], edges[1:]
    wide = high - low > 1e-15 * np.maximum(np.abs(low), np.abs(high))
    low, high = low[wide], high[wide]
    kept: list[tuple[Floats, Floats, Floats, Floats, Floats]] = []
    for halving in range(_HALVINGS):
        half = 0.5 * (high - low)
        logs, error = log_f((low + half)[:, None] + half[:, None] * NODES)
        noise = np.broadcast_to(error, logs.shape).max(axis=1)
        offset, coefficients, tail, span = _expanded(logs)
        smooth = tail <= 1e-14 + 4 * noise + rounding(offset)
        # A density that vanishes at an edge spans any number of nats there; what is left is as small as it is narrow.
        fine = ~np.isfinite(offset) | (smooth & ((span <= _RANGE) | (halving >= 12)))
        if halving == _HALVINGS - 1 or fine.size > _MOST:
            fine[:] = True
        top = np.where(np.isfinite(offset), offset, 0.0)
        kept.append((low[fine], high[fine], top[fine], coefficients[fine], (tail + noise + rounding(top))[fine]))
        if fine.all():
            break
        middle = (low + half)[~fine]
        low, high = np.concatenate([low[~fine], middle]), np.concatenate([middle, high[~fine]])
    known = math.inf if all(e.exact for e in ends) else trusted
    starts, stops, offsets, series, errors = (np.concatenate([k[i] for k in kept]) for i in range(5))
    order = np.argsort(starts)
    edges = np.append(starts[order], float(stops.max()))
    law = Panels(edges, offsets[order], series[order], (*kinks, edges[0], edges[-1]), scale, 0.0, name)
    lines, guessed = (ends[0].line, ends[1].line), (not ends[0].exact, not ends[1].exact)
    error = _overall(law, errors[order])
    return replace(law, relative_error=error, tails=lines, guessed=guessed, trusted=known, concave=concave)


def _overall(law: Panels, errors: Floats) -> float:
    """One relative error for the whole table: each panel's, weighted by its mass, and the worst of those that matter."""
    if law.log_mass == -np.inf:
        return 0.0
    share = np.exp(law._log_panel - law.log_mass)
    matter = (law._log_panel > law.log_mass - 300.0) & (share * errors > 1e-20)
    return float((share * errors).sum() + errors[matter].max(initial=0.0))


def _worthwhile(log_f: LogFunction, edges: Floats, kinks: tuple[float, ...], nats: float) -> Floats:
    """The edges without those beyond all kinks whose panels are negligible."""
    edges = np.unique(edges)
    middles = 0.5 * (edges[1:] + edges[:-1])
    at_edges, at_middles = log_f(edges)[0], log_f(middles)[0]
    top = max(float(at_edges.max()), float(at_middles.max()))
    panel = np.maximum(np.maximum(at_edges[1:], at_edges[:-1]), at_middles)
    between = (edges[:-1] < max(kinks)) & (edges[1:] > min(kinks)) if kinks else np.zeros(panel.shape, bool)
    kept = np.flatnonzero((panel > top - nats) | (between & (panel > -np.inf)))
    return edges[kept[0] : kept[-1] + 2] if kept.size else edges


@dataclass(frozen=True)
class _Tail:
    """Beyond an end: nothing (closed), or a density that decays, exactly exponentially or about so."""

    line: tuple[float, float] | None  # ln of the density at the end, and its slope outwards
    exact: bool


def _tail(log_f: LogFunction, end: float, sign: int, scale: float) -> _Tail:
    steps = np.array([0.0, 1000.0, 2000.0]) * scale
    here, middle, far = (float(v) for v in log_f(end + sign * steps)[0])
    if not np.isfinite(here) or not np.isfinite(far) or not far < middle < here:
        return _Tail(None, not np.isfinite(far))
    first, second = (middle - here) / (1000.0 * scale), (far - middle) / (1000.0 * scale)
    slope = (far - here) / (2000.0 * scale)
    if abs(first - second) <= 1e-11 * abs(first):
        return _Tail((here, slope), True)
    near = 1e-3 * scale  # a decay that grows steeper is the flattest right at the end
    at_end = (here - float(log_f(np.array([end - sign * near]))[0][0])) / near
    return _Tail((here, max(slope, at_end) if at_end < 0 else slope), False)


def _expanded(logs: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """ln of the largest value, the scaled Legendre coefficients, the size of the last ones, and the span in nats."""
    top = logs.max(axis=1)
    safe = np.where(np.isfinite(top), top, 0.0)
    coefficients = np.exp(logs - safe[:, None]) @ TO_COEFFICIENTS.T
    low = logs.min(axis=1)
    span = np.where(np.isfinite(low), safe - low, np.inf)
    return top, coefficients, np.abs(coefficients[:, -2:]).max(axis=1), np.where(np.isfinite(top), span, 0.0)


