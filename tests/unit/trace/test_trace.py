"""Tracing: every path of a program, once, with what its conditions say."""

from __future__ import annotations

import math
from typing import Any

import pytest

import dpest
from dpest.errors import BudgetExceeded, NotReplayable
from dpest.exact.inference.cases import Affine, Floor, _rounds, expand
from dpest.exact.inference.expressions import expr
from dpest.exact.inference.factors import Bound
from dpest.exact.inference.feasible import contradictory
from dpest.lang.nodes import linear
from dpest.laws.continuous import Exponential, Laplace, Uniform
from dpest.laws.discrete import Geometric
from dpest.numerics.rationals import exact
from dpest.run.settings import Sides
from dpest.trace.explore import trace
from dpest.trace.limits import Limits


def outputs(mechanism: Any, data: Any = 0) -> list[Any]:
    return sorted((tuple(p.output.leaves) for p in trace(mechanism, data, {}).paths), key=repr)


def test_a_condition_forks_and_its_negation_does_not_again() -> None:
    def mechanism(x: float) -> Any:
        z = x + dpest.laplace(1.0)
        return (1 if z > 0 else 2), (3 if z <= 0 else 4)

    assert outputs(mechanism) == [(1, 4), (2, 3)]


def test_earlier_conditions_decide_later_ones() -> None:
    def mechanism(x: float) -> Any:
        z = x + dpest.laplace(1.0)
        return [bool(z > 1), bool(z > 0), bool(2 * z > -2), bool(-z < 3)]

    assert len(outputs(mechanism)) == 5


def test_supports_decide_conditions() -> None:
    def mechanism(x: float) -> Any:
        return bool(dpest.exponential(1.0) > -1), bool(dpest.uniform(0, 1) > 2), bool(dpest.bernoulli(0.5) >= 0)

    assert outputs(mechanism) == [(True, False, True)]


def test_where_is_lazy() -> None:
    def mechanism(x: float) -> Any:
        a, b = dpest.laplace(1.0), dpest.laplace(1.0)
        return bool(dpest.where(a > 0, b > 0, False))

    assert len(trace(mechanism, 0, {}).paths) == 3


def test_noise_that_cancels_is_no_condition() -> None:
    def mechanism(x: float) -> Any:
        z = dpest.laplace(1.0)
        return bool(z - z >= 0), bool(x + z > z)

    assert outputs(mechanism, 1) == [(True, True)]


def test_an_equality_of_continuous_values_never_holds() -> None:
    assert outputs(lambda x: bool(dpest.laplace(1.0) == 0.5)) == [(False,)]


def test_state_between_runs_is_noticed() -> None:
    calls: list[int] = []

    def mechanism(x: float) -> Any:
        calls.append(1)
        return len(calls)

    with pytest.raises(NotReplayable, match="keep no state between runs"):
        trace(mechanism, 0, {})


def test_the_path_budget_is_named() -> None:
    with pytest.raises(BudgetExceeded, match="more than 50 paths"):
        trace(lambda x: [bool(z > 0) for z in dpest.laplace(1.0, size=8)], 0, {}, Limits(paths=50), sides=Sides.APART)


def test_mass_that_is_not_explored_is_reported() -> None:
    def mechanism(x: float) -> Any:
        k = 0
        while dpest.bernoulli(0.5):
            k += 1
        return k

    found = trace(mechanism, 0, {}, Limits(forks=10, tries=10, log_mass=-5.0))
    assert found.log_unexplored == pytest.approx(-len(found.paths) * math.log(2))
    assert sorted(p.output.leaves[0] for p in found.paths) == list(range(len(found.paths)))


def test_except_exception_of_the_author_does_not_swallow_the_unwinding() -> None:
    def mechanism(x: float) -> Any:
        k = 0
        while True:
            try:
                if not dpest.bernoulli(0.5):
                    return k
            except Exception:
                return -1
            k += 1

    assert all(p.output.leaves[0] >= 0 for p in trace(mechanism, 0, {}, Limits(forks=10, log_mass=-5.0)).paths)


def test_a_median_by_extremes_has_no_contradictory_paths_left() -> None:
    """max(min(a, b), min(b, c), min(a, c)) is the median: six orders of three values, nothing else."""

    def mechanism(x: Any) -> Any:
        a, b, c = (dpest.laplace(1.0) for _ in range(3))
        return dpest.max([dpest.minimum(a, b), dpest.minimum(b, c), dpest.minimum(a, c)]) > 0

    result = dpest.estimate(mechanism, (0, 1), method="exact")
    assert result.epsilon == 0.0


def leaf_cases(value: Any) -> list[Any]:
    return [case.values[0] for case in expand([value.node], (), [0])]


def test_what_a_leaf_can_be() -> None:
    z = dpest.laplace(1.0)
    assert [type(v) for v in leaf_cases(z + 1)] == [Affine]
    assert [type(v) for v in leaf_cases(round(z))] == [Floor]
    assert sorted(v.value for v in leaf_cases(z > 0)) == [False, True]
    assert sorted(type(v).__name__ for v in leaf_cases(dpest.clip(z, 0, 1))) == ["Affine", "Constant", "Constant"]
    assert sorted(type(v).__name__ for v in leaf_cases(dpest.maximum(0, round(z)))) == ["Constant", "Floor"]


def bound(constant: float, **terms: float) -> Bound:
    return Bound(expr(((int(v[1:]), exact(c)) for v, c in terms.items()), exact(constant)))


CONTRADICTIONS = [
    ([bound(0, v0=1, v1=-1), bound(0, v1=1, v2=-1), bound(0, v2=1, v0=-1)], [Laplace(1.0)] * 3, True),  # a cycle: measure zero
    ([bound(0, v0=1, v1=-1), bound(0, v1=1, v2=-1), bound(0, v0=1, v2=-1)], [Laplace(1.0)] * 3, False),
    ([bound(0, v0=1, v1=-1), bound(0, v1=1, v2=-1), bound(0, v2=1, v0=-1)], [Geometric(1.0)] * 3, False),  # all equal
    ([bound(-1, v0=1, v1=-1), bound(0, v1=1, v2=-1), bound(0, v2=1, v0=-1)], [Geometric(1.0)] * 3, True),
    ([bound(-1, v0=-1, v1=-1)], [Exponential(1.0)] * 2, True),
    ([bound(-2, v0=1, v1=1)], [Uniform(0.0, 1.0)] * 2, True),
    ([bound(-1.999, v0=1, v1=1)], [Uniform(0.0, 1.0)] * 2, False),
]


@pytest.mark.parametrize(("bounds", "laws", "impossible"), CONTRADICTIONS)
def test_contradictions_are_decided_exactly(bounds: Any, laws: Any, impossible: bool) -> None:
    assert contradictory(bounds, laws) is impossible


def rounds(value: Any) -> bool:
    return _rounds(value.node, linear(value.node), {})


def test_outputs_with_few_points_are_computed_as_the_program_does() -> None:
    """A tenth is rounded; 500 points are few, whole numbers are exact."""
    assert rounds(0.1 * dpest.integers(0, 499))
    assert not rounds(0.1 * dpest.integers(0, 500))
    assert rounds(0.1 * dpest.integers(0, 19) + dpest.integers(1, 25))
    assert not rounds(0.1 * dpest.integers(0, 19) + dpest.integers(0, 25))
    assert not rounds(2 * dpest.integers(0, 9) + 1)
    assert not rounds(0.1 * dpest.geometric(1.0))
