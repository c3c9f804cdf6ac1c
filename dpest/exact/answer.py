"""Answers an estimate question exactly: trace both inputs of each pair, compare, and say what was found."""

from __future__ import annotations

import gc
import math
import pickle
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cache
from typing import Any

from dpest.errors import BudgetExceeded, ExactRefused, MechanismError
from dpest.exact.inference.paths import trace
from dpest.exact.loss.blocks import Measures
from dpest.exact.loss.compare import Comparison, Loss, OtherProof, below, compare, is_open
from dpest.exact.loss.profile import ComparedProfile
from dpest.exact.loss.undone import undone
from dpest.exact.loss.witness import describe
from dpest.inputs.pairs import Pair
from dpest.numerics.effort import limited_effort
from dpest.results import Direction, Evidence, PairResult, Result, Witness
from dpest.run.settings import Sides, keeping_sides, sides_kept
from dpest.trace.against_program import FEWER_RUNS, LEAST_RUNS, SECONDS, Checks
from dpest.trace.coins import functions_kept
from dpest.trace.execute import is_rewritten
from dpest.trace.explore import Trace
from dpest.trace.images import TwoForms
from dpest.trace.limits import LIMITS, Limits

# Evaluations of integrands for one pair: about half a minute on one core, and a hundred times what the gallery needs.
_MOST_EVALUATIONS = 150_000_000
# Steps of ten microseconds for one pair where sampling is the alternative: 20 s, a few times what 10^6 samples take. Two sparse
# vectors side by side, the longest of the gallery, need a fifth of it; at twice of it programs that are refused in the end are
# waited for that much longer.
_MOST_STEPS = 2_000_000
# Paths that are followed one by one after inference failed with the sides of `if` statements kept together.
_LIMITS_APART = replace(LIMITS, paths=2_000)


def estimate_exactly(
    mechanism: Callable[..., Any],
    pairs: Sequence[Pair],
    params: Mapping[str, Any],
    *,
    patient: bool = True,
    cheaper: Callable[[], Result | None] = lambda: None,
) -> Result:
    """The largest loss over the pairs; raises `ExactRefused`, with the reason, where the structure is not covered.

    Where another method waits, `patient` is False, and the work is limited to about what that method takes. Once all the
    work that is allowed was done, `cheaper` may have an answer before that is done again in another way.
    """
    seen: list[Trace] = []
    steps = None if patient else _MOST_STEPS * len(pairs)
    with collector_paused(), _within_doubles():
        def in_way(kept: Sides, limits: Limits, evaluations: int, steps: int | None) -> Result:
            with sides_kept(kept), limited_effort(evaluations * len(pairs), steps):
                return _estimate(mechanism, pairs, params, limits, [])

        def in_the_other_way(evaluations: int = _MOST_EVALUATIONS, steps: int | None = steps) -> Result:
            # What the sides of its `if` statements have in common may be beyond inference, and each path within it; or else
            # paths that are too many together may be independent choices, which stay apart where sides are kept together.
            kept, limits = (Sides.APART, _LIMITS_APART) if any(t.together for t in seen) else (Sides.TOGETHER, LIMITS)
            return in_way(kept, limits, evaluations, steps)

        def by_states() -> Result:
            return in_way(Sides.BY_STATES, LIMITS, _MOST_EVALUATIONS, steps)

        try:
            with limited_effort(_MOST_EVALUATIONS * len(pairs), steps):
                found = _estimate(mechanism, pairs, params, LIMITS, seen)
        except (ExactRefused, RecursionError) as refusal:
            if isinstance(refusal, BudgetExceeded) and (shown := cheaper()) is not None:
                return shown
            if not _has_another_way(mechanism, seen):
                raise
            for attempt in (in_the_other_way, by_states):
                try:
                    return attempt()
                except (ExactRefused, MechanismError, RecursionError) as later:
                    told = refusal if isinstance(refusal, ExactRefused) else later
            raise told from None
        if len(pairs) == 1 and _is_wide(found) and _has_another_way(mechanism, seen):
            with suppress(ExactRefused, MechanismError, RecursionError):
                return _narrower(found, in_the_other_way(_MOST_EVALUATIONS // 10, _MOST_STEPS // 16))
        seen.clear()  # before the collector is back: what dies by itself need not be looked at
        return found


def _has_another_way(mechanism: Callable[..., Any], seen: Sequence[Trace]) -> bool:
    """Whether the sides of `if` statements were kept together and need not be, or the other way round."""
    return bool(seen) and keeping_sides() is Sides.AS_NEEDED and is_rewritten(mechanism) and any(map(_forked, seen))


_WIDE = 1e-4  # relative: what an answer calls exact is narrower than that


def _is_wide(found: Result) -> bool:
    return math.isfinite(found.lower) and found.upper - found.lower > _WIDE * max(1.0, found.lower)


def _narrower(first: Result, second: Result) -> Result:
    """Of two answers to one question, each with a bracket that holds, the one that says more."""
    return second if second.upper - second.lower < first.upper - first.lower else first


@contextmanager
def _within_doubles() -> Iterator[None]:
    """Refuses numbers that rationals hold and doubles do not: the program's own arithmetic has infinity or an error there."""
    try:
        yield
    except OverflowError as error:
        raise ExactRefused(
            "a number on the way is beyond the range of floating-point numbers (1e308): measure the data and the noise in other "
            "units"
        ) from error


def _forked(traced: Trace) -> bool:
    """Whether a trace has sides of `if` statements, which may be kept together or apart."""
    return traced.together or len(traced.paths) > 1


@contextmanager
def collector_paused() -> Iterator[None]:
    """No garbage collection meanwhile: graphs hold no cycles, and passes over their many small objects double the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _estimate(
    mechanism: Callable[..., Any], pairs: Sequence[Pair], params: Mapping[str, Any], limits: Limits, seen: list[Trace]
) -> Result:
    """The answer with functions beside uniform draws where they serve: a sampler releases the noise, others the uniform draw."""
    try:
        return _estimated(mechanism, pairs, params, limits, seen)
    except TwoForms as refusal:
        with suppress(ExactRefused, MechanismError), functions_kept():
            return _estimated(mechanism, pairs, params, limits, seen)
        raise refusal


def _estimated(
    mechanism: Callable[..., Any], pairs: Sequence[Pair], params: Mapping[str, Any], limits: Limits, seen: list[Trace]
) -> Result:
    start = time.perf_counter()
    measures = Measures()
    traces: dict[bytes, Trace] = {}
    found: list[tuple[PairResult, Comparison]] = []
    paths = 0
    for pair in pairs:
        checks = Checks(SECONDS / (2 * len(pairs)), FEWER_RUNS if found else LEAST_RUNS)
        sides = [_traced(mechanism, data, params, traces, checks, limits) for data in (pair.left, pair.right)]
        paths = max(paths, *(len(t.paths) for t in sides))
        seen += sides
        comparison = aligned_comparison(sides[0], sides[1], measures)
        check_cancelled(sides, comparison)
        found.append((pair_result(pair, comparison, compared_again(mechanism, pair, params, limits)), comparison))
    measures.forget()
    worst, comparison = max(found, key=lambda f: f[0].epsilon)
    return Result(
        epsilon=worst.epsilon,
        lower=max(p.lower for p, _ in found),
        upper=max(p.upper for p, _ in found),
        method="exact",
        evidence=Evidence.EXACT,
        confidence=None,
        pair=worst.pair,
        witness=worst.witness,
        reason=_reason(paths, comparison, any(map(_shares_noise, seen))),
        pairs=tuple(p for p, _ in found),
        mechanism=getattr(mechanism, "__name__", "mechanism"),
        seconds=time.perf_counter() - start,
        notes=(*_notes(comparison), *about_noise(seen)),
    )


def check_cancelled(sides: Sequence[Trace], comparison: Comparison) -> None:
    """Refuses a finite loss of outputs in which noise cancels: the rounding that is left of it may tell more."""
    words = next((t.cancelled for t in sides if t.cancelled), "")
    if words and sides[0] is not sides[1] and math.inf not in (comparison.forward.value, comparison.backward.value):
        raise ExactRefused(
            f"noise cancels in an output, as in `(x + noise) - noise`, and leaves its rounding: {words}. What rounding tells of "
            "the data is not known here: write the output without the noise"
        )


def about_noise(traces: Sequence[Trace]) -> Iterator[str]:
    """What the author should know of the noise: that there is none, or that everybody knows it."""
    for words in dict.fromkeys(x for t in traces for x in t.seeded):
        yield (
            f"noise that everybody knows: the mechanism sets a seed itself, {words}, and what it draws from there on is the same "
            "in every run, so that it hides nothing; leave the seed out, or take the generator as a parameter"
        )
    rounded_off = max((t.rounded_off for t in traces), default=0.0)
    if rounded_off > 0:
        yield (
            "a uniform number is looked up in a table of cumulative probabilities, which miss 1 by "
            f"{rounded_off:.2g}, by rounding: what the program does above the last of them is left out"
        )
    if not any(t.seeded or path.drawn or path.conditions or any(path.draws) for t in traces for path in t.paths):
        yield "the mechanism made no draw: its output is the same in every run, and tells inputs apart wherever it differs"


def aligned_comparison(left: Trace, right: Trace, measures: Measures | None = None) -> Comparison:
    """The losses between two programs, with the upper ends that alignments prove where the engine's own are open."""
    aligned = alignments(left, right, measures)
    found = compare(left, right, measures, aligned)
    losses = found.forward, found.backward
    if left is not right and not any(map(is_open, losses)):
        return found
    bounds = (0.0, 0.0) if left is right else aligned().bound()  # a program cannot be told from itself
    if bounds is None:
        return found
    forward, backward = (below(x, bound) for x, bound in zip(losses, bounds, strict=True))
    return replace(found, forward=forward, backward=backward)


def alignments(left: Trace, right: Trace, measures: Measures | None = None) -> Callable[[], OtherProof]:
    """The alignments of the two programs, once they are asked for."""

    @cache
    def made() -> OtherProof:
        from dpest.exact.proof.align import Alignments

        return Alignments(*undone(left, right)[:2], measures)

    return made


def _traced(
    mechanism: Callable[..., Any],
    data: Any,
    params: Mapping[str, Any],
    known: dict[bytes, Trace],
    checks: Checks,
    limits: Limits,
) -> Trace:
    """The trace of one input; the same input in several pairs is traced once."""
    try:
        key = pickle.dumps(data)
    except Exception:
        return trace(mechanism, data, params, limits, checks)
    if key not in known:
        known[key] = trace(mechanism, data, params, limits, checks)
    return known[key]


def compared_again(
    mechanism: Callable[..., Any], pair: Pair, params: Mapping[str, Any], limits: Limits = LIMITS
) -> Callable[[], Comparison]:
    """The pair's comparison, on demand, traced in the way that gave the answer."""
    kept = keeping_sides()

    def compared() -> Comparison:
        with sides_kept(kept):
            return compare(trace(mechanism, pair.left, params, limits), trace(mechanism, pair.right, params, limits))

    return compared


def pair_result(pair: Pair, comparison: Comparison, again: Callable[[], Comparison]) -> PairResult:
    """One pair's loss, with the witness of its worse direction."""
    forward, backward = comparison.forward, comparison.backward
    left = forward.value >= backward.value
    worse = forward if left else backward
    lower = max(0.0, forward.lower, backward.lower)
    return PairResult(
        pair,
        max(worse.value, lower),
        lower,
        max(forward.upper, backward.upper),
        forward.value,
        backward.value,
        _witness(pair, worse, left),
        ComparedProfile(again, pair),
    )


def _witness(pair: Pair, loss: Loss, left: bool) -> Witness | None:
    event = describe(loss, swapped=not left)
    if event is None:
        return None
    logs = (event.log_p, event.log_q) if left else (event.log_q, event.log_p)
    direction = Direction.LEFT if left else Direction.RIGHT
    return Witness(pair, direction, event.words, event.measure, *logs, limit=event.limit, supremum=loss.value)


def _reason(paths: int, comparison: Comparison, shared: bool) -> str:
    groups = sum(len(b.groups) for b in comparison.buckets)
    return (
        f"exact: {_counted(paths, 'path')} through the program, {_counted(len(comparison.buckets), 'shape')} of output in "
        f"{_counted(groups, 'independent group')}{'; shared noise is integrated out' if shared else ''}"
    )


def _shares_noise(traced: Trace) -> bool:
    """Whether a draw is in several conditions or outputs of a path."""
    for path in traced.paths:
        met: set[int] = set()
        for draws in (*([d for d, _ in c.terms] for c in path.conditions), *path.draws):
            ids = set(map(id, draws))
            if ids & met:
                return True
            met |= ids
    return False


def _counted(n: int, name: str) -> str:
    return f"{n} {name}" + ("" if n == 1 else "s")


def _notes(comparison: Comparison) -> tuple[str, ...]:
    missing = max(comparison.log_unexplored)
    if missing == float("-inf"):
        return ()
    return (
        f"a loop without end: paths with at most exp({missing:.4g}) of the probability were not explored; that mass is in the "
        "bracket of every output seen",
    )
