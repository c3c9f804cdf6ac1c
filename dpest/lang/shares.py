"""Noise in shares: gamma draws with a shape below 1, of which n together are an exponential draw.

Their density has a pole, which exact inference does not integrate. They are drawn only for a trace whose shares are added up.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from contextvars import ContextVar

from dpest.numerics.setting import Setting

_ADDED: ContextVar[bool] = ContextVar("dpest_shares_added", default=False)


def shares_added() -> AbstractContextManager[bool]:
    """Inside the block, a trace is made whose shares are added up."""
    return Setting(_ADDED, True)


def are_added() -> bool:
    """Whether shares may be drawn."""
    return _ADDED.get()
