"""What values hold, as something that can be compared: two runs whose values hold the same go on alike."""

from __future__ import annotations

import copyreg
import gc
import sys
from abc import ABC
from collections import defaultdict, deque
from collections.abc import Iterator
from functools import partial
from types import BuiltinFunctionType, FunctionType, MemberDescriptorType, MethodType, ModuleType
from typing import Any, Generic, Protocol

import numpy as np

from dpest.lang.dist import Dist
from dpest.lang.generators.places import is_authors, names_in
from dpest.lang.generators.standins import StandIn
from dpest.lang.installed import is_installed
from dpest.lang.nodes import Draw, Node, draws_of, is_integral, is_node
from dpest.lang.plain import Undetermined, evaluate
from dpest.lang.signature import signature, written_out
from dpest.numerics.rationals import ONE
from dpest.trace.literal import FREE, Bounds, ends

_TEXTS: tuple[type, ...] = (int, float, complex, str, bytes)  # of which a text tells everything, 0.0 and -0.0 too
_EXACT = frozenset({bool, int, str, bytes, type(None)})
_FIELDS = (*_TEXTS, list, dict, set, tuple, deque, type, partial, np.ndarray, Dist)  # what a class may count with, or keep
_BARE = (object, ABC, Generic, Protocol)  # classes that give their objects nothing
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
    return isinstance(x, (*_FIELDS, Iterator)) or _is_value(type(x)) or (not isinstance(x, type) and is_authors(type(x)))


class _Same:
    """Something that a replay does not make anew: it is what it is, and stays alive as long as states are compared."""

    __slots__ = ("held",)

    def __init__(self, held: Any) -> None:
        self.held = held

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.held is other.held

    def __hash__(self) -> int:
        return id(self.held)


class _Plain:
    """An object that holds what its `__dict__` shows, and no more."""


def _shows_all(kind: type) -> bool:
    """Whether objects of a class hold nothing but what their `__dict__` and their slots show, and nothing that C code keeps."""
    if all(c in _BARE or is_authors(c) for c in kind.__mro__):
        return True
    plain = kind.__basicsize__ == _Plain.__basicsize__ and kind.__itemsize__ == 0 and kind.__dictoffset__ != 0
    return plain and not any(vars(c).get("__slots__") for c in kind.__mro__)  # those of ABC and Generic are empty


def _slots(x: Any) -> Iterator[tuple[str, Any]]:
    """What an object holds in slots."""
    for c in type(x).__mro__:
        for name, slot in vars(c).items():
            if isinstance(slot, MemberDescriptorType) and is_authors(c):
                try:
                    yield name, slot.__get__(x)
                except AttributeError:  # which has no value yet
                    continue


def _reduced(x: Any) -> tuple[Any, ...]:
    """What a value is made of, as it would be written to a file: equal dates may have two time zones."""
    made = copyreg.dispatch_table.get(type(x))
    try:
        parts = x.__reduce_ex__(2) if made is None else made(x)
    except Exception:
        raise Hidden from None
    return (_Same(parts[0]), *parts[1:]) if isinstance(parts, tuple) else (parts,)


def _without_classes(part: Any) -> Any:
    """What a value is made of, where a class (most often its own, by which it is made again) only says which one it is."""
    if isinstance(part, type):
        return _Same(part)
    return tuple(map(_without_classes, part)) if type(part) is tuple else part


def _is_value(kind: type) -> bool:
    """Whether objects of a class are values, such as dates and fractions: equal by content, and made to be keys."""
    own = {name for base in kind.__mro__[:-1] for name in vars(base) if vars(base)[name] is not None}
    return {"__eq__", "__hash__"} <= own


def _is_installed(kind: type) -> bool:
    """Whether a class comes with a library that is installed, as numbers of other libraries do."""
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    return isinstance(file, str) and is_installed(file)


def _text(x: Any) -> str:
    """The text of a number or a text, also of one with a `__repr__` of its own."""
    base: Any = next(c for c in type(x).__mro__ if c in _TEXTS)
    return str(base.__repr__(x))


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
        kind = type(x)
        if kind in _EXACT:
            return (kind, x)
        match x:
            case np.generic():
                own = x.item()
                return (kind, x.dtype, repr(x) if type(own) is kind else self.of(own))
            case int() | float() | complex() | str() | bytes() if not is_authors(kind):
                return (kind, _text(x))
            case BuiltinFunctionType() if not isinstance(x.__self__, ModuleType | None):
                return ("bound", x.__name__, self.of(x.__self__))
            case BuiltinFunctionType() | ModuleType() | _Same():
                return x if isinstance(x, _Same) else _Same(x)
            case type():
                return (_Same(x), self._fields(x))
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
        told = [(k, self._field(v)) for k, v in held if isinstance(v, FunctionType) or k[:2] != "__"]
        return tuple(told), tuple(self._fields(base) for base in x.__mro__[1:])

    def _field(self, x: Any) -> Any:
        """What a class holds by a name: the content of what may change, and of a tool which one it is."""
        return self.of(x) if isinstance(x, FunctionType) or _may_change(x) else _Same(x)

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
            case int() | float() | complex() | str() | bytes():  # of a class of the author's
                return (type(x), _text(x), self._own(x))
            case StandIn():
                return type(x)  # it has no state: every draw is a new one
            case partial():
                return (partial, self.of(x.func), self.of(x.args), self.of(x.keywords), self.of(vars(x)))
            case np.ndarray():
                return self._array(x)
            case FunctionType():
                return self._function(x)
            case Iterator() if type(x) in _ITERATORS:
                return self._iterator(x)
            case MethodType():
                return (MethodType, self.of(x.__func__), self.of(x.__self__))
        if _is_value(type(x)) and _is_installed(type(x)):  # its class, which may lead to the whole library, is a tool
            return (type(x), tuple(self.of(_without_classes(part)) for part in _reduced(x)))
        if _shows_all(type(x)):
            return (type(x), self.of(getattr(x, "__dict__", None)), self._in_slots(x), self._fields(type(x)))
        if not _is_value(type(x)):
            raise Hidden
        return (type(x), tuple(map(self.of, _reduced(x))), self._own(x))

    def _array(self, x: Any) -> Any:
        """An array's numbers, how they lie in memory, and what else may be changed by changing it."""
        whole = x.base if isinstance(x.base, np.ndarray) else None
        place = None if whole is None else x.__array_interface__["data"][0] - whole.__array_interface__["data"][0]
        laid = (x.dtype, x.shape, x.strides, x.flags.writeable, place, self.of(x.base))
        plain = type(x) is np.ndarray
        more = None if plain else self.of(getattr(x, "__dict__", None))  # the mask of an array with one
        return (type(x), laid, more, tuple(self.of(v) for v in (x if plain else x.view(np.ndarray)).ravel()))

    def _in_slots(self, x: Any) -> Any:
        return tuple((name, self.of(held)) for name, held in _slots(x))

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
        # Of a set, the order in which it is gone through shows too, and that of things still to come follows from its size.
        room = x.maxlen if isinstance(x, deque) else x.__sizeof__() if isinstance(x, set) else None
        return (tuple(self.of(v) for v in x), room)

    def _own(self, x: Any) -> Any:
        """What a container or a value of the author's making holds beside its items."""
        kind = type(x)
        if not is_authors(kind):
            return None
        return (self.of(getattr(x, "__dict__", None)), self._in_slots(x), self._fields(kind))

    def _function(self, x: FunctionType) -> Any:
        """A function with all that it can reach: one of the author's may change, or ask for, a variable that no frame names."""
        cells = tuple(c.cell_contents for c in x.__closure__ or ())
        held = [cells, x.__defaults__, x.__kwdefaults__]
        if is_authors(x):
            held += [vars(x), named(x.__globals__, names_in(x.__code__))]
        return (FunctionType, x.__code__, tuple(map(self.of, held)))
