"""Inputs and outputs as people have them, each against a closed form: add/remove pairs, missing values, tables, sets, records."""

from __future__ import annotations

import enum
import math
from collections import Counter, namedtuple
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import dpest
from dpest.inputs.pairs import Pair, as_pairs
from dpest.inputs.shown import show

NAN = math.nan
LN3 = math.log(3)


def close(found: dpest.Result, truth: float) -> None:
    """The bracket holds the truth and is narrow."""
    assert found.lower <= truth <= found.upper
    assert truth == math.inf or found.upper - found.lower <= 1e-9 * max(1.0, truth)


def noisy(x: Any) -> Any:
    return x + dpest.laplace(1.0)


INPUTS: dict[str, tuple[Any, tuple[Any, Any], float]] = {
    "one row less": (lambda rows: noisy(len(rows)), ([3, 1, 2], [3, 1]), 1.0),
    "an empty list": (lambda rows: noisy(sum(rows)), ([], [0.5]), 0.5),
    "NaN in a list": (lambda rows: noisy(np.nansum(rows)), ([1.0, NAN], [1.0, 0.25]), 0.25),
    "NaN alone": (lambda x: noisy(0.0 if math.isnan(x) else x), (NAN, 0.5), 0.5),
    "NaN added to noise": (noisy, (NAN, 0.5), math.inf),
    "NaN on both sides": (noisy, (NAN, NAN), 0.0),
    "infinity added to noise": (noisy, (math.inf, 0.5), math.inf),
    "NaN under a comparison": (lambda x: noisy(x) > 0, (NAN, -NAN), 0.0),
    "None in a list": (lambda rows: noisy(sum(r for r in rows if r is not None)), ([1, None], [1, 0.5]), 0.5),
    "None alone": (lambda x: noisy(0 if x is None else x), (None, 0.75), 0.75),
    "a table of tuples": (lambda rows: noisy(sum(a > 40 for _, a in rows)), ([("x", 50), ("y", 20)], [("x", 50)]), 0.0),
    "a table of dicts": (lambda rows: noisy(sum(r["age"] for r in rows)), ([{"age": 1}, {"age": 0.5}], [{"age": 1}]), 0.5),
    "a NumPy table": (lambda t: noisy(t[:, 0].sum()), (np.array([[1.0, 2.0], [0.5, 1.0]]), np.array([[1.0, 2.0]])), 0.5),
    "a structured array": (
        lambda t: noisy(t["age"].sum()),
        (np.array([(1, 2.0)], dtype=[("id", int), ("age", float)]), np.array([(1, 2.5)], dtype=[("id", int), ("age", float)])),
        0.5,
    ),
    "a dict of counts": (lambda d: {k: noisy(d.get(k, 0)) for k in "ab"}, ({"a": 1, "b": 1}, {"a": 1}), 1.0),
    "words": (lambda rows: noisy(Counter(rows)["cat"]), (["cat", "dog"], ["cat", "cat", "dog"]), 1.0),
    "a string": (lambda text: noisy(text.count("a")), ("abba", "abb"), 1.0),
    "a set": (lambda s: noisy(len(s)), ({1, 2}, {1}), 1.0),
    "two lists": (lambda xy: noisy(sum(xy[0]) - sum(xy[1])), (([1, 2], [3]), ([1, 2], [3.5])), 0.5),
    "two numbers": (lambda xy: noisy(xy[0] * xy[1]), ((1, 2), (1, 2.5)), 0.5),
    "the number of rows is in the answer": (lambda rows: [noisy(r) for r in rows], ([1], [1, 1]), math.inf),
}


@pytest.mark.parametrize("name", INPUTS)
def test_an_input_as_it_is(name: str) -> None:
    mechanism, pair, truth = INPUTS[name]
    close(dpest.estimate(mechanism, pair, method="exact"), truth)


def test_a_pair_of_pairs_of_lists_is_one_pair() -> None:
    """`((x, y), (x2, y2))` is a pair; several pairs come in a list."""
    assert [(p.left, p.right) for p in as_pairs((([1], [2]), ([3], [4])))] == [(([1], [2]), ([3], [4]))]
    assert len(as_pairs([([1], [2]), ([3], [4])])) == 2
    assert len(as_pairs((Pair("", 1, 2), Pair("", 3, 4)))) == 2


def test_a_pair_with_missing_values_is_stored_and_read_back() -> None:
    for pair in (Pair("", [1.0, NAN], [None, {"a": math.inf}]), Pair("", NAN, 0.0)):
        assert Pair.from_dict(pair.to_dict()) == pair
    again = Pair.from_dict(Pair("", [NAN], [1.0]).to_dict())
    assert math.isnan(again.left[0])


def test_data_of_several_lines_is_shown_in_one() -> None:
    class Frame:
        def __repr__(self) -> str:
            return "  a  b\n0 1  2\n"

    assert show(Frame()) == "a b 0 1 2"
    assert show({"a": 1.0, "b": [2.0]}) == "{'a': 1, 'b': [2]}"


def test_sampling_and_audits_take_pairs_of_different_length_too() -> None:
    def count(rows: Any) -> Any:
        return noisy(len(rows)) > 2

    found = dpest.estimate(count, ([1, 1], [1, 1, 1]), method="sampling", samples=20_000, seed=1)
    truth = math.log((1 - math.exp(-1) / 2) / 0.5)
    assert found.lower <= math.log(0.5 / (math.exp(-1) / 2)) <= found.upper
    assert truth < math.log(0.5 / (math.exp(-1) / 2))


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Level(enum.IntEnum):
    LOW = 0
    HIGH = 1


Answer = namedtuple("Answer", ["index", "value"])


class Typed(NamedTuple):
    kind: Colour
    value: Any


@dataclass
class Release:
    label: str
    value: Any
    kept: bool = True


def coin(x: int) -> Any:
    """x with probability 3/4, and 1 - x otherwise."""
    return x if dpest.bernoulli(0.75) else 1 - x


OUTPUTS: dict[str, tuple[Any, float]] = {
    "a set": (lambda x: {coin(x)}, LN3),
    "a frozenset of two": (lambda x: frozenset([coin(x), 7]), LN3),
    "a set of strings": (lambda x: {"ab"[coin(x)]}, LN3),
    "a set of tuples": (lambda x: {(coin(x), "a"), (5, "b")}, LN3),
    "a set of random indices": (lambda x: {dpest.categorical([0.25, 0.75] if x else [0.75, 0.25])}, LN3),
    "an empty set or not": (lambda x: {1} if coin(x) else set(), LN3),
    "an Enum": (lambda x: Colour.RED if coin(x) else Colour.BLUE, LN3),
    "an IntEnum": (lambda x: Level.HIGH if coin(x) else Level.LOW, LN3),
    "a named tuple with a random field": (lambda x: Answer(0, noisy(x)), 1.0),
    "a named tuple with an Enum": (lambda x: Typed(Colour.RED if coin(x) else Colour.BLUE, noisy(x)), 1.0 + LN3),
    "a dataclass": (lambda x: Release("a", coin(x)), LN3),
    "a dataclass with a random field": (lambda x: Release("a" if coin(x) else "b", noisy(x)), 1.0 + LN3),
    "records in a list": (lambda x: [Release("a", noisy(x)), Release("b", noisy(x))], 2.0),
    "a dict by a random key": (lambda x: {dpest.integers(0, 1): coin(x)}, LN3),
    "a dict by a pair of random keys": (lambda x: {(dpest.integers(0, 1), "a"): coin(x)}, LN3),
    "a counter": (lambda x: Counter(["a"] * (1 + coin(x))), LN3),
    "a chosen index beside its noisy value": (lambda x: _select(x), 0.5 + 1.0),
}


def _select(x: int) -> Any:
    scores = [1 + x, 2]
    total = math.exp(0.5 * scores[0]) + math.exp(1)
    i = dpest.categorical([math.exp(0.5 * s) / total for s in scores])
    return i, noisy(3 * scores[i] / 3)


@pytest.mark.parametrize("name", OUTPUTS)
def test_an_output_as_it_is(name: str) -> None:
    mechanism, truth = OUTPUTS[name]
    if mechanism is OUTPUTS["a chosen index beside its noisy value"][0]:
        p = [math.exp(0.5) / (math.exp(0.5) + math.e), 0.5]
        truth = max(abs(math.log(p[0] / p[1])) + 1.0, abs(math.log((1 - p[0]) / (1 - p[1]))))
    close(dpest.estimate(mechanism, (0, 1), method="exact"), truth)


def test_the_witness_names_members_and_fields() -> None:
    assert "{" in str(dpest.estimate(OUTPUTS["a set"][0], (0, 1)).witness)
    assert "Colour." in str(dpest.estimate(OUTPUTS["an Enum"][0], (0, 1)).witness)
    assert "Release(label='a', value=" in str(dpest.estimate(OUTPUTS["a dataclass"][0], (0, 1)).witness)


@pytest.mark.parametrize("name", ["a set", "an Enum", "a dataclass"])
def test_sampling_sees_the_same_outputs(name: str) -> None:
    found = dpest.estimate(OUTPUTS[name][0], (0, 1), method="sampling", samples=20_000, seed=1)
    assert found.lower <= LN3 <= found.upper
