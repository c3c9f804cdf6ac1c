"""Events chosen on samples, bounds on their ratios, and when an empty cell is more than chance."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from dpest.numerics import binomial
from dpest.results import Direction
from dpest.sampling.events import Counts, Event, Hits, choose, promise, ratio_order, score_order
from dpest.sampling.zeros import Zeros, chance_explains_zero, exclusive, largest_shared, ratio_upper

LEFT, RIGHT = Direction.LEFT, Direction.RIGHT
COUNTS = Counts(np.array([50, 30, 20, 0]), np.array([10, 40, 100, 50]))


def test_counts_of_an_event() -> None:
    event = Event(np.array([True, False, True, False]), LEFT)
    assert COUNTS.hits(event) == Hits(70, 100, 110, 200)
    assert COUNTS.hits(Event(event.cells, RIGHT)) == Hits(110, 200, 70, 100)
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
    assert hits.lower(0.05, given_total=True) == binomial.ratio_lower(70, 100, 30, 200, 0.05)
    low, high = float(stats.beta.ppf(0.025, 70, 31)), float(stats.beta.isf(0.025, 31, 170))
    assert hits.lower(0.05, given_total=False) == pytest.approx(math.log(low / high), rel=1e-9)
    assert Hits(5, 0, 5, 10).lower(0.05, given_total=True) == 0.0
    assert Hits(5, 10, 5, 0).lower(0.05, given_total=True) == 0.0


def test_orders() -> None:
    # Five more hits on either side, in proportion to the samples: (55, 35, 25, 5) over (20, 50, 110, 60).
    assert ratio_order(COUNTS, LEFT).tolist() == [0, 1, 2, 3]
    assert ratio_order(COUNTS, RIGHT).tolist() == [3, 2, 1, 0]
    rare = Counts(np.array([1, 20, 79]), np.array([0, 5, 95]))
    assert ratio_order(rare, LEFT).tolist() == [1, 0, 2]  # 6/5 comes after 25/10
    unequal = Counts(np.array([4, 20, 76]), np.array([0, 30, 970]))
    shares = (unequal.left + 5) / (unequal.right + 50)
    assert ratio_order(unequal, LEFT).tolist() == np.argsort(-shares).tolist()
    scores = np.array([0.2, 3.0, -1.0])
    assert score_order(scores, LEFT).tolist() == [1, 0, 2]
    assert score_order(scores, RIGHT).tolist() == [2, 0, 1]


def expected_promise(p: int, n: int, q: int, m: int, caution: float) -> float:
    """The formula in plain numbers: Anscombe's root for the count below, Zou and Donner's sum of squares."""
    more, fewer = p + 0.5, q + 0.5
    ratio = math.log(more / (n + 1)) - math.log(fewer / (m + 1))
    below = caution * math.sqrt(1 / more - 1 / (n + 1))
    above = math.log((math.sqrt(q + 3 / 8) + caution / 2) ** 2 / fewer) * math.sqrt(1 - fewer / (m + 1))
    distance = math.hypot(below, above)
    return ratio - distance if ratio > distance else caution * (ratio / distance - 1)


@pytest.mark.parametrize(
    "counts", [(50, 100, 10, 120), (3, 100, 0, 100), (40, 100, 45, 100), (1, 1000, 30, 900), (90, 100, 2, 50)]
)
@pytest.mark.parametrize("caution", [1.0, 2.5])
def test_what_an_event_promises(counts: tuple[int, int, int, int], caution: float) -> None:
    p, n, q, m = counts
    found = promise(np.array([p, 0]), n, np.array([q, q]), m, caution)
    assert found[0] == pytest.approx(expected_promise(p, n, q, m, caution), rel=1e-12)
    assert found[1] == -math.inf


def test_the_event_with_the_best_promise_is_chosen() -> None:
    orders = [np.array([0, 1, 2, 3]), np.array([3, 2, 1, 0])]
    n, m = 100, 200
    joined = {}
    for order in orders:
        p, q = np.cumsum(COUNTS.left[order]), np.cumsum(COUNTS.right[order])
        for k in range(4):
            if p[k]:
                joined[tuple(sorted(order[: k + 1].tolist()))] = expected_promise(int(p[k]), n, int(q[k]), m, 2.0)
    best = max(joined, key=lambda cells: joined[cells])
    found = choose(COUNTS, orders, LEFT, singles=False, caution=2.0)
    assert tuple(np.flatnonzero(found.event.cells).tolist()) == best
    assert found.promise == pytest.approx(joined[best])
    hits = COUNTS.hits(found.event)
    assert found.given_total == (hits.lower(0.05, given_total=True) >= hits.lower(0.05, given_total=False))
    # A single cell that stands in the middle of the order is found where single cells are looked at.
    middle = Counts(np.array([50, 400, 50, 500]), np.array([60, 5, 60, 875]))
    single = choose(middle, [np.array([0, 2, 3, 1])], LEFT, singles=True, caution=2.0)
    assert single.event.cells.tolist() == [False, True, False, False]
    expected = expected_promise(400, 1000, 5, 1000, 2.0 + math.sqrt(2 * math.log(4)))
    assert single.promise == pytest.approx(expected, rel=1e-12)


def test_which_bound_suits() -> None:
    """Given the total, rare events are bounded more sharply; events of probability near 1 are not."""
    common = choose(Counts(np.array([980, 20]), np.array([500, 500])), [np.array([0, 1])], LEFT, singles=False, caution=2.0)
    rare = choose(Counts(np.array([30, 970]), np.array([3, 997])), [np.array([0, 1])], LEFT, singles=False, caution=2.0)
    assert not common.given_total
    assert rare.given_total


# -- empty cells -------------------------------------------------------------------------------------------------------


def test_when_chance_explains_a_zero() -> None:
    """At a loss of ln 2, 20 hits on one side leave the other empty with probability e^-10."""
    assert chance_explains_zero(20, math.log(2), math.exp(-10.001))
    assert not chance_explains_zero(20, math.log(2), math.exp(-9.999))
    assert chance_explains_zero(1e9, math.inf, 0.5)
    assert chance_explains_zero(0, 0.0, 1.0)


def test_exclusive_cells() -> None:
    counts = Counts(np.array([5, 0, 3, 0]), np.array([0, 4, 1, 0]))
    assert exclusive(counts, LEFT).cells.tolist() == [True, False, False, False]
    assert exclusive(counts, RIGHT).cells.tolist() == [False, True, False, False]
    assert exclusive(counts, RIGHT).direction is RIGHT


def test_upper_bounds_of_ratios() -> None:
    """Given the total t, hits q are binomial: the ratio is bounded by the Clopper-Pearson bound of q's share."""
    p, q = np.array([30, 5]), np.array([10, 1])
    found = ratio_upper(p, 1000, q, 2000, 0.05)
    for i in range(2):
        share = float(stats.beta.ppf(0.05, q[i], p[i] + 1))
        assert found[i] == pytest.approx(math.log((1 - share) / share * 2000 / 1000), rel=1e-9)


def test_the_largest_loss_that_shared_cells_support() -> None:
    counts = Counts(np.array([30, 5, 900, 65]), np.array([10, 0, 950, 40]))
    both = np.array([30, 900, 65]), np.array([10, 950, 40])
    ups = np.concatenate([ratio_upper(both[0], 1000, both[1], 1000, 0.05), ratio_upper(both[1], 1000, both[0], 1000, 0.05)])
    assert largest_shared(counts, 0.05) == pytest.approx(ups.max())
    assert largest_shared(Counts(np.array([5, 0]), np.array([0, 5])), 0.05) == 0.0


class Parts:
    """A table of counts in three parts."""

    def __init__(self, left: list[int], right: list[int], learned: bool = False) -> None:
        one = Counts(np.array(left), np.array(right))
        self.ordering = self.choosing = self.bounding = one
        self.all = one + one + one
        self.learned = learned


def test_alpha_is_shared_out_once() -> None:
    tables = [Parts([30, 900, 0], [10, 950, 3]), Parts([40, 950], [60, 930])]
    found = Zeros.of(tables, 0.08)  # type: ignore[arg-type]
    assert found.shared == max(largest_shared(t.all, 0.04) for t in tables)
    assert found.chosen_level == pytest.approx(0.02 / (2 * 2))
    assert found.cell_level == pytest.approx(0.02 / (2 * 5))


def test_a_proof_of_infinity_needs_more_than_chance() -> None:
    zeros = Zeros(shared=1.0, chosen_level=1e-3, cell_level=1e-6)
    many = Parts([40, 960], [0, 1000])  # 40 e^-1 = 14.7 expected hits
    event, hits = zeros.proof(many, LEFT)  # type: ignore[arg-type, misc]
    assert event.cells.tolist() == [True, False]
    assert hits == Hits(40, 1000, 0, 1000)
    assert zeros.proof(many, RIGHT) is None  # type: ignore[arg-type]
    few = Parts([10, 990], [0, 1000])  # the part that bounds has too few, all three parts together have 30
    shown = zeros.proof(few, LEFT)  # type: ignore[arg-type]
    assert shown is None
    more = Parts([15, 985], [0, 1000])
    event, hits = zeros.proof(more, LEFT)  # type: ignore[arg-type, misc]
    assert hits == Hits(45, 3000, 0, 3000)
    assert zeros.proof(Parts([15, 985], [0, 1000], learned=True), LEFT) is None  # type: ignore[arg-type]
    # Fewer samples on the empty side count for less: as many hits as there would be in a sample of that size.
    assert zeros.proof(Parts([40, 960], [0, 100]), LEFT) is None  # type: ignore[arg-type]
    assert zeros.proof(Parts([40, 960], [0, 0]), LEFT) is None  # type: ignore[arg-type]
