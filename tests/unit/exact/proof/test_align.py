"""Alignments of one pair: an upper end that never lies below the loss, and meets it where a textbook proof does."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings

import dpest
from dpest.errors import ExactRefused
from dpest.exact.loss.compare import Loss, below
from dpest.exact.proof.align import Alignments, rounded_up
from dpest.exact.proof.programs import Program as LinearProgram
from dpest.exact.proof.regions import Variables, regions
from dpest.numerics.rationals import exact
from dpest.trace.explore import trace
from tests.strategies import Program, deciding_programs, finite_programs, pairs, releasing_programs


def bound(mechanism: Any, pair: tuple[Any, Any], **params: Any) -> tuple[float, float]:
    found = Alignments(*(trace(mechanism, data, params) for data in pair)).bound()
    assert found is not None
    return found


def noisy_sum(x: Any, scale: float) -> Any:
    return x + dpest.laplace(scale)


def above_threshold(queries: Any, eps: float) -> Any:
    threshold = dpest.laplace(2 / eps)
    for i, query in enumerate(queries):
        if query + dpest.laplace(4 / eps) >= threshold:
            return i
    return None


def noisy_max(values: Any, scale: float) -> Any:
    return dpest.argmax([v + dpest.exponential(scale) for v in values])


def test_laplace_noise_costs_distance_over_scale() -> None:
    assert bound(noisy_sum, (0.0, 3.0), scale=6.0) == (0.5, 0.5)


def test_above_threshold_costs_what_its_proof_says() -> None:
    # Forward, a pass at the end: threshold + 1, its own noise + 2. Backward, a pass: its own noise + 1.
    assert bound(above_threshold, ([1.0] * 8, [2.0] * 7 + [0.0]), eps=0.5) == (1 / 4 + 2 / 8, 1 / 8)


def test_noisy_max_with_exponential_noise() -> None:
    assert bound(noisy_max, ([1.0, 1.0, 1.0], [2.0, 0.0, 0.0]), scale=2.0) == (1.0, 1.0)


@pytest.mark.parametrize("noise", [lambda: dpest.gaussian(1.0), lambda: dpest.uniform(0.0, 1.0)])
def test_noise_that_no_shift_can_move(noise: Any) -> None:
    assert bound(lambda x: x + noise(), (0.0, 1.0)) == (math.inf, math.inf)


def test_exponential_noise_goes_up_only() -> None:
    assert bound(lambda x: x + dpest.exponential(2.0), (0.0, 1.0)) == (math.inf, 0.5)


def test_whole_noise_moves_in_whole_steps() -> None:
    assert bound(lambda x: x + dpest.geometric(2.0) >= 0, (0.0, 0.5)) == (0.0, 0.0)
    assert bound(lambda x: x + dpest.geometric(2.0) >= 0, (0.0, 1.5)) == (0.5, 0.5)
    assert bound(lambda x: x + dpest.geometric(2.0), (0, 3)) == (1.5, 1.5)


def test_a_fork_with_one_output_costs_nothing() -> None:
    assert bound(lambda x: dpest.where(x + dpest.laplace(1.0) >= 0, 1, 1), (0.0, 5.0)) == (0.0, 0.0)


def test_the_order_in_which_values_came_does_not_count() -> None:
    def largest_two(values: Any) -> Any:
        noisy = [v + dpest.laplace(1.0) for v in values]
        first, second = (0, 1) if noisy[0] >= noisy[1] else (1, 0)
        for i in range(2, len(values)):
            if noisy[i] >= noisy[first]:
                first, second = i, first
            elif noisy[i] >= noisy[second]:
                second = i
        return first, second

    # The winner and the second move up by 2 each: 2 + 2, and no more for the order among the others.
    assert max(bound(largest_two, ([0.0] * 4, [1.0, 1.0, -1.0, -1.0]))) <= 4.0


def test_rounded_releases_are_released_values() -> None:
    assert bound(lambda x: math.floor(x + dpest.laplace(2.0)), (0.0, 1.0)) == (0.5, 0.5)


def test_unexplored_paths_give_no_bound() -> None:
    def endless(x: Any) -> Any:
        count = 0
        while x + dpest.laplace(1.0 + count % 2) >= 0:
            count += 1
        return count

    assert Alignments(trace(endless, 0.0, {}), trace(endless, 0.5, {})).bound() is None


def check(program: Program, pair: Any) -> None:
    try:
        result = dpest.estimate(lambda x: program(x, dpest), (list(pair[0]), list(pair[1])), method="exact")
        found = Alignments(*(trace(lambda x: program(x, dpest), list(side), {}) for side in pair)).bound()
    except ExactRefused:
        assume(False)
        raise
    if found is not None:
        (one,) = result.pairs
        for upper, loss in zip(found, (one.forward, one.backward), strict=True):
            assert upper >= loss * (1 - 1e-9) - 1e-12


few = settings(max_examples=60, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
many = settings(max_examples=3000, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))


@few
@given(deciding_programs(), pairs)
def test_never_below_the_loss_of_decisions(program: Program, pair: Any) -> None:
    check(program, pair)


@few
@given(releasing_programs(), pairs)
def test_never_below_the_loss_of_releases(program: Program, pair: Any) -> None:
    check(program, pair)


@few
@given(finite_programs(), pairs)
def test_never_below_the_loss_of_finite_mechanisms(program: Program, pair: Any) -> None:
    check(program, pair)


@pytest.mark.slow
@many
@given(deciding_programs(), pairs)
def test_never_below_the_loss_of_many_decisions(program: Program, pair: Any) -> None:
    check(program, pair)


def test_the_bound_is_rounded_up() -> None:
    third = exact(1) / 3
    assert exact(rounded_up(third)) >= third
    assert rounded_up(exact(0.1)) == 0.1


def test_a_program_answers_in_rationals() -> None:
    program = LinearProgram()
    x = program.column("x", cost=exact(1), low=exact(0))
    program.at_least({x: exact(3)}, exact(0.1))
    assert program.solve() == [exact(0.1) / 3]
    program.at_least({x: exact(-1)}, exact(1))
    assert program.solve() is None


def test_losses_of_outputs_that_share_no_draw_add_up() -> None:
    """Rung: closed form. Two values behind a shared shift lose 1 + 1, a third one apart 0.5; all three together 2.5."""

    def three(x: float) -> list[Any]:
        z = dpest.laplace(1)
        return [x + z, -x + dpest.laplace(1), 0.5 * x + dpest.laplace(1), 7]

    assert bound(three, (0.0, 1.0)) == pytest.approx((2.5, 2.5), abs=1e-15)
    assert Alignments(trace(three, 0.0, {}), trace(three, 1.0, {})).adds_up


def test_constants_beside_independent_outputs_must_agree() -> None:
    def told(x: float) -> list[Any]:
        return [x + dpest.laplace(1), x + dpest.laplace(1), x]

    assert bound(told, (0.0, 1.0)) == (math.inf, math.inf)


def test_each_shape_of_output_has_a_bound_of_its_own() -> None:
    """Rung: closed form. A released value loses 1, the constant beside it nothing but the chance of the coin."""

    def sometimes(x: float) -> Any:
        return x + dpest.laplace(1) if dpest.laplace(1) > 0 else None

    found = Alignments(trace(sometimes, 0.0, {}), trace(sometimes, 1.0, {}))
    keys = {region.key for path in trace(sometimes, 0.0, {}).paths for region in regions(path, Variables())}
    assert sorted(found.bound_of(key, None) or () for key in keys) == [(0.0, 0.0), (1.0, 1.0)]
    assert found.bound_of("no such shape", None) is None


def test_a_proved_bound_takes_a_lower_end_along() -> None:
    """A proof in rationals is right: a lower end above it was computed with rounding that it did not know of."""
    found = below(Loss(1.2, 1.1, math.inf, None, ()), 1.0)
    assert (found.value, found.lower, found.upper) == (1.0, 1.0, 1.0)
    kept = below(Loss(0.8, 0.7, 0.9, None, ()), 1.0)
    assert (kept.value, kept.lower, kept.upper) == (0.8, 0.7, 0.9)
