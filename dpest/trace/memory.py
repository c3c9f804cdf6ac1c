"""What is kept while one function is run again and again, and no longer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from dpest.lang.logic import compared
from dpest.lang.nodes import moved
from dpest.trace.literal import smooth_literal
from dpest.trace.resolve import plain_options


@contextmanager
def nodes_forgotten() -> Iterator[None]:
    """Runs that are made again meet the same objects; when they are over, nothing of their graph is kept."""
    try:
        yield
    finally:
        for cache in (moved, compared, smooth_literal, plain_options):
            cache.cache_clear()
