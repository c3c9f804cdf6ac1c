"""Forks that nobody sees: the paths behind them return the same."""

from __future__ import annotations

import math

import pytest
from scipy import stats

import dpest
from dpest.trace.explore import trace


def paths(mechanism, data=0.0):
    return trace(mechanism, data, {}).paths


def test_a_count_that_is_not_returned_leaves_one_path_without_conditions():
    def mechanism(x):
        y = x + dpest.laplace(1)
        passed = 0
        for z in (dpest.laplace(2), dpest.laplace(3)):
            if y + z > 0:
                passed += 1
        return y

    (only,) = paths(mechanism)
    assert not only.conditions
    assert dpest.estimate(mechanism, (0, 1), method="exact").epsilon == pytest.approx(1, abs=1e-12)


def test_the_conditions_before_such_a_fork_stay():
    def mechanism(x):
        if x + dpest.laplace(1) > 0:
            seen = dpest.laplace(1) > 0
            print("far" if seen else "near", end="")
            return "high"
        return "low"

    found = paths(mechanism)
    assert sorted((p.output.leaves[0], len(p.conditions)) for p in found) == [("high", 1), ("low", 1)]
    # P(high | x) is 1/2 at 0 and 1 - e^-1 / 2 at 1.
    truth = math.log(0.5 / (math.exp(-1) / 2))
    assert dpest.estimate(mechanism, (0, 1), method="exact").epsilon == pytest.approx(truth, abs=1e-12)


def test_sides_that_return_different_things_stay_apart():
    assert len(paths(lambda x: "a" if x + dpest.laplace(1) > 0 else "b")) == 2
    assert len(paths(lambda x: 1.0 if x + dpest.laplace(1) > 0 else 2.0)) == 2


def test_the_same_words_about_different_draws_stay_apart():
    def mechanism(x):
        y, z = x + dpest.laplace(1), x + dpest.laplace(1)
        return y if dpest.laplace(1) > 0 else z

    assert len(paths(mechanism)) == 2


def test_whole_numbers_that_a_path_knows_stay_apart():
    def mechanism(x):
        k = dpest.bernoulli(0.25)
        if k >= 1:
            return k
        return k + 0

    found = dpest.estimate(lambda x: mechanism(x) + x, (0, 1), method="exact")
    assert found.epsilon == math.inf
    assert dpest.estimate(mechanism, (0, 1), method="exact").epsilon == 0


def test_a_long_chain_behind_heavy_tails_costs_nothing_where_it_is_not_seen():
    def mechanism(x):
        y = x + dpest.laplace(0.5)
        v = 0.5 * dpest.from_scipy(stats.t(2))
        v = v + dpest.laplace(2) if y < v else y
        k = 0
        while round(v / 3) >= k and k < 4:
            k += 1
        return 2 * y, y

    found = dpest.estimate(mechanism, (0, 1), method="exact")
    assert found.lower <= 2 <= found.upper <= 2 + 1e-9
