"""The older front door, in the words of its documentation."""

from __future__ import annotations

import math
import uuid
from fractions import Fraction

import numpy as np
import pytest

import dpest
from dpest.algorithms import find, gallery, laplace_vec, svt1
from dpest.analysis import estimate_algorithm
from dpest.engine import compile
from dpest.errors import InvalidInput, InvalidPair, NotReplayable
from dpest.operations import Sampled
from dpest.utils.input_patterns import generate_patterns
from tests.oracles import sparse_vector as oracle
from tests.oracles.gallery import largest

SPENT = {name: len([1 for a, b in zip(*pair, strict=True) if a != b]) for name, pair in generate_patterns(5).items()}


@pytest.mark.parametrize("name", SPENT)
def test_the_laplace_mechanism_on_every_pattern(name: str) -> None:
    epsilon = estimate_algorithm(
        name=f"LaplaceMechanism_{name}",
        pairs=[generate_patterns(n=5)[name]],
        dist_func=getattr(laplace_vec, "_dist_func", laplace_vec),
        eps=0.1,
        n_samples=100000,
    )
    assert epsilon == pytest.approx(0.1 * SPENT[name], rel=1e-9)


def test_svt1_with_extra_parameters() -> None:
    patterns = generate_patterns(n=10)
    pairs = [patterns["one_above"], patterns["one_below"]]
    epsilon = estimate_algorithm(
        name="SVT1",
        pairs=pairs,
        dist_func=getattr(svt1, "_dist_func", svt1),
        eps=0.1,
        n_samples=1000000,
        extra=(5.0, 2),
        hist_bins=100,
    )
    noise = oracle.Noise(Fraction(5), Fraction(20), Fraction(80))
    whole = [tuple(tuple(map(int, side)) for side in pair) for pair in pairs]
    truth = max(max(oracle.answer_loss(*pair, noise, 2)) for pair in whole)
    assert epsilon == pytest.approx(truth, abs=1e-9)


def test_svt1_compiles() -> None:
    algo = compile(lambda q: svt1(q, eps=0.1))
    output = algo([1.0, 1.0, 1.0])
    assert len(output) == 3


SLOW = ("NoisyMaxSum", "NumericalSVT", "SVT3", "SVT34Parallel", "SVT6")  # their exact losses are tested with the gallery


@pytest.mark.parametrize("name", [entry.name for entry in gallery() if entry.name not in SLOW])
def test_every_algorithm_takes_eps_second(name: str) -> None:
    entry = find(name)
    loss = estimate_algorithm(name, [(p.left, p.right) for p in entry.pairs()], dist_func=entry.function._dist_func, eps=0.1)
    assert loss == pytest.approx(largest(name), abs=1e-9)


def test_a_function_of_ones_own() -> None:
    def mine(data: list[float], eps: float, factor: float) -> list[object]:
        return [x + dpest.laplace(factor / eps) for x in data]

    assert estimate_algorithm("mine", [([0.0], [1.0])], dist_func=mine, eps=0.5, extra=(2.0,)) == pytest.approx(0.25)


def test_a_function_that_compiles_by_itself() -> None:
    pairs = [([1.0, 1.0, 1.0], [2.0, 0.0, 0.0])]
    compiled = estimate_algorithm("c", pairs, dist_func=lambda data, eps: compile(lambda q: svt1(q, eps))(data), eps=0.1)
    assert compiled == estimate_algorithm("SVT1", pairs, dist_func=svt1, eps=0.1)


def test_a_function_that_samples_by_itself() -> None:
    rng = np.random.default_rng(0)

    def sampled(data: list[float], eps: float) -> list[Sampled]:
        return [Sampled.from_samples(x + rng.laplace(0, 1 / eps, 50_000)) for x in data]

    assert estimate_algorithm("mine", [([0.0], [1.0])], dist_func=sampled, eps=1.0, hist_bins=50) == pytest.approx(1.0, abs=0.1)


def test_a_generator_is_traced() -> None:
    rng = np.random.default_rng(0)
    found = estimate_algorithm("mine", [([0.0], [1.0])], dist_func=lambda data, eps: data[0] + rng.laplace(), eps=1.0)
    assert found == pytest.approx(1.0, abs=1e-12)


def test_hidden_randomness_is_refused() -> None:
    with pytest.raises(NotReplayable, match="draw with random, secrets"):
        estimate_algorithm("mine", [([0.0], [1.0])], dist_func=lambda data, eps: data[0] + uuid.uuid4().bytes[0], eps=1.0)


def test_verbose_prints_the_result(capsys: pytest.CaptureFixture[str]) -> None:
    estimate_algorithm("SVT5", [([1.0, 1.0], [2.0, 1.0])], dist_func=find("SVT5").function, eps=0.1, verbose=True)
    assert "inf" in capsys.readouterr().out


def test_bad_questions_are_refused() -> None:
    with pytest.raises(InvalidPair, match="empty"):
        estimate_algorithm("SVT1", [], dist_func=svt1, eps=0.1)
    with pytest.raises(InvalidInput, match="dist_func must be a function"):
        estimate_algorithm("SVT1", [([1.0], [2.0])], dist_func="svt1", eps=0.1)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="as a tuple"):
        estimate_algorithm("SVT1", [([1.0], [2.0])], dist_func=svt1, eps=0.1, extra=5.0)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="hist_bins must be"):
        estimate_algorithm("SVT1", [([1.0], [2.0])], dist_func=svt1, eps=0.1, hist_bins=0)
    with pytest.raises(InvalidInput, match="eps"):
        estimate_algorithm("SVT1", [([1.0], [2.0])], dist_func=svt1, eps=0.0)


def test_infinite_losses_are_infinite() -> None:
    assert estimate_algorithm("SVT5", [([1.0, 1.0], [2.0, 1.0])], dist_func=find("SVT5").function, eps=0.1) == math.inf
