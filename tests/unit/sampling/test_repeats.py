"""Noise that comes again: seen in outputs of any kind, and refused; chance is not accused."""

from __future__ import annotations

import hashlib
import math
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import dpest
from dpest.errors import DependentRuns
from dpest.sampling.bounds.repeats import block_keys, comes_again
from dpest.sampling.runs.blackbox import sampler
from dpest.sampling.supply import draw_chunk


def quiet(done: int, total: int, message: str) -> None:
    """No progress bar in tests."""


def coins(seed: int, count: int, p: float = 0.25) -> np.ndarray:
    return (np.random.default_rng(seed).random(count) < p).astype(np.uint64)


@pytest.mark.parametrize("p", [0.02, 0.25, 0.5])
def test_independent_outputs_do_not_come_again(p: float) -> None:
    assert not any(comes_again([coins(seed, 3000, p)], coins(seed + 1000, 3000, p), 8) for seed in range(100))


@pytest.mark.parametrize("period", [97, 100, 500])
def test_coins_with_a_period_come_again(period: int) -> None:
    assert comes_again([], np.resize(coins(1, period), 2000), 8)


def test_a_stretch_of_an_earlier_stage_is_found_wherever_it_starts() -> None:
    earlier, later = coins(1, 2000), coins(2, 2000)
    later[901:1401] = earlier[300:800]
    assert comes_again([earlier], later, 8)
    assert not comes_again([earlier[900:]], later, 8)


def test_runs_of_one_block_may_be_equal() -> None:
    shared = np.repeat(np.random.default_rng(3).integers(0, 2**60, 100).astype(np.uint64), 64)
    assert not comes_again([], shared, 64)
    assert not comes_again([], block_keys(shared, 64), 1)
    assert comes_again([], block_keys(np.tile(shared, 2), 64), 1)


def periodic(period: int, seed: int) -> Any:
    """Coins from a counter that starts again, as a library that seeds itself anew would give them."""
    calls = [0]

    def mechanism(data: int) -> int:
        calls[0] += 1
        digest = hashlib.blake2b(f"{seed} {calls[0] % period}".encode(), digest_size=4).digest()
        return 1 - data if int.from_bytes(digest, "big") < 2**30 else data

    return mechanism


@pytest.mark.parametrize("period", [100, 1999])
def test_a_generator_that_starts_again_is_refused(period: int) -> None:
    with pytest.raises(DependentRuns, match="the same noise comes again"):
        dpest.audit(periodic(period, 5), (0, 1), samples=1000, seed=1, progress=quiet)


def test_copies_that_all_draw_the_same_say_nothing() -> None:
    """Noise that changes every hundred calls, by a counter that each copy starts again."""
    calls = [0]

    def mechanism(data: Any) -> float:
        calls[0] += 1
        return float(data[0] + np.random.default_rng((3, calls[0] // 100)).laplace())

    with pytest.raises(DependentRuns):
        dpest.audit(mechanism, ([0.0], [1.0]), samples=1000, seed=1, progress=quiet)


def test_threads_that_share_a_generator_take_turns() -> None:
    def mechanism(data: Any) -> float:
        return float(data[0] + np.random.laplace())  # noqa: NPY002

    source = sampler(mechanism)

    def chunk(index: int) -> np.ndarray:
        return np.concatenate([b.values[:, 0] for b in draw_chunk(source, [0.0], 400, 8, 1, (2, 0, index))])

    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(chunk, range(8)))
    assert all(np.array_equal(a, chunk(i)) for i, a in enumerate(together))
    assert len(np.unique(np.concatenate(together))) == 3200
    assert math.isfinite(float(np.sum(together)))
