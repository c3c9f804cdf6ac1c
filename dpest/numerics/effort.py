"""Numerical work, counted: how often integrands are evaluated for one answer, and how many steps are made.

Limits count work and not seconds, so that the same question has the same answer on every machine, slow or fast. A step is
about ten microseconds: a decision of a run, a case, a share of an integral.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass

from dpest.errors import BudgetExceeded
from dpest.numerics.setting import Setting

_IN_A_STEP = 50  # evaluations of an integrand that take about as long as one step


@dataclass
class Effort:
    """The work done in a block so far, in blocks inside it too, and the most of it that is allowed."""

    most: int | None = None  # evaluations
    most_steps: int | None = None
    most_work: int | None = None
    outer: Effort | None = None
    evaluations: int = 0
    steps: int = 0

    @property
    def work(self) -> int:
        """Steps and evaluations together, in steps."""
        return self.steps + self.evaluations // _IN_A_STEP


_EFFORT: ContextVar[Effort | None] = ContextVar("dpest_effort", default=None)


def limited_effort(most: int, most_steps: int | None = None) -> AbstractContextManager[Effort]:
    """Inside the block, raises `BudgetExceeded` once integrands were evaluated, or steps made, more often than allowed."""
    return Setting(_EFFORT, Effort(most, most_steps, None, _EFFORT.get()))


def counted_effort(most_work: int | None = None) -> AbstractContextManager[Effort]:
    """Counts the work of the block; raises `BudgetExceeded` where it is more than allowed."""
    return Setting(_EFFORT, Effort(None, None, most_work, _EFFORT.get()))


def spend(evaluations: int) -> None:
    """Counts evaluations of an integrand."""
    _count(evaluations, 0)


def spend_steps(steps: int) -> None:
    """Counts steps of about ten microseconds."""
    _count(0, steps)


def _count(evaluations: int, steps: int) -> None:
    effort = _EFFORT.get()
    while effort is not None:
        effort.evaluations += evaluations
        effort.steps += steps
        if evaluations and effort.most is not None and effort.evaluations > effort.most:
            raise BudgetExceeded(
                f"its integrals take more than {effort.most:,} evaluations: noise with heavy tails, or many random values that "
                "depend on each other"
            )
        if steps and effort.most_steps is not None and effort.steps > effort.most_steps:
            raise BudgetExceeded(
                f"it takes more than {effort.most_steps:,} steps, which is longer than sampling takes (method='exact' goes on "
                "without this limit)"
            )
        if effort.most_work is not None and effort.work > effort.most_work:
            raise BudgetExceeded(f"it takes more than {effort.most_work:,} steps")
        effort = effort.outer
