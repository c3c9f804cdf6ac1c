"""Loops and choices whose ways come together again, as published code writes them, against sums that are not the engine's."""

from __future__ import annotations

import itertools
import math
import random
import secrets
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpest


def known(mechanism: Callable[..., Any], pair: tuple[Any, Any], truth: float) -> bool:
    """Whether a narrow bracket holds the truth, which is known to 1e-9."""
    r = dpest.estimate(mechanism, pair, method="exact")
    return r.lower <= truth + 1e-9 and truth - 1e-9 <= r.upper and r.upper - r.lower < 1e-5


# -- a few of very many random bits ------------------------------------------------------------------------------------


def picked_by_a_mask(votes: list[int]) -> int:
    return votes[secrets.randbits(32) & 3]


def picked_by_a_remainder(votes: list[int]) -> int:
    return votes[secrets.randbits(48) % 4]


def answered_by_three_of_four(bit: int) -> int:
    return bit if secrets.randbits(32) & 3 else 1 - bit


def picked_with_a_bias(votes: list[int]) -> int:
    return votes[random.getrandbits(20) % 3]


@pytest.mark.parametrize("mechanism", [picked_by_a_mask, picked_by_a_remainder])
def test_an_index_from_the_last_of_many_bits(mechanism: Any) -> None:
    assert known(mechanism, ([0, 1, 1, 0], [1, 1, 1, 0]), math.log(2))


def test_a_truth_value_of_the_last_of_many_bits() -> None:
    assert known(answered_by_three_of_four, (0, 1), math.log(3))


def test_a_remainder_that_is_not_quite_fair() -> None:
    """2^20 = 3 * 349525 + 1: residue 0 comes once more."""
    n = 2**20 // 3
    assert known(picked_with_a_bias, ([1, 1, 0], [0, 1, 0]), math.log((2 * n + 1) / n))


# -- the shuffled model: what many people answered, counted --------------------------------------------------------------

PEOPLE = [0] * 20 + [1] * 20, [0] * 19 + [1] * 21


def shuffled_counts(bits: list[int], rng: np.random.Generator) -> Any:
    reports = [b if rng.random() < 0.75 else int(rng.integers(2)) for b in bits]
    rng.shuffle(reports)
    return Counter(reports)


def shuffled_words(bits: list[int]) -> Any:
    reports = ["yes" if random.random() < (0.875 if b else 0.125) else "no" for b in bits]
    random.shuffle(reports)
    return Counter(reports)


def counts_of_ones(bits: list[int]) -> list[Fraction]:
    """The law of how many say 1, where each says the truth with chance 7/8."""
    law = [Fraction(1)]
    for b in bits:
        p = Fraction(7 if b else 1, 8)
        law = [x * (1 - p) + y * p for x, y in zip([*law, Fraction()], [Fraction(), *law], strict=True)]
    return law


@pytest.mark.parametrize("mechanism", [shuffled_counts, shuffled_words])
def test_forty_people_shuffled_and_counted(mechanism: Any) -> None:
    ratios = [p / q for p, q in zip(*map(counts_of_ones, PEOPLE), strict=True)]
    assert known(mechanism, PEOPLE, max(abs(math.log(x)) for x in ratios))


def three_answers(values: list[int]) -> Any:
    reports = [v if random.random() < 0.75 else random.choice([0, 1, 2]) for v in values]
    random.shuffle(reports)
    return Counter(reports)


def test_three_answers_shuffled_and_counted() -> None:
    """By going through all answers of six people."""
    pair = [0, 0, 1, 1, 2, 2], [0, 1, 1, 1, 2, 2]
    laws: list[Counter[Any]] = []
    for values in pair:
        law: Counter[Any] = Counter()
        for answers in itertools.product(range(3), repeat=6):
            chances = (Fraction(10 if a == v else 1, 12) for a, v in zip(answers, values, strict=True))
            law[tuple(sorted(answers))] += math.prod(chances)  # type: ignore[assignment]
        laws.append(law)
    truth = max(abs(math.log(laws[0][x] / laws[1][x])) for x in laws[0])
    assert known(three_answers, pair, truth)


def joined(bits: list[int]) -> str:
    reports = ["y" if random.random() < (0.75 if b else 0.25) else "n" for b in bits]
    random.shuffle(reports)
    return "".join(reports)


def test_shuffled_words_are_joined_to_a_text() -> None:
    """As many orders for each number of words: the loss is that of the number, 3 for none or all of them."""
    assert known(joined, ([0, 1], [1, 1]), math.log(3))


# -- minibatches ---------------------------------------------------------------------------------------------------------

BATCHES = [0.0, 1.0, 2.0, 4.0, 5.0, 7.0], [0.0, 1.0, 2.0, 4.0, 5.0, 8.0]


def sum_of_a_sample(data: list[float]) -> Any:
    return sum(random.sample(data, 3)) + dpest.laplace(1)


def sum_of_a_choice(data: list[float], rng: np.random.Generator) -> Any:
    return rng.choice(data, 3, replace=False).sum() + rng.laplace(0, 1)


def sum_at_chosen_places(data: list[float], rng: np.random.Generator) -> Any:
    values = np.array(data)
    places = rng.choice(len(data), 3, replace=False)
    return values[places].sum() + rng.laplace(0, 1)


def sum_at_sampled_places(data: list[float], rng: np.random.Generator) -> Any:
    places = random.sample(range(len(data)), 3)
    return np.array(data)[places].sum() + rng.laplace(0, 1)


@pytest.mark.parametrize("mechanism", [sum_of_a_sample, sum_of_a_choice, sum_at_chosen_places, sum_at_sampled_places])
def test_the_noisy_sum_of_a_batch(mechanism: Any) -> None:
    """Between kinks a density is a e^y + b e^-y: the ratio of two such has its extremes at the ends."""

    def density(data: list[float], y: float) -> float:
        return math.fsum(math.exp(-abs(y - sum(batch))) for batch in itertools.combinations(data, 3))

    kinks = {sum(batch) for data in BATCHES for batch in itertools.combinations(data, 3)} | {-50.0, 80.0}
    truth = max(abs(math.log(density(BATCHES[0], y) / density(BATCHES[1], y))) for y in kinks)
    assert known(mechanism, BATCHES, truth)


def smallest_and_first(data: list[float], rng: np.random.Generator) -> Any:
    batch = rng.choice(data, 2, replace=False)
    return min(batch), batch[0]


def test_the_order_of_a_batch_is_drawn_where_it_is_looked_at() -> None:
    """(1, 1) comes only where two values are 1."""
    law, other = (Counter((min(b), b[0]) for b in itertools.permutations(data, 2)) for data in ([0, 1, 1], [0, 0, 1]))
    assert law.keys() == {(0, 0), (0, 1), (1, 1)}
    assert other.keys() == {(0, 0), (0, 1)}
    r = dpest.estimate(smallest_and_first, ([0.0, 1.0, 1.0], [0.0, 0.0, 1.0]), method="exact")
    assert r.lower == math.inf


def sampled_in_order(data: list[float]) -> Any:
    return random.sample(data, 2)


def test_a_released_sample_has_an_order_that_says_nothing() -> None:
    """Every ordered pair of the values is as likely; one value that is another one shows."""
    assert dpest.estimate(sampled_in_order, ([1, 2, 3], [3, 1, 2]), method="exact").upper < 1e-12
    assert dpest.estimate(sampled_in_order, ([1, 2, 3], [1, 2, 4]), method="exact").lower == math.inf
