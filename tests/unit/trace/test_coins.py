"""Rejection samplers that compare a uniform draw with a function of the noise they release; integrals of their densities."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import integrate, stats

import dpest
from dpest.results.result import Result

laplace = stats.laplace  # no part of what a mechanism sees that says `rng.laplace`


def _ask(mechanism: Callable[..., object]) -> Result:
    return dpest.estimate(mechanism, (0.0, 0.5), method="exact", progress=False)


def _holds(r: Result, truth: float) -> None:
    assert r.lower <= truth + 1e-9
    assert truth <= r.upper + 1e-9
    assert r.upper - r.lower < 1e-6


def _total(weight: Callable[[float, float], float], x: float, high: float) -> float:
    kinks = [x] if 0 < x < high else None
    return float(integrate.quad(lambda y: weight(y, x), 0, high, points=kinks, epsabs=1e-13)[0])


def _loss(weight: Callable[[float, float], float], high: float) -> float:
    """The largest log ratio of two densities on [0, high], which is at an end or at a centre."""
    totals = [_total(weight, x, high) for x in (0.0, 0.5)]
    places = (0.0, 0.5, high)
    return max(abs(math.log(weight(y, 0.0) / totals[0] * totals[1] / weight(y, 0.5))) for y in places)


def _by_distance(x, rng: np.random.Generator):
    while True:
        y = rng.uniform(0, 1)
        if rng.random() < math.exp(-abs(y - x)):
            return y


def _in_proportion(x, rng: np.random.Generator):
    while True:
        y = rng.uniform(0, 2)
        if rng.random() * 3 < 2 * math.exp(-abs(y - x)):
            return y


def _bell(x, rng: np.random.Generator):
    while True:
        y = rng.uniform(0, 2)
        if np.exp(-((y - x) ** 2) / 2) > rng.uniform():
            return y


def _capped(x, rng: np.random.Generator):
    while True:
        y = rng.uniform(0, 1)
        if rng.random() < min(1.0, math.exp(-2 * (y - x))):
            return y


@pytest.mark.parametrize(
    ("mechanism", "weight", "high"),
    [
        (_by_distance, lambda y, x: math.exp(-abs(y - x)), 1.0),
        (_in_proportion, lambda y, x: math.exp(-abs(y - x)), 2.0),
        (_bell, lambda y, x: math.exp(-((y - x) ** 2) / 2), 2.0),
        (_capped, lambda y, x: min(1.0, math.exp(-2 * (y - x))), 1.0),
    ],
)
def test_the_accepted_value_has_the_density_that_it_is_accepted_by(
    mechanism: Callable[..., object], weight: Callable[[float, float], float], high: float
) -> None:
    _holds(_ask(mechanism), _loss(weight, high))


def test_a_logistic_chance_of_noise() -> None:
    def answer(x, rng: np.random.Generator):
        return rng.random() < 1 / (1 + np.exp(-(x + rng.laplace())))

    def chance(x: float) -> float:
        value = integrate.quad(lambda t: stats.laplace.pdf(t) / (1 + math.exp(-x - t)), -40, 40, points=[0], epsabs=1e-13)[0]
        return float(value)

    p, q = chance(0.0), chance(0.5)
    _holds(_ask(answer), max(abs(math.log(p / q)), abs(math.log((1 - p) / (1 - q)))))


def test_a_logistic_chance_accepts_noise_that_is_released() -> None:
    def mechanism(x, rng: np.random.Generator):
        while True:
            t = rng.laplace()
            if rng.random() < 1 / (1 + math.exp(-t)):
                return x + t

    # The density is e^-|t| / (1 + e^-t): far out it falls by e^-t upwards and by e^-2t downwards, and the slope is never steeper.
    _holds(_ask(mechanism), 1.0)


def test_huber_noise_in_one_expression() -> None:
    def mechanism(x, rng: np.random.Generator):
        while True:
            z = rng.laplace()
            accept = math.exp(-0.5) if abs(z) > 1 else np.exp(-0.5 * z * z + abs(z) - 1.0)
            if rng.random() < accept:
                return x + z

    _holds(_ask(mechanism), 0.5)


def test_huber_noise() -> None:
    def mechanism(x, rng: np.random.Generator):
        while True:
            t = rng.laplace(0, 1)
            h = 0.5 * t * t if abs(t) <= 1 else abs(t) - 0.5
            if rng.random() <= math.exp(abs(t) - h - 0.5):
                return x + t

    _holds(_ask(mechanism), 0.5)  # the density is e^-h, with slopes between -1 and 1 that are reached far out


def test_gaussian_noise_from_exponential_noise() -> None:
    def mechanism(x, rng: np.random.Generator):
        while True:
            e = rng.exponential()
            if rng.random() < math.exp(-((e - 1) ** 2) / 2):
                return x + rng.choice([-1, 1]) * e > 1

    _holds(_ask(mechanism), math.log(stats.norm.sf(0.5) / stats.norm.sf(1.0)))


def test_the_uniform_draw_may_be_what_is_released() -> None:
    def mechanism(x, rng: np.random.Generator):
        y = rng.uniform(0, 1)
        return y if y < math.exp(-abs(x + rng.laplace())) else None

    def density(y: float, x: float) -> float:
        """The probability that x + noise lies within -ln(y) of zero."""
        far = -math.log(y)
        return float(stats.laplace.cdf(far - x) - stats.laplace.cdf(-far - x))

    r = dpest.estimate(mechanism, (0.0, 1.0), method="exact", progress=False)
    reached = max(abs(math.log(density(y, 0.0) / density(y, 1.0))) for y in np.linspace(0.01, 0.99999, 1000))
    assert reached <= r.upper + 1e-12
    assert r.lower <= 1.0 + 1e-12  # the loss of the noisy value
    assert reached - 1e-4 <= r.lower
