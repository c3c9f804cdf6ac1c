"""Chains of states on the program's own numbers: against the same programs run on every sequence of draws."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpest
from dpest.errors import ExactRefused
from dpest.trace.against_program import CHECKS
from dpest.trace.chain import OutputChances
from dpest.trace.chained import FEW_STATES, LaterChain, chained
from dpest.trace.execute import execute
from dpest.trace.limits import LIMITS
from dpest.trace.pointwise import PointRun
from tests.unit.trace.test_chain import enumerated


def sweeps(x: int, rng: np.random.Generator) -> Any:
    state = [x, 1, 0]
    for _ in range(3):
        for i in range(3):
            near = state[(i - 1) % 3] + state[(i + 1) % 3]
            state[i] = int(rng.random() < [0.25, 0.5, 0.75][near])
    return tuple(state)


def walks_on_a_ring(x: int, rng: np.random.Generator) -> Any:
    scores, place = [3, 1, x], 0
    for _ in range(5):
        there = (place + [-1, 1][rng.integers(2)]) % 3
        if rng.random() < min(1.0, 2.0 ** (scores[there] - scores[place])):
            place = there
    return place


def counts_by_name(x: int, rng: np.random.Generator) -> Any:
    found: Counter[str] = Counter()
    for name in ["a", "b"[:x] or "a", "b", "c"]:
        if rng.random() < 0.5:
            found[name] += 1
        else:
            found["abc"[rng.integers(3)]] += 1
    return ", ".join(f"{k}:{found[k]}" for k in sorted(found))


def asks_how_often(x: int, rng: np.random.Generator) -> Any:
    reports = []
    for name in ["a"] * 3 + ["ab"[x]] + ["c"] * 2:
        reports.append(name if rng.random() < 0.5 else "abc"[rng.integers(3)])
    return len(reports), *(reports.count(name) for name in "abc")


def sorts_what_it_kept(x: int, rng: np.random.Generator) -> Any:
    kept = []
    for n in [x, 1, 2, 2, 3]:
        if rng.random() < 0.75:
            kept.append(n + int(rng.integers(2)))
    return max(kept, default=9), *sorted(kept)[:2], sum(kept) % 3


def looks_at_the_last(x: int, rng: np.random.Generator) -> Any:
    kept = []
    for n in [x, 1, 0, 1]:
        kept.append(n ^ int(rng.integers(2)) if rng.random() < 0.5 else n)
    return len(kept), kept[-1], kept[0]


SHORT: list[Callable[..., Any]] = [
    *(sweeps, walks_on_a_ring, counts_by_name, asks_how_often, sorts_what_it_kept, looks_at_the_last)
]


@pytest.mark.parametrize("mechanism", SHORT, ids=lambda f: f.__name__)
def test_each_output_has_the_weight_of_its_sequences(mechanism: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Oracle: every sequence of draws in fractions; whether the door takes this way or another."""
    found: list[OutputChances] = []

    def kept(self: LaterChain, most: int) -> OutputChances | None:
        found.append(chained(self._program, FEW_STATES, self._limits, self._checks, make=PointRun))
        self._open, self._found = False, found[-1]
        return found[-1]

    monkeypatch.setattr(LaterChain, "on_points", kept)
    result = dpest.estimate(mechanism, (0, 1), method="exact")
    p, q = (enumerated(mechanism, x, Fraction(0))[0] for x in (0, 1))
    shared = p.keys() & q.keys()
    truth = math.inf if p.keys() != q.keys() else max(abs(math.log(p[k] / q[k])) for k in shared)
    assert result.lower <= truth * (1 + 1e-12)
    assert truth <= result.upper * (1 + 1e-12) + 1e-12
    for chances, law in zip(found, (p, q), strict=True):
        weights = sorted(map(float, law.values()))
        assert sorted(math.exp(log_p) for _, log_p in chances.outputs) == pytest.approx(weights, rel=1e-12)


def test_counts_of_answers_have_as_many_states_as_there_are_counts() -> None:
    """Ten people, each of whom gives one of three answers: 3^10 lists, and 66 counts. Oracle: the loss of one answer."""

    def survey(people: list[str], rng: np.random.Generator) -> Any:
        reports = []
        for answer in people:
            if rng.random() < 0.5:
                reports.append(answer)
            else:
                reports.append(["red", "green", "blue"][rng.integers(3)])
        return {name: reports.count(name) for name in ("red", "green", "blue")}

    result = dpest.estimate(survey, (["red"] * 10, ["blue"] + ["red"] * 9), method="exact")
    assert result.lower <= math.log(4) * (1 + 1e-12)
    assert math.log(4) <= result.upper * (1 + 1e-12)
    assert result.upper - result.lower < 1e-9


def test_what_is_kept_on_one_side_of_a_round_alone_is_told_apart() -> None:
    """Lists in another order are two states where the order is looked at. Oracle: 1/4 and 3/4 as they stand."""

    def first(x: int, rng: np.random.Generator) -> Any:
        kept = []
        for n in (x, 1 - x, 0, 1, 0, 1):
            kept.append(n if rng.random() < 0.75 else 1 - n)
        return kept[0]

    assert dpest.estimate(first, (0, 1), method="exact").epsilon == pytest.approx(math.log(3), rel=1e-12)


def test_noise_without_a_last_point_is_refused_also_where_the_mechanism_catches_errors() -> None:
    def careful(x: int) -> int:
        try:
            noise = dpest.geometric(1)
        except Exception:
            noise = 0
        return x + noise

    with pytest.raises(ExactRefused, match="without a last point"):
        chained(lambda run: execute(run, careful, 0, {}), FEW_STATES, LIMITS, CHECKS, make=PointRun)
