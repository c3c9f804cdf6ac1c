"""One line more beside an exact answer: what holds over all adjacent inputs, where that is cheap to prove."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dpest.errors import DpestError
from dpest.exact.answer import collector_paused
from dpest.exact.proof.align import rounded_up
from dpest.exact.proof.upper import ProofQuestion, proved_on, scope, traced_question
from dpest.inputs.pairs import L1_PATTERNS, Pair
from dpest.numerics.effort import counted_effort
from dpest.results import TIGHT
from dpest.trace.limits import Limits

# What a proof may cost here: with 64 paths it takes 3 to 50 ms on the mechanisms that were tried, a third of the exact answer
# at most; programs with more paths, or that decide on inputs alone, are left to `prove`.
LIMITS = Limits(paths=64, work=4_000, depth=64)  # each fork of a run leaves a path behind
_MOST_WORK = 50_000  # steps, half a second: where numbers are computed from each other, a single decision takes a tenth of that
_MOST_ROWS = 100  # of the data: the line about all inputs is added where its proof is cheap, and the programs grow with the rows


def over_all_inputs(
    mechanism: Callable[..., Any], pairs: Sequence[Pair], params: Mapping[str, Any], adjacency: str | None, shown: float
) -> str | None:
    """The line, or None where the proof is not cheap, finds nothing, or the pairs do not say which inputs are adjacent."""
    asked = _inputs(pairs, adjacency)
    if asked is None:
        return None
    n, name = asked
    question = ProofQuestion(mechanism, params, n, name, 1.0, None, LIMITS, LIMITS.paths)
    try:
        with collector_paused(), counted_effort(_MOST_WORK):
            traced = traced_question(question)
            if any(region.bare for program in traced.programs for region in program):
                return None
            bound = proved_on(question, traced).bound
    except DpestError:
        return None
    if bound is None:
        return None
    upper = rounded_up(bound)
    about = "" if shown >= upper * (1 - TIGHT) else "at most "
    more = "" if not about else f"; these pairs show {shown:.6g}, dpest.prove looks for the worst pair"
    return f"over {scope(question)}: {about}{upper:.9g} (proved){more}"


def _inputs(pairs: Sequence[Pair], adjacency: str | None) -> tuple[int | None, str] | None:
    """How many rows the inputs have, and which of them are adjacent; None where the pairs do not say."""
    sides = [side for pair in pairs for side in (pair.left, pair.right)]
    if all(_is_number(x) for x in sides):
        if adjacency is None and max(abs(p.left - p.right) for p in pairs) != 1:
            return None
        return None, adjacency or "linf"
    sizes = {len(x) if isinstance(x, list) and all(map(_is_number, x)) else 0 for x in sides}
    if len(sizes) != 1 or not 0 < min(sizes) <= _MOST_ROWS:
        return None
    (n,) = sizes
    if adjacency is None:
        adjacency = _adjacency(pairs)
    return None if adjacency is None else (n, adjacency)


def _adjacency(pairs: Sequence[Pair]) -> str | None:
    """The adjacency that pairs of lists show: no number moves by more than 1, and several move in one of them."""
    if all(pair.name in L1_PATTERNS for pair in pairs):
        return "l1"
    changes = [[abs(a - b) for a, b in zip(pair.left, pair.right, strict=True)] for pair in pairs]
    several = any(sum(map(bool, moved)) > 1 for moved in changes)
    return "linf" if max(map(max, changes)) == 1 and (several or len(changes[0]) == 1) else None


def _is_number(x: Any) -> bool:
    return isinstance(x, int | float) and not isinstance(x, bool) and math.isfinite(x)
