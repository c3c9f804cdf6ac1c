"""Regions with one output that are bounded together: the values, and that no pair loses more.

The oracles are the exact engine at plain inputs, and the polynomials of probabilities in closed form.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
import random
from types import SimpleNamespace
from typing import Any

import pytest

import dpest
from dpest.exact.proof import pooling
from dpest.exact.proof.adjacency import Box
from dpest.exact.proof.certificate import Certificate, PairKind, ProofStep
from dpest.exact.proof.regions import Region
from dpest.exact.proof.upper import ProofQuestion, upper_side
from dpest.numerics.rationals import exact


def passes(queries: Any) -> Any:
    threshold = dpest.laplace(2.0)
    return sum(1 for q in queries if q + dpest.laplace(4.0) >= threshold)


def passes_with_noise(queries: Any) -> Any:
    return passes(queries) + dpest.laplace(1.0)


def most_pass(queries: Any) -> Any:
    return sum(1 for q in queries if q + dpest.laplace(2.0) > 0) >= 2


def parity(queries: Any) -> Any:
    return sum(1 for q in queries if q + dpest.logistic(2.0) > 0) % 2


def some_pass(queries: Any) -> Any:
    threshold = dpest.laplace(2.0)
    return any(q + dpest.laplace(4.0) > threshold for q in queries)


def middle(queries: Any) -> Any:
    return sorted(q + dpest.laplace(2.0) for q in queries)[1]


# What can be proved, and why it is reached: the last of n values that must all change, or one that decides alone.
PROVED: list[tuple[Any, float]] = [(passes, 0.5), (passes_with_noise, 0.5), (most_pass, 1.0), (some_pass, 0.5), (middle, 1.0)]


@functools.cache
def proof_of(mechanism: Any, n: int = 3) -> tuple[dpest.Result, Certificate]:
    p = dpest.prove(mechanism, n=n)
    assert isinstance(p.proof, Certificate)
    return p, p.proof


@pytest.mark.parametrize(("mechanism", "loss"), PROVED)
def test_what_is_proved_for_several_regions_together(mechanism: Any, loss: float) -> None:
    _, proof = proof_of(mechanism)
    assert any(step.pool for step in proof.steps)
    assert float(proof.bound) == loss
    assert proof.check()
    assert "bounded together" in str(proof)


def test_a_parity_tells_one_value_only() -> None:
    for n in (2, 3, 5):
        p, proof = proof_of(parity, n)
        assert float(proof.bound) == 0.5
        assert p.lower == pytest.approx(0.5, rel=1e-6)


@pytest.mark.parametrize("mechanism", [passes, most_pass, some_pass, middle])
def test_the_worst_pair_reaches_the_bound(mechanism: Any) -> None:
    p, _ = proof_of(mechanism)
    assert p.lower == pytest.approx(p.upper, rel=1e-6)


@pytest.mark.parametrize(("mechanism", "loss"), [*PROVED, (parity, 0.5)])
def test_no_adjacent_pair_loses_more(mechanism: Any, loss: float) -> None:
    rng = random.Random(3)
    for _ in range(6):
        left = [rng.choice([-8.0, -1.0, 0.0, 0.5, 3.0, rng.uniform(-9, 9)]) for _ in range(3)]
        right = [x + rng.choice([-1.0, 1.0, 1.0, 0.5]) for x in left]
        assert dpest.estimate(mechanism, (left, right), method="exact").lower <= loss * (1 + 1e-9)


def test_the_polynomial_is_bounded_between_its_corners() -> None:
    """At least two of three: ln Q falls by at most 1 (two values at 1/2 each) for a threshold that moves by 1 at scale 2."""

    def above(x: float) -> float:  # P(x + laplace(2) > 0)
        return 1 - 0.5 * math.exp(-x / 2) if x > 0 else 0.5 * math.exp(x / 2)

    def log_q(xs: tuple[float, ...]) -> float:
        a, b, c = map(above, xs)
        return math.log(a * b + a * c + b * c - 2 * a * b * c)

    grid = [-6.0, -2.0, -0.5, 0.0, 0.5, 1.0, 3.0, 8.0]
    worst = 0.0
    for xs in itertools.product(grid, repeat=3):
        for step in itertools.product((-1.0, 1.0), repeat=3):
            worst = max(worst, log_q(xs) - log_q(tuple(x + s for x, s in zip(xs, step, strict=True))))
    assert 0.99 < worst <= 1.0


def test_whole_and_one_sided_draws_are_not_bounded_by_rates() -> None:
    """Rates are for laws whose shifts cost the same either way; a geometric draw jumps."""
    for noise in (dpest.geometric, dpest.exponential, dpest.gumbel):
        question = ProofQuestion(lambda q, z=noise: sum(1 for x in q if x + z(2.0) > 0) >= 2, {}, 3, "linf", 1.0, None)
        proof = upper_side(question).certificate
        assert proof is None or not any(step.pool for step in proof.steps)


def test_regions_are_bounded_together_where_that_costs_less_than_the_dearest_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four regions of two outputs; pools of either output cost 2, and the bound is the largest cost of a step."""
    regions = [Region(key, (), (), ()) for key in ("a", "a", "b", "b")]
    case = PairKind(0, 0, Box("all move", ()))
    asked = []

    def cheapest(programs: Any, members: list[int], box: Any, most: Any, known: Any) -> Any:
        asked.append((tuple(members), most))
        return (SimpleNamespace(members=tuple(members)), exact(2)) if most > 2 else None

    monkeypatch.setattr(pooling, "cheapest_pool", cheapest)

    def bounded(*costs: int) -> tuple[Any, list[tuple[tuple[int, ...], Any]]]:
        asked.clear()
        steps = [ProofStep(0, k, k, {}, None, None, exact(c)) for k, c in enumerate(costs)]
        found = pooling.pooled([regions], [case], steps, None)  # type: ignore[arg-type]
        return found and sorted((s.source, s.cost) for s in found), asked.copy()

    assert bounded(1, 3, 4, 1) == ([(0, 2), (2, 2)], [((2, 3), 4), ((0, 1), 3)])
    # A bound that a pool does not lower stays what it is, and nothing that costs less matters beside it.
    assert bounded(1, 1, 3, 1) == ([(0, 1), (1, 1), (2, 2)], [((2, 3), 3), ((0, 1), 1)])
    assert bounded(2, 1, 1, 2) == (None, [((0, 1), 2)])


def test_pools_that_overlap_are_refused() -> None:
    _, proof = proof_of(passes)
    step = next(s for s in proof.steps if s.pool)
    assert step.pool is not None
    fewer = dataclasses.replace(step.pool, members=step.pool.members[:2])
    twice = (*proof.steps, dataclasses.replace(step, pool=fewer))
    assert not dataclasses.replace(proof, steps=twice).check()
    assert not dataclasses.replace(proof, steps=tuple(s for s in proof.steps if s is not step)).check()
