"""How the exact engine is asked for the loss of one pair in a search: at a glance, or in full.

A search from below needs no upper end of a pair's loss. At a glance, limits and a few outputs are looked at, and nothing is
enclosed: what is found is shown, and is mostly all there is; it takes a twentieth of the time.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

from dpest.exact.answer import compared_again, estimate_exactly, pair_result
from dpest.exact.inference.paths import trace
from dpest.exact.loss.blocks import Measures
from dpest.exact.loss.compare import compare
from dpest.exact.proof.concrete import separate_forms, trace_of_form
from dpest.exact.proof.upper import ProofQuestion, Upper
from dpest.exact.proof.worst import NamedPair
from dpest.inputs.pairs import Pair
from dpest.numerics.rationals import exact
from dpest.results import PairResult
from dpest.trace.explore import Trace

LossOf: TypeAlias = Callable[[Pair], PairResult]

_NO_UPPER_END = (math.inf, math.inf)  # no loss is worth enclosing
_KEPT_TRACES = 64  # of inputs that come again in other pairs


def in_full(question: ProofQuestion) -> LossOf:
    """The exact loss of a pair, over all outputs."""

    def ask(pair: Pair) -> PairResult:
        (found,) = estimate_exactly(question.mechanism, [pair], question.params).pairs
        return found

    return ask


def at_a_glance(question: ProofQuestion) -> LossOf:
    """A loss that a pair shows, over all outputs."""
    traces: dict[str, Trace] = {}
    mechanism, params = question.mechanism, question.params

    def traced(data: Any) -> Trace:
        key = repr(data)
        if key not in traces:
            if len(traces) >= _KEPT_TRACES:
                traces.clear()
            traces[key] = trace(mechanism, data, params)
        return traces[key]

    def ask(pair: Pair) -> PairResult:
        found = compare(traced(pair.left), traced(pair.right), worth=_NO_UPPER_END)
        return pair_result(pair, found, compared_again(mechanism, pair, params))

    return ask


class Forms:
    """The loss of a named pair on outputs of the form that it was named for: the other runs need not be looked at."""

    def __init__(self, question: ProofQuestion, upper: Upper) -> None:
        self.question, self.traced = question, upper.traced
        programs = self.traced.programs
        self.able = not self.traced.symbols.derived and all(separate_forms(p) for p in programs)
        self.measures = Measures()
        self.other = at_a_glance(question)

    def asked(self, named: NamedPair) -> LossOf:
        """How a loss that a named pair shows is found."""
        if not self.able or named.key is None:
            return self.other

        def ask(pair: Pair) -> PairResult:
            case = named.case
            sides = [
                trace_of_form(self.traced.programs[p], named.key, {-1 - i: exact(x) for i, x in enumerate(numbers)})
                for p, numbers in zip((case.source, case.target), named.numbers, strict=True)
            ]
            if not all(side.paths for side in sides):  # no output of the form is possible there
                return self.other(pair)
            if case.source > case.target:  # a row is added: the pair is still shown with the longer input first
                sides.reverse()
            again = compared_again(self.question.mechanism, pair, self.question.params)
            return pair_result(pair, compare(sides[0], sides[1], self.measures, worth=_NO_UPPER_END), again)

        return ask
