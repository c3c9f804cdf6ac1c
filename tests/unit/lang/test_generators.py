"""Mechanisms that draw from generators of NumPy and the standard library, as they stand."""

from __future__ import annotations

import bisect
import functools
import math
import random
import secrets
import sys
import threading
from collections.abc import Callable
from random import gauss
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.random import default_rng
from scipy.stats import norm

import dpest
from dpest.errors import InvalidInput, MechanismRaised, NotReplayable, UnsupportedOperation

GENERATOR = np.random.default_rng()
STANDARD = random.Random(5)
LAPLACE = GENERATOR.laplace
THREE = math.log(3)
TAIL = math.log(norm.sf(-1) / norm.sf(0))  # P(gauss > -1) / P(gauss > 0)
UNSIGNED = math.log(norm.sf(0) / norm.sf(1))


def generator(x: float, rng: np.random.Generator) -> Any:
    return x + rng.laplace(0, 2.0)


def legacy(x: float, random_state: Any) -> Any:
    return x + random_state.laplace(scale=2.0, size=(2, 2))


def standard(x: float, source: random.Random) -> Any:
    return source.randint(0, 1) if source.random() < 0.5 else x


def per_call(x: float) -> Any:
    return x + np.random.default_rng().laplace(scale=2.0)


def optional(x: float, rng: Any = None) -> Any:
    rng = np.random.default_rng() if rng is None else rng
    return x + rng.laplace(scale=2.0)


class Mechanism:
    """Holds a generator in its object, another in its class."""

    shared = np.random.default_rng()

    def __init__(self) -> None:
        self.rng = np.random.default_rng(3)

    def __call__(self, x: float) -> Any:
        return x + self.rng.laplace(0, 4.0)

    def of_the_class(self, x: float) -> Any:
        return x + self.shared.laplace(0, 4.0)


class Slotted:
    """Holds a generator in a slot."""

    __slots__ = ("rng",)

    def __init__(self) -> None:
        self.rng = random.Random(3)

    def __call__(self, x: float) -> Any:
        return x if self.rng.random() < 0.75 else 1 - x


def helper() -> Any:
    return GENERATOR.laplace()


def rare(x: float) -> Any:
    return secrets.randbelow(2) if x + dpest.laplace(1.0) > 12 else 2


def rejected(x: float, rng: np.random.Generator) -> Any:
    while True:
        z = rng.laplace(x, 1.0)
        if z > 2:
            return z > 3


def shuffled(x: int, rng: np.random.Generator) -> Any:
    values = [x, 1 - x, 0]
    rng.shuffle(values)
    return values[0]


def pick(x: int, rng: np.random.Generator) -> Any:
    return rng.choice(["a", "b", "c"], p=[0.5, 0.25, 0.25] if x else [0.25, 0.25, 0.5])


ANSWERED: dict[str, tuple[Callable[..., Any], float]] = {
    "a generator": (generator, 0.5),
    "a RandomState, by size": (legacy, 2.0),
    "a random.Random, by annotation": (standard, THREE),
    "a parameter without annotation": (lambda x, rng: x + rng.gauss(0, 1) > 0, max(TAIL, UNSIGNED)),
    "made in the call": (per_call, 0.5),
    "made where none is given": (optional, 0.5),
    "made by an imported name": (lambda x: x + default_rng().laplace(scale=2.0), 0.5),
    "of an object": (Mechanism(), 0.25),
    "of a class": (Mechanism().of_the_class, 0.25),
    "of a slot": (Slotted(), THREE),
    "of a module": (lambda x: x + GENERATOR.laplace(0, 1), 1.0),
    "of a helper's module": (lambda x: x + helper(), 1.0),
    "a method by a name": (lambda x: x + LAPLACE(0, 1), 1.0),
    "a partial's keyword": (functools.partial(generator, rng=GENERATOR), 0.5),
    "a partial's argument": (functools.partial(lambda rng, x: x + rng.laplace(0, 2.0), np.random.default_rng()), 0.5),
    "a default": (lambda x, rng=GENERATOR: x + rng.laplace(0, 2.0), 0.5),
    "a name of random": (lambda x: x + gauss(0, 1) > 0, max(TAIL, UNSIGNED)),
    "random.random": (lambda x: x if random.random() < 0.75 else 1 - x, THREE),
    "numpy.random.random": (lambda x: x if np.random.random() < 0.75 else 1 - x, THREE),  # noqa: NPY002
    "numpy.random.laplace": (lambda x: x + np.random.laplace(0, 2), 0.5),  # noqa: NPY002
    "random.choice": (lambda x: random.choice([x, x, x, 1 - x]), THREE),
    "random.choices": (lambda x: random.choices(["y", "n"], [3, 1] if x else [1, 3])[0], THREE),
    "random.sample": (lambda x: sorted(random.sample([x, 1, 1, 0], 1)), math.log(2)),
    "random.randrange": (lambda x: (x + random.randrange(0, 8, 2)) // 4, math.log(1)),
    "SystemRandom": (lambda x: secrets.SystemRandom().choice([x, x, x, 1 - x]), THREE),
    "secrets.randbelow": (lambda x: x if secrets.randbelow(4) else 1 - x, THREE),
    "random.Random()": (lambda x: x + dpest.laplace(1.0) + (random.Random().random() < 0.5), 1.0),
    "bisect": (lambda x: bisect.bisect([0.1, 0.9], random.random()) + x + dpest.laplace(1.0), 1.0),
    "a rare branch": (rare, 1.0),
    "integers": (lambda x, rng: x if rng.integers(4) else 1 - x, THREE),
    "integers as a mask": (lambda x, rng: (x + rng.integers(0, 2)) % 2, 0.0),
    "choice with p": (pick, math.log(2)),
    "choice of numbers": (lambda x, rng: rng.choice([0.5, 2.5], p=[0.75, 0.25] if x else [0.25, 0.75]), THREE),
    "choice without replacement": (lambda x, rng: min(1, sum(rng.choice([x, 1, 0, 0], 2, replace=False))), THREE),
    "thirty coins": (lambda x, rng: x + rng.integers(0, 2, size=30).sum() + rng.laplace(), 1.0),
    "binomial": (lambda x, rng: rng.binomial(2, 0.75 if x else 0.25), 2 * THREE),
    "poisson": (lambda x, rng: min(rng.poisson(1.0 + x), 0), 0.0),
    "geometric": (lambda x, rng: rng.geometric(0.5 + 0.25 * x) > 1, math.log(2)),
    "cauchy": (lambda x, rng: x + rng.standard_cauchy(), math.log((3 + math.sqrt(5)) / 2)),
    "gumbel": (lambda x, rng: x + rng.gumbel(0, 1) > rng.gumbel(0, 1), math.log((1 + math.e) / 2)),
    "exponential": (lambda x, rng: rng.exponential(1 + x) > 1, 0.5),
    "logistic": (lambda x, rng: x + rng.logistic(), 1.0),
    "uniform": (lambda x, rng: rng.uniform(0, 4) < 1 + 2 * x, THREE),
    "a location and scales in arrays": (lambda x, rng: rng.laplace([x, x], [1.0, 2.0]), 1.5),
    "no scale": (lambda x, rng: rng.normal(0, 0) + x + rng.laplace(), 1.0),
    "shuffle": (shuffled, 0.0),
    "permutation": (lambda x, rng: rng.permutation(3)[0] > x, math.log(2)),
    "a loop": (rejected, 0.0),
}


@pytest.mark.parametrize("name", ANSWERED)
def test_it_is_exact(name: str) -> None:
    mechanism, truth = ANSWERED[name]
    result = dpest.estimate(mechanism, (0, 1), method="exact")
    assert result.lower <= truth + 1e-12
    assert truth - 1e-12 <= result.upper
    assert result.epsilon == pytest.approx(truth, abs=1e-8)


def test_the_gaussian_mechanism_has_its_delta() -> None:
    def mechanism(x: float, rng: np.random.Generator) -> Any:
        return rng.normal(x, 2.0)

    found = dpest.estimate(mechanism, (0, 1), method="exact").delta(0.5)
    truth = norm.cdf(0.25 - 1.0) - math.exp(0.5) * norm.cdf(-0.25 - 1.0)
    assert found == pytest.approx(truth, abs=1e-9)


def test_sampling_takes_generators_too() -> None:
    for mechanism in (generator, Mechanism(), ANSWERED["random.random"][0]):
        result = dpest.estimate(mechanism, (0, 1), method="sampling", samples=20_000, seed=1, progress=False)
        assert 0.1 < result.lower <= 1.1


def test_a_seed_inside_is_said() -> None:
    for mechanism, words in (
        (lambda x: x + np.random.default_rng(0).laplace(), "default_rng(0)"),
        (lambda x: x + random.Random(4).gauss(0, 1), "Random(4)"),
        (lambda x: random.seed(7) or x + random.random(), "seed(7)"),
        (lambda x: np.random.seed(7) or x + np.random.laplace(), "seed(7)"),  # noqa: NPY002
    ):
        result = dpest.estimate(mechanism, (0, 1))
        assert result.epsilon == math.inf
        assert any("noise that everybody knows" in note and words in note for note in result.notes)


def test_no_draw_is_said() -> None:
    assert any("made no draw" in note for note in dpest.estimate(lambda x: x, (0, 1)).notes)
    assert not any("made no draw" in note for note in dpest.estimate(generator, (0, 1)).notes)
    before = dpest.laplace(1.0)
    assert not any("made no draw" in note for note in dpest.estimate(lambda x: x + before, (0, 1)).notes)


def test_a_method_without_a_law_names_the_audit() -> None:
    with pytest.raises(UnsupportedOperation, match="vonmises of a generator has no law.*dpest audit"):
        dpest.estimate(lambda x, rng: rng.vonmises(0.0, 1.0 + x), (0, 1))


def test_two_bounds_of_a_nameless_randint_are_refused() -> None:
    with pytest.raises(UnsupportedOperation, match="includes b"):
        dpest.estimate(lambda x, rng: x + rng.randint(0, 1), (0, 1))


def _states() -> Any:
    return (
        random.getstate(),
        np.random.get_state()[1].tobytes(),  # type: ignore[index]  # noqa: NPY002
        GENERATOR.bit_generator.state,
        STANDARD.getstate(),
    )


def _names() -> Any:
    modules = (random, np.random, np.random.mtrand, secrets, sys.modules[__name__])
    return [dict(vars(m)) for m in modules]


def raising(x: float) -> Any:
    raise ValueError(str(type(GENERATOR)) if random.random() < 0.5 else "no")


def test_generators_are_as_before_whatever_happens() -> None:
    held = Mechanism()
    own = held.rng
    states, names = _states(), _names()
    for mechanism in (generator, held, lambda x: x + STANDARD.gauss(0, 1) + GENERATOR.normal() + gauss(0, 1)):
        dpest.estimate(mechanism, (0, 1))
    with pytest.raises(MechanismRaised):
        dpest.estimate(raising, (0, 1))
    assert held.rng is own
    assert _states() == states
    assert all(a.keys() == b.keys() and all(a[k] is b[k] for k in a) for a, b in zip(names, _names(), strict=True))
    assert isinstance(random.random(), float)
    random.setstate(states[0])


def test_another_thread_has_its_numbers() -> None:
    seen: list[Any] = []

    def mechanism(x: float) -> Any:
        other = threading.Thread(target=lambda: seen.append((random.random(), GENERATOR.normal())))
        if not seen:
            other.start()
            other.join()
        return x + dpest.laplace(1.0)

    with pytest.raises(NotReplayable):  # the other thread moved the generators: nobody can tell who it was
        dpest.estimate(mechanism, (0, 1))
    assert all(type(v) is float for v in seen[0])


def test_a_generator_that_is_kept_from_a_run_is_one_afterwards() -> None:
    kept = SimpleNamespace(rng=None)

    def mechanism(x: float) -> Any:
        if kept.rng is None:
            kept.rng = np.random.default_rng()
        return x + kept.rng.laplace()

    assert dpest.estimate(mechanism, (0, 1)).epsilon == pytest.approx(1.0, abs=1e-12)
    assert type(kept.rng.laplace()) is float
    assert isinstance(kept.rng, np.random.Generator)


class Doubled(random.Random):
    """An author's own generator, whose methods mean something else."""

    def random(self) -> float:
        return 2 * super().random()


def test_a_generator_of_the_authors_own_class_is_watched_as_before() -> None:
    own = Doubled(1)
    with pytest.raises(NotReplayable, match=r"it draws from the random\.Random own"):
        dpest.estimate(lambda x: x + dpest.laplace(1.0) + own.random(), (0, 1))


def test_an_audit_runs_the_program_as_it_stands() -> None:
    from dpest.sampling.runs.blackbox import Form, as_traced, sampler

    def mechanism(x: float) -> Any:
        return x + GENERATOR.laplace()

    state = GENERATOR.bit_generator.state
    assert as_traced(sampler(mechanism), 0.0).form is Form.PLAIN
    GENERATOR.bit_generator.state = state


def test_a_generator_that_is_left_at_none_is_named() -> None:
    def mechanism(x: float, rng: Any = None) -> Any:
        return x + rng.laplace(0, 2)

    with pytest.raises(dpest.errors.MechanismRaised, match=r"pass rng=numpy\.random\.default_rng\(\)"):
        dpest.estimate(mechanism, (0, 1), method="exact")
    assert dpest.estimate(mechanism, (0, 1), method="exact", rng=np.random.default_rng()).epsilon == pytest.approx(0.5)


Noise = np.random.Generator


def by_a_name_of_the_module(x: int, source: Noise) -> Any:
    return x + source.laplace(scale=2.0)


def by_a_name_that_nobody_knows(x: int, rng: Unknown) -> Any:  # type: ignore[name-defined]  # noqa: F821
    return x


def test_an_annotation_may_be_another_name_of_a_generator() -> None:
    assert dpest.estimate(by_a_name_of_the_module, (0, 1), method="exact").epsilon == pytest.approx(0.5)
    with pytest.raises(InvalidInput, match="needs rng: give it as a keyword"):
        dpest.estimate(by_a_name_that_nobody_knows, (0, 1), method="exact")
