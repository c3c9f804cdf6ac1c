"""A uniform number that is looked up in a table of cumulative probabilities, added up in floating point (rung: closed form)."""

from __future__ import annotations

import bisect
import itertools
import math
import random

import numpy as np
import pytest

import dpest

# Of these scores the probabilities add up to 1 - 2^-53 under one input and to 1 under the other, or miss it by more.
PAIRS = [([3, 7, 1, 9], [4, 7, 2, 8]), ([1, 8, 4, 8, 1, 2], [2, 8, 5, 7, 0, 1]), ([9, 0, 3, 3, 8, 2, 7], [8, 1, 3, 2, 8, 2, 6])]


def probabilities(scores, epsilon):
    weights = np.exp(epsilon * np.array(scores) / 2)
    return weights / weights.sum()


def bisected(scores, epsilon=0.3):
    return bisect.bisect(list(itertools.accumulate(probabilities(scores, epsilon))), random.random())


def searched(scores, rng: np.random.Generator, epsilon=0.3):
    return int(np.searchsorted(np.cumsum(probabilities(scores, epsilon)), rng.random()))


def without_a_last_return(scores, rng, epsilon=0.3):
    u, total = rng.random(), 0.0
    for i, p in enumerate(probabilities(scores, epsilon)):
        total += p
        if u < total:
            return i


def first_above(scores, rng, epsilon=0.3):
    u = rng.random()
    return next(i for i, bound in enumerate(np.cumsum(probabilities(scores, epsilon))) if u <= bound)


def subtracted(scores, epsilon=0.3):
    weights = [math.exp(epsilon * s / 2) for s in scores]
    left = random.uniform(0, float(np.sum(weights)))
    for i, w in enumerate(weights):
        if left < w:
            return i
        left -= w


@pytest.mark.parametrize("mechanism", [bisected, searched, without_a_last_return, first_above, subtracted])
@pytest.mark.parametrize("pair", PAIRS)
def test_what_rounding_leaves_above_the_last_bound_is_no_outcome(mechanism, pair):
    p, q = (np.log(probabilities(scores, 0.3)) for scores in pair)
    truth = float(np.max(np.abs(p - q)))
    result = dpest.estimate(mechanism, pair, method="exact")
    assert result.lower <= truth + 1e-12
    assert truth - 1e-12 <= result.upper
    assert result.upper - result.lower < 1e-9


def test_the_result_says_what_was_left_out():
    def table(leak, rng):
        u = rng.random()
        for i, bound in enumerate([0.25, 0.75, 1 - 2.0**-53]):
            if u < bound:
                return i
        return "leak" if leak else 2

    result = dpest.estimate(table, (True, False), method="exact")
    assert result.upper < 1e-12
    assert any("miss 1 by 1.1e-16, by rounding" in note for note in result.notes)


@pytest.mark.parametrize("bound", [1 - 2.0**-53, 1 - 2.0**-40])
def test_a_bound_that_stands_alone_is_meant(bound):
    def leaks(leak, rng):
        return leak if rng.random() > bound else None

    assert dpest.estimate(leaks, (1, 2), method="exact").lower == math.inf


def test_a_rare_outcome_of_a_table_counts():
    def table(leak, rng):
        u = rng.random()
        if u < 0.5:
            return 0
        return 1 if u < 1 - 2.0**-45 else leak

    assert dpest.estimate(table, (1, 2), method="exact").lower == math.inf


def test_a_rare_outcome_at_the_lower_end_counts():
    def table(leak, rng):
        u = rng.random()
        return leak if u < 2.0**-53 else int(u < 0.5)

    assert dpest.estimate(table, (2, 3), method="exact").lower == math.inf
