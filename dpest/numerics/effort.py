"""A limit on numerical work: how often integrands may be evaluated for one answer.

The limit counts evaluations and not seconds, so that the same question has the same answer on every machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from dpest.errors import BudgetExceeded


class _Effort:
    def __init__(self, most: int) -> None:
        self.most = most
        self.spent = 0


_EFFORT: ContextVar[_Effort | None] = ContextVar("dpest_effort", default=None)


@contextmanager
def limited_effort(most: int) -> Iterator[None]:
    """Inside the block, raises `BudgetExceeded` once integrands were evaluated more than `most` times."""
    token = _EFFORT.set(_Effort(most))
    try:
        yield
    finally:
        _EFFORT.reset(token)


def spend(evaluations: int) -> None:
    """Counts evaluations of an integrand."""
    effort = _EFFORT.get()
    if effort is not None:
        effort.spent += evaluations
        if effort.spent > effort.most:
            raise BudgetExceeded(
                f"its integrals take more than {effort.most:,} evaluations: noise with heavy tails, or many random values that "
                "depend on each other"
            )
