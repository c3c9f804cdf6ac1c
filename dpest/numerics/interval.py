"""A closed enclosure of a number."""

from __future__ import annotations

from dataclasses import dataclass

from dpest.errors import InvalidInput


@dataclass(frozen=True)
class Interval:
    """A closed enclosure [low, high]."""

    low: float
    high: float

    def __post_init__(self) -> None:
        if not self.low <= self.high:
            raise InvalidInput(f"an Interval needs low <= high, got low={self.low!r}, high={self.high!r}")

    def __contains__(self, x: float) -> bool:
        return self.low <= x <= self.high

    @property
    def width(self) -> float:
        """high - low."""
        return self.high - self.low
