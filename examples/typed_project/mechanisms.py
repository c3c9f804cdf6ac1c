"""A mechanism of a typed project."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dpest


def noisy_sum(rows: Sequence[float], eps: float = 0.5) -> Any:
    """The sum of the rows, with Laplace noise."""
    return sum(rows) + dpest.laplace(1 / eps)
