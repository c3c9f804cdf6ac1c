"""One published mechanism: the code, two adjacent inputs, and what the answer must be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Case:
    """A mechanism in its author's code, with a pair of inputs and the true loss, worked out without dpest."""

    name: str
    source: str  # the paper and its year
    mechanism: Callable[..., Any]
    pair: tuple[Any, Any]
    truth: Callable[[], float]
    reference: str  # where the truth comes from: "closed form", "enumeration", "integral", "search"
    delta_at: float | None = None  # the question is delta at this epsilon, not the pure loss
    params: dict[str, Any] = field(default_factory=dict)
