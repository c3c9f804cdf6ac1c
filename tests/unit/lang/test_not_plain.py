"""A stand-in is never text, never a key, never a plain number by accident."""

from __future__ import annotations

import copy
import functools
import json
import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

import dpest
from dpest.errors import DpestError, MechanismRaised, RandomTruth


def value(x: float) -> Any:
    return x + dpest.laplace(1.0)


def index() -> Any:
    return dpest.integers(0, 3)


@functools.lru_cache
def remembered(x: Any) -> Any:
    return x


TEXT: dict[str, Callable[[float], Any]] = {
    "an f-string with a format": lambda x: f"{value(x):.2g}",
    "an f-string that is looked into": lambda x: f"{value(x)}"[0],
    "the text of a comparison": lambda x: str(value(x) > 0),
    "repr": lambda x: repr(value(x)),
    "format": lambda x: format(value(x), "g"),
    "str.format": lambda x: "{:>{}}".format(value(x), 9),
    "a percent sign": lambda x: "%20s" % value(x),  # noqa: UP031
    "a list as text": lambda x: str([value(x)]),
    "an array as text": lambda x: str(dpest.laplace(1.0, size=2) + x),
    "an array of text": lambda x: (dpest.laplace(1.0, size=2) + x).astype(str),
}
KEYS: dict[str, Callable[[float], Any]] = {
    "dict.get": lambda x: {0: "a", 1: "b"}.get(value(x), "d"),
    "in a set": lambda x: value(x) in {0, 1},
    "a counter": lambda x: Counter([value(x), value(x)])[0],
    "a set": lambda x: len({value(x), value(x)}),
    "a new key": lambda x: {value(x): 1},
    "a cached function": lambda x: remembered(value(x)),
    "hash": lambda x: hash(value(x)),
}
NUMBERS: dict[str, tuple[Callable[[float], Any], str]] = {
    "math.gamma": (lambda x: math.gamma(value(x)), "a plain float"),
    "complex": (lambda x: complex(value(x)), "a plain float"),
    "an index": (lambda x: [1, 2, 3, 4][value(x)], "if k == 0"),
    "a range": (lambda x: len(range(value(x))), "if k == 0"),
    "a character": (lambda x: chr(value(x)), "character code"),
}


@pytest.mark.parametrize("name", TEXT)
def test_it_has_no_text_in_a_mechanism(name: str) -> None:
    with pytest.raises(RandomTruth, match="has no text inside a mechanism.*Return the value itself"):
        dpest.estimate(TEXT[name], (0, 1))


@pytest.mark.parametrize("name", KEYS)
def test_it_is_no_key_in_a_mechanism(name: str) -> None:
    with pytest.raises(RandomTruth, match="cannot be looked up inside a mechanism.*if k == 0"):
        dpest.estimate(KEYS[name], (0, 1))


@pytest.mark.parametrize("name", NUMBERS)
def test_it_is_no_plain_number(name: str) -> None:
    mechanism, words = NUMBERS[name]
    with pytest.raises(RandomTruth) as refusal:
        dpest.estimate(mechanism, (0, 1))
    assert words in str(refusal.value)


@pytest.mark.parametrize(
    "mechanism",
    [
        lambda x: json.JSONEncoder().encode([value(x)]),
        lambda x: "".join([value(x)]),
    ],
    ids=["json", "join"],
)
def test_what_python_refuses_itself_is_explained(mechanism: Any) -> None:
    with pytest.raises(MechanismRaised, match="a Dist is a random value"):
        dpest.estimate(mechanism, (0, 1))


def test_sampling_refuses_text_and_keys_too() -> None:
    for mechanism in (TEXT["repr"], KEYS["dict.get"]):
        with pytest.raises(RandomTruth):
            dpest.estimate(mechanism, (0, 1), method="sampling", samples=1000, progress=False)


def test_outside_a_mechanism_it_can_be_looked_at() -> None:
    z = 1 + dpest.laplace(2.0)
    assert repr(z) == str(z) == f"{z}" == "<random value laplace(2) + 1>"
    assert {z: 1}[z] == 1


def test_errors_inside_a_mechanism_still_show_what_was_given() -> None:
    with pytest.raises(DpestError, match="<random value integers"):
        dpest.estimate(lambda x: dpest.laplace(1.0, size=index()), (0, 1))
    with pytest.raises(DpestError, match=r"\[<random value laplace"):
        dpest.estimate(lambda x: value(x) * [value(x)], (0, 1))


def test_a_copy_is_the_same_value() -> None:
    def mechanism(x: float) -> Any:
        z = value(x)
        return z, copy.copy(z) - z, copy.deepcopy([z])[0] - z

    assert dpest.estimate(mechanism, (0, 1)).epsilon == pytest.approx(1.0, abs=1e-12)
