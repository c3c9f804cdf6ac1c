"""Uniform whole numbers in closed form, against the same law written out point by point."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from dpest.errors import BudgetExceeded, InvalidLaw
from dpest.laws.discrete import atoms, integers_law
from dpest.laws.law import Discrete

CLOSED, LISTED = integers_law(-3, 6), atoms({float(k): 0.1 for k in range(-3, 7)})


def below(law: Discrete, x: float) -> Any:
    """P(X <= x)."""
    return np.exp(law.log_between(-np.inf, law.last(x, False)))


@pytest.mark.parametrize("x", [-4, -3, 0, 0.5, 6, 7])
def test_probabilities_are_those_of_the_list(x: float) -> None:
    assert below(CLOSED, x) == pytest.approx(below(LISTED, x), abs=1e-15)
    assert np.exp(CLOSED.log_density(x)) == pytest.approx(np.exp(LISTED.log_density(x)))


@pytest.mark.parametrize(("strict_low", "strict_high"), list(itertools.product([False, True], repeat=2)))
def test_intervals_are_those_of_the_list(strict_low: bool, strict_high: bool) -> None:
    for low, high in itertools.product((-5, -3, -2.5, 0, 6, 6.5), (-4, -3, 0, 2.5, 6, 9)):
        closed, listed = (law.log_between(law.first(low, strict_low), law.last(high, strict_high)) for law in (CLOSED, LISTED))
        assert np.exp(closed) == pytest.approx(np.exp(listed), abs=1e-14)


def test_samples_cover_both_ends() -> None:
    drawn = CLOSED.sample(np.random.default_rng(0), 1000)
    assert (drawn.min(), drawn.max()) == (-3.0, 6.0)


def test_many_points_have_probabilities_but_are_not_listed() -> None:
    law = integers_law(1, 10**12)
    assert below(law, 10**11) == pytest.approx(0.1, rel=1e-14)
    with pytest.raises(BudgetExceeded, match="too many to go through"):
        law.window(-45.0)


@pytest.mark.parametrize(("low", "high"), [(2, 1), (0.5, 2), (True, 3), (0, 2**60)])
def test_bad_ends_are_refused(low: object, high: object) -> None:
    with pytest.raises(InvalidLaw, match=r"integers\(low, high\) needs"):
        integers_law(low, high)
