"""The continuous families, centred at zero: an author adds the location."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from scipy import special

from dpest.errors import InvalidLaw
from dpest.laws.asymptote import Asymptote, exponential
from dpest.laws.law import Continuous, Rng, Shift
from dpest.numerics.logspace import LOG_HALF, Floats, log1mexp
from dpest.numerics.rationals import Rational, exact

_LOG_SQRT_2PI = 0.5 * math.log(2 * math.pi)
NO_SHIFT = Shift(0.0, 0.0)


def check_scale(scale: float, call: str) -> None:
    """A scale is a positive finite number."""
    if not (isinstance(scale, int | float | np.number) and 0 < scale < math.inf):
        raise InvalidLaw(f"{call} needs a positive finite number, got {scale!r}")


@dataclass(frozen=True)
class _Scaled(Continuous):
    """A family with one parameter, its scale."""

    b: float
    family: ClassVar[str]
    kinks = (0.0,)
    log_concave = True
    mode = 0.0
    support: ClassVar[tuple[float, float]] = (-math.inf, math.inf)

    def __post_init__(self) -> None:
        check_scale(self.b, f"{self.family}(scale)")

    def slope(self, x: Floats) -> Floats:
        return np.full(np.shape(x), 1 / self.b)

    @property
    def scale(self) -> float:
        return self.b

    def words(self) -> str:
        return f"{self.family}({self.b:g})"


class _Symmetric(_Scaled):
    """Around zero, with tails that fall by e over each scale."""

    def reach(self, log_mass: float) -> tuple[float, float]:
        return self.b * log_mass, -self.b * log_mass

    def log_sf(self, x: npt.ArrayLike) -> Floats:
        return self.log_cdf(-np.asarray(x, float))

    def shift_cost(self) -> tuple[Rational | None, Rational | None]:
        return 1 / exact(self.b), 1 / exact(self.b)


@dataclass(frozen=True)
class Laplace(_Symmetric):
    """Density exp(-|x| / b) / (2 b)."""

    family = "laplace"

    def log_density(self, x: npt.ArrayLike) -> Floats:
        return np.asarray(-np.abs(np.asarray(x, float)) / self.b - math.log(2 * self.b))

    def log_cdf(self, x: npt.ArrayLike) -> Floats:
        z = np.asarray(np.asarray(x, float) / self.b)
        out = np.asarray(z + LOG_HALF)
        above = z >= 0
        out[above] = np.log1p(-0.5 * np.exp(-z[above]))
        return out

    def log_interval(self, low: npt.ArrayLike, high: npt.ArrayLike) -> Floats:
        low, high = np.broadcast_arrays(np.asarray(low, float) / self.b, np.asarray(high, float) / self.b)
        with np.errstate(invalid="ignore", divide="ignore"):
            near = np.where(low > 0, low, -high)
            aside = LOG_HALF - near + log1mexp(low - high)
            across = np.log(-0.5 * (np.expm1(np.minimum(low, 0.0)) + np.expm1(-np.maximum(high, 0.0))))
        out = np.where((low > 0) | (high < 0), aside, across)
        return np.where(low < high, out, -np.inf)

    def sample(self, rng: Rng, size: int) -> npt.NDArray[np.generic]:
        # An exponential value with a random sign: a bit for each sign costs a fraction of a random number for each.
        values = rng.standard_exponential(size)
        values *= self.b
        coins = rng.integers(0, 1 << 64, (size + 63) // 64, dtype=np.uint64)
        values *= 1 - 2 * np.unpackbits(coins.view(np.uint8), count=size).view(np.int8)
        return values

    def shift(self, d: float) -> Shift:
        return Shift(abs(d) / self.b, 0.0, 1 if d > 0 else -1) if d else NO_SHIFT

    def asymptote(self, side: int) -> Asymptote:
        return exponential(-math.log(2 * self.b), self.b)


@dataclass(frozen=True)
class Gaussian(Continuous):
    """Density exp(-x^2 / (2 sigma^2)) / (sigma sqrt(2 pi))."""

    sigma: float

    def __post_init__(self) -> None:
        check_scale(self.sigma, "gaussian(sigma)")

    @property
    def scale(self) -> float:
        return self.sigma

    kinks = (0.0,)
    support = (-math.inf, math.inf)
    log_concave = True
    mode = 0.0

    def reach(self, log_mass: float) -> tuple[float, float]:
        r = self.sigma * math.sqrt(-2 * log_mass)
        return -r, r

    def log_density(self, x: npt.ArrayLike) -> Floats:
        z = np.asarray(x, float) / self.sigma
        return -0.5 * z * z - (_LOG_SQRT_2PI + math.log(self.sigma))

    def log_cdf(self, x: npt.ArrayLike) -> Floats:
        return np.asarray(special.log_ndtr(np.asarray(x, float) / self.sigma))

    def log_sf(self, x: npt.ArrayLike) -> Floats:
        return self.log_cdf(-np.asarray(x, float))

    def sample(self, rng: Rng, size: int) -> npt.NDArray[np.generic]:
        return rng.standard_normal(size) * self.sigma

    def shift(self, d: float) -> Shift:
        return Shift(math.inf, math.copysign(math.inf, d)) if d else NO_SHIFT

    def slope(self, x: Floats) -> Floats:
        return np.asarray(np.abs(x) / self.sigma**2)

    def asymptote(self, side: int) -> Asymptote:
        return Asymptote(-_LOG_SQRT_2PI - math.log(self.sigma), square=1 / (2 * exact(self.sigma) ** 2))

    def mass_asymptote(self, side: int) -> Asymptote:
        # P(X > t) / (f(t) sigma^2 / t) grows to 1 (Mills' ratio).
        return Asymptote(-_LOG_SQRT_2PI + math.log(self.sigma), power=exact(-1), square=1 / (2 * exact(self.sigma) ** 2))

    def words(self) -> str:
        return f"gaussian({self.sigma:g})"


@dataclass(frozen=True)
class Exponential(_Scaled):
    """Density exp(-x / b) / b for x >= 0."""

    family = "exponential"
    support = (0.0, math.inf)

    def reach(self, log_mass: float) -> tuple[float, float]:
        return 0.0, -self.b * log_mass

    def log_density(self, x: npt.ArrayLike) -> Floats:
        x = np.asarray(x, float)
        return np.where(x >= 0, -x / self.b - math.log(self.b), -np.inf)

    def log_cdf(self, x: npt.ArrayLike) -> Floats:
        return log1mexp(self.log_sf(x))

    def log_sf(self, x: npt.ArrayLike) -> Floats:
        return np.asarray(-np.maximum(np.asarray(x, float), 0.0) / self.b)

    def log_interval(self, low: npt.ArrayLike, high: npt.ArrayLike) -> Floats:
        near, far = (np.maximum(np.asarray(v, float), 0.0) / self.b for v in (low, high))
        with np.errstate(invalid="ignore"):
            return np.where(near < far, -near + log1mexp(near - far), -np.inf)

    def sample(self, rng: Rng, size: int) -> npt.NDArray[np.generic]:
        return rng.standard_exponential(size) * self.b

    def shift(self, d: float) -> Shift:
        # x + d < 0 is impossible for the shifted law when d < 0.
        return Shift(d / self.b, 0.0, 1) if d >= 0 else Shift(math.inf, 0.0)

    def asymptote(self, side: int) -> Asymptote | None:
        return exponential(-math.log(self.b), self.b) if side > 0 else None

    def shift_cost(self) -> tuple[Rational | None, Rational | None]:
        return 1 / exact(self.b), None


_FAR = 30.0  # scales beyond which 1 - exp(-e^-z) is e^-z up to e^-30: a double of e^-2000000 would be zero


def _steep(z: Floats) -> Floats:
    """e^z, and beyond the range of floats something that still grows: a density there is tiny, not zero."""
    found = np.exp(np.minimum(z, 700.0))
    if np.max(z, initial=-np.inf) < 700.0:
        return np.asarray(found)
    return np.where(z < 700.0, found, math.exp(700.0) * (np.clip(z, 0.0, 1e4) - 699.0))


@dataclass(frozen=True)
class Gumbel(_Scaled):
    """Density exp(-(z + e^-z)) / b with z = x / b: the law of a maximum."""

    family = "gumbel"

    def reach(self, log_mass: float) -> tuple[float, float]:
        return -self.b * math.log(-log_mass), -self.b * log_mass

    def log_density(self, x: npt.ArrayLike) -> Floats:
        z = np.asarray(x, float) / self.b
        return -z - _steep(-z) - math.log(self.b)

    def log_cdf(self, x: npt.ArrayLike) -> Floats:
        return -_steep(-np.asarray(x, float) / self.b)

    def log_sf(self, x: npt.ArrayLike) -> Floats:
        z = np.asarray(x, float) / self.b
        far = -z - 0.5 * np.exp(-np.maximum(z, _FAR))  # ln(1 - e^-w) with w = e^-z, to w^2
        return np.where(z > _FAR, far, log1mexp(-_steep(-np.minimum(z, _FAR))))

    def sample(self, rng: Rng, size: int) -> npt.NDArray[np.generic]:
        return -self.b * np.log(rng.standard_exponential(size))

    def shift(self, d: float) -> Shift:
        # ln f(x) - ln f(x + d) = d/b - e^-z (1 - e^(-d/b)): grows to d/b on the right, without bound on the left if d < 0.
        return Shift(d / self.b, math.inf) if d >= 0 else Shift(math.inf, -math.inf)

    def slope(self, x: Floats) -> Floats:
        with np.errstate(over="ignore"):
            return np.asarray((1.0 + _steep(-np.asarray(x) / self.b)) / self.b)

    def asymptote(self, side: int) -> Asymptote:
        if side > 0:
            return exponential(-math.log(self.b), self.b)
        return Asymptote(-math.log(self.b), rate=-1 / exact(self.b), bursts=((1 / exact(self.b), exact(0)),))

    def mass_asymptote(self, side: int) -> Asymptote:
        return exponential(0.0, self.b) if side > 0 else Asymptote(0.0, bursts=((1 / exact(self.b), exact(0)),))

    def shift_cost(self) -> tuple[Rational | None, Rational | None]:
        return 1 / exact(self.b), None


@dataclass(frozen=True)
class Logistic(_Symmetric):
    """Density e^-z / (b (1 + e^-z)^2) with z = x / b."""

    family = "logistic"

    def log_density(self, x: npt.ArrayLike) -> Floats:
        z = np.abs(np.asarray(x, float)) / self.b
        return np.asarray(-z - 2 * np.log1p(np.exp(-z)) - math.log(self.b))

    def log_cdf(self, x: npt.ArrayLike) -> Floats:
        return np.asarray(-np.logaddexp(0.0, -np.asarray(x, float) / self.b))

    def log_interval(self, low: npt.ArrayLike, high: npt.ArrayLike) -> Floats:
        # F(h) - F(l) = F(h) S(l) (1 - e^(l - h))
        low, high = np.broadcast_arrays(np.asarray(low, float), np.asarray(high, float))
        with np.errstate(invalid="ignore"):
            out = self.log_cdf(high) + self.log_sf(low) + log1mexp((low - high) / self.b)
        return np.where(low < high, out, -np.inf)

    def sample(self, rng: Rng, size: int) -> npt.NDArray[np.generic]:
        return rng.logistic(0.0, self.b, size)

    def shift(self, d: float) -> Shift:
        return Shift(abs(d) / self.b, math.copysign(math.inf, d)) if d else NO_SHIFT

    def asymptote(self, side: int) -> Asymptote:
        return exponential(-math.log(self.b), self.b)


@dataclass(frozen=True)
class Uniform(Continuous):
    """Density 1 / (high - low) between low and high."""

    low: float
    high: float
    log_concave = True

    def __post_init__(self) -> None:
        numbers = all(isinstance(v, int | float | np.number) and math.isfinite(v) for v in (self.low, self.high))
        if not (numbers and self.low < self.high):
            raise InvalidLaw(f"uniform(low, high) needs finite low < high, got low={self.low!r}, high={self.high!r}")

    @property
    def scale(self) -> float:
        return self.high - self.low

    @property
    def mode(self) -> float:
        return 0.5 * (self.low + self.high)

    @property
    def kinks(self) -> tuple[float, ...]:
        return self.low, self.high

    @property
    def support(self) -> tuple[float, float]:
        return self.low, self.high

    def reach(self, log_mass: float) -> tuple[float, float]:
        return self.low, self.high

    def log_density(self, x: npt.ArrayLike) -> Floats:
        x = np.asarray(x, float)
        return np.where((x >= self.low) & (x <= self.high), -math.log(self.scale), -np.inf)

    def log_cdf(self, x: npt.ArrayLike) -> Floats:
        return self.log_interval(-np.inf, x)

    def log_sf(self, x: npt.ArrayLike) -> Floats:
        return self.log_interval(x, np.inf)

    def log_interval(self, low: npt.ArrayLike, high: npt.ArrayLike) -> Floats:
        width = np.minimum(np.asarray(high, float), self.high) - np.maximum(np.asarray(low, float), self.low)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.maximum(width, 0.0) / self.scale))

    def sample(self, rng: Rng, size: int) -> npt.NDArray[np.generic]:
        return rng.uniform(self.low, self.high, size)

    def shift(self, d: float) -> Shift:
        return Shift(math.inf, self.high if d > 0 else self.low) if d else Shift(0.0, self.low)

    def slope(self, x: Floats) -> Floats:
        return np.zeros(np.shape(x))

    def words(self) -> str:
        return f"uniform({self.low:g}, {self.high:g})"
