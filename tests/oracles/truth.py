"""What an oracle knows of a number: an enclosure, which is one double wide where the oracle is exact."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import mpmath

DIGITS = 50


@dataclass(frozen=True)
class Truth:
    """The true loss lies in [lower, upper]; `source` names the oracle."""

    lower: float
    upper: float
    source: str

    def __post_init__(self) -> None:
        assert self.lower <= self.upper, self

    @property
    def exact(self) -> bool:
        """Whether the enclosure is as narrow as doubles allow."""
        return self.lower == self.upper or self.upper - self.lower <= 1e-13 * max(1.0, abs(self.lower))

    def allows(self, lower: float, upper: float) -> bool:
        """Whether a bracket [lower, upper] may hold the true number."""
        return lower <= self.upper and self.lower <= upper

    def meet(self, other: Truth) -> Truth:
        """What both say together."""
        return Truth(max(self.lower, other.lower), min(self.upper, other.upper), f"{self.source}; {other.source}")

    def __str__(self) -> str:
        return f"{self.upper:.12g}" if self.exact else f"[{self.lower:.9g}, {self.upper:.9g}]"


def exactly(value: Any, source: str) -> Truth:
    """A number that is known to 30 digits or more, with room for its rounding to a double."""
    lower, upper = down(value), up(value)
    return Truth(lower, upper, source)


def at_most(value: Any, source: str) -> Truth:
    """An upper bound alone."""
    return Truth(0.0, up(value), source)


def between(lower: Any, upper: Any, source: str) -> Truth:
    """An enclosure."""
    return Truth(max(0.0, down(lower)), up(upper), source)


def down(value: Any) -> float:
    """A double at most `value`; 0 and infinities stay."""
    x = float(value)
    return x if x == 0 or math.isinf(x) else math.nextafter(x, -math.inf)


def up(value: Any) -> float:
    """A double at least `value`; 0 and infinities stay."""
    x = float(value)
    return x if x == 0 or math.isinf(x) else math.nextafter(x, math.inf)


def real(x: Any) -> Any:
    """A number as mpmath's, without rounding a fraction to a double first."""
    if hasattr(x, "numerator") and not isinstance(x, int | float):
        return mpmath.mpf(int(x.numerator)) / int(x.denominator)
    return mpmath.mpf(x)
