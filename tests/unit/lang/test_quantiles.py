"""Quantiles of noisy values: NumPy's own say where they lie, closed forms and integrals what they tell."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import dpest

_LAPLACE = stats.laplace


def _median_of_three(y: np.ndarray, centres: tuple[float, ...]) -> np.ndarray:
    """The density of the middle one of three Laplace values."""
    total = np.zeros_like(y)
    for i in range(3):
        j, k = (t for t in range(3) if t != i)
        below = _LAPLACE.cdf(y - centres[j]) * _LAPLACE.sf(y - centres[k])
        above = _LAPLACE.cdf(y - centres[k]) * _LAPLACE.sf(y - centres[j])
        total += _LAPLACE.pdf(y - centres[i]) * (below + above)
    return total


@pytest.mark.parametrize("function", [lambda a: np.quantile(a, 0.5), lambda a: np.percentile(a, 50)])
def test_the_middle_of_three(function) -> None:
    def mechanism(data):
        return function(np.array(data) + dpest.laplace(1, size=3))

    r = dpest.estimate(mechanism, ([1.0, 2.0, 4.0], [2.0, 2.0, 4.0]), method="exact")
    y = np.linspace(-25, 25, 200_001)
    truth = np.max(np.abs(np.log(_median_of_three(y, (1, 2, 4)) / _median_of_three(y, (2, 2, 4)))))
    assert r.lower <= truth + 1e-9
    assert truth <= r.upper
    assert r.upper - r.lower < 1e-6


def test_the_smallest_and_the_largest() -> None:
    def mechanism(data):
        return np.quantile([x + dpest.laplace(1) for x in data], [0.0, 1.0])

    def plain(data):
        noisy = [x + dpest.laplace(1) for x in data]
        return np.array([min(noisy), max(noisy)])

    pair = ([0.0, 3.0], [1.0, 3.0])
    first, second = (dpest.estimate(f, pair, method="exact") for f in (mechanism, plain))
    assert first.lower <= second.upper
    assert second.lower <= first.upper


@pytest.mark.parametrize(("method", "share"), [("lower", 0.0), ("higher", 1.0), ("midpoint", 0.5), ("linear", 0.25)])
def test_methods_between_two_values(method: str, share: float) -> None:
    # Numbers as NumPy has them: the place is a quarter of the way from the smaller of two values to the larger one.
    assert np.quantile([0.0, 1.0], 0.25, method=method) == share

    def mechanism(data):
        return np.quantile(np.array(data) + dpest.laplace(1, size=2), 0.25, method=method) > 1.5

    def plain(data):
        a, b = (x + dpest.laplace(1) for x in data)
        return min(a, b) * (1 - share) + max(a, b) * share > 1.5

    first, second = (dpest.estimate(f, ([0.0, 2.0], [1.0, 2.0]), method="exact") for f in (mechanism, plain))
    assert first.lower <= second.upper
    assert second.lower <= first.upper
    assert first.upper - first.lower < 1e-9


def test_plain_data_is_numpys_own() -> None:
    def mechanism(data):
        return np.quantile(data, 0.25) + dpest.laplace(1)

    r = dpest.estimate(mechanism, ([1.0, 2.0, 3.0], [1.0, 4.0, 3.0]), method="exact")
    assert r.lower <= 0.5 <= r.upper
