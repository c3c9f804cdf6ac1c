"""What a law declares about one of its tails: the function that its log density comes to, term by term.

With t the distance from zero, going to infinity on one side,

    ln f  =  constant + power * ln t - rate * t - square * t^2 - the sum of e^(speed * t + log_factor)  +  o(1).

All but the constant are exact rationals: which of two tails is the heavier is decided there, never by values. The
difference of both sides is monotone in t, so that its value at one place bounds it everywhere beyond.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from dpest.numerics.rationals import ZERO, Rational, exact

Burst = tuple[Rational, Rational]  # (speed, log_factor) of a double exponential


@dataclass(frozen=True)
class Asymptote:
    """The leading terms of a log density (or log probability) far out on one side."""

    constant: float
    rate: Rational = ZERO
    power: Rational = ZERO
    square: Rational = ZERO
    bursts: tuple[Burst, ...] = ()

    def at(self, t: float) -> float:
        """Its value at distance t."""
        out = self.constant - float(self.rate) * t - float(self.square) * t * t
        if self.power:
            out += float(self.power) * math.log(t)
        return out - sum(math.exp(min(float(speed) * t + float(log_factor), 709.0)) for speed, log_factor in self.bursts)

    @property
    def order(self) -> tuple[tuple[Burst, ...], Rational, Rational, Rational]:
        """All but the constant: equal for tails that decay alike."""
        return tuple(sorted(self.bursts)), self.square, self.rate, -self.power

    def __add__(self, other: Asymptote) -> Asymptote:
        return Asymptote(
            self.constant + other.constant,
            self.rate + other.rate,
            self.power + other.power,
            self.square + other.square,
            (*self.bursts, *other.bursts),
        )

    def moved(self, slope: Rational, offset: Rational) -> Asymptote | None:
        """The asymptote in t where the law's own distance is slope * t + offset (slope > 0); power terms up to o(1)."""
        constant = self.constant - float(self.rate * offset + self.square * offset * offset)
        if self.power:
            constant += float(self.power) * math.log(float(slope))
        return replace(
            self,
            constant=constant,
            rate=self.rate * slope + 2 * self.square * slope * offset,
            square=self.square * slope * slope,
            bursts=tuple((speed * slope, log_factor + speed * offset) for speed, log_factor in self.bursts),
        )

    def integrated(self) -> Asymptote | None:
        """The asymptote of the mass beyond t, from that of a density; None where the mass is infinite or not needed here."""
        if self.bursts or self.square:
            return None
        if self.rate > 0:
            return replace(self, constant=self.constant - math.log(float(self.rate)))
        if self.rate == 0 and self.power < -1:
            return replace(self, constant=self.constant - math.log(float(-self.power - 1)), power=self.power + 1)
        return None


def exponential(log_constant: float, scale: float, power: float = 0.0) -> Asymptote:
    """constant * t^power * e^(-t / scale)."""
    return Asymptote(log_constant, rate=1 / exact(scale), power=exact(power))


def powerlike(log_constant: float, power: float) -> Asymptote:
    """constant * t^power."""
    return Asymptote(log_constant, power=exact(power))
