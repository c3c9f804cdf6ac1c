"""Outputs that the conditions of a path leave no choice: a random value that has become a constant there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpest.errors import DpestError
from dpest.lang.dist import RUN, Dist
from dpest.lang.nodes import Linear, Node, draws_of, is_node
from dpest.lang.points import has_listed_points, plain_point
from dpest.numerics.setting import Setting
from dpest.trace.literal import Bounds, Literal, implied, narrowed, open_options
from dpest.trace.outputs import Flat
from dpest.trace.pinning import pinned
from dpest.trace.resolve import decide


class _Open(Exception):
    """The conditions do not decide this."""


class _Known:
    """A run that decides what the conditions of a path imply, and nothing else."""

    def __init__(self, bounds: Bounds) -> None:
        self.bounds = bounds

    def draw(self, law: Any) -> Any:
        raise _Open

    def decide(self, condition: Node) -> bool:
        return decide(condition, self)

    def __call__(self, literal: Literal) -> bool:
        known = implied(literal, self.bounds)
        if known is None:
            raise _Open
        return known

    def choose(self, options: Sequence[tuple[Literal, ...]]) -> int:
        chosen, _ = open_options(options, self.bounds)
        if chosen is None:
            raise _Open
        return chosen


def settled(output: Flat, conditions: Sequence[Literal]) -> Flat:
    """The output with constants where the conditions of its path fix a discrete value to one point."""
    fixed = {id(d) for x in conditions for d, _ in x.terms if d.law.discrete}
    if not fixed or not any(is_node(x) for x in output.leaves):
        return output
    bounds = narrowed({}, conditions)
    return Flat(output.structure, tuple(_constant(x, bounds, fixed) if is_node(x) else x for x in output.leaves))


def _constant(leaf: Node, bounds: Bounds, fixed: set[int]) -> Any:
    draws = draws_of(leaf)
    if not draws or not all(d.law.discrete and id(d) in fixed for d in draws):
        return leaf
    known = _Known(bounds)
    try:
        with Setting(RUN, known):
            # Numbers as the program computes them: 3 * (0.1 * 3) is not the double next to nine tenths.
            listed = isinstance(leaf, Linear) and has_listed_points(leaf)
            number = pinned(leaf, known, "an output") if listed else plain_point(Dist(leaf))
    except (_Open, DpestError):
        return leaf
    return leaf if number is None else number
