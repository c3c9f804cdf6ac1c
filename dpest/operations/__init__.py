"""One verb per operation on random values; they work on plain numbers too."""

from __future__ import annotations

from dpest.operations.functions import (
    apply,
    argmax,
    argmin,
    branch,
    ceil,
    clip,
    cumsum,
    floor,
    max,
    maximum,
    min,
    minimum,
    mux,
    where,
)

__all__ = [
    "apply",
    "argmax",
    "argmin",
    "branch",
    "ceil",
    "clip",
    "cumsum",
    "floor",
    "max",
    "maximum",
    "min",
    "minimum",
    "mux",
    "where",
]
