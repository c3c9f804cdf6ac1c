"""Settings of the older door; each is read once, where a question enters."""

from __future__ import annotations

from contextvars import ContextVar

import numpy as np

from dpest.errors import InvalidInput

_SAMPLES: ContextVar[int] = ContextVar("dpest_sampling_samples", default=100_000)


def set_sampling_samples(n: int) -> None:
    """How many samples are drawn where exact inference is refused (100,000 unless set)."""
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
        raise InvalidInput(f"set_sampling_samples(n) needs a whole number >= 1, got {n!r}")
    _SAMPLES.set(int(n))


def sampling_samples() -> int:
    """The number of samples in force."""
    return _SAMPLES.get()
