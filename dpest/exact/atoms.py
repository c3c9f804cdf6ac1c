"""The loss that single outputs show: numbers that come about with positive probability, where the rest is out of reach.

A clipped count is 0 in many runs, and what is computed from clipped counts is then a number of its own: the odds ratio of four
counts that are all clipped, a chi-square statistic of empty bins. Outputs with a density are all told apart as "some other
number" (they are a given number with probability zero), which is post-processing: the loss that is left is a lower end. Where
it is as large as the loss of the noisy values that the outputs are computed from, it is the loss.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any

from dpest.errors import DpestError, ExactRefused
from dpest.exact.answer import aligned_comparison, check_cancelled, collector_paused, compared_again, pair_result
from dpest.exact.inference.choices import CaseRun, Contradiction, Decisions
from dpest.exact.inference.crossing import Vanishing, vanishings
from dpest.exact.inference.paths import trace
from dpest.exact.inference.separate import is_positive, settled_value
from dpest.exact.loss.opened import affine_only
from dpest.exact.processed import data_processing_bound
from dpest.inputs.pairs import Pair
from dpest.lang.nodes import Draw, is_node, linear
from dpest.numerics.effort import limited_effort
from dpest.numerics.rationals import ZERO, Rational, is_number
from dpest.results import Direction, Evidence, PairResult, Result, Witness
from dpest.run.settings import Sides, sides_kept
from dpest.trace.columns import constant_key
from dpest.trace.explore import Path, Trace
from dpest.trace.limits import Limits
from dpest.trace.literal import Literal, narrowed
from dpest.trace.outputs import Flat

_MOST_EVALUATIONS, _MOST_STEPS = 30_000_000, 1_000_000  # for one pair: a few seconds; the alternative is a sampled answer
SOME_NUMBER = "some other number"
_LIMITS = Limits(paths=500, work=50_000)
_MOST_CASES = 5_000  # of one path: a dozen clipped values
_MOST_CUTS = 4  # two outputs with noise of their own, under both inputs
_ROUNDING = 1e-14  # relative, of a difference of log densities
_SAME = 1e-9  # relative: constants so close are one number, which the program rounds in different ways
_REACHED = 1e-9  # relative: what a lower end may miss of the bound


def shown_by_atoms(mechanism: Callable[..., Any], pairs: Sequence[Pair], params: Mapping[str, Any]) -> Result | None:
    """The exact answer where single outputs show as much as the noisy values inside can tell; None where they do not."""
    start = time.perf_counter()
    found = []
    with suppress(DpestError, OverflowError, RecursionError), collector_paused():
        with limited_effort(_MOST_EVALUATIONS * len(pairs), _MOST_STEPS * len(pairs)), sides_kept(Sides.APART):
            for pair in pairs:
                sides = [trace(mechanism, x, params, _LIMITS) for x in (pair.left, pair.right)]
                again = compared_again(mechanism, pair, params)
                compared = aligned_comparison(*with_atoms_only(*sides))
                check_cancelled(sides, compared)
                found.append(_with_limit(pair_result(pair, compared, again), *map(vanishings, sides)))
        bound = data_processing_bound(mechanism, pairs, params)
        if bound is None or not all(p.lower <= u * (1 + _REACHED) for p, u in zip(found, bound.uppers, strict=True)):
            return None
        if max(p.lower for p in found) < max(bound.uppers) * (1 - _REACHED):
            return None
        found = [
            replace(p, lower=min(p.lower, u), epsilon=min(p.epsilon, u), upper=u)
            for p, u in zip(found, bound.uppers, strict=True)
        ]
        worst = max(found, key=lambda p: p.epsilon)
        return Result(
            epsilon=worst.epsilon,
            lower=max(p.lower for p in found),
            upper=max(p.upper for p in found),
            method="exact",
            evidence=Evidence.EXACT,
            confidence=None,
            pair=worst.pair,
            witness=worst.witness,
            reason="exact: an output of positive probability shows all that the noisy values inside can tell",
            pairs=tuple(found),
            mechanism=getattr(mechanism, "__name__", "mechanism"),
            seconds=time.perf_counter() - start,
            notes=("what an output with a density shows is no more than that; delta(eps) is out of reach",),
        )
    return None


def _with_limit(shown: PairResult, left: Sequence[Vanishing], right: Sequence[Vanishing]) -> PairResult:
    """The loss next to a place where all that an output is made of vanishes, if it is the larger one."""
    for one, other in itertools.product(left, right):
        limit = one.against(other)
        if limit is None or abs(limit) * (1 - _ROUNDING) <= shown.lower:
            continue
        direction = Direction.LEFT if limit > 0 else Direction.RIGHT
        logs = one.log_density, other.log_density
        witness = Witness(shown.pair, direction, one.event, "density", *logs, limit=True, supremum=abs(limit))
        lower = abs(limit) * (1 - _ROUNDING)
        shown = replace(shown, epsilon=abs(limit), lower=lower, forward=limit, backward=-limit, witness=witness)
    return shown


def with_atoms_only(left: Trace, right: Trace) -> tuple[Trace, Trace]:
    """The traces with marks in place of numbers that have a density: where they lie among those to which noise is added."""
    settled = [tuple(new for path in t.paths for new in _cases(path)) for t in (left, right)]
    leaves = [x for cases in settled for case in cases for x in case.path.output.leaves]
    named = _named(sorted({float(x) for x in leaves if is_number(x)}))
    marking = _Marking(named, _cuts(leaves), [case for cases in settled for case in cases])
    one, two = (replace(t, paths=marking.of(cases)) for t, cases in zip((left, right), settled, strict=True))
    return one, two


@dataclass(frozen=True)
class _Settled:
    """A path whose choices are made, and which of its values with a density are positive, where that is known."""

    path: Path
    signs: tuple[bool | None, ...]

    @property
    def cuts(self) -> tuple[_Cut, ...]:
        """How finely each value can be cut: noise alone anywhere, others at zero where their sign is known."""
        known = zip(self.path.output.leaves, self.signs, strict=True)
        return tuple(
            _Cut.ANYWHERE if is_node(x) and affine_only(x) else _Cut.NOWHERE if s is None else _Cut.AT_ZERO for x, s in known
        )


class _Cut(IntEnum):
    NOWHERE = 0
    AT_ZERO = 1
    ANYWHERE = 2


def _cases(path: Path) -> Iterator[_Settled]:
    """The path in every way in which its choices go."""
    base = narrowed({}, path.conditions)
    stack = [Decisions(path.conditions, base, {})]
    for _ in range(_MOST_CASES):
        if not stack:
            return
        run = CaseRun(stack.pop(), stack)
        with suppress(Contradiction):
            leaves = tuple(settled_value(x, run) if is_node(x) else x for x in path.output.leaves)
            signs = tuple(is_positive(x, run) if is_node(x) and not affine_only(x) else None for x in leaves)
            yield _Settled(replace(path, output=Flat(path.output.structure, leaves), conditions=run.literals), signs)
    raise ExactRefused(f"an output with more than {_MOST_CASES} cases")


def _cuts(leaves: Sequence[Any]) -> tuple[Rational, ...]:
    """The numbers to which noise is added in outputs; none where they are many."""
    found = tuple(sorted({linear(x).constant for x in leaves if is_node(x) and affine_only(x)}))
    return found if len(found) <= _MOST_CUTS else ()


class _Marking:
    """Names for numbers, and marks for values with a density, that depend on the output alone."""

    def __init__(self, named: Mapping[float, float], cuts: tuple[Rational, ...], cases: Sequence[_Settled]) -> None:
        self._named, self._numbers = named, cuts
        # The single numbers in an output tell which cases lead to it: a value is cut as finely as all of them know.
        self._cuts: dict[Any, tuple[_Cut, ...]] = {}
        for case in cases:
            shape = self._shape(case.path)
            self._cuts[shape] = tuple(map(min, self._cuts.get(shape, case.cuts), case.cuts))

    def _shape(self, path: Path) -> Any:
        return path.output.structure, tuple(None if is_node(x) else constant_key(self._name(x)) for x in path.output.leaves)

    def _name(self, x: Any) -> Any:
        return self._named[float(x)] if is_number(x) else x

    def of(self, cases: Sequence[_Settled]) -> tuple[Path, ...]:
        """The paths with marks; each cell between cuts is a path of its own."""
        out: list[Path] = []
        for case in cases:
            path = case.path
            found = zip(path.output.leaves, case.signs, self._cuts[self._shape(path)], strict=True)
            options = [self._cells(x, sign, cut) if is_node(x) else [(self._name(x), ())] for x, sign, cut in found]
            if len(out) + math.prod(map(len, options)) > _MOST_CASES:
                raise ExactRefused(f"an output with more than {_MOST_CASES} cases")
            for combination in itertools.product(*options):
                flat = Flat(path.output.structure, tuple(x for x, _ in combination))
                more = tuple(c for _, own in combination for c in own)
                out.append(replace(path, output=flat, conditions=(*path.conditions, *more)))
        return tuple(out)

    def _cells(self, x: Any, sign: bool | None, cut: _Cut) -> list[tuple[str, tuple[Literal, ...]]]:
        """Where a value with a density may lie, and the conditions for that."""
        if cut is _Cut.NOWHERE:
            return [(SOME_NUMBER, ())]
        if sign is not None:
            return [(f"{SOME_NUMBER}, {int(sign)}", ())]
        numbers = self._numbers if cut is _Cut.ANYWHERE else (ZERO,)
        value = linear(x)
        terms = tuple((n, c) for n, c in value.terms if isinstance(n, Draw))
        above = [Literal(terms, value.constant - t) for t in numbers]
        ends = [((*above[i - 1 : i],), (*above[i : i + 1],)) for i in range(len(numbers) + 1)]
        return [(f"{SOME_NUMBER}, {i}", (*low, *(h.negated() for h in high))) for i, (low, high) in enumerate(ends)]


def _named(numbers: Sequence[float]) -> dict[float, float]:
    """One number for those that rounding alone tells apart."""
    named: dict[float, float] = {}
    last = math.nan
    for x in numbers:
        last = last if abs(x - last) <= _SAME * max(1.0, abs(x)) else x
        named[x] = last
    return named
