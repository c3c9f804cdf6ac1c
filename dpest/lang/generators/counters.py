"""`collections.Counter` of a shuffled list, whose order stays open, and of random values, which stay random."""

from __future__ import annotations

import collections
from collections.abc import Sequence
from typing import Any

from dpest.errors import RandomTruth
from dpest.lang.chosen import is_text
from dpest.lang.dist import Dist
from dpest.lang.kinds import converted
from dpest.lang.one_text import left_random, texts_of
from dpest.lang.points import has_listed_points, listed_points, of_whole_numbers
from dpest.lang.run import RUN
from dpest.lang.shuffled import OrderMatters, Shuffled, whole_list


class UnorderedCounter(collections.Counter[Any]):
    """A counter whose keys came in an order that is left open: who goes through it asks for the order."""


def _asks_for_the_order(*_: Any, **__: Any) -> Any:
    raise OrderMatters


_OTHERS = (
    *("__iter__", "__reversed__", "__repr__", "__reduce__", "keys", "values", "items", "most_common", "elements", "copy"),
    *("popitem", "update", "subtract", "__setitem__", "__delitem__", "setdefault", "pop", "clear", "__copy__", "__deepcopy__"),
    *("__add__", "__sub__", "__or__", "__and__", "__pos__", "__neg__", "__iadd__", "__isub__", "__ior__", "__iand__", "__ror__"),
    *("__eq__", "__ne__", "__le__", "__lt__", "__ge__", "__gt__", "__hash__", "total"),
)
for _name in _OTHERS:
    setattr(UnorderedCounter, _name, _asks_for_the_order)


class RandomCounter(collections.Counter[Any]):
    """A counter of values of which some are random: how often a given one comes is a sum; nothing else can be asked."""

    counted: list[Any]

    def __getitem__(self, key: Any) -> Any:
        return how_often(key, self.counted)

    def get(self, key: Any, default: Any = None) -> Any:
        """How often a value comes; where another number stands for never, whether it came must be known."""
        if type(default) is not int or default != 0:
            _asks_for_the_keys()
        return how_often(key, self.counted)


    def possible(self) -> tuple[Any, ...]:
        """Every text and whole number that may be among the values."""
        found = {key for x in self.counted for key in _keys(x)}
        return tuple(sorted(found, key=repr))  # as the keys of a dict in an output


def _asks_for_the_keys(*_: Any, **__: Any) -> Any:
    raise RandomTruth("which values a counter of random ones holds is not known: ask how often each comes, counter[value]")


for _name in (*_OTHERS, "__len__", "__contains__", "__missing__"):
    setattr(RandomCounter, _name, _asks_for_the_keys)


def _keys(x: Any) -> set[Any]:
    if type(x) is not Dist:
        return {x}
    return texts_of(x.node) if is_text(x.node) else {int(k) for k in listed_points(x.node) or ()}


def how_often(value: Any, items: list[Any]) -> Any:
    """How many of some values, of which some may be random, are equal to one."""
    return sum(converted(int, t) if isinstance(t, Dist) else int(bool(t)) for t in (x == value for x in items))


def _may_be_key(x: Any) -> bool:
    """Whether the keys that a value may be are known: texts, or whole numbers."""
    if type(x) is Dist:
        return is_text(x.node) or (of_whole_numbers(x.node) and has_listed_points(x.node))
    return type(x) in (str, int)


def _count(mapping: Any, iterable: Any, /) -> Any:
    """What `Counter(iterable)` calls."""
    if RUN.get() is None:
        return _COUNT(mapping, iterable)
    if type(iterable) is list and any(type(x) is Shuffled for x in iterable):
        values = whole_list(iterable)
        if values is None or mapping or type(mapping) is not collections.Counter:
            raise OrderMatters
        if not _stays_random(mapping, values):
            _COUNT(mapping, values)
            mapping.__class__ = UnorderedCounter
        return None
    if type(mapping) is collections.Counter and not mapping and getattr(RUN.get(), "together", False):
        iterable = list(iterable)
        if _stays_random(mapping, iterable):
            return None
    return _COUNT(mapping, iterable)


def _stays_random(mapping: Any, values: Sequence[Any]) -> bool:
    """Whether an empty counter counts random values without asking which they are."""
    random = any(type(x) is Dist for x in values) and all(map(_may_be_key, values))
    if not random or not getattr(RUN.get(), "together", False) or not left_random():
        return False
    mapping.__class__ = RandomCounter
    vars(mapping)["counted"] = [*values]
    return True


_COUNT: Any = vars(collections)["_count_elements"]
# By what they replace.
COUNTERS: dict[int, Any] = {id(_COUNT): _count}
