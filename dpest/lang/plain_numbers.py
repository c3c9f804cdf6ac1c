"""Plain numbers that stand where a draw stood: what a mechanism computes with when it is run as an ordinary program.

They are ordinary floats and ints. Their one peculiarity is that comparisons give a `Truth`, for which `~`, `&`, `|` and
`^` are logical, as for NumPy's truth values, and which still counts as 0 or 1 in sums, as Python's do: both readings are
in use among authors, and a random comparison has both.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from contextlib import AbstractContextManager
from contextvars import ContextVar
from enum import Enum
from typing import Any

import numpy as np

from dpest.lang.scalars import OneNumber
from dpest.lang.ufuncs import OPERATORS, boxed
from dpest.numerics.setting import Setting

_NUMBERS = (int, float, np.number, np.bool_)
class Own(Enum):
    """Whose numbers single draws are in a run on plain numbers."""

    OURS = "dpest"
    PYTHON = "Python"
    NUMPY = "NumPy"


_OWN: ContextVar[Own] = ContextVar("dpest_own_numbers", default=Own.OURS)


def own_numbers(whose: Own = Own.PYTHON) -> AbstractContextManager[Own]:
    """Inside the block, a run has the floats, whole numbers and truth values of Python or NumPy, and NumPy's own arrays."""
    return Setting(_OWN, whose)


def on_own_numbers() -> bool:
    """Whether a run has Python's or NumPy's own numbers now."""
    return _OWN.get() is not Own.OURS


def native(drawn: Any) -> Any:
    """An array of draws; in a run on NumPy's own numbers as an array of these."""
    if not on_own_numbers() or any(not isinstance(x, int | float | np.integer) or isinstance(x, Truth) for x in drawn.flat):
        return drawn
    return np.array(drawn.tolist()).reshape(drawn.shape)


class PlainNumber(OneNumber):
    """What the plain numbers share: results of arithmetic on them are plain numbers again."""

    __slots__ = ()

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        operation = _ELEMENTS.get(ufunc.__name__) if method == "__call__" and not options else None
        if operation is None:
            return _marked(getattr(ufunc, method)(*map(bare, inputs), **options))
        if any(isinstance(x, list | tuple) or (isinstance(x, np.ndarray) and x.ndim) for x in inputs):
            return np.frompyfunc(operation, len(inputs), 1)(*map(boxed, inputs))
        return operation(*(x.item() if isinstance(x, np.generic | np.ndarray) else x for x in inputs))

    def rint(self) -> Any:
        """numpy.rint of an object array calls this."""
        return marked(round(bare(self)))


def _forward(operation: Callable[[Any, Any], Any]) -> Any:
    def method(self: Any, other: Any) -> Any:
        return _result(operation, self, other) if isinstance(other, _NUMBERS) else NotImplemented

    return method


def _backward(operation: Callable[[Any, Any], Any]) -> Any:
    def method(self: Any, other: Any) -> Any:
        return _result(operation, other, self) if isinstance(other, _NUMBERS) else NotImplemented

    return method


def _result(operation: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    """A plain number that knows the size of what it was computed from: (1e9 + x) - 1e9 has the rounding of 1e9."""
    x, y = bare(a), bare(b)
    out = marked(operation(x, y))
    if isinstance(out, PlainFloat):
        left, right = size_of(a), size_of(b)
        if operation is operator.mul:
            left, right = left * abs(y), right * abs(x)
        elif operation is operator.truediv:
            left, right = left / abs(y), 0.0
        out.size = max(out.size, left, right)
    return out


def _alone(operation: Callable[[Any], Any]) -> Any:
    def method(self: Any) -> Any:
        return _sized(marked(operation(bare(self))), size_of(self))

    return method


def _sized(out: Any, size: float) -> Any:
    if isinstance(out, PlainFloat):
        out.size = max(out.size, size)
    return out


_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "truediv": operator.truediv,
    "floordiv": operator.floordiv,
    "mod": operator.mod,
    "divmod": divmod,
}
for _name, _operation in _ARITHMETIC.items():
    setattr(PlainNumber, f"__{_name}__", _forward(_operation))
    setattr(PlainNumber, f"__r{_name}__", _backward(_operation))
for _name in ("lt", "le", "eq", "ne", "gt", "ge"):
    setattr(PlainNumber, f"__{_name}__", _forward(getattr(operator, _name)))
for _name in ("neg", "pos", "abs"):
    setattr(PlainNumber, f"__{_name}__", _alone(getattr(operator, _name)))
for _name in ("floor", "ceil", "trunc"):
    setattr(PlainNumber, f"__{_name}__", _alone(getattr(math, _name)))


def _elementary(name: str) -> Any:
    """numpy.exp and its like call a method of that name on each element of an array of objects."""

    def method(self: Any) -> Any:
        with np.errstate(all="ignore"):
            return marked(getattr(np, name)(bare(self)))

    return method


for _name in ("exp", "log", "sqrt", "expm1", "log1p", "exp2", "log2", "log10", "cbrt", "tanh", "sinh", "arctan", "arctanh"):
    setattr(PlainNumber, _name, _elementary(_name))
for _name in ("arcsinh", "sin", "cos", "tan", "cosh", "fabs"):
    setattr(PlainNumber, _name, _elementary(_name))


def _rounded(self: Any, digits: int | None = None) -> Any:
    return _sized(marked(round(bare(self)) if digits is None else round(bare(self), digits)), size_of(self))


def _power(self: Any, exponent: Any) -> Any:
    if not isinstance(exponent, _NUMBERS):
        return NotImplemented
    if isinstance(exponent, int) and exponent >= 0:
        return marked(bare(self) ** int(exponent))
    return marked(np.power(float(bare(self)), float(exponent)))  # NaN where Python would give a complex number


# By setattr, as above: float and int declare narrower types for these.
setattr(PlainNumber, "__round__", _rounded)  # noqa: B010
setattr(PlainNumber, "__pow__", _power)  # noqa: B010


class PlainFloat(PlainNumber, float):
    """A real number, and the size of the largest number on the way to it: its rounding is relative to that."""

    __slots__ = ("size",)
    __hash__ = float.__hash__

    def __init__(self, value: float) -> None:
        self.size = abs(float.__pos__(self))


class PlainInt(PlainNumber, int):
    """A whole number."""

    __slots__ = ()
    __hash__ = int.__hash__


class Truth(PlainNumber, int):
    """1 or 0: the outcome of a comparison, or of a coin."""

    __slots__ = ()
    __hash__ = int.__hash__

    def __invert__(self) -> Any:
        return Truth(not self)

    def __and__(self, other: Any) -> Any:
        return _bits(operator.and_, self, other)

    def __or__(self, other: Any) -> Any:
        return _bits(operator.or_, self, other)

    def __xor__(self, other: Any) -> Any:
        return _bits(operator.xor, self, other)

    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__


def _bits(operation: Callable[[Any, Any], Any], a: Truth, b: Any) -> Any:
    """Logical with another truth value, bit by bit with a whole number."""
    if not isinstance(b, _NUMBERS):
        return NotImplemented
    truths = isinstance(b, bool | np.bool_ | Truth)
    return Truth(operation(bool(a), bool(b))) if truths else marked(operation(int(bare(a)), bare(b)))


def bare(x: Any) -> Any:
    """A plain number, or a NumPy one, as Python's own float, int or bool; anything else as it is."""
    match x:
        case PlainFloat():
            return float.__pos__(x)
        case PlainInt() | Truth():
            return int.__pos__(x)
        case np.generic():
            return x.item()
        case _:
            return x


def size_of(x: Any) -> float:
    """How large the numbers were from which one was computed."""
    return x.size if isinstance(x, PlainFloat) else abs(float(x))


_OF_NUMPY: dict[type, Any] = {float: np.float64, int: np.int64, bool: np.bool_}


def marked(x: Any) -> Any:
    """A number as a plain number of a run; anything else as it is."""
    x = bare(x)
    if on_own_numbers():
        make = _OF_NUMPY.get(type(x)) if _OWN.get() is Own.NUMPY else None
        return x if make is None else make(x)
    if isinstance(x, bool):
        return Truth(x)
    if isinstance(x, float):
        return PlainFloat(x)
    if isinstance(x, tuple):
        return tuple(marked(v) for v in x)
    return PlainInt(x) if isinstance(x, int) else x


def _marked(x: Any) -> Any:
    return marked(x) if isinstance(x, np.generic) else x


# The logical functions of NumPy take any number; `&` and `|` of floats do not exist.
_ELEMENTS: dict[str, Callable[..., Any]] = {
    **OPERATORS,
    "maximum": lambda a, b: marked(max(a, b)),
    "minimum": lambda a, b: marked(min(a, b)),
    "clip": lambda x, low, high: marked(min(max(x, low), high)),
    "logical_and": lambda a, b: Truth(bool(a) and bool(b)),
    "logical_or": lambda a, b: Truth(bool(a) or bool(b)),
    "logical_xor": lambda a, b: Truth(bool(a) != bool(b)),
    "logical_not": lambda a: Truth(not a),
}
