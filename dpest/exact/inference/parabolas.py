"""Squares completed in the outputs and conditions of a path: p - p^2 is 1/4 - (p - 1/2)^2."""

from __future__ import annotations

from typing import Any

from dpest.exact.inference.own_draws import replaced
from dpest.lang.nodes import Linear
from dpest.trace.explore import Path
from dpest.trace.parabolas import completed


def with_completed_squares(path: Path) -> Path:
    """The path with one square in place of the terms of each draw that is there with its square, or with two squares."""
    known: dict[int, Any] = {}
    for node in path.nodes:
        if isinstance(node, Linear) and len(node.terms) > 1:
            found = completed(node)
            if found is not None:
                known[id(node)] = found
    return replaced(path, known, set(), ()) if known else path
