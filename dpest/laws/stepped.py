"""The law of a rounded multiple of noise: floor(factor * X + offset), a whole number."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from dpest.errors import BudgetExceeded
from dpest.laws.asymptote import Asymptote, exponential
from dpest.laws.continuous import Exponential, Laplace
from dpest.laws.discrete import MOST_POINTS
from dpest.laws.law import Continuous, Discrete, Rng
from dpest.numerics.logspace import Floats
from dpest.numerics.rationals import Rational, exact

_TAIL = -20.0  # ln of the mass beyond a point of the tail, at the latest


@dataclass(frozen=True)
class Stepped(Discrete):
    """floor(factor * X + offset), where X has a log-concave density."""

    base: Continuous
    factor: Rational
    offset: Rational

    def _reached(self, k: npt.ArrayLike) -> Floats:
        """Where X stands when factor * X + offset is k."""
        return np.asarray((np.asarray(k, float) - float(self.offset)) / float(self.factor))

    def log_between(self, first: npt.ArrayLike, last: npt.ArrayLike) -> Floats:
        first, last = np.broadcast_arrays(np.asarray(first, float), np.asarray(last, float))
        ends = self._reached(first), self._reached(last + 1)
        return np.where(first > last, -np.inf, self.base.log_interval(np.minimum(*ends), np.maximum(*ends)))

    def log_density(self, x: npt.ArrayLike) -> Floats:
        x = np.asarray(x, float)
        return np.where(x == np.floor(x), self.log_between(np.floor(x), np.floor(x)), -np.inf)

    def first(self, bound: npt.ArrayLike, strict: bool) -> Floats:
        bound = np.asarray(bound, float)
        return np.asarray(np.floor(bound) + 1 if strict else np.ceil(bound))

    def last(self, bound: npt.ArrayLike, strict: bool) -> Floats:
        return -self.first(-np.asarray(bound, float), strict)

    def _whole(self, x: float) -> float:
        return float(math.floor(self.factor * exact(x) + self.offset)) if math.isfinite(x) else math.copysign(x, x * self.factor)

    @cached_property
    def support(self) -> tuple[float, float]:
        low, high = sorted(map(self._whole, self.base.support))
        return low, high

    finite = False  # where X is bounded too: a rounding with few values is taken value by value

    def window(self, log_mass: float) -> tuple[Floats, Floats]:
        low, high = sorted(map(self._whole, self.base.reach(log_mass)))
        if not high - low < MOST_POINTS:
            raise BudgetExceeded(f"{self.words()} has more than {MOST_POINTS} points to go through one by one")
        points = np.arange(low, high + 1)
        return points, self.log_density(points)

    @cached_property
    def tail_terms(self) -> float:
        # The masses of equal steps under a log-concave density are log-concave: their ratio falls on the way out.
        points, logs = self.window(_TAIL)
        kept = np.isfinite(logs)
        points, inner = points[kept], logs[kept]
        if len(inner) < 3:
            return 1e-3  # all but e^-20 is on two points: the next has at most e^-9 of the nearer one, and so on
        # Nothing lies beyond an end of the support.
        ratios = [math.exp(inner[i] - inner[j]) for i, j in ((0, 1), (-1, -2)) if self.support[0] < points[i] < self.support[1]]
        ratio = max(ratios, default=0.0) * (1 + 1e-9)
        return ratio / (1 - ratio) if ratio < 1 else math.inf

    def asymptote(self, side: int) -> Asymptote | None:
        one_sided = isinstance(self.base, Exponential)
        if not (isinstance(self.base, Laplace) or (one_sided and (self.factor > 0) == (side > 0))):
            return None
        assert isinstance(self.base, Laplace | Exponential)
        width = self.base.b * abs(float(self.factor))
        # P(k) is e^(-k / width) times this beyond zero, and as much below for -k; noise of both signs has half on either side.
        ahead = float(self.offset) if side > 0 else 1.0 - float(self.offset)
        return exponential(math.log(-math.expm1(-1 / width) * (1.0 if one_sided else 0.5)) + ahead / width, width)

    @property
    def error(self) -> float:
        return self.base.error + 4e-15

    def shift_cost(self) -> tuple[Rational | None, Rational | None]:
        up, down = self.base.shift_cost() if self.factor > 0 else self.base.shift_cost()[::-1]
        size = abs(self.factor)
        return None if up is None else up / size, None if down is None else down / size

    def sample(self, rng: Rng, size: int) -> npt.NDArray[np.generic]:
        return np.floor(float(self.factor) * np.asarray(self.base.sample(rng, size), float) + float(self.offset))

    def words(self) -> str:
        return f"floor({float(self.factor):g} * {self.base.words()} + {float(self.offset):g})"
