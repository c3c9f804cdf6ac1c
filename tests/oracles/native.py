"""Programs of discrete draws on Python's and NumPy's own numbers: run on every combination of draws, weights in fractions.

Draws with a size are NumPy's arrays of whole numbers, so that types, orders of additions and rules of NumPy's functions are the
program's own, and none of the engine's.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

Law = dict[Any, Fraction]
Table = list[tuple[int, Fraction]]
MOST_RUNS = 40_000


class TooMany(Exception):
    """More combinations of draws than are worth running."""


class Scripted:
    """The draws of one run: which value each takes is written in a script, the first one where it ends."""

    def __init__(self, script: list[int]) -> None:
        self.taken: list[int] = []
        self.choices: list[int] = []
        self.weight = Fraction(1)
        self._script = script

    def integers(self, low: int, high: int, size: int | None = None) -> Any:
        """Whole numbers, both ends included."""
        return self._drawn([(k, Fraction(1, high - low + 1)) for k in range(low, high + 1)], size)

    def bernoulli(self, p: float, size: int | None = None) -> Any:
        """Coins."""
        return self._drawn([(0, 1 - Fraction(p)), (1, Fraction(p))], size)

    def categorical(self, probabilities: list[float], size: int | None = None) -> Any:
        """Places in a table."""
        whole = sum(map(Fraction, probabilities))
        return self._drawn([(k, Fraction(p) / whole) for k, p in enumerate(probabilities)], size)

    def uniform(self, low: float, high: float) -> Chance:
        """A uniform number, to be compared once with a number between 0 and 1."""
        assert (low, high) == (0, 1)
        return Chance(self)

    def _drawn(self, table: Table, size: int | None) -> Any:
        return self._one(table) if size is None else np.array([self._one(table) for _ in range(size)])

    def _one(self, table: Table) -> int:
        k = len(self.taken)
        at = self._script[k] if k < len(self._script) else 0
        self.taken.append(at)
        self.choices.append(len(table))
        self.weight *= table[at][1]
        return table[at][0]


@dataclass(frozen=True)
class Chance:
    """A uniform number between 0 and 1 of which only one comparison is asked."""

    run: Scripted

    def __lt__(self, p: float) -> bool:
        return bool(self.run.bernoulli(p))


def enumerated(mechanism: Callable[[Any, Any], Any], data: Any) -> Law:
    """Every output of `mechanism(data, d)` with its probability."""
    found: Law = {}
    script: list[int] = []
    for _ in range(MOST_RUNS):
        run = Scripted(script)
        with np.errstate(all="ignore"):
            output = told(mechanism(data, run))
        found[output] = found.get(output, Fraction(0)) + run.weight
        script = run.taken
        while script and script[-1] == run.choices[len(script) - 1] - 1:
            script.pop()
        if not script:
            return found
        script[-1] += 1
    raise TooMany(f"more than {MOST_RUNS} combinations of draws")


def told(x: Any) -> Any:
    """An output as what tells it from others."""
    if isinstance(x, np.ndarray | list | tuple):
        return ("list", *map(told, x))
    if isinstance(x, set | frozenset):
        return ("set", frozenset(map(told, x)))
    if isinstance(x, dict):
        return ("dict", *sorted((repr(k), told(v)) for k, v in x.items()))
    x = x.item() if isinstance(x, np.generic) else x
    return "nan" if isinstance(x, float) and math.isnan(x) else x


def loss(p: Law, q: Law) -> float:
    """The largest log ratio in both directions."""
    best = 0.0
    for a, b in ((p, q), (q, p)):
        for output, weight in a.items():
            if weight and not b.get(output):
                return math.inf
            ratio = weight / b[output] if weight else Fraction(1)
            best = max(best, math.log(ratio.numerator) - math.log(ratio.denominator))
    return best


def delta(p: Law, q: Law, epsilon: float) -> float:
    """The larger of both hockey-stick divergences."""
    factor = Fraction(math.exp(epsilon))
    return max(float(sum(max(Fraction(0), w - factor * b.get(k, 0)) for k, w in a.items())) for a, b in ((p, q), (q, p)))
