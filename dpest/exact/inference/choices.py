"""The way to one case of some outputs: the conditions that were taken, and which way each choice went."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpest.lang.nodes import Where
from dpest.numerics.effort import spend_steps
from dpest.trace.literal import Bounds, Literal, implied, narrowed, open_options
from dpest.trace.resolve import decide


@dataclass(frozen=True, eq=False)
class Decisions:
    """The conditions that lead to a case, and which way the choices went that they decide, by the id of the choice."""

    literals: tuple[Literal, ...]
    bounds: Bounds
    sides: Mapping[int, bool]


class Contradiction(Exception):
    """The conditions taken so far cannot hold together."""


class Fork:
    """Decides inequalities one way and queues the others."""

    def __init__(self, taken: Decisions, pending: list[Decisions]) -> None:
        self.literals, self.bounds, self.sides, self.pending = taken.literals, taken.bounds, taken.sides, pending

    def side(self, choice: Where) -> Any:
        """The value that a choice comes down to; once it is decided, all leaves that hang on it follow."""
        key = id(choice.condition)
        known = self.sides.get(key)
        if known is None:
            known = decide(choice.condition, self)
            self.sides = {**self.sides, key: known}
        return choice.yes if known else choice.no

    def __call__(self, literal: Literal) -> bool:
        spend_steps(1 + len(self.literals) // 8)
        known = implied(literal, self.bounds)
        if known is not None:
            return known
        self.pending.append(self._with((literal.negated(),)))
        self._take((literal,))
        return True

    def choose(self, options: Sequence[tuple[Literal, ...]]) -> int:
        spend_steps(1 + len(self.literals) // 8)
        chosen, left = open_options(options, self.bounds)
        if chosen is not None:
            return chosen
        if not left:
            raise Contradiction
        self.pending.extend(self._with(new) for _, new in left[1:])
        self._take(left[0][1])
        return left[0][0]

    def _with(self, new: tuple[Literal, ...]) -> Decisions:
        return Decisions((*self.literals, *new), narrowed(self.bounds, new), self.sides)

    def _take(self, new: tuple[Literal, ...]) -> None:
        self.literals, self.bounds = (*self.literals, *new), narrowed(self.bounds, new)
