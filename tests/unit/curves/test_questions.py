"""What a curve refuses, what it writes, and how the doors lead to it."""

from __future__ import annotations

import csv
import io
import json
import math
from typing import Any

import pytest

import dpest
from dpest.curves.curve import Curve
from dpest.errors import InvalidInput, NotCovered

COIN = Curve.discrete([0.75, 0.25], [0.25, 0.75])


@pytest.mark.parametrize("epsilon", [-0.1, math.nan, "1", None, True])
def test_epsilon_is_a_number_that_is_not_negative(epsilon: Any) -> None:
    with pytest.raises(InvalidInput, match="epsilon must be a number >= 0"):
        COIN.delta(epsilon)


@pytest.mark.parametrize("delta", [-1e-9, 1.1, math.nan, "x"])
def test_delta_is_a_probability(delta: Any) -> None:
    with pytest.raises(InvalidInput, match=r"delta must lie in \[0, 1\]"):
        COIN.epsilon_at(delta)


@pytest.mark.parametrize("k", [0, -1, 2.5, True])
def test_runs_are_counted(k: Any) -> None:
    with pytest.raises(InvalidInput, match="whole number of runs >= 1"):
        COIN.compose(k)


def test_orders_and_levels_are_checked() -> None:
    with pytest.raises(InvalidInput, match="alpha must be a number > 1"):
        COIN.renyi(1.0)
    with pytest.raises(InvalidInput, match="type I error"):
        COIN.tradeoff(1.5)
    with pytest.raises(InvalidInput, match="tolerance"):
        COIN.compose(2, tolerance=0.0)
    with pytest.raises(InvalidInput, match="mu must be"):
        Curve.gaussian(-1.0)
    with pytest.raises(InvalidInput, match="add up to 1"):
        Curve.discrete([0.5, 0.4], [0.5, 0.5])
    with pytest.raises(InvalidInput, match="one length"):
        Curve.discrete([0.5, 0.5], [1.0])


def test_results_about_different_pairs_do_not_compose() -> None:
    def mechanism(x: float) -> Any:
        return x + dpest.laplace(1)

    first, second = dpest.estimate(mechanism, (0, 1)), dpest.estimate(mechanism, (0, 2))
    with pytest.raises(InvalidInput, match="about different pairs of inputs: D = 0, D' = 1 and D = 0, D' = 2"):
        dpest.compose(first, second)
    with pytest.raises(InvalidInput, match="tolerance must lie strictly between 0 and 1, such as 1e-6, got 'fine'"):
        dpest.Curve.gaussian(1.0).compose(2, tolerance="fine")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="compose takes results"):
        dpest.compose(3)
    with pytest.raises(InvalidInput, match="nothing to compose"):
        dpest.compose()


def test_sampled_results_have_no_curve() -> None:
    found = dpest.estimate(lambda x: x + dpest.laplace(1), (0, 1), method="sampling", samples=2000, seed=1)
    with pytest.raises(NotCovered):
        found.compose(3)


def test_the_doors_lead_to_one_curve() -> None:
    result = dpest.estimate(lambda x: x + dpest.laplace(5), (0, 1))
    a, b, c = result.compose(4), dpest.compose((result, 4)), dpest.compose(result, (result, 3))
    assert a.delta(0.3) == b.delta(0.3)
    assert c.delta(0.3).lower <= a.delta(0.3).upper
    assert a.delta(0.3).lower <= c.delta(0.3).upper
    assert a.epsilon.lower <= 0.8 <= a.epsilon.upper
    assert result.renyi(2.0) == result.curve().renyi(2.0)
    assert result.tradeoff(0.1) == result.curve().tradeoff(0.1)


def test_several_pairs_compose_pair_by_pair() -> None:
    result = dpest.estimate(lambda x: x + dpest.laplace(1), [(0, 1), (0, 0.5)])
    worst = dpest.estimate(lambda x: x + dpest.laplace(1), (0, 1))
    assert result.compose(3).delta(1.0) == worst.compose(3).delta(1.0)


def test_equal_inputs_lose_nothing() -> None:
    curve = dpest.estimate(lambda x: x + dpest.laplace(1), (1, 1)).compose(100)
    assert curve.delta(0.0) == 0.0
    assert curve.epsilon == 0.0


def test_data_round_trips_as_text() -> None:
    curve = COIN.compose(5)
    rows = list(csv.DictReader(io.StringIO(curve.to_csv([0.0, 1.0, 2.0]))))
    assert [float(r["epsilon"]) for r in rows] == [0.0, 1.0, 2.0]
    assert all(float(r["lower"]) <= float(r["delta"]) <= float(r["upper"]) for r in rows)
    data = json.loads(Curve.gaussian(1.0).to_json())
    assert data["epsilon"] == "inf"
    assert data["points"][0]["delta"] == Curve.gaussian(1.0).delta(0.0)
    assert data["points"][-1]["delta"] == pytest.approx(1e-12, rel=1e-3)


def test_text_and_picture() -> None:
    curve = COIN.compose(5)
    assert "at delta 1e-05" in str(curve)
    figure = curve.plot()
    assert figure.axes[0].get_yscale() == "log"


def test_epsilon_at_costs_few_deltas() -> None:
    result = dpest.estimate(lambda x: x + dpest.laplace(1), (0, 1))
    curve = result.curve()
    calls = 0
    ask = Curve.delta

    def counted(self: Curve, epsilon: float) -> Any:
        nonlocal calls
        calls += 1
        return ask(self, epsilon)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Curve, "delta", counted)
        curve.epsilon_at(1e-3)
    assert calls <= 20


def test_a_wrong_largest_loss_is_not_believed() -> None:
    """A search that missed the supremum must not cap the curve."""
    from dataclasses import replace

    curve = Curve.discrete([0.75, 0.25], [0.25, 0.75])
    wrong = Curve(tuple(replace(w, pure=(0.5, 0.5)) for w in curve.ways))
    assert wrong.delta(0.7) == curve.delta(0.7) > 0
    assert wrong.epsilon.upper >= math.log(3)
    right = Curve(tuple(replace(w, pure=(math.log(3), math.log(3) + 1e-15)) for w in curve.ways))
    assert right.delta(1.1) == 0.0


def test_a_curve_is_shown_in_one_line() -> None:
    assert repr(dpest.Curve.gaussian(0.1).compose(100)) == "<Curve of Gaussian noise at mu = 1, 1 pair>"
    assert repr(dpest.estimate(lambda x: x + dpest.laplace(1), (0, 1)).compose(3)) == "<Curve of 3 runs, 1 pair>"


def test_several_pairs_one_by_one() -> None:
    """epsilon at a delta of many pairs is the largest of theirs."""
    r = dpest.estimate(lambda x: x + dpest.laplace(3.0), [(0, 1), (0, 2), (1, 0.5), (0, -1.5)])
    together = r.compose(5).epsilon_at(1e-4)
    alone = dpest.estimate(lambda x: x + dpest.laplace(3.0), (0, 2)).compose(5).epsilon_at(1e-4)
    assert together.lower <= alone.upper
    assert alone.lower <= together.upper
    assert together.upper <= alone.upper * (1 + 1e-6)  # the other direction has ends of its own
