"""The sum of several uniform values of one width."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpest.laws.continuous import Uniform
from dpest.laws.law import Continuous, Rng, Shift
from dpest.numerics.logspace import Floats
from dpest.numerics.rationals import Rational, exact


@dataclass(frozen=True)
class UniformSum(Continuous):
    """The sum of n >= 2 uniform values of one width, from `low` on: polynomials between equally spaced points.

    The polynomials are worked out by a recurrence of positive terms, so that no digits are lost.
    """

    low: float
    width: float
    n: int
    log_concave = True

    @property
    def scale(self) -> float:
        return self.width * math.sqrt(self.n / 12)

    @property
    def mode(self) -> float:
        return self.low + 0.5 * self.n * self.width

    @property
    def kinks(self) -> tuple[float, ...]:
        return (*(self.low + k * self.width for k in range(self.n)), self.support[1])

    @property
    def support(self) -> tuple[float, float]:
        return self.low, self.low + self.n * self.width

    def reach(self, log_mass: float) -> tuple[float, float]:
        return self.support

    def _from_low(self, x: npt.ArrayLike) -> Floats:
        return np.asarray((np.asarray(x, float) - self.low) / self.width)

    def _from_high(self, x: npt.ArrayLike) -> Floats:
        return np.asarray((self.support[1] - np.asarray(x, float)) / self.width)

    def log_density(self, x: npt.ArrayLike) -> Floats:
        near = np.minimum(self._from_low(x), self._from_high(x))  # both halves are alike
        z = np.maximum(near, 0.0)
        with np.errstate(divide="ignore"):
            first = (self.n - 1) * np.log(z) - math.lgamma(self.n)
            rest = np.log(_pieces(z, self.n)[0])
        out = np.where(z < 1, first, rest) - math.log(self.width)
        return np.where(near >= 0, out, -np.inf)

    def log_cdf(self, x: npt.ArrayLike) -> Floats:
        return self._log_below(self._from_low(x))

    def log_sf(self, x: npt.ArrayLike) -> Floats:
        return self._log_below(self._from_high(x))

    def _log_below(self, z: Floats) -> Floats:
        """ln P(Z <= z) of a sum of n values between 0 and 1."""
        inside = np.clip(z, 0.0, self.n)
        with np.errstate(divide="ignore"):
            first = self.n * np.log(inside) - math.lgamma(self.n + 1)
            rest = np.log(np.minimum(_pieces(inside, self.n + 1)[1], 1.0))
        out = np.where(inside < 1, first, rest)
        return np.where(z >= self.n, 0.0, out)

    def sample(self, rng: Rng, size: int) -> npt.NDArray[np.generic]:
        return np.asarray(self.low + self.width * rng.random((size, self.n)).sum(axis=1))

    def shift(self, d: float) -> Shift:
        low, high = self.support
        inside = 0.5 * min(abs(d), high - low)
        return Shift(math.inf, high - inside if d > 0 else low + inside) if d else Shift(0.0, self.mode)

    def slope(self, x: Floats) -> Floats:
        # The density's root of order n - 1 is concave, and zero at both ends.
        near = np.minimum(self._from_low(x), self._from_high(x))
        return np.asarray((self.n - 1) / (self.width * np.maximum(near, 1e-300)))

    def at_end(self, side: int) -> tuple[float, float]:
        return float(self.n - 1), -math.lgamma(self.n) - self.n * math.log(self.width)

    def words(self) -> str:
        low = self.low / self.n
        return f"sum of {self.n} uniform({low:g}, {low + self.width:g})"


def _pieces(z: Floats, n: int) -> tuple[Floats, Floats]:
    """The density of a sum of n values between 0 and 1 at z, and its sum over z, z - 1, z - 2 and so on."""
    whole = np.minimum(np.floor(z), n - 1)
    rest = z - whole
    values = [np.ones(z.shape)]  # at rest, rest + 1, ...
    for k in range(2, n + 1):
        before = [np.zeros(z.shape), *values, np.zeros(z.shape)]
        values = [((rest + j) * before[j + 1] + ((k - 1 - j) + (1 - rest)) * before[j]) / (k - 1) for j in range(k)]
    table = np.stack(values, axis=-1)
    at = whole.astype(int)[..., None]
    here = np.take_along_axis(table, at, axis=-1)[..., 0]
    below = np.take_along_axis(np.cumsum(table, axis=-1), at, axis=-1)[..., 0]
    return here, below


def plus_uniform(a: Uniform | UniformSum, b: Uniform, weight: Rational) -> UniformSum | None:
    """The law of A + weight * B; None where the widths differ, or an end is no double."""
    width = exact(a.high) - exact(a.low) if isinstance(a, Uniform) else exact(a.width)
    other = exact(b.high) - exact(b.low)
    low = exact(a.low) + weight * exact(b.low if weight > 0 else b.high)
    n = a.n + 1 if isinstance(a, UniformSum) else 2
    ends = low, width, low + n * width
    if abs(weight) * other != width or any(exact(float(x)) != x for x in ends):
        return None
    return UniformSum(float(low), float(width), n)
