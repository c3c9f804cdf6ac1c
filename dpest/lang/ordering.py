"""Python's and NumPy's functions that compare values, on lists and arrays in which some are random.

Each does what it stands for: the first of equals for `max`, `min`, `argmax` and `list.index`, the order of the list among
equals for `sorted`. What is given without random values goes to the function itself.
"""

from __future__ import annotations

import builtins
import heapq
import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dpest.errors import UnsupportedOperation
from dpest.lang.chosen import is_text
from dpest.lang.dist import Dist, conjunction, negate, truth, unwrap, wrap
from dpest.lang.extremes import extreme
from dpest.lang.functions import where
from dpest.lang.generators.counters import how_often
from dpest.lang.kinds import array_of_type, converted, number
from dpest.lang.logic import compare
from dpest.lang.nodes import (
    ArgExtreme,
    Draw,
    Extreme,
    Linear,
    Pick,
    Ranked,
    Relation,
    Where,
    combine,
    is_node,
    linear,
)
from dpest.lang.points import listed_points
from dpest.numerics.rationals import exact

OWNERS = (list, np.ndarray)
PlainFunction = Callable[..., Any]
_STABLE = 16  # NumPy's sort of at most this many values keeps the order of equal ones
_MISSING = object()


def _random(items: Sequence[Any]) -> bool:
    """Whether values can be ranked and some are random: numbers and random values, no NaN."""
    some = any(isinstance(x, Dist) for x in items)
    if some and any(isinstance(x, Dist) and is_text(x.node) for x in items):
        raise UnsupportedOperation("random texts have no order that is known")
    return some and all(isinstance(x, Dist) or (isinstance(x, int | float | np.number) and not math.isnan(x)) for x in items)


def _finite(items: Sequence[Any]) -> bool:
    return all(isinstance(x, Dist) or math.isfinite(x) for x in items)


def _nodes(items: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(unwrap(x) for x in items)


def _place(pick: Pick, items: Sequence[Any], rank: int = 0) -> Any:
    """The index of the value that stands at this place when the best come first."""
    if len(items) == 1:
        return 0
    return Dist(Ranked(pick, _nodes(items), rank, True) if rank else ArgExtreme(pick, _nodes(items)))


def _at(pick: Pick, items: Sequence[Any], rank: int) -> Any:
    """The value at this place when the best come first."""
    if rank == len(items) - 1:
        return wrap(extreme(Pick.MIN if pick is Pick.MAX else Pick.MAX, _nodes(items)))
    return wrap(extreme(pick, _nodes(items))) if rank == 0 else Dist(Ranked(pick, _nodes(items), rank, False))


def ranked(items: Sequence[Any], rank: int) -> Any:
    """The value at this place when the smallest come first."""
    return items[0] if len(items) == 1 else _at(Pick.MIN, items, rank)


def _of_two(items: Sequence[Any]) -> list[Any] | None:
    """Values that can only be one of two whole numbers, in order: how many are the larger one says it all."""
    points = [listed_points(x) for x in _nodes(items)]
    if any(p is None for p in points):
        return None
    both = sorted(set().union(*(p for p in points if p is not None)))
    if len(both) != 2 or any(x.denominator != 1 for x in both):
        return None
    low, high = map(int, both)
    total = Linear((), exact(0))
    for x in _nodes(items):
        total = combine(total, linear(x), 1)
    n = len(items)
    enough = (compare(Relation.GE, total, n * low + (n - r) * (high - low)) for r in range(n))
    # Whole numbers have no rounding that the program's own arithmetic would have to be asked about.
    return [wrap(Where(replace(c, written=None), high, low)) if is_node(c) else high if c else low for c in enough]


def _in_order(pick: Pick, items: Sequence[Any]) -> list[Any]:
    """All of the values, the best first."""
    found = _of_two(items)
    if found is None:
        return [_at(pick, items, r) for r in range(len(items))]
    return found[::-1] if pick is Pick.MAX else found


def _item(items: Sequence[Any], index: Any) -> Any:
    """items[index]: numbers stay one random value, for anything else the run forks."""
    if not isinstance(index, Dist) or not all(isinstance(x, Dist | int | float | np.number) for x in items):
        return items[index]
    if all(type(x) is int and x == i for i, x in enumerate(items)):
        return index
    out = unwrap(items[-1])
    for i in range(len(items) - 2, -1, -1):
        out = Where(compare(Relation.EQ, index.node, i), unwrap(items[i]), out)
    return Dist(out)


# -- Python ------------------------------------------------------------------------------------------------------------


def _extreme_of(pick: Pick, original: PlainFunction) -> PlainFunction:
    def traced(*values: Any, key: PlainFunction | None = None, default: Any = _MISSING) -> Any:
        items = list(values[0]) if len(values) == 1 and not isinstance(values[0], Dist) else list(values)
        keys = items if key is None else [key(x) for x in items]
        if not items or not _random(keys) or not _finite(keys):
            options = {} if default is _MISSING else {"default": default}
            return (
                original(items, **options)
                if key is None or not items
                else items[original(range(len(items)), key=keys.__getitem__)]
            )
        return wrap(extreme(pick, _nodes(items))) if key is None else _item(items, _place(pick, keys))

    return traced


def python_sorted(values: Any, *, key: PlainFunction | None = None, reverse: bool = False) -> list[Any]:
    """sorted(values, key=..., reverse=...)."""
    items = list(values)
    keys = items if key is None else [key(x) for x in items]
    if not _random(keys) or not _finite(keys):
        order = sorted(range(len(items)), key=keys.__getitem__, reverse=reverse)
        return [items[i] for i in order]
    pick = Pick.MAX if reverse else Pick.MIN
    if key is None:
        return _in_order(pick, items)
    return [_item(items, _place(pick, keys, r)) for r in range(len(items))]


def _best(original: PlainFunction, reverse: bool) -> PlainFunction:
    def traced(n: int, values: Any, key: PlainFunction | None = None) -> Any:
        items = list(values)
        keys = items if key is None else [key(x) for x in items]
        if not _random(keys):
            order = original(n, range(len(items)), keys.__getitem__)
            return [items[i] for i in order]
        pick = Pick.MAX if reverse else Pick.MIN
        count = builtins.min(n, len(items))
        return [_at(pick, items, r) if key is None else _item(items, _place(pick, keys, r)) for r in range(count)]

    return traced


def _middle(original: PlainFunction, parts: Callable[[int], tuple[int, ...]]) -> PlainFunction:
    """The values at the middle places, or their mean."""

    def traced(values: Any, *more: Any, **options: Any) -> Any:
        items = _flat(values)
        if items is None or not items or more or options or not _random(items) or not _finite(items):
            return original(values, *more, **options)
        found = [_at(Pick.MIN, items, r) for r in parts(len(items))]
        return found[0] if len(found) == 1 else (found[0] + found[1]) / 2

    return traced


def _both_middles(n: int) -> tuple[int, ...]:
    return (n // 2,) if n % 2 else (n // 2 - 1, n // 2)


def _all_of(original: PlainFunction, every: bool) -> PlainFunction:
    def traced(values: Any, *more: Any, **options: Any) -> Any:
        items = _flat(values)
        if items is None or more or options or not any(isinstance(x, Dist) for x in items):
            return original(values, *more, **options)
        truths = tuple(truth(unwrap(x)) for x in items)
        found = conjunction(truths) if every else negate(conjunction(tuple(map(negate, truths))))
        return wrap(found)

    return traced


# -- NumPy -------------------------------------------------------------------------------------------------------------


def _flat(values: Any) -> list[Any] | None:
    """The elements of a list, or of an array with one axis."""
    if isinstance(values, np.ndarray):
        return list(values) if values.ndim == 1 and values.dtype == object else None
    return list(values) if isinstance(values, list | tuple) else None


def _array(items: Sequence[Any]) -> Any:
    out = np.empty(len(items), dtype=object)
    out[:] = items
    return out


def _of_array(original: PlainFunction, traced: Callable[[list[Any]], Any], *, finite: bool = False) -> PlainFunction:
    """A function of the values along one axis; with other options NumPy's own."""

    def applied(values: Any, axis: Any = _MISSING, **options: Any) -> Any:
        given = {} if axis is _MISSING else {"axis": axis}
        items = _flat(values)
        if (
            items is not None
            and not options
            and axis in (_MISSING, None, 0, -1)
            and _random(items)
            and (not finite or _finite(items))
        ):
            found = traced(items)
            if found is not None:
                return found
        rows = values if isinstance(values, np.ndarray) and values.ndim == 2 and values.dtype == object else None
        if rows is not None and not options and axis in (0, 1, -1):
            along = [list(row) for row in (rows.T if axis == 0 else rows)]
            if along and all(map(_random, along)) and all(map(_finite, along)):
                each = [traced(row) for row in along]
                if not any(x is None or isinstance(x, np.ndarray) for x in each):
                    return _array(each)
        return original(values, **given, **options)

    return applied


def _sorted_places(items: list[Any]) -> Any:
    """The indices in increasing order of the values; None where equal values have no order that is promised."""
    if len(items) > _STABLE and not all(isinstance(x, Dist) and _has_noise_of_its_own(x, items) for x in items):
        return None
    return _array([_place(Pick.MIN, items, r) for r in range(len(items))])


def _has_noise_of_its_own(x: Dist, items: Sequence[Any]) -> bool:
    """Whether a value equals no other, almost surely."""
    terms = x.node.terms if isinstance(x.node, Linear) else ((x.node, 1),)
    return any(isinstance(d, Draw) and not d.law.discrete for d, _ in terms) and len({id(unwrap(y)) for y in items}) == len(items)


def _argsort(original: PlainFunction) -> PlainFunction:
    stable = _of_array(original, lambda items: _array([_place(Pick.MIN, items, r) for r in range(len(items))]), finite=True)
    plain = _of_array(original, _sorted_places, finite=True)

    def traced(values: Any, axis: Any = -1, kind: Any = None, **options: Any) -> Any:
        if kind in ("stable", "mergesort") and not options:
            return stable(values, axis)
        return plain(values, axis) if kind is None and not options else original(values, axis, kind, **options)

    return traced


def _partition(original: PlainFunction) -> PlainFunction:
    """All of the values in order: NumPy's own partition has the same value at the place asked for."""
    whole = _of_array(original, lambda items: _array(_in_order(Pick.MIN, items)), finite=True)

    def traced(values: Any, kth: Any, **options: Any) -> Any:
        items = _flat(values)
        return whole(values) if items is not None and _random(items) and not options else original(values, kth, **options)

    return traced


def _where(test: Any, *sides: Any, **options: Any) -> Any:
    random = isinstance(test, Dist) or (
        isinstance(test, np.ndarray | list) and any(isinstance(x, Dist) for x in np.ravel(_boxed(test)))
    )
    return where(_boxed(test), *sides) if random and len(sides) == 2 and not options else np.where(test, *sides, **options)


def _boxed(test: Any) -> Any:
    return test if isinstance(test, Dist) else np.asarray(test, dtype=object)


def _count(values: Any, **options: Any) -> Any:
    items = _flat(values)
    if items is None or options or not any(isinstance(x, Dist) for x in items):
        return np.count_nonzero(values, **options)
    return sum(converted(int, wrap(truth(unwrap(x)))) if isinstance(x, Dist) else int(bool(x)) for x in items)


# -- what stands for what ----------------------------------------------------------------------------------------------


def functions() -> dict[int, PlainFunction]:
    """By the id of a function: what stands for it."""
    of_array: dict[PlainFunction, Callable[[list[Any]], Any]] = {
        np.argmax: lambda items: _place(Pick.MAX, items),
        np.argmin: lambda items: _place(Pick.MIN, items),
        np.sort: lambda items: _array(_in_order(Pick.MIN, items)),
        **{f: (lambda items: wrap(extreme(Pick.MAX, _nodes(items)))) for f in (np.max, np.amax)},
        **{f: (lambda items: wrap(extreme(Pick.MIN, _nodes(items)))) for f in (np.min, np.amin)},
    }
    return {
        **{id(f): _of_array(f, traced, finite=True) for f, traced in of_array.items()},
        id(np.argsort): _argsort(np.argsort),
        id(np.partition): _partition(np.partition),
        id(np.median): _middle(np.median, _both_middles),
        id(statistics.median): _middle(statistics.median, _both_middles),
        id(statistics.median_low): _middle(statistics.median_low, lambda n: ((n - 1) // 2,)),
        id(statistics.median_high): _middle(statistics.median_high, lambda n: (n // 2,)),
        id(builtins.max): _extreme_of(Pick.MAX, builtins.max),
        id(builtins.min): _extreme_of(Pick.MIN, builtins.min),
        id(builtins.sorted): python_sorted,
        id(heapq.nlargest): _best(heapq.nlargest, True),
        id(heapq.nsmallest): _best(heapq.nsmallest, False),
        id(builtins.any): _all_of(builtins.any, False),
        id(builtins.all): _all_of(builtins.all, True),
        id(np.any): _all_of(np.any, False),
        id(np.all): _all_of(np.all, True),
        id(np.where): _where,
        id(np.count_nonzero): _count,
        **{id(kind): number(kind) for kind in (int, float, bool)},
    }


def method(bound: Any) -> Any:
    """What stands for a method of a list or an array."""
    owner, name = bound.__self__, bound.__name__
    if isinstance(owner, list):
        return _OF_LISTS[name](owner, bound) if name in _OF_LISTS else bound
    if owner.dtype == object and name == "astype":
        return lambda dtype, **options: array_of_type(owner, dtype, **options)
    if owner.dtype != object or name not in _OF_ARRAYS:
        return bound
    traced = functions()[id(getattr(np, name))]
    return lambda *args, **options: traced(owner, *args, **options)


_OF_ARRAYS = frozenset({"argmax", "argmin", "max", "min", "argsort", "any", "all"})


def _index(owner: list[Any], bound: Any) -> PlainFunction:
    def traced(value: Any, *more: Any) -> Any:
        node = unwrap(value)
        if more or not isinstance(node, Extreme) or len(node.values) != len(owner):
            return bound(value, *more)
        same = all(a is b for a, b in zip(_nodes(owner), node.values, strict=True))
        return _place(node.pick, owner) if same and _random(owner) and _finite(owner) else bound(value)

    return traced


def _counted(owner: list[Any], bound: Any) -> PlainFunction:
    def traced(value: Any) -> Any:
        if not any(isinstance(x, Dist) for x in (value, *owner)):
            return bound(value)
        return how_often(value, owner)

    return traced


def _sort(owner: list[Any], bound: Any) -> PlainFunction:
    def traced(*, key: PlainFunction | None = None, reverse: bool = False) -> None:
        owner[:] = python_sorted(owner, key=key, reverse=reverse)

    return traced


_OF_LISTS: dict[str, Callable[[list[Any], Any], PlainFunction]] = {"index": _index, "count": _counted, "sort": _sort}
