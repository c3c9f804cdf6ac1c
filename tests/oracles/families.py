"""Densities and distribution functions of the noise families at 50 digits, written from their definitions."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from mpmath import mp, mpf
from scipy import stats

from tests.oracles.truth import DIGITS, real

mp.dps = DIGITS
DEEP = 2000  # below this a Gumbel mass is exp(-exp(2000)): its logarithm is beyond doubles, and it counts as 0


@dataclass(frozen=True)
class Family:
    """One continuous law: its density, its two tails, and the points where its density has a kink or a jump."""

    name: str
    density: Callable[[Any], Any]
    below: Callable[[Any], Any]  # P(Z <= z)
    above: Callable[[Any], Any]  # P(Z >= z)
    log: Callable[[Any], Any]  # the log density on an array of doubles
    scale: float
    double: Any  # the frozen scipy.stats law, for integrals in doubles
    kinks: tuple[Any, ...] = ()
    support: tuple[Any, Any] = (-math.inf, math.inf)

    def mass64(self, low: Any, high: Any) -> Any:
        """P(low <= Z <= high) on arrays of doubles."""
        law = self.double
        return np.where(low > 0, law.sf(low) - law.sf(high), law.cdf(high) - law.cdf(low))

    def mass(self, low: Any, high: Any) -> Any:
        """P(low <= Z <= high), from the tail in which it does not cancel."""
        if high <= low:
            return mpf(0)
        if low == -math.inf:
            return self.below(real(high)) if high != math.inf else mpf(1)
        if high == math.inf:
            return self.above(real(low))
        a, b = real(low), real(high)
        return self.above(a) - self.above(b) if a > 0 else self.below(b) - self.below(a)


def laplace(scale: Any) -> Family:
    """density exp(-|z| / b) / (2 b)"""
    b = real(scale)
    return Family(
        f"laplace({scale})",
        lambda z: mp.exp(-abs(z) / b) / (2 * b),
        lambda z: mp.exp(z / b) / 2 if z < 0 else 1 - mp.exp(-z / b) / 2,
        lambda z: mp.exp(-z / b) / 2 if z > 0 else 1 - mp.exp(z / b) / 2,
        lambda z: -np.abs(z) / float(b) - math.log(2 * b),
        float(b),
        stats.laplace(scale=float(b)),
        (0,),
    )


def gaussian(sigma: Any) -> Family:
    """density of the normal law with this standard deviation"""
    s = real(sigma)
    return Family(
        f"gaussian({sigma})",
        lambda z: mp.exp(-((z / s) ** 2) / 2) / (s * mp.sqrt(2 * mp.pi)),
        lambda z: mp.erfc(-z / (s * mp.sqrt(2))) / 2,
        lambda z: mp.erfc(z / (s * mp.sqrt(2))) / 2,
        lambda z: -((z / float(s)) ** 2) / 2 - math.log(s * math.sqrt(2 * math.pi)),
        float(s),
        stats.norm(scale=float(s)),
    )


def exponential(scale: Any) -> Family:
    """density exp(-z / b) / b on z >= 0"""
    b = real(scale)
    return Family(
        f"exponential({scale})",
        lambda z: mp.exp(-z / b) / b if z >= 0 else mpf(0),
        lambda z: -mp.expm1(-z / b) if z > 0 else mpf(0),
        lambda z: mp.exp(-z / b) if z > 0 else mpf(1),
        lambda z: np.where(z >= 0, -z / float(b) - math.log(b), -np.inf),
        float(b),
        stats.expon(scale=float(b)),
        (0,),
        (0, math.inf),
    )


def gumbel(scale: Any) -> Family:
    """P(Z <= z) = exp(-exp(-z / b))"""
    b = real(scale)
    return Family(
        f"gumbel({scale})",
        lambda z: mp.exp(-z / b - mp.exp(-z / b)) / b if -z / b < DEEP else mpf(0),
        lambda z: mp.exp(-mp.exp(-z / b)) if -z / b < DEEP else mpf(0),
        lambda z: -mp.expm1(-mp.exp(-z / b)) if -z / b < DEEP else mpf(1),
        lambda z: -z / float(b) - np.exp(-z / float(b)) - math.log(b),
        float(b),
        stats.gumbel_r(scale=float(b)),
    )


def logistic(scale: Any) -> Family:
    """P(Z <= z) = 1 / (1 + exp(-z / b))"""
    b = real(scale)
    return Family(
        f"logistic({scale})",
        lambda z: 1 / (b * (mp.exp(z / (2 * b)) + mp.exp(-z / (2 * b))) ** 2),
        lambda z: 1 / (1 + mp.exp(-z / b)),
        lambda z: 1 / (1 + mp.exp(z / b)),
        lambda z: -np.abs(z) / float(b) - 2 * np.log1p(np.exp(-np.abs(z) / float(b))) - math.log(b),
        float(b),
        stats.logistic(scale=float(b)),
    )


def uniform(low: Any, high: Any) -> Family:
    """density 1 / (high - low) between the two"""
    a, b = real(low), real(high)
    return Family(
        f"uniform({low}, {high})",
        lambda z: 1 / (b - a) if a <= z <= b else mpf(0),
        lambda z: min(max((z - a) / (b - a), mpf(0)), mpf(1)),
        lambda z: min(max((b - z) / (b - a), mpf(0)), mpf(1)),
        lambda z: np.where((z >= float(a)) & (z <= float(b)), -math.log(b - a), -np.inf),
        float(b - a),
        stats.uniform(float(a), float(b - a)),
        (low, high),
        (low, high),
    )


def cauchy(scale: Any) -> Family:
    """density 1 / (pi s (1 + (z / s)^2))"""
    s = real(scale)
    return Family(
        f"cauchy({scale})",
        lambda z: 1 / (mp.pi * s * (1 + (z / s) ** 2)),
        lambda z: mp.atan2(s, -z) / mp.pi,
        lambda z: mp.atan2(s, z) / mp.pi,
        lambda z: -np.log1p((z / float(s)) ** 2) - math.log(math.pi * s),
        float(s),
        stats.cauchy(scale=float(s)),
    )


def student(degrees: Any, scale: Any) -> Family:
    """Student's t with these degrees of freedom, times a scale"""
    nu, s = real(degrees), real(scale)
    constant = mp.gamma((nu + 1) / 2) / (mp.sqrt(nu * mp.pi) * mp.gamma(nu / 2) * s)

    def above(z: Any) -> Any:
        half = mp.betainc(nu / 2, mpf(1) / 2, 0, nu / (nu + (z / s) ** 2), regularized=True) / 2
        return half if z >= 0 else 1 - half

    return Family(
        f"t({degrees}) * {scale}",
        lambda z: constant * (1 + (z / s) ** 2 / nu) ** (-(nu + 1) / 2),
        lambda z: above(-z),
        above,
        lambda z: math.log(constant) - float(nu + 1) / 2 * np.log1p((z / float(s)) ** 2 / float(nu)),
        float(s),
        stats.t(float(nu), scale=float(s)),
    )


def frozen(law: Any) -> Family:
    """The family of a frozen scipy.stats distribution that the tests use: cauchy and t, with loc = 0."""
    name = law.dist.name
    scale = law.kwds.get("scale", 1.0)
    assert not law.kwds.get("loc", 0.0)
    match name:
        case "cauchy":
            return cauchy(scale)
        case "t":
            return student(law.args[0] if law.args else law.kwds["df"], scale)
    raise AssertionError(name)


CONTINUOUS: dict[str, Callable[..., Family]] = {
    "laplace": laplace,
    "gaussian": gaussian,
    "exponential": exponential,
    "gumbel": gumbel,
    "logistic": logistic,
    "uniform": uniform,
    "from_scipy": frozen,
}


def geometric_weight(k: int, scale: Any) -> Any:
    """P(K = k) of two-sided geometric noise, proportional to exp(-|k| / scale)."""
    a = mp.exp(-1 / real(scale))
    return (1 - a) / (1 + a) * a ** abs(k)


def geometric_beyond(k: int, scale: Any) -> Any:
    """P(|K| > k) for k >= 0."""
    a = mp.exp(-1 / real(scale))
    return 2 * a ** (k + 1) / (1 + a)
