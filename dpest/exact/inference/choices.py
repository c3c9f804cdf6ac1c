"""The way to one case of some outputs: the conditions that were taken, and which way each choice went."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpest.lang.nodes import Where
from dpest.numerics.effort import spend_steps
from dpest.trace.literal import Bounds, Literal, implied, narrowed, open_options
from dpest.trace.resolve import decide

# Ways of one choice up to which it is noted which was taken: those of a maximum are asked for again and again, while lists of
# all points of a draw are made anew each time, and would only be kept.
_FEW_OPTIONS = 32


@dataclass(frozen=True, eq=False)
class Decisions:
    """The conditions that lead to a case, and what was decided on the way, by the id of what was asked (which is kept)."""

    literals: tuple[Literal, ...]
    bounds: Bounds
    known: Mapping[int, tuple[Any, int]]


class Contradiction(Exception):
    """The conditions taken so far cannot hold together."""


class CaseRun:
    """Decides inequalities one way and queues the others."""

    def __init__(self, taken: Decisions, pending: list[Decisions]) -> None:
        self.literals, self.bounds, self.known, self.pending = taken.literals, taken.bounds, taken.known, pending

    @property
    def taken(self) -> Decisions:
        """What was decided so far."""
        return Decisions(self.literals, self.bounds, self.known)

    def side(self, choice: Where) -> Any:
        """The value that a choice comes down to; once it is decided, all leaves that hang on it follow."""
        condition = choice.condition
        found = self.known.get(id(condition))
        if found is None:
            found = condition, decide(condition, self)
            self.known = {**self.known, id(condition): found}
        return choice.yes if found[1] else choice.no

    def __call__(self, literal: Literal) -> bool:
        spend_steps(1 + len(self.literals) // 8)
        known = implied(literal, self.bounds)
        if known is not None:
            return known
        self.pending.append(self._with((literal.negated(),), self.known))
        self._take((literal,))
        return True

    def choose(self, options: Sequence[tuple[Literal, ...]]) -> int:
        found = self.known.get(id(options))
        if found is not None:
            return found[1]
        spend_steps(1 + len(self.literals) // 8)
        chosen, left = open_options(options, self.bounds)
        if chosen is not None:
            return chosen
        if not left:
            raise Contradiction
        few = len(options) <= _FEW_OPTIONS
        for i, new in left[1:]:
            self.pending.append(self._with(new, {**self.known, id(options): (options, i)} if few else self.known))
        self.known = {**self.known, id(options): (options, left[0][0])} if few else self.known
        self._take(left[0][1])
        return left[0][0]

    def _with(self, new: tuple[Literal, ...], known: Mapping[int, tuple[Any, int]]) -> Decisions:
        return Decisions((*self.literals, *new), narrowed(self.bounds, new), known)

    def _take(self, new: tuple[Literal, ...]) -> None:
        self.literals, self.bounds = (*self.literals, *new), narrowed(self.bounds, new)
