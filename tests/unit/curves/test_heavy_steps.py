"""Many steps of subsampled noise, whose single losses have heavy tails: cut tails, lower tilts."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import dpest.curves.cuts as cuts
from dpest.curves.cells import LossCells, single
from dpest.curves.curve import Curve
from dpest.curves.cuts import CutSums, shortened
from dpest.curves.tree import Fixed, Leaf, Mixture, ProductPart, masses
from tests.oracles.compositions import delta_of, outcomes
from tests.oracles.random_pairs import random_pair
from tests.unit.curves.finite import COIN
from tests.unit.curves.finite import leaf as finite_leaf
from tests.unit.curves.pairs import subsampled_gaussian_curve, width


def test_cells_without_their_tails_keep_all_mass_in_view() -> None:
    p, q = np.array([1e-9, 0.2, 0.7, 0.1, 1e-7, 1e-9]), np.array([0.3, 0.4, 0.2, 0.1, 1e-12, 0.0])
    with np.errstate(divide="ignore"):
        cells = single(np.log(p / p.sum()), np.log(q / q.sum()))
    cut = shortened(cells, 4e-9)
    assert cut.size == cells.size - 1
    assert cut.beyond[0] == pytest.approx(1e-9, rel=1e-6)
    assert cut.beyond[0] >= 1e-9 / p.sum()
    assert cut.beyond[1] == pytest.approx(0.3, rel=1e-6)
    assert cut.upper.infinite >= 2e-9 / p.sum()
    assert cut.lower.infinite == pytest.approx(1e-9, rel=1e-6)  # what is infinite stays
    assert cut.bounds == (-math.inf, math.inf)
    assert shortened(cells, 1e-9) is cells  # half of it at either end
    assert shortened(cells, 3.0) is cells
    both = shortened(cells, 2.1e-7)
    assert both.size == cells.size - 2
    assert both.beyond[0] >= (1e-9 + 1e-7) / p.sum()
    assert both.beyond[0] == pytest.approx(1e-9 + 1e-7, rel=1e-6)


@pytest.mark.parametrize("mass", np.linspace(0.05, 2.5, 50))
def test_whatever_is_cut_off_is_counted_once(mass: float) -> None:
    """What is kept and what lies beyond add up to the whole, under either law; no more than asked for is cut off."""
    p, q = np.array([0.05, 0.1, 0.15, 0.2, 0.2, 0.15, 0.1]), np.array([0.15, 0.2, 0.2, 0.15, 0.1, 0.05, 0.1])
    cells = replace(single(np.log(p), np.log(q)), beyond=(0.05, 0.02))
    cut = shortened(cells, mass)
    assert cut.size > 0
    assert float(np.exp(cut.log_p).sum()) + cut.beyond[0] == pytest.approx(1.0, rel=1e-9)
    assert float(np.exp(cut.log_q).sum()) + cut.beyond[1] == pytest.approx(0.97, rel=1e-9)
    assert cut.beyond[0] <= 0.05 + mass + 1e-9


def many_outcomes(rng: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
    """More outcomes than are worth a grid point each, some of them with tiny probabilities."""
    p, q = (rng.dirichlet(np.full(count, 0.05)) + 1e-30 for _ in range(2))
    return p / p.sum(), q / q.sum()


@pytest.mark.parametrize("seed", range(4))
def test_cut_tails_keep_the_truth_inside(seed: int) -> None:
    rng = np.random.default_rng(seed)
    p, q = many_outcomes(rng, 80)
    leaf = Leaf(Fixed(single(np.log(p), np.log(q), 2.3e-16)))
    both = np.outer(p, p).ravel(), np.outer(q, q).ravel()
    sums = CutSums(ProductPart(((leaf, 2),)))
    for epsilon in (0.0, 2.0, 20.0, 60.0):
        truth = math.fsum(np.maximum(both[0] - math.exp(epsilon) * both[1], 0.0))
        low, high = sums.delta(epsilon, 1e-3)
        assert low * (1 - 1e-9) <= truth <= high * (1 + 1e-9)
    assert any(s is not sums._whole for s in sums.made.values())


@pytest.mark.parametrize("slack", [0.0, 1e-9, 1e-6])
@pytest.mark.parametrize("infinite", [0.0, 1e-4])
def test_the_masses_of_many_steps_are_probabilities(slack: float, infinite: float) -> None:
    """What the errors of a step add may not grow with the number of steps: all masses together are one at most."""
    p, q = np.array([0.5 - infinite, 0.5, infinite]), np.array([0.5, 0.5, 0.0])
    with np.errstate(divide="ignore"):
        leaf = Leaf(Fixed(single(np.log(p), np.log(q), slack)))
    for steps in (1, 1000, 10**6):
        found = masses(ProductPart(((leaf, steps),)), True)
        assert found.finite + found.infinite <= 1 + 1e-15 * steps
        assert found.infinite >= (1 - (1 - infinite) ** steps) * (1 - 1e-15 * steps)


def test_few_outcomes_are_never_cut() -> None:
    tiny = Leaf(Fixed(single(np.log([1 - 1e-9, 1e-9]), np.log([1 - 1e-12, 1e-12]))))
    for tree in (ProductPart(((tiny, 5),)), Mixture((tiny, COIN))):
        sums = CutSums(tree)
        assert sums._cut(-4) is sums._whole


def test_cuts_are_shared_where_parts_are() -> None:
    rng = np.random.default_rng(9)
    p, q = many_outcomes(rng, 100)
    leaf = Leaf(Fixed(single(np.log(p), np.log(q))))
    tree = CutSums(ProductPart(((leaf, 2), (Mixture((leaf, COIN)), 1))))._cut(-8).tree
    assert isinstance(tree, ProductPart)
    inner = tree.parts[1][0]
    assert isinstance(inner, Mixture)
    assert inner.parts[0] is tree.parts[0][0]
    assert inner.parts[1] is COIN
    assert tree.parts[0][0].cells.size < leaf.cells.size  # type: ignore[union-attr]


def test_ten_thousand_steps_are_as_narrow_as_asked_for() -> None:
    assert width(subsampled_gaussian_curve(0.001, 0.8).compose(10_000).delta(0.46)) < 1e-4


def test_other_cuts_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    """Brackets with and without a cut have a point in common, and so have those of both directions together."""
    found = []
    for first in (-8, -400):
        monkeypatch.setattr(cuts, "_FIRST", first)
        found.append(subsampled_gaussian_curve(0.02, 0.7).compose(300, tolerance=1e-3).delta(2.5))
    assert max(x.lower for x in found) <= min(x.upper for x in found)
    assert max(map(width, found)) < 2e-3


def test_the_dominated_direction_is_left_out_only_where_it_is() -> None:
    rng = np.random.default_rng(4)
    for _ in range(10):
        p, q = random_pair(rng)
        curve = Curve.discrete([float(x) for x in p], [float(x) for x in q]).compose(3)
        for epsilon in (0.0, 0.5, 2.0):
            truth = max(delta_of(outcomes(a, b, 3), epsilon) for a, b in ((p, q), (q, p)))
            found = curve.delta(epsilon)
            assert found.lower <= truth <= found.upper


def test_all_cells_are_kept_or_counted() -> None:
    cells = LossCells(*(np.log(np.full(100, 0.01)) for _ in range(2)), *(np.zeros(100) for _ in range(3)))
    cut = shortened(cells, 0.11)
    assert cut.size == 90
    assert cut.beyond[0] == pytest.approx(0.1)
    assert cut.beyond[1] == pytest.approx(0.1)


def test_laws_without_anything_in_common() -> None:
    """No finite loss at all: nothing to transform."""
    low, high = CutSums(ProductPart(((finite_leaf([1.0, 0.0], [0.0, 1.0]), 3),))).delta(0.0, 1e-4)
    assert 1 - 1e-11 < low <= high == 1.0
    low, high = CutSums(ProductPart(((finite_leaf([0.0, 1.0], [1.0, 0.0]), 3), (COIN, 2)))).delta(2.0, 1e-4)
    assert 1 - 1e-11 < low <= high == 1.0
