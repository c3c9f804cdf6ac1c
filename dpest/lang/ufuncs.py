"""NumPy's functions on random values: which operator each of them is."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from dpest.lang.nodes import Pick

OPERATORS: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
    "floor_divide": operator.floordiv,
    "remainder": operator.mod,
    "negative": operator.neg,
    "absolute": abs,
    "fabs": abs,
    "positive": operator.pos,
    "square": lambda x: x * x,
    "reciprocal": lambda x: 1.0 / x,
    "power": operator.pow,
    "float_power": operator.pow,
    "floor": math.floor,
    "ceil": math.ceil,
    "trunc": math.trunc,
    "rint": round,
    "greater_equal": operator.ge,
    "greater": operator.gt,
    "less_equal": operator.le,
    "less": operator.lt,
    "equal": operator.eq,
    "not_equal": operator.ne,
    "bitwise_and": operator.and_,
    "bitwise_or": operator.or_,
    "bitwise_xor": operator.xor,
    "invert": operator.invert,
}

EXTREMES = {"maximum": Pick.MAX, "minimum": Pick.MIN}


def boxed(x: Any) -> npt.NDArray[Any]:
    """An operand as an array of objects: lists and arrays by their elements, anything else as one object."""
    if isinstance(x, np.ndarray) and x.dtype.kind in "iuf" and x.dtype != np.float64:
        box = np.empty(x.size, dtype=object)
        box[:] = [*x.flat]  # with their type
        return box.reshape(x.shape)
    if isinstance(x, np.ndarray | list | tuple):
        return np.asarray(x, dtype=object)
    box = np.empty((), dtype=object)
    box[()] = x
    return box
