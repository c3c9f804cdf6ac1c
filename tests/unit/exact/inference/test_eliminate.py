"""Draws taken out one by one: orders of many draws, and densities beside conditions, against closed forms."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from dpest.exact.inference.component import Case, components
from dpest.exact.inference.eliminate import _SLOPE_ERROR, ROUNDING, Measure, eliminate
from dpest.exact.inference.expressions import Expr, coordinate, expr
from dpest.exact.inference.factors import Bound
from dpest.laws.continuous import Exponential, Laplace, Uniform
from dpest.laws.law import Law
from dpest.numerics.rationals import exact


def measure(laws: list[Law], pairs: list[tuple[int, int]], equations: tuple[Expr, ...] = ()) -> Measure:
    """The measure of draws of which the first of each pair is at most the second."""
    bounds = tuple(Bound(expr(((low, exact(-1)), (high, exact(1))), exact(0))) for low, high in pairs)
    (placed,) = components(Case(tuple(laws), bounds, equations))
    return eliminate(placed.component)


def probability(laws: list[Law], pairs: list[tuple[int, int]]) -> tuple[float, float]:
    logs, error = measure(laws, pairs).log(np.empty((1, 0)))
    return math.exp(float(logs[0])), float(error[0])


@pytest.mark.parametrize("scales", [(1.0, 1.0, 1.0), (1.0, 2.0, 0.5, 4.0), (3.0, 1.0, 1.0, 2.0, 0.25, 1.5)])
def test_exponential_draws_in_a_row(scales: tuple[float, ...]) -> None:
    """The first of those left is the smallest with probability rate / (sum of the rates left)."""
    found, error = probability([Exponential(b) for b in scales], [(i, i + 1) for i in range(len(scales) - 1)])
    truth = math.prod((1 / b) / sum(1 / c for c in scales[i:]) for i, b in enumerate(scales))
    assert abs(math.log(found / truth)) <= error + 1e-13
    assert found == pytest.approx(truth, rel=1e-12)
    if len(scales) < 5:  # longer rows are as right, and their stated error grows
        assert error < 1e-9


@pytest.mark.parametrize("count", [3, 7])
def test_equal_draws_in_a_row(count: int) -> None:
    found, error = probability([Laplace(2.0)] * count, [(i, i + 1) for i in range(count - 1)])
    assert abs(math.log(found * math.factorial(count))) <= error + 1e-13


def test_a_tree_of_comparisons() -> None:
    """0 is the smallest of seven, 1 of {1, 3, 4}, 2 of {2, 5, 6}: one in 7 * 3 * 3 orders."""
    pairs = [(0, 1), (0, 2), (1, 3), (1, 4), (2, 5), (2, 6)]
    found, error = probability([Laplace(1.0)] * 7, pairs)
    assert abs(math.log(found * 63)) <= error + 1e-13


@pytest.mark.parametrize(
    ("place", "truth"), [((0.5, 0.5), 0.5), ((0.25, 0.75), 0.4375), ((0.75, 0.25), 0.125), ((1.25, 0.5), 1 / 32)]
)
def test_two_released_sums_of_draws_in_a_row(place: tuple[float, float], truth: float) -> None:
    """y = B + U and z = C + V with B <= C, B and C uniform on (0, 1), U and V on (-1/2, 1/2): an area."""
    box, noise = Uniform(0.0, 1.0), Uniform(-0.5, 0.5)
    one = exact(1)
    equations = tuple(expr(((i, one), (2 + i, one), (coordinate(i), -one)), exact(0)) for i in (0, 1))
    found = measure([box, box, noise, noise], [(0, 1)], equations)
    logs, error = found.log(np.array([place]))
    assert abs(math.exp(float(logs[0])) / truth - 1) <= float(error[0]) + 1e-12


def test_errors_add_and_far_tails_of_tables_have_more_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """A relative error for each factor, and far down in a table a share of the logarithm."""
    f: Any = SimpleNamespace(log=lambda values: (values[-1], np.full(values[-1].shape, 1e-9)), laws=list)
    y = np.array([[-1.0], [-1e4], [-np.inf]])
    plain = Measure(-2.0, (f, f), 1)
    logs, error = plain.log(y)
    assert logs.tolist() == [-4.0, -20002.0, -np.inf]
    assert error == pytest.approx([2e-9 + ROUNDING] * 3)
    table = Measure(-2.0, (f, f), 1)
    monkeypatch.setitem(vars(table), "tabulated", True)
    more = table.log(y)[1] - error
    assert more[[0, 2]].tolist() == [0.0, 0.0]
    assert more[1] == pytest.approx(20002.0 * _SLOPE_ERROR, rel=1e-6)
