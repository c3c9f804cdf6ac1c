"""Runs that depend on each other: seen, bounded by blocks, or refused."""

from __future__ import annotations

import functools
import itertools
import math
import statistics
import threading
import time
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import stats

import dpest
from dpest.errors import DependentRuns, MechanismError
from dpest.sampling.bounds.common_noise import Blocks, epsilon_lower_common, largest_ratio
from dpest.sampling.bounds.dependence import (
    BlockHits,
    Echo,
    Seen,
    Unit,
    _clumps,
    _common,
    _equal_pairs,
    echo,
    look,
    own_values,
    shift,
)
from dpest.sampling.final import _independent_words
from dpest.sampling.runs.blackbox import Form
from dpest.sampling.runs.copies import unpicklable
from dpest.sampling.runs.outputs import encode_array
from dpest.sampling.runs.workers import same_noise

PAIR = ([0.0], [1.0])


def quiet(done: int, total: int, message: str) -> None:
    """No progress bar in tests."""


def audit(mechanism: Any, samples: int = 4000, **more: Any) -> dpest.audit.AuditResult:
    return dpest.audit(mechanism, PAIR, **{"samples": samples, "seed": 1, "progress": quiet, **more})


def trace(left: Any, right: Any, size: int) -> BlockHits:
    return BlockHits(size, np.asarray(left), np.asarray(right))


def test_independent_hits_are_not_suspected_more_often_than_allowed() -> None:
    rng = np.random.default_rng(1)
    found = [
        look(trace(*rng.binomial(size, p, (2, n)), size))
        for p in (0.001, 0.02, 0.5, 0.98, 0.999)
        for size, n in ((8, 400), (64, 60))
        for _ in range(100)
    ]
    assert sum(seen.clumped for seen in found) <= 20
    assert sum(seen.linked for seen in found) <= 2


def test_clumps_count_where_they_matter() -> None:
    """Slight ones are seen in many blocks only, and bounds with a variance of their own need sure ones."""
    slight, larger, sure = Seen(1.05, 0.005, 1, excess=1.05), Seen(1.3, 0.005, 1, excess=1.3), Seen(1.05, 1e-6, 1, excess=1.05)
    assert [seen.clumped for seen in (slight, larger, sure)] == [False, True, True]
    assert [seen.surely_clumped for seen in (slight, larger, sure)] == [False, False, True]
    rng = np.random.default_rng(3)
    many = [look(trace(*rng.binomial(64, 0.3, (2, 5000)), 64)) for _ in range(400)]
    assert not any(seen.clumped for seen in many)
    assert any(seen.clumps < 0.01 for seen in many)


def test_clumps_and_links_are_told_apart() -> None:
    rng = np.random.default_rng(2)
    shared = rng.binomial(64, rng.beta(2, 2, (2, 100)))
    assert look(trace(*shared, 64)).clumped
    assert not look(trace(*shared, 64)).linked
    kept = np.repeat(rng.binomial(8, 0.3, (2, 100)), 3, axis=1)
    assert look(trace(*kept, 8)).linked
    drift = rng.binomial(8, np.linspace(0.2, 0.5, 400), (2, 400))
    assert look(trace(*drift, 8)).linked
    cycle = np.tile(rng.binomial(8, 0.3, (2, 25)), 16)
    assert look(trace(*cycle, 8)).linked


@pytest.mark.parametrize("blocks", range(4, 13))
def test_runs_are_called_checked_where_dependence_would_show(blocks: int) -> None:
    """Blocks that are all hits or none are seen in as many blocks as the words speak of as checked, and in no fewer."""
    hits = np.tile([64, 0], blocks)[:blocks]
    seen = look(trace(hits, hits, 64))
    words = _independent_words(SimpleNamespace(form=Form.RNG, pristine=None), seen, blocks)  # type: ignore[arg-type]
    assert words.startswith("independent runs (checked:") == seen.clumped
    assert words.startswith(f"independent runs (not checked: {blocks} blocks") == (not seen.clumped)


@pytest.mark.parametrize("kinds", [1, 3, 40, 10**9])
def test_pairs_of_equal_outputs_are_counted_one_by_one(kinds: int) -> None:
    rng = np.random.default_rng(kinds)
    first, second = (rng.integers(0, kinds, n).astype(np.uint64) for n in (60, 25))
    assert _equal_pairs(first) == sum(a == b for a, b in itertools.combinations(first.tolist(), 2))
    assert _common(first, second) == sum(a == b for a, b in itertools.product(first.tolist(), second.tolist()))


def test_a_shift_between_stages_shows() -> None:
    rng = np.random.default_rng(3)
    before, after = (trace(*rng.binomial(32, p, (2, 100)), 32) for p in (0.3, 0.4))
    assert shift(before, after) < 1e-6 < shift(before, trace(*rng.binomial(32, 0.3, (2, 100)), 32))


def test_a_rare_event_that_few_runs_miss_is_no_shift() -> None:
    """Two thousand runs of an event of probability 5e-4 often show none: their blocks have no spread at all."""
    rng = np.random.default_rng(8)
    before = trace(*rng.binomial(2048, 5e-4, (2, 488)), 2048)
    nothing = np.zeros(64, dtype=np.int64)
    assert shift(before, trace(nothing, nothing, 32)) > 0.1
    often = trace(*rng.binomial(2048, 0.05, (2, 488)), 2048)
    assert shift(often, trace(nothing, nothing, 32)) < 1e-6


def test_noise_that_comes_again_is_seen_and_coarse_noise_is_not() -> None:
    rng = np.random.default_rng(4)
    fresh = rng.integers(0, 2**60, 2000).astype(np.uint64)
    assert echo(fresh, 8) is Echo.NOWHERE
    assert echo(np.tile(fresh[:500], 4), 8) is Echo.AGAIN
    assert echo(rng.integers(0, 500, 2000).astype(np.uint64), 8) is Echo.NOWHERE
    assert echo(np.repeat(fresh, 4), 8) is Echo.INSIDE
    assert echo(np.repeat(fresh, 20), 8) is Echo.BEYOND


@pytest.mark.parametrize("correlation", [0.0, 0.5, 1.0])
def test_the_bound_for_blocks_holds_whatever_happens_inside_them(correlation: float) -> None:
    """Both probabilities are 0.3: a bound above 0 is wrong."""
    rng = np.random.default_rng(5)
    wrong = 0
    for _ in range(300):
        sides = []
        for _ in range(2):
            common = rng.random((80, 1)) < 0.3
            own = rng.random((80, 16)) < 0.3
            sides.append(np.where(rng.random((80, 1)) < correlation, common, own).sum(axis=1))
        wrong += epsilon_lower_common(Blocks.of(16, *sides), 0.03, 0.05, unit=Unit.BLOCKS) > 0
    assert wrong <= 26  # binomial(300, 0.05) exceeds it with probability 0.003


def test_the_bound_for_blocks_ends_where_its_stake_is_too_large() -> None:
    blocks = Blocks.of(8, np.full(400, 8), np.zeros(400, dtype=np.int64))
    found = epsilon_lower_common(blocks, 0.01, 0.05, unit=Unit.BLOCKS)
    assert found == pytest.approx(math.log(largest_ratio(8, 0.01, 0.0)), abs=1e-9)


def shared_threshold(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    threshold = 0.5 + rng.laplace(scale=2.0)
    return data[0] + rng.laplace(scale=4.0, size=size) >= threshold


def test_rows_that_share_a_draw_are_bounded_by_calls() -> None:
    found = audit(shared_threshold)
    assert found.witness.statement.unit is Unit.BLOCKS
    assert "rows of one call share a draw" in found.rests
    assert "rests on" in str(found)
    assert found.lower <= 0.75


def keeps(calls: int) -> Any:
    state: dict[str, Any] = {"left": 0, "noise": 0.0}

    def mechanism(data: Any, rng: np.random.Generator) -> float:
        if state["left"] == 0:
            state["left"], state["noise"] = calls, float(rng.laplace())
        state["left"] -= 1
        return float(data[0] + state["noise"])

    return mechanism


def test_noise_kept_between_calls_is_bounded_from_copies() -> None:
    found = audit(keeps(20))
    assert "starts from a copy" in found.rests
    assert found.lower <= 1.0


class Uncopyable:
    """Keeps its noise for twenty calls, and cannot be copied."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.kept = keeps(20)

    def __call__(self, data: Any, rng: np.random.Generator) -> float:
        with self.lock:
            return float(self.kept(data, rng))


def test_noise_kept_where_no_copy_helps_is_refused() -> None:
    with pytest.raises(DependentRuns, match="depend on each other"):
        audit(Uncopyable())


def test_an_answer_that_is_kept_is_no_deterministic_one() -> None:
    @functools.lru_cache
    def answer(data: float) -> float:
        return float(data + np.random.laplace())  # noqa: NPY002

    found = audit(lambda data: answer(data[0]))
    assert found.lower <= 1.0
    known: dict[float, float] = {}

    def kept(data: Any, rng: np.random.Generator) -> float:
        return known.setdefault(data[0], float(data[0] + rng.laplace()))

    assert audit(kept).lower <= 1.0


def test_noise_that_one_input_leaves_for_the_other_is_no_violation() -> None:
    """The second input returns the last noise of the first, or one of its last forty: Laplace noise, but not in each run anew."""
    drawn = np.random.default_rng(3).laplace(size=40).tolist()

    def last(data: Any, rng: np.random.Generator, kept: list[float] = drawn[:1]) -> float:
        if data[0] == 0:
            kept[0] = float(rng.laplace())
        return float(data[0] + kept[0])

    def one_of_forty(data: Any, rng: np.random.Generator, kept: list[float] = drawn) -> float:
        if data[0] == 0:
            kept.append(float(rng.laplace()))
            return kept[-1]
        return float(data[0] + kept[-1 - int(rng.integers(40))])

    for mechanism in (last, one_of_forty):
        try:
            assert audit(mechanism, 1000).lower <= 1.0
        except DependentRuns as refused:
            assert "comes again" in str(refused)  # noqa: PT017


def test_stages_with_noise_of_their_own_are_seen_and_coarse_outputs_are_not() -> None:
    rng = np.random.default_rng(5)
    pools = [rng.integers(0, 2**60, 40, dtype=np.uint64) for _ in range(2)]
    assert own_values(rng.choice(pools[0], 500), rng.choice(pools[1], 500))
    assert own_values(rng.integers(0, 2**60, 500, dtype=np.uint64), rng.choice(pools[1], 500))
    for law in (lambda: rng.choice(pools[0], 500), lambda: rng.geometric(0.05, 500), lambda: rng.zipf(1.5, 500)):
        assert not any(own_values(law().astype(np.uint64), law().astype(np.uint64)) for _ in range(200))


def test_noise_of_its_own_is_told_by_pairs_and_their_spread() -> None:
    """Oracle: pairs of equal outputs counted one by one; the spread is that of an output's frequency in both stages."""

    def by_hand(earlier: list[int], later: list[int]) -> bool:
        both = [*earlier, *later]
        often = [both.count(x) / len(both) for x in both]
        spread = statistics.pvariance(often) * (1 / len(earlier) + 1 / len(later))
        across = sum(x == y for x in earlier for y in later) / (len(earlier) * len(later))
        for stage in (earlier, later):
            pairs = math.comb(len(stage), 2)
            equal = sum(x == y for x, y in itertools.combinations(stage, 2)) / pairs
            chance = (across + 1 / (len(earlier) * len(later))) / pairs
            if equal - across > 8 * math.sqrt(spread + chance) + 8 / pairs:
                return True
        return False

    rng, said = np.random.default_rng(5), set()
    for own, rare in itertools.product(range(64), (False, True)):
        for n in (64, 90) if own % 3 == 0 or rare else ():
            each = [np.arange(1000 * size, 1000 * size + size - own) for size in (64, n + 1)]  # every output once
            often = [rng.choice([10, 11, 12], len(e), p=[0.7, 0.2, 0.1]) for e in each]
            rest = [x.tolist() for x in (each if rare else often)]
            stages = [[k] * own + rest[k] for k in (0, 1)]
            found = own_values(*(np.array(x, np.uint64) for x in stages))
            assert found == by_hand(*stages)
            said.add(found)
    assert said == {False, True}


def test_noise_seeded_by_the_clock_is_refused() -> None:
    def by_the_clock(data: Any) -> float:
        return float(data[0] + np.random.default_rng(int(time.time())).laplace())

    with pytest.raises(DependentRuns, match="clock"):
        audit(by_the_clock)

    def at_once(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        return np.asarray(data[0] + np.random.default_rng(7).laplace(size=size))

    with pytest.raises(DependentRuns, match="seeds a generator of its own in each call"):
        audit(at_once)


def test_copies_of_noise_are_found_at_any_offset() -> None:
    rng = np.random.default_rng(6)
    long = rng.integers(0, 3, 1000).astype(float)
    a, b = encode_array(long[:256], 256), encode_array(long[100:356], 256)
    assert same_noise(a, b)
    assert not same_noise(a, encode_array(rng.integers(0, 3, 256).astype(float), 256))


def test_a_closure_that_cannot_be_sent_names_its_variable() -> None:
    guard = threading.Lock()

    def locked(data: Any, rng: np.random.Generator) -> float:
        with guard:
            return float(data[0] + rng.laplace())

    assert unpicklable(locked) == "the variable 'guard' (lock)"
    with pytest.raises(MechanismError, match="the variable 'guard'"):
        audit(locked, executor=2)


def test_blocks_that_go_together_are_seen_where_each_is_all_or_nothing() -> None:
    """A coin that keeps its side with probability 0.9: neighbouring blocks of eight are linked, though hits are not many."""
    rng = np.random.default_rng(9)
    linked = 0
    for _ in range(20):
        side, runs = False, []
        for stays in rng.random(1000) < 0.9:
            side = side if stays else bool(rng.random() < 0.25)
            runs.append(side)
        hits = np.reshape(runs, (125, 8)).sum(axis=1)
        linked += look(trace(hits, hits, 8)).linked
    assert linked >= 16
    clumped = 8 * (rng.random((400, 2, 125)) < 0.05)
    assert sum(look(trace(*hits, 8)).linked for hits in clumped) <= 1


@pytest.mark.parametrize("together", [2, 3, 4])
def test_rare_hits_in_one_block_are_as_many_pairs_as_a_poisson_variable_has(together: int) -> None:
    """Twenty blocks of a thousand runs, and all hits in one of them: at least as many pairs by chance, or as much dispersion."""
    blocks, size = 20, 1000
    hits = np.zeros(blocks, np.int64)
    hits[3] = together
    runs = blocks * size
    expected = math.comb(together, 2) * blocks * math.comb(size, 2) / math.comb(runs, 2)
    rare = stats.poisson.sf(math.comb(together, 2) - 1, expected)
    share = together / runs
    dispersion = np.var(hits, ddof=1) / (size * share * (1 - share))
    often = stats.chi2.sf(dispersion * (blocks - 1), blocks - 1)
    for counted in (hits, size - hits):
        assert _clumps(counted, size) == pytest.approx(max(rare, often), rel=1e-9)
    assert _clumps(np.minimum(hits, 1), size) == 1.0
