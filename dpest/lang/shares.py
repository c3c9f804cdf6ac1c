"""Noise in shares: gamma draws with a shape below 1, of which n together are an exponential draw.

Their density has a pole, which exact inference does not integrate. They are drawn only for a trace whose shares are added up.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_ADDED: ContextVar[bool] = ContextVar("dpest_shares_added", default=False)


@contextmanager
def shares_added() -> Iterator[None]:
    """Inside the block, a trace is made whose shares are added up."""
    token = _ADDED.set(True)
    try:
        yield
    finally:
        _ADDED.reset(token)


def are_added() -> bool:
    """Whether shares may be drawn."""
    return _ADDED.get()
