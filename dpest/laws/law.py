"""What every distribution answers; the engine needs nothing else of it.

All answers are logarithms. A continuous law gives ln f(x) and ln P(a < X < b); a discrete one indexes its points in
increasing order and gives ln P(X = point) and ln P(first <= index <= last). Laws are frozen and compare by content.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from dpest.laws.asymptote import Asymptote
from dpest.laws.heavy import HeavyTail
from dpest.numerics.logspace import Floats, log_diff
from dpest.numerics.rationals import Rational

Rng = np.random.Generator


@dataclass(frozen=True)
class Shift:
    """The supremum of ln f(x) - ln f(x + d), and where it is (an infinite place is a limit)."""

    loss: float
    at: float
    ray: int = 0  # +1 or -1: every x beyond `at` on that side attains it


class Law(ABC):
    """A distribution on the real line."""

    discrete: ClassVar[bool]
    unknown: ClassVar[bool] = False  # whether it stands for an unknown real number rather than for a distribution

    @abstractmethod
    def log_density(self, x: npt.ArrayLike) -> Floats:
        """ln of the density at x; for a discrete law, ln of the probability of x."""

    @abstractmethod
    def sample(self, rng: Rng, size: int) -> npt.NDArray[np.generic]:
        """Fresh independent values."""

    @property
    @abstractmethod
    def support(self) -> tuple[float, float]:
        """The smallest closed interval that holds every possible value."""

    @property
    def log_mass(self) -> float:
        """ln of the total mass: 0 but for measures that a computation left unnormalised."""
        return 0.0

    @property
    def error(self) -> float:
        """The relative error of every answer; 0 where only rounding is left."""
        return 0.0

    @abstractmethod
    def words(self) -> str:
        """The call that makes it, as its author writes it."""

    def shift_cost(self) -> tuple[Rational | None, Rational | None]:
        """At most what ln f(x) - ln f(x + s) grows by for each unit of s, upwards and downwards; None where s must be 0."""
        return None, None

    def shift_loss(self, s: Rational) -> Rational | None:
        """At most the supremum of ln f(x) - ln f(x + s), exact where the law is exponential; None where it is infinite."""
        each = self.shift_cost()[0 if s > 0 else 1]
        return abs(s) * each if each is not None else None if s else abs(s)


class Continuous(Law):
    """A law with a density."""

    discrete: ClassVar[bool] = False

    @property
    @abstractmethod
    def scale(self) -> float:
        """The length over which the density changes by a sizeable factor."""

    @property
    @abstractmethod
    def kinks(self) -> tuple[float, ...]:
        """The points at which the density is not smooth, and its centre: no quadrature panel straddles them."""

    @abstractmethod
    def reach(self, log_mass: float) -> tuple[float, float]:
        """Points beyond which at most e^log_mass lies, on each side."""

    def log_beyond(self, log_mass: float) -> float:
        """ln of the most that lies beyond `reach(log_mass)`."""
        return log_mass

    @abstractmethod
    def log_cdf(self, x: npt.ArrayLike) -> Floats:
        """ln P(X <= x)."""

    @abstractmethod
    def log_sf(self, x: npt.ArrayLike) -> Floats:
        """ln P(X > x)."""

    def log_interval(self, low: npt.ArrayLike, high: npt.ArrayLike) -> Floats:
        """ln P(low < X < high), from whichever tail loses fewer digits."""
        low, high = np.broadcast_arrays(np.asarray(low, float), np.asarray(high, float))
        below, above = self.log_cdf(low), self.log_sf(high)
        left = log_diff(self.log_cdf(high), below)
        right = log_diff(self.log_sf(low), above)
        with np.errstate(invalid="ignore", divide="ignore"):
            middle = np.log1p(-(np.exp(below) + np.exp(above)))
        inside = (below < LOG_QUARTER) & (above < LOG_QUARTER)
        out = np.where(inside, middle, np.where(below < above, left, right))
        return np.where(low < high, out, -np.inf)

    def interval_error(self, low: Floats, high: Floats, out: Floats) -> Floats | float:
        """What adds to the relative error of `log_interval`: a small difference of two masses has the rounding of large ones."""
        if type(self).log_interval is not Continuous.log_interval:
            return 0.0  # a closed form, or a table that knows its own noise
        below, above = self.log_cdf(low), self.log_sf(high)
        used = np.where(below < above, self.log_cdf(high), self.log_sf(low))
        inside = (below < LOG_QUARTER) & (above < LOG_QUARTER)
        with np.errstate(invalid="ignore", over="ignore"):
            lost = np.where(inside, 1.0, np.exp(used - out))
            return np.nan_to_num(np.minimum(2 * (self.error + _EPSILON * (2 - used)) * lost, 1.0), nan=0.0)

    def shift(self, d: float) -> Shift | None:
        """sup over x of ln f(x) - ln f(x + d) in closed form, or None where only a search finds it."""
        return None

    @property
    def log_concave(self) -> bool:
        """Whether ln f is known to be concave on the support; all that follows from it is then proved."""
        return False

    def curvature(self, low: Floats, high: Floats) -> Floats:
        """A bound on the second derivative of ln f between low and high; infinite where none is known."""
        return np.full(np.shape(low), 0.0 if self.log_concave else np.inf)

    def slope(self, x: Floats) -> Floats:
        """A bound on the slope of ln f at x, up or down: how much a rounding of x matters."""
        return np.asarray((1.0 + np.abs(x) / self.scale) / self.scale)

    def noise(self, x: npt.ArrayLike, log_value: Floats) -> Floats | float:
        """What adds to the relative error of a density at x, or of a mass that ends there: tables know small ones less well."""
        return 0.0

    @property
    def mode(self) -> float | None:
        """Where the density is largest, falling on both sides of it; None where that is not known."""
        return None

    def asymptote(self, side: int) -> Asymptote | None:
        """How the density decays for x to +infinity (side 1) or -infinity (side -1); None where it is not declared."""
        return None

    def heavy(self, side: int) -> HeavyTail | None:
        """The density's tail on that side where it is heavier than an exponential one; None where that is not declared."""
        return None

    def mass_asymptote(self, side: int) -> Asymptote | None:
        """How P(X beyond x) decays on that side; None where it is not declared."""
        density = self.asymptote(side)
        return density.integrated() if density else None

    def at_end(self, side: int) -> tuple[float, float] | None:
        """(order, ln c) where the density is c * t^order times a monotone function, at the distance t from an end of its support.

        That function is 1 at the end. None where nothing is declared.
        """
        return None


LOG_QUARTER = float(np.log(0.25))
_EPSILON = 1.2e-16  # half a unit in the last place of 1


class Discrete(Law):
    """A law on points that are indexed in increasing order (by any integers)."""

    discrete: ClassVar[bool] = True

    @abstractmethod
    def first(self, bound: npt.ArrayLike, strict: bool) -> Floats:
        """The smallest index whose point is >= bound (> bound where strict)."""

    @abstractmethod
    def last(self, bound: npt.ArrayLike, strict: bool) -> Floats:
        """The largest index whose point is <= bound (< bound where strict)."""

    @abstractmethod
    def log_between(self, first: npt.ArrayLike, last: npt.ArrayLike) -> Floats:
        """ln P(first <= index <= last)."""

    @abstractmethod
    def window(self, log_mass: float) -> tuple[Floats, Floats]:
        """Points and their ln probabilities, all but e^log_mass of the mass."""

    @property
    @abstractmethod
    def finite(self) -> bool:
        """Whether there are finitely many points."""

    @property
    def tail_terms(self) -> float:
        """Beyond a point of its tail, how many times that point's probability is left at most."""
        return 0.0

    @property
    def integral(self) -> bool:
        """Whether every point is a whole number."""
        return True

    def largest(self, log_mass: float) -> float:
        """The size of the largest point, all but e^log_mass of the mass taken into account."""
        low, high = self.support
        ends = (low, high) if np.isfinite(low) and np.isfinite(high) else self.window(log_mass)[0][[0, -1]]
        return max(abs(float(x)) for x in ends)

    def asymptote(self, side: int) -> Asymptote | None:
        """How the probability of a point decays for x to +infinity (side 1) or -infinity (side -1)."""
        return None
