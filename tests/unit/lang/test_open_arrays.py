"""Noise that is written into arrays, and places in arrays that are random, against closed forms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import dpest
from dpest.errors import ExactRefused, MechanismRaised
from dpest.lang.generators.open_arrays import open_arrays


def bracket(mechanism: Any, pair: Any, truth: float) -> None:
    found = dpest.estimate(mechanism, pair, method="exact")
    assert found.lower - 1e-12 <= truth <= found.upper + 1e-12
    assert found.upper - found.lower <= 1e-6


def test_noise_is_added_in_place() -> None:
    def histogram(rows: list[int], rng: np.random.Generator) -> Any:
        counts = np.bincount(rows, minlength=3).astype(float)
        counts += rng.laplace(scale=2.0, size=3)
        return counts

    bracket(histogram, ([0, 1, 2], [0, 1, 1]), 2 / 2.0)


def test_noise_is_written_element_by_element() -> None:
    def totals(stream: list[int], rng: np.random.Generator) -> Any:
        released, total = np.empty(len(stream)), 0
        for t, x in enumerate(stream):
            total += x
            released[t] = total + rng.laplace(scale=4.0)
        return released

    bracket(totals, ([1, 0, 0, 1], [0, 0, 0, 1]), 4 / 4.0)


def test_a_function_that_changes_its_argument_changes_the_array() -> None:
    def noisy(x: float, rng: np.random.Generator) -> Any:
        def add_noise(part: Any) -> None:
            part += rng.laplace(size=part.shape)

        table = np.zeros((2, 2))
        table[0, 0] = x
        add_noise(table[0])
        return table[0]

    bracket(noisy, (0.0, 1.0), 1.0)


def test_rows_at_random_places() -> None:
    def bootstrap(rows: list[float], rng: np.random.Generator) -> Any:
        rows = np.array(rows)
        return rows[rng.integers(0, len(rows), size=2)].sum() + rng.laplace()

    weights = [4 / 9, 4 / 9, 1 / 9]  # of the changed row being taken 0, 1 and 2 times
    bracket(bootstrap, ([1.0, 0.0, 0.0], [0.0, 0.0, 0.0]), math.log(sum(w * math.exp(k) for k, w in enumerate(weights))))


def test_counts_of_random_categories() -> None:
    def reports(x: list[int], rng: np.random.Generator) -> Any:
        flips = rng.integers(0, 4, size=2)  # 0 in one of four: the answer is the other one
        return np.bincount([v if f else 1 - v for v, f in zip(x, flips, strict=True)], minlength=2)

    def random_categories(x: int, rng: np.random.Generator) -> Any:
        return np.bincount(rng.integers(0, 2, size=2), minlength=2) + np.array([x, 0])

    bracket(reports, ([0, 1], [1, 1]), math.log(3))
    bracket(random_categories, (0, 0), 0.0)


def test_whole_numbers_stay_whole() -> None:
    def counts(x: int, rng: np.random.Generator) -> Any:
        held = np.zeros(2, dtype=int)
        held[0] = x
        held += rng.geometric(0.5, size=2)
        held -= rng.geometric(0.5, size=2)
        return held

    def refused(x: int, rng: np.random.Generator) -> Any:
        held = np.zeros(2, dtype=int)
        held += rng.laplace(size=2)  # NumPy raises here too
        return held + x

    def cut_off(x: float, rng: np.random.Generator) -> Any:
        held = np.zeros(1, dtype=int)
        held[0] = x + rng.uniform(0.0, 4.0)
        return held[0] == 0

    bracket(counts, (0, 1), math.log(2))
    with pytest.raises(MechanismRaised):
        dpest.estimate(refused, (0, 1), method="exact")
    with open_arrays():
        bracket(cut_off, (0.0, 0.5), math.log((1 / 4) / (1 / 8)))


def test_elementary_functions_of_mixed_arrays() -> None:
    def weights(x: float, rng: np.random.Generator) -> Any:
        return np.exp(np.array([0.0, 1.0]) * (x + rng.laplace(scale=2.0)))

    def rounded(x: float, rng: np.random.Generator) -> Any:
        return np.round(np.array([1.0, x + rng.laplace(scale=2.0)]), 1)

    bracket(weights, (0.0, 1.0), 0.5)
    bracket(rounded, (0.0, 1.0), 0.5)


def test_masks_and_in_place_choices() -> None:
    def not_negative(rows: list[int], rng: np.random.Generator) -> Any:
        counts = np.zeros(2)
        for r in rows:
            counts[r] += 1
        counts += rng.laplace(size=2)
        counts[counts < 0] = 0.0
        return counts

    bracket(not_negative, ([0, 1], [0]), 1.0)


def test_functions_that_change_an_array_where_it_is() -> None:
    def counts(rows: list[int], rng: np.random.Generator) -> Any:
        held = np.zeros(3)
        np.add.at(held, rows, 1)
        held += rng.laplace(scale=2.0, size=3)
        return held

    def whole_counts(rows: list[int], rng: np.random.Generator) -> Any:
        held = np.zeros(3, dtype=int)
        np.add.at(held, np.array(rows), 1)
        held += rng.geometric(1 - math.exp(-0.5), size=3) - rng.geometric(1 - math.exp(-0.5), size=3)
        return held

    bracket(counts, ([0, 1, 1], [0, 1, 2]), 2 / 2.0)
    bracket(whole_counts, ([0, 1, 1], [0, 1, 2]), 2 * 0.5)


def _copied(held: Any, row: Any) -> None:
    np.copyto(held, row)


def _put(held: Any, row: Any) -> None:
    np.put(held, [0, 1], row)


def _masked(held: Any, row: Any) -> None:
    np.putmask(held, [True, True], row)


def _placed(held: Any, row: Any) -> None:
    np.place(held, np.array([True, True]), row)


def _clipped_into(held: Any, row: Any) -> None:
    np.clip(row, -9.0, 9.0, out=held)


def _summed_into(held: Any, row: Any) -> None:
    np.cumsum([row[0], row[1] - row[0]], out=held)


def _added_where(held: Any, row: Any) -> None:
    held += row
    np.add(held, 100.0, out=held, where=np.array([False, False]))


def _subtracted_at(held: Any, row: Any) -> None:
    np.subtract.at(held, np.array([0, 1]), [-row[0], -row[1]])


@pytest.mark.parametrize(
    "write", [_copied, _put, _masked, _placed, _clipped_into, _summed_into, _added_where, _subtracted_at]
)
def test_what_functions_write_into_open_arrays_stays_there(write: Any) -> None:
    def noisy(row: list[float], rng: np.random.Generator) -> Any:
        held = np.zeros(2)
        write(held, row)
        held += rng.laplace(scale=2.0, size=2)
        return held

    bracket(noisy, ([0.0, 1.0], [1.0, 3.0]), 3 / 2.0)


def test_noise_that_is_added_at_places() -> None:
    def noisy(x: float, rng: np.random.Generator) -> Any:
        held = np.zeros(2)
        np.add.at(held, [0, 0, 1], [x, rng.laplace(scale=2.0), rng.laplace(scale=2.0)])
        return held

    bracket(noisy, (0.0, 1.0), 1 / 2.0)


def test_noise_without_a_bound_in_an_array_of_whole_numbers() -> None:
    def counts(rows: list[int], rng: np.random.Generator) -> Any:
        out = np.zeros(len(rows), dtype=np.int64)
        for i in range(len(rows)):
            out[i] = rows[i] + rng.geometric(1 - np.exp(-0.7)) - rng.geometric(1 - np.exp(-0.7))
        return out

    bracket(counts, ([2, 1], [2, 0]), 0.7)


def test_what_is_refused_with_arrays_that_hold_noise_is_told_and_not_what_plain_arrays_refuse() -> None:
    def multiplied(x: int, rng: np.random.Generator) -> Any:
        counts = np.zeros(2)
        counts[0] = x
        counts += rng.laplace(size=2)
        return counts * counts.sum()

    with pytest.raises(ExactRefused, match="a product of two random values"):
        dpest.estimate(multiplied, (0, 1), method="exact")
