"""Events chosen on samples, bounds on their ratios, and when an empty cell is more than chance."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from dpest.numerics import binomial
from dpest.results import Direction, Hits
from dpest.sampling.bounds.cell_sets import CellCounts, CellSet
from dpest.sampling.tables import Table
from dpest.sampling.zeros import Zeros, chance_explains_zero, largest_shared, next_to_the_end, ratio_upper

LEFT, RIGHT = Direction.LEFT, Direction.RIGHT
COUNTS = CellCounts(np.array([50, 30, 20, 0]), np.array([10, 40, 100, 50]))


def test_counts_of_an_event() -> None:
    event = CellSet(np.array([True, False, True, False]), LEFT)
    assert COUNTS.hits(event) == Hits(70, 100, 110, 200)
    assert COUNTS.hits(CellSet(event.cells, RIGHT)) == Hits(110, 200, 70, 100)
    more = COUNTS + COUNTS
    assert more.left.tolist() == [100, 60, 40, 0]
    assert more.right.tolist() == [20, 80, 200, 100]


def test_a_log_ratio_and_its_error() -> None:
    hits = Hits(70, 100, 110, 200)
    assert hits.log_ratio == pytest.approx(math.log(0.7 / 0.55))
    assert hits.error == pytest.approx(math.sqrt(1 / 70 - 1 / 100 + 1 / 110 - 1 / 200))
    assert Hits(0, 100, 5, 100).log_ratio == -math.inf
    assert Hits(5, 100, 0, 100).log_ratio == math.inf
    assert Hits(5, 100, 0, 100).error == math.inf
    assert Hits(0, 100, 5, 100).error == math.inf
    assert hits.times(3) == Hits(210, 300, 330, 600)


def test_bounds_of_a_ratio() -> None:
    hits = Hits(70, 100, 30, 200)
    assert hits.bound(0.05, given_total=True).lower == binomial.ratio_lower(70, 100, 30, 200, 0.05)
    low, high = float(stats.beta.ppf(0.025, 70, 31)), float(stats.beta.isf(0.025, 31, 170))
    assert hits.bound(0.05, given_total=False).lower == pytest.approx(math.log(low / high), rel=1e-9)
    assert Hits(5, 0, 5, 10).bound(0.05, given_total=True).lower == 0.0
    assert Hits(5, 10, 5, 0).bound(0.05, given_total=True).lower == 0.0


# -- empty cells -------------------------------------------------------------------------------------------------------


def test_when_chance_explains_a_zero() -> None:
    """At a loss of ln 2, 20 hits on one side leave the other empty with probability e^-10."""
    assert chance_explains_zero(20, math.log(2), math.exp(-10.001))
    assert not chance_explains_zero(20, math.log(2), math.exp(-9.999))
    assert chance_explains_zero(1e9, math.inf, 0.5)
    assert chance_explains_zero(0, 0.0, 1.0)


def test_upper_bounds_of_ratios() -> None:
    """Given the total t, hits q are binomial: the ratio is bounded by the Clopper-Pearson bound of q's share."""
    p, q = np.array([30, 5]), np.array([10, 1])
    found = ratio_upper(p, 1000, q, 2000, 0.05)
    for i in range(2):
        share = float(stats.beta.ppf(0.05, q[i], p[i] + 1))
        assert found[i] == pytest.approx(math.log((1 - share) / share * 2000 / 1000), rel=1e-9)


def test_the_largest_loss_that_shared_cells_support() -> None:
    counts = CellCounts(np.array([30, 5, 900, 65]), np.array([10, 0, 950, 40]))
    both = np.array([30, 900, 65]), np.array([10, 950, 40])
    assert largest_shared(counts, LEFT, 0.05) == pytest.approx(ratio_upper(both[0], 1000, both[1], 1000, 0.05).max())
    assert largest_shared(counts, RIGHT, 0.05) == pytest.approx(ratio_upper(both[1], 1000, both[0], 1000, 0.05).max())
    assert largest_shared(CellCounts(np.array([5, 0]), np.array([0, 5])), LEFT, 0.05) == 0.0


def table(left: list[int], right: list[int], learned: bool = False) -> Table:
    """A table whose three parts have the same counts."""
    one = CellCounts(np.array(left), np.array(right))
    scores = np.log(one.left + 0.5) - np.log(one.right + 0.5)
    return Table(one, one, one, learned, str, scores)


def test_cells_that_one_input_alone_showed() -> None:
    counts = table([5, 0, 3, 0], [0, 4, 1, 0])
    assert counts.exclusive(LEFT).cells.tolist() == [True, False, False, False]
    assert counts.exclusive(RIGHT).cells.tolist() == [False, True, False, False]
    assert counts.exclusive(RIGHT).direction is RIGHT


def test_alpha_is_shared_out_once() -> None:
    tables = [table([30, 900, 0], [10, 950, 3]), table([40, 950], [60, 930])]
    found = Zeros.of(tables, 0.5, 0.08)
    assert found.shared == {d: max(largest_shared(t.all, d, 0.04) for t in tables) for d in (LEFT, RIGHT)}
    assert Zeros.of(tables, 9.0, 0.08).shared == {LEFT: 9.0, RIGHT: 9.0}
    assert found.shared_level == pytest.approx(0.04)
    assert found.chosen_level == pytest.approx(0.02 / (2 * 2))
    assert found.cell_level == pytest.approx(0.02 / (2 * 5))


def test_a_proof_of_infinity_needs_more_than_chance() -> None:
    zeros = Zeros(shared={LEFT: 1.0, RIGHT: 1.0}, shared_level=0.025, chosen_level=1e-3, cell_level=1e-6)
    many = table([40, 960], [0, 1000])  # 40 e^-1 = 14.7 expected hits
    shown = zeros.proof(many, LEFT)
    assert shown is not None
    assert shown[0].cells.tolist() == [True, False]
    assert shown[1] == Hits(40, 1000, 0, 1000)
    assert zeros.proof(many, RIGHT) is None
    # The part that bounds has too few, all three parts together have 30: too few for a cell that was not chosen before.
    assert zeros.proof(table([10, 990], [0, 1000]), LEFT) is None
    shown = zeros.proof(table([15, 985], [0, 1000]), LEFT)
    assert shown is not None
    assert shown[1] == Hits(45, 3000, 0, 3000)
    assert zeros.proof(table([15, 985], [0, 1000], learned=True), LEFT) is None
    # Fewer samples on the empty side count for less: as many hits as there would be in a sample of that size.
    assert zeros.proof(table([40, 960], [0, 100]), LEFT) is None
    assert zeros.proof(table([40, 960], [0, 0]), LEFT) is None
    # Where the shared cells support more, the same zero proves nothing.
    assert Zeros(shared={LEFT: 4.0, RIGHT: 1.0}, shared_level=0.025, chosen_level=1e-3, cell_level=1e-6).proof(many, LEFT) is None


def test_the_end_of_a_score_is_held_against_the_cell_next_to_it() -> None:
    """Half of the hits at the end count with that cell: 60 of 120, and 30 against 3."""
    few, many = table([40, 10, 950], [0, 1, 999], learned=True), table([40, 10, 950], [0, 20, 980], learned=True)
    expected = ratio_upper(np.array([90]), 3000, np.array([3]), 3000, 0.025)[0]
    assert next_to_the_end(few, LEFT, 0.025) == pytest.approx(expected)
    assert next_to_the_end(table([40, 960], [0, 0], learned=True), LEFT, 0.025) == math.inf
    zeros = Zeros(shared={LEFT: 0.5, RIGHT: 0.5}, shared_level=0.025, chosen_level=1e-3, cell_level=1e-6)
    assert zeros.proof(few, LEFT) is None
    shown = zeros.proof(many, LEFT)  # 20 e^-0.7 = 9.9 expected hits
    assert shown is not None
    assert shown[1] == Hits(40, 1000, 0, 1000)


def test_what_a_score_shows_does_not_explain_its_own_zeros() -> None:
    learned = [table([30, 900, 70], [10, 950, 40], learned=True)]
    assert Zeros.of(learned, 9.0, 0.08) == Zeros.of(learned, 0.0, 0.08)


def test_cells_are_joined_in_the_order_of_their_scores() -> None:
    counts = table([50, 30, 20, 1], [10, 40, 100, 50])
    assert counts.order(LEFT).tolist() == [0, 1, 2, 3]
    assert counts.order(RIGHT).tolist() == [3, 2, 1, 0]


@pytest.mark.parametrize(("left", "right"), [([980, 20], [500, 500]), ([300, 9700], [30, 9970])])
def test_the_bound_that_suits_an_event_is_taken(left: list[int], right: list[int]) -> None:
    """Given the total, rare events are bounded more sharply; events of probability near 1 are not."""
    chosen = table(left, right).choose(LEFT, 0.05, 1.5)
    hits = CellCounts(np.array(left), np.array(right)).hits(chosen.event)
    assert chosen.event.cells.tolist() == [True, False]
    assert chosen.given_total == (hits.bound(0.05, given_total=True).lower >= hits.bound(0.05, given_total=False).lower)
