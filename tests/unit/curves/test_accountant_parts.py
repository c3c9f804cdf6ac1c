"""Privacy loss distributions to and from dp_accounting, value by value."""

from __future__ import annotations

import functools
import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from dpest.curves import accounting
from dpest.curves.accounting import _cells, _pmf
from dpest.curves.cells import ROUND
from dpest.curves.curve import Curve, composed
from dpest.curves.tree import Mixture
from dpest.errors import InvalidInput, NotCovered
from tests.oracles.compositions import outcomes
from tests.unit.curves.finite import COIN, leaf


def given(probabilities: list[float], lower: int, step: float, infinite: float) -> SimpleNamespace:
    return SimpleNamespace(_probs=probabilities, _lower_loss=lower, _discretization=step, _infinity_mass=infinite)


def test_losses_that_are_given_on_a_grid() -> None:
    found = _cells(given([0.25, 0.0, 0.5], -4, 0.5, 0.25))
    np.testing.assert_allclose(np.exp(found.log_p), [0.25, 0.5, 0.25])
    np.testing.assert_allclose(found.losses, [-2.0, -1.0, math.inf])
    assert found.low.tolist() == found.high.tolist() == [-2.0, -1.0, math.inf]
    assert found.log_q[2] == -math.inf
    np.testing.assert_allclose(found.slack, ROUND * (4 + np.abs(found.log_p) + [2, 1, 0]), rtol=1e-12)
    none = _cells(given([0.5, 0.5], 0, 0.5, 0.0))
    assert none.size == 2
    assert none.lower.infinite == none.upper.infinite == 0.0


class Made:
    """What is handed over."""

    DensePLDPmf = staticmethod(lambda *args: args)


def test_losses_are_handed_over_on_a_grid() -> None:
    interval, first, probabilities, infinite, pessimistic = _pmf(Made, leaf([0.5, 0.3, 0.2], [0.25, 0.75, 0.0]), 0.25)
    assert (interval, pessimistic) == (0.25, True)
    assert infinite == pytest.approx(0.2)
    assert infinite >= 0.2
    loss = interval * (first + np.arange(len(probabilities)))
    assert loss[0] <= math.log(0.4) < loss[1]
    assert loss[-2] <= math.log(2) < loss[-1]
    assert float(probabilities.sum()) == pytest.approx(0.8)
    assert float(probabilities @ np.exp(-loss)) == pytest.approx(1.0)
    with pytest.raises(NotCovered, match="cannot be put on one grid"):
        _pmf(Made, Mixture((COIN, COIN)), 0.1)
    with pytest.raises(InvalidInput, match="too many points: give a larger interval"):
        _pmf(Made, COIN, 1e-8)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_compositions_there(k: int) -> None:
    pytest.importorskip("dp_accounting")
    curve = Curve.discrete([0.6, 0.3, 0.1], [0.3, 0.6, 0.1]).compose(k)
    there = curve.to_dp_accounting(1e-3)
    for epsilon in (0.0, 0.5, 1.5):
        theirs = there.get_delta_for_epsilon(epsilon)
        assert curve.delta(epsilon).lower * (1 - 1e-9) <= theirs <= curve.delta(epsilon).upper * (1 + 1e-3) + 1e-12
    leak = Curve.discrete([0.9, 0.1], [1.0, 0.0]).compose(k).to_dp_accounting(1e-2)
    assert leak.get_delta_for_epsilon(30.0) == pytest.approx(1 - 0.9**k, rel=1e-6)
    back = Curve.from_dp_accounting(leak)
    assert back.delta(30.0).lower <= 1 - 0.9**k <= back.delta(30.0).upper * (1 + 1e-9)
    assert back.delta(30.0) == pytest.approx(1 - 0.9**k, rel=1e-6)


def test_gaussian_noise_there() -> None:
    pytest.importorskip("dp_accounting")
    curve = Curve.gaussian(0.8)
    there = curve.to_dp_accounting(1e-2)
    for epsilon in (0.0, 0.5, 2.0):
        assert curve.delta(epsilon).lower <= there.get_delta_for_epsilon(epsilon) <= curve.delta(epsilon).upper * (1 + 1e-3)


class Pmf:
    """Probabilities on a grid, composed by plain convolution: what the library does, without its roundings."""

    def __init__(self, interval: float, first: int, probabilities: np.ndarray, infinite: float, _pessimistic: bool) -> None:
        self.interval, self.first, self.probabilities, self.infinite = interval, first, probabilities, infinite

    def compose(self, other: Pmf) -> Pmf:
        assert self.interval == other.interval
        lost = self.infinite + other.infinite - self.infinite * other.infinite
        both = np.convolve(self.probabilities, other.probabilities)
        return Pmf(self.interval, self.first + other.first, both, lost, True)

    def self_compose(self, k: int) -> Pmf:
        return functools.reduce(Pmf.compose, [self] * k)

    def delta(self, epsilon: float) -> float:
        losses = self.interval * (self.first + np.arange(len(self.probabilities)))
        return self.infinite + float(self.probabilities @ np.maximum(0.0, -np.expm1(epsilon - losses)))


def handed_over(curve: Curve, monkeypatch: pytest.MonkeyPatch) -> list[Pmf]:
    """Both directions as the library is given them: D over D' is its "remove"."""
    there = SimpleNamespace(PrivacyLossDistribution=lambda remove, add: [remove, add])
    monkeypatch.setattr(accounting, "_library", lambda: (there, SimpleNamespace(DensePLDPmf=Pmf)))
    return curve.to_dp_accounting(1e-2)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_each_direction_is_composed_with_its_own_losses(k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Outcomes with another curve in each direction (oracle: fractions), never below it and hardly above."""
    p, q = ([Fraction(x, 10) for x in side] for side in ((6, 3, 1), (1, 8, 1)))
    sides = handed_over(Curve.discrete([float(x) for x in p], [float(x) for x in q]).compose(k), monkeypatch)
    for side, (a, b) in zip(sides, ((p, q), (q, p)), strict=True):
        for epsilon in (0.0, 0.5, 1.5):
            one_way = outcomes(a, b, k)
            truth = float(sum(max(0.0, float(x) - math.exp(epsilon) * float(y)) for x, y in one_way))
            assert truth - 1e-12 <= side.delta(epsilon) <= truth * 1.05 + 1e-9


@pytest.mark.parametrize("parts", [False, True])
def test_gaussian_noise_is_handed_over_as_one_part(parts: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    curve = composed([(Curve.gaussian(0.8), 2), *([(Curve.pure(0.5), 1)] if parts else [])])
    assert len(curve.ways[0].parts) == parts
    low, high = ((curve.delta(e).lower, curve.delta(e).upper) for e in (0.0, 0.7))
    for side in handed_over(curve, monkeypatch):
        for epsilon, (lower, upper) in zip((0.0, 0.7), (low, high), strict=True):
            assert lower <= side.delta(epsilon) <= upper * 1.05
