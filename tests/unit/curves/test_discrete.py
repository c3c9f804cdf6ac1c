"""Finite pairs, composed: exact fractions are the oracle (rung: exact rationals)."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import dpest.curves.sums as sums
from dpest.curves.curve import Curve
from tests.oracles.compositions import delta_of, outcomes, randomised_response
from tests.oracles.random_pairs import Law, random_pair
from tests.unit.curves.pairs import width

FRACTIONS = (0.0, 0.1, 0.37, 0.6, 0.8, 0.9, 0.99, 1.0, 1.1)


def discrete(p: Law, q: Law) -> Curve:
    return Curve.discrete([float(x) for x in p], [float(x) for x in q])


def times(rng: np.random.Generator, outcomes: int) -> int:
    return int(rng.choice([1, 2, 3, 5, 8, 16, 32, 64] if outcomes <= 3 else [1, 2, 3, 5, 8, 12]))


def check(seed: int, count: int) -> list[float]:
    """No truth outside a bracket; the widths at deltas from 1e-14 on."""
    rng = np.random.default_rng(seed)
    widths = []
    for _ in range(count):
        p, q = random_pair(rng)
        k = times(rng, len(p))
        found, curve = outcomes(p, q, k), discrete(p, q).compose(k)
        finite = [math.log(a / b) for a, b in zip(p, q, strict=True) if a and b]
        for share in FRACTIONS:
            epsilon = share * k * max(map(abs, finite), default=1.0)
            truth, bracket = delta_of(found, epsilon), curve.delta(epsilon)
            assert bracket.lower <= truth <= bracket.upper, (p, q, k, epsilon)
            if truth > 1e-14:
                widths.append(width(bracket))
    return widths


def test_no_truth_lies_outside_a_bracket() -> None:
    assert max(check(0, 40)) < 1e-4


@pytest.mark.slow
def test_no_truth_lies_outside_a_bracket_for_a_thousand_pairs() -> None:
    assert np.quantile(check(1, 1000), 0.99) < 1e-4


def test_transforms_keep_the_truth_inside_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing multiplied out, few points: isolated losses on a coarse grid are the hardest case."""
    monkeypatch.setattr(sums, "_EXACT", 1)
    monkeypatch.setattr(sums, "_MOST", 1 << 13)
    check(2, 25)


@pytest.mark.parametrize(
    ("k", "epsilons"),
    [
        (1, [0.0, 0.5, 1.09]),
        (7, [0.0, 2.0, 7.6]),
        (64, [0.0, 35.0, 60.0]),
        (10_000, [5400.0, 5800.0, 6193.0]),
        (1_000_000, [548306.0, 552306.0, 555906.0]),
    ],
)
def test_randomised_response_is_a_binomial_sum(k: int, epsilons: list[float]) -> None:
    curve = Curve.discrete([0.75, 0.25], [0.25, 0.75]).compose(k)
    for epsilon in epsilons:
        truth, found = randomised_response(Fraction(3, 4), k, epsilon), curve.delta(epsilon)
        assert found.lower <= truth <= found.upper
        assert width(found) < 1e-6


def test_an_outcome_that_only_one_input_has_is_infinite_mass() -> None:
    curve = Curve.discrete([0.9, 0.1], [1.0, 0.0])
    assert curve.epsilon == math.inf
    assert curve.epsilon_at(0.05) == math.inf
    many = curve.compose(50)
    truth = 1 - Fraction(9, 10) ** 50
    for epsilon in (0.0, 3.0, 1e9):
        found = many.delta(epsilon)
        assert found.lower <= truth <= found.upper
        assert width(found) < 1e-11


def test_different_mechanisms_compose() -> None:
    """Two pairs, 3 and 5 times: enumerated as one pair with the product of their outcomes."""
    a = ([Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 4), Fraction(3, 4)])
    b = ([Fraction(1, 2), Fraction(3, 10), Fraction(1, 5)], [Fraction(2, 5), Fraction(2, 5), Fraction(1, 5)])
    from dpest.curves.curve import composed

    curve = composed([(discrete(*a), 3), (discrete(*b), 5)])
    both = [(x * u, y * v) for x, y in outcomes(*a, 3) for u, v in outcomes(*b, 5)]
    for epsilon in (0.0, 0.7, 2.0, 3.5):
        truth, found = delta_of(both, epsilon), curve.delta(epsilon)
        assert found.lower <= truth <= found.upper
        assert width(found) < 1e-9


def test_never_above_basic_or_advanced_composition() -> None:
    loss, k = 0.1, 200
    p = math.exp(loss) / (1 + math.exp(loss))
    curve = Curve.discrete([p, 1 - p], [1 - p, p]).compose(k)
    advanced = loss * math.sqrt(2 * k * math.log(1e6)) + k * loss * math.expm1(loss)
    assert curve.epsilon_at(1e-6).upper <= min(k * loss, advanced)
    assert curve.epsilon.upper == pytest.approx(k * loss, rel=1e-10)
