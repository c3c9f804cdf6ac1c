"""Texts that are drawn one for each of many people, against the law of how many gave each answer, in fractions."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest

import dpest
from dpest.run.settings import Sides, sides_kept

ANSWERS = ("a", "b", "c")


def _pick(truth: str) -> str:
    return truth if random.random() < 0.5 else random.choice(ANSWERS)


def _law(truths: str, told: Callable[[list[str]], Any]) -> dict[Any, Fraction]:
    law: dict[Any, Fraction] = {}
    for answers in product(ANSWERS, repeat=len(truths)):
        chance = math.prod(Fraction(1, 6) + Fraction(x == t, 2) for x, t in zip(answers, truths, strict=True))
        out = repr(told(list(answers)))
        law[out] = law.get(out, Fraction(0)) + chance
    return law


def _loss(pair: tuple[str, str], told: Callable[[list[str]], Any]) -> float:
    p, q = (_law(x, told) for x in pair)
    return max(abs(math.log(p[k] / q[k])) for k in p) if p.keys() == q.keys() else math.inf


def _sorted_items(answers: list[str]) -> Any:
    return sorted(Counter(answers).items())


TOLD: list[tuple[Callable[[list[str]], Any], Callable[[list[str]], Any] | None]] = [
    (lambda x: [x.count(k) for k in ANSWERS], None),
    (lambda x: x, None),
    (lambda x: {k: Counter(x)[k] for k in ANSWERS}, None),
    (lambda x: (Counter(x).get("a", 0), Counter(x)["none of them"]), None),
    (lambda x: [sum(y == k for y in x) for k in ANSWERS], None),
    (lambda x: sum(y in ("a", "b") for y in x), None),
    (lambda x: sum(y == z for y, z in pairwise(x)), None),
    (lambda x: sum(y != z for y, z in pairwise(x)), None),
    (lambda x: sum(y == 3 for y in x), None),
    (lambda x: "".join(x), None),
    (lambda x: f"{x[0]}, {'-'.join(x[1:])}.", None),
    (lambda x: "<" + x[0] + x[1] + ">", None),
    # Asked for more than random texts tell, or a counter of them: a path for each.
    (lambda x: Counter(x), _sorted_items),
    (lambda x: Counter(x).most_common(1)[0], None),
    (lambda x: Counter(x).get("a"), None),
    (lambda x: len(Counter(x)), None),
    (lambda x: "".join(x) == "aab", None),
    (lambda x: len("".join(x)), None),
    (lambda x: "".join(x) if x[0] == "a" else "b", None),
    (lambda x: "".join(x) + str(x.count("a")), None),
    (lambda x: "-".join({"a": "", "b": "-", "c": "--"}[y] for y in x), None),  # which stands for several lists
    (lambda x: sorted(x), None),
    (lambda x: max(x), None),
    (lambda x: [y.upper() for y in x], None),
    (lambda x: sum({"a": 1, "b": 2, "c": 5}[y] for y in x), None),
    (lambda x: sorted(set(x)), None),
]


@pytest.mark.parametrize(("told", "same"), TOLD)
def test_the_loss_is_that_of_all_answers(told: Callable[[list[str]], Any], same: Callable[[list[str]], Any] | None) -> None:
    pair = ("aca", "bca")
    r = dpest.estimate(lambda truths: told([_pick(t) for t in truths]), pair, method="exact")
    truth = _loss(pair, same or told)
    assert r.lower <= truth <= r.upper
    assert r.upper - r.lower < 1e-9


@pytest.mark.parametrize("told", [x for x, _ in TOLD[:12]])
def test_so_it_is_where_nothing_forks(told: Callable[[list[str]], Any]) -> None:
    pair = ("ac", "bc")
    with sides_kept(Sides.TOGETHER):
        r = dpest.estimate(lambda truths: told([_pick(t) for t in truths]), pair, method="exact")
    assert r.lower <= _loss(pair, told) <= r.upper


def _chosen(truths: list[str], rng: np.random.Generator) -> dict[str, int]:
    answers = [rng.choice(ANSWERS, p=[0.6 if k == t else 0.2 for k in ANSWERS]) for t in truths]
    counts = Counter(answers)
    return {k: counts[k] for k in ANSWERS}


def test_a_dozen_people_are_no_path_for_each() -> None:
    r = dpest.estimate(_chosen, (["a"] * 12, ["b"] + ["a"] * 11), method="exact")
    assert r.lower <= math.log(3) + 1e-15
    assert math.log(3) - 1e-15 <= r.upper
    assert r.upper - r.lower < 1e-9


def _shuffled(truths: str) -> list[str]:
    answers = [_pick(t) for t in truths]
    random.shuffle(answers)
    return answers


def test_texts_in_a_random_order_are_a_multiset() -> None:
    pair = ("aca", "bca")
    r = dpest.estimate(_shuffled, pair, method="exact")
    assert r.lower <= _loss(pair, _sorted_items) <= r.upper


def _counter(truths: list[str]) -> Counter[str]:
    return Counter([_pick(t) for t in truths])


def _beside_another(truths: list[str]) -> tuple[int, Counter[str]]:
    return len(truths), Counter(_pick(t) for t in truths)


def _or_silent(truths: list[str]) -> Counter[str]:
    return Counter(t if random.random() < 0.5 else "silent" for t in truths)


@pytest.mark.parametrize("told", [_counter, _beside_another])
def test_a_returned_counter_of_many_people(told: Callable[[list[str]], Any]) -> None:
    """If all answers are "a", each of them was twice as likely as both others together, four times as likely as one."""
    r = dpest.estimate(told, (["a"] * 10, ["b"] + ["a"] * 9), method="exact")
    assert r.lower <= math.log(4) + 1e-15
    assert math.log(4) - 1e-15 <= r.upper
    assert r.upper - r.lower < 1e-9
    assert "'b': 0" not in str(r.witness)  # a counter has no keys of what never came


def test_keys_that_never_came_are_none() -> None:
    few = ["a", "b", "a"]
    with sides_kept(Sides.TOGETHER):
        r = dpest.estimate(lambda truths: (0, _counter(truths)), (few, ["a", "b", "b"]), method="exact")
    assert r.lower <= _loss(("aba", "abb"), _sorted_items) <= r.upper


def test_an_answer_that_only_one_input_can_give() -> None:
    assert dpest.estimate(_or_silent, (["a"] * 9, ["b"] + ["a"] * 8), method="exact").lower == math.inf
    r = dpest.estimate(_or_silent, (["a"] * 9, ["a"] * 8 + ["silent"]), method="exact")
    assert r.lower == math.inf  # nine times "a"


def _added_up(truths: list[str], rng: np.random.Generator) -> str:
    out = ""
    for t in truths:
        out += rng.choice(ANSWERS, p=[0.6 if k == t else 0.2 for k in ANSWERS])
    return out


def _by_place(truths: list[str], rng: np.random.Generator) -> str:
    levels = list(ANSWERS)
    return ",".join([t if rng.random() < 0.4 else levels[rng.integers(3)] for t in truths])


@pytest.mark.parametrize("told", [_added_up, _by_place])
def test_a_text_of_many_words(told: Callable[[list[str]], Any]) -> None:
    r = dpest.estimate(told, (["a"] * 10, ["b"] + ["a"] * 9), method="exact")
    assert r.lower <= math.log(3) + 1e-14
    assert math.log(3) - 1e-14 <= r.upper
    assert r.upper - r.lower < 1e-9


def _of_any_length(truths: str) -> str:
    words = {"a": "x", "b": "xx", "c": "xxx"}
    return "".join(words[t] if random.random() < 0.5 else random.choice(["x", "xx", "xxx"]) for t in truths)


def test_words_of_several_lengths_may_make_one_text() -> None:
    pair = ("aca", "bca")
    r = dpest.estimate(_of_any_length, pair, method="exact")
    assert r.lower <= _loss(pair, lambda answers: sum(ANSWERS.index(x) for x in answers)) <= r.upper
