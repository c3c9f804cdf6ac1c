"""Random mechanisms: what is proved for all adjacent inputs is never below the exact loss of an adjacent pair.

The oracle is the exact engine at plain inputs, which knows nothing of alignments.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import dpest
from dpest.curves.curve import Curve
from dpest.doors.prove import proved_bound
from dpest.errors import DpestError, ExactRefused
from dpest.exact.answer import estimate_exactly
from dpest.exact.proof.certificate import Certificate
from dpest.exact.proof.gaussian import gaussian_proof
from dpest.exact.proof.upper import ProofQuestion, traced_question, upper_side
from dpest.inputs.pairs import Pair
from tests.properties.random_questions import random_question
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


def check_questions(seed: int, pairs: int, each: int) -> Counter[str]:
    """Random questions until so many adjacent pairs of finitely bounded mechanisms were compared with their bounds."""
    seen: Counter[str] = Counter()
    while seen["pairs"] < pairs:
        rng = random.Random(f"{seed} {seen['questions']}")
        seen["questions"] += 1
        asked = random_question(rng)
        options = {"adjacency": asked.adjacency, "sensitivity": asked.sensitivity, "domain": asked.domain}
        try:
            upper = proved_bound(asked.mechanism, asked.n, **options)
        except DpestError:
            seen["refused"] += 1
            continue
        seen["bounded" if upper < math.inf else "infinite"] += 1
        for _ in range(each if upper < math.inf else 0):
            pair = Pair("", *asked.pair(rng))
            try:
                found = estimate_exactly(asked.mechanism, [pair], {})
            except DpestError:
                seen["pairs refused"] += 1
                continue
            seen["pairs"] += 1
            assert found.lower <= upper * (1 + 1e-9) + 1e-12, (asked, pair, found.lower, upper)
    return seen


def test_mechanisms_of_no_list_are_never_below_an_adjacent_pair() -> None:
    seen = check_questions(1, 200, 5)
    assert seen["bounded"] >= seen["questions"] / 3


@pytest.mark.slow
def test_mechanisms_of_no_list_are_never_below_ten_thousand_adjacent_pairs() -> None:
    print(check_questions(2, 10_000, 12))


def table_of_passes(rng: random.Random) -> Any:
    """A mechanism that releases a random function of which of three noisy values pass, a shared noisy threshold or not."""
    noise = rng.choice([dpest.laplace, dpest.laplace, dpest.logistic, dpest.geometric])
    scales = [rng.choice([1.0, 2.0, 4.0]) for _ in range(3)]
    shared, released = rng.random() < 0.6, rng.random() < 0.2
    signs = [rng.choice([1, 1, -1]) for _ in range(3)]
    table = [rng.choice(["a", "b", "c"][: rng.choice([2, 3])]) for _ in range(8)]

    def mechanism(queries: Any) -> Any:
        threshold = noise(2.0) if shared else 0.0
        passes = [c * q + noise(b) >= threshold for q, b, c in zip(queries, scales, signs, strict=True)]
        told = table[sum(1 << k for k, passed in enumerate(passes) if passed)]
        return (told, threshold + queries[0]) if released and shared else told

    return mechanism


def check_passes(seed: int, mechanisms: int, each: int) -> Counter[str]:
    """Functions of passes, whose runs with one output are bounded together, beside random adjacent pairs."""
    seen: Counter[str] = Counter()
    for k in range(mechanisms):
        rng = random.Random(f"passes {seed} {k}")
        mechanism, adjacency = table_of_passes(rng), rng.choice(["linf", "linf", "l1", "monotone"])
        try:
            upper = upper_side(ProofQuestion(mechanism, {}, 3, adjacency, 1.0, None))
        except ExactRefused:  # whole-number noise that is released beside a number that is not whole
            continue
        if upper.certificate is None:
            continue
        assert upper.certificate.check()
        seen["together"] += any(step.pool for step in upper.certificate.steps)
        bound = float(upper.certificate.bound)
        for _ in range(each):
            left = [rng.choice([-30.0, -4.0, -1.0, 0.0, 0.5, 1.0, 3.0, 30.0, rng.uniform(-6, 6)]) for _ in range(3)]
            steps = [rng.choice([-1.0, 1.0]) for _ in range(3)]
            if adjacency == "l1":
                steps = [s if i == 1 else 0.0 for i, s in enumerate(steps)]
            if adjacency == "monotone":
                steps = [abs(s) for s in steps]
            pair = Pair("", left, [a + s for a, s in zip(left, steps, strict=True)])
            found = estimate_exactly(mechanism, [pair], {})
            seen["pairs"] += 1
            seen["close"] += found.lower >= 0.95 * bound
            assert found.lower <= bound * (1 + 1e-9) + 1e-12, (seed, k, adjacency, pair, found.lower, bound)
    return seen


def test_functions_of_passes_are_never_below_an_adjacent_pair() -> None:
    assert check_passes(1, 12, 5)["together"] >= 3


@pytest.mark.slow
def test_functions_of_passes_are_never_below_ten_thousand_adjacent_pairs() -> None:
    print(check_passes(2, 500, 20))


def check_gaussian(seed: int, pairs: int) -> Counter[str]:
    """delta(epsilon) of random adjacent pairs of mechanisms with Gaussian noise, beside the curve that is proved for all."""
    seen: Counter[str] = Counter()
    while seen["pairs"] < pairs:
        rng = random.Random(f"{seed} {seen['questions']}")
        seen["questions"] += 1
        asked = random_question(rng, ("gaussian", "wide gaussian"), 0.95)
        question = ProofQuestion(asked.mechanism, {}, asked.n, asked.adjacency, asked.sensitivity, asked.domain)
        try:
            proof = gaussian_proof(question, traced_question(question))
        except DpestError:
            continue
        seen["proved"] += proof is not None
        for _ in range(0 if proof is None else 4):
            assert proof is not None
            pair = Pair("", *asked.pair(rng))
            try:
                (found,) = estimate_exactly(asked.mechanism, [pair], {}).pairs
                assert found.profile is not None
                told = [found.profile.delta(e).lower for e in (0.0, 0.4, 2.0)]
            except DpestError:
                continue
            seen["pairs"] += 1
            bounds = [Curve.gaussian(proof.mu).delta(e).upper for e in (0.0, 0.4, 2.0)]
            assert all(a <= b * (1 + 1e-9) for a, b in zip(told, bounds, strict=True)), (asked, pair, proof.mu, told, bounds)
    return seen


def test_gaussian_privacy_is_never_below_an_adjacent_pair() -> None:
    assert check_gaussian(1, 80)["proved"] >= 15


@pytest.mark.slow
def test_gaussian_privacy_is_never_below_two_thousand_adjacent_pairs() -> None:
    print(check_gaussian(2, 2_000))


@examples(40)
@given(programs, adjacencies)
def test_every_certificate_checks(program: Program, adjacency: str) -> None:
    try:
        upper = upper_side(ProofQuestion(lambda data: program(data, dpest), {}, 2, adjacency, 1.0, None))
    except DpestError:
        assume(False)
        raise
    if upper.certificate is not None:
        assert upper.certificate.faults() == []
        assert Certificate.from_json(upper.certificate.to_json()).check()
