"""`&`, `|`, `^`, `~` and shifts of random values: logical for truth values, bit by bit for whole numbers."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from dpest.errors import UnsupportedOperation
from dpest.lang.logic import conjunction, negate, truth
from dpest.lang.nodes import NODES, TRUTHS, Draw, Where, combine, is_integral, linear
from dpest.lang.points import listed_points, of_whole_numbers
from dpest.lang.spans import reach
from dpest.laws.discrete import Whole

_Bitwise = Callable[[Any, Any], Any]
_WORDS = {operator.and_: "&", operator.or_: "|", operator.xor: "^"}


class Bits:
    """The operators on bits; what they give is a random value again, or a plain one where none is left."""

    __slots__ = ()
    node: Any

    def _made(self, x: Any) -> Any:
        return type(self)(x) if isinstance(x, NODES) else x  # type: ignore[call-arg]

    def _bits(self, operation: _Bitwise, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return np.frompyfunc(lambda x: self._bits(operation, x), 1, 1)(other)
        value = other.node if isinstance(other, Bits) else other.item() if isinstance(other, np.generic) else other
        if operation is operator.and_ and _is_mask(value) and _is_long(self.node):
            return self % (value + 1)
        if operation is not operator.and_ and (_are_apart(self.node, value) or _are_apart(value, self.node)):
            return self + other
        found = both_bits(operation, self.node, value, lambda x: operator.index(self._made(x)))
        return self._as_int(found) if _is_int(self) or _is_int(other) else self._made(found)

    def _as_int(self, found: Any) -> Any:
        """What an operation with a whole number gives: an int."""
        if isinstance(found, TRUTHS):
            from dpest.lang.bit import Bit  # which is made of this

            return Bit(found)
        return self._made(found) if isinstance(found, NODES) else int(found)

    def __and__(self, other: Any) -> Any:
        return self._bits(operator.and_, other)

    def __or__(self, other: Any) -> Any:
        return self._bits(operator.or_, other)

    def __xor__(self, other: Any) -> Any:
        return self._bits(operator.xor, other)

    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__

    def __invert__(self) -> Any:
        return self._made(inverted(self.node))

    def __lshift__(self, places: Any) -> Any:
        return self * (1 << operator.index(places))  # type: ignore[operator]

    def __rlshift__(self, number: Any) -> Any:
        return number << operator.index(self)  # type: ignore[arg-type]

    def __rshift__(self, places: Any) -> Any:
        return self // (1 << operator.index(places))  # type: ignore[operator]

    def __rrshift__(self, number: Any) -> Any:
        return number >> operator.index(self)  # type: ignore[arg-type]

    # Methods of whole numbers: one with listed points is followed point by point.

    def to_bytes(self, *args: Any, **keywords: Any) -> bytes:
        """The bytes of a whole number."""
        return operator.index(self).to_bytes(*args, **keywords)  # type: ignore[arg-type]

    def bit_length(self) -> int:
        """How many bits a whole number has."""
        return operator.index(self).bit_length()  # type: ignore[arg-type]

    def bit_count(self) -> int:
        """How many of its bits are set."""
        return operator.index(self).bit_count()  # type: ignore[arg-type]


_MANY = 64  # values of a number that `&` takes apart: a remainder is less work than a path for each of more


def _is_mask(x: Any) -> bool:
    """Whether a number keeps the last bits: `k & 7` is `k % 8`, for negative ones too."""
    return type(x) is int and x >= 0 and x & (x + 1) == 0


def _are_apart(high: Any, low: Any) -> bool:
    """Whether one whole number has its bits above those of another: `k << 3 | 5` is their sum."""
    if not (is_integral(high) and is_integral(low)) or isinstance(high, (bool, float, *TRUTHS)):
        return False
    least, most = reach(low)
    parts = linear(high)
    numbers = [parts.constant, *(c for n, c in parts.terms if is_integral(n))]
    if least < 0 or len(numbers) <= len(parts.terms) or any(x.denominator != 1 for x in numbers):
        return False
    return all(int(x) % (1 << int(most).bit_length()) == 0 for x in numbers) if math.isfinite(most) else False


def _is_long(node: Any) -> bool:
    """Whether a whole number may have very many values."""
    low, high = reach(node)
    return is_integral(node) and high - low >= _MANY


def _is_int(x: Any) -> bool:
    """Whether an operand is a whole number and no truth value."""
    if not isinstance(x, Bits):
        return isinstance(x, int | np.integer) and not isinstance(x, bool)
    return not isinstance(x.node, TRUTHS) and of_whole_numbers(x.node)


def both_bits(operation: _Bitwise, left: Any, right: Any, point: Callable[[Any], Any]) -> Any:
    """`left & right` and the like of two nodes (or plain values); `point` is the number that a value has on this path."""
    if _is_bit(left) and _is_bit(right):
        return either(operation, truth(left), truth(right))
    for x in (left, right):
        whole = is_integral(x) if isinstance(x, NODES) else isinstance(x, int)
        if not whole:
            raise UnsupportedOperation(f"`{_WORDS[operation]}` takes truth values and whole numbers, and not any other number")
    return operation(*(point(x) if isinstance(x, NODES) else x for x in (left, right)))


def either(operation: _Bitwise, left: Any, right: Any) -> Any:
    """`and`, `or` and `xor` of two truth values."""
    if operation is operator.and_:
        return conjunction((left, right))
    some = negate(conjunction((negate(left), negate(right))))
    return some if operation is operator.or_ else conjunction((some, negate(conjunction((left, right)))))


_LOGICAL = {"logical_and": operator.and_, "logical_or": operator.or_, "logical_xor": operator.xor}


def logical(name: str, values: tuple[Any, ...]) -> Any:
    """NumPy's logical functions: any number counts as a truth value."""
    truths = [truth(x) if isinstance(x, NODES) else bool(x) for x in values]
    return negate(truths[0]) if name == "logical_not" else either(_LOGICAL[name], *truths)


def inverted(x: Any) -> Any:
    """`~x`: what a truth value or a coin is not; of other whole numbers, drawn or computed, the bits."""
    return negate(truth(x)) if _is_truth(x) or not is_integral(x) else combine(linear(-1), linear(x), -1)


def _is_truth(x: Any) -> bool:
    """Whether a value is False or True, or a coin, which counts as such."""
    match x:
        case Where(yes=yes, no=no):
            return _is_truth(yes) and _is_truth(no)
        case Draw(law=law):
            return not isinstance(law, Whole) and _is_bit(x)
        case _:
            return isinstance(x, (bool, *TRUTHS))


def _is_bit(x: Any) -> bool:
    """Whether a value is 0 or 1, on which both readings agree."""
    if not isinstance(x, NODES):
        return isinstance(x, int) and x in (0, 1)
    if isinstance(x, TRUTHS):
        return True
    points = listed_points(x)
    return points is not None and points <= {0, 1}
