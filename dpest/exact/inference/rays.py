"""A variable on its way to infinity, and what a factor comes to there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpest.exact.inference.expressions import Expr, Values
from dpest.laws.asymptote import Asymptote
from dpest.numerics.rationals import ZERO, Rational, exact


@dataclass(frozen=True)
class Tail:
    """asymptote(t) + low <= ln factor <= asymptote(t) + high for all t >= start."""

    asymptote: Asymptote
    low: float
    high: float
    error: float = 0.0  # relative, of the constants

    def __add__(self, other: Tail) -> Tail:
        return Tail(self.asymptote + other.asymptote, self.low + other.low, self.high + other.high, self.error + other.error)


NEUTRAL = Tail(Asymptote(0.0), 0.0, 0.0)


@dataclass(frozen=True)
class Ray:
    """variable = origin + side * t for t >= start."""

    variable: int
    side: int
    origin: Rational
    start: float

    def line(self, e: Expr) -> tuple[Rational, Rational]:
        """The expression as slope * t + offset; other variables count as absent."""
        offset = exact(e.constant)
        slope = ZERO
        for v, c in e.terms:
            if v == self.variable:
                slope, offset = exact(c) * self.side, offset + exact(c) * self.origin
        return slope, offset

    @property
    def here(self) -> Values:
        """The variable's value at the start."""
        return {self.variable: np.array([float(self.origin) + self.side * self.start])}


OffsetAndSlope = tuple[Rational, Rational]


class Unsettled(Exception):
    """Another bound takes over beyond the start."""


def active(bounds: Sequence[Expr], ray: Ray, sign: int) -> OffsetAndSlope | None:
    """The bound that is the tightest for all t from the start on; None without bounds."""
    lines = [ray.line(e) for e in bounds]
    if not lines:
        return None
    best = max(lines, key=lambda x: (sign * x[0], sign * x[1]))
    start = exact(ray.start)
    top = sign * (best[0] * start + best[1])
    if any(sign * (a * start + b) > top for a, b in lines):
        raise Unsettled
    return best
