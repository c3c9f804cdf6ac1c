"""Random mechanisms: what is proved for all adjacent inputs is never below the exact loss of an adjacent pair.

The oracle is the exact engine at plain inputs, which knows nothing of alignments.
"""

from __future__ import annotations

import math
import random
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import dpest
from dpest.doors.prove import proved_bound
from dpest.errors import DpestError, ExactRefused
from dpest.exact.proof.certificate import Certificate
from dpest.exact.proof.upper import Question, upper_side
from tests.strategies import Program, deciding_programs, finite_programs, releasing_programs

programs = st.one_of(deciding_programs(), releasing_programs(), finite_programs())
adjacencies = st.sampled_from(["linf", "l1", "monotone"])
seeds = st.integers(0, 1 << 30)


def examples(count: int) -> Any:
    return settings(max_examples=count, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))


def adjacent_pair(adjacency: str, rng: random.Random) -> tuple[list[float], list[float]]:
    """Two inputs of two numbers, on or near the constants that the programs contain."""
    left = [rng.choice([-2.0, -1.0, 0.0, 0.5, 1.0, 2.0, 3.0, rng.uniform(-4, 4)]) for _ in range(2)]
    steps = [rng.choice([-1.0, -0.5, 0.0, 0.5, 1.0]) for _ in range(2)]
    if adjacency == "l1":
        steps[rng.randrange(2)] = 0.0
    if adjacency == "monotone":
        sign = rng.choice([-1.0, 1.0])
        steps = [sign * abs(s) for s in steps]
    return left, [a + s for a, s in zip(left, steps, strict=True)]


def check(program: Program, adjacency: str, seed: int, pairs: int) -> None:
    def mechanism(data: Any) -> Any:
        return program(data, dpest)

    try:
        upper = proved_bound(mechanism, n=2, adjacency=adjacency)
    except DpestError:
        assume(False)
        raise
    assume(upper < math.inf)
    rng = random.Random(seed)
    for _ in range(pairs):
        pair = adjacent_pair(adjacency, rng)
        try:
            found = dpest.estimate(mechanism, pair, method="exact")
        except ExactRefused:
            continue
        assert found.lower <= upper * (1 + 1e-9) + 1e-12, pair


@examples(60)
@given(programs, adjacencies, seeds)
def test_never_below_an_adjacent_pair(program: Program, adjacency: str, seed: int) -> None:
    check(program, adjacency, seed, 4)


@pytest.mark.slow
@examples(1500)
@given(programs, adjacencies, seeds)
def test_never_below_ten_thousand_adjacent_pairs(program: Program, adjacency: str, seed: int) -> None:
    check(program, adjacency, seed, 10)


@examples(40)
@given(programs, adjacencies)
def test_every_certificate_checks(program: Program, adjacency: str) -> None:
    try:
        upper = upper_side(Question(lambda data: program(data, dpest), {}, 2, adjacency, 1.0, None))
    except DpestError:
        assume(False)
        raise
    if upper.certificate is not None:
        assert upper.certificate.faults() == []
        assert Certificate.from_json(upper.certificate.to_json()).check()
