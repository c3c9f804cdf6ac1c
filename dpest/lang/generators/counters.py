"""`collections.Counter` of a shuffled list: how often each value comes is the same in every order."""

from __future__ import annotations

import collections
from typing import Any

from dpest.lang.run import RUN
from dpest.lang.shuffled import OrderMatters, Shuffled, whole_list


class UnorderedCounter(collections.Counter[Any]):
    """A counter whose keys came in an order that is left open: who goes through it asks for the order."""


def _asks_for_the_order(*_: Any, **__: Any) -> Any:
    raise OrderMatters


for _name in (
    *("__iter__", "__reversed__", "__repr__", "__reduce__", "keys", "values", "items", "most_common", "elements", "copy"),
    *("popitem", "update", "subtract", "__setitem__", "__delitem__", "setdefault", "pop", "clear", "__copy__", "__deepcopy__"),
    *("__add__", "__sub__", "__or__", "__and__", "__pos__", "__neg__", "__iadd__", "__isub__", "__ior__", "__iand__", "__ror__"),
    *("__eq__", "__ne__", "__le__", "__lt__", "__ge__", "__gt__", "__hash__", "total"),
):
    setattr(UnorderedCounter, _name, _asks_for_the_order)


def _count(mapping: Any, iterable: Any, /) -> Any:
    """What `Counter(iterable)` calls."""
    if RUN.get() is None or type(iterable) is not list or not any(type(x) is Shuffled for x in iterable):
        return _COUNT(mapping, iterable)
    values = whole_list(iterable)
    if values is None or mapping or type(mapping) is not collections.Counter:
        raise OrderMatters
    _COUNT(mapping, values)
    mapping.__class__ = UnorderedCounter
    return None


_COUNT: Any = vars(collections)["_count_elements"]
# By what they replace.
COUNTERS: dict[int, Any] = {id(_COUNT): _count}
