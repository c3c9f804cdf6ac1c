"""Stand-ins for functions of NumPy that compare the elements of an array one by one, and would fork the run for each."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpest.lang.dist import Dist, typed, unwrap, wrap
from dpest.lang.elementary import ELEMENTARY
from dpest.lang.extremes import clipped, extreme
from dpest.lang.generators.open_arrays import OPENING, OpenArray, has_noise, is_random
from dpest.lang.narrow import checked
from dpest.lang.nodes import Pick
from dpest.lang.plain_numbers import PlainNumber, marked
from dpest.lang.run import RUN
from dpest.lang.ufuncs import boxed

_CLIP = np.clip


def clip(a: Any, a_min: Any = None, a_max: Any = None, *rest: Any, **options: Any) -> Any:
    """numpy.clip: random values stay random, with NumPy's order, the lower bound first."""
    low, high = options.pop("min", a_min), options.pop("max", a_max)
    more = rest or options.keys() - {"out"}
    if RUN.get() is None or more or (low is None and high is None) or not any(map(_random, (a, low, high))):
        return _marked(_CLIP(a, low, high, *rest, **options))
    if not any(isinstance(x, np.ndarray | list | tuple) for x in (a, low, high)):
        return _clipped(a, low, high)
    return _into(options.get("out"), np.frompyfunc(_clipped, 3, 1)(*map(boxed, (a, low, high))))


def _into(out: Any, found: Any) -> Any:
    """What was found, in the array that the author's code wants it in."""
    if out is None:
        return found
    out[...] = found  # an array of floats refuses noise, and is opened then
    return out


def _random(x: Any) -> bool:
    if isinstance(x, np.ndarray):
        return x.dtype == object and any(isinstance(v, Dist) for v in x.ravel())
    return any(map(_random, x)) if isinstance(x, list | tuple) else isinstance(x, Dist)


def _clipped(*given: Any) -> Any:
    x, low, high = map(unwrap, given)
    if low is None:
        found = extreme(Pick.MIN, (x, high))
    else:
        found = extreme(Pick.MAX, (x, low)) if high is None else clipped(x, low, high)
    return wrap(checked(found, *map(typed, given)))


def _pairwise(real: Any, pick: Pick) -> Any:
    """numpy.maximum and its like: arrays of random values element by element, and not by forks."""

    def larger_or_smaller(a: Any, b: Any, *rest: Any, **options: Any) -> Any:
        if RUN.get() is None or rest or options.keys() - {"out"} or not (_random(a) or _random(b)):
            return _marked(real(a, b, *rest, **options))
        if not any(isinstance(x, np.ndarray | list | tuple) for x in (a, b)):
            return _extreme(pick, a, b)
        found = np.frompyfunc(lambda x, y: _extreme(pick, x, y), 2, 1)(*(boxed(x) for x in (a, b)))
        return _into(options.get("out"), found)

    return _named_like(larger_or_smaller, real)


def _named_like(function: Any, real: Any) -> Any:
    """A function under the name of one of NumPy's, with the methods of that one."""
    function.__name__ = function.__qualname__ = real.__name__
    for name in ("reduce", "accumulate", "outer", "at", "reduceat"):
        setattr(function, name, getattr(real, name))
    return function


def _marked(x: Any) -> Any:
    """In a run on plain numbers, elements that came from elsewhere are such numbers too: NumPy asks them for methods."""
    held = RUN.get() is not None and type(x) is np.ndarray and x.dtype == object
    return np.frompyfunc(marked, 1, 1)(x) if held and any(isinstance(v, PlainNumber) for v in x.flat) else x


def _extreme(pick: Pick, a: Any, b: Any) -> Any:
    for x in (a, b):
        if isinstance(x, float) and math.isnan(x):
            return x
    return wrap(checked(extreme(pick, (unwrap(a), unwrap(b))), typed(a), typed(b)))


def _one_by_one(real: Any) -> Any:
    """numpy.exp and its like on arrays that hold random values beside plain ones, of which NumPy asks a method `exp`."""

    def function(x: Any, *rest: Any, **options: Any) -> Any:
        if RUN.get() is None or rest or options or not isinstance(x, np.ndarray | list | tuple) or not _held(x):
            return real(x, *rest, **options)
        if isinstance(x, OpenArray) and not is_random(x):
            return real(x)
        return np.frompyfunc(lambda v: real(v if has_noise(v) else float(v)), 1, 1)(boxed(x))

    function.__name__ = function.__qualname__ = real.__name__
    return function


def _in_pairs(real: Any) -> Any:
    """numpy.copysign and its like, which NumPy has for arrays of floats only, and logical functions: element by element."""

    def function(a: Any, b: Any, *rest: Any, **options: Any) -> Any:
        if RUN.get() is None or rest or options or not any(isinstance(x, np.ndarray | list | tuple) and _held(x) for x in (a, b)):
            return real(a, b, *rest, **options)
        return np.frompyfunc(lambda x, y: real(*(v if has_noise(v) else float(v) for v in (x, y))), 2, 1)(boxed(a), boxed(b))

    return _named_like(function, real)


def _rounding(real: Any) -> Any:
    """numpy.round of arrays that hold random values beside plain ones: as Python's `round` does it, which is as NumPy does."""

    def function(x: Any, decimals: int = 0, *rest: Any, **options: Any) -> Any:
        if RUN.get() is None or rest or options or not isinstance(x, np.ndarray | list | tuple) or not _held(x):
            return real(x, decimals, *rest, **options)
        return np.frompyfunc(lambda v: real(float(v), decimals) if not has_noise(v) else round(v, decimals), 1, 1)(boxed(x))

    function.__name__ = function.__qualname__ = real.__name__
    return function


_SOLVE, _LEAST_SQUARES, _SELECT = np.linalg.solve, np.linalg.lstsq, np.select


def solve(a: Any, b: Any) -> Any:
    """numpy.linalg.solve: the right-hand side may be random, and the solution is linear in it."""
    return np.linalg.inv(np.asarray(a, float)) @ b if _held(b) and not _held(a) else _SOLVE(a, b)


def lstsq(a: Any, b: Any, rcond: Any = None) -> Any:
    """numpy.linalg.lstsq: the right-hand side may be random; of what is left over nothing is said."""
    if not _held(b) or _held(a):
        return _LEAST_SQUARES(a, b, rcond)
    inverse = np.linalg.pinv(np.asarray(a, float))
    return inverse @ np.asarray(b), np.empty(0), np.linalg.matrix_rank(a), np.linalg.svd(a, compute_uv=False)


def select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    """numpy.select: of single random values, the first choice whose condition holds."""
    conditions = [*condlist]
    if RUN.get() is None or any(not isinstance(x, Dist | PlainNumber | bool | np.bool_) for x in conditions):
        return _SELECT(condlist, choicelist, default)
    found = next((x for c, x in zip(conditions, choicelist, strict=True) if c), default)
    return found if has_noise(found) else np.asarray(found)[()]


def _held(x: Any) -> bool:
    """Whether values of a run are among the elements: random ones, or the plain ones that stand for them."""
    return RUN.get() is not None and np.asarray(x).dtype == object


_IN_PAIRS = (np.copysign, np.float_power, np.logical_and, np.logical_or, np.logical_xor)
_PAIRWISE = {np.maximum: Pick.MAX, np.minimum: Pick.MIN}
_OF_NUMPY = (getattr(np, name) for name in ELEMENTARY if hasattr(np, name))
_ONE_BY_ONE = (np.rint, np.sign, np.fabs, np.sin, np.cos, np.logical_not, *_OF_NUMPY)
ARRAYS: dict[int, Any] = {
    id(_CLIP): clip,
    id(_SOLVE): solve,
    id(_LEAST_SQUARES): lstsq,
    id(_SELECT): select,
    **{id(real): _pairwise(real, pick) for real, pick in _PAIRWISE.items()},
    **{id(real): _one_by_one(real) for real in _ONE_BY_ONE},
    **{id(real): _in_pairs(real) for real in _IN_PAIRS},
    **{id(real): _rounding(real) for real in (np.round, np.around)},
    **OPENING,
}
