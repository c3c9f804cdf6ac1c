"""Bounds from common noise: the inequalities they rest on, and how often they miss."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import dpest
from dpest.run.streams import stream
from dpest.sampling.audit_witness import AuditWitness
from dpest.sampling.bounds import common_noise
from dpest.sampling.bounds.common_noise import Blocks, Prospect, epsilon_lower_common, p_value_common, strays
from dpest.sampling.bounds.dependence import Unit
from dpest.sampling.runs.step import CallByCall

RNG = np.random.default_rng(17)
Coupling = Callable[[int, int], tuple[np.ndarray, np.ndarray]]
P, OTHER, SIZE = 0.24, 0.16, 64


def test_one_block_never_earns_more_than_its_stake() -> None:
    """exp(g(x)) <= 1 + x from -0.9 on, and <= 0.1 below, on a fine grid; g rises until it may be held."""
    x = np.linspace(-6, 6, 240_001)
    earned = np.exp(x - x**2 / 2 + x**3 / 3 - 1.16 * x**4)
    assert np.all(earned[x >= -0.9] <= 1 + x[x >= -0.9] + 1e-15)
    assert np.all(earned[x < -0.9] <= 0.1)
    assert np.all(np.diff(earned[: np.argmax(earned) + 1]) >= 0)


def test_the_sums_are_those_of_the_blocks() -> None:
    a, b = RNG.integers(0, 9, 50), RNG.integers(0, 9, 50)
    whole = Blocks.of(8, a[:20], b[:20]) + Blocks.of(8, a[20:], b[20:])
    assert whole == Blocks.of(8, a, b)
    assert whole.hits == (a.sum(), b.sum())
    assert whole.swapped() == Blocks.of(8, b, a)
    for power in range(1, 5):
        found = np.polynomial.polynomial.polyval(1.75, [float(c) for c in whole.moment(power, Fraction(1, 4))])
        assert found == np.sum((a - 0.25 - 1.75 * b) ** power)


@pytest.mark.parametrize(("p", "other", "ratio", "stake"), [(0.5, 0.4, 1.25, 0.3), (0.1, 0.1, 1.0, 0.4), (0.9, 0.3, 3.0, 0.1)])
def test_how_far_blocks_stray_is_not_underestimated(p: float, other: float, ratio: float, stake: float) -> None:
    """Against sums over all outcomes: independent, and moving against each other as far as possible."""
    k = np.arange(31)
    together = np.multiply.outer(binom.pmf(k, 30, p), binom.pmf(k, 30, other))
    strayed = np.maximum(stake * (ratio * k[None, :] - k[:, None]) - 0.9, 0)
    u = (np.arange(100_000) + 0.5) / 100_000
    against = np.maximum(stake * (ratio * binom.ppf(u, 30, other) - binom.ppf(1 - u, 30, p)) - 0.9, 0)
    bound = strays(30, stake, ratio, p, other)
    assert bound >= float(np.sum(together * strayed))
    assert bound >= float(against.mean()) * (1 - 1e-3)


def same_noise(runs: int, number: int) -> tuple[np.ndarray, np.ndarray]:
    u = RNG.random((runs, number, SIZE))
    return (u < P).sum(axis=2), (u < OTHER).sum(axis=2)


def own_noise(runs: int, number: int) -> tuple[np.ndarray, np.ndarray]:
    return RNG.binomial(SIZE, P, (runs, number)), RNG.binomial(SIZE, OTHER, (runs, number))


def opposite_noise(runs: int, number: int) -> tuple[np.ndarray, np.ndarray]:
    u = RNG.random((runs, number, SIZE))
    return (u < P).sum(axis=2), (u > 1 - OTHER).sum(axis=2)


def out_of_step(runs: int, number: int) -> tuple[np.ndarray, np.ndarray]:
    """The same noise, but each run of the second input sees that of the run before."""
    u = RNG.random((runs, number, SIZE))
    return (u < P).sum(axis=2), (np.roll(u, 1, axis=2) < OTHER).sum(axis=2)


@pytest.mark.parametrize("coupling", [same_noise, own_noise, opposite_noise, out_of_step])
def test_the_bound_holds_whatever_the_noise_has_in_common(coupling: Coupling) -> None:
    runs, number, truth = 400, 150, math.log(P / OTHER)
    a, b = coupling(runs, number)
    variance = float(np.var(a - P / OTHER * b))
    stake, gap = Prospect(SIZE, number, P, OTHER, variance).stake(0.05)
    lowers = np.array([epsilon_lower_common(Blocks.of(SIZE, x, y), stake, 0.05) for x, y in zip(a, b, strict=True)])
    assert np.sum(lowers > truth) <= binom.ppf(0.999, runs, 0.05)
    assert np.median(lowers) == pytest.approx(truth - gap, abs=0.25 * gap)


def test_common_noise_narrows_the_gap() -> None:
    gaps = {}
    for coupling in (same_noise, own_noise):
        a, b = coupling(20, 200)
        gaps[coupling] = Prospect(SIZE, 200, P, OTHER, float(np.var(a - P / OTHER * b))).stake(0.05)[1]
    assert gaps[same_noise] < 0.7 * gaps[own_noise]


def test_the_p_value_of_the_bound_is_alpha() -> None:
    a, b = same_noise(1, 2000)
    blocks = Blocks.of(SIZE, a[0], b[0])
    stake, _ = Prospect(SIZE, 2000, P, OTHER, float(np.var(a - P / OTHER * b))).stake(0.05)
    lower = epsilon_lower_common(blocks, stake, 0.05)
    assert 0 < lower < math.log(P / OTHER)
    assert p_value_common(blocks, stake, 0.05, lower) == pytest.approx(0.05, rel=0.02)
    assert p_value_common(blocks, stake, 0.05, 0.8 * lower) < 0.05 < p_value_common(blocks, stake, 0.05, 1.1 * lower)


def test_almost_certain_events_do_not_drown_in_rounding() -> None:
    """Equal laws, events of probability 0.99999: the terms of the evidence are 1e13 times what they leave."""
    runs, number, size = 150, 2441, 8192
    a, b = (size - RNG.binomial(size, 1e-5, (runs, number)) for _ in range(2))
    blocks = [Blocks.of(size, x, y) for x, y in zip(a, b, strict=True)]
    assert sum(epsilon_lower_common(x, 0.15, 0.001) > 0 for x in blocks) <= binom.ppf(0.999, runs, 0.001)
    assert sum(p_value_common(x, 0.15, 0.05, 0.0) <= 0.01 for x in blocks) <= binom.ppf(0.999, runs, 0.01)


def test_the_recommended_stake_is_that_of_the_hits_themselves() -> None:
    a, b = same_noise(1, 4000)
    blocks = Blocks.of(SIZE, a[0], b[0])
    direct = Prospect(SIZE, 500, P, OTHER, float(np.var(a - P / OTHER * b)))
    assert Prospect.of(blocks, SIZE, 500, 0.0).stake(0.05)[0] == pytest.approx(direct.stake(0.05)[0], rel=0.05)


def test_delta_lowers_the_bound() -> None:
    a, b = same_noise(1, 2000)
    blocks = Blocks.of(SIZE, a[0], b[0])
    stake, _ = Prospect(SIZE, 2000, P, OTHER, float(np.var(a - P / OTHER * b)), 0.04).stake(0.05)
    assert 0 < epsilon_lower_common(blocks, stake, 0.05, 0.04) <= math.log((P - 0.04) / OTHER)


def noisy(data: Any, size: int, rng: np.random.Generator) -> Any:
    return data[0] + rng.laplace(scale=10.0, size=size)


def test_an_audit_uses_common_noise_where_it_helps() -> None:
    result = dpest.audit(noisy, ([0.0], [1.0]), samples=300_000, seed=4)
    witness = result.witness
    assert witness.stake is not None
    assert "on the same noise" in str(witness)
    assert 0.09 < result.lower <= 0.1  # independent counts would give away 0.006
    again = AuditWitness.from_json(witness.to_json())
    assert again.counts == witness.counts
    assert again.stake == witness.stake
    assert 0.085 < again.verify(noisy, samples=200_000, seed=5).lower <= 0.1
    assert result.p_values([0.0, 0.2]) == sorted(result.p_values([0.0, 0.2]))


def test_a_witness_of_an_audit_that_stopped_early_can_be_verified() -> None:
    result = dpest.audit(noisy, ([0.0], [1.0]), claim=0.05, samples=1_000_000, seed=4)
    assert result.violated
    assert result.samples < 1_000_000
    again = result.witness.verify(noisy, samples=1_000_000, seed=5)
    assert 0.09 < again.lower <= 0.1
    assert result.lower_published() <= result.epsilon


def step_by_step(data: Any, size: int, rng: np.random.Generator) -> Any:
    """Draws for the runs that are left only: how many those are depends on the data."""
    left = data[0] + rng.laplace(scale=2.0, size=size) > 0
    noise = np.zeros(size)
    noise[left] = rng.laplace(scale=2.0, size=int(left.sum()))
    return data[0] + noise + rng.laplace(scale=10.0, size=size)


def one_at_a_time(data: Any, rng: np.random.Generator) -> float:
    while rng.random() < 0.5 + 0.1 * data[0]:
        pass
    return float(data[0] + rng.laplace(scale=4.0))


@pytest.mark.parametrize(("mechanism", "samples"), [(step_by_step, 300_000), (one_at_a_time, 20_000)])
def test_mechanisms_that_draw_by_the_data_keep_step(mechanism: Any, samples: int) -> None:
    assert dpest.audit(mechanism, ([0.0], [1.0]), samples=samples, seed=4).witness.stake is not None


def test_each_call_starts_anew() -> None:
    one, other = (CallByCall(stream(1).bit_generator) for _ in range(2))
    one.normal(size=3)
    other.normal(size=1000)
    assert np.array_equal(one.random(4), other.random(4))
    assert isinstance(one, np.random.Generator)
    assert len(np.unique([one.random() for _ in range(1000)])) == 1000


def test_what_a_generator_spawns_is_the_same_for_both_inputs_and_new_in_each_block() -> None:
    first, again, other = (CallByCall(stream(1, block).bit_generator).spawn(1)[0].random() for block in (0, 0, 1))
    assert first == again != other


def unseeded(data: Any) -> float:
    return float(data[0] + np.random.Generator(np.random.PCG64()).laplace(scale=1.0))


def test_a_mechanism_that_cannot_be_seeded_is_bounded_on_independent_samples() -> None:
    result = dpest.audit(unseeded, ([0.0], [1.0]), samples=3000, seed=4)
    assert result.witness.stake is None
    assert result.witness.counts.blocks is None


def test_what_strays_may_add_is_bounded_at_the_outer_ends_of_both_shares(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fewer hits under the first input and the more under the second, the more may r B - A exceed what was seen."""
    asked: list[tuple[Any, ...]] = []

    def noted(*given: Any) -> float:
        asked.append(given)
        return 0.5

    monkeypatch.setattr(common_noise, "strays", noted)
    blocks = Blocks.of(4, np.array([2, 3, 1] * 50), np.array([1, 0, 1] * 50))
    found = common_noise._due(blocks, 0.25, 0.05, 1e-3, 1.5, Unit.RUNS)
    ((size, stake, ratio, p, other, delta),) = asked
    assert (size, stake, ratio, delta) == (4, 0.25, 1.5, 1e-3)
    assert p < 300 / 600 < p + 0.2
    assert other - 0.2 < 100 / 600 < other
    # The chance of an error is shared: a little of it goes to the two ends.
    assert -math.log(0.05) + 150 * math.log(1.5) < found < -math.log(0.04) + 150 * math.log(1.5)
    assert common_noise._due(blocks, 0.25, 0.05, 1e-3, 1.5, Unit.BLOCKS) == pytest.approx(-math.log(0.05))
