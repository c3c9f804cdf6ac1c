"""What the conditions taken so far say about the next one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from dpest.engine.resolve import Literal
from dpest.graph.nodes import Relation
from dpest.laws.law import Continuous, Discrete

Bounds = dict[Any, tuple[float, bool, float, bool]]  # direction -> (low, strict, high, strict)


def implied(literal: Literal, bounds: Bounds) -> bool | None:
    """Whether the draws' supports or earlier conditions decide an inequality; None where it is open."""
    if literal.by_support is not None:
        return literal.by_support
    direction, bound, flipped = literal.direction
    known = bounds.get(direction)
    if known is None:
        return None
    strict, smooth = literal.relation is Relation.GT, literal.smooth
    lo, lo_strict, hi, hi_strict = known
    if flipped:
        lo, lo_strict, hi, hi_strict, bound = -hi, hi_strict, -lo, lo_strict, -bound
    # Bounds that differ by rounding alone leave no room between them: 7 * z >= 2.1 says what z >= 0.3 says.
    grain = literal.grain
    if lo > bound - grain or (lo == bound and (lo_strict or not strict or smooth)):
        return True
    if hi < bound + grain or (hi == bound and (hi_strict or strict or smooth)):
        return False
    return None


def narrowed(bounds: Bounds, literals: Sequence[Literal]) -> Bounds:
    """The known bounds, with several more inequalities that hold."""
    out = dict(bounds)
    for literal in literals:
        direction, bound, flipped = literal.direction
        lo, lo_strict, hi, hi_strict = out.get(direction, (-math.inf, False, math.inf, False))
        strict = literal.relation is Relation.GT
        if flipped:
            if (-bound, not strict) > (-hi, not hi_strict):
                hi, hi_strict = bound, strict
        elif (bound, strict) > (lo, lo_strict):
            lo, lo_strict = bound, strict
        out[direction] = (lo, lo_strict, hi, hi_strict)
    return out


def open_options(
    options: Sequence[tuple[Literal, ...]], bounds: Bounds
) -> tuple[int | None, list[tuple[int, tuple[Literal, ...]]]]:
    """The option that must hold, if it is known; else those that still can, with what each adds."""
    left: list[tuple[int, tuple[Literal, ...]]] = []
    for i, option in enumerate(options):
        new = _added(option, bounds)
        if new == ():
            return i, []
        if new is not None:
            left.append((i, new))
    return (left[0][0] if len(left) == 1 else None), left


def _added(option: tuple[Literal, ...], bounds: Bounds) -> tuple[Literal, ...] | None:
    """The inequalities of an option that are still open; None where one of them cannot hold."""
    new = []
    for literal in option:
        known = implied(literal, bounds)
        if known is None:
            new.append(literal)
        elif not known:
            return None
    return tuple(new)


def chances(literal: Literal) -> tuple[float, float]:
    """Upper bounds of ln P(holds) and ln P(does not), exact for a fresh single draw; 0 where unknown."""
    if len(literal.terms) != 1:
        return 0.0, 0.0
    (draw, c) = literal.terms[0]
    law = draw.law
    bound = -literal.constant / c
    strict = literal.relation is Relation.GT
    if isinstance(law, Continuous):
        above, below = float(law.log_sf(bound)), float(law.log_cdf(bound))
    else:
        assert isinstance(law, Discrete)
        above = float(law.log_between(law.first(bound, strict == (c > 0)), math.inf))
        below = float(law.log_between(-math.inf, law.last(bound, strict != (c > 0))))
    return (above, below) if c > 0 else (below, above)
