"""Generators that keep step: what one run or one call draws does not move what the next one gets.

Two inputs that run on the same noise lose step when one of them draws more: from there on, each sees noise that the other saw
elsewhere.  Here every run, or every call of a vectorised mechanism, starts at a state of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

_WARM_UP = 12  # rounds that SFC64 itself discards after it is seeded


class Stepping(np.random.Generator):
    """A generator that goes to its next state when told to, whatever was drawn since the last one."""

    def __init__(self, states: np.random.BitGenerator) -> None:
        # A child of the stream, so that what is spawned from here belongs to the stream too.
        super().__init__(states.spawn(1)[0])
        self._states = states
        self.step()

    def step(self) -> None:
        """Go to the next state."""
        a, b, c = self._states.random_raw(3)
        words = np.array([a, b, c, 1], dtype=np.uint64)
        self.bit_generator.state = {"bit_generator": "SFC64", "state": {"state": words}, "has_uint32": 0, "uinteger": 0}
        self.bit_generator.random_raw(_WARM_UP, output=False)


class CallByCall(Stepping):
    """A generator that goes to its next state with each call of one of its methods."""


def _stepping(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def call(self: CallByCall, *args: Any, **kwargs: Any) -> Any:
        self.step()
        return method(self, *args, **kwargs)

    return call


for _name in dir(np.random.Generator):
    if not _name.startswith("_") and _name not in ("bit_generator", "spawn"):
        setattr(CallByCall, _name, _stepping(getattr(np.random.Generator, _name)))
