"""The methods that NumPy's numbers have beside those of Python's: `x.item()`, `x.round(2)`, `x.clip(0, 1)`, `x.mean()`."""

from __future__ import annotations

from typing import Any

import numpy as np


class OneNumber:
    """A value that is one number, as NumPy's are; functions of NumPy's such as `np.sum(x)` call these methods too."""

    __slots__ = ()

    def item(self) -> Any:
        """The number itself; `tolist`, `copy` and `conjugate` give it too."""
        return self

    tolist = copy = conjugate = item  # numpy.var asks each element of an array of objects for `conjugate`

    def max(self, axis: Any = None, out: Any = None) -> Any:
        """The largest of one number, which is the smallest too."""
        if axis not in (None, 0, -1):
            raise np.exceptions.AxisError(axis, 0)
        return self

    min = max

    def sum(self, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        """The sum of one number, which is its product and its mean too; a truth value counts as 0 or 1."""
        return self.max(axis) * 1

    prod = mean = sum

    def round(self, decimals: int = 0, out: Any = None) -> Any:
        """The number rounded to so many digits, as Python does it, which is as NumPy does."""
        return round(self, decimals)  # type: ignore[call-overload]

    def clip(self, min: Any = None, max: Any = None, out: Any = None, **options: Any) -> Any:
        """The number, or the bound that it lies beyond; the lower bound comes first, as NumPy has it."""
        low, high = options.get("a_min", min), options.get("a_max", max)
        raised: Any = self if low is None else np.maximum(self, low)  # type: ignore[call-overload]
        return raised if high is None else np.minimum(raised, high)

    def astype(self, dtype: Any) -> Any:
        """The number as one of another of NumPy's types."""
        from dpest.lang.kinds import of_type  # which needs the classes that have this method

        return of_type(self, dtype)
