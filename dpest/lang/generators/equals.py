"""Values that are drawn from a list: which of several equal ones it is, nobody can tell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from dpest.lang import noise
from dpest.lang.dist import Dist
from dpest.lang.plain_numbers import PlainNumber
from dpest.lang.shuffled import Shuffled

_PLAIN = (bool, int, float, str, np.number, np.bool_, np.str_)


def is_value(x: Any) -> bool:
    """Whether a value is a number, a text or a random value."""
    return type(x) is not Shuffled and isinstance(x, bool | int | float | str | np.number | np.bool_ | Dist)


def some_are_equal(items: Sequence[Any]) -> bool:
    """Whether all values are plain, and one of them comes again."""
    plain = all(isinstance(x, _PLAIN) and not isinstance(x, PlainNumber) for x in items)
    return plain and len(set(map(_key, items))) < len(items)


def place_of_one(left: Sequence[Any]) -> int:
    """The place of one of the values, each as likely as any other; of equal ones the first."""
    counts = Counter(map(_key, left))
    drawn = noise.integers(0, len(left) - 1) if len(counts) > 1 else 0
    passed = 0
    for key, many in counts.items():
        passed += many
        if passed == len(left) or drawn < passed:
            return next(k for k, x in enumerate(left) if _key(x) == key)
    raise AssertionError(left)


def _key(x: Any) -> Any:
    return type(x), repr(x)
