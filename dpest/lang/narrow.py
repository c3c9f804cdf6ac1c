"""NumPy's numbers with few bits next to random values: where their arithmetic is not that of Python's own numbers.

`np.float32(0.1) * k` is rounded to 24 bits, `np.uint8(3) - k` wraps around below zero. Whether it does depends on the type of the
random value, which a trace does not know: a Python int takes the type of NumPy's number, an int64 does not. Where both
come to the same the answer stands; elsewhere the operation is refused.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from dpest.errors import UnsupportedOperation
from dpest.lang.nodes import TRUTHS, is_integral, is_node
from dpest.lang.spans import is_smooth, reach
from dpest.laws.discrete import MOST_EXACT
from dpest.laws.law import Law

FAR = -800.0  # ln of a probability that is zero as a double: values as rare as that do not count
_MOST_BITS = 63


def is_narrow(x: Any) -> bool:
    """Whether a number is one of NumPy's with another arithmetic than Python's."""
    return isinstance(x, np.number) and type(x) is not np.float64


def checked(found: Any, *operands: Any) -> Any:
    """What an operation on random values and numbers gave; refused where NumPy's own arithmetic may give something else."""
    nodes = [x for x in operands if is_node(x)]
    for number in operands:
        if is_narrow(number):
            if isinstance(found, (bool, *TRUTHS)):
                _check_compared(nodes, number)
            elif not (all(map(is_smooth, nodes)) or all(fits(x, number.dtype) for x in (found, *nodes))):
                raise _refused(number.dtype)
    return found


def of_type(found: Any, dtype: Any) -> Any:
    """Whole numbers of the type that was asked for: arrays know it, a single number of few bits wraps around unnoticed."""
    kind = np.dtype(np.int64 if dtype is None else dtype)
    if kind == np.int64 or kind.kind not in "iu":
        return found
    if isinstance(found, np.ndarray):
        return found.astype(kind)
    raise UnsupportedOperation(
        f"one whole number drawn with dtype={kind}, whose arithmetic wraps around; draw it without dtype, or an array with size=1"
    )


def _check_compared(nodes: list[Any], number: np.number[Any]) -> None:
    """NumPy compares in few bits: np.float32(0.1) == 0.1 holds, though the doubles differ. Whole numbers it compares exactly."""
    whole = is_integral(number.item())
    if number.dtype.kind == "f" and not all(is_smooth(x) or (whole and fits(x, number.dtype)) for x in nodes):
        raise _refused(number.dtype)


def fits(x: Any, dtype: np.dtype[Any]) -> bool:
    """Whether a value is the same in arithmetic of this type: whole and within its range, or real and not of few bits."""
    kind = dtype.kind
    if dtype == np.float64 or kind not in "iuf":
        return True
    if dtype.itemsize > 8:
        return False
    if kind == "f":
        largest = 2 ** (np.finfo(dtype).nmant + 1)
        return is_smooth(x) or (is_integral(x) and _between(x, -largest, largest))
    if not is_integral(x):
        return True  # a float: NumPy goes over to doubles
    return _between(x, int(np.iinfo(dtype).min), int(np.iinfo(dtype).max))


def check_stored(x: Any, dtype: np.dtype[Any] | None) -> None:
    """Refuses to write a random value into an array of few bits that may change it."""
    if dtype is not None and is_node(x) and not fits(x, dtype):
        raise _refused(dtype)


def check_float(x: Any) -> None:
    """Refuses float(k) of a whole number that is known to go beyond 2**53, where doubles have gaps."""
    if is_integral(x) and any(MOST_EXACT < abs(end) < math.inf for end in reach(x, ends, rare=FAR)):
        raise UnsupportedOperation("float() of a random whole number beyond 2**53, which doubles may round: leave it whole")


def _between(x: Any, low: int, high: int) -> bool:
    least, most = reach(x, ends, rare=FAR)
    return low <= least and most <= high


@lru_cache(maxsize=256)
def ends(law: Law) -> tuple[float, float]:
    """Two numbers between which a draw lies, but for a probability that is zero as a double."""
    low, high = law.support
    least = low if math.isfinite(low) else -_far(law, -1)
    return least, high if math.isfinite(high) else _far(law, 1)


def _far(law: Law, sign: int) -> float:
    return next((2.0**k for k in range(_MOST_BITS) if float(law.log_density(sign * 2.0**k)) < FAR), math.inf)


def _refused(dtype: np.dtype[Any]) -> UnsupportedOperation:
    own = "float" if dtype.kind == "f" else "int"
    return UnsupportedOperation(
        f"arithmetic of a discrete random value and a number of NumPy's type {dtype}, which rounds or wraps around where "
        f"Python's numbers and doubles do not: write {own}(x), or make the array with dtype={own}"
    )
