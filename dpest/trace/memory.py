"""What is kept while one function is run again and again, and no longer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, Protocol

from dpest.lang.logic import compared
from dpest.lang.nodes import moved
from dpest.trace.literal import smooth_literal
from dpest.trace.resolve import plain_options


class Question(Protocol):
    """What is asked in run after run; equal ones have one answer."""

    def __hash__(self) -> int: ...

    def answer(self) -> Any:
        """The answer, worked out."""


@lru_cache(maxsize=64)
def answered(question: Question) -> Any:
    """The answer to a question that was perhaps asked before."""
    return question.answer()


@contextmanager
def nodes_forgotten() -> Iterator[None]:
    """Runs that are made again meet the same objects; when they are over, nothing of their graph is kept."""
    try:
        yield
    finally:
        for cache in (moved, compared, smooth_literal, plain_options, answered):
            cache.cache_clear()
