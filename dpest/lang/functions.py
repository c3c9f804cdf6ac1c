"""Functions on random values, plain numbers, and lists or arrays of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from dpest.errors import InvalidInput, UnsupportedOperation
from dpest.lang.dist import Dist, rounded, truth, unwrap, wrap
from dpest.lang.extremes import extreme
from dpest.lang.nodes import NODES, Apply, ArgExtreme, Pick, Rounding, Where, is_node
from dpest.lang.plain_numbers import PlainNumber, bare, marked
from dpest.lang.run import on_plain_numbers, shown

_SEQUENCES = (list, tuple, np.ndarray)


def where(condition: Any, yes: Any, no: Any) -> Any:
    """`yes` where the condition holds, else `no`; lists and arrays of one shape go element by element. Also `branch` and `mux`.

    Args:
        condition: a comparison of random values, a truth value, or an array of them.
        yes: the value where it holds.
        no: the value where it does not.

    Example:
        >>> import dpest
        >>> flip = lambda x: dpest.where(dpest.bernoulli(0.25) == 1, 1 - x, x)
        >>> print(f"{dpest.estimate(flip, (0, 1)):.6f}")
        1.098612
    """
    if isinstance(condition, np.ndarray) or isinstance(yes, np.ndarray) or isinstance(no, np.ndarray):
        parts = np.broadcast_arrays(*(np.asarray(x, dtype=object) for x in (condition, yes, no)))
        return _filled(parts[0].shape, [where(*xs) for xs in zip(*(p.ravel() for p in parts), strict=True)])
    if isinstance(yes, list | tuple) and isinstance(no, list | tuple):
        if len(yes) != len(no):
            raise InvalidInput(f"where(...) needs two sequences of one length, got {len(yes)} and {len(no)} values")
        chosen = truth(unwrap(condition))
        if any(isinstance(x, _SEQUENCES) for x in (*yes, *no)):
            return type(yes)([where(condition, a, b) for a, b in zip(yes, no, strict=True)])
        if not is_node(chosen):
            return type(yes)(yes if chosen else no)
        return type(yes)([_side(chosen, a, b) for a, b in zip(yes, no, strict=True)])
    return _side(truth(unwrap(condition)), yes, no)


def _side(chosen: Any, yes: Any, no: Any) -> Any:
    return Dist(Where(chosen, unwrap(yes), unwrap(no))) if is_node(chosen) else yes if chosen else no


branch = where
mux = where


def maximum(a: Any, b: Any) -> Any:
    """The larger of two values; arrays go element by element.

    Args:
        a: a number or a random value, or an array of them.
        b: the other one.

    Example:
        >>> import dpest
        >>> print(f"{dpest.estimate(lambda x: dpest.maximum(x + dpest.laplace(1), 0), (1, 2)):.3f}")
        1.000
    """
    return _paired(Pick.MAX, a, b)


def minimum(a: Any, b: Any) -> Any:
    """The smaller of two values; arrays go element by element.

    Args:
        a: a number or a random value, or an array of them.
        b: the other one.

    Example:
        >>> import dpest
        >>> print(f"{dpest.estimate(lambda x: dpest.minimum(x + dpest.laplace(1), 5), (1, 2)):.3f}")
        1.000
    """
    return _paired(Pick.MIN, a, b)


def clip(x: Any, low: Any, high: Any) -> Any:
    """x, brought into [low, high]: min(max(x, low), high), so that `high` wins where random bounds cross, as in NumPy.

    Args:
        x: a number or a random value, or an array of them.
        low: the smallest value that comes out.
        high: the largest value that comes out, >= low.

    Example:
        >>> import dpest
        >>> print(f"{dpest.estimate(lambda x: dpest.clip(x + dpest.geometric(1), 0, 3), (1, 2)):.3f}")
        1.000
    """
    plain = not any(isinstance(x, Dist | np.ndarray | list | tuple) for x in (low, high))
    if plain and low > high and not on_plain_numbers():  # there a number may stand for a random bound, and those may cross
        raise InvalidInput(f"clip(x, low, high) needs low <= high, got low={shown(low)}, high={shown(high)}")
    return minimum(maximum(x, low), high)


def max(*values: Any) -> Any:
    """The largest of several values: max([a, b]) or max(a, b).

    Args:
        values: numbers and random values, one by one or in one list.

    Example:
        >>> import dpest
        >>> print(f"{dpest.estimate(lambda x: dpest.max([v + dpest.laplace(1) for v in x]), ([0, 0], [1, 1])):.3f}")
        2.000
    """
    return _extreme(Pick.MAX, _listed("max", values))


def min(*values: Any) -> Any:
    """The smallest of several values: min([a, b]) or min(a, b).

    Args:
        values: numbers and random values, one by one or in one list.

    Example:
        >>> import dpest
        >>> print(f"{dpest.estimate(lambda x: dpest.min([v + dpest.laplace(1) for v in x]), ([0, 0], [1, 1])):.3f}")
        2.000
    """
    return _extreme(Pick.MIN, _listed("min", values))


def argmax(values: Iterable[Any]) -> Any:
    """The first index of the largest value.

    Args:
        values: a list or array of numbers and random values.

    Example:
        >>> import dpest
        >>> noisy_max = lambda x: dpest.argmax([v + dpest.laplace(2) for v in x])
        >>> print(f"{dpest.estimate(noisy_max, ([0, 1], [1, 0])):.3f}")
        0.493
    """
    return _arg(Pick.MAX, _listed("argmax", (values,)))


def argmin(values: Iterable[Any]) -> Any:
    """The first index of the smallest value.

    Args:
        values: a list or array of numbers and random values.

    Example:
        >>> import dpest
        >>> noisy_min = lambda x: dpest.argmin([v + dpest.laplace(2) for v in x])
        >>> print(f"{dpest.estimate(noisy_min, ([0, 1], [1, 0])):.3f}")
        0.493
    """
    return _arg(Pick.MIN, _listed("argmin", (values,)))


def cumsum(values: Iterable[Any]) -> Any:
    """Running sums, as an array.

    Args:
        values: a list or array of numbers and random values.

    Example:
        >>> import dpest
        >>> sums = lambda x: dpest.cumsum([v + dpest.laplace(1) for v in x])
        >>> print(f"{dpest.estimate(sums, ([0, 0], [1, 0])):.3f}")
        1.000
    """
    items = list(values)
    out = np.empty(len(items), dtype=object)
    total: Any = 0.0
    for i, x in enumerate(items):
        total = total + x
        out[i] = total
    return out


def floor(x: Any) -> Any:
    """The largest whole number <= x; `math.floor` works too.

    Args:
        x: a number or a random value, or an array of them.

    Example:
        >>> import dpest
        >>> print(f"{dpest.estimate(lambda x: dpest.floor(x + dpest.laplace(2)), (0, 1)):.3f}")
        0.500
    """
    return _mapped(lambda v: rounded(Rounding.FLOOR, v), x)


def ceil(x: Any) -> Any:
    """The smallest whole number >= x; `math.ceil` works too.

    Args:
        x: a number or a random value, or an array of them.

    Example:
        >>> import dpest
        >>> print(f"{dpest.estimate(lambda x: dpest.ceil(x + dpest.laplace(2)), (0, 1)):.3f}")
        0.500
    """
    return _mapped(lambda v: rounded(Rounding.CEIL, v), x)


def apply(function: Callable[..., Any], *values: Any) -> Any:
    """A function of random values that dpest cannot look into; the mechanism can then be sampled, not inferred exactly.

    Args:
        function: takes NumPy arrays, one for each value, and returns an array of the same length.
        values: numbers and random values.

    Example:
        >>> import dpest
        >>> import numpy as np
        >>> odd = lambda x: dpest.apply(np.sinc, x + dpest.laplace(1))
        >>> dpest.estimate(odd, (0, 1), samples=1000, seed=1).method
        'sampling'
    """
    if not callable(function):
        raise InvalidInput(f"apply(function, *values) needs a function first, got {function!r}")
    if any(isinstance(v, PlainNumber) for v in values):
        return _applied(function, values)
    if not any(isinstance(v, Dist) for v in values):
        return function(*values)
    return Dist(Apply(function, tuple(unwrap(v) for v in values)))


def _applied(function: Callable[..., Any], values: tuple[Any, ...]) -> Any:
    """The function on numbers that stand for draws: it is written for arrays of them, and gets arrays of one."""
    arrays = (np.array([bare(v)]) if isinstance(v, PlainNumber) else v for v in values)
    return marked(np.ravel(np.asarray(function(*arrays)))[0])


def _listed(name: str, values: tuple[Any, ...]) -> list[Any]:
    items = list(values[0]) if len(values) == 1 and not isinstance(values[0], Dist) else list(values)
    if not items:
        raise InvalidInput(f"{name}(values) needs at least one value, got none")
    for x in items:
        if not isinstance(x, Dist) and not (isinstance(x, int | float | np.number) and not math.isnan(x)):
            raise UnsupportedOperation(f"{name}(values) needs numbers or random values, got {shown(x)}")
    return [unwrap(x) for x in items]


def _random(values: list[Any]) -> bool:
    return any(isinstance(v, NODES) for v in values)


def _extreme(pick: Pick, values: list[Any]) -> Any:
    return wrap(extreme(pick, values))


def _arg(pick: Pick, values: list[Any]) -> Any:
    if not _random(values):
        numbers = [bare(v) for v in values]
        return numbers.index(_extreme(pick, numbers))
    if any(not isinstance(v, NODES) and math.isinf(v) for v in values):
        raise UnsupportedOperation(f"arg{pick.value}(values) needs finite numbers beside random values, got an infinite one")
    return Dist(ArgExtreme(pick, tuple(values))) if len(values) > 1 else 0


def _paired(pick: Pick, a: Any, b: Any) -> Any:
    if any(isinstance(x, np.ndarray | list | tuple) for x in (a, b)):
        parts = np.broadcast_arrays(*(np.asarray(x, dtype=object) for x in (a, b)))
        return _filled(parts[0].shape, [_paired(pick, *xs) for xs in zip(*(p.ravel() for p in parts), strict=True)])
    return _extreme(pick, _listed(pick.value, (a, b)))


def _mapped(function: Callable[[Any], Any], x: Any) -> Any:
    if isinstance(x, np.ndarray | list | tuple):
        array = np.asarray(x, dtype=object)
        return _filled(array.shape, [function(v) for v in array.ravel()])
    return function(x)


def _filled(shape: tuple[int, ...], items: list[Any]) -> Any:
    out = np.empty(len(items), dtype=object)
    for i, x in enumerate(items):
        out[i] = x
    return out.reshape(shape)
