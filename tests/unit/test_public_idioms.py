"""Mechanisms in the idiom of public libraries, analysed as they stand: nothing in them knows of dpest. Oracles: closed forms."""

from __future__ import annotations

import functools
import math
import random
import secrets
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import gauss
from typing import Any

import numpy as np
import pytest
from numpy.random import laplace as draw_laplace

import dpest

_SYSTEM = secrets.SystemRandom()
_RNG = np.random.default_rng()


# 1. a generator as an argument, with the usual default


def laplace_mechanism(value: float, epsilon: float = 1.0, rng: np.random.Generator | None = None) -> float:
    rng = np.random.default_rng(rng)
    return float(value + rng.laplace(loc=0.0, scale=1.0 / epsilon))


# 2. a class with `randomise`, whose secure generator is made once


class DPMechanism(ABC):
    def __init__(self, *, epsilon: float) -> None:
        if epsilon <= 0:
            raise ValueError("Epsilon must be positive")
        self.epsilon = float(epsilon)
        self._rng = secrets.SystemRandom()

    @abstractmethod
    def randomise(self, value: Any) -> Any: ...


class Binary(DPMechanism):
    def __init__(self, *, epsilon: float, value0: str, value1: str) -> None:
        super().__init__(epsilon=epsilon)
        self.value0, self.value1 = value0, value1

    def randomise(self, value: str) -> str:
        if value not in (self.value0, self.value1):
            raise ValueError(f"Value to be randomised is not in the domain, got {value}")
        indicator = 0 if value == self.value0 else 1
        unif_rv = self._rng.random() * (math.exp(self.epsilon) + 1)
        if unif_rv > math.exp(self.epsilon):
            indicator = 1 - indicator
        return self.value1 if indicator else self.value0


class TruncatedGeometric(DPMechanism):
    def __init__(self, *, epsilon: float, lower: int, upper: int) -> None:
        super().__init__(epsilon=epsilon)
        self.lower, self.upper = lower, upper

    def _truncate(self, value: int) -> int:
        if value > self.upper:
            return self.upper
        if value < self.lower:
            return self.lower
        return value

    def randomise(self, value: int) -> int:
        p = 1 - math.exp(-self.epsilon)
        return self._truncate(int(value) + int(_RNG.geometric(p)) - int(_RNG.geometric(p)))


# 3. a dataclass that holds its generator


@dataclass
class NoisyCounter:
    scale: float
    rng: np.random.Generator = field(default_factory=np.random.default_rng)

    def count(self, rows: Sequence[Any], predicate: Callable[[Any], bool] = bool) -> float:
        return sum(map(predicate, rows)) + self.rng.laplace(scale=self.scale)


# 4. parameters that are bound beforehand


def randomized_response(bit: int, *, p: float) -> int:
    return bit if _SYSTEM.random() < p else 1 - bit


# 5. a callable object, made from others


class Chain:
    def __init__(self, *steps: Callable[[Any], Any]) -> None:
        self.steps = steps

    def __call__(self, x: Any) -> Any:
        for step in self.steps:
            x = step(x)
        return x


def make_bounded_sum(low: float, high: float) -> Callable[[Sequence[float]], float]:
    return lambda rows: float(sum(min(max(r, low), high) for r in rows))


def make_laplace(scale: float) -> Callable[[float], float]:
    def function(x: float) -> float:
        return x + draw_laplace(scale=scale)  # noqa: NPY002

    return function


# 6. names imported from the standard library, state made in each call


class SparseVector:
    def __init__(self, threshold: float, epsilon: float) -> None:
        self.rho = threshold + _exponential_difference(2 / epsilon)
        self.epsilon = epsilon
        self.halted = False

    def ask(self, answer: float) -> str:
        if self.halted:
            raise RuntimeError("The sparse vector has halted")
        if answer + _exponential_difference(4 / self.epsilon) >= self.rho:
            self.halted = True
            return "above"
        return "below"


def _exponential_difference(scale: float) -> float:
    return random.expovariate(1 / scale) - random.expovariate(1 / scale)


def first_above(queries: Sequence[float]) -> list[str]:
    engine = SparseVector(threshold=1.0, epsilon=1.0)
    out = []
    for q in queries:
        out.append(engine.ask(q))
        if engine.halted:
            break
    return out


# 7. the older generators


def gaussian_histogram(values: Sequence[int], sigma: float, random_state: np.random.RandomState) -> np.ndarray:
    counts = np.bincount(values, minlength=3)
    return counts + random_state.normal(scale=sigma, size=counts.shape)


def gaussian_threshold(x: float) -> bool:
    return x + gauss(0, 1) > 0


# 8. a registry of mechanisms, a decorator, a static method

MECHANISMS: dict[str, Callable[..., Any]] = {}


def register(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def checked(scores: Sequence[float], *args: Any, **kwargs: Any) -> Any:
        if not scores:
            raise ValueError("no candidates")
        return function(scores, *args, **kwargs)

    MECHANISMS[function.__name__] = checked
    return checked


@register
def exponential(scores: Sequence[float], epsilon: float = 1.0) -> int:
    weights = np.exp(np.asarray(scores) * epsilon / 2)
    return int(_RNG.choice(len(scores), p=weights / weights.sum()))


class Utilities:
    @staticmethod
    def noisy_max(scores: Sequence[float], rng: np.random.Generator) -> int:
        return int(np.argmax([s + rng.gumbel(scale=2.0) for s in scores]))


def softmax_loss(a: Sequence[float], b: Sequence[float]) -> float:
    p, q = ([math.exp(s / 2) / sum(math.exp(t / 2) for t in x) for s in x] for x in (a, b))
    return max(abs(math.log(x / y)) for x, y in zip(p, q, strict=True))


def above(x: float) -> float:
    """P(x + N(0, 1) > 0)."""
    return 0.5 * math.erfc(-x / math.sqrt(2))


def delta_of_gaussian(mu: float, eps: float) -> float:
    return above(mu / 2 - eps / mu) - math.exp(eps) * above(-mu / 2 - eps / mu)


SCORES = ([3.0, 2.0, 0.0], [2.0, 3.0, 1.0])
CASES: dict[str, tuple[Callable[..., Any], Any, dict[str, Any], float]] = {
    "a generator or None": (laplace_mechanism, (0.0, 1.0), {"epsilon": 0.5}, 0.5),
    "randomise of an object": (Binary(epsilon=0.7, value0="no", value1="yes").randomise, ("no", "yes"), {}, 0.7),
    "randomise with helpers of a base class": (TruncatedGeometric(epsilon=0.7, lower=0, upper=9).randomise, (4, 5), {}, 0.7),
    "a dataclass with a generator": (NoisyCounter(2.0).count, ([1, 0, 2], [1, 0]), {}, 0.5),
    "a partial": (functools.partial(randomized_response, p=0.8), (0, 1), {}, math.log(4)),
    "a chain of steps": (Chain(make_bounded_sum(0, 2), make_laplace(4.0)), ([1.0, 5.0], [1.0]), {}, 0.5),
    "a random threshold on a Gaussian": (
        gaussian_threshold,
        (0.0, 0.5),
        {},
        max(math.log(above(0.5) / 0.5), math.log(0.5 / (1 - above(0.5)))),
    ),
    "a registry": (MECHANISMS["exponential"], SCORES, {"epsilon": 1.0}, softmax_loss(*SCORES)),
    "a static method": (Utilities.noisy_max, SCORES, {}, softmax_loss(*SCORES)),
    "a lambda around a library": (lambda rows: NoisyCounter(1.0, _RNG).count(rows), ([1], [1, 1]), {}, 1.0),
}


@pytest.mark.parametrize("name", CASES)
def test_as_it_stands(name: str) -> None:
    mechanism, pair, params, truth = CASES[name]
    found = dpest.estimate(mechanism, pair, method="exact", params=params)
    assert found.lower <= truth <= found.upper
    assert found.upper - found.lower <= 1e-9


def test_state_made_in_each_call() -> None:
    """Above-threshold with Laplace noise as differences of exponentials: against the same mechanism of the gallery."""
    pair = ([1.0, 1.0], [2.0, 0.0])
    found = dpest.estimate(first_above, pair, method="exact")

    def plain(queries: Sequence[float]) -> list[str]:
        t = 1.0 + dpest.laplace(2.0)
        out = []
        for q in queries:
            out.append("above" if q + dpest.laplace(4.0) >= t else "below")
            if out[-1] == "above":
                break
        return out

    other = dpest.estimate(plain, pair, method="exact")
    assert max(found.lower, other.lower) <= min(found.upper, other.upper)
    assert found.epsilon == pytest.approx(other.epsilon, rel=1e-8)


def test_an_older_generator_as_an_argument() -> None:
    found = dpest.estimate(gaussian_histogram, ([0, 1, 1], [0, 1, 2]), method="exact", params={"sigma": 2.0})
    assert found.epsilon == math.inf
    delta = found.delta(0.5)
    truth = delta_of_gaussian(math.sqrt(2) / 2, 0.5)
    assert delta.lower <= truth * (1 + 1e-9)
    assert truth <= delta.upper * (1 + 1e-9)


def test_nothing_is_left_behind() -> None:
    """Generators, `float` and `int` are what they were, and the library still works as before."""
    assert "float" not in globals()
    assert "int" not in globals()
    assert type(_RNG) is np.random.Generator
    assert isinstance(laplace_mechanism(1.0), float)
    assert Binary(epsilon=1.0, value0="a", value1="b").randomise("a") in ("a", "b")
