"""A limit on numerical work: how often integrands may be evaluated for one answer.

The limit counts evaluations and not seconds, so that the same question has the same answer on every machine. Where another
method waits, it also counts steps of about ten microseconds: decisions of a run, cases, integrals.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from dpest.errors import BudgetExceeded


class _Effort:
    def __init__(self, most: int, most_steps: int | None) -> None:
        self.most = most
        self.spent = 0
        self.most_steps = most_steps
        self.steps = 0


_EFFORT: ContextVar[_Effort | None] = ContextVar("dpest_effort", default=None)


@contextmanager
def limited_effort(most: int, most_steps: int | None = None) -> Iterator[None]:
    """Inside the block, raises `BudgetExceeded` once integrands were evaluated, or steps made, more often than allowed."""
    token = _EFFORT.set(_Effort(most, most_steps))
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


def spend_steps(steps: int) -> None:
    """Counts steps of about ten microseconds."""
    effort = _EFFORT.get()
    if effort is not None and effort.most_steps is not None:
        effort.steps += steps
        if effort.steps > effort.most_steps:
            raise BudgetExceeded(
                f"it takes more than {effort.most_steps:,} steps, which is longer than sampling takes (method='exact' goes on "
                "without this limit)"
            )
