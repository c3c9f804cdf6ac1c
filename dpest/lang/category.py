"""A value of which only its name is known to be one of several: a column of categories in data of unknown rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpest.errors import UnsupportedOperation


class Category:
    """One of several names; comparisons ask a random or unknown whole number which of them it is."""

    __slots__ = ("_names", "_number")

    def __init__(self, number: Any, names: Sequence[Any]) -> None:
        self._number, self._names = number, tuple(names)

    def __eq__(self, other: object) -> Any:
        if isinstance(other, Category):
            if other._names != self._names:
                raise UnsupportedOperation("a random value of one list of names cannot be compared with one of another list")
            return self._number == other._number
        found = [k for k, name in enumerate(self._names) if type(name) is type(other) and name == other]
        return self._number == found[0] if found else False

    def __ne__(self, other: object) -> Any:
        same = self == other
        return not same if isinstance(same, bool) else 1 - same

    def __hash__(self) -> int:
        """The hash of the name: which one it is is decided here, on a path of its own."""
        return hash(self.decided())

    def __bool__(self) -> bool:
        return bool(self.decided())

    def __str__(self) -> str:
        return str(self.decided())

    def __repr__(self) -> str:
        return f"<one of {', '.join(map(repr, self._names))}>"

    def decided(self) -> Any:
        """The name, on a path of its own."""
        for k, name in enumerate(self._names[:-1]):
            if self._number == k:
                return name
        return self._names[-1]
