"""Random streams: one seed, and a key for every place that draws."""

from __future__ import annotations

import secrets

import numpy as np
from numpy.random import SFC64, Generator, SeedSequence

from dpest.errors import InvalidInput


def stream(seed: int, *key: int) -> Generator:
    """The generator that belongs to this key: the same on every machine, in every process, in any order."""
    return Generator(SFC64(SeedSequence(seed, spawn_key=key)))  # by these names also while others stand at NumPy's


def resolve_seed(seed: int | None) -> int:
    """The seed as a whole number >= 0; None takes a fresh one from the operating system."""
    if seed is None:
        return secrets.randbits(63)
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InvalidInput(f"seed must be a whole number >= 0, or None for a fresh one, got {seed!r}")
    return int(seed)
