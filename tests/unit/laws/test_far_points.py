"""How far out laws are listed, and what they say there (oracle: closed forms and translations)."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpest.errors import BudgetExceeded
from dpest.laws.continuous import Exponential, Gumbel, Laplace, Logistic
from dpest.laws.discrete import Geometric
from dpest.laws.law import Discrete
from dpest.laws.panels import tabulate
from dpest.laws.stepped import Stepped
from dpest.laws.wrapped import Wrapped
from dpest.numerics.rationals import exact


@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e3])
def test_a_gumbel_density_falls_on_however_far_below_its_mode(scale: float) -> None:
    """-z - e^-z grows up to z = 0; beyond the range of doubles it is not known, but larger nearer to the mode."""
    z = np.concatenate([np.linspace(-9000.0, -1000.0, 40), np.linspace(-750.0, -600.0, 40), np.linspace(-40.0, 0.0, 40)])
    law = Gumbel(scale)
    assert np.all(np.diff(law.log_density(scale * z)) > 0)
    assert np.all(np.diff(law.log_cdf(scale * z)) > 0)


@pytest.mark.parametrize("factor", [1, -1, 3, -3])
@pytest.mark.parametrize("log_mass", [-3.0, -20.0, -45.0])
def test_the_largest_point_of_a_law_leaves_no_more_than_asked_for(factor: int, log_mass: float) -> None:
    """floor(factor * X) for X of rate 1 exceeds k in size with probability e^(-k / 3) or so; one point less leaves more."""
    law = Stepped(Exponential(1.0), exact(factor), exact(0))
    size = law.largest(log_mass)
    beyond = size + 1 if factor > 0 else size  # floor(t) > size from size + 1 on, floor(-t) < -size beyond t = size
    assert -beyond / abs(factor) <= log_mass + 1e-12
    assert -(beyond - 2) / abs(factor) > log_mass


@pytest.mark.parametrize("offset", [0, 10**9, -(10**9)])
def test_steps_are_listed_wherever_they_lie(offset: int) -> None:
    law = Stepped(Laplace(2.0), exact(1), exact(offset))
    points, logs = law.window(-20.0)
    near, same = Stepped(Laplace(2.0), exact(1), exact(0)).window(-20.0)
    assert (points - offset).tolist() == near.tolist()
    assert logs == pytest.approx(same, abs=1e-6)


def test_too_many_points_and_turns_are_refused() -> None:
    """Noise of scale b has 40 b points within e^-20 on either side, and goes 720 b times around on either side within e^-720."""
    with pytest.raises(BudgetExceeded, match="more than 1000000 points"):
        Stepped(Laplace(40_000.0), exact(1), exact(0)).window(-20.0)
    for law in (Laplace(12.0), Logistic(12.0), Exponential(24.0)):
        with pytest.raises(BudgetExceeded, match="more than 16000 times"):
            Wrapped(law, exact(1)).log_density(0.5)
    assert Wrapped(Laplace(10.0), exact(1)).log_density(0.5) == pytest.approx(
        -math.log(2 * 10.0) + math.log(math.cosh(0.0) / math.sinh(0.05)), abs=1e-12
    )


def test_the_largest_point_of_noise_of_both_signs() -> None:
    law: Discrete = Geometric(2.0)
    a = math.exp(-0.5)
    size = law.largest(-10.0)
    assert 2 * a ** (size + 1) / (1 + a) <= math.exp(-10.0)


@pytest.mark.parametrize("off", [0.0, 1e-9, 1e-5, 1e-2])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_table_states_the_error_of_what_it_is_made_of(off: float, sign: int) -> None:
    """A density that is off by as much as it says, on one side of zero: no mass is off by more than the table says."""

    def log_f(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return -np.abs(x) - math.log(2) + np.where(x > 0, sign * math.log1p(off), 0.0), np.full(np.shape(x), off)

    table = tabulate(log_f, np.linspace(-40.0, 40.0, 81), (0.0,), 1.0, "a table")
    truth = Laplace(1.0)
    low, high = np.array([-2.0, 0.5, 1.0, 7.0, 0.0]), np.array([-1.0, 0.75, 30.0, 7.5, 1e-3])
    found = table.log_interval(low, high)
    stated = table.error + table.noise(low, found) + table.noise(high, found)  # a narrow gap is a difference of larger masses
    assert np.all(np.abs(np.expm1(found - truth.log_interval(low, high))) <= stated)
    assert off <= table.error <= 3 * off + 1e-10
