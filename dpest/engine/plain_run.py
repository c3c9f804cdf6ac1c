"""A run of the mechanism as an ordinary program: every draw is a number."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpest.engine.streams import stream
from dpest.engine.valuation import Valuation
from dpest.errors import BudgetExceeded
from dpest.graph.nodes import Node
from dpest.graph.plain_numbers import Truth, marked
from dpest.laws.discrete import Atoms
from dpest.laws.law import Continuous, Law

SEED = 0x0D9E57  # of the numbers in plain runs: a check gives the same verdict each time
_BLOCK = 64  # numbers drawn from one law at a time: NumPy's cost of a call is spread over them
MOST_DRAWS = 200_000


@dataclass(frozen=True)
class Drawn:
    """One draw of a plain run: its law as the program asked for it, and the number that came."""

    law: Law
    value: float

    def words(self) -> str:
        """As a person reads it."""
        return f"{self.law.words()} = {self.value:.10g}"


def one_run() -> PlainRun:
    """A plain run with the same numbers each time."""
    return PlainRun(Source(stream(SEED)))


class Source:
    """Numbers from laws, in blocks."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self._left: dict[int, tuple[Law, list[float]]] = {}

    def draw(self, law: Law) -> float:
        """A fresh number with this law."""
        # The law is kept beside its numbers, so that no other object can come to have its id.
        held = self._left.get(id(law))
        if held is None or not held[1]:
            held = self._left[id(law)] = (law, [float(x) for x in law.sample(self.rng, _BLOCK)])
        return held[1].pop()


@dataclass(frozen=True)
class Aim:
    """A comparison of a traced path, solved for its last draw: where the two sides of a condition meet."""

    law: Law
    coefficient: float
    constant: float
    others: tuple[tuple[int, float], ...]  # (position of an earlier draw, its coefficient)


class PlainRun:
    """Gives numbers for draws. Where aims are given, a draw is often placed on or beside the bound of a condition."""

    def __init__(self, source: Source, aims: Mapping[int, Sequence[Aim]] | None = None) -> None:
        self.drawn: list[Drawn] = []
        self.outside = Valuation(source.draw)  # random values that were made before the run
        self._source = source
        self._aims = aims or {}

    def draw(self, law: Law) -> Any:
        """A number with this law: a whole one as an int, a coin as a truth value."""
        if len(self.drawn) >= MOST_DRAWS:
            raise BudgetExceeded(f"one run of the mechanism on plain numbers made more than {MOST_DRAWS} draws")
        value = self._aimed(law)
        if value is None:
            value = self._source.draw(law)
        self.drawn.append(Drawn(law, value))
        if not law.discrete or not getattr(law, "integral", False):
            return marked(value)
        coin = isinstance(law, Atoms) and set(law.points) <= {0.0, 1.0}
        return Truth(value) if coin else marked(int(value))

    def decide(self, condition: Node) -> bool:
        """Which way an `if` goes on a random value that was made before the run."""
        return self.outside.holds(condition)

    def _aimed(self, law: Law) -> float | None:
        """A number near the bound of a condition, which the law can take."""
        rng = self._source.rng
        aims = self._aims.get(len(self.drawn))
        if not aims or rng.random() < 0.25:
            return None
        aim = aims[int(rng.integers(len(aims)))]
        if aim.law is not law and aim.law != law:
            return None
        bound = -(aim.constant + math.fsum(c * self.drawn[k].value for k, c in aim.others)) / aim.coefficient
        if not abs(bound) < 2**52:
            return None
        if isinstance(law, Continuous):
            value = bound + law.scale * float(rng.standard_exponential()) * (1 if rng.random() < 0.5 else -1)
        else:
            value = float(round(bound) + rng.integers(-1, 2))
        return value if float(law.log_density(value)) > -math.inf else None
