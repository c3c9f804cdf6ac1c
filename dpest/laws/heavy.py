"""Tails heavier than exponential ones: squares, powers and exponentials of noise, and products of two noisy values."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

from dpest.numerics.rationals import ONE, Rational, exact

_LARGEST = 600.0  # ln of the largest distance at which a tail may begin, far within doubles


class TailShape(Protocol):
    """How a density falls far out, up to a factor. But for bells its logarithm is convex, with a slope that tends to zero."""

    def log(self, distance: float) -> float:
        """ln of the density, up to a constant."""


@dataclass(frozen=True)
class Stretched:
    """distance^power * e^(-coefficient * distance^exponent), with an exponent below 1 and a negative power."""

    power: Rational
    coefficient: Rational
    exponent: Rational

    def log(self, distance: float) -> float:
        """ln of the density, up to a constant."""
        falls = float(self.coefficient) * distance ** float(self.exponent) if self.coefficient else 0.0
        return float(self.power) * math.log(distance) - falls


@dataclass(frozen=True)
class Bell:
    """e^(-rate * distance + root * sqrt(distance)), up to smaller factors: squares and products of Gaussian noise."""

    rate: float
    root: float

    def log(self, distance: float) -> float:
        """ln of the density, up to what is small beside the root of the distance."""
        return self.root * math.sqrt(distance) - self.rate * distance


@dataclass(frozen=True)
class HeavyTail:
    """The density is e^constant * shape(distance) at all distances from zero beyond `start`, but for what is in its error."""

    shape: TailShape
    constant: float
    start: float
    lengths: tuple[float, ...] = ()  # of terms that are missing: e^(-distance / length) * length / distance each, at most

    def error(self, distance: float) -> float:
        """The relative error from there on: it falls with the distance."""
        here = self.shape.log(distance) if self.lengths else 0.0
        return math.fsum(math.exp(min(-distance / x - math.log(distance / x) - here, 0.0)) for x in self.lengths)


def of_power(power: Rational, scale: float, offset: float, half: float) -> HeavyTail | None:
    """The tail of (X + offset)^power, where the density of X is half * e^(-x / scale) / scale for positive x."""
    if power <= 1 or float(power) * math.log(max(offset, 1.0)) > _LARGEST:
        return None
    # x = w^(1 / power) - offset, whose slope is w^(1 / power - 1) / power
    constant = math.log(half / scale / float(power)) + offset / scale
    start = max(offset, 0.0) ** float(power)
    return HeavyTail(Stretched(1 / power - 1, 1 / exact(scale), 1 / power), constant, start)


def of_bell(sigma: float, offset: float) -> HeavyTail:
    """The tail of the square of a positive X + offset, with Gaussian X: -(root - offset)^2 / (2 sigma^2)."""
    return HeavyTail(Bell(1 / (2 * sigma**2), offset / sigma**2), 0.0, math.inf)


def of_exponential(scale: float, offset: float, half: float) -> HeavyTail | None:
    """The tail of e^(X + offset), where the density of X is half * e^(-x / scale) / scale for positive x."""
    if offset > _LARGEST:
        return None
    return HeavyTail(Stretched(-1 / exact(scale) - 1, 0 * ONE, ONE), math.log(half / scale) + offset / scale, math.exp(offset))
