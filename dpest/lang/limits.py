"""Where floating-point numbers end or round: what a program computes there is not what real numbers say."""

from __future__ import annotations

import math
import sys
from typing import Any

from dpest.errors import UnsupportedOperation
from dpest.lang.narrow import FAR, ends
from dpest.lang.nodes import NODES, Apply, Function, Linear, Product, Quotient, children
from dpest.lang.spans import reach
from dpest.numerics.rationals import exact

_FAR_OUT = 1e300  # of values that are computed: sums and multiples of them stay finite
_LARGEST, _SMALLEST = exact(sys.float_info.max), exact(sys.float_info.min)


def in_range(x: Linear) -> Linear:
    """A multiple of a random value; refused where doubles overflow, or lose digits until nothing is left."""
    for _, c in x.terms:
        if not _SMALLEST <= abs(c) <= _LARGEST:
            raise UnsupportedOperation(
                "cannot multiply a random value by a number beyond the range of floating-point numbers (1e-308 to 1e308): "
                "measure the data and the noise in other units"
            )
    return x


def overflows(node: Any) -> bool:
    """Whether floating-point arithmetic may turn a value into an infinity, with a probability that is not zero as a double."""
    if not isinstance(node, NODES):
        return False
    if isinstance(node, Function | Product | Quotient | Apply) and max(map(abs, reach(node, ends, rare=FAR))) > _FAR_OUT:
        return True
    return any(map(overflows, children(node)))


def rounded_steps(x: float, digits: int) -> int:
    """What Python's `round(x, digits)` is in units of its last digit."""
    steps: int = round(exact(round(x, digits)) * exact(10) ** digits)
    return steps


def exact_sum(*values: float) -> float:
    """`math.fsum`, with the values as arguments: it rounds once, where `sum` rounds at each step."""
    return math.fsum(values)
