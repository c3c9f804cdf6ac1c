"""Truths that need no oracle: what must not change the loss, what can only lower it, and what adds up."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import dpest
from dpest.errors import ExactRefused
from tests.strategies import Program, deciding_programs, finite_programs, pairs, releasing_programs, scales

few = settings(max_examples=12, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
Mechanism = Callable[[Any], Any]
any_program = st.one_of(finite_programs(), deciding_programs(), releasing_programs())
families = st.sampled_from([dpest.laplace, dpest.exponential, dpest.gumbel, dpest.logistic])


def losses(mechanism: Mechanism, left: Any, right: Any) -> tuple[float, float]:
    (found,) = dpest.estimate(mechanism, (left, right), method="exact").pairs
    return found.forward, found.backward


def exact(mechanism: Mechanism, pair: Any) -> dpest.Result:
    try:
        return dpest.estimate(mechanism, (list(pair[0]), list(pair[1])), method="exact")
    except ExactRefused:
        assume(False)
        raise


def of(program: Program) -> Mechanism:
    return lambda x: program(x, dpest)


@few
@given(any_program, pairs)
def test_swapping_the_pair_swaps_the_directions(program: Program, pair: Any) -> None:
    one, other = (exact(of(program), p).pairs[0] for p in (pair, pair[::-1]))
    assert (one.forward, one.backward) == pytest.approx((other.backward, other.forward), rel=1e-9, abs=1e-12)


@few
@given(any_program, st.tuples(st.integers(-2, 2), st.integers(-2, 2)))
def test_identical_inputs_lose_exactly_nothing(program: Program, data: Any) -> None:
    result = exact(of(program), (data, data))
    assert (result.epsilon, result.lower, result.upper) == (0.0, 0.0, 0.0)


@few
@given(st.one_of(deciding_programs(), releasing_programs()), pairs)
def test_post_processing_cannot_raise_the_loss(program: Program, pair: Any) -> None:
    def coarser(x: Any) -> Any:
        out = program(x, dpest)
        parts = out if isinstance(out, tuple) else (out,)
        return [p >= 1 for p in parts]

    whole = exact(of(program), pair)
    assert exact(coarser, pair).epsilon <= whole.upper + 1e-12


@few
@given(releasing_programs(), pairs)
def test_the_joint_loss_is_at_least_every_marginal_one(program: Program, pair: Any) -> None:
    assume(len(program.outputs) > 1)
    whole = exact(of(program), pair)
    for k in range(len(program.outputs)):
        assert exact(lambda x, k=k: program(x, dpest)[k], pair).epsilon <= whole.upper + 1e-12


@few
@given(deciding_programs(), deciding_programs(), pairs)
def test_independent_parts_add_per_direction(one: Program, other: Program, pair: Any) -> None:
    parts = [exact(of(p), pair).pairs[0] for p in (one, other)]
    both = exact(lambda x: (one(x, dpest), other(x, dpest)), pair).pairs[0]
    for way in ("forward", "backward"):
        assert getattr(both, way) == pytest.approx(sum(getattr(p, way) for p in parts), rel=1e-9, abs=1e-12)


@settings(few, max_examples=3)
@given(families, scales, st.sampled_from([1e-3, 8.0, 1e5]), st.tuples(st.integers(-2, 2), st.integers(-2, 2)), st.integers(1, 2))
def test_scaling_inputs_thresholds_and_noise_together_changes_nothing(
    family: Any, scale: float, factor: float, values: tuple[int, int], change: int
) -> None:
    def mechanism(x: Any, unit: float) -> Any:
        threshold = 0.5 * unit + family(2 * scale * unit)
        noisy = [v * unit + family(scale * unit) for v in x]
        return [z > threshold for z in noisy], dpest.argmax([x[1] * unit + family(unit), noisy[0]])

    neighbour = [values[0] + change, *values[1:]]
    one, other = (losses(lambda x, u=u: mechanism(x, u), values, neighbour) for u in (1.0, factor))
    assert one == pytest.approx(other, rel=1e-9, abs=1e-12)


@few
@given(families, scales, st.integers(-3, 3))
def test_moving_inputs_and_thresholds_together_changes_nothing(family: Any, scale: float, offset: int) -> None:
    def mechanism(x: Any) -> Any:
        return x[0] + family(scale) > x[1], x[0] - x[1] + dpest.laplace(1.0)

    one, other = (losses(mechanism, [1 + c, 0 + c], [2 + c, 1 + c]) for c in (0, offset))
    assert one == pytest.approx(other, rel=1e-9, abs=1e-12)


@few
@given(any_program, pairs)
def test_a_bijection_of_the_output_keeps_the_loss(program: Program, pair: Any) -> None:
    def renamed(x: Any) -> Any:
        out = program(x, dpest)
        return {"first": None, "rest": list(out) if isinstance(out, tuple) else [out]}

    one, other = exact(of(program), pair).pairs[0], exact(renamed, pair).pairs[0]
    assert (one.forward, one.backward) == pytest.approx((other.forward, other.backward), rel=1e-9, abs=1e-12)


@few
@given(finite_programs(), pairs)
def test_if_and_where_mean_the_same(program: Program, pair: Any) -> None:
    from dataclasses import replace

    one, other = (exact(of(replace(program, lazy=lazy)), pair).pairs[0] for lazy in (False, True))
    assert (one.forward, one.backward) == pytest.approx((other.forward, other.backward), rel=1e-12, abs=1e-14)


@few
@given(any_program, pairs)
def test_a_witness_shows_the_loss_that_is_claimed(program: Program, pair: Any) -> None:
    result = exact(of(program), pair)
    assert result.witness is not None
    if math.isfinite(result.epsilon):
        assert result.witness.loss == pytest.approx(result.epsilon, rel=1e-6, abs=1e-6)
    else:
        assert result.witness.limit or math.inf in (-result.witness.log_left, -result.witness.log_right)


@few
@given(st.one_of(finite_programs(), deciding_programs()), pairs)
def test_delta_falls_from_the_total_variation_to_zero_at_epsilon(program: Program, pair: Any) -> None:
    result = exact(of(program), pair)
    deltas = [result.delta(e) for e in (0.0, 0.1, 0.5, 1.0, 3.0)]
    assert all(a >= b - 1e-12 for a, b in zip(deltas, deltas[1:], strict=False))
    assert 0 <= deltas[-1] <= deltas[0] <= 1 + 1e-12
    if result.epsilon < 100:
        assert result.delta(result.upper + 1e-9) <= 1e-9
