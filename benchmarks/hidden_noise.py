"""Mechanisms whose generators are hidden: in a module's global, and in a counter that no one can seed."""

from __future__ import annotations

import hashlib
import math
from typing import Any

import numpy as np

_rng = np.random.default_rng(0)
_calls = [0]


def noise() -> float:
    """Laplace noise from the module's own generator."""
    return float(_rng.laplace())


def found(data: Any) -> float:
    """A generator in a module, where it can be found."""
    return float(data[0] + noise())


def hidden(data: Any) -> float:
    """Noise from a counter that starts at the same place in each process, as a C library that seeds itself does."""
    _calls[0] += 1
    digest = hashlib.blake2b(str(_calls[0]).encode(), digest_size=8).digest()
    u = (int.from_bytes(digest, "big") + 0.5) / 2**64 - 0.5
    return float(data[0] - math.copysign(math.log1p(-2 * abs(u)), u))
