"""Stand-ins for `float`, `int`, `Fraction` and NumPy's numbers: a random value that goes through them stays one.

Python's own insist on a plain number, which a random value is not while it is traced. These stand under their names in
the globals of the author's functions, and do with everything else what the originals do.
"""

from __future__ import annotations

import math
import operator
from decimal import Decimal
from fractions import Fraction
from types import FunctionType
from typing import Any

import numpy as np

from dpest.errors import NoText
from dpest.lang.dist import RUN, Dist
from dpest.lang.generators.octets import from_bytes
from dpest.lang.narrow import check_float
from dpest.lang.nodes import All, Compare, Linear, Not, is_integral, is_whole_as_written
from dpest.lang.not_plain import TEXT
from dpest.lang.plain_numbers import PlainFloat, PlainNumber, bare, marked
from dpest.lang.spans import is_smooth, reach
from dpest.lang.text import Text, number_of
from dpest.numerics.rationals import ONE, ZERO

_SINGLE = np.float32  # which is a stand-in by its name while a trace runs


class _Conversion(type):
    """A number type by another name: what it makes, and what counts as its own, is as before."""

    real: Any

    def __call__(cls, *args: Any, **keywords: Any) -> Any:
        if cls.real is Fraction:
            return Fraction(*map(_rational, args), **keywords)
        x = _held(args[0], cls.real) if len(args) == 1 and not keywords else None
        if len(args) == 1 and not keywords and isinstance(x, Dist):
            if cls.real in _WHOLE:
                return _whole(x)
            if cls.real is _SINGLE and not is_smooth(x.node):
                return _SINGLE(x)  # which refuses: the points of a discrete value may move
            check_float(x.node)
            return x * 1 if isinstance(x.node, Compare | Not | All) else x
        if len(args) == 1 and not keywords and isinstance(x, PlainNumber):
            # Noise with a density is not rounded to few bits, as in the trace it is not to those of a double.
            return x if cls.real is _SINGLE and type(x) is PlainFloat else marked(cls.real(bare(x)))
        return cls.real(*args, **keywords)

    def __getattr__(cls, name: str) -> Any:
        if cls.real is int and name == "from_bytes":
            return from_bytes
        return getattr(cls.real, name)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls.real)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, cls.real)

    def __eq__(cls, other: object) -> bool:
        return other is cls or other is cls.real

    def __hash__(cls) -> int:
        return hash(cls.real)

    def __or__(cls, other: Any) -> Any:
        return cls.real | other

    def __ror__(cls, other: Any) -> Any:
        return other | cls.real


def _held(x: Any, real: Any) -> Any:
    """The number in an array of one, or the random value that an object of the author's gives for itself, by `__float__` say."""
    if type(x) is Text:
        number = number_of(x)
        if real in _WHOLE and not is_integral(number.node):
            raise NoText(TEXT)  # int("1.25") fails
        return number
    if isinstance(x, np.ndarray) and x.size == 1:
        return x.item()
    name = "__int__" if real in _WHOLE else "__float__"
    own = getattr(type(x), name, None)
    if not isinstance(own, FunctionType) or isinstance(x, Dist | PlainNumber):
        return x
    found = own(x)
    return found if isinstance(found, int | float | Dist | PlainNumber) else x


def _rational(x: Any) -> Any:
    """A part of a fraction as a plain number: a random one with listed points forks the run."""
    return _number_of(x) if isinstance(x, Dist) else bare(x)


def _number_of(x: Dist) -> Any:
    number = x._point()
    return number if number is not None else float(x)  # which says what to write


def _counted(x: Dist) -> Any:
    """A truth value as 0 or 1, which have another text than False and True; a number as it is."""
    if not isinstance(x.node, Compare | Not | All):
        return x
    return Dist(Linear(((x.node, ONE),), ZERO, (operator.mul, (x.node, 1))))


def _whole(x: Dist) -> Any:
    """`int` cuts off what is behind the point."""
    if isinstance(x.node, Compare | Not | All):
        return _counted(x)
    low, high = reach(x.node)
    together = is_whole_as_written(x.node) and getattr(RUN.get(), "together", False)  # a run that was to have fewer paths
    if high - low <= _FEW and not together:  # a path for each is less work than a value that stays open
        number = x._point()
        return math.trunc(x) if number is None else int(number)
    return x if is_whole_as_written(x.node) else math.trunc(x)


_FEW = 64  # values of an int(...) that are worth a path for each


def _stand_in(real: Any) -> Any:
    kind = np.dtype(object if real is Fraction else real)  # NumPy reads `dtype` where it is handed a type
    return _Conversion(real.__name__, (), {"real": real, "dtype": kind, "__doc__": real.__doc__})


_WHOLE = (int, np.int64)
_REAL = (float, np.float64, _SINGLE)
CONVERSIONS: dict[int, Any] = {id(real): _stand_in(real) for real in (*_WHOLE, *_REAL, Fraction)}


def _decimal(value: Any = "0", *context: Any) -> Decimal:
    """`Decimal` of a number: a random one with listed points forks the run."""
    return Decimal(_number_of(value) if isinstance(value, Dist) else bare(value), *context)


# What stands for number types where rewritten code calls them: by whatever name, `fractions.Fraction` too.
CALLED_NUMBERS: dict[int, Any] = {id(Fraction): CONVERSIONS[id(Fraction)], id(Decimal): _decimal}
