"""State that decides late, and the clock: refused; state that decides nothing is left alone."""

from __future__ import annotations

import datetime
import itertools
import time
from collections.abc import Callable
from time import perf_counter
from typing import Any

import pytest

import dpest
from dpest.errors import NotReplayable

COUNTS = [0]
CALLS: list[int] = []
NUMBERS = itertools.count()
MEMO: dict[Any, Any] = {}


def counted_in_a_list(x: int) -> Any:
    COUNTS[0] += 1
    return x + dpest.laplace(1.0 if COUNTS[0] < 100_000 else 0.5)


def counted_by_length(x: int) -> Any:
    CALLS.append(x)
    return x + dpest.laplace(1.0) if len(CALLS) < 1_000 else x


def counted_by_an_iterator(x: int) -> Any:
    return x + dpest.laplace(1.0) if next(NUMBERS) < 1_000 else x


def counted_in_a_closure() -> Callable[[int], Any]:
    n = 0

    def mechanism(x: int) -> Any:
        nonlocal n
        n += 1
        return x + dpest.laplace(1.0) if n < 1_000 else x

    return mechanism


class Budget:
    """Leaks once it is spent."""

    def __init__(self, decides: bool) -> None:
        self.left, self.decides, self.log = 1e6, decides, [0]

    def __call__(self, x: int) -> Any:
        self.left -= 0.1
        self.log.append(x)
        return x if self.decides and self.left < 0 else x + dpest.laplace(1.0)


def odd_seconds(x: int) -> Any:
    return x + dpest.laplace(1.0 if time.time() % 2 < 1 else 2.0)


def some_day(x: int) -> Any:
    return x + dpest.laplace(1.0) if time.time_ns() < 2_000_000_000_000_000_000 else x


def at_night(x: int) -> Any:
    return x + dpest.laplace(1.0) if datetime.datetime.now().hour < 25 else x


@pytest.mark.parametrize(
    "mechanism",
    [
        counted_in_a_list,
        counted_by_length,
        counted_by_an_iterator,
        counted_in_a_closure(),
        Budget(decides=True),
        odd_seconds,
        some_day,
        at_night,
    ],
)
def test_what_decides_after_many_runs_or_at_another_time_is_refused(mechanism: Callable[[int], Any]) -> None:
    with pytest.raises(NotReplayable):
        dpest.estimate(mechanism, (0, 1), method="exact")


def remembered(x: int) -> Any:
    if x not in MEMO:
        MEMO[x] = 2 * x
    return MEMO[x] / 2 + dpest.laplace(1.0)


def stopwatch(x: int) -> Any:
    start = perf_counter()
    value = x + dpest.laplace(1.0)
    assert perf_counter() >= start
    return value


@pytest.mark.parametrize("mechanism", [remembered, stopwatch, Budget(decides=False)])
def test_what_decides_nothing_is_left_alone(mechanism: Callable[[int], Any]) -> None:
    found = dpest.estimate(mechanism, (0, 1), method="exact")
    assert found.lower <= 1.0 <= found.upper


def test_a_state_that_was_moved_ahead_is_put_back() -> None:
    budget = Budget(decides=False)
    dpest.estimate(budget, (0, 1), method="exact")
    assert 0.9e6 < budget.left < 1e6
    assert len(budget.log) < 1_000
