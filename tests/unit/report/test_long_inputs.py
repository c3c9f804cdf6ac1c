"""Inputs and outputs of a thousand values: short in everything that a person reads, in full in the data."""

from __future__ import annotations

import json

import numpy as np
import pytest

import dpest
from dpest.inputs.shown import LONG, brief, brief_event, difference
from dpest.report.text import pairs_table

ZEROS = [0] * 1000
ONE = [0] * 17 + [1] + [0] * 982


def each(values: list[int]) -> list[object]:
    return [v + dpest.laplace(1) for v in values]


def total(values: list[int]) -> object:
    return sum(values) + dpest.laplace(1)


def test_the_text_of_a_result_is_short_and_says_where_the_inputs_differ() -> None:
    result = dpest.estimate(total, (ZEROS, ONE))
    text = str(result)
    assert len(text.splitlines()) < 10
    assert "D = [0, 0, 0, 0, 0, 0, 0, 0, ..., 0, 0, 0, 0] (1,000 values)" in " ".join(text.split())
    assert "they differ at [17]: 0 and 1" in " ".join(text.split())
    assert max(map(len, pairs_table(result).splitlines())) < 200
    assert len(result._repr_html_()) < 60_000


def test_json_holds_the_inputs_and_the_event_in_full() -> None:
    stored = json.loads(dpest.estimate(each, (ZEROS[:60], ONE[:60])).to_json())
    assert stored["pair"]["D"] == ZEROS[:60]
    assert stored["pair"]["D_prime"] == ONE[:60]
    assert stored["witness"]["event"].startswith("output == [x0, x1, ")
    assert "..." not in stored["witness"]["event"]


def test_a_witness_of_many_values_names_the_one_that_matters() -> None:
    result = dpest.estimate(each, (ZEROS[:60], ONE[:60]))
    text = " ".join(str(result).split())
    assert "x56, x57, x58, x59] (60 values) with x17 <= 0;" in text
    assert "any x" not in text
    assert "any x" not in str(result.witness)


def test_a_value_that_the_event_fixes_is_named() -> None:
    result = dpest.estimate(lambda x: [dpest.bernoulli(0.25 + 0.5 * v) for v in x], (ZEROS[:40], ONE[:40]))
    assert "(40 values, of them [17] = 0)" in " ".join(str(result).split())


def test_the_event_behind_a_delta_names_one_value_of_many() -> None:
    result = dpest.estimate(lambda x: [v + dpest.gaussian(1) for v in x], (ZEROS[:40], ONE[:40]))
    assert str(result.delta_witness(1.0)).startswith("S: x < -0.5 in output [any (17 times), x, any (22 times)]; P(S) = 0.308538")
    few = dpest.estimate(lambda x: [v + dpest.gaussian(1) for v in x], ([0, 0, 0], [0, 1, 0]))
    assert "in output [any, x, any];" in str(few.delta_witness(1.0))


def test_an_audit_of_a_long_input_prints_few_characters() -> None:
    result = dpest.audit(total, (ZEROS, ONE), samples=1000, seed=1, progress=False)
    assert max(map(len, str(result).splitlines())) < 250


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ([1.0, 2.5], "[1, 2.5]"),
        (list(range(LONG)), str(list(range(LONG)))),
        (tuple(range(100)), "(0, 1, 2, 3, 4, 5, 6, 7, ..., 96, 97, 98, 99) (100 values)"),
        (np.zeros(100), "[0, 0, 0, 0, 0, 0, 0, 0, ..., 0, 0, 0, 0] (100 values)"),
        ([[1, 2]] * 100, "[[1, 2], [1, 2], ..., [1, 2]] (100 values)"),
        ([[1] * 30], "[[1, 1, 1, 1, 1, 1, 1, 1, ..., 1, 1, 1, 1] (30 values)]"),
        ("a" * 1000, f"'{'a' * 119} ... {'a' * 49}' (1,002 characters)"),
        ((1,), "(1,)"),
    ],
)
def test_long_data_are_shown_by_their_ends(data: object, text: str) -> None:
    assert brief(data) == text


@pytest.mark.parametrize(
    ("left", "right", "words"),
    [
        ([1, 2, 3], [1, 2, 3], "they are equal"),
        ([1, 2, 3], [2, 3, 4], "they differ at every place"),
        ([0, 0, 0, 0, 0], [0, 1, 1, 1, 0], "they differ at [1] to [3]"),
        ([0] * 9, [1, 0, 1, 0, 1, 0, 1, 0, 1], "they differ at 5 places, the first [0], the last [8]"),
        ([0, 0, 0], [0, float("nan"), 0], "they differ at [1]: 0 and nan"),
        ([1, 2, 3], [1, 3], "D has 3 values and D' 2, the first that differs is [1]"),
        ([1, 2], [1, 2, 3], "D has 2 values and D' 3, the first that differs is [2]"),
        ({"a": 1}, {"a": 2}, ""),
    ],
)
def test_where_two_inputs_differ(left: object, right: object, words: str) -> None:
    assert difference(left, right) == words


def test_short_events_stay_as_they_are() -> None:
    for event in ("output == (1, x) with x <= 0", "output == [x, y] with any x, y = 3", "output <= 10", "any output"):
        assert brief_event(event) == event
    many = "output == [0, x, y, z, x1] with any x, any y, any z, any x1"
    assert brief_event(many) == "output == [0, x, y, z, x1] with any values for the letters"
    assert len(brief_event("output[0] " * 500)) < 700
