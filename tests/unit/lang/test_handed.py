"""Each run of a mechanism has its data to itself, and may change it."""

from __future__ import annotations

import math
import random
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import dpest
from dpest.lang.handed import handed


@dataclass
class Person:
    age: int
    bits: list[int]


@dataclass(frozen=True, slots=True)
class Locked:
    bits: list[int]


def _flips_what_is_locked(row: Locked) -> int:
    if random.random() < 0.25:
        row.bits[0] = 1 - row.bits[0]
    return row.bits[0]


def _flips(rows: list[int]) -> int:
    for i in range(len(rows)):
        if random.random() < 0.25:
            rows[i] = 1 - rows[i]
    return rows.count(1)


def _flips_inside(rows: dict[str, list[int]]) -> int:
    for row in rows.values():
        if random.random() < 0.25:
            row[0] = 1 - row[0]
    return sum(row[0] for row in rows.values())


def _flips_a_person(person: Person) -> int:
    if random.random() < 0.25:
        person.bits[0] = 1 - person.bits[0]
    return person.bits[0]


def _takes_out(rows: list[int], rng: np.random.Generator) -> int:
    x = rows.pop(int(rng.integers(len(rows))))
    return x if rng.random() < 0.75 else rows.pop()


_ROWS: list[tuple[Callable[..., Any], Any, Any, float]] = [
    (_flips, [1, 0, 1], [0, 0, 1], math.log(3)),
    (_flips_inside, {"a": [1], "b": [1]}, {"a": [0], "b": [1]}, math.log(3)),
    (_flips_a_person, Person(3, [1]), Person(3, [0]), math.log(3)),
    (_flips_what_is_locked, Locked([1]), Locked([0]), math.log(3)),
    (_takes_out, [1, 1], [0, 1], math.inf),
]


@pytest.mark.parametrize(("mechanism", "left", "right", "truth"), _ROWS)
def test_changes_to_the_data_end_with_the_run(mechanism: Callable[..., Any], left: Any, right: Any, truth: float) -> None:
    """Oracle: one flipped bit; of the counts, the ends are reached through that bit alone."""
    before = repr((left, right))
    assert dpest.estimate(mechanism, (left, right), method="exact").epsilon == pytest.approx(truth, rel=1e-9)
    assert repr((left, right)) == before


def test_noise_that_is_added_in_place_is_noise() -> None:
    def released(rows: list[float], rng: np.random.Generator) -> list[float]:
        for i in range(len(rows)):
            rows[i] += rng.laplace(0, 2)
        return rows

    rows = [1.0, 2.0]
    assert dpest.estimate(released, (rows, [1.0, 3.0])).epsilon == 0.5
    assert rows == [1.0, 2.0]


def test_a_parameter_is_handed_over_anew_too() -> None:
    def answered(x: int, weights: list[float]) -> bool:
        return (random.random() < weights.pop()) == bool(x)

    assert dpest.estimate(answered, (0, 1), params={"weights": [0.25]}).epsilon == pytest.approx(math.log(3), rel=1e-12)


def test_an_audit_hands_over_the_data_anew() -> None:
    def shows(rows: list[int], rng: np.random.Generator) -> bool:
        rows[0] += 1
        return bool(rng.random() < (0.25 if rows[0] == 1 else 0.5 if rows[0] == 2 else 0.9))

    rows = [0]
    found = dpest.audit(shows, (rows, [1]), samples=4_000, seed=1, progress=False)
    assert rows == [0]
    assert 0.3 < found.lower < math.log(2)


def test_what_is_shared_inside_the_data_stays_shared() -> None:
    inner = [1]
    copy = handed([inner, inner, (inner, 2)])
    assert copy[0] is copy[1] is copy[2][0]
    assert copy[0] is not inner


def test_what_cannot_change_is_handed_over_as_it_is() -> None:
    locked = np.zeros(2)
    locked.flags.writeable = False
    for x in ((1, 2), "text", 3.5, None, frozenset({1}), locked, len, Person):
        assert handed(x) is x


@pytest.mark.parametrize("x", [{"a": [1]}, Counter("aab"), deque([1, [2]], maxlen=3), {1, 2}, bytearray(b"ab")])
def test_containers_keep_their_content_and_type(x: Any) -> None:
    copy = handed(x)
    assert copy == x
    assert type(copy) is type(x)
    assert copy is not x


def test_arrays_of_lists_are_copied_inside() -> None:
    held = np.empty(1, object)
    held[0] = [1]
    handed(held)[0].append(2)
    assert held[0] == [1]


def test_an_object_with_copies_of_its_own_making_is_left_alone() -> None:
    class Connection:
        def __copy__(self) -> Connection:
            raise AssertionError

    x = Connection()
    assert handed(x) is x
