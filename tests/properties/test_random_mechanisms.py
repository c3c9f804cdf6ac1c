"""Random small mechanisms: exact against rational enumeration, and against plain sampling within its error."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings

import dpest
from dpest.errors import ExactRefused
from tests.oracles import enumeration, monte_carlo
from tests.strategies import Program, deciding_programs, finite_programs, pairs, releasing_programs

RUNS = 40_000
ERRORS = 6.0  # standard errors that a sampled figure may be off
Pair = tuple[tuple[int, int], tuple[int, int]]


def examples(count: int) -> Callable[[Any], Any]:
    return settings(
        max_examples=count,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
    )


def exactly(program: Program, pair: Pair) -> dpest.Result:
    """The exact answer; a mechanism beyond the budget is no example."""
    try:
        return dpest.estimate(lambda x: program(x, dpest), (list(pair[0]), list(pair[1])), method="exact")
    except ExactRefused:
        assume(False)
        raise


def check_enumeration(program: Program, pair: Pair) -> None:
    result = exactly(program, pair)
    (found,) = result.pairs
    p, q = (enumeration.law(program, list(x)) for x in pair)
    truth = [enumeration.loss(p, q), enumeration.loss(q, p)]
    assert [found.forward, found.backward] == pytest.approx(truth, rel=1e-12, abs=1e-14)
    assert found.lower <= max(truth) <= found.upper
    if math.isfinite(found.epsilon):
        assert found.upper - found.lower < 1e-12
    for epsilon in (0.0, 0.5):
        delta = max(enumeration.delta(p, q, epsilon), enumeration.delta(q, p, epsilon))
        assert float(result.delta(epsilon)) == pytest.approx(delta, rel=1e-9, abs=1e-12)


def check_decisions(program: Program, pair: Pair) -> None:
    """Exact against counts: no output exceeds the loss, and the witness is as likely as it says, under both inputs."""
    result = exactly(program, pair)
    sampled = dataclasses.replace(program, lazy=True)
    p, q = (monte_carlo.outcomes(sampled, x, RUNS, seed) for seed, x in enumerate(pair))
    for key in p.keys() & q.keys():
        if min(p[key], q[key]) >= 50:
            ratio, error = monte_carlo.log_ratio(p[key], q[key])
            assert abs(ratio) <= result.upper + ERRORS * error
    assert result.witness is not None
    for counts, claimed in ((p, result.witness.left), (q, result.witness.right)):
        hits = sum(k for key, k in counts.items() if f"output == {_shown(key)}" == result.witness.event)
        assert abs(hits - RUNS * claimed) <= ERRORS * math.sqrt(RUNS * claimed * (1 - claimed)) + 1e-6


def _shown(key: Any) -> str:
    return f"({', '.join(map(str, key))})" if isinstance(key, tuple) else str(key)


def check_releases(program: Program, pair: Pair) -> None:
    """No cell of a grid over the outputs is likelier under one input than the loss allows."""
    result = exactly(program, pair)
    sampled = dataclasses.replace(program, lazy=True)
    tables = [monte_carlo.values(sampled, x, RUNS, seed) for seed, x in enumerate(pair)]
    pooled, shares = np.concatenate(tables), np.linspace(0, 1, 9)
    edges = [np.unique(np.quantile(column, shares)) for column in pooled.T]
    cells = [np.stack([np.searchsorted(e, t[:, j]) for j, e in enumerate(edges)], axis=1) for t in tables]
    p, q = (Counter(map(tuple, c.tolist())) for c in cells)
    for key in p.keys() | q.keys():
        if min(p[key], q[key]) >= 50:
            ratio, error = monte_carlo.log_ratio(p[key], q[key])
            assert abs(ratio) <= result.upper + ERRORS * error
        elif max(p[key], q[key]) >= 50:
            assert math.exp(-result.upper) * max(p[key], q[key]) <= min(p[key], q[key]) + ERRORS * math.sqrt(50)


@examples(25)
@given(finite_programs(), pairs)
def test_finite_mechanisms_are_enumerated(program: Program, pair: Pair) -> None:
    check_enumeration(program, pair)


@examples(25)
@given(deciding_programs(), pairs)
def test_decisions_are_as_likely_as_sampled(program: Program, pair: Pair) -> None:
    check_decisions(program, pair)


@examples(15)
@given(releasing_programs(), pairs)
def test_releases_lose_no_less_than_sampled(program: Program, pair: Pair) -> None:
    check_releases(program, pair)


@pytest.mark.slow
@examples(400)
@given(finite_programs(), pairs)
def test_many_finite_mechanisms_are_enumerated(program: Program, pair: Pair) -> None:
    check_enumeration(program, pair)


@pytest.mark.slow
@examples(400)
@given(deciding_programs(), pairs)
def test_many_decisions_are_as_likely_as_sampled(program: Program, pair: Pair) -> None:
    check_decisions(program, pair)


@pytest.mark.slow
@examples(300)
@given(releasing_programs(), pairs)
def test_many_releases_lose_no_less_than_sampled(program: Program, pair: Pair) -> None:
    check_releases(program, pair)
