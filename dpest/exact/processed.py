"""An upper bound where the exact engine does not reach: the loss of the noisy values that the output is computed from."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dpest.errors import DpestError
from dpest.exact.answer import aligned_comparison, alignments, collector_paused
from dpest.exact.inference.paths import log_repeats
from dpest.exact.loss.opened import Reach, affine_only, opened, reach_of
from dpest.inputs.pairs import Pair
from dpest.numerics.effort import limited_effort
from dpest.results import PairResult, Result
from dpest.trace.explore import Trace
from dpest.trace.opened import trace_opened

_MOST_EVALUATIONS = 30_000_000  # of integrands for one pair: a few seconds


@dataclass(frozen=True)
class Processed:
    """Upper bounds for each pair, and how many noisy values they are the loss of."""

    uppers: tuple[float, ...]
    values: int


def data_processing_bound(mechanism: Callable[..., Any], pairs: Sequence[Pair], params: Mapping[str, Any]) -> Processed | None:
    """The loss of what the outputs are computed from; None where that has no finite bound."""
    uppers, most = [], 0
    with collector_paused(), limited_effort(_MOST_EVALUATIONS * len(pairs)):
        for pair in pairs:
            try:
                sides = [trace_opened(mechanism, data, params, log_repeats) for data in (pair.left, pair.right)]
            except DpestError:
                return None
            found = _bound(sides, reach_of()) or _bound(sides, affine_only) or _entirely_open(mechanism, pair, params)
            if found is None:
                return None
            uppers.append(found[0])
            most = max(most, found[1])
    return Processed(tuple(uppers), most)


def _entirely_open(mechanism: Callable[..., Any], pair: Pair, params: Mapping[str, Any]) -> tuple[float, int] | None:
    """The loss of all affine values that outputs and conditions are computed from."""
    try:
        sides = [trace_opened(mechanism, data, params, log_repeats, entirely=True) for data in (pair.left, pair.right)]
    except DpestError:
        return None
    return _bound(sides, affine_only)


def _bound(sides: Sequence[Trace], reach: Reach) -> tuple[float, int] | None:
    """The loss of both traces taken apart as far as `reach` says, and the number of values in one output."""
    try:
        (left, count), (right, other) = (opened(t, reach) for t in sides)
        # Where there is nothing to take apart, the engine has said what it can.
        upper = _compared(left, right) if count or other else math.inf
        if upper == math.inf:
            upper = max(alignments(left, right)().bound() or (math.inf,))
    except DpestError:
        return None
    return (upper, max(count, other)) if math.isfinite(upper) else None


def _compared(left: Trace, right: Trace) -> float:
    """The larger upper end of both directions; infinite where the engine does not reach."""
    try:
        found = aligned_comparison(left, right)
    except DpestError:
        return math.inf
    return max(found.forward.upper, found.backward.upper)


def with_bound(result: Result, bound: Processed) -> Result:
    """A sampled result with its upper side."""
    pairs = tuple(_capped(p, upper) for p, upper in zip(result.pairs, bound.uppers, strict=True))
    upper = min(result.upper, max(bound.uppers))
    if upper >= result.upper:
        return result
    values = "noisy value" if bound.values == 1 else f"{bound.values} noisy values"
    note = (
        f"upper bound: at most the loss of the {values} that the output is computed from, which is known exactly"
        if bound.values
        else "upper bound: a shift of the noise carries the outputs of one input to those of the other, at this cost"
    )
    notes = (*(n for n in result.notes if not n.startswith("no upper bound")), note)
    epsilon, lower = min(result.epsilon, upper), min(result.lower, upper)
    return replace(result, epsilon=epsilon, lower=lower, upper=upper, pairs=pairs, notes=notes)


def _capped(found: PairResult, upper: float) -> PairResult:
    if upper >= found.upper:
        return found
    return replace(
        found,
        epsilon=min(found.epsilon, upper),
        lower=min(found.lower, upper),
        upper=upper,
        forward=min(found.forward, upper),
        backward=min(found.backward, upper),
    )
