"""The loops of a trace, put together from the runs that came back to a state in which they were before."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from dpest.errors import ExactRefused
from dpest.numerics.logspace import log_sum
from dpest.trace.literal import Literal, log_weight
from dpest.trace.rounds import Cycle, Loop, Step

_OFF = 1e-9  # how far probabilities of runs may be from adding up to 1: each is worked out to 1e-13 or so


class Loops:
    """The loops of a program by the conditions that lead to them."""

    def __init__(self, returned: Sequence[tuple[tuple[Step, ...], int]]) -> None:
        """`returned` has the conditions of each run that came back, and how many of them it had when it was there first."""
        self.returned: dict[tuple[int, ...], list[tuple[tuple[Step, ...], int]]] = {}
        for steps, start in returned:
            self.returned.setdefault(_key(steps[:start]), []).append((steps, start))
        self.known: dict[tuple[int, ...], Loop] = {}

    def on(self, steps: Sequence[Step], start: int = 0) -> tuple[Loop, ...]:
        """The loops that a path enters after its first `start` conditions."""
        if not self.returned:
            return ()
        keys = (_key(steps[:k]) for k in range(start, len(steps) + 1))
        return tuple(self._loop(key) for key in keys if key in self.returned)

    def _loop(self, key: tuple[int, ...]) -> Loop:
        if key not in self.known:
            self.known[key] = Loop(tuple(self._cycle(*r) for r in self.returned[key]))
        return self.known[key]

    def _cycle(self, steps: tuple[Step, ...], start: int) -> Cycle:
        """A way around a loop; the loops inside it start after it does."""
        return Cycle(tuple(x for step in steps[start:] for x in step), self.on(steps, start + 1))


def check_weights(
    runs: Iterable[tuple[Sequence[Literal], Sequence[Loop]]], unexplored: float, loop_weight: Callable[[Loop], float]
) -> None:
    """Refuses loops that were read wrongly: the probabilities of all runs, with all rounds of their loops, add up to 1.

    Said of conditions on one draw each; others are not looked at.
    """
    logs = []
    for literals, loops in runs:
        if any(len(x.terms) > 1 or x.terms[0][0].origin is not None for x in literals):
            return
        logs.append(log_weight(tuple(literals), {}) + sum(map(loop_weight, loops)))
    total = float(np.exp(log_sum(np.array(logs))))
    if not 1 - _OFF - unexplored <= total <= 1 + _OFF:
        raise ExactRefused(f"a loop of the mechanism was read wrongly: its runs have probability {total:.9g} together, not 1")


def _key(steps: Sequence[Step]) -> tuple[int, ...]:
    return tuple(map(id, steps))
