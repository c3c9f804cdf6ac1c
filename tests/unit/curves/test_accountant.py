"""Against dp_accounting on a fine grid, rounded up and down (rung: a named accountant).

Its optimistic curve may lie above the truth and its pessimistic one below by rounding errors that it does not bound:
that is granted as 1e-6 relative, far more than was seen at deltas of 1e-6 and above. At smaller ones its curves are no
oracle.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import dpest
from dpest.curves.curve import Curve
from dpest.errors import InvalidInput, NotCovered
from tests.unit.curves.pairs import laplace_curve, subsampled_gaussian_curve, width

distributions = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")


def between(curve: Curve, make: Callable[[bool], Any], k: int, epsilons: list[float]) -> None:
    low, high = (make(rounded_up).self_compose(k) for rounded_up in (False, True))
    composed = curve.compose(k)
    for epsilon in epsilons:
        found = composed.delta(epsilon)
        assert low.get_delta_for_epsilon(epsilon) <= found.upper * (1 + 1e-6)
        assert found.lower <= high.get_delta_for_epsilon(epsilon) * (1 + 1e-6)
        assert width(found) < 1e-4


def gaussian(q: float, sigma: float, interval: float) -> Callable[[bool], Any]:
    return lambda up: distributions.from_gaussian_mechanism(
        sigma, sampling_prob=q, pessimistic_estimate=up, use_connect_dots=up, value_discretization_interval=interval
    )


def test_a_hundred_laplace_draws() -> None:
    def make(up: bool) -> Any:
        interval = {"value_discretization_interval": 1e-5}
        return distributions.from_laplace_mechanism(20.0, pessimistic_estimate=up, use_connect_dots=up, **interval)

    between(laplace_curve(20.0), make, 100, [0.5, 1.0, 2.0, 3.0])


def test_subsampled_gaussians() -> None:
    between(subsampled_gaussian_curve(0.1, 2.0), gaussian(0.1, 2.0, 1e-4), 100, [0.5, 2.0, 4.0])


@pytest.mark.slow
def test_a_thousand_subsampled_gaussians() -> None:
    between(subsampled_gaussian_curve(0.01, 1.0), gaussian(0.01, 1.0, 2e-5), 1000, [0.5, 1.0, 2.0])


def test_there_and_back() -> None:
    curve = laplace_curve(2.0).compose(10)
    there = curve.to_dp_accounting(1e-4)
    for epsilon in (0.0, 1.0, 3.0):
        theirs = there.get_delta_for_epsilon(epsilon)
        assert curve.delta(epsilon).lower <= theirs <= curve.delta(epsilon).upper * (1 + 1e-4)
        back = Curve.from_dp_accounting(there).delta(epsilon)
        assert back.lower <= theirs * (1 + 1e-9)
        assert theirs * (1 - 1e-9) <= back.upper


def test_aliases_that_users_of_accountants_look_for() -> None:
    curve = Curve.gaussian(1.0)
    assert curve.get_delta_for_epsilon(1.0) == curve.delta(1.0)
    assert curve.get_epsilon_for_delta(1e-5) == curve.epsilon_at(1e-5)


def test_what_does_not_fit_is_refused() -> None:
    two = dpest.estimate(lambda x: x + dpest.laplace(1), [(0, 1), (0, 2)]).curve()
    with pytest.raises(NotCovered, match="about one pair"):
        two.to_dp_accounting()
    with pytest.raises(InvalidInput, match="interval"):
        Curve.gaussian(1.0).to_dp_accounting(0.0)
    with pytest.raises(InvalidInput, match="PrivacyLossDistribution"):
        Curve.from_dp_accounting(3)
