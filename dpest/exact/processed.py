"""An upper bound where the exact engine does not reach: the loss of the noisy values that the output is computed from."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from dpest.errors import DpestError
from dpest.exact.answer import aligned_comparison, alignments, collector_paused
from dpest.exact.inference.paths import log_repeats, trace
from dpest.exact.loss.opened import Reach, affine_only, opened, reach_of, with_values_inside
from dpest.inputs.pairs import Pair
from dpest.lang.nodes import is_node
from dpest.numerics.effort import limited_effort
from dpest.results import PairResult, Result
from dpest.trace.beginning import HANDED_ON, beginnings
from dpest.trace.explore import Trace
from dpest.trace.limits import Limits
from dpest.trace.opened import trace_opened
from dpest.trace.outputs import TEXT, Flat

_MOST_EVALUATIONS, _MOST_STEPS = 30_000_000, 1_500_000  # for one pair: some seconds each; half of it loses three dependent steps
_NO_CHANCE = 1e-9  # the chance of a false alarm: a sampled bound above a proved one, at this level, is not bad luck


@dataclass(frozen=True)
class Processed:
    """Upper bounds for each pair, and how many noisy values they are the loss of."""

    uppers: tuple[float, ...]
    values: int


def data_processing_bound(mechanism: Callable[..., Any], pairs: Sequence[Pair], params: Mapping[str, Any]) -> Processed | None:
    """The loss of what the outputs are computed from; None where that has no finite bound."""
    uppers, most = [], 0
    with collector_paused(), limited_effort(_MOST_EVALUATIONS * len(pairs), _MOST_STEPS * len(pairs)):
        for pair in pairs:
            found = _opened(mechanism, pair, params) or _of_beginning(mechanism, pair, params)
            if found is None:
                return None
            uppers.append(found[0])
            most = max(most, found[1])
    return Processed(tuple(uppers), most)


def _opened(mechanism: Callable[..., Any], pair: Pair, params: Mapping[str, Any]) -> tuple[float, int] | None:
    """The loss of the noisy values that outputs and conditions out of reach are computed from."""
    try:
        sides = [trace_opened(mechanism, data, params, log_repeats) for data in (pair.left, pair.right)]
    except DpestError:
        return None
    return _bound(sides, reach_of()) or _bound(sides, affine_only) or _beside(sides) or _entirely_open(mechanism, pair, params)


_MOST_BESIDE = 4  # noisy values that outputs are released with: the comparison has that many dimensions more


def _beside(sides: Sequence[Trace]) -> tuple[float, int] | None:
    """The loss of the outputs together with the noisy values inside them."""
    (left, count), (right, other) = map(with_values_inside, sides)
    upper = _compared(left, right) if 0 < count == other <= _MOST_BESIDE else math.inf
    return (upper, count) if math.isfinite(upper) else None


_MOST_BEGINNINGS = 6  # of a function: each takes a trace and a comparison
_LIMITS = Limits(paths=500, decisions=2_000, work=10_000, depth=500)  # of such a trace: what is short of loops has a few paths


def _of_beginning(mechanism: Callable[..., Any], pair: Pair, params: Mapping[str, Any]) -> tuple[float, int] | None:
    """The loss of what the mechanism has worked out when it does not look at its data any more."""
    for beginning in islice(beginnings(mechanism, params), _MOST_BEGINNINGS):
        with suppress(DpestError, OverflowError, RecursionError):
            left, right = (trace(beginning, data, params, _LIMITS) for data in (pair.left, pair.right))
            if all(map(_is_handed_on_whole, (left, right))):
                upper = _compared(*map(_with_types, (left, right)))
                if math.isfinite(upper):
                    return upper, max(sum(map(is_node, p.output.leaves)) for t in (left, right) for p in t.paths)
    return None


# Of these the rest of a program may read more than is compared: the order in which they were filled, fields, the text itself.
_MORE_THAN_COMPARED = frozenset({"dict", "set", "record", "enum", TEXT})


def _is_handed_on_whole(traced: Trace) -> bool:
    """Whether a beginning hands on nothing but numbers, in lists, tuples and arrays, and no rounding of noise that cancels."""
    return not traced.cancelled and not any(
        p.output.leaves[0] == HANDED_ON and _names(p.output.structure) & _MORE_THAN_COMPARED for p in traced.paths
    )


def _names(structure: Any) -> set[Any]:
    if not isinstance(structure, tuple):
        return {structure}
    return {x for part in structure for x in _names(part)}


def _with_types(traced: Trace) -> Trace:
    """The trace in which constants that the rest of a program may tell apart are different: 1 and 1.0, 0.0 and -0.0."""

    def typed(output: Flat) -> Flat:
        kinds = tuple(None if is_node(x) else (type(x), str(x).startswith("-")) for x in output.leaves)
        return Flat((output.structure, kinds), output.leaves)

    return replace(traced, paths=tuple(replace(p, output=typed(p.output)) for p in traced.paths))


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


_NEAR = 1e-9  # relative: a bound that is further off than that is worth an alignment, which has no such slack


def _compared(left: Trace, right: Trace) -> float:
    """The larger upper end of both directions; infinite where the engine does not reach."""
    try:
        found = aligned_comparison(left, right)
        upper = max(found.forward.upper, found.backward.upper)
        if upper - max(found.forward.value, found.backward.value) > _NEAR * max(1.0, upper):
            upper = min(upper, max(alignments(left, right)().bound() or (math.inf,)))
    except DpestError:
        return math.inf
    return upper


def with_bound(result: Result, bound: Processed) -> Result:
    """A sampled result with its upper side; what samples show beyond a proved bound is their rounding, and is left out."""
    upper = min(result.upper, max(bound.uppers))
    if upper >= result.upper:
        return result
    values = "noisy value" if bound.values == 1 else f"{bound.values} noisy values"
    note = (
        f"upper bound: at most the loss of the {values} that the output is computed from, which is known exactly"
        if bound.values
        else "upper bound: a shift of the noise carries the outputs of one input to those of the other, at this cost"
    )
    notes = [n for n in result.notes if not n.startswith("no upper bound")]
    if not any(map(_contradicted, result.pairs, bound.uppers)):
        pairs = tuple(map(_capped, result.pairs, bound.uppers))
        epsilon, lower, witness = min(result.epsilon, upper), min(result.lower, upper), result.witness
    else:
        pairs = tuple(map(_without_rounding, result.pairs, bound.uppers))
        worst = max(pairs, key=lambda p: (p.epsilon, p.lower))
        epsilon, lower, witness = worst.epsilon, max(p.lower for p in pairs), worst.witness
        result = replace(result, pair=worst.pair)
        notes = [n for n in notes if not n.startswith(("infinite:", "what more samples"))]
        notes.append(
            "no lower bound where the samples show more than the proved upper bound: the event that they chose tells apart how "
            "doubles round, as the noise itself does not; `dpest audit` bounds the loss of the program with its rounding"
        )
    return replace(result, epsilon=epsilon, lower=lower, upper=upper, pairs=pairs, witness=witness, notes=(*notes, note))


def _contradicted(found: PairResult, upper: float) -> bool:
    """Whether samples show a loss above a proved bound by more than chance explains."""
    if not found.counted:
        return False
    return found.epsilon == math.inf > upper or any(replace(c, alpha=_NO_CHANCE).lower > upper for c in found.counted if c.alpha)


def _without_rounding(found: PairResult, upper: float) -> PairResult:
    if not _contradicted(found, upper):
        return _capped(found, upper)
    return PairResult(found.pair, upper, 0.0, upper, upper, upper, None)


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
