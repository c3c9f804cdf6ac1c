"""Sums that come down to less in rationals than in the program's own arithmetic, and are kept as they were written."""

from __future__ import annotations

import operator

from dpest.lang.extent import is_rounded
from dpest.lang.nodes import NODES, TRUTHS, Draw, Linear, Rounded, is_integral, simplified
from dpest.lang.plain import rests_on


def tells_more(x: Linear) -> bool:
    """Whether Python may tell a written sum from what is left of it: (k + 0.1) - 0.1 from k, (k > 0) + 0 from a truth value."""
    short = simplified(x)
    if short is x:
        return False
    if isinstance(short, (Draw, Rounded, *TRUTHS)) and is_integral(short):
        return True
    return not _is_nothing(x) and (is_rounded(x) or (not x.terms and _is_of_inputs(x)))


def _is_of_inputs(x: Linear) -> bool:
    """Whether unknown inputs cancel, beside discrete noise if any: nothing is known of how they are rounded."""
    draws, _ = rests_on(x, {})
    return any(d.law.unknown for d in draws) and all(d.law.discrete for d in draws)


def _is_nothing(x: Linear) -> bool:
    """Whether a value is taken off itself, or multiplied by zero."""
    assert x.written is not None
    function, operands = x.written
    if function is operator.sub:
        return operands[0] is operands[1]
    return function is operator.mul and any(not isinstance(v, NODES) and not v for v in operands)
