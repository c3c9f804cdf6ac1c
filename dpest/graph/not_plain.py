"""What a random value cannot be used as: each refusal says what to write."""

from __future__ import annotations

from typing import Any

from dpest.errors import RandomTruth, UnsupportedOperation


class NotPlain:
    """Refuses to be a plain number, an index or a sequence."""

    __slots__ = ()

    def _plain(self, use: str) -> Any:
        raise RandomTruth(
            f"a random value cannot be used as {use}: keep it random (dpest.floor, dpest.where, dpest.clip, ... work on it), or "
            "wrap the function with dpest.apply(function, value), which makes the mechanism sampling-only"
        )

    def __float__(self) -> float:
        return float(self._plain("a plain float (math.exp and friends need one)"))

    def __format__(self, spec: str) -> str:
        return str(self._plain("text with a format such as :.2f")) if spec else str(self)

    def __int__(self) -> int:
        return int(self._plain("a plain int"))

    def __index__(self) -> int:
        return int(self._plain("an index or a range"))

    def __iter__(self) -> Any:
        raise UnsupportedOperation("a random value is one number and cannot be iterated; laplace(scale, size=n) makes n of them")

    def __len__(self) -> int:
        raise UnsupportedOperation("a random value is one number and has no len(); laplace(scale, size=n) makes n of them")
