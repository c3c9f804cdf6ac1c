"""Numbers that carry their bracket."""

from __future__ import annotations


class Bracketed(float):
    """A float with the closed enclosure that it was computed with."""

    lower: float
    upper: float

    def __new__(cls, value: float, lower: float, upper: float) -> Bracketed:
        self = super().__new__(cls, value)
        self.lower = lower
        self.upper = upper
        return self

    def __repr__(self) -> str:
        return f"{float(self)!r} in [{self.lower!r}, {self.upper!r}]"

    def __reduce__(self) -> tuple[type[Bracketed], tuple[float, float, float]]:
        return type(self), (float(self), self.lower, self.upper)
