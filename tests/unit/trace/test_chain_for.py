"""`for` loops as chains of states: against the same programs run on every sequence of draws, and against closed forms."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpest
from dpest.run.settings import Sides, sides_kept
from tests.unit.trace.test_chain import enumerated


def walks(x: int, rng: np.random.Generator) -> Any:
    place = 1 + x
    for _ in range(6):
        place = min(place + 1, 3) if rng.random() < 0.25 else max(place - 1, 0)
    return place


def goes_through_pairs(x: int, rng: np.random.Generator) -> Any:
    n = x
    for i, p in enumerate([0.25, 0.5, 0.75, 0.5, 0.25]):
        if rng.random() < p:
            n = (n + i) % 3
    return n


def goes_through_a_dict(x: int, rng: np.random.Generator) -> Any:
    chances, out = {"a": 0.25, "b": 0.5 + 0.25 * x, "c": 0.5, "d": 0.25, "e": 0.5}, ""
    for name, p in chances.items():
        if rng.random() < p:
            out = name
        elif name == "c":
            continue
    return out


def takes_two_at_a_time(x: int, rng: np.random.Generator) -> Any:
    left, n = iter([x, 1, 0, 1, 1, 0, 1, 0]), 0
    for a in left:
        b = next(left)
        if rng.random() < 0.25 + 0.25 * a:
            n = (n + b) % 3
            if rng.random() < 0.5:
                next(left, None)
                next(left, None)
    return n


def grows_as_it_goes(x: int, rng: np.random.Generator) -> Any:
    todo, n = [x, 1], 0
    for a in todo:
        if len(todo) < 6 and rng.random() < 0.5:
            todo.append(1 - a)
        if rng.random() < 0.75:
            n = (n + a) % 3
    return n


def changes_what_is_left(x: int, rng: np.random.Generator) -> Any:
    values, n = [0, 1, 0, 1, 0, 1], 0
    for i, a in enumerate(values):
        if i + 1 < len(values) and rng.random() < 0.5:
            values[i + 1] = x
        if rng.random() < 0.25 + 0.5 * a:
            n = 1 - n
    return n


def nests(x: int, rng: np.random.Generator) -> Any:
    n = x
    for i in range(3):
        for j in (1, 2):
            if rng.random() < 0.5:
                n = (n + i * j) % 4
                break
        else:
            n = 0
    return n


def holds_a_number(x: int, rng: np.random.Generator) -> Any:
    scores, now = [0, 1 + x, 2], 0
    for _ in range(4):
        new = rng.integers(3)
        if rng.random() < 0.125 * (3 + scores[new] - scores[now]):
            now = new
    return int(now)


def compares_in_a_row(x: int, rng: np.random.Generator) -> Any:
    def roll(box: list[int]) -> Any:
        for _ in range(2):
            box[0] = rng.integers(4)
            if box[0] < 3:
                break
        return box[0]

    n, box = 0, [0]
    for _ in range(2):
        if x <= roll(box) < roll(box):
            n += 1
    return n


def counts_in_a_helper(x: int, rng: np.random.Generator) -> Any:
    def add(counts: dict[int, int], k: int, kept: list[int] = []) -> int:  # noqa: B006
        counts[k] = counts.get(k, 0) + 1
        return sum(counts.values())

    counts: dict[int, int] = {}
    for p in (0.25, 0.5, 0.75, 0.5, 0.25):
        add(counts, 1 if rng.random() < p + 0.25 * x else 0)
    return counts.get(1, 0)


FOR_LOOPS = [
    walks,
    goes_through_pairs,
    goes_through_a_dict,
    takes_two_at_a_time,
    grows_as_it_goes,
    changes_what_is_left,
    nests,
    holds_a_number,
    compares_in_a_row,
    counts_in_a_helper,
]


@pytest.mark.parametrize("mechanism", FOR_LOOPS)
def test_a_for_loop_has_the_law_of_all_its_sequences(mechanism: Callable[..., Any]) -> None:
    (p, rest), (q, _) = (enumerated(mechanism, x, Fraction(1, 2**200)) for x in (0, 1))
    assert rest == 0
    high = math.inf if p.keys() != q.keys() else max(abs(math.log(p[k] / q[k])) for k in p)
    for sides in (Sides.BY_STATES, Sides.AS_NEEDED):
        with sides_kept(sides):
            found = dpest.estimate(mechanism, (0, 1), method="exact")
        assert found.lower - 1e-10 <= high <= found.upper + 1e-10
        assert found.upper - found.lower < 1e-9 or found.lower == math.inf


def walked(start: int, rounds: int, up: float, last: int) -> np.ndarray:
    """Where a walk between two walls is after some rounds."""
    v = np.zeros(last + 1)
    v[start] = 1.0
    for _ in range(rounds):
        w = np.zeros(last + 1)
        for i, p in enumerate(v):
            w[min(i + 1, last)] += up * p
            w[max(i - 1, 0)] += (1 - up) * p
        v = w
    return v


@pytest.mark.parametrize("rounds", [1, 20, 60])
@pytest.mark.parametrize("up", [0.001, 0.5, 0.99])
def test_a_long_walk(rounds: int, up: float) -> None:
    def mechanism(x: int, rng: np.random.Generator) -> int:
        place = x
        for _ in range(rounds):
            place = min(place + 1, 5) if rng.random() < up else max(place - 1, 0)
        return place

    a, b = walked(2, rounds, up, 5), walked(3, rounds, up, 5)
    truth = math.inf if ((a > 0) != (b > 0)).any() else float(np.max(np.abs(np.log(a[a > 0] / b[a > 0]))))
    found = dpest.estimate(mechanism, (2, 3), method="exact")
    assert found.lower <= truth + 1e-9
    assert found.upper >= truth - 1e-9
    assert found.upper - found.lower < 1e-6 or truth == found.lower == math.inf


@pytest.mark.parametrize("rounds", [1, 20])
def test_a_metropolis_sampler(rounds: int) -> None:
    """A candidate is drawn in each round, and taken with chance min(1, ratio): powers of the matrix of a round."""

    def mechanism(scores: list[int]) -> int:
        now = 0
        for _ in range(rounds):
            new = random.randrange(len(scores))
            if random.random() < math.exp(0.5 * (scores[new] - scores[now])):
                now = new
        return now

    def law(scores: list[int]) -> np.ndarray:
        n = len(scores)
        chances = np.array([[min(1.0, math.exp(0.5 * (b - a))) / n for b in scores] for a in scores])
        chances += np.diag(1.0 - chances.sum(axis=1))
        return np.linalg.matrix_power(chances, rounds)[0]

    a, b = [3, 1, 4, 1], [2, 2, 4, 2]
    truth = float(np.max(np.abs(np.log(law(a) / law(b)))))
    found = dpest.estimate(mechanism, (a, b), method="exact")
    assert found.lower - 1e-10 <= truth <= found.upper + 1e-10
    assert found.upper - found.lower < 1e-8
