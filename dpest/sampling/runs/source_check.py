"""Vectorised sampling compared with the program: a sample of one row must be what the author's own function returns."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpest.lang.nodes import Draw, Node, draws_of, is_node
from dpest.laws.law import Law
from dpest.numerics.rationals import exact
from dpest.run.streams import stream
from dpest.sampling.runs.rows import Rows
from dpest.sampling.runs.sources import PathTree, SampleRun, Spot
from dpest.trace.against_program import (
    Checks,
    Rounds,
    RunProgram,
    compare_leaves,
    mismatch,
    put,
    run_plainly,
)
from dpest.trace.outputs import Flat
from dpest.trace.plain_run import SEED, NumberSource, PlainRun, draws_in_words, shown_output
from dpest.trace.replay import Unusual
from dpest.trace.valuation import Value


def check_sampling(program: RunProgram, seconds: float, together: bool = False) -> int:
    """The most decisions of one run; raises `TraceMismatch` where rows are not what the program returns."""
    source = NumberSource(stream(SEED))
    rounds = Rounds(Checks(seconds))
    first: tuple[PlainRun, Flat] | None = None
    most = 0
    for _ in rounds:
        plain = PlainRun(source)
        output = run_plainly(program, plain)
        run = _OneRow(plain, together)
        rounds.compared += _compare(program, run, output)
        most = max(most, run.called)
        first = first or (plain, output)
    if first is not None:
        _repeat(program, source, *first)
    return most


def _compare(program: RunProgram, run: _OneRow, output: Flat) -> bool:
    """Whether one row, with the numbers of a plain run, could be compared with what the program returned on them."""
    plain = run.plain
    with np.errstate(all="ignore"):
        expected = program(run)
        values = [run.leaf(x) for x in expected.leaves]
    if plain.outside.unclear:
        return False
    if run.made != len(plain.drawn):
        raise mismatch(plain, output, f"{run.made} draws, and the program made {len(plain.drawn)}")
    compare_leaves(expected, values, output, plain)
    return True


def _repeat(program: RunProgram, source: NumberSource, first: PlainRun, output: Flat) -> None:
    """The first run once more, after all others: a state that has settled since then shows here."""
    again = PlainRun(source, script=first.drawn)
    again.outside = first.outside  # random values from before the run keep theirs
    repeated = run_plainly(program, again)
    before = shown_output(first, output)
    if again.drawn != first.drawn or shown_output(again, repeated) != before:
        raise mismatch(again, repeated, f"what came from {draws_in_words(first.drawn)} at first, {before}")


class _OneRow(SampleRun):
    """A run on stand-ins over a single row, in which every draw has the number that a plain run drew."""

    def __init__(self, plain: PlainRun, together: bool = False) -> None:
        super().__init__(Rows.start(1, stream(SEED)), Spot(), [], PathTree(), together)
        self.plain = plain
        self.made = 0

    def draw(self, law: Law) -> Node:
        """A stand-in, with the number that the program drew here."""
        node = super().draw(law)
        assert isinstance(node, Draw)
        if all(self.plain.outside.holds(c) == way for c, way in self.under):
            put(self.plain.outside, node, self.made, self.plain)
            self.made += 1
        return node

    def decide(self, condition: Node) -> bool:
        """Which way the condition goes on the row."""
        if self.under:
            raise Unusual
        self._place(condition)
        self.plain.outside.holds(condition)  # notes whether rounding may turn it
        return super().decide(condition)

    def leaf(self, x: Any) -> Any:
        """An output leaf as the row has it, with the rounding that it may have."""
        x = self.settled(x)
        if not is_node(x):
            return x
        self._place(x)
        number = self.rows.value(x)[0].item()
        reference = self.plain.outside.leaf(x)
        if not isinstance(reference, Value):
            return number
        return Value(exact(number) if math.isfinite(number) else number, reference.size, reference.smooth)

    def _place(self, node: Node) -> None:
        for draw in draws_of(node):
            self.rows.put(draw, float(self.plain.outside.number(draw).number))
