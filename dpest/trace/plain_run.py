"""A run of the mechanism as an ordinary program: every draw is a number."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpest.errors import BudgetExceeded
from dpest.lang.dist import RUN
from dpest.lang.handed import all_handed, handed
from dpest.lang.nodes import Node, is_node
from dpest.lang.plain_numbers import Truth, bare, marked
from dpest.laws.discrete import Atoms
from dpest.laws.law import Continuous, Law
from dpest.numerics.setting import Setting
from dpest.run.streams import stream
from dpest.trace.outputs import Flat, flatten, rebuild
from dpest.trace.valuation import Valuation, Value

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
    return PlainRun(NumberSource(stream(SEED)))


@dataclass(frozen=True)
class PlainProgram:
    """A mechanism of dpest draws as an ordinary program: `program(data, rng)` runs it once, on numbers."""

    func: Callable[..., Any]

    def __call__(self, data: Any, rng: np.random.Generator, **params: Any) -> Any:
        """What the mechanism returns, with numbers from this generator for its draws."""
        run = PlainRun(NumberSource(rng, block=1))
        with Setting(RUN, run):
            flat = flatten(self.func(handed(data), **all_handed(params)))
        return rebuild(flat.structure, [run.number(x) for x in flat.leaves])


class NumberSource:
    """Numbers from laws, in blocks."""

    def __init__(self, rng: np.random.Generator, block: int = _BLOCK) -> None:
        self.rng = rng
        self._block = block
        self._left: dict[int, tuple[Law, list[float]]] = {}

    def draw(self, law: Law) -> float:
        """A fresh number with this law."""
        # The law is kept beside its numbers, so that no other object can come to have its id.
        held = self._left.get(id(law))
        if held is None or not held[1]:
            held = self._left[id(law)] = (law, [float(x) for x in law.sample(self.rng, self._block)])
        return held[1].pop()


@dataclass(frozen=True)
class Aim:
    """A comparison of a traced path, solved for its last draw: where the two sides of a condition meet."""

    law: Law
    coefficient: float
    constant: float
    others: tuple[tuple[int, float], ...]  # (position of an earlier draw, its coefficient)


class PlainRun:
    """Gives numbers for draws: those of an earlier run where a script is given; with aims, often beside a condition's bound."""

    plain = True

    def __init__(
        self,
        source: NumberSource,
        aims: Mapping[int, Sequence[Aim]] | None = None,
        script: Sequence[Drawn] = (),
        together: bool = False,
    ) -> None:
        self.drawn: list[Drawn] = []
        self.together = together  # whether a loop that only counts is one draw, as it was in the trace
        self.outside = Valuation(source.draw)  # random values that were made before the run
        self._source = source
        self._aims = aims or {}
        self._script = script

    def draw(self, law: Law) -> Any:
        """A number with this law: a whole one as an int, a coin as a truth value."""
        if len(self.drawn) >= MOST_DRAWS:
            raise BudgetExceeded(f"one run of the mechanism on plain numbers made more than {MOST_DRAWS} draws")
        value = self._scripted(law)
        if value is None:
            value = self._aimed(law)
        if value is None:
            value = self._source.draw(law)
        self.drawn.append(Drawn(law, value))
        return as_drawn(law, value)

    def decide(self, condition: Node) -> bool:
        """Which way an `if` goes on a random value that was made before the run."""
        return self.outside.holds(condition)

    def number(self, x: Any) -> Any:
        """A leaf of the output as a plain constant; a random value from before the run by its value in it."""
        value = self.outside.leaf(x) if is_node(x) else bare(x)
        return float(value.number) if isinstance(value, Value) else value

    def _scripted(self, law: Law) -> float | None:
        """The number that an earlier run drew here, if it asked for the same law, or for one of another scale."""
        k = len(self.drawn)
        factor = same_family(law, self._script[k].law) if k < len(self._script) else None
        return None if factor is None else self._script[k].value * factor

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


def as_drawn(law: Law, value: float) -> Any:
    """A number as a draw of a law gives it: a whole one as an int, a coin as a truth value."""
    if not law.discrete or not getattr(law, "integral", False):
        return marked(value)
    coin = isinstance(law, Atoms) and set(law.points) <= {0.0, 1.0}
    return Truth(value) if coin else marked(int(value))


def same_family(traced: Law, drawn: Law) -> float | None:
    """What a number of the program's law is multiplied by to be one of the traced law.

    A scale that is itself random multiplies a draw of scale 1 in the graph; in a plain run it is a number like any other.
    """
    if traced is drawn or traced == drawn:
        return 1.0
    scales = getattr(traced, "b", 0.0), getattr(drawn, "b", 0.0)
    return scales[0] / scales[1] if type(traced) is type(drawn) and 1.0 in scales and 0.0 not in scales else None


def draws_in_words(drawn: Sequence[Drawn], most: int = 12) -> str:
    """The draws of a plain run, the first of them where there are many."""
    shown = ", ".join(d.words() for d in drawn[:most])
    return (shown + (f", ... ({len(drawn)} in all)" if len(drawn) > most else "")) or "none"


def shown_leaves(structure: Any, leaves: Sequence[Any]) -> str:
    """An output as a person writes it, from its structure and its leaves."""
    plain = [float(x.number) if isinstance(x, Value) else x for x in leaves]
    return repr(rebuild(structure, plain))


def shown_output(run: PlainRun, output: Flat) -> str:
    """What a plain run returned."""
    return shown_leaves(output.structure, [run.number(x) for x in output.leaves])
