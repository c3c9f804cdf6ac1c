"""The loss that single outputs show: numbers that come about with positive probability, where the rest is out of reach.

A clipped count is 0 in many runs, and what is computed from clipped counts is then a number of its own: the odds ratio of four
counts that are all clipped, a chi-square statistic of empty bins. Outputs with a density are all told apart as "some other
number" (they are a given number with probability zero), which is post-processing: the loss that is left is a lower end. Where
it is as large as the loss of the noisy values that the outputs are computed from, it is the loss.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from dpest.errors import DpestError, ExactRefused
from dpest.exact.answer import aligned_comparison, check_cancelled, collector_paused, compared_again, pair_result
from dpest.exact.inference.choices import CaseRun, Contradiction, Decisions
from dpest.exact.inference.paths import trace
from dpest.exact.inference.separate import settled_value
from dpest.exact.processed import data_processing_bound
from dpest.inputs.pairs import Pair
from dpest.lang.nodes import is_node
from dpest.numerics.effort import limited_effort
from dpest.numerics.rationals import is_number
from dpest.results import Evidence, Result
from dpest.run.settings import Sides, sides_kept
from dpest.trace.explore import Path, Trace
from dpest.trace.limits import Limits
from dpest.trace.literal import narrowed
from dpest.trace.outputs import Flat

_MOST_EVALUATIONS, _MOST_STEPS = 10_000_000, 1_000_000  # for one pair: a few seconds; the alternative is a sampled answer
_LIMITS = Limits(paths=500, work=50_000)
_MOST_CASES = 5_000  # of one path: a dozen clipped values
_SAME = 1e-9  # relative: constants so close are one number, which the program rounds in different ways
_REACHED = 1e-9  # relative: what a lower end may miss of the bound


def shown_by_atoms(mechanism: Callable[..., Any], pairs: Sequence[Pair], params: Mapping[str, Any], reason: str) -> Result | None:
    """The exact answer where single outputs show as much as the noisy values inside can tell; None where they do not."""
    start = time.perf_counter()
    found = []
    with suppress(DpestError, OverflowError, RecursionError), collector_paused():
        with limited_effort(_MOST_EVALUATIONS * len(pairs), _MOST_STEPS * len(pairs)), sides_kept(Sides.APART):
            for pair in pairs:
                left, right = (with_atoms_only(trace(mechanism, x, params, _LIMITS)) for x in (pair.left, pair.right))
                compared = aligned_comparison(left, right)
                check_cancelled((left, right), compared)
                found.append(pair_result(pair, compared, compared_again(mechanism, pair, params)))
        bound = data_processing_bound(mechanism, pairs, params)
        if bound is None or max(p.lower for p in found) < max(bound.uppers) * (1 - _REACHED):
            return None
        shown = [
            replace(p, lower=min(p.lower, u), epsilon=min(p.epsilon, u), upper=u)
            for p, u in zip(found, bound.uppers, strict=True)
        ]
        worst = max(shown, key=lambda p: p.epsilon)
        return Result(
            epsilon=worst.epsilon,
            lower=max(p.lower for p in shown),
            upper=max(p.upper for p in shown),
            method="exact",
            evidence=Evidence.EXACT,
            confidence=None,
            pair=worst.pair,
            witness=worst.witness,
            reason="exact: an output of positive probability shows all that the noisy values inside can tell",
            pairs=tuple(shown),
            mechanism=getattr(mechanism, "__name__", "mechanism"),
            seconds=time.perf_counter() - start,
            notes=(f"delta(eps) is out of reach: {reason}",),
        )
    return None


def with_atoms_only(traced: Trace) -> Trace:
    """The trace with a mark in place of every number that has a density."""
    paths = tuple(new for path in traced.paths for new in _cases(path))
    return replace(traced, paths=_joined(paths))


def _cases(path: Path) -> Iterator[Path]:
    """The path in every way in which its choices go."""
    base = narrowed({}, path.conditions)
    stack = [Decisions(path.conditions, base, {})]
    for _ in range(_MOST_CASES):
        if not stack:
            return
        run = CaseRun(stack.pop(), stack)
        with suppress(Contradiction):
            leaves = tuple(settled_value(x, run) if is_node(x) else x for x in path.output.leaves)
            yield replace(path, output=Flat(path.output.structure, leaves), conditions=run.literals)
    raise ExactRefused(f"an output with more than {_MOST_CASES} cases")


def _joined(paths: tuple[Path, ...]) -> tuple[Path, ...]:
    """The paths with one number in place of those that rounding alone tells apart."""
    numbers = sorted({float(x) for p in paths for x in p.output.leaves if is_number(x)})
    named: dict[float, float] = {}
    last = math.nan
    for x in numbers:
        last = last if abs(x - last) <= _SAME * max(1.0, abs(x)) else x
        named[x] = last
    return tuple(
        replace(p, output=Flat(p.output.structure, tuple(named[float(x)] if is_number(x) else x for x in p.output.leaves)))
        for p in paths
    )
