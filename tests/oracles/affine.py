"""Values a . z + b of the continuous draws z of a program, in rationals, that note where each decision changes."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Protocol


class NotSwept(Exception):
    """The program is not of the kind that an oracle covers: too many continuous draws, products of draws, too many runs."""


class OnEdge(Exception):
    """The run stood exactly where a decision changes."""


class Place(Protocol):
    """Where a run stands among the values of its continuous draws."""

    z: tuple[Fraction, ...]

    def note(self, a: tuple[Fraction, ...], b: Fraction) -> None:
        """A decision changes where a . z + b = 0; raises `OnEdge` where the run stands on it."""


def _fraction(x: Any) -> Fraction:
    return Fraction(x.item() if hasattr(x, "item") else x)


class Line:
    """A value a . z + b of the continuous draws."""

    def __init__(self, cell: Place, a: tuple[Fraction, ...], b: Fraction) -> None:
        self.cell, self.a, self.b = cell, a, b

    @property
    def now(self) -> Fraction:
        return sum((a * z for a, z in zip(self.a, self.cell.z, strict=True)), self.b)

    @property
    def moves(self) -> bool:
        """Whether it depends on a draw at all."""
        return any(self.a)

    def _like(self, other: Any) -> Line:
        return other if isinstance(other, Line) else Line(self.cell, (Fraction(0),) * len(self.a), _fraction(other))

    def __add__(self, other: Any) -> Line:
        o = self._like(other)
        return Line(self.cell, tuple(p + q for p, q in zip(self.a, o.a, strict=True)), self.b + o.b)

    __radd__ = __add__

    def __neg__(self) -> Line:
        return Line(self.cell, tuple(-p for p in self.a), -self.b)

    def __pos__(self) -> Line:
        return self

    def __sub__(self, other: Any) -> Line:
        return self + -self._like(other)

    def __rsub__(self, other: Any) -> Line:
        return -self + other

    def __mul__(self, other: Any) -> Line:
        o = self._like(other)
        if self.moves and o.moves:
            raise NotSwept("a product of two values of continuous draws")
        return Line(self.cell, tuple(p * o.b + q * self.b for p, q in zip(self.a, o.a, strict=True)), self.b * o.b)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Line:
        o = self._like(other)
        if o.moves:
            raise NotSwept("a quotient by a continuous draw")
        return Line(self.cell, tuple(p / o.b for p in self.a), self.b / o.b)

    def __floor__(self) -> int:
        k = math.floor(self.now)
        if self.moves:
            self.cell.note(self.a, self.b - k)
            self.cell.note(self.a, self.b - k - 1)
        return k

    def __ceil__(self) -> int:
        return -math.floor(-self)

    def __trunc__(self) -> int:
        return math.floor(self) if self >= 0 else math.ceil(self)

    __int__ = __trunc__

    def __round__(self, digits: int | None = None) -> Any:
        if digits is None or digits == 0:
            return self._nearest()
        unit = Fraction(10) ** digits
        return float(Fraction((self * unit)._nearest()) / unit)

    def _nearest(self) -> int:
        return round(self.b) if not self.moves else math.floor(self + Fraction(1, 2))

    def __floordiv__(self, other: Any) -> Any:
        return math.floor(self / other)

    def __mod__(self, other: Any) -> Any:
        return self - self._like(other) * (self // other)  # a float times a whole number would be rounded

    def __abs__(self) -> Line:
        return self if self >= 0 else -self

    def __pow__(self, exponent: int) -> Square:
        if exponent != 2:
            raise NotSwept("a power that is not a square")
        return Square(self)

    def _sign(self, other: Any) -> int:
        gap = self - other
        if gap.moves:
            self.cell.note(gap.a, gap.b)
        now = gap.now
        return (now > 0) - (now < 0)

    def __lt__(self, other: Any) -> bool:
        return self._sign(other) < 0

    def __le__(self, other: Any) -> bool:
        return self._sign(other) <= 0

    def __gt__(self, other: Any) -> bool:
        return self._sign(other) > 0

    def __ge__(self, other: Any) -> bool:
        return self._sign(other) >= 0

    def __eq__(self, other: object) -> bool:
        return not isinstance(other, str | type(None)) and self._sign(other) == 0

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __bool__(self) -> bool:
        return self != 0

    __hash__ = None  # type: ignore[assignment]


class Square:
    """The square of a value, which is compared with squares of rationals alone."""

    def __init__(self, root: Line) -> None:
        self.root = root

    def _sign(self, other: Any) -> int:
        wanted = _fraction(other)
        root = Fraction(math.isqrt(wanted.numerator), math.isqrt(wanted.denominator)) if wanted >= 0 else None
        if root is None or root * root != wanted:
            raise NotSwept("a square that is compared with a number that is none")
        above, below = self.root > root, self.root < -root
        return 1 if above or below else -int(-root < self.root < root)

    def __lt__(self, other: Any) -> bool:
        return self._sign(other) < 0

    def __le__(self, other: Any) -> bool:
        return self._sign(other) <= 0

    def __gt__(self, other: Any) -> bool:
        return self._sign(other) > 0

    def __ge__(self, other: Any) -> bool:
        return self._sign(other) >= 0
