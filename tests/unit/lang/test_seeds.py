"""Generators whose seeds the mechanism draws, gets from the operating system, or writes down."""

from __future__ import annotations

import copy
import functools
import math
import random
import secrets
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.random import SeedSequence

import dpest
from dpest.errors import DpestError, UnsupportedOperation

BITS = np.random.PCG64()
add_noise = functools.partial(np.random.laplace, scale=2.0)


def two_children(x: float) -> Any:
    one, other = (np.random.default_rng(child) for child in np.random.SeedSequence().spawn(2))
    return x + one.laplace(0, 4), x + other.laplace(0, 4)


def seeded_module(x: float) -> Any:
    np.random.seed(np.random.randint(0, 2**31 - 1))  # noqa: NPY002
    return x + np.random.laplace(0, 2)  # noqa: NPY002


def one_source_twice(x: float) -> Any:
    bits = np.random.PCG64()
    return x + np.random.Generator(bits).laplace(0, 4), x + np.random.Generator(bits).laplace(0, 4)


# Closed form: Laplace noise of scale 2 on one value, or of scale 4 on the value released twice.
UNKNOWN: dict[str, Callable[[float], Any]] = {
    "bits without a seed": lambda x: x + np.random.Generator(np.random.PCG64()).laplace(0, 2),
    "bits by another name": lambda x: x + np.random.RandomState(np.random.MT19937()).laplace(0, 2),
    "bits that a module holds": lambda x: x + np.random.Generator(BITS).laplace(0, 2),
    "bits as a seed": lambda x: x + np.random.default_rng(BITS).laplace(0, 2),
    "a seed that is drawn": lambda x: x + np.random.default_rng(secrets.randbits(128)).laplace(0, 2),
    "a sequence of a drawn seed": lambda x: x + np.random.default_rng(SeedSequence(secrets.randbits(64))).laplace(0, 2),
    "a drawn seed of random": lambda x: x + random.Random(random.randrange(2**32)).expovariate(0.5) * random.choice([-1, 1]),
    "children of a sequence": two_children,
    "a module's seed that is drawn": seeded_module,
    "one source twice": one_source_twice,
    "a partial of a method": lambda x: add_noise(loc=x),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_noise_that_nobody_knows(name: str) -> None:
    found = dpest.estimate(UNKNOWN[name], (0.0, 1.0), method="exact")
    assert found.epsilon == pytest.approx(0.5, rel=1e-9)
    assert not any("everybody knows" in note for note in found.notes)


@pytest.mark.parametrize("bits", [lambda: np.random.PCG64(5), lambda: SeedSequence(5).spawn(1)[0]], ids=["bits", "child"])
def test_a_seed_that_is_written_in_the_program_is_known(bits: Callable[[], Any]) -> None:
    found = dpest.estimate(lambda x: x + np.random.default_rng(bits()).laplace(0, 2), (0.0, 1.0), method="exact")
    assert found.epsilon == math.inf
    assert any("everybody knows" in note for note in found.notes)


def test_a_seed_of_an_older_generator_is_known() -> None:
    found = dpest.estimate(lambda x: x + np.random.RandomState(5).laplace(0, 2), (0.0, 1.0), method="exact")
    assert found.epsilon == math.inf
    assert type(np.random.RandomState(5)._bit_generator) is np.random.MT19937


def one_number_twice(x: float) -> Any:
    seed = secrets.randbits(64)
    return x + np.random.default_rng(seed).laplace() - np.random.default_rng(seed).laplace()


def one_sequence_twice(x: float) -> Any:
    seed = np.random.SeedSequence()
    return x + np.random.default_rng(seed).laplace() - np.random.default_rng(seed).laplace()


@pytest.mark.parametrize("mechanism", [one_number_twice, one_sequence_twice])
def test_one_seed_for_two_generators_is_refused(mechanism: Callable[[float], Any]) -> None:
    with pytest.raises(UnsupportedOperation, match="give the same numbers"):
        dpest.estimate(mechanism, (0.0, 1.0), method="exact")


def released(x: float) -> Any:
    seed = random.getrandbits(32)
    return seed, x + np.random.default_rng(seed).laplace()


def compared(x: float) -> Any:
    seed = random.getrandbits(32)
    return x + np.random.default_rng(seed).laplace() if seed > 5 else 0


@pytest.mark.parametrize("mechanism", [released, compared])
def test_a_seed_that_tells_something_is_refused(mechanism: Callable[[float], Any]) -> None:
    with pytest.raises(UnsupportedOperation, match="who learns of it knows the noise"):
        dpest.estimate(mechanism, (0.0, 1.0), method="exact")


def test_no_bound_rests_on_noise_whose_seed_is_told() -> None:
    """Whoever has the seed has the noise: the loss is infinite, and nothing may be proved to be an upper end of it."""

    def released_beside(x: list[float]) -> Any:
        seed = secrets.randbits(64)
        return x[0] + np.random.default_rng(seed).laplace(), seed

    with pytest.raises(DpestError, match="is used for something else too"):
        dpest.prove(released_beside, n=1, adjacency="l1", progress=False)
    with pytest.raises(UnsupportedOperation, match="who learns of it knows the noise"):
        dpest.estimate(released_beside, ([0.0], [1.0]), samples=500, progress=False)


def next_to_each_other(x: float) -> Any:
    seed = secrets.randbits(64)
    return x + np.random.default_rng(seed).laplace(), x + np.random.default_rng(seed + 1).laplace()


def test_a_seed_that_is_computed_from_very_many_is_refused_at_once() -> None:
    with pytest.raises(UnsupportedOperation, match="computed from a drawn number"):
        dpest.estimate(next_to_each_other, (0.0, 1.0), samples=500, progress=False)


def rewinds(x: float, rng: np.random.Generator) -> Any:
    before = rng.bit_generator.state
    noisy = x + rng.laplace()
    rng.bit_generator.state = before
    return noisy, rng.laplace()


def steps_back(x: float, rng: np.random.Generator) -> Any:
    noisy = x + rng.laplace()
    rng.bit_generator.advance(-1)  # type: ignore[attr-defined]
    return noisy, rng.laplace()


def copies(x: float, rng: np.random.Generator) -> Any:
    return x + copy.deepcopy(rng).laplace(), x + rng.laplace()


def copies_python(x: float) -> Any:
    one = random.Random()
    return x + one.gauss(0, 1), copy.copy(one).gauss(0, 1)


def copies_bits(x: float) -> Any:
    one = np.random.PCG64()
    return x + np.random.Generator(one).laplace(), np.random.Generator(copy.deepcopy(one)).laplace()


def jumps(x: float) -> Any:
    return x + np.random.Generator(np.random.PCG64().jumped()).laplace()


@pytest.mark.parametrize("mechanism", [rewinds, steps_back, copies, copies_python, copies_bits, jumps])
def test_numbers_that_come_again_are_refused(mechanism: Callable[..., Any]) -> None:
    """Noise that is drawn again hides nothing beside itself, and adds nothing beside its copy: 2 was the answer where 1 is."""
    with pytest.raises(UnsupportedOperation, match=r"comes? again|gives the same numbers|that nobody knows"):
        dpest.estimate(mechanism, (0.0, 1.0), samples=500, progress=False)


def test_generators_that_share_their_bits_take_turns() -> None:
    """Closed form: two independent values of Laplace noise of scale 4."""

    def in_turn(x: float, rng: np.random.Generator) -> Any:
        other = np.random.Generator(rng.bit_generator)
        return x + other.laplace(0, 4), x + rng.laplace(0, 4)

    assert dpest.estimate(in_turn, (0.0, 1.0)).epsilon == pytest.approx(0.5, rel=1e-12)
