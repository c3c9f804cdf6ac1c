"""StatDP's test against scipy's hypergeometric law, and its p-values over claims."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import hypergeom

from dpest.audit import p_values
from dpest.errors import InvalidInput
from dpest.results import Direction
from dpest.sampling.bounds.statement import Counts
from dpest.sampling.scores.statdp import hypergeometric_tail


@pytest.mark.parametrize(
    ("s", "total", "n1", "n2"), [(0, 10, 50, 50), (7, 10, 50, 50), (10, 10, 50, 60), (3, 90, 40, 60), (41, 90, 40, 60)]
)
def test_the_tail_is_hypergeometric(s: int, total: int, n1: int, n2: int) -> None:
    assert hypergeometric_tail(s, total, n1, n2) == pytest.approx(hypergeom.sf(s - 1, n1 + n2, total, n1), abs=1e-12)


def test_p_values_grow_with_the_claim() -> None:
    counts = Counts(600, 300, 10_000, 10_000)
    found = p_values(counts, Direction.LEFT, [0.0, 0.3, 0.5, 0.7, 0.9, 1.5])
    assert found == sorted(found)
    assert found[0] < 1e-20
    assert found[-1] > 0.99
    assert p_values(counts, Direction.RIGHT, [0.0])[0] > 0.99


def test_p_values_are_uniform_at_the_true_claim_or_larger() -> None:
    rng = np.random.default_rng(3)
    claim = math.log(2)
    hits = rng.binomial(2000, 0.2, 500), rng.binomial(2000, 0.1, 500)
    found = np.array(
        [
            p_values(Counts(int(a), int(b), 2000, 2000), Direction.LEFT, [claim], seed=i)[0]
            for i, (a, b) in enumerate(zip(*hits, strict=True))
        ]
    )
    for level in (0.05, 0.2, 0.5):
        assert np.mean(found <= level) <= level + 3 * math.sqrt(level * (1 - level) / 500)


def test_negative_claims_are_refused() -> None:
    with pytest.raises(InvalidInput, match="claims"):
        p_values(Counts(1, 1, 2, 2), Direction.LEFT, [-0.1])
