"""Draws that are made of other draws in a way that is not monotone: what they are at given numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dpest.numerics.rationals import Rational, exact, floor

if TYPE_CHECKING:
    from dpest.lang.nodes import Draw


@dataclass(frozen=True)
class Polar:
    """sqrt(-spread * ln(factor * u + offset)) * turned(slope * v + start), for the value of such a draw at given numbers."""

    radius: Draw
    angle: Draw
    spread: Rational
    factor: Rational
    offset: Rational
    slope: Rational
    start: Rational
    turned: str

    @property
    def parts(self) -> tuple[Draw, ...]:
        """The draws that it is made of."""
        return self.radius, self.angle

    def value(self, u: Any, v: Any) -> float:
        """The draw's value."""
        inner = float(self.factor) * float(u) + float(self.offset)
        length = math.sqrt(-float(self.spread) * math.log(inner)) if inner > 0 else math.inf
        return length * float(getattr(math, self.turned)(float(self.slope) * float(v) + float(self.start)))


@dataclass(frozen=True)
class HalfTurn:
    """-ln(factor * u + offset) * turned(slope * v + start): an exponential value times the cosine of an angle over half turns."""

    length: Draw
    angle: Draw
    factor: Rational
    offset: Rational
    slope: Rational
    start: Rational
    turned: str

    def value(self, u: Any, v: Any) -> float:
        """The product at given numbers."""
        inner = float(self.factor) * float(u) + float(self.offset)
        length = -math.log(inner) if inner > 0 else math.inf
        return length * float(getattr(math, self.turned)(float(self.slope) * float(v) + float(self.start)))


@dataclass(frozen=True)
class TwoTurned:
    """The sum, or the difference, of two such products: Laplace noise of scale 1."""

    first: HalfTurn
    second: HalfTurn
    sign: int

    @property
    def parts(self) -> tuple[Draw, ...]:
        """The draws that it is made of."""
        return self.first.length, self.first.angle, self.second.length, self.second.angle

    def value(self, *numbers: Any) -> float:
        """The draw's value."""
        return self.first.value(*numbers[:2]) + self.sign * self.second.value(*numbers[2:])


@dataclass(frozen=True)
class Turns:
    """factor * draw without its whole turns: between 0 and 1, or one of `steps` whole numbers where the draw is one."""

    draw: Draw
    factor: Rational

    @property
    def parts(self) -> tuple[Draw, ...]:
        """The draws that it is made of."""
        return (self.draw,)

    @property
    def steps(self) -> int:
        """In how many steps a turn is made by whole numbers."""
        return int(self.factor.denominator)

    def value(self, x: Any) -> Any:
        """The draw's value, exact."""
        turned = self.factor * exact(x)
        left = turned - turned.numerator // turned.denominator
        return left * self.steps if self.draw.law.discrete else left


@dataclass(frozen=True)
class Steps:
    """floor(factor * draw + offset), a whole number."""

    draw: Draw
    factor: Rational
    offset: Rational

    @property
    def parts(self) -> tuple[Draw, ...]:
        """The draws that it is made of."""
        return (self.draw,)

    def value(self, x: Any) -> Any:
        """The draw's value, exact."""
        return floor(self.factor * exact(x) + self.offset)
