"""delta(epsilon) of a list of losses: both ends, and that their room for rounding is there and is small."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from dpest.curves.cells import Losses
from dpest.curves.direct import delta_above, delta_below


def losses(mass: list[float], loss: list[float], infinite: float = 0.0) -> Losses:
    return Losses(np.log(mass), np.array(loss), infinite)


def exact(mass: list[float], loss: list[float], epsilon: float) -> mpmath.mpf:
    with mpmath.workdps(40):
        over = [(mpmath.mpf(p), mpmath.mpf(x) - mpmath.mpf(epsilon)) for p, x in zip(mass, loss, strict=True)]
        return mpmath.fsum(p * -mpmath.expm1(-x) for p, x in over if x > 0)


@pytest.mark.parametrize("epsilon", [-3.0, 0.0, 0.3, 0.699999, 1.9, 2.5])
def test_both_ends(epsilon: float) -> None:
    mass, loss = [0.1, 0.2, 0.3, 0.25, 0.05], [-1.0, 0.0, 0.3, 0.7, 2.0]
    truth, given = exact(mass, loss, epsilon), losses(mass, loss)
    low, high = delta_below(given, epsilon), delta_above(given, epsilon)
    assert low <= truth <= high
    assert high - low <= 2e-13 * max(truth, 1e-3)
    assert (low == 0.0) == (epsilon >= 2.0)


def test_losses_far_from_zero_are_known_to_their_rounding_only() -> None:
    """The difference of two numbers around 1e6 is off by what each of them is rounded by."""
    at, gap, rounded = 1e6, 1e-6, 8.5e-10
    given = losses([1.0], [at + gap])
    gap = (at + gap) - at
    low, high = delta_below(given, at), delta_above(given, at)
    assert low <= -math.expm1(-(gap - rounded))
    assert high >= -math.expm1(-(gap + rounded))
    assert high - low <= 2.3 * 9.2e-10


def test_the_room_is_as_wide_for_epsilons_and_losses_of_either_sign() -> None:
    for loss, epsilon in ((-1e6, -2e6), (1e6, -1e6), (2e6, 1e6)):
        given = losses([1.0], [loss])
        assert delta_below(given, epsilon) <= 1.0 == delta_above(given, epsilon)
    given = losses([1.0], [-1e6 + 1e-6])
    assert delta_above(given, -1e6) - delta_below(given, -1e6) > 1.5e-9


def test_what_is_infinite_counts_at_every_epsilon() -> None:
    given = losses([0.5], [1.0], 0.25)
    for epsilon in (0.0, 1.0, 50.0):
        truth = 0.25 + float(exact([0.5], [1.0], epsilon))
        assert delta_below(given, epsilon) <= truth <= delta_above(given, epsilon)
        assert delta_above(given, epsilon) - delta_below(given, epsilon) < 1e-13


def test_probabilities_stay_between_zero_and_one() -> None:
    assert delta_above(losses([1.0], [1e3], 0.5), 0.0) == 1.0
    assert delta_below(losses([1.0], [1e3], 0.5), 0.0) == 1.0
    assert delta_below(losses([1.0], [0.0]), 0.0) == 0.0
    assert delta_above(losses([1.0], [0.0]), 0.0) == 0.0
    empty = Losses(np.empty(0), np.empty(0), 0.0)
    assert delta_above(empty, 0.0) == delta_below(empty, 0.0) == 0.0
