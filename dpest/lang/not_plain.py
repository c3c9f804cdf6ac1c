"""What a random value cannot be used as: each refusal says what to write."""

from __future__ import annotations

import dis
import sys
from fractions import Fraction
from types import FrameType
from typing import Any

from dpest.errors import NoText, RandomTruth
from dpest.lang.chosen import is_text
from dpest.lang.run import RUN

_KEEP = (
    "keep it random (arithmetic, comparisons, `if`, dpest.floor, dpest.where, dpest.clip work on it), or wrap the "
    "function with dpest.apply(function, value), which makes the mechanism sampling-only"
)
_PICK = (
    "which one it is, is not known while the mechanism is traced. Compare it with each candidate, as in "
    "`if k == 0: ... elif k == 1: ...`, or write dpest.where(k == 0, a, b)"
)
TEXT = (
    "a random value has no text inside a mechanism (str, format, f-strings, print, %): its digits are not known while it is "
    "traced. Return the value itself, or compare it (`if value > bound: return 'high'`); text that is made of it tells no more "
    "than the value does"
)
_KEY = (
    "a random value cannot be looked up inside a mechanism (as a key of a dict, a member of a set, an argument of a cached "
    "function): which entry it meets is not known while it is traced. Compare it with each candidate, as in "
    "`if k == 0: ... elif k == 1: ...`, or test `k in [0, 1]` with a list, which compares"
)


_STORING = tuple(dis.opmap[name] for name in ("STORE_SUBSCR", "STORE_SLICE") if name in dis.opmap)


def _is_stored(frame: FrameType) -> bool:
    """Whether a frame is at `array[place] = value`."""
    return frame.f_code.co_code[frame.f_lasti] in _STORING


class NotPlain:
    """Refuses to be a plain number, an index and, inside a mechanism, text or a key.

    It has no `__iter__` and no `__len__`, as a number has none: libraries ask for them to tell numbers from lists.
    """

    __slots__ = ()

    def _plain(self, use: str, instead: str = _KEEP) -> Any:
        raise RandomTruth(f"a random value cannot be used as {use}: {instead}")

    def words(self) -> str:
        """The value as its author would write it, for error messages and for looking at it outside a mechanism."""
        raise NotImplementedError

    def __repr__(self) -> str:
        if RUN.get() is not None:
            raise NoText(TEXT)
        return self.words()

    def __str__(self) -> str:
        number = self._with_text()
        return repr(self) if number is None else str(number)

    def __format__(self, spec: str) -> str:
        number = self._with_text()
        if number is not None:
            return format(number, spec)
        if RUN.get() is not None:
            raise NoText(TEXT)
        return str(self._plain("text with a format such as :.2f")) if spec else self.words()

    def __hash__(self) -> int:
        if RUN.get() is None:
            return self.identity()
        number = self._point()
        if number is None:
            raise RandomTruth(_KEY)
        return hash(number)

    def __radd__(self, other: Any) -> Any:
        return self._beside((other, self)) if is_text(getattr(self, "node", None)) else self + other

    def _beside(self, parts: tuple[Any, Any]) -> Any:
        """One of several texts in front of another text, or behind it."""
        from dpest.lang.text import side_by_side

        return side_by_side(parts)

    def _point(self) -> Any:
        """The number that a value with listed points has on the path of this run, which forks on it; None for others."""
        if RUN.get() is None:
            return None
        from dpest.lang.points import plain_point  # needs the laws, which most values never ask for here

        return plain_point(self)

    def _is_listed(self) -> bool:
        """Whether the value has a list of points."""
        from dpest.lang.points import has_listed_points

        return RUN.get() is not None and has_listed_points(getattr(self, "node", None))

    def _with_text(self) -> int | float | None:
        """The number that a value of a known type with listed points has on the path of this run, which forks on it."""
        if RUN.get() is None:
            return None
        from dpest.lang.points import number_with_text

        return number_with_text(self)

    @property
    def numerator(self) -> int:
        """The numerator of a value made of whole numbers, on the path of this run, which forks on it."""
        return self._fraction().numerator

    @property
    def denominator(self) -> int:
        """The denominator of a value made of whole numbers, on the path of this run, which forks on it."""
        return self._fraction().denominator

    def _fraction(self) -> Fraction:
        from dpest.lang.points import number_at_points

        number = self if RUN.get() is None else number_at_points(self)
        if not isinstance(number, int | Fraction):
            number = self._plain("a fraction")
        return Fraction(number)

    def identity(self) -> int:
        """What tells one random value from another."""
        return id(self)

    def __copy__(self) -> Any:
        return self  # a copy is the same value: the noise is not drawn again

    def __deepcopy__(self, memo: Any) -> Any:
        return self

    def __float__(self) -> float:
        if _is_stored(sys._getframe(1)) and not self._is_listed():
            self._plain("an element of an array of floats, which holds plain ones")  # a fork for each of endlessly many otherwise
        number = self._point()
        if number is None:
            number = self._plain("a plain float (math.gamma and its like need one; exp, log, sqrt, tanh are understood)")
        return float(number)

    def __int__(self) -> int:
        if _is_stored(sys._getframe(1)) and not self._is_listed():
            self._plain("an element of an array of whole numbers, which holds plain ones")
        number = self._point()
        return int(self._plain("a plain int (int(x); math.trunc(x) stays random)") if number is None else number)

    def __index__(self) -> int:
        number = self._point()
        if not isinstance(number, int):
            number = self._plain("an index or a range (nor as a repeat count or a character code)", _PICK)
        return int(number)
