"""Questions that code asks about a number before it goes on: of which type it is, whether it is NaN, or close to another.

A random value has no digits, and often the answer all the same: noise is finite, and a float. While a mechanism is traced,
these stand in for `isinstance`, `math.isnan`, `numpy.isnan`, `math.isclose` and their like. Where the numbers that a random
value stands for may differ in the answer, it is refused.
"""

from __future__ import annotations

import builtins
import math
import statistics
from collections.abc import Callable
from typing import Any

import numpy as np

from dpest.errors import RandomTruth
from dpest.lang.dist import Dist
from dpest.lang.nodes import TRUTHS, Apply, ArgExtreme, Draw, Function, Product, Quotient, ancestors, children, is_integral
from dpest.lang.plain_numbers import PlainNumber, bare
from dpest.lang.run import RUN
from dpest.lang.ufuncs import boxed

_ISINSTANCE = builtins.isinstance


def of_type(x: Any, kinds: Any) -> bool:
    """isinstance: a random value is of a type if the numbers that it may stand for are."""
    if not _ISINSTANCE(x, Dist) or RUN.get() is None or _ISINSTANCE(x, kinds):
        return _ISINSTANCE(x, kinds)
    said = {_ISINSTANCE(number, kinds) for number in _may_be(x.node)}
    if len(said) > 1:
        raise RandomTruth(
            "isinstance of a random value, which may be a number of Python's or of NumPy's, whole or not: test it with "
            "numbers.Real, or leave the test out"
        )
    return said.pop()


def _may_be(node: Any) -> tuple[Any, ...]:
    """Numbers of every type that a random value may stand for."""
    if _ISINSTANCE(node, TRUTHS):
        return True, np.True_
    if _ISINSTANCE(node, Draw | ArgExtreme) and is_integral(node):
        return 0, np.int64(0)
    return (0, np.int64(0), 0.0, np.float64(0)) if is_integral(node) else (0.5, np.float64(0.5))


_MAY_BE_NAN = (Function, Product, Quotient, Apply)


def _is_finite(node: Any) -> bool:
    """Whether a value is a finite number whatever was drawn, as far as its form tells."""
    for x in ancestors(node):
        if _ISINSTANCE(x, _MAY_BE_NAN) or any(_ISINSTANCE(c, float) and not math.isfinite(c) for c in children(x)):
            return False
    return True


def _about(real: Callable[[Any], Any], finite: bool) -> Any:
    """math.isnan and its like, and those of NumPy: `finite` is what they say of finite numbers."""

    def of_one(x: Any) -> Any:
        if not _ISINSTANCE(x, Dist):
            return real(float(x))
        return finite if _is_finite(x.node) else real(x)

    def function(x: Any, *rest: Any, **options: Any) -> Any:
        if RUN.get() is None or rest or options:
            return real(x, *rest, **options)
        if _ISINSTANCE(x, np.ndarray | list | tuple):
            return np.frompyfunc(of_one, 1, 1)(boxed(x)).astype(bool) if np.asarray(x).dtype == object else real(x)
        return of_one(x) if _ISINSTANCE(x, Dist | PlainNumber) else real(x)

    function.__name__ = function.__qualname__ = real.__name__
    return function


def isclose(a: Any, b: Any, *, rel_tol: float = 1e-9, abs_tol: float = 0.0) -> Any:
    """math.isclose: with one random value, that it lies in the interval around the other."""
    if not (_ISINSTANCE(a, Dist) or _ISINSTANCE(b, Dist)):
        return _CLOSE(bare(a), bare(b), rel_tol=rel_tol, abs_tol=abs_tol)
    value, number = (a, b) if _ISINSTANCE(a, Dist) else (b, a)
    if _ISINSTANCE(number, Dist) or not 0 <= rel_tol < 1 or not math.isfinite(number):
        return _CLOSE(a, b, rel_tol=rel_tol, abs_tol=abs_tol)
    # |x - y| <= r max(|x|, |y|) says that x / y lies between 1 - r and 1 / (1 - r).
    ends = sorted((number * (1 - rel_tol), number / (1 - rel_tol)))
    low, high = min(ends[0], number - abs_tol), max(ends[1], number + abs_tol)
    return bool(value >= low) and bool(value <= high)


def _isclose_of_numpy(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Any:
    """numpy.isclose of one random value and a number: that it lies in the interval around the number."""
    if not _ISINSTANCE(a, Dist) or _ISINSTANCE(b, Dist | np.ndarray | list | tuple):
        return _CLOSE_OF_NUMPY(bare(a), bare(b), rtol, atol, equal_nan)
    reach = atol + rtol * abs(b)
    return bool(a >= b - reach) and bool(a <= b + reach)


def mean(data: Any, *rest: Any) -> Any:
    """statistics.mean: random values are added and divided by their number."""
    return _mean_of(_MEAN, data, *rest)


def fmean(data: Any, *rest: Any, **options: Any) -> Any:
    """statistics.fmean: random values are added and divided by their number."""
    return _mean_of(_FMEAN, data, *rest, **options)


def _mean_of(real: Callable[..., Any], data: Any, *rest: Any, **options: Any) -> Any:
    items = list(data)
    if rest or options or not any(_ISINSTANCE(x, Dist | PlainNumber) for x in items):
        return real(items, *rest, **options)
    return sum(items) / len(items)


def isscalar(element: Any) -> bool:
    """numpy.isscalar: a random value is one number."""
    return _ISINSTANCE(element, Dist) or _ISSCALAR(element)


_CLOSE, _CLOSE_OF_NUMPY, _MEAN, _FMEAN, _ISSCALAR = math.isclose, np.isclose, statistics.mean, statistics.fmean, np.isscalar
_NOT_FINITE: tuple[Callable[[Any], Any], ...] = (math.isnan, math.isinf, np.isnan, np.isinf)
_FINITE: tuple[Callable[[Any], Any], ...] = (math.isfinite, np.isfinite)

# By what they replace.
QUESTIONS: dict[int, Any] = {
    **{id(real): _about(real, False) for real in _NOT_FINITE},
    **{id(real): _about(real, True) for real in _FINITE},
    id(_ISINSTANCE): of_type,
    id(_CLOSE): isclose,
    id(_CLOSE_OF_NUMPY): _isclose_of_numpy,
    id(_MEAN): mean,
    id(_FMEAN): fmean,
    id(_ISSCALAR): isscalar,
}
