"""The sum of several Laplace values of one scale."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy import special

from dpest.laws.asymptote import Asymptote, exponential
from dpest.laws.continuous import NO_SHIFT
from dpest.laws.law import Continuous, Rng, Shift
from dpest.numerics.logspace import Floats, log_sum


@dataclass(frozen=True)
class LaplaceSum(Continuous):
    """The sum of n Laplace values of one scale: exp(-|x| / b) times a polynomial of degree n - 1 with positive terms."""

    b: float
    n: int

    @property
    def scale(self) -> float:
        return self.b * math.sqrt(self.n)

    kinks = (0.0,)
    support = (-math.inf, math.inf)
    log_concave = True
    mode = 0.0

    @cached_property
    def _log_terms(self) -> Floats:
        """ln of the coefficients of |x / b|^j e^-|x / b| / b, from partial fractions of (1 + t^2)^-n."""
        n = self.n
        j = np.arange(n)
        k = n - 1 - j
        return np.asarray(
            special.gammaln(n + k) - special.gammaln(k + 1) - special.gammaln(j + 1) - special.gammaln(n) - (n + k) * math.log(2)
        )

    def reach(self, log_mass: float) -> tuple[float, float]:
        r = self.b * (-log_mass + self.n * math.log(2 - log_mass))
        return -r, r

    def log_density(self, x: npt.ArrayLike) -> Floats:
        z = np.abs(np.asarray(x, float))[..., None] / self.b
        terms = log_sum(self._log_terms + special.xlogy(np.arange(self.n), z), axis=-1)
        return np.asarray(terms - z[..., 0] - math.log(self.b))

    def log_sf(self, x: npt.ArrayLike) -> Floats:
        x = np.asarray(x, float)
        upper = self._log_upper(np.abs(x))
        return np.where(x >= 0, upper, np.log1p(-np.exp(upper)))

    def _log_upper(self, x: Floats) -> Floats:
        """ln P(X > x) for x >= 0: each term's tail is e^-z times a sum of z^i / i!."""
        z = x[..., None] / self.b
        i = np.arange(self.n)
        powers = special.xlogy(i, z) - special.gammaln(i + 1)
        tails = np.logaddexp.accumulate(powers, axis=-1) + special.gammaln(i + 1)
        with np.errstate(invalid="ignore"):
            return np.where(np.isinf(x), -np.inf, log_sum(self._log_terms + tails, axis=-1) - z[..., 0])

    def log_cdf(self, x: npt.ArrayLike) -> Floats:
        return self.log_sf(-np.asarray(x, float))

    def sample(self, rng: Rng, size: int) -> npt.NDArray[np.generic]:
        return self.b * (rng.standard_gamma(self.n, size) - rng.standard_gamma(self.n, size))

    def shift(self, d: float) -> Shift:
        # The log density is concave with slope tending to 1/b: the ratio grows to d/b without reaching it.
        return Shift(abs(d) / self.b, math.copysign(math.inf, d)) if d else NO_SHIFT

    def log_slope(self, x: npt.ArrayLike) -> Floats:
        """The slope of ln f: that of the polynomial, less 1 / b away from zero; n >= 2, so that there is no kink."""
        x = np.asarray(x, float)
        z = np.abs(x)[..., None] / self.b
        i = np.arange(self.n)
        with np.errstate(divide="ignore"):
            inner = log_sum((self._log_terms + np.log(i))[1:] + special.xlogy(i[1:] - 1, z), axis=-1)
            whole = log_sum(self._log_terms + special.xlogy(i, z), axis=-1)
        return np.asarray(np.sign(x) * np.expm1(np.minimum(inner - whole, 0.0)) / self.b)

    def slope(self, x: Floats) -> Floats:
        return np.full(np.shape(x), 1 / self.b)

    def asymptote(self, side: int) -> Asymptote:
        top = float(self._log_terms[-1]) - self.n * math.log(self.b)
        return exponential(top, self.b, self.n - 1)

    def words(self) -> str:
        return f"sum of {self.n} laplace({self.b:g})"
