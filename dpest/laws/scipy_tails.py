"""What is known in closed form about scipy's families, at scale 1: how they decay, which are log-concave."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.special import betaln, gammaln

from dpest.laws.asymptote import Asymptote, exponential, powerlike
from dpest.numerics.logspace import Floats
from dpest.numerics.rationals import exact

_Declared = Callable[..., Asymptote | None]


def _student(df: float) -> Asymptote:
    top = gammaln((df + 1) / 2) - gammaln(df / 2) - 0.5 * math.log(math.pi) + 0.5 * df * math.log(df)
    return powerlike(float(top), -df - 1)


def _f(first: float, second: float) -> Asymptote:
    return powerlike(float(-betaln(first / 2, second / 2)) - second / 2 * math.log(first / second), -second / 2 - 1)


def _gamma(shape: float) -> Asymptote:
    return exponential(float(-gammaln(shape)), 1.0, shape - 1)


# For x to +infinity. The density divided by what is declared is monotone wherever it is positive.
_RIGHT: dict[str, _Declared] = {
    "t": _student,
    "cauchy": lambda: _student(1.0),
    "halfcauchy": lambda: powerlike(math.log(2 / math.pi), -2),
    "pareto": lambda b: powerlike(math.log(b), -b - 1),
    "lomax": lambda c: powerlike(math.log(c), -c - 1),
    "genpareto": lambda c: powerlike(-(1 + 1 / c) * math.log(c), -1 - 1 / c) if c > 0 else None,
    "levy": lambda: powerlike(-0.5 * math.log(2 * math.pi), -1.5),
    "invgamma": lambda a: powerlike(float(-gammaln(a)), -a - 1),
    "burr": lambda c, d: powerlike(math.log(c * d), -c - 1),
    "burr12": lambda c, d: powerlike(math.log(c * d), -c * d - 1),
    "fisk": lambda c: powerlike(math.log(c), -c - 1),
    "f": _f,
    "gamma": _gamma,
    "erlang": _gamma,
    "chi2": lambda df: exponential(float(-gammaln(df / 2)) - df / 2 * math.log(2), 2.0, df / 2 - 1),
}
_SYMMETRIC = {"t", "cauchy"}
# Bagnoli and Bergstrom, Log-concave probability and its applications, Economic Theory 26, 2005, and second derivatives by hand.
_ALWAYS_LOG_CONCAVE = {
    "anglit", "cosine", "exponnorm", "genlogistic", "gompertz", "gumbel_l", "halflogistic", "halfnorm", "hypsecant",
    "laplace_asymmetric", "loggamma", "maxwell", "moyal", "rayleigh", "semicircular", "skewnorm", "trapezoid", "triang",
    "truncexpon", "truncnorm",
}
_LOG_CONCAVE: dict[str, Callable[..., bool]] = {
    "gamma": lambda a: a >= 1,
    "erlang": lambda a: a >= 1,
    "chi": lambda df: df >= 1,
    "chi2": lambda df: df >= 2,
    "beta": lambda a, b: a >= 1 and b >= 1,
    "gennorm": lambda beta: beta >= 1,
    "powerlaw": lambda a: a >= 1,
    "weibull_min": lambda c: c >= 1,
    "weibull_max": lambda c: c >= 1,
}


def right_tail(name: str, shapes: tuple[float, ...], side: int) -> Asymptote | None:
    """How a standard density decays on one side; None where it is not declared."""
    if name not in _RIGHT or (side < 0 and name not in _SYMMETRIC):
        return None
    return _RIGHT[name](*shapes)


# Beside the left end, and the right one. The density divided by what is declared is monotone up to the middle of the support.
_ENDS: dict[tuple[str, int], Callable[..., tuple[float, float]]] = {
    ("beta", -1): lambda a, b: (a - 1, float(-betaln(a, b))),
    ("beta", 1): lambda a, b: (b - 1, float(-betaln(a, b))),
    ("gamma", -1): lambda a: (a - 1, float(-gammaln(a))),
    ("chi2", -1): lambda df: (df / 2 - 1, float(-gammaln(df / 2)) - df / 2 * math.log(2)),
}


def at_end(name: str, shapes: tuple[float, ...], side: int) -> tuple[float, float] | None:
    """(order, ln c): a standard density is nearly c * t^order at the distance t from an end; None where it is not declared."""
    found = _ENDS.get((name, side))
    return None if found is None else found(*shapes)


def log_concave(name: str, shapes: tuple[float, ...]) -> bool:
    """Whether the logarithm of a standard density is known to be concave on its support."""
    return name in _ALWAYS_LOG_CONCAVE or (name in _LOG_CONCAVE and bool(_LOG_CONCAVE[name](*shapes)))


def degrees_of_freedom(name: str, shapes: tuple[float, ...]) -> float | None:
    """Student's nu; 1 for Cauchy, None for other families."""
    return shapes[0] if name == "t" else 1.0 if name == "cauchy" else None


def student_curvature(nu: float, low: Floats, high: Floats) -> Floats:
    """The largest second derivative of ln f between low and high: (nu + 1) (x^2 - nu) / (nu + x^2)^2, largest at x^2 = 3 nu."""
    turn = math.sqrt(3 * nu)
    near = np.where((low <= 0) & (high >= 0), 0.0, np.minimum(np.abs(low), np.abs(high)))
    far = np.maximum(np.abs(low), np.abs(high))
    square = np.clip(turn, near, far) ** 2
    return np.asarray((nu + 1) * (square - nu) / (nu + square) ** 2)


def right_tail_of_points(name: str, shapes: tuple[float, ...], side: int) -> Asymptote | None:
    """How the probabilities of a law on whole numbers decay; a geometric law is its asymptote from its first point on."""
    if name != "geom" or side < 0 or shapes[0] >= 1:
        return None
    step = math.log1p(-shapes[0])
    return Asymptote(math.log(shapes[0]) - step, rate=exact(-step))


def outgrows_exponentials(name: str) -> bool:
    """Whether the probabilities of a law on whole numbers are log-concave and fall faster than any exponential.

    The ratio of one to the next then grows without bound: were it bounded far out, it would have a limit, being monotone.
    """
    return name in ("poisson", "skellam")


# Densities x^(k - 1) g(x / s) / s^k with a falling g(|x|) without end: the log ratio of scale s to a larger t is k ln(t / s) at
# 0, and falls from there on without bound.
_POWER_AT_ZERO: dict[str, Callable[..., float]] = {
    "weibull_min": lambda c: c,
    "dweibull": lambda c: c,
    "gamma": lambda a: a,
    "dgamma": lambda a: a,
    "chi": lambda df: df,
    "chi2": lambda df: df / 2,
    "gennorm": lambda beta: 1.0,
    "rayleigh": lambda: 2.0,
    "maxwell": lambda: 3.0,
    "halfnorm": lambda: 1.0,
}


def power_at_zero(name: str, shapes: tuple[float, ...]) -> float | None:
    """The k of a family of densities that two scales tell apart most at 0 and without bound far out; None for others."""
    found = _POWER_AT_ZERO.get(name)
    return None if found is None else float(found(*shapes))


def tilt(name: str, one: tuple[float, ...], other: tuple[float, ...]) -> tuple[float, float] | None:
    """(ln p / q at 0, its step from each point to the next) for two laws on 0, 1, 2, ...; None where the steps differ."""
    if name == "poisson" and min(one[0], other[0]) > 0:
        return other[0] - one[0], math.log(one[0] / other[0])
    if name == "nbinom" and one[0] == other[0] and max(one[1], other[1]) < 1:
        return one[0] * math.log(one[1] / other[1]), math.log1p(-one[1]) - math.log1p(-other[1])
    return None
