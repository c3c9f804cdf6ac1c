"""Mixtures of moved and scaled draws: their log densities at 50 digits, and the largest log ratio by search at that precision."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import mpmath
from mpmath import mpf

MP = mpmath.mp.clone()
MP.dps = 50


def _laplace(z: Any) -> Any:
    return -abs(z) - MP.log(2)


def _gaussian(z: Any) -> Any:
    return -z * z / 2 - MP.log(2 * MP.pi) / 2


def _gumbel(z: Any) -> Any:
    return -z - MP.exp(-z)


def _logistic(z: Any) -> Any:
    return -abs(z) - 2 * MP.log1p(MP.exp(-abs(z)))


def _exponential(z: Any) -> Any:
    return -z if z >= 0 else -MP.inf


def _uniform(z: Any) -> Any:
    return -MP.log(2) if abs(z) <= 1 else -MP.inf


def _student(z: Any) -> Any:
    nu = mpf(3)
    top = MP.loggamma((nu + 1) / 2) - MP.loggamma(nu / 2) - MP.log(nu * MP.pi) / 2
    return top - (nu + 1) / 2 * MP.log1p(z * z / nu)


LOG_DENSITIES: dict[str, Callable[[Any], Any]] = {
    "laplace": _laplace,
    "gaussian": _gaussian,
    "gumbel": _gumbel,
    "logistic": _logistic,
    "exponential": _exponential,
    "uniform": _uniform,
    "student": _student,
}


@dataclass(frozen=True)
class Part:
    """With this weight: offset + slope * x + factor * (a draw of the kind and scale)."""

    weight: float
    kind: str
    scale: float
    slope: float
    offset: float
    factor: float = 1.0

    def centre(self, x: float) -> Any:
        """Where it lies, exactly."""
        return mpf(self.offset) + mpf(self.slope) * mpf(x)


def log_density(parts: Sequence[Part], x: float, y: Any) -> Any:
    """ln of the mixture's density at y."""
    terms = []
    for p in parts:
        width = mpf(p.scale) * abs(mpf(p.factor))
        z = (y - p.centre(x)) / (mpf(p.scale) * mpf(p.factor))
        terms.append(MP.log(mpf(p.weight)) + LOG_DENSITIES[p.kind](z) - MP.log(width))
    top = max(terms)
    return top if top == -MP.inf else top + MP.log(sum(MP.exp(t - top) for t in terms))


def log_ratio(parts: Sequence[Part], pair: tuple[float, float], y: Any) -> Any:
    """ln p(y) - ln q(y) at 50 digits; None where either is zero."""
    p, q = (log_density(parts, x, y) for x in pair)
    return None if MP.isinf(p) or MP.isinf(q) else p - q


def climbed(parts: Sequence[Part], pair: tuple[float, float], start: float, step: float) -> Any:
    """The largest |log ratio| that a search by thirds finds around a place."""
    low, high = mpf(start) - mpf(step), mpf(start) + mpf(step)
    best = mpf(0)
    for _ in range(90):
        a, b = low + (high - low) / 3, high - (high - low) / 3
        values = [abs(r) if (r := log_ratio(parts, pair, y)) is not None else -MP.inf for y in (a, b)]
        best = max(best, *values)
        low, high = (low, b) if values[0] > values[1] else (a, high)
    return best
