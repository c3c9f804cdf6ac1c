"""What a mechanism gets in each run: its own copy of the data, so that `data.sort()` or `data[i] += noise` ends with the run."""

from __future__ import annotations

import copy
import sys
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Iterator, Mapping
from contextlib import suppress
from types import MemberDescriptorType
from typing import Any

import numpy as np

from dpest.lang.generators.places import is_authors

_FIXED = frozenset({bool, int, float, complex, str, bytes, type(None), np.float64, np.int64, np.bool_})
_TABLES = (dict, OrderedDict, defaultdict, Counter)
# What an object does with copies of its own making is not known.
_ODD = frozenset({"__copy__", "__deepcopy__", "__reduce__", "__reduce_ex__", "__getstate__", "__setstate__", "__del__"})


def handed(x: Any) -> Any:
    """A copy of containers, arrays, tables and objects of the author's; everything else as it is."""
    return x if type(x) in _FIXED else _handed(x, {})


def all_handed(values: Mapping[str, Any]) -> dict[str, Any]:
    """The same for each parameter."""
    return {name: handed(x) for name, x in values.items()}


def _handed(x: Any, known: dict[int, Any]) -> Any:
    kind = type(x)
    if kind in _FIXED:
        return x
    if id(x) in known:
        return known[id(x)]
    if kind is tuple:
        items = tuple(_handed(v, known) for v in x)
        return x if all(a is b for a, b in zip(items, x, strict=True)) else items
    new = known[id(x)] = _shell(x)
    if new is x:
        return x
    if kind is list or kind is deque:
        if not _FIXED.issuperset(map(type, x)):
            for i, v in enumerate(x):
                new[i] = _handed(v, known)
    elif kind in _TABLES:
        for k, v in x.items():
            new[k] = _handed(v, known)
    elif isinstance(x, np.ndarray):
        for at in np.ndindex(x.shape) if x.dtype == object else ():
            new[at] = _handed(x[at], known)
    elif is_authors(kind):
        for slot, v in _in_slots(x):
            slot.__set__(new, _handed(v, known))
        if hasattr(x, "__dict__"):
            vars(new).update({name: _handed(v, known) for name, v in vars(x).items()})
    return new


def _shell(x: Any) -> Any:
    """A copy that holds the same things; the value itself where it is none of those that are copied."""
    if type(x) in (list, deque, set, bytearray, *_TABLES):
        return copy.copy(x)
    if isinstance(x, np.ndarray):
        return x.copy(order="K") if x.flags.writeable else x
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(x, pandas.DataFrame | pandas.Series):
        return x.copy()
    if isinstance(x, type) or not is_authors(type(x)) or not _is_plain(type(x)):
        return x
    return copy.copy(x)


def _is_plain(kind: type) -> bool:
    """Whether objects of a class of the author's hold what their attributes show, and are copied as all objects are."""
    return type(kind) is type and all(c is object or (is_authors(c) and not _copies_itself(c)) for c in kind.__mro__)


def _copies_itself(c: type) -> bool:
    return any(is_authors(vars(c)[name]) for name in _ODD & vars(c).keys())  # those of dataclasses do what all objects do


def _in_slots(x: Any) -> Iterator[tuple[Any, Any]]:
    """The slots of an object that hold something, and what they hold."""
    for c in type(x).__mro__:
        for slot in vars(c).values():
            if isinstance(slot, MemberDescriptorType):
                with suppress(AttributeError):  # which has no value yet
                    yield slot, slot.__get__(x)
