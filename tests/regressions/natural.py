"""Short natural programs that took minutes, ended in a bare error, or were refused although a few coins decide them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import Any

from mpmath import mp

from tests.regressions.case import Case, Refusal
from tests.regressions.discrete import enumerated, formula

MAY = Refusal.ALLOWED


def cases() -> Iterator[Case]:
    """All of them."""
    yield from retries()
    yield from lengths_by_input()
    yield from beyond_doubles()
    yield from functions_of_numbers()


def _retried(x: Any, d: Any, need: int, most: int) -> Any:
    n = tries = 0
    while n < need and tries < most:
        tries += 1
        n += d.bernoulli(0.5 if x else 0.25)
    return n, tries


def _filled(x: Any, d: Any, most: int) -> Any:
    n = tries = 0
    while n < 7 and tries < most:
        tries += 1
        n += d.integers(0, 3) + x
    return n, tries


def _walk(x: Any, d: Any, steps: int) -> Any:
    place = x
    for i in range(steps):
        place += d.integers(-1, 1)
        if abs(place) > 2:
            return i
    return None


def retries() -> Iterator[Case]:
    """Each condition adds a coin to the last one: sums over coins are no integrals, and a coin that fell on 0 is a number."""
    for need, most in ((1, 20), (2, 6), (2, 12), (3, 8), (5, 10)):
        yield enumerated(f"{need} successes in {most} tries", partial(_retried, need=need, most=most), (0, 1))
    yield enumerated("at least 7 in 5 tries", partial(_filled, most=5), (0, 1))
    for steps in (5, 7):
        yield enumerated(f"a walk of {steps} steps between two ends", partial(_walk, steps=steps), (0, 1))


def _climb(x: Any, d: Any, top: int, step: int) -> Any:
    i = x
    while i < top:
        i += d.integers(1, step)
    return i


def lengths_by_input() -> Iterator[Case]:
    """On unknown inputs such a loop never ends: the line about all inputs must be given up soon."""
    for top, step, pair in ((3, 2, (0, 1)), (5, 3, (2, 1)), (4, 4, (0, 3))):
        yield enumerated(f"steps of 1 to {step} up to {top}, {pair}", partial(_climb, top=top, step=step), pair)


def _scaled(x: Any, d: Any, factor: float) -> Any:
    return factor * (d.integers(-3, 4) + x)


def _sum_beyond(x: Any, d: Any) -> Any:
    k = d.integers(-3, 4) + x
    return 1e308 * k + 1e308 * k > 0


def beyond_doubles() -> Iterator[Case]:
    for factor in (1e308, -1e308, 1e307):
        yield enumerated(f"{factor} * integers", partial(_scaled, factor=factor), (0, 1), refusal=MAY)
    yield enumerated("a sum beyond doubles", _sum_beyond, (0, 1), refusal=MAY)


def _tangent(x: Any, d: Any) -> Any:
    k = d.integers(-5000, 5000)
    try:
        return math.tan(k), math.atanh(k / 5000)
    except ValueError:
        return x


def functions_of_numbers() -> Iterator[Case]:
    yield formula("math.tan of a draw with many points", _tangent, (0, 1), mp.inf, refusal=MAY)
