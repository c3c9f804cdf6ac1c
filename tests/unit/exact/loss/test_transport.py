"""Upper ends for mixtures of several outputs: vectors of samples, coins that several outputs share."""

from __future__ import annotations

import itertools
import math
import random
from typing import Any

import numpy as np
import pytest

import dpest

_NUMPY = np.random.default_rng(0)


def sampled_vector(rows: list[tuple[float, ...]], q: float = 0.3, scale: float = 1.0) -> list[float]:
    """The noisy sum of a sample of vectors."""
    batch = [r for r in rows if random.random() < q]
    return [sum(r[j] for r in batch) + _NUMPY.laplace(scale=scale) for j in range(2)]


@pytest.mark.parametrize("others", [[], [(1.0, 0.0)], [(1.0, 0.0), (0.5, 0.5)]])
def test_a_sample_of_vectors_is_amplified(others: list[tuple[float, ...]]) -> None:
    found = dpest.estimate(sampled_vector, ([(1.0, -1.0), *others], others), method="exact")
    truth = math.log1p(0.3 * math.expm1(2.0))  # all of both shifts, where the noise is far on their side
    assert found.lower <= truth + 1e-12
    assert found.upper >= truth - 1e-12
    assert found.upper - found.lower < 1e-9


def _weights(rng: random.Random, n: int) -> list[float]:
    drawn = [rng.choice([0.125, 0.25, 0.5, 1.0]) for _ in range(n)]
    return [x / math.fsum(drawn) for x in drawn]


def mixture(law: list[tuple[float, float, float]]) -> Any:
    """Two outputs around one of several centres, with the same coin for both."""
    k = random.choices(range(len(law)), weights=[w for w, _, _ in law])[0]
    return law[k][1] + _NUMPY.laplace(), law[k][2] + _NUMPY.laplace(scale=2.0)


@pytest.mark.parametrize("seed", range(8))
def test_the_ends_hold_what_a_grid_shows(seed: int) -> None:
    rng = random.Random(seed)
    pair = []
    for _ in range(2):
        n = rng.randint(1, 3)
        centres = rng.sample([(a, b) for a in (0.0, 1.0, 2.0) for b in (0.0, 1.0)], n)
        pair.append([(w, *c) for w, c in zip(_weights(rng, n), centres, strict=True)])
    found = dpest.estimate(mixture, tuple(pair), method="exact")

    def density(law: list[tuple[float, float, float]], x: float, y: float) -> float:
        return math.fsum(w * math.exp(-abs(x - a) - abs(y - b) / 2) for w, a, b in law)

    grid = [-20.0, 0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 20.0]
    shown = max(abs(math.log(density(pair[0], x, y) / density(pair[1], x, y))) for x, y in itertools.product(grid, grid))
    assert found.upper >= shown - 1e-9
    assert found.lower <= found.upper


def sampled_counts(rows: list[tuple[int, ...]], q: float = 0.25) -> list[int]:
    """Counts of a sample with geometric noise: a lattice in two coordinates, which share the sample."""
    batch = [r for r in rows if random.random() < q]
    return [sum(r[j] for r in batch) + int(_NUMPY.geometric(0.5)) - int(_NUMPY.geometric(0.5)) for j in range(2)]


@pytest.mark.parametrize("others", [[], [(1, 0)]])
def test_a_sample_of_counts_is_amplified(others: list[tuple[int, ...]]) -> None:
    found = dpest.estimate(sampled_counts, ([(1, 1), *others], others), method="exact")
    truth = math.log1p(0.25 * 3)  # e^loss is 4 for both counts together
    assert found.lower <= truth + 1e-12
    assert found.upper >= truth - 1e-12
    assert found.upper - found.lower < 1e-9
