"""No answer depends on how fast the machine is: with a clock that leaps ahead at every look, the same numbers come back."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from typing import Any

import pytest

import dpest
from dpest.algorithms import find
from dpest.curves.curve import Curve
from dpest.results import Result


def noisy_maximum(values: Any) -> Any:
    return max(v + dpest.laplace(2.0) for v in values)


def median(values: Any) -> Any:
    return sorted(v + dpest.laplace(1.0) for v in values)[1]


def gradient_step(x: Any) -> Any:
    return (x if dpest.bernoulli(0.2) else 0.0) + dpest.gaussian(1.0)


def noisy_normal(values: Any) -> Any:
    return [values[0] + values[1] + dpest.gaussian(2.0), values[1] + dpest.gaussian(3.0)]


def said(r: Result) -> tuple[Any, ...]:
    return r.lower, r.upper, repr(r.pair.left), repr(r.pair.right), r.reason, r.notes


def said_of(curve: Curve) -> tuple[Any, ...]:
    return tuple((d.lower, d.upper) for d in (curve.delta(0.5), curve.delta(1.0)))


QUESTIONS: dict[str, Callable[[], tuple[Any, ...]]] = {
    "pairs that are named": lambda: said(dpest.prove(noisy_maximum, n=4)),
    "other candidates and a local search": lambda: said(dpest.prove(median, n=3)),
    "a pair that is farthest apart": lambda: said(dpest.prove(noisy_normal, n=2)),
    "the exact loss of patterns": lambda: said(dpest.estimate(find("SVT1").function, n=4, method="exact")),
    "steps that are composed": lambda: said_of(dpest.estimate(gradient_step, (0.0, 1.0)).compose(3)),
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_slow_machine_gives_the_same_answer(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ask = QUESTIONS[name]
    usual = ask()
    for clock in ("perf_counter", "monotonic", "time", "process_time"):
        ticks = itertools.count(0.0, 1_000.0)
        monkeypatch.setattr(time, clock, lambda ticks=ticks: next(ticks))
    assert ask() == usual
