"""What cannot be right is refused before any work, in one sentence: what is wrong, what was given, what to write."""

from __future__ import annotations

import math
import uuid
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.stats

import dpest
from dpest import errors, estimate, laplace

NAN, INF = math.nan, math.inf
Bad = tuple[Callable[[], Any], type[Exception], str]


def released(x: Any) -> Any:
    return x + laplace(1.0)


def counting() -> tuple[Callable[[Any], Any], list[Any]]:
    seen: list[Any] = []

    def mechanism(x: Any) -> Any:
        seen.append(x)
        return x

    return mechanism, seen


DRAWS: dict[str, Bad] = {
    **{
        f"{name}({scale!r})": (
            lambda name=name, scale=scale: getattr(dpest, name)(scale),
            errors.InvalidLaw,
            f"{name}(scale) needs a positive finite number, got {scale!r}",
        )
        for name in ("laplace", "exponential", "gumbel", "logistic", "geometric")
        for scale in (0, -1.5, NAN, INF, "1", None)
    },
    "gaussian": (lambda: dpest.gaussian(-1), errors.InvalidLaw, "gaussian(sigma) needs a positive finite number, got -1"),
    "uniform": (lambda: dpest.uniform(2, 1), errors.InvalidLaw, "uniform(low, high) needs finite low < high, got low=2, high=1"),
    "endless uniform": (lambda: dpest.uniform(0, INF), errors.InvalidLaw, "needs finite low < high, got low=0, high=inf"),
    **{
        f"bernoulli({p!r})": (
            lambda p=p: dpest.bernoulli(p),
            errors.InvalidLaw,
            f"bernoulli(p) needs a probability in [0, 1], got {p!r}",
        )
        for p in (-0.1, 1.5, NAN, "x")
    },
    "categorical over one": (lambda: dpest.categorical([0.5, 0.6]), errors.InvalidLaw, "must sum to 1, they sum to 1.1"),
    "categorical negative": (lambda: dpest.categorical([-0.5, 1.5]), errors.InvalidLaw, "must be a number >= 0, got -0.5"),
    "categorical NaN": (lambda: dpest.categorical([NAN, 1.0]), errors.InvalidLaw, "must be a number >= 0, got nan"),
    "categorical empty": (lambda: dpest.categorical([]), errors.InvalidLaw, "needs a non-empty list of probabilities, got []"),
    "categorical words": (
        lambda: dpest.categorical("ab"),
        errors.InvalidLaw,
        "needs a non-empty list of probabilities, got 'ab'",
    ),
    "integers reversed": (lambda: dpest.integers(1, 0), errors.InvalidLaw, "needs whole numbers low <= high, got low=1, high=0"),
    "integers halves": (
        lambda: dpest.integers(0.5, 2),
        errors.InvalidLaw,
        "needs whole numbers low <= high, got low=0.5, high=2",
    ),
    "size": (lambda: laplace(1.0, size=-1), errors.InvalidInput, "size must be a whole number >= 0 or a tuple of them, got -1"),
    "random probability": (
        lambda: dpest.bernoulli(dpest.uniform(0, 1)),
        errors.InvalidLaw,
        "got a random value: branch on it with `if`",
    ),
    "scipy family": (lambda: dpest.from_scipy(scipy.stats.norm), errors.InvalidLaw, "such as scipy.stats.t(df=3), got <scipy"),
    "scipy scale": (
        lambda: dpest.from_scipy(scipy.stats.norm(0, -1)),
        errors.InvalidLaw,
        "norm(0, -1)): scipy.stats.norm does not allow",
    ),
    "scipy array": (lambda: dpest.from_scipy(scipy.stats.norm([0, 1])), errors.InvalidLaw, "must be single numbers"),
}

PAIRS: dict[str, Bad] = {
    "no inputs": (lambda: estimate(released), errors.InvalidPair, "estimate(mechanism, (D, D')), a list of pairs, or n=10"),
    "an empty list": (lambda: estimate(released, []), errors.InvalidPair, "the list of pairs is empty: give at least one pair"),
    "two ways": (lambda: estimate(released, (0, 1), n=3), errors.InvalidPair, "either pairs=... or n=..., not both"),
    "one input": (lambda: estimate(released, [(0,)]), errors.InvalidPair, "a pair is two inputs (D, D'), got (0,)"),
    "words": (lambda: estimate(released, "ab"), errors.InvalidPair, "pairs must be (D, D') or a list of such pairs, got 'ab'"),
    "kinds": (lambda: estimate(released, (1, [1])), errors.InvalidPair, "must be inputs of one kind, got 1 and [1]"),
    "no queries": (lambda: estimate(released, n=0), errors.InvalidInput, "n must be a whole number >= 1, got 0"),
    "adjacency": (lambda: estimate(released, n=2, adjacency="l2"), errors.UnknownName, "must be one of"),
    "method": (lambda: estimate(released, (0, 1), method="fast"), errors.UnknownName, "got 'fast'"),
    "not a function": (lambda: estimate(3, (0, 1)), errors.InvalidInput, "must be a function of its input, got 3"),  # type: ignore[arg-type]
    "a parameter too many": (
        lambda: estimate(released, (0, 1), eps=1),
        errors.InvalidInput,
        "cannot be called as released(data, eps=...)",
    ),
    "confidence": (
        lambda: estimate(released, (0, 1), method="sampling", confidence=95),
        errors.InvalidInput,
        "strictly between 0 and 1, such as 0.95, got 95",
    ),
    "samples": (lambda: estimate(released, (0, 1), method="sampling", samples=0), errors.InvalidInput, "got 0"),
}


def hidden_randomness(x: float) -> Any:
    return x + uuid.uuid4().bytes[0]


def hidden_scale(x: float) -> Any:
    return x + laplace(1 + uuid.uuid4().bytes[0])


def needs_a_plain_number(x: float) -> Any:
    return math.gamma(x + laplace(1.0))


def raising(x: float) -> Any:
    return 1 / (x - x)


MECHANISMS: dict[str, Bad] = {
    "it raises": (lambda: estimate(raising, (0, 1)), errors.MechanismRaised, "raising raised ZeroDivisionError"),
    "an object": (
        lambda: estimate(lambda x: object(), (0, 1)),
        errors.UnsupportedOutput,
        "returned object: return numbers, bools",
    ),
    "a set of densities": (lambda: estimate(lambda x: {x + laplace(1.0)}, (0, 1)), errors.RandomTruth, "cannot be looked up"),
    "an array with a mask": (
        lambda: estimate(lambda x: np.ma.array([0.0], mask=[bool(dpest.bernoulli(0.25)) ^ x]), (0, 1)),
        errors.UnsupportedOutput,
        "mask or with named fields",
    ),
    "an element behind a mask": (lambda: estimate(lambda x: np.ma.masked, (0, 1)), errors.UnsupportedOutput, "mask or with"),
    "an array with named fields": (
        lambda: estimate(lambda x: np.zeros(1, dtype=[("a", int), ("b", float)]), (0, 1)),
        errors.UnsupportedOutput,
        "table.dtype.names",
    ),
    "a complex number": (lambda: estimate(lambda x: 1j, (0, 1)), errors.UnsupportedOutput, "complex"),
    "hidden randomness": (lambda: estimate(hidden_randomness, (0, 1)), errors.NotReplayable, "draw with random, secrets"),
    "a hidden scale": (lambda: estimate(hidden_scale, (0, 1)), errors.NotReplayable, "it draws from random bytes"),
    "iteration": (lambda: estimate(lambda x: [*laplace(1.0)], (0, 1)), errors.MechanismRaised, "a draw makes n of them"),
    "len": (lambda: estimate(lambda x: len(laplace(1.0)), (0, 1)), errors.MechanismRaised, "a draw makes n of them"),
    "math.gamma": (lambda: estimate(needs_a_plain_number, (0, 1)), errors.RandomTruth, "dpest.apply(function, value)"),
    "no exact way": (
        lambda: estimate(lambda x: np.sin(x + laplace(1.0)), (0, 1), method="exact"),
        errors.ExactRefused,
        "sin is applied to a random value: such a function can be sampled",
    ),
    "a product": (
        lambda: estimate(lambda x: (x + laplace(1.0)) * laplace(1.0) * laplace(1.0) + laplace(1.0), (0, 1), method="exact"),
        errors.ExactRefused,
        "a product of two random values",
    ),
}

VALUES: dict[str, Bad] = {
    "truth outside a mechanism": (lambda: bool(laplace(1.0) > 0), errors.RandomTruth, "write dpest.where(condition, a, b)"),
    "float": (lambda: float(laplace(1.0)), errors.RandomTruth, "cannot be used as a plain float"),
    "int": (lambda: int(laplace(1.0)), errors.RandomTruth, "cannot be used as a plain int"),
    "index": (lambda: [1, 2][dpest.bernoulli(0.5)], errors.RandomTruth, "cannot be used as an index or a range"),
    "adding words": (lambda: laplace(1.0) + "a", errors.UnsupportedOperation, "cannot add a random value and 'a' of type str"),
    "multiplying by infinity": (lambda: laplace(1.0) * INF, errors.UnsupportedOperation, "the operand must be a finite number"),
    "comparing with None": (lambda: laplace(1.0) < None, errors.UnsupportedOperation, "cannot compare a random value and None"),
    "max of nothing": (lambda: dpest.max([]), errors.InvalidInput, "max(values) needs at least one value, got none"),
    "argmax of words": (lambda: dpest.argmax(["a"]), errors.UnsupportedOperation, "got 'a'"),
    "argmax with infinity": (lambda: dpest.argmax([laplace(1.0), INF]), errors.UnsupportedOperation, "got an infinite one"),
    "clip": (lambda: dpest.clip(laplace(1.0), 2, 1), errors.InvalidInput, "needs low <= high, got low=2, high=1"),
    "where": (lambda: dpest.where(dpest.bernoulli(0.5), [1], [1, 2]), errors.InvalidInput, "one length, got 1 and 2 values"),
    "apply": (lambda: dpest.apply(3, laplace(1.0)), errors.InvalidInput, "needs a function first, got 3"),  # type: ignore[arg-type]
    "interval": (lambda: dpest.Interval(2, 1), errors.InvalidInput, "needs low <= high, got low=2, high=1"),
    "atoms": (lambda: dpest.Dist.from_atoms({0: 0.5, 1: 0.6}), errors.InvalidLaw, "they sum to 1.1"),
    "delta": (lambda: estimate(released, (0, 1)).delta(-1), errors.InvalidInput, "epsilon must be a number >= 0, got -1"),
    "epsilon_at": (lambda: estimate(released, (0, 1)).epsilon_at(2), errors.InvalidInput, "delta must lie in [0, 1], got 2"),
}
ALL = {
    f"{group}: {name}": bad
    for group, cases in (("draw", DRAWS), ("pair", PAIRS), ("mechanism", MECHANISMS), ("value", VALUES))
    for name, bad in cases.items()
}


@pytest.mark.parametrize("name", ALL)
def test_it_is_refused_in_a_clear_sentence(name: str) -> None:
    attempt, kind, words = ALL[name]
    with pytest.raises(kind) as refusal:
        attempt()
    assert words in str(refusal.value)
    assert "\n" not in str(refusal.value)
    assert isinstance(refusal.value, errors.DpestError)


@pytest.mark.parametrize("pairs", [[], (1, [1]), [(0, 1), (2,)]], ids=repr)
def test_bad_pairs_are_refused_before_the_mechanism_runs(pairs: Any) -> None:
    mechanism, seen = counting()
    with pytest.raises(errors.InvalidPair):
        estimate(mechanism, pairs)
    assert seen == []


def test_an_error_of_the_mechanism_is_the_cause() -> None:
    with pytest.raises(errors.MechanismRaised) as refusal:
        estimate(raising, (0, 1))
    assert isinstance(refusal.value.__cause__, ZeroDivisionError)


def test_invalid_input_is_also_a_value_error() -> None:
    with pytest.raises(ValueError):
        laplace(-1)
    with pytest.raises(TypeError):
        bool(laplace(1.0))


def test_a_missing_record_may_be_none() -> None:
    result = estimate(lambda x: laplace(1.0) if x is None else x + laplace(1.0), (None, 1.0))
    assert float(result) == pytest.approx(1.0)


def test_infinite_bounds_fall_away() -> None:
    z = laplace(1.0)
    assert dpest.maximum(-INF, z) is not None
    assert dpest.max([1.0, INF, z]) == INF
    assert float(estimate(lambda x: dpest.max([-INF, x + laplace(1.0)]), (0, 1))) == pytest.approx(1.0)
