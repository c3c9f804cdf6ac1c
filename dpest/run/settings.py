"""Settings; each is read once, where a question enters."""

from __future__ import annotations

from contextlib import AbstractContextManager
from contextvars import ContextVar
from enum import Enum

import numpy as np

from dpest.errors import InvalidInput
from dpest.numerics.setting import Setting

_SAMPLES: ContextVar[int] = ContextVar("dpest_sampling_samples", default=100_000)


def set_sampling_samples(n: int) -> None:
    """How many samples are drawn where exact inference is refused (100,000 unless set)."""
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
        raise InvalidInput(f"set_sampling_samples(n) needs a whole number >= 1, got {n!r}")
    _SAMPLES.set(int(n))


def sampling_samples() -> int:
    """The number of samples in force."""
    return _SAMPLES.get()


class Sides(Enum):
    """What becomes of the two sides of an `if` on a random condition."""

    AS_NEEDED = "kept together where a program has many paths"
    APART = "always two paths"
    TOGETHER = "kept together wherever that is possible"
    BY_STATES = "two paths, and one again where they come to the same state"


_SIDES: ContextVar[Sides] = ContextVar("dpest_sides", default=Sides.AS_NEEDED)


def keeping_sides() -> Sides:
    """What is in force."""
    return _SIDES.get()


def sides_kept(sides: Sides) -> AbstractContextManager[Sides]:
    """Inside the block, both sides of an `if` are treated in this way."""
    return Setting(_SIDES, sides)
