"""The input patterns, under their older name."""

from __future__ import annotations

from dpest.inputs.pairs import generate_patterns

__all__ = ["generate_patterns"]
