"""Statistics of a table of clipped noisy counts: the runs in which all are clipped are one number, and show the whole loss."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import dpest


def _chi_square(a, b, c, d):
    n = a + b + c + d
    return n * (a * d - b * c) ** 2 / ((a + b) * (c + d) * (a + c) * (b + d))


def _difference_of_proportions(a, b, c, d):
    return (a * d - b * c) / (a + b)


def _weighted(a, b, c, d):
    return (a + b + c + d) * (a * d - b * c)


@pytest.mark.parametrize("statistic", [_chi_square, _difference_of_proportions, _weighted])
def test_sums_of_clipped_counts_are_positive_without_a_question(statistic: Callable[..., object]) -> None:
    def mechanism(table, rng: np.random.Generator):
        return statistic(*(max(count + rng.laplace(0, 1), 0.5) for count in table))

    # All four are clipped with a probability that is e times as large without the row; no event tells more than the counts.
    r = dpest.estimate(mechanism, ([8, 3, 2, 7], [9, 3, 2, 7]), method="exact", progress=False)
    assert r.lower <= 1.0 <= r.upper
    assert r.upper - r.lower < 1e-9
