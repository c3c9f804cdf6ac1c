"""What values hold, as something that can be compared: two runs whose values hold the same go on alike."""

from __future__ import annotations

import gc
from collections import defaultdict, deque
from collections.abc import Iterator
from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from dpest.lang.dist import Dist
from dpest.lang.generators.places import is_authors, names_in
from dpest.lang.generators.standins import StandIn
from dpest.lang.nodes import Draw, Node, draws_of, is_integral, is_node
from dpest.lang.plain import Undetermined, evaluate
from dpest.lang.signature import signature, written_out
from dpest.numerics.rationals import ONE
from dpest.trace.literal import FREE, Bounds, ends

_FIELDS = (int, float, str, list, dict, set, tuple, deque, np.ndarray, Dist)  # what a class may count with, or keep
_TABLES: tuple[Any, ...] = ({}, {}.values(), {}.items(), set())
_OF_TABLES = tuple(type(iter(x)) for x in _TABLES)
_SEQUENCES: tuple[Any, ...] = ([], (), range(0), range(2**64), "", "\u0100", b"", np.zeros(1), reversed([]))
# Iterators that say where they stand, as `copy` would have it, without going on; what they go through is part of that.
_ITERATORS = (*(type(iter(x)) for x in _SEQUENCES), *_OF_TABLES, enumerate, zip, map, filter, reversed)
MOST_PARTS = 2000  # values in a state that are compared; beyond, nothing is claimed


def named(held: dict[str, Any], names: frozenset[str]) -> dict[str, Any]:
    """The global names of code, and what it takes from modules of the author's by name."""
    found = {name: held[name] for name in sorted(names & held.keys())}
    for module in [x for x in found.values() if isinstance(x, ModuleType) and is_authors(x)]:
        inside = vars(module)
        found.update({f"{module.__name__}.{name}": inside[name] for name in sorted(names & inside.keys())})
    return found


def _may_change(x: Any) -> bool:
    """Whether what a class holds can be state: numbers, containers and the author's own objects; tools of libraries are not."""
    return isinstance(x, (*_FIELDS, Iterator)) or (not isinstance(x, type) and is_authors(type(x)))


class _Plain:
    """An object that holds what its `__dict__` shows, and no more."""


def _shows_all(kind: type) -> bool:
    """Whether objects of a class hold nothing but what their `__dict__` shows: no slots, and nothing that C code keeps."""
    plain = kind.__basicsize__ == _Plain.__basicsize__ and kind.__itemsize__ == 0
    return plain and not any(vars(c).get("__slots__") for c in kind.__mro__)  # those of ABC and Generic are empty


def _is_value(kind: type) -> bool:
    """Whether objects of a class are values, such as dates and fractions: equal by content, and made to be keys."""
    own = {name for base in kind.__mro__[:-1] for name in vars(base) if vars(base)[name] is not None}
    return {"__eq__", "__hash__"} <= own


class Hidden(Exception):
    """A value whose content cannot be compared."""


class Snapshot:
    """Values as something hashable: draws and objects are numbered in the order in which they are met.

    A replay makes its objects anew: they are the same if they hold the same.
    """

    def __init__(self, bounds: Bounds) -> None:
        self.bounds = bounds
        self.draws: dict[int, Draw] = {}
        self.numbers: dict[int, int] = {}
        self.objects: dict[int, int] = {}
        self._kept: list[Any] = []  # so that no other object can come to have the id of one that was met
        self.parts = 0

    def of(self, x: Any) -> Any:
        """The content of a value; raises where it cannot be seen."""
        self.parts += 1
        if self.parts > MOST_PARTS:
            raise Hidden
        match x:
            case None | bool() | int() | str() | bytes():
                return (type(x), x)
            case float() | complex():
                return (type(x), repr(x))
            case np.generic():
                return (type(x), self.of(x.item()))
            case BuiltinFunctionType() if not isinstance(x.__self__, ModuleType | None):
                return ("bound", x.__name__, self.of(x.__self__))
            case BuiltinFunctionType() | ModuleType():
                return ("by name", id(x))  # what a replay does not make anew
            case type():
                return ("by name", id(x), self._fields(x))
        node = x.node if isinstance(x, Dist) else x if is_node(x) else None
        known = None if node is None else self.known(node)
        if known is not None:
            return known
        if id(x) in self.objects:
            return ("again", self.objects[id(x)])
        self.objects[id(x)] = len(self.objects)
        self._kept.append(x)
        return self._object(x) if node is None else self.random(node)

    def known(self, node: Node) -> Any:
        """The content of a random value that the conditions taken so far leave one number of; None where they leave more."""
        point = self.point(node)
        return None if point is None else self.of(point)

    def _fields(self, x: type) -> Any:
        """What a class holds: a counter there is state, and so is what its methods can reach."""
        if not is_authors(x):
            return None
        if id(x) in self.objects:
            return ("again", self.objects[id(x)])
        self.objects[id(x)] = len(self.objects)
        held = [(k, getattr(v, "__func__", getattr(v, "fget", v))) for k, v in vars(x).items()]
        told = [(k, self.of(v)) for k, v in held if isinstance(v, FunctionType) or (_may_change(v) and k[:2] != "__")]
        return tuple(told), tuple(self._fields(base) for base in x.__mro__[1:])

    def point(self, node: Node) -> Any:
        """The number that the conditions taken so far leave of a discrete value; None where they leave more."""
        known: dict[int, int] = {}
        for draw in draws_of(node):
            if not is_integral(draw):
                return None
            span = zip(ends(self.bounds.get(((draw, ONE),), FREE)), draw.law.support, strict=True)
            low, high = (float(end if end is not None else last) for end, last in span)
            if low != high:
                return None
            known[id(draw)] = int(low)
        try:
            return evaluate(node, known)
        except (Undetermined, ArithmeticError):
            return None

    def random(self, node: Node) -> Any:
        """The making of a random value; its draws are noted."""
        self.parts += written_out(node, {})
        if self.parts > MOST_PARTS:
            raise Hidden
        self.draws.update((id(d), d) for d in draws_of(node) if id(d) not in self.numbers)
        found = signature(node, set(), self.numbers)
        self.draws = {i: self.draws[i] for i in self.numbers}  # in the order of their numbers
        return ("random", found)

    def _object(self, x: Any) -> Any:
        match x:
            case list() | tuple() | deque() | set() | frozenset() | dict():
                return (type(x), self._held(x), self._own(x))
            case StandIn():
                return type(x)  # it has no state: every draw is a new one
            case partial():
                return (partial, self.of(x.func), self.of(x.args), self.of(x.keywords))
            case np.ndarray():
                base = self.of(x.base) if isinstance(x.base, np.ndarray) else None  # which it may be changed through
                return (type(x), x.dtype, x.shape, base, tuple(self.of(v) for v in x.ravel()))
            case FunctionType():
                return self._function(x)
            case Iterator() if type(x) in _ITERATORS:
                return self._iterator(x)
            case MethodType():
                return (MethodType, self.of(x.__func__), self.of(x.__self__))
        if _shows_all(type(x)):
            return (type(x), self.of(vars(x)), self._fields(type(x)))
        if not _is_value(type(x)):
            raise Hidden
        slots = [getattr(x, name) for c in type(x).__mro__ for name in vars(c).get("__slots__", ()) if hasattr(x, name)]
        if any(isinstance(held, Dist) for held in slots):
            raise Hidden
        return (type(x), x)

    def _iterator(self, x: Any) -> Any:
        """What an iterator goes through, and how far it has come."""
        try:
            stands = x.__reduce__()
        except RuntimeError:  # a dict or a set that changed under it
            raise Hidden from None
        # What is left of a dict or a set is a list of its own, and may still change with it.
        return (type(x), self.of(stands), self.of(gc.get_referents(x) if isinstance(x, _OF_TABLES) else None))

    def _held(self, x: Any) -> Any:
        """The content of a container, in its order."""
        if isinstance(x, dict):
            maker = x.default_factory if isinstance(x, defaultdict) else None
            return (tuple((self.of(k), self.of(v)) for k, v in x.items()), self.of(maker))
        # Of a set, the order in which it is gone through shows too.
        return (tuple(self.of(v) for v in x), x.maxlen if isinstance(x, deque) else None)

    def _own(self, x: Any) -> Any:
        """What a container of the author's making holds beside its items."""
        kind = type(x)
        if not is_authors(kind):
            return None
        return (self.of(getattr(x, "__dict__", None)), self._fields(kind))

    def _function(self, x: FunctionType) -> Any:
        """A function with all that it can reach: one of the author's may change, or ask for, a variable that no frame names."""
        cells = tuple(c.cell_contents for c in x.__closure__ or ())
        held = [cells, x.__defaults__, x.__kwdefaults__]
        if is_authors(x):
            held += [vars(x), named(x.__globals__, names_in(x.__code__))]
        return (FunctionType, x.__code__, tuple(map(self.of, held)))
