"""`int(x)`, `float(x)`, `bool(x)` and `astype`: a random value as a number of another kind stays random."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from dpest.lang.dist import Dist, truth, unwrap, wrap
from dpest.lang.narrow import check_float, check_stored
from dpest.lang.nodes import Where, is_whole_as_written
from dpest.lang.plain_numbers import bare, marked

_KINDS: dict[str, type] = {"i": int, "u": int, "f": float, "b": bool}  # by the kind of a type of NumPy's


def number(original: type) -> Callable[..., Any]:
    """`int`, `float` or `bool`, which leave a random value random."""

    def traced(*values: Any, **options: Any) -> Any:
        if len(values) != 1 or options or not isinstance(values[0], Dist):
            return original(*values, **options)
        return converted(original, values[0])

    return traced


def converted(kind: type, x: Dist) -> Any:
    """float(x), int(x) or bool(x) of a random value, which stays random."""
    is_truth = truth(x.node) is x.node
    if kind is bool:
        return wrap(truth(x.node))
    if kind is float:
        if is_truth:
            return Dist(Where(x.node, 1.0, 0.0))
        check_float(x.node)
        return x
    if is_truth:
        return Dist(Where(x.node, 1, 0))
    return x if is_whole_as_written(x.node) else math.trunc(x)


def of_type(x: Any, dtype: Any) -> Any:
    """A value of a run as a number of one of NumPy's types; refused where a type of few bits may change a random one."""
    wanted = np.dtype(dtype)
    if not isinstance(x, Dist):
        return marked(np.asarray(bare(x)).astype(wanted)[()])
    if wanted.kind not in _KINDS:
        return x.__float__()  # which says what to write
    found = converted(_KINDS[wanted.kind], x)
    check_stored(unwrap(found), wanted)
    return found


def array_of_type(array: npt.NDArray[Any], dtype: Any, **options: Any) -> npt.NDArray[Any]:
    """array.astype(int) and the like, element by element: what is random stays so."""
    wanted = np.dtype(dtype)
    if wanted.kind not in _KINDS or not any(isinstance(x, Dist) for x in array.flat):
        return array.astype(dtype, **options)
    make = number(_KINDS[wanted.kind])
    found: npt.NDArray[Any] = np.frompyfunc(lambda x: of_type(x, wanted) if isinstance(x, Dist) else make(x), 1, 1)(array)
    return found
