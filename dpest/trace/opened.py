"""A trace in which conditions out of reach are released instead of decided.

An `if` on a value that inference does not cover goes both ways, and the condition counts as a part of the output. What the
program returns follows from that: its loss is at most the loss of such a trace.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dpest.errors import BudgetExceeded, ExactRefused
from dpest.lang.generators.swap import standing_in
from dpest.lang.nodes import Compare, Node, Relation, scaled
from dpest.lang.signature import making
from dpest.lang.spans import is_decided, span
from dpest.trace.execute import execute
from dpest.trace.explore import LoopWeight, Trace, explored
from dpest.trace.forks import TraceRun
from dpest.trace.limits import Limits
from dpest.trace.outputs import Flat
from dpest.trace.seeds_kept import check_seeds_kept

# A bound is an extra beside a sampled answer: it must not take longer than that.
LIMITS = Limits(paths=2_000, work=100_000)


def trace_opened(
    mechanism: Callable[..., Any], data: Any, params: Mapping[str, Any], loop_weight: LoopWeight, *, entirely: bool = False
) -> Trace:
    """Every path of the mechanism, conditions out of reach among its outputs; `entirely`: all conditions."""

    def program(run: Any) -> Flat:
        return execute(run, mechanism, data, params)

    with standing_in(mechanism, data, params) as held:
        traced = explored(program, LIMITS, loop_weight, EntirelyOpenRun if entirely else OpenRun)
    check_seeds_kept(held.secret, traced.paths)
    return traced


class OpenRun(TraceRun):
    """A run that goes both ways at a condition that cannot be decided, and releases it."""

    def settle(self, condition: Node) -> bool:
        """Which way a new condition goes; either way where nothing tells."""
        try:
            return super().settle(condition)
        except BudgetExceeded:
            raise
        except ExactRefused:
            return self.go_both_ways(condition)

    def go_both_ways(self, condition: Node) -> bool:
        """Releases a condition: it holds on this run, and not on another one."""
        self.forks += 1
        other = self.branch()
        other.outcomes.append(False)
        other.opened = (*self.opened, (condition, False))
        self.pending.append(other)
        self.opened = (*self.opened, (condition, True))
        return True

    def released(self, output: Flat) -> Flat:
        """The output, and every condition that was not decided."""
        if not self.opened:
            return output
        outcomes = tuple(outcome for _, outcome in self.opened)
        return Flat(("opened", outcomes, output.structure), (*output.leaves, *(condition for condition, _ in self.opened)))

    def look_back(self, condition: Node) -> None:
        """A loop whose conditions are released has no rounds that are alike."""


_MOST_OPENED = 6  # conditions of one run: at twice as many there are thousands of runs, and loops have no end


class EntirelyOpenRun(OpenRun):
    """A run that releases every condition: what functions of noise decide that are out of reach, its values decide."""

    def settle(self, condition: Node) -> bool:
        """Either way, unless supports or what was released before decide it."""
        if isinstance(condition, Compare) and is_decided(condition.relation, span(condition.value)) is not None:
            return bool(is_decided(condition.relation, span(condition.value)))
        if len(self.opened) >= _MOST_OPENED:
            raise BudgetExceeded("more conditions than are worth releasing")
        for earlier, outcome in self.opened:
            found = _implied(earlier, outcome, condition)
            if found is not None:
                return found
        return self.go_both_ways(condition)


_SIGNS = {Relation.GE: frozenset((0, 1)), Relation.GT: frozenset((1,)), Relation.EQ: frozenset((0,))}


def _implied(earlier: Any, outcome: bool, condition: Any) -> bool | None:
    """Whether a comparison with zero follows from one of the same value, or of its negative; None where it does not."""
    if not isinstance(earlier, Compare) or not isinstance(condition, Compare):
        return None
    signs = _SIGNS[earlier.relation] if outcome else frozenset((-1, 0, 1)) - _SIGNS[earlier.relation]
    for sign in (1, -1):
        if making(condition.value) == making(scaled(earlier.value, sign)):
            holds = {sign * s in _SIGNS[condition.relation] for s in signs}
            return holds.pop() if len(holds) == 1 else None
    return None
