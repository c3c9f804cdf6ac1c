"""Values in a random order that nobody looks at: who sees them all, shuffled, learns which values there are, and no more.

A list that is shuffled and released has n! orders, all equally likely whatever the values are. Where the program does nothing
with the shuffled values but return all of them, or add all of them up, the order is left open: no draw is made for it, and the
values count as a multiset. Any other use asks for the order, and the run is made again with the order drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from typing import Any

from dpest.errors import UnsupportedOperation
from dpest.lang.chosen import is_text
from dpest.lang.dist import Dist
from dpest.numerics.setting import Setting

_LEFT_OPEN: ContextVar[bool] = ContextVar("dpest_orders_left_open", default=False)


class OrderMatters(BaseException):
    """A shuffled value is used by itself; no `except Exception` of the author's catches it."""


class HoldsNumbersOnly(OrderMatters):
    """An array of plain numbers is shuffled in place: it cannot hold values whose order is open."""


def orders_left_open() -> AbstractContextManager[bool]:
    """Inside the block, a shuffle makes no draws."""
    return Setting(_LEFT_OPEN, True)


def left_open() -> bool:
    """Whether the order of a shuffle is left open now."""
    return _LEFT_OPEN.get()


def _asks_for_the_order(*_: Any, **__: Any) -> Any:
    raise OrderMatters


class Shuffled:
    """The value at one place of a shuffled list, or the sum of the values at some of its places."""

    __slots__ = ("places", "total", "values")
    __class__ = property(_asks_for_the_order)  # isinstance(value, str) asks for it

    def __init__(self, values: tuple[Any, ...], places: frozenset[int], total: Any) -> None:
        self.values = values  # of the whole list, before it was shuffled: the same object for all of its places
        self.places = places
        self.total = total

    def __add__(self, other: Any) -> Any:
        if type(other) is not Shuffled:
            return self._summed(self.places, self.total + other)
        if other.values is not self.values or other.places & self.places:
            raise OrderMatters
        return self._summed(self.places | other.places, self.total + other.total)

    __radd__ = __add__

    def _summed(self, places: frozenset[int], total: Any) -> Any:
        """The sum of all values is the same in every order."""
        return total if len(places) == len(self.values) else Shuffled(self.values, places, total)

    def __reduce__(self) -> Any:
        raise OrderMatters


_COMPARED = ("lt", "le", "gt", "ge", "eq", "ne", "bool", "hash", "contains")
_COMPUTED = ("sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "floordiv", "rfloordiv", "mod", "rmod", "pow", "rpow")
_BITS = ("neg", "pos", "and", "rand", "or", "ror", "xor", "rxor", "invert", "lshift", "rshift", "matmul", "rmatmul")
_PLAIN = (
    "divmod",
    "rdivmod",
    "abs",
    "round",
    "floor",
    "ceil",
    "trunc",
    "int",
    "float",
    "complex",
    "index",
    "str",
    "repr",
    "format",
)
_MORE = ("iter", "len", "getitem", "call", "copy", "deepcopy", "array", "array_ufunc")
for _name in (*_COMPARED, *_COMPUTED, *_BITS, *_PLAIN, *_MORE):
    setattr(Shuffled, f"__{_name}__", _asks_for_the_order)


def in_open_order(items: Sequence[Any]) -> list[Any]:
    """The values of a list that was shuffled, their order left open."""
    values = tuple(items)
    return [Shuffled(values, frozenset((k,)), x) for k, x in enumerate(values)]


def met_an_order(error: BaseException | None) -> bool:
    """Whether code without a frame, as of str.join or of NumPy's indices, may have been handed a place of a shuffled list."""
    if isinstance(error, IndexError):
        return "arrays used as indices" in str(error)
    return isinstance(error, TypeError) and Shuffled.__name__ in str(error)


def whole_list(items: Sequence[Any]) -> tuple[Any, ...] | None:
    """The values of a shuffled list whose places are the items, each once; None where they are not all of them, or others."""
    first = items[0]
    if not all(type(x) is Shuffled and x.values is first.values and len(x.places) == 1 for x in items):
        return None
    same = all(x.total is x.values[min(x.places)] for x in items)
    seen = {place for x in items for place in x.places}
    return tuple(first.values) if same and len(items) == len(seen) == len(first.values) else None


def released_orders(leaves: Sequence[Any]) -> tuple[tuple[Any, ...], tuple[tuple[int, ...], ...]]:
    """The leaves of an output with the values that were shuffled, and where those of each shuffled list are."""
    if not any(type(x) is Shuffled for x in leaves):
        return tuple(leaves), ()
    found: dict[int, tuple[tuple[Any, ...], list[int]]] = {}
    out = list(leaves)
    for at, x in enumerate(leaves):
        if type(x) is Shuffled:
            if x.total is not x.values[min(x.places)]:  # a sum of some of them
                raise OrderMatters
            found.setdefault(id(x.values), (x.values, []))[1].append(at)
    for values, places in found.values():
        seen = {place for at in places for place in leaves[at].places}
        if len(places) != len(values) or len(seen) != len(values):  # some are left out, or come twice
            raise OrderMatters
        if any(is_text(x.node) for x in values if isinstance(x, Dist)):
            raise UnsupportedOperation("random texts in a random order are told apart by their order, which is not known")
        for at, value in zip(places, values, strict=True):
            out[at] = value
    return tuple(out), tuple(tuple(places) for _, places in found.values())
