"""The page docs/coverage.md."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.coverage.run import Row


def page(rows: Sequence[Row], limit: float) -> str:
    """The page as text."""
    return ""
