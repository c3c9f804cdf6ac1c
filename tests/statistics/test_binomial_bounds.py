"""Binomial bounds as statistics: how often they miss."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from dpest.numerics import binomial


@pytest.mark.parametrize(("n", "p"), [(50, 0.02), (50, 0.5), (2000, 0.001), (2000, 0.3)])
@pytest.mark.parametrize("alpha", [0.01, 0.1])
def test_one_sided_bounds_miss_at_most_alpha_exactly(n: int, p: float, alpha: float) -> None:
    """The miss probability is summed over all outcomes, not sampled."""
    k = np.arange(n + 1)
    weight = binom.pmf(k, n, p)
    assert weight[binomial.lower(k, n, alpha) > p].sum() <= alpha
    assert weight[binomial.upper(k, n, alpha) < p].sum() <= alpha


@pytest.mark.parametrize("p", [0.01, 0.3])
def test_the_confidence_sequence_holds_at_all_looks_together(p: float) -> None:
    rng = np.random.default_rng(2)
    hits = np.cumsum(rng.binomial(20, p, (400, 60)), axis=1)
    trials = np.broadcast_to(20 * np.arange(1, 61), hits.shape)
    low, high = binomial.confidence_sequence(hits, trials, 0.05)
    missed = np.any((low > p) | (high < p), axis=1).sum()
    assert missed <= binom.ppf(0.999, 400, 0.05)
    once_low, once_high = binomial.lower(hits, trials, 0.025), binomial.upper(hits, trials, 0.025)
    assert np.any((once_low > p) | (once_high < p), axis=1).sum() > missed
