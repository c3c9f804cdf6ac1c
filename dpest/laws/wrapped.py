"""Laws on a circle: what is left of a multiple of a value when whole turns are taken away."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from dpest.errors import BudgetExceeded
from dpest.laws.continuous import Gaussian, Laplace
from dpest.laws.discrete import Atoms, Whole
from dpest.laws.law import Continuous, Discrete, Rng
from dpest.laws.panels import Panels, tabulate
from dpest.numerics.effort import spend
from dpest.numerics.logspace import Floats, log1mexp, log_sum
from dpest.numerics.quadrature import with_tails
from dpest.numerics.rationals import Rational

_FAR = -720.0  # ln of the mass beyond which turns are left out: no double is as small
_BESIDE = 2  # turns on either side that count always, however narrow the law is
_MOST_TURNS = 16_000  # each is a term of every density in a table: logistic noise of up to ten turns' scale has as many
# Up to so many turns are added up for each density; a table costs about as much as 24 of them. So few mean that the law is
# narrow, and its density on the far side of the circle too small for the panels of a table.
_FEW_TURNS = 16
_MOST_POINTS = 200_000  # of a whole-number law that are added up


@dataclass(frozen=True)
class Wrapped(Continuous):
    """factor * X - floor(factor * X), between 0 and 1."""

    base: Continuous
    factor: Rational

    support = (0.0, 1.0)

    @cached_property
    def _turns(self) -> Floats:
        ends = sorted(float(self.factor) * x for x in self.base.reach(_FAR))
        if not ends[1] - ends[0] < _MOST_TURNS:
            raise BudgetExceeded(f"{self.base.words()} goes around more than {_MOST_TURNS} times")
        return np.arange(math.floor(ends[0]) - _BESIDE, math.ceil(ends[1]) + _BESIDE + 1.0)

    def _back(self, y: npt.ArrayLike) -> Floats:
        """The values of X that lead to y: turns x places."""
        y = np.asarray(y, float)
        return np.asarray((self._turns.reshape(-1, *(1,) * y.ndim) + y) / float(self.factor))

    def log_density(self, x: npt.ArrayLike) -> Floats:
        x = np.asarray(x, float)
        inside = (x >= 0) & (x <= 1)
        logs = log_sum(self.base.log_density(self._back(np.where(inside, x, 0.5))), axis=0) - math.log(abs(float(self.factor)))
        return np.where(inside, logs, -np.inf)

    def log_interval(self, low: npt.ArrayLike, high: npt.ArrayLike) -> Floats:
        low, high = np.broadcast_arrays(np.clip(np.asarray(low, float), 0, 1), np.clip(np.asarray(high, float), 0, 1))
        ends = self._back(low), self._back(high)
        logs = log_sum(self.base.log_interval(np.minimum(*ends), np.maximum(*ends)), axis=0)
        return np.where(low < high, logs, -np.inf)

    def log_cdf(self, x: npt.ArrayLike) -> Floats:
        return self.log_interval(np.zeros(np.shape(x)), x)

    def log_sf(self, x: npt.ArrayLike) -> Floats:
        return self.log_interval(x, np.ones(np.shape(x)))

    @property
    def scale(self) -> float:
        return min(self.base.scale * abs(float(self.factor)), 1.0)

    @property
    def kinks(self) -> tuple[float, ...]:
        inside = {(float(self.factor) * x) % 1.0 for x in self.base.kinks if math.isfinite(x)}
        return tuple(sorted({0.0, 1.0, *inside}))

    def reach(self, log_mass: float) -> tuple[float, float]:
        return self.support

    @property
    def error(self) -> float:
        return self.base.error + 4e-15

    def curvature(self, low: Floats, high: Floats) -> Floats:
        if isinstance(self.base, Gaussian):
            return np.full(np.shape(low), _gaussian_bend(self.base.sigma * abs(float(self.factor)), self._turns))
        # The log of a sum of e^(g_k) bends by the mean of g_k'' and the variance of g_k': slopes between -d and u have at most
        # ((d + u) / 2)^2 of that, and concave g_k bend downwards.
        costs = self.base.shift_cost()
        if not self.base.log_concave or any(c is None for c in costs):
            return np.full(np.shape(low), np.inf)
        steepest = float(sum((c for c in costs if c is not None), start=0 * self.factor)) / 2 / abs(float(self.factor))
        return np.full(np.shape(low), steepest**2)

    def sample(self, rng: Rng, size: int) -> npt.NDArray[np.generic]:
        return np.mod(float(self.factor) * np.asarray(self.base.sample(rng, size), float), 1.0)

    def words(self) -> str:
        return f"({self.base.words()} * {float(self.factor):g}) % 1"


@dataclass(frozen=True)
class WrappedLaplace(Wrapped):
    """The same in closed form: what comes around from either side are two geometric series."""

    @property
    def _width(self) -> float:
        assert isinstance(self.base, Laplace)
        return self.base.b * abs(float(self.factor))

    def log_density(self, x: npt.ArrayLike) -> Floats:
        x = np.asarray(x, float)
        s = self._width
        logs = np.logaddexp(-x / s, (x - 1) / s) - math.log(-2 * s * math.expm1(-1 / s))
        return np.where((x >= 0) & (x <= 1), logs, -np.inf)

    def log_interval(self, low: npt.ArrayLike, high: npt.ArrayLike) -> Floats:
        low, high = np.broadcast_arrays(np.clip(np.asarray(low, float), 0, 1), np.clip(np.asarray(high, float), 0, 1))
        s = self._width
        with np.errstate(divide="ignore", invalid="ignore"):
            gone = log1mexp(-(high - low) / s)
            logs = np.logaddexp(-low / s, (high - 1) / s) + gone - math.log(-2 * math.expm1(-1 / s))
        return np.where(low < high, logs, -np.inf)


@dataclass(frozen=True)
class WrappedTable(Wrapped):
    """The same from a table: of hundreds of turns, each would be a term of every density that is asked for."""

    @cached_property
    def _table(self) -> Panels:
        direct = Wrapped(self.base, self.factor)

        def log_f(x: Floats) -> tuple[Floats, float]:
            spend(x.size * direct._turns.size)
            return direct.log_density(x), direct.error

        edges = with_tails(np.array([self.kinks]), np.zeros(1), np.ones(1), self.scale)[0]
        return tabulate(log_f, np.unique(edges), self.kinks, self.scale, self.words())

    def log_density(self, x: npt.ArrayLike) -> Floats:
        return self._table.log_density(x)

    def log_interval(self, low: npt.ArrayLike, high: npt.ArrayLike) -> Floats:
        return self._table.log_interval(low, high)

    def noise(self, x: npt.ArrayLike, log_value: Floats) -> Floats:
        return self._table.noise(x, log_value)

    @property
    def error(self) -> float:
        return self._table.error


def wrapped(base: Continuous, factor: Rational) -> Wrapped:
    """The law of factor * X without whole turns."""
    if isinstance(base, Laplace):
        return WrappedLaplace(base, factor)
    direct = Wrapped(base, factor)
    return direct if direct._turns.size <= _FEW_TURNS else WrappedTable(base, factor)


_CELLS = 256  # parts of a turn in which the bend of wrapped Gaussian noise is bounded: a few per cent too much


def _gaussian_bend(s: float, turns: Floats) -> float:
    """At most the second derivative of ln of the sum of e^(-(y + k)^2 / (2 s^2)) over k, for y between 0 and 1.

    It is V / s^4 - 1 / s^2 with the variance V of k, which is at most the mean square of k + m for any m.
    """
    edges = np.linspace(0, 1, _CELLS + 1)
    ends = np.abs(turns[:, None] + edges)
    near, far = np.minimum(ends[:, :-1], ends[:, 1:]), np.maximum(ends[:, :-1], ends[:, 1:])
    middle = turns[:, None] + 0.5 * (edges[:-1] + edges[1:])
    top = log_sum(-(near**2) / (2 * s * s) + np.log(middle**2 + 1e-300), axis=0)
    spread = np.exp(top - log_sum(-(far**2) / (2 * s * s), axis=0))
    return max(float(spread.max()) / s**4 - 1 / s**2, 0.0)


def residues(law: Any, factor: Rational) -> Atoms:
    """The law of n * k mod q for a whole-number law of k and a factor n / q."""
    top, bottom = int(factor.numerator), int(factor.denominator)
    assert isinstance(law, Discrete)
    call = f"({law.words()} * {top}) % {bottom}"
    if isinstance(law, Whole):
        return _equal_residues(law, top, bottom, call)
    window = law.window(_FAR / 4)[0]
    low, high = law.support
    first = max(low, math.floor(window[0]) - _BESIDE * bottom)
    last = min(high, math.ceil(window[-1]) + _BESIDE * bottom)
    if not last - first < _MOST_POINTS:
        raise BudgetExceeded(f"{law.words()} has more than {_MOST_POINTS} points to be taken modulo {bottom}")
    points = np.arange(first, last + 1)
    logs = law.log_density(points)
    classes = np.array([(top * int(k)) % bottom for k in points])
    found = {r: float(log_sum(logs[classes == r])) for r in range(bottom)}
    kept = [(float(r), x) for r, x in found.items() if x > -math.inf]
    return Atoms(tuple(r for r, _ in kept), tuple(x for _, x in kept), call)


def _equal_residues(law: Whole, top: int, bottom: int, call: str) -> Atoms:
    """The same where every number is as likely: how many of each residue there are, however many numbers."""
    whole = law.high - law.low + 1
    counts = {top * c % bottom: (law.high - c) // bottom - (law.low - 1 - c) // bottom for c in range(bottom)}
    kept = sorted((float(r), math.log(count / whole)) for r, count in counts.items() if count)
    return Atoms(tuple(r for r, _ in kept), tuple(x for _, x in kept), call)
