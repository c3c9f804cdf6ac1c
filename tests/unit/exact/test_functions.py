"""Functions of one random value, end to end: closed forms on one side, the engine's bracket on the other."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from math import exp as exponential_function
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy import integrate
from scipy.special import expit, logit, ndtri
from scipy.stats import norm

import dpest
from dpest.errors import ExactRefused, MechanismRaised

L = dpest.laplace
INF = math.inf


@dataclass(frozen=True)
class Case:
    """A mechanism of one number, two inputs, and the loss by the book."""

    mechanism: Callable[[Any], Any]
    truth: float
    pair: tuple[Any, Any] = (0.0, 1.0)


def uniform() -> Any:
    return dpest.uniform(0.0, 1.0)


def centred() -> Any:
    return dpest.uniform(-0.5, 0.5)


def at_quantile(u: Any, b: float) -> Any:
    return -b * np.sign(u) * np.log(1 - 2 * np.abs(u))


def caught(z: Any) -> Any:
    try:
        return math.log(z)
    except ValueError:
        return None


def laplace_tail(t: float) -> float:
    return 0.5 * math.exp(-t) if t > 0 else 1 - 0.5 * math.exp(t)


def above(t: float) -> float:
    """The loss of the answer to `x + Laplace(1) > t`, for x = 0 and 1."""
    p, q = laplace_tail(t), laplace_tail(t - 1)
    return max(abs(math.log(p / q)), abs(math.log((1 - p) / (1 - q))))


def outside(s: float) -> float:
    """The loss of the answer to `|x + Laplace(1)| > s`, for x = 0 and 1."""
    p, q = (laplace_tail(s - x) + laplace_tail(s + x) for x in (0.0, 1.0))
    return max(abs(math.log(p / q)), abs(math.log((1 - p) / (1 - q))))


# A released value under an injective function: the loss of the value itself.
RELEASED: dict[str, Case] = {
    "np.exp": Case(lambda x: np.exp(x + L(1.0)), 1.0),
    "math.exp": Case(lambda x: math.exp(x + L(1.0)), 1.0),
    "from math import exp": Case(lambda x: exponential_function(x + L(1.0)), 1.0),
    "2 ** z": Case(lambda x: 2 ** (x + L(1.0)), 1.0),
    "10.0 ** z": Case(lambda x: 10.0 ** (x + L(2.0)), 0.5),
    "np.exp2": Case(lambda x: np.exp2(x + L(1.0)), 1.0),
    "np.tanh": Case(lambda x: np.tanh(x + L(1.0)), 1.0),
    "expit": Case(lambda x: expit(x + L(1.0)), 1.0),
    "1 / (1 + exp(-z))": Case(lambda x: 1 / (1 + np.exp(-(x + L(1.0)))), 1.0),
    "np.arctan": Case(lambda x: np.arctan(x + L(1.0)), 1.0),
    "math.atan": Case(lambda x: math.atan(x + L(1.0)), 1.0),
    "np.expm1": Case(lambda x: np.expm1(x + L(1.0)), 1.0),
    "z ** 3": Case(lambda x: (x + L(1.0)) ** 3, 1.0),
    "np.cbrt": Case(lambda x: np.cbrt(x + L(1.0)), 1.0),
    "1 / z": Case(lambda x: 1 / (x + L(1.0)), 1.0),
    "np.reciprocal": Case(lambda x: np.reciprocal(x + L(1.0)), 1.0),
    "z ** -3": Case(lambda x: (x + L(1.0)) ** -3, 1.0),
    "scaled and moved": Case(lambda x: 3 - 2 * np.exp(x / 4 + L(1.0)), 0.25),
    "multiplicative noise": Case(lambda x: x * np.exp(L(1.0)), math.log(3), (1.0, 3.0)),
    "an array": Case(lambda x: np.exp(np.array([x, 0.0]) + L(1.0, size=2)), 1.0),
    "exp of geometric noise": Case(lambda x: np.exp(x + dpest.geometric(2.0)), 0.5, (0, 1)),
    "exp of clipped noise": Case(lambda x: np.exp(np.clip(x + L(1.0), 0.0, 1.0)), 1.0),
    "exp of the size": Case(lambda x: np.exp(abs(x + L(1.0))), 1.0),
    "z ** 2": Case(lambda x: (x + L(1.0)) ** 2, 1.0),
    "z * z": Case(lambda x: (lambda z: z * z)(x + L(1.0)), 1.0),
    "np.square": Case(lambda x: np.square(x + L(1.0)), 1.0),
    "the value and its exp": Case(lambda x: (lambda z: (np.exp(z), z))(x + L(1.0)), 1.0),
    "exp of a Gaussian": Case(lambda x: np.exp(x + dpest.gaussian(1.0)), INF),
    "log, NaN below zero": Case(lambda x: np.log(x + L(1.0)), 1.0),
    "log, scaled": Case(lambda x: 2 * np.log(x + L(1.0)) + 1, 1.0),
    "log, caught": Case(lambda x: caught(x + L(1.0)), 1.0),
    "sqrt, NaN below zero": Case(lambda x: np.sqrt(x + L(1.0)), 1.0),
    "a constant beside it": Case(lambda x: 0.0 if dpest.bernoulli(0.5) == 1 else np.exp(x + L(1.0)), 1.0),
}
# Comparisons move to the other side.
COMPARED: dict[str, Case] = {
    "exp(z) > 2": Case(lambda x: np.exp(x + L(1.0)) > 2, above(math.log(2))),
    "math.exp(z) < 2": Case(lambda x: math.exp(x + L(1.0)) < 2, above(math.log(2))),
    "10 ** z > 5": Case(lambda x: 10 ** (x + L(1.0)) > 5, above(math.log10(5))),
    "exp(z) > -1": Case(lambda x: np.exp(x + L(1.0)) > -1, 0.0),
    "exp(z) <= 0": Case(lambda x: np.exp(x + L(1.0)) <= 0, 0.0),
    "z ** 2 > 2": Case(lambda x: (x + L(1.0)) ** 2 > 2, outside(math.sqrt(2))),
    "tanh(z) >= 0.5": Case(lambda x: np.tanh(x + L(1.0)) >= 0.5, above(math.atanh(0.5))),
    "NaN is not above": Case(lambda x: 1 if np.log(x + L(1.0)) > 0.5 else 0, above(math.exp(0.5))),
    "NaN is not below": Case(lambda x: 1 if np.log(x + L(1.0)) <= 0.5 else 0, -1.0),
    "the sign": Case(lambda x: np.sign(x + L(1.0)), 1.0),
    "the sign of whole noise": Case(lambda x: np.sign(x + dpest.geometric(1.0)), 1.0, (0, 1)),
    "a log-normal": Case(
        lambda x: np.exp(x + dpest.gaussian(1.0)) > 3, float(norm.logsf(math.log(3) - 1) - norm.logsf(math.log(3)))
    ),
}
COMPARED["NaN is not below"] = Case(
    COMPARED["NaN is not below"].mechanism,
    max(
        abs(math.log(p / q))
        for p, q in [
            (a, b)
            for inside in [[laplace_tail(-x) - laplace_tail(math.exp(0.5) - x) for x in (0.0, 1.0)]]
            for a, b in [(inside[0], inside[1]), (1 - inside[0], 1 - inside[1])]
        ]
    ),
)
# Noise made by hand.
MADE: dict[str, Case] = {
    "exponential": Case(lambda x: x - 2 * np.log(uniform()), INF),
    "exponential, one side": Case(lambda x: x - 2 * np.log(uniform()) > 3, 0.5),
    "Gumbel": Case(lambda x: x - np.log(-np.log(uniform())), INF),
    "Laplace": Case(lambda x: x + at_quantile(centred(), 2.0), 0.5),
    "Laplace by log1p": Case(lambda x: (lambda u: x - 2 * np.sign(u) * np.log1p(-2 * abs(u)))(centred()), 0.5),
    "Laplace by math": Case(lambda x: (lambda u: x - (1 if u > 0 else -1) * math.log(1 - 2 * abs(u)))(centred()), 1.0),
    "twenty of them": Case(lambda x: [x + at_quantile(centred(), 2.0) for _ in range(20)], 10.0),
    "logistic": Case(lambda x: (lambda u: x + 2 * np.log(u / (1 - u)))(uniform()), 0.5),
    "logistic, the other way": Case(lambda x: x - 2 * np.log(1 / uniform() - 1), 0.5),
    "logit": Case(lambda x: x + 2 * logit(uniform()), 0.5),
    "a Gaussian's side": Case(
        lambda x: x + ndtri(uniform()) > 0.3, float(norm.logcdf(0.3) - norm.logcdf(-0.7))
    ),
    "a Cauchy value": Case(lambda x: x + np.tan(np.pi * (uniform() - 0.5)), 2 * math.log((1 + math.sqrt(5)) / 2)),
    "a draw that is also compared": Case(lambda x: (lambda u: x - np.log(u) if u > 0.5 else 0.0)(uniform()), INF),
    "a logarithm and more noise, above 1": Case(
        lambda x: (lambda z: np.log(z) + L(1.0) if z > 1 else None)(x + L(1.0)), 1.0
    ),
    "a draw and its logarithm, compared": Case(
        lambda x: (lambda u: (1 if -np.log(u) > 1 + x else 0) if u > 0.1 else 2)(uniform()),
        math.log((math.exp(-1) - 0.1) / (math.exp(-1.5) - 0.1)),
        (0.0, 0.5),
    ),
    "softmax by Gumbel noise": Case(
        lambda x: int(np.argmax([q - np.log(-np.log(uniform())) for q in x])),
        math.log(math.e / (math.e + 2)) - math.log(1 / 3),
        ([0, 0, 0], [1, 0, 0]),
    ),
}


@pytest.mark.parametrize("name", [*RELEASED, *COMPARED, *MADE])
def test_the_bracket_holds_the_truth_and_is_narrow(name: str) -> None:
    case = {**RELEASED, **COMPARED, **MADE}[name]
    r = dpest.estimate(case.mechanism, case.pair, method="exact")
    if case.truth == INF:
        assert r.lower == INF
        return
    assert r.lower - 1e-14 <= case.truth <= r.upper + 1e-14
    assert r.upper - r.lower <= 1e-9 * max(1.0, case.truth)


# The same function on both sides, or around every candidate, changes nothing.
ALIKE: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any], tuple[Any, Any]]] = {
    "argmax of exp": (
        lambda x: dpest.argmax([np.exp(q + L(1.0)) for q in x]),
        lambda x: dpest.argmax([q + L(1.0) for q in x]),
        ([0, 0, 0], [1, 0, 0]),
    ),
    "the largest exp": (
        lambda x: dpest.max([np.exp(q + L(1.0)) for q in x]),
        lambda x: dpest.max([q + L(1.0) for q in x]),
        ([0, 0], [1, 0]),
    ),
    "exp against exp": (lambda x: np.exp(x + L(1.0)) > np.exp(L(1.0)), lambda x: x + L(1.0) > L(1.0), (0.0, 1.0)),
    "ties of whole noise": (
        lambda x: np.exp(x + dpest.geometric(1.0)) >= np.exp(dpest.geometric(1.0)),
        lambda x: x + dpest.geometric(1.0) >= dpest.geometric(1.0),
        (0, 1),
    ),
    "exp(k) >= 1": (lambda x: np.exp(x + dpest.geometric(1.0)) >= 1.0, lambda x: x + dpest.geometric(1.0) >= 0, (0, 1)),
    "exp(k) > 1": (lambda x: np.exp(x + dpest.geometric(1.0)) > 1.0, lambda x: x + dpest.geometric(1.0) > 0, (0, 1)),
    "exp(k) == 1": (lambda x: np.exp(x + dpest.geometric(1.0)) == 1.0, lambda x: x + dpest.geometric(1.0) == 0, (0, 1)),
    "k ** 2 >= 4": (lambda x: (x + dpest.geometric(1.0)) ** 2 >= 4, lambda x: abs(x + dpest.geometric(1.0)) >= 2, (0, 1)),
}


@pytest.mark.parametrize("name", ALIKE)
def test_it_is_the_mechanism_without_the_function(name: str) -> None:
    with_it, without, pair = ALIKE[name]
    assert dpest.estimate(with_it, pair).epsilon == pytest.approx(dpest.estimate(without, pair).epsilon, rel=1e-12)


def test_the_witness_names_the_function() -> None:
    r = dpest.estimate(lambda x: np.exp(x + L(1.0)), (0.0, 1.0))
    assert r.witness is not None
    assert "exp(x)" in r.witness.event


def test_a_logarithm_that_may_raise_is_refused_with_the_reason() -> None:
    with pytest.raises(MechanismRaised, match=r"math domain error.*test it before"):
        dpest.estimate(lambda x: math.log(x + L(1.0)), (0.0, 1.0), method="exact")


def test_a_draw_in_two_forms_is_refused() -> None:
    with pytest.raises(ExactRefused, match="two forms"):
        dpest.estimate(lambda x: (lambda z: np.exp(z) + z)(x + L(1.0)), (0.0, 1.0), method="exact")


def test_a_constant_is_not_mistaken_for_the_inside_of_a_function() -> None:
    """exp(clip(z, 0, 1)) is 1 where the clipped value is 0; the constant 0 of the other path is another output."""

    def mechanism(x: float) -> Any:
        return 0.0 if dpest.bernoulli(0.5 if x == 0 else 0.25) == 1 else np.exp(np.clip(x + L(1.0), 0.0, 1.0))

    truth = 1 + math.log(1.5)  # at e, where the noisy value is 1 or more
    r = dpest.estimate(mechanism, (0.0, 1.0), method="exact")
    assert r.lower <= truth <= r.upper
    one = dpest.estimate(lambda x: mechanism(x) == 0.0, (0.0, 1.0), method="exact")
    assert one.lower - 1e-12 <= math.log(2) <= one.upper + 1e-12


def test_exp_of_noise_and_more_noise_against_mpmath() -> None:
    """The density of exp(x + Z) + W at y, by mpmath: the engine's ratio there must agree, and lie below the bound."""
    r = dpest.estimate(lambda x: np.exp(x + L(1.0)) + L(1.0), (0.0, 1.0), method="exact")

    def density(x: float, y: float) -> Any:
        def f(t: Any) -> Any:
            return mpmath.exp(-abs(mpmath.log(t) - x)) / (2 * t) * mpmath.exp(-abs(y - t)) / 2

        return mpmath.quad(f, [0, mpmath.exp(x) if x < y else y, max(y, mpmath.exp(x)), mpmath.exp(x) + y + 60, mpmath.inf])

    reached = max(abs(float(mpmath.log(density(1.0, y) / density(0.0, y)))) for y in (1.0, 3.0, 10.0, 40.0))
    assert reached <= r.upper + 1e-9
    assert r.upper == pytest.approx(1.0, rel=1e-12)  # the loss of the noisy value that it is computed from


def test_a_variance_from_two_noisy_moments_is_integrated_over_the_mean() -> None:
    # Rung: an integral. The density of a square is infinite at zero; over the mean itself the integrand is bounded.
    def variance(moments: tuple[float, float]) -> Any:
        mean, square = (m + dpest.laplace(0.5) for m in moments)
        return square - mean**2

    def density(y: float, mean: float, square: float) -> float:
        places = sorted({mean, *([-math.sqrt(square - y), math.sqrt(square - y)] if y < square else [])})
        edges = [mean - 20, *places, mean + 20]
        both = lambda w: math.exp(-2 * abs(w - mean) - 2 * abs(y + w * w - square))  # noqa: E731
        return sum(integrate.quad(both, a, b, epsabs=0, epsrel=1e-12, limit=400)[0] for a, b in itertools.pairwise(edges))

    pair = (0.65, 0.525), (0.4, 0.275)
    result = dpest.estimate(variance, pair, method="exact")
    shown = max(abs(math.log(density(y, *pair[0]) / density(y, *pair[1]))) for y in (-6.0, -2.0, 0.05, 1.0))
    assert shown - 1e-9 <= result.lower <= result.upper <= 1.0 + 1e-9
