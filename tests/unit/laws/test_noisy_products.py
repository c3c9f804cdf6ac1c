"""The law of a product of two noisy values: density, masses and tails (oracle: quadrature over one of them)."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import integrate

from dpest.laws.continuous import Gaussian, Laplace, Logistic
from dpest.laws.products import NoisyFactor, noisy_product

PAIRS = [
    (NoisyFactor(Laplace(1.0), 1 / 3, 1.6 / 3), NoisyFactor(Laplace(1.0), 1 / 3, 0.5)),
    (NoisyFactor(Laplace(2.0), 1.0, -3.0), NoisyFactor(Laplace(1.0), -1.0, 4.0)),
    (NoisyFactor(Laplace(1.0), 1.0, 0.0), NoisyFactor(Laplace(0.01), 1.0, 1e-6)),
    (NoisyFactor(Gaussian(1.0), 1.0, 3.0), NoisyFactor(Laplace(1.0), 1.0, 0.0)),
    (NoisyFactor(Logistic(0.5), 2.0, 1.0), NoisyFactor(Gaussian(3.0), 1.0, -2.0)),
]


def log_density(one: NoisyFactor, other: NoisyFactor, z: float) -> float:
    """ln of the integral over the logarithm of the first factor's size."""
    total = 0.0
    for sign in (1, -1):

        def f(s: float, sign: int = sign) -> float:
            u = sign * math.exp(s)
            return math.exp(float(one.log_density(np.array(u))) + float(other.log_density(np.array(z / u))))

        beyond = abs(z / other.offset) if other.offset else 0.0
        sizes = [one.scale, abs(one.offset), abs(z) / other.scale, beyond, math.sqrt(abs(z))]
        turns = sorted({math.log(x) for x in sizes if x > 0})
        points = [turns[0] - 12.0, *turns, turns[-1] + 12.0]
        total += sum(integrate.quad(f, a, b, epsabs=0, epsrel=1e-11, limit=300)[0] for a, b in itertools.pairwise(points))
    return math.log(total)


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_the_density_at_places_of_every_size(one: NoisyFactor, other: NoisyFactor) -> None:
    law = noisy_product(one, other)
    unit = one.scale * other.scale
    for z in (1e-18, -1e-9, 1e-4, -0.02, 0.3, -0.7, 5.0, -12.0, 60.0, 400.0, -900.0):
        assert float(law.log_density(np.array(z * unit))) == pytest.approx(log_density(one, other, z * unit), rel=1e-11, abs=1e-9)


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_masses_are_those_of_samples_and_add_to_one(one: NoisyFactor, other: NoisyFactor) -> None:
    law = noisy_product(one, other)
    assert float(law.log_interval(-np.inf, np.inf)) == pytest.approx(0.0, abs=1e-12)
    values = np.asarray(law.sample(np.random.default_rng(3), 200_000), float)
    for z in (-2.0, 0.0, 0.5, 3.0):
        at = z * one.scale * other.scale
        assert float(np.mean(values > at)) == pytest.approx(math.exp(float(law.log_sf(np.array(at)))), abs=0.006)


@pytest.mark.parametrize(("one", "other"), PAIRS[:3])
@pytest.mark.parametrize("side", [-1, 1])
def test_the_tail_of_laplace_noise_holds_within_its_error(one: NoisyFactor, other: NoisyFactor, side: int) -> None:
    law = noisy_product(one, other)
    tail = law.heavy(side)
    assert tail is not None
    for times in (1.0, 1.5, 3.0, 10.0, 40.0):
        z = tail.start * times
        gap = log_density(one, other, side * z) - tail.constant - tail.shape.log(z)
        assert -2 * min(tail.error(z), 20.0) - 1e-9 <= gap <= 1e-9 or tail.error(z) > 0.5


def test_other_noise_declares_no_tail() -> None:
    assert noisy_product(*PAIRS[3]).heavy(1) is None
