from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import dpest
from dpest.inputs.pairs import Pair
from dpest.results import Direction, Hits, Result
from dpest.sampling.answer import estimate_by_sampling
from dpest.sampling.bounds.cell_sets import CellCounts, CellSet
from dpest.sampling.conclude import Conclusion, _points, conclude
from dpest.sampling.runs.outputs import encode_array
from dpest.sampling.scores.learned import learn
from dpest.sampling.tables import Table
from dpest.sampling.zeros import chance_explains_zero, largest_shared

RNG = np.random.default_rng(7)


def table(p: list[float], q: list[float], n: int) -> Table:
    parts = (CellCounts(RNG.multinomial(k, p), RNG.multinomial(k, q)) for k in (n // 8, n // 8, 3 * n // 4))
    ordering, choosing, bounding = parts
    scores = np.log((ordering.left + 0.5) / (ordering.right + 0.5))
    return Table(ordering, choosing, bounding, learned=False, words=str, scores=scores)


def concluded(p: list[float], q: list[float], n: int = 100_000, *, exhaustive: bool = True) -> Conclusion:
    return conclude([table(p, q, n)], 0.05, exhaustive=exhaustive)


def sampled(mechanism: Callable[[Any], Any], left: float, right: float, seed: int) -> Result:
    return estimate_by_sampling(mechanism, [Pair("", left, right)], samples=20_000, seed=seed, executor=1, progress=False)


def test_randomised_response_is_bracketed() -> None:
    found = concluded([0.75, 0.25], [0.25, 0.75])
    assert found.lower < math.log(3) < found.upper
    assert found.upper - found.lower < 0.1
    assert abs(found.epsilon - math.log(3)) < 0.05


def test_the_estimate_is_no_bound() -> None:
    """It lies around the truth, where the bounds lie on either side of it."""
    found = [concluded([0.75, 0.25], [0.25, 0.75], 4_000) for _ in range(40)]
    assert np.mean([x.lower for x in found]) < math.log(3) - 0.06
    assert np.mean([x.upper for x in found]) > math.log(3) + 0.06
    assert abs(np.mean([x.epsilon for x in found]) - math.log(3)) < 0.04


@pytest.mark.parametrize(("p", "q"), [(0.8, 0.5), (0.5, 0.1), (0.3, 0.15)])
def test_ratios_scatter_as_much_as_their_errors_say(p: float, q: float) -> None:
    """The spread over 200 samples, which is known to 5 %, beside the error that each of them states."""
    ratios, errors = [], []
    for _ in range(200):
        own = table([p, 1 - p], [q, 1 - q], 20_000)
        side = conclude([own], 0.05, exhaustive=True).findings[0].sides[0]
        found = _points(own, side)
        ratios.append(found[0][0])
        errors.append(found[1][0])
    assert np.mean(ratios) == pytest.approx(math.log(p / q), abs=0.02)
    assert np.std(ratios) == pytest.approx(np.mean(errors), rel=0.2)


def test_the_error_of_a_ratio_is_that_of_two_frequencies() -> None:
    """ln of a frequency h / n has the variance 1 / h - 1 / n, to first order."""
    own = table([0.8, 0.2], [0.3, 0.7], 20_000)
    side = conclude([own], 0.05, exhaustive=True).findings[0].sides[0]
    ratios, errors = _points(own, side)
    hits = side.bound
    variance = (1 / hits.more - 1 / hits.of_more) + (1 / hits.fewer - 1 / hits.of_fewer)
    assert ratios[0] == pytest.approx(math.log(hits.more / hits.of_more * hits.of_fewer / hits.fewer), rel=1e-12)
    assert errors[0] == pytest.approx(math.sqrt(variance), rel=1e-12)


def test_without_all_outcomes_there_is_no_upper_bound() -> None:
    assert concluded([0.75, 0.25], [0.25, 0.75], exhaustive=False).upper == math.inf
    assert concluded([0.5, 0.5, 0.0], [0.5, 0.5, 0.0]).upper == math.inf


def test_the_direction_with_the_larger_loss_counts() -> None:
    found = concluded([0.9, 0.1], [0.5, 0.5])
    forward, backward = found.findings[0].sides
    assert forward.bound.log_ratio < backward.bound.log_ratio
    assert abs(found.epsilon - math.log(5)) < 0.1


def test_an_outcome_of_one_input_alone_is_infinite() -> None:
    found = concluded([0.9, 0.1, 0.0], [0.9, 0.0, 0.1])
    assert found.epsilon == found.upper == math.inf
    assert 5 < found.lower < math.inf


def test_a_few_exclusive_hits_are_not_infinite() -> None:
    rare = 3e-5
    found = concluded([1 - rare, rare], [1 - rare / 2, rare / 2])
    assert found.epsilon < math.inf


def test_zeros_are_infinite_only_where_chance_cannot_explain_them() -> None:
    assert chance_explains_zero(5, 0.0, level=0.005)
    assert not chance_explains_zero(6, 0.0, level=0.005)
    assert chance_explains_zero(1000, 10.0, level=0.005)
    assert chance_explains_zero(10**9, math.inf, level=0.005)


def test_a_shared_output_supports_more_than_its_ratio() -> None:
    """Rung: closed form. Of t hits, one under the other input: its share is at least 1 - (1 - alpha)^(1/t)."""
    alpha, t = 0.05, 1001
    share = 1 - (1 - alpha) ** (1 / t)
    found = largest_shared(CellCounts(np.array([9000, 1000, 0]), np.array([9999, 1, 0])), Direction.LEFT, alpha)
    assert found == pytest.approx(math.log((1 - share) / share), abs=1e-6)
    assert found - math.log(1000) == pytest.approx(math.log(19.5), abs=0.01)
    assert largest_shared(CellCounts(np.array([5, 0]), np.array([0, 5])), Direction.LEFT, alpha) == 0.0


def test_the_support_of_shared_outputs_covers_their_largest_loss() -> None:
    """No correction for the number of outputs: whichever loses most, its own bound is among them."""
    p, q = np.full(40, 1 / 40), np.concatenate([[1 / 400], np.full(39, (1 - 1 / 400) / 39)])
    counts = (CellCounts(RNG.multinomial(4000, p), RNG.multinomial(4000, q)) for _ in range(400))
    misses = sum(largest_shared(c, Direction.LEFT, 0.05) < math.log(10) for c in counts)
    assert misses <= binom.ppf(0.99, 400, 0.05)


@pytest.mark.parametrize("loss", [5.0, 8.0, 10.0])
def test_a_large_loss_is_not_infinite(loss: float) -> None:
    """Laplace noise: half of the outputs have the full loss, and at 10 a sample of 20,000 often shows no hit among them."""
    found = [sampled(lambda x: x + dpest.laplace(1 / loss), 0.0, 1.0, seed).epsilon for seed in range(20)]
    assert math.inf not in found


def test_noise_of_bounded_support_is_infinite() -> None:
    found = [sampled(lambda x: x + dpest.uniform(0.0, 1.0), 0.0, 0.1, seed).epsilon for seed in range(20)]
    # A run may leave it open: one hit in the bin that holds the edge supports a large loss.
    assert sum(e == math.inf for e in found) >= binom.ppf(0.01, 20, 0.95)


def test_outputs_of_one_input_alone_are_bounded_well() -> None:
    """Rung: closed form. A quarter of the outputs are exclusive, and about 1,400 samples bound them: at most 0.26 / 0.0022."""
    found = [
        estimate_by_sampling(
            lambda x: x + dpest.uniform(-1.0, 1.0), (Pair("", 0.0, 0.5),), samples=2000, seed=seed, executor=1, progress=False
        ).lower
        for seed in range(15)
    ]
    assert 4.0 < np.median(found) < math.log(0.26 / 0.0022)


@pytest.mark.parametrize("cells", [2, 100, 5000])
def test_equal_laws_are_not_accused(cells: int) -> None:
    for _ in range(10):
        found = concluded([1 / cells] * cells, [1 / cells] * cells, 20_000, exhaustive=False)
        assert found.epsilon < math.inf
        assert found.lower < 0.2


def test_pairs_share_the_confidence_and_the_worst_is_named() -> None:
    weak, strong = table([0.5, 0.5], [0.48, 0.52], 100_000), table([0.75, 0.25], [0.25, 0.75], 100_000)
    found = conclude([weak, strong, weak], 0.05, exhaustive=False)
    assert found.worst == 1
    assert found.lower == found.findings[1].lower < math.log(3)
    assert found.findings[0].epsilon <= found.epsilon


def test_nothing_counted_yet_says_nothing() -> None:
    empty = CellCounts(np.zeros(2, dtype=np.int64), np.zeros(2, dtype=np.int64))
    some = CellCounts(np.array([70, 30]), np.array([30, 70]))
    found = conclude([Table(some, some, empty, False, str, np.array([1.0, -1.0]))], 0.05, exhaustive=False)
    assert found.lower == 0.0
    assert 0.3 < found.epsilon < 1.2


def test_hits() -> None:
    counts = CellCounts(np.array([10, 90]), np.array([40, 60]))
    hits = counts.hits(CellSet(np.array([True, False]), Direction.RIGHT))
    assert hits == Hits(40, 100, 10, 100)
    assert hits.log_ratio == pytest.approx(math.log(4))
    assert 0 < hits.bound(0.05, given_total=True).lower < math.log(4)
    assert Hits(0, 10, 5, 10).log_ratio == -math.inf
    assert Hits(5, 10, 0, 10).error == math.inf


def test_the_cells_of_a_score_grow_with_it_and_are_in_words() -> None:
    """Rung: closed form. The best score of prefix sums is additive in differences of neighbours."""
    data = [encode_array(np.cumsum(RNG.laplace(mean, 1.0, (20_000, 4)), axis=1), 20_000) for mean in (0.0, 0.5)]
    score = learn(data[0], data[1], 20_000)
    fresh = np.cumsum(RNG.laplace(0.0, 1.0, (20_000, 4)), axis=1)
    steps = np.diff(fresh, axis=1, prepend=0.0)
    truth = (np.abs(steps - 0.5) - np.abs(steps)).sum(axis=1)
    cells = score.cells(encode_array(fresh, 20_000))
    assert np.corrcoef(score.scores[cells], truth)[0, 1] > 0.95
    assert cells.max() < score.size
    assert (np.diff(score.scores) >= 0).all()
    assert "output[" in score.words(np.arange(score.size) >= score.size - 3)


@pytest.mark.parametrize("seed", range(8))
def test_the_values_of_one_number_are_ranges_in_words(seed: int) -> None:
    rng = np.random.default_rng(seed)
    score = learn(*(encode_array(rng.laplace(mean, 1.0, 5000), 5000) for mean in (0.0, 1.0)), 5000)
    words = score.words(np.arange(score.size) < score.size // 4)
    ranges = words.split(" or ")
    assert all(re.fullmatch(r"output >= \S+|\S+ <= output <=? \S+", r) for r in ranges)
