"""The plain reference interpreter: a mechanism on finite draws, every outcome weighed as an exact fraction.

A mechanism is written once as `mechanism(data, m)`: `m` is `dpest` itself, or one of the stand-ins here and in
`tests.oracles.monte_carlo`, whose draws are plain numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import mpmath

Law = dict[Any, Fraction]
Mechanism = Callable[[Any, Any], Any]


class Plain:
    """The functions on random values, on plain numbers."""

    @staticmethod
    def where(condition: Any, yes: Any, no: Any) -> Any:
        return yes if condition else no

    @staticmethod
    def max(values: Sequence[Any]) -> Any:
        return max(values)

    @staticmethod
    def min(values: Sequence[Any]) -> Any:
        return min(values)

    @staticmethod
    def argmax(values: Sequence[Any]) -> int:
        return list(values).index(max(values))

    @staticmethod
    def argmin(values: Sequence[Any]) -> int:
        return list(values).index(min(values))

    @staticmethod
    def floor(x: Any) -> int:
        return math.floor(x)

    @staticmethod
    def clip(x: Any, low: Any, high: Any) -> Any:
        return max(min(x, high), low)


class Outcomes(Plain):
    """One run: draws take the recorded choices, then their first outcome; the others are queued."""

    def __init__(self, choices: tuple[int, ...], pending: list[tuple[int, ...]]) -> None:
        self.choices = choices
        self.pending = pending
        self.made: tuple[int, ...] = ()
        self.weight = Fraction(1)

    def _draw(self, law: Sequence[tuple[Any, Fraction]]) -> Any:
        at = len(self.made)
        if at >= len(self.choices):
            self.pending.extend((*self.made, k) for k in range(1, len(law)))
            self.choices = (*self.made, 0)
        chosen = self.choices[at]
        self.made = (*self.made, chosen)
        self.weight *= law[chosen][1]
        return law[chosen][0]

    def bernoulli(self, p: float) -> Any:
        return self._draw([(0, 1 - Fraction(p)), (1, Fraction(p))])

    def categorical(self, probs: Sequence[float]) -> Any:
        return self._draw([(i, Fraction(p)) for i, p in enumerate(probs)])

    def integers(self, low: int, high: int) -> Any:
        return self._draw([(k, Fraction(1, high - low + 1)) for k in range(low, high + 1)])


def law(mechanism: Mechanism, data: Any) -> Law:
    """The exact law of the output."""
    out: Law = {}
    pending: list[tuple[int, ...]] = [()]
    while pending:
        run = Outcomes(pending.pop(), pending)
        key = frozen(mechanism(data, run))
        out[key] = out.get(key, Fraction(0)) + run.weight
    return {k: p for k, p in out.items() if p}


def frozen(x: Any) -> Any:
    """An output as a key; equal outputs have equal keys, NaN included."""
    if isinstance(x, list | tuple):
        return (type(x).__name__, *(frozen(v) for v in x))
    return "NaN" if isinstance(x, float) and math.isnan(x) else x


def loss(p: Law, q: Law) -> float:
    """The largest ln p - ln q, correctly rounded."""
    return max(_log_ratio(mass, q.get(k, Fraction(0))) for k, mass in p.items())


def _log_ratio(p: Fraction, q: Fraction) -> float:
    if not q:
        return math.inf
    with mpmath.workdps(40):
        ratio = p / q
        return float(mpmath.log(mpmath.mpf(ratio.numerator) / ratio.denominator))


def delta(p: Law, q: Law, epsilon: float) -> float:
    """The hockey-stick divergence: the sum of the positive parts of p - e^epsilon q."""
    factor = Fraction(math.exp(epsilon))
    return float(sum((max(Fraction(0), mass - factor * q.get(k, Fraction(0))) for k, mass in p.items()), Fraction(0)))
