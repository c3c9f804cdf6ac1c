"""How many rounds there are of which the best is kept, given that there is one, by its generating function G(u) = E[u^T]."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpest.numerics.logspace import Floats

_SMALL = -30.0  # ln of a chance below which its square counts as nothing


class RoundCount(ABC):
    """The law of a number of rounds T >= 1; `rest` is 1 - u, the chance that another score is better."""

    @abstractmethod
    def log_growth(self, rest: Floats) -> Floats:
        """ln G'(1 - rest)."""

    @abstractmethod
    def slope(self, better: Floats, worse: Floats) -> Floats:
        """A bound on the slope of ln G', where the rest lies between two numbers."""

    @abstractmethod
    def bend(self, better: Floats, worse: Floats) -> Floats:
        """A bound on the second derivative of ln G' there, at least 0."""

    @abstractmethod
    def log_below(self, log_s: Floats) -> Floats:
        """ln G(s), where s is small or large."""

    @abstractmethod
    def log_above(self, log_rest: Floats) -> Floats:
        """ln(1 - G(1 - rest)), where the rest is small or large."""


@dataclass(frozen=True)
class Endless(RoundCount):
    """A Poisson number of rounds, or the failures before the k-th success, given that there is a round.

    With k = 1, what is left of a geometric number of failures is the number of rounds up to a success.
    """

    stop: float  # the chance of a success; the rate where `successes` is 0
    successes: float

    def log_growth(self, rest: Floats) -> Floats:
        if not self.successes:
            return np.asarray(math.log(self.stop) - self.stop * rest - _log_expm1(self.stop) + self.stop)
        r, q = self.successes, 1.0 - self.stop
        start = math.log(r) + math.log(q) - _log_expm1(-r * math.log(self.stop))
        return np.asarray(start - (r + 1) * np.log(self.stop + q * rest))

    def slope(self, better: Floats, worse: Floats) -> Floats:
        """Largest at the better end."""
        if not self.successes:
            return np.full(np.shape(better), self.stop)
        q = 1.0 - self.stop
        return np.asarray((self.successes + 1) * q / (self.stop + q * better))

    def bend(self, better: Floats, worse: Floats) -> Floats:
        """Largest at the better end."""
        if not self.successes:
            return np.zeros(np.shape(better))
        return np.asarray(self.slope(better, worse) ** 2 / (self.successes + 1))

    def log_below(self, log_s: Floats) -> Floats:
        s = np.exp(log_s)
        grown = self.stop * s if not self.successes else -self.successes * np.log1p(-(1.0 - self.stop) * s)
        first = math.log(self.stop) if not self.successes else math.log(self.successes) + math.log1p(-self.stop)
        with np.errstate(divide="ignore"):
            return np.asarray(np.where(log_s < _SMALL, first + log_s, np.log(np.expm1(grown))) - self._log_all)

    def log_above(self, log_rest: Floats) -> Floats:
        rest, odds = np.exp(log_rest), (1.0 - self.stop) / self.stop if self.successes else 0.0
        lost = self.stop * rest if not self.successes else self.successes * np.log1p(odds * rest)
        first = math.log(self.stop) if not self.successes else math.log(self.successes) + math.log(odds)
        whole = self.stop if not self.successes else -self.successes * math.log(self.stop)
        with np.errstate(divide="ignore"):
            part = np.where(log_rest < _SMALL, first + log_rest, np.log(-np.expm1(-lost)))
        return np.asarray(part + whole - self._log_all)

    @cached_property
    def _log_all(self) -> float:
        return _log_expm1(self.stop if not self.successes else -self.successes * math.log(self.stop))


def _log_expm1(x: float) -> float:
    return math.log(math.expm1(x)) if x < 700.0 else x


@dataclass(frozen=True)
class Capped(RoundCount):
    """The rounds up to a success, and no more than so many: T is min(a geometric number, most)."""

    stop: float  # the chance of a success
    most: int

    def _jet(self, rest: Floats, order: int) -> list[Floats]:
        """G', G'', ... at 1 - rest.

        With v = q u, and the sum H of the powers v^1 to v^(most - 1), G(u) = (p H(v) + v^most) / q.
        """
        q = 1.0 - self.stop
        v = q * (1.0 - np.asarray(rest, float))
        sums, last = _sum_of_powers(v, self.most, order), _power(v, self.most, order)
        return [math.factorial(k) * q ** (k - 1) * (self.stop * sums[k] + last[k]) for k in range(1, order + 1)]

    def log_growth(self, rest: Floats) -> Floats:
        return np.asarray(np.log(self._jet(rest, 1)[0]))

    def slope(self, better: Floats, worse: Floats) -> Floats:
        """All derivatives of G grow."""
        return np.asarray(self._jet(better, 2)[1] / self._jet(worse, 1)[0])

    def bend(self, better: Floats, worse: Floats) -> Floats:
        """(ln G')'' = G''' / G' - (G'' / G')^2."""
        first, _, third = self._jet(better, 3)
        least, least_second = self._jet(worse, 2)
        return np.asarray(np.maximum(third / least - (least_second / first) ** 2, 0.0))

    def log_below(self, log_s: Floats) -> Floats:
        """G(u) = u (p A(v) + v^(most - 1)), with the sum A of the powers v^0 to v^(most - 2)."""
        v = (1.0 - self.stop) * np.exp(log_s)
        inner = self.stop * _sum_of_powers(v, self.most - 1, 0)[0] + _power(v, self.most - 1, 0)[0]
        return np.asarray(log_s + np.log(inner))

    def log_above(self, log_rest: Floats) -> Floats:
        """1 - G(u) is 1 - u times the sum of P(T > t) u^t."""
        v = (1.0 - self.stop) * -np.expm1(log_rest)
        return np.asarray(log_rest + np.log(_sum_of_powers(v, self.most, 0)[0]))


Jet = list[Floats]  # a function's value and derivatives at a place, each over the factorial of its order


def _power(v: Floats, n: int, order: int) -> Jet:
    """The jet of v^n."""
    return [np.asarray(math.comb(n, k) * v ** (n - k) if k <= n else np.zeros_like(v)) for k in range(order + 1)]


def _sum_of_powers(v: Floats, n: int, order: int) -> Jet:
    """The jet of the sum of v^0 to v^(n - 1), by halves: all terms are positive, and rounding adds up to next to nothing."""
    zero = np.zeros_like(v)
    total, count = [zero] * (order + 1), 0  # of v^0 to v^(count - 1)
    for bit in f"{n:b}":
        more = _power(v, count, order)
        total = [*map(np.add, total, _product(total, more))]
        count *= 2
        if bit == "1":
            total, count = [*map(np.add, total, _power(v, count, order))], count + 1
    return total


def _product(a: Jet, b: Jet) -> Jet:
    return [np.asarray(sum(a[i] * b[k - i] for i in range(k + 1))) for k in range(len(a))]
