"""Parts of sampled bounds: which outcomes count for an estimate, and what counts as chance in dependence tests."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from dpest.sampling.bounds.dependence import _clumps, _too_often
from dpest.sampling.bounds.repeats import _telling_length
from dpest.sampling.conclude import _outcomes

N = 100_000


def counts(*pairs: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Hits of each outcome under either input, and one outcome for the rest of N runs."""
    p, q = zip(*pairs, strict=True)
    return np.array([*p, N - sum(p)]), np.array([*q, N - sum(q)])


def test_outcomes_that_are_likelier_under_the_first_input() -> None:
    ratio, error = _outcomes(*counts((30_000, 20_000), (5_000, 6_000)))
    assert ratio.tolist() == pytest.approx([math.log(1.5)])
    # ln of a frequency has the variance (1 - p) / (n p).
    assert error.tolist() == pytest.approx([math.sqrt(0.7 / 30_000 + 0.8 / 20_000)])


def test_outcomes_without_hits_or_with_few_are_left_out() -> None:
    """The rest of the runs is likelier under the second input."""
    assert _outcomes(*counts((20_000, 0), (9, 5), (20_000, 10_000)))[0].tolist() == pytest.approx([math.log(2)])
    assert _outcomes(*map(np.array, ([0, 50_000, 50_000], [10_000, 50_000, 40_000])))[0] == pytest.approx([0.0, math.log(1.25)])
    p, q = counts((20_000, 10_000), (30_000, 25_000), (60, 20))
    assert _outcomes(p, q)[0].tolist() == pytest.approx([math.log(2), math.log(1.2)])  # ln 3 - 4 sqrt(4 / 60) = 0.066


@pytest.mark.parametrize(("rare", "kept"), [((90, 12), True), ((90, 60), False), ((90, 9), False), ((90, 45), False)])
def test_a_rare_outcome_counts_where_it_is_surely_beyond_the_often_ones(rare: tuple[int, int], kept: bool) -> None:
    """Rare: below 1/1000. ln(90 / 12) less four standard errors is 0.78, above ln 2 of the outcome that is often."""
    p, q = rare
    ratio, error = _outcomes(*counts((20_000, 10_000), rare))
    off = math.log(p / q) - 4 * math.sqrt(1 / p + 1 / q)
    assert kept == (off > math.log(2) and q >= 10)
    assert ratio.tolist() == pytest.approx([math.log(2), *([math.log(p / q)] if kept else [])])
    assert len(error) == len(ratio)


def test_where_all_outcomes_are_rare_they_all_count() -> None:
    p, q = np.full(2000, 50), np.full(2000, 50)
    p[:500], q[:500] = 60, 40
    p[500:1000], q[500:1000] = 40, 60
    ratio, _ = _outcomes(p, q)
    assert ratio.tolist() == pytest.approx([math.log(1.5)] * 500 + [0.0] * 1000)


def test_no_two_hits_in_one_block_are_no_clump() -> None:
    """30 hits in 40 blocks of 100 runs, each in a block of its own."""
    hits = np.array([1] * 30 + [0] * 10)
    assert _clumps(hits, 100) == 1.0


@pytest.mark.parametrize("twice", [1, 3, 6])
def test_pairs_of_rare_hits_are_counted_as_a_poisson_variable(twice: int) -> None:
    """40 hits in 50 blocks of 1000 runs, some of them two in one block: about 40 * 39 / 2 / 50 pairs are expected."""
    hits = np.array([2] * twice + [1] * (40 - 2 * twice) + [0] * (10 + twice))
    expected = 50 * 1000 * 999 / 2 * 40 * 39 / (50_000 * 49_999)
    spread = float(np.var(hits, ddof=1)) / (0.8 * (1 - 0.0008))
    chances = stats.poisson.sf(twice - 1, expected), stats.chi2.sf(spread * 49, 49)
    assert _clumps(hits, 1000) == pytest.approx(max(chances), rel=1e-6)


@pytest.mark.parametrize("hits", [[3, 0, 0, 1, 2, 0, 0, 4, 0, 1], [9, 1, 7, 2, 8, 3, 0, 9, 5, 1]])
def test_clumps_of_misses_are_as_telling_as_those_of_hits(hits: list[int]) -> None:
    assert _clumps(20 - np.array(hits), 20) == _clumps(np.array(hits), 20) < 1


@pytest.mark.parametrize(("hits", "size"), [([5, 0, 0, 0, 0, 0, 0], 20), ([1, 0] * 20, 1), ([1] + [0] * 40, 20), ([0] * 40, 20)])
def test_few_blocks_runs_or_hits_show_no_clumps(hits: list[int], size: int) -> None:
    assert _clumps(np.array(hits), size) == 1.0


def test_how_many_equal_pairs_are_too_many() -> None:
    """Beside none in as many pairs elsewhere, 15 may be chance; the fewer pairs there are, the fewer equal ones."""
    assert [_too_often(k, 100, 0, 100) for k in (15, 16)] == [False, True]
    assert [_too_often(k, 100, 0, 10_000) for k in (6, 7)] == [False, True]
    assert not _too_often(1e6, 0, 0, 100)
    assert not _too_often(1e6, 100, 0, 0)
    # Nine elsewhere: the rate is taken for at most 9 + 5 + 4 sqrt 10, and four deviations are allowed.
    most = 2 + 9 + 5 + 4 * math.sqrt(10) + 4 * math.sqrt(1 + 9)
    assert [_too_often(k, 100, 9, 100) for k in (math.floor(most), math.ceil(most))] == [False, True]


@pytest.mark.parametrize("kinds", [2, 4, 10])
@pytest.mark.parametrize("count", [100, 140, 200, 1000])
def test_how_long_a_stretch_is_none_of_chance(kinds: int, count: int) -> None:
    """Stretches of that length at any two places agree by chance with probability below 1e-9; shorter ones may."""
    keys = (np.arange(count) % kinds).astype(np.uint64)
    most = count / kinds
    p = (most + 3 * math.sqrt(most) + 3) / count
    wanted = next(k for k in range(1, 10_000) if count**2 * p**k <= 1e-9)
    assert _telling_length(keys) == (wanted if 2 * wanted <= count else None)


def test_one_output_only_tells_nothing() -> None:
    assert _telling_length(np.zeros(1000, dtype=np.uint64)) is None
