"""Curves over all adjacent inputs: the upper end is proved, the lower one of the worst pair. Oracle: closed forms of coins."""

from __future__ import annotations

import math
import sys
from types import ModuleType
from typing import Any

import pytest

from dpest.curves.accounting import _library
from dpest.curves.bounded import BoundedCurve, composed_together, over_all_inputs
from dpest.curves.curve import Curve
from dpest.errors import MissingExtra, NotCovered

PROVED, SHOWN = 1.0, 0.75


def bounded(below: float | None = SHOWN, proved: float = PROVED) -> BoundedCurve:
    above = Curve.pure(proved)
    return BoundedCurve(above.ways, above.tolerance, below=None if below is None else Curve.pure(below), about="all")


def coins(losses: list[float], epsilon: float) -> float:
    """delta of independent coins, each with e^loss to one: the sum over all ways in which they fall."""
    ways = [(1.0, 0.0)]
    for loss in losses:
        p = 1 / (1 + math.exp(-loss))
        ways = [(m * w, s + sign * loss) for m, s in ways for w, sign in ((p, 1), (1 - p, -1))]
    return sum(m * max(0.0, -math.expm1(epsilon - s)) for m, s in ways)


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 0.7, 0.9])
def test_delta_lies_between_the_pair_and_the_proof(epsilon: float) -> None:
    found = bounded().delta(epsilon)
    assert found.lower <= coins([SHOWN], epsilon) <= coins([PROVED], epsilon) <= found.upper
    assert found.lower == pytest.approx(coins([SHOWN], epsilon), abs=1e-12)
    assert found.upper == pytest.approx(coins([PROVED], epsilon), abs=1e-12)
    assert float(found) == pytest.approx(found.upper, abs=1e-12)
    assert bounded(None).delta(epsilon).lower == 0.0


@pytest.mark.parametrize("ask", ["epsilon", "renyi", "rho", "expected_loss", "epsilon_at"])
def test_every_question_has_the_ends_of_both(ask: str) -> None:
    def answer(curve: Curve) -> Any:
        found = getattr(curve, ask)
        return found(2.0) if ask == "renyi" else found(0.05) if ask == "epsilon_at" else found() if callable(found) else found

    found, above, below = answer(bounded()), answer(Curve.pure(PROVED)), answer(Curve.pure(SHOWN))
    assert (found.lower, found.upper) == (below.lower, above.upper)
    assert answer(bounded(None)).lower == 0.0
    assert answer(bounded(None)).upper == above.upper
    assert answer(bounded(2.0)).lower <= answer(bounded(2.0)).upper == above.upper


@pytest.mark.parametrize("alpha", [0.0, 0.05, 0.2, 0.5, 0.95])
@pytest.mark.parametrize("runs", [1, 40])
def test_the_tradeoff_is_bounded_from_below_by_the_proof(alpha: float, runs: int) -> None:
    """A coin of loss e: 1 - e^e alpha, then e^-e (1 - alpha). Of 40 runs, the proof's end is that of its own curve."""
    curve, above, below = bounded(), Curve.pure(PROVED), Curve.pure(SHOWN)
    if runs > 1:
        curve, above, below = curve.compose(runs), above.compose(runs), below.compose(runs)
    found = curve.tradeoff(alpha)
    assert found.lower == above.tradeoff(alpha).lower
    assert found.upper == max(below.tradeoff(alpha).upper, found.lower)
    assert found.lower <= float(found) <= found.upper
    if runs == 1:
        least, most = (max(1 - math.exp(e) * alpha, math.exp(-e) * (1 - alpha), 0) for e in (PROVED, SHOWN))
        assert found.lower <= least <= most <= found.upper
        assert (found.lower, found.upper) == pytest.approx((least, most), abs=1e-9)
        assert BoundedCurve(curve.ways, curve.tolerance).tradeoff(alpha).upper == 1 - alpha


@pytest.mark.parametrize("epsilon", [0.2, 1.1])
def test_runs_of_several_curves(epsilon: float) -> None:
    """Two runs of a bounded curve beside one of a plain one; and the one with more runs where pairs differ."""
    found = composed_together([(bounded(), 2), (Curve.pure(0.5), 1)], None)
    low, high = coins([SHOWN, SHOWN, 0.5], epsilon), coins([PROVED, PROVED, 0.5], epsilon)
    assert found.delta(epsilon).lower <= low <= high <= found.delta(epsilon).upper
    assert found.delta(epsilon).lower == pytest.approx(low, abs=1e-6)
    assert found.delta(epsilon).upper == pytest.approx(high, abs=1e-6)
    unknown = composed_together([(bounded(None), 2), (bounded(None), 1)], None).delta(epsilon)
    assert unknown.lower == 0.0
    assert coins([PROVED] * 3, epsilon) <= unknown.upper == pytest.approx(coins([PROVED] * 3, epsilon), abs=1e-6)
    half = composed_together([(bounded(None), 2), (bounded(), 1)], None).delta(epsilon)
    assert half.lower == pytest.approx(coins([SHOWN], epsilon), abs=1e-6)
    plain = composed_together([(Curve.pure(0.5), 2)], None)
    assert not isinstance(plain, BoundedCurve)
    assert plain.delta(epsilon).lower <= coins([0.5, 0.5], epsilon) <= plain.delta(epsilon).upper


def test_what_a_proof_says_without_a_pair() -> None:
    pure, normal = over_all_inputs("all", 0.5, None, None, []), over_all_inputs("all", math.inf, 1.0, None, [None])
    assert pure.delta(0.0).upper == pytest.approx(math.tanh(0.25), rel=1e-12)
    assert normal.delta(0.0).upper == pytest.approx(math.erf(0.5 / math.sqrt(2)), rel=1e-12)
    assert pure.delta(0.0).lower == normal.delta(0.0).lower == 0.0
    assert "coins of loss 0.5" in pure.about
    assert "mu = 1" in normal.about
    with pytest.raises(NotCovered, match="nothing bounds the loss"):
        over_all_inputs("all", math.inf, None, None, [])


def test_the_modules_of_dp_accounting(monkeypatch: pytest.MonkeyPatch) -> None:
    names = "dp_accounting", "dp_accounting.pld", "dp_accounting.pld.pld_pmf", "dp_accounting.pld.privacy_loss_distribution"
    made = {name: ModuleType(name) for name in names}
    for name, module in made.items():
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(made[names[1]], "pld_pmf", made[names[2]], raising=False)
    monkeypatch.setattr(made[names[1]], "privacy_loss_distribution", made[names[3]], raising=False)
    assert _library() == (made[names[3]], made[names[2]])
    monkeypatch.setitem(sys.modules, names[1], None)
    with pytest.raises(MissingExtra, match="pip install dp-accounting"):
        _library()
