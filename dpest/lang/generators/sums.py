"""Sums whose additions are not made one after another: NumPy adds eight or more floats in pairs, Python 3.12 with a correction.

Of continuous noise the last digit does not matter. Of discrete values it may decide a comparison (ten times 0.1 are 1.0 by
`np.sum`, and less one after another), so that such a sum remembers which call it was, and is worked out by that call wherever
it is needed as a number.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy._core import _methods

from dpest.lang.dist import Dist, unwrap, wrap
from dpest.lang.extent import extent
from dpest.lang.nodes import Linear, Written
from dpest.lang.plain_numbers import PlainNumber, bare, marked
from dpest.lang.run import RUN
from dpest.lang.spans import is_smooth

_IN_PAIRS = 8  # numbers from which on NumPy does not add one after another
IS_CORRECTED = sys.version_info >= (3, 12)  # whether Python's `sum` of floats keeps what each addition rounds off


@dataclass(frozen=True)
class ArraySum:
    """One element of numpy.sum of an array with this shape, whose elements are the arguments."""

    shape: tuple[int, ...]
    axis: Any
    at: tuple[int, ...]

    def __call__(self, *values: Any) -> Any:
        """The sum of plain numbers, as NumPy adds them."""
        return np.sum(np.array(values).reshape(self.shape), axis=self.axis)[self.at].item()


def plain_sum(*values: Any) -> Any:
    """Python's `sum`, with what it starts from and the values as arguments."""
    return builtins.sum(values[1:], values[0])


def _of_numpy(real: Callable[..., Any]) -> Any:
    def function(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, *rest: Any, **options: Any) -> Any:
        if RUN.get() is None or out is not None or not _is_long(a):
            return real(a, axis, dtype, out, *rest, **options)
        if any(isinstance(x, PlainNumber) for x in a.flat):
            return _marked(real(np.array([bare(x) for x in a.flat]).reshape(a.shape), axis, dtype, out, *rest, **options))
        found = real(a, axis, dtype, out, *rest, **options)
        nodes = tuple(unwrap(x) for x in a.flat)
        if isinstance(found, Dist):
            return _as_called(found, (ArraySum(a.shape, axis, ()), nodes))
        if isinstance(found, np.ndarray) and found.ndim == a.ndim - 1:
            for at in np.ndindex(found.shape):
                found[at] = _as_called(found[at], (ArraySum(a.shape, axis, at), nodes))
        return found

    function.__name__ = function.__qualname__ = getattr(real, "__name__", "sum")
    return function


def _is_long(a: Any) -> bool:
    return type(a) is np.ndarray and a.dtype == object and a.size >= _IN_PAIRS


def _marked(x: Any) -> Any:
    return np.frompyfunc(marked, 1, 1)(x) if isinstance(x, np.ndarray) else marked(x)


def _as_called(total: Any, written: Written) -> Any:
    """A sum of discrete values that additions may round, with the call that it comes from."""
    node = unwrap(total)
    if not isinstance(node, Linear) or is_smooth(node) or extent(node).exact:
        return total
    return wrap(replace(node, written=written))


def corrected_sum(values: Iterable[Any], /, start: Any = 0) -> Any:
    """Python's `sum`: of floats it is not the additions one after another."""
    items = [*values]
    if RUN.get() is None or not any(isinstance(x, Dist | PlainNumber) for x in (start, *items)):
        return builtins.sum(items, start)
    if not any(isinstance(x, Dist) for x in (start, *items)):
        if any(isinstance(x, np.ndarray) for x in (start, *items)):
            return builtins.sum(items, start)
        return marked(builtins.sum(map(bare, items), bare(start)))
    total = builtins.sum(items, start)
    if not isinstance(total, Dist) or isinstance(values, np.ndarray):  # NumPy's floats are added one after another
        return total
    return _as_called(total, (plain_sum, tuple(map(unwrap, (start, *items)))))


# By what they replace: `numpy.sum`, and what the method `sum` of arrays calls, which means and variances call too.
SUMS: dict[int, Any] = {id(np.sum): _of_numpy(np.sum), id(_methods.umr_sum): _of_numpy(_methods.umr_sum)}
if IS_CORRECTED:
    SUMS[id(builtins.sum)] = corrected_sum
