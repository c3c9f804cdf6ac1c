"""Mechanisms as people write them: whole-number noise, rows of several columns, released gaps and sums.

The losses are those of hand proofs, named beside each.
"""

from __future__ import annotations

import math
from typing import Any

import pytest

import dpest
from dpest.errors import InvalidInput
from dpest.exact.proof.certificate import Certificate


def largest_count(counts: Any) -> Any:
    return dpest.argmax([c + dpest.geometric(2.0) for c in counts])


def first_above(counts: Any) -> Any:
    threshold = 2 + dpest.geometric(2.0)
    for i, c in enumerate(counts):
        if c + dpest.geometric(4.0) >= threshold:
            return i
    return None


def sick_adults(rows: Any) -> Any:
    return sum(1 for r in rows if r["age"] >= 18 and r["sick"] == 1) + dpest.geometric(2.0)


def pay_by_department(rows: Any) -> Any:
    return [sum(r["pay"] for r in rows if r["department"] == d) + dpest.laplace(10.0) for d in ("a", "b")]


def pay_in_a_dict(rows: Any) -> Any:
    totals: dict[str, Any] = {}
    for r in rows:
        totals[r["department"]] = totals.get(r["department"], 0) + r["pay"]
    return {d: totals.get(d, 0) + dpest.laplace(10.0) for d in ("a", "b")}


STAFF = {"department": ["a", "b"], "pay": (0, 10)}


@pytest.mark.parametrize(
    ("mechanism", "options", "loss"),
    [
        (pay_by_department, {"n": 3, "adjacency": "replace", "domain": STAFF}, 2 * 10 / 10),  # out of one sum, into the other
        (pay_by_department, {"n": 2, "adjacency": "add_remove", "domain": STAFF}, 10 / 10),
        (pay_in_a_dict, {"n": 2, "adjacency": "add_remove", "domain": STAFF}, 10 / 10),
        (
            lambda rows: sum(r["pay"] for r in rows if r["department"] != "b") + dpest.laplace(10.0),
            {"n": 2, "adjacency": "replace", "domain": STAFF},
            10 / 10,
        ),
        (
            lambda rows: sum(pay for flag, pay in rows if flag) + dpest.laplace(10.0),
            {"n": 2, "adjacency": "replace", "domain": ([0, 1], (0, 10))},
            10 / 10,
        ),
        (sick_adults, {"n": 2, "adjacency": "add_remove", "domain": {"age": (0, 120), "sick": [False, True]}}, 1 / 2),
    ],
)
def test_rows_of_columns(mechanism: Any, options: dict[str, Any], loss: float) -> None:
    check(mechanism, options, loss)


def test_columns_that_are_all_listed_are_enumerated() -> None:
    domain = {"department": ["a", "b"], "sick": [0, 1]}
    counts = lambda rows: [sum(r["sick"] for r in rows if r["department"] == d) + dpest.laplace(1.0) for d in ("a", "b")]  # noqa: E731
    p = dpest.prove(counts, n=2, adjacency="replace", domain=domain)
    assert p.upper == pytest.approx(2.0)
    assert "adjacent pairs of the domain" in p.reason


def test_a_name_that_is_released_is_infinite() -> None:
    p = dpest.prove(lambda rows: rows[0]["department"], n=1, adjacency="replace", domain=STAFF)
    assert p.lower == p.upper == float("inf")


def test_names_do_not_move_by_one() -> None:
    with pytest.raises(InvalidInput, match='write adjacency="replace"'):
        dpest.prove(pay_by_department, n=2, domain=STAFF)


@pytest.mark.parametrize(
    ("mechanism", "options", "loss"),
    [
        (largest_count, {"n": 3, "domain": int}, 2 / 2),  # the winner moves by two, the others stay
        (largest_count, {"n": 3, "domain": int, "adjacency": "l1"}, 1 / 2),
        (largest_count, {"n": 3, "domain": int, "adjacency": "monotone"}, 1 / 2),
        (lambda counts: max(c + dpest.geometric(2.0) for c in counts), {"n": 3, "domain": int}, 3 / 2),  # all may move
        (first_above, {"n": 2, "domain": int}, 1 / 4 + 1 / 4),  # two queries: the threshold need not move
        (first_above, {"n": 6, "domain": int}, 1 / 2 + 2 / 4),  # the threshold by one, the query that passes by two
        (lambda x: x + dpest.geometric(2.0) > 0.1, {"domain": int}, 1 / 2),
        (sick_adults, {"n": 2, "adjacency": "replace", "domain": {"age": (0, 120), "sick": int}}, 1 / 2),
    ],
)
def test_whole_number_noise_on_whole_numbers(mechanism: Any, options: dict[str, Any], loss: float) -> None:
    check(mechanism, options, loss)


def gap(values: Any) -> Any:
    ordered = sorted(v + dpest.laplace(2.0) for v in values)
    return ordered[-1] - ordered[-2]


def winner_and_gap(values: Any) -> Any:
    noisy = [v + dpest.laplace(2.0) for v in values]
    first = dpest.argmax(noisy)
    return first, noisy[first] - max(v for k, v in enumerate(noisy) if k != first)


def first_above_with_sum(queries: Any) -> Any:
    threshold = dpest.laplace(2.0)
    for i, q in enumerate(queries):
        if q + dpest.laplace(4.0) >= threshold:
            return i, sum(queries[: i + 1]) + dpest.laplace(4.0)
    return None


@pytest.mark.parametrize(
    ("mechanism", "options", "loss"),
    [
        (gap, {"n": 3}, 2 / 2),  # the first moves by two against all others
        (gap, {"n": 5}, 2 / 2),
        (winner_and_gap, {"n": 3}, 2 / 2),
        # The threshold by one, the query that passes by two, and the sum of 1 + 1 + 1 - 1 by two.
        (first_above_with_sum, {"n": 4}, 1 / 2 + 2 / 4 + 2 / 4),
    ],
)
def test_gaps_and_sums(mechanism: Any, options: dict[str, Any], loss: float) -> None:
    check(mechanism, options, loss)


def test_the_bounds_of_inputs_do_not_bound_a_noisy_maximum() -> None:
    # At x = 0 the second value is one below the first without noise; with noise either may be the largest.
    def largest(x: Any) -> Any:
        return dpest.maximum(1 + dpest.laplace(3.0), dpest.clip(x, 0, 1) + dpest.laplace(2.0))

    p = dpest.prove(largest, domain=(0, 2), sensitivity=2)
    pair = dpest.estimate(largest, (0.0, 1.0), method="exact")
    assert pair.lower > 0.1
    assert p.upper >= pair.lower
    assert p.upper == pytest.approx(1 / 2)
    gumbel = lambda x: dpest.maximum(1 + dpest.laplace(3.0), dpest.clip(x, 0, 1) + dpest.gumbel(2.0))  # noqa: E731
    assert dpest.prove(gumbel, domain=(0, 2), sensitivity=2).upper == float("inf")


def check(mechanism: Any, options: dict[str, Any], loss: float) -> None:
    p = dpest.prove(mechanism, **options)
    assert p.lower <= loss * (1 + 1e-9)
    assert p.upper == pytest.approx(loss, rel=1e-12)
    assert p.tight
    assert p.proof is not None
    assert p.proof.check()
    assert p.proof.rerun(20) == []


def test_the_spread_of_noisy_values_is_found_from_below_in_seconds() -> None:
    """The largest minus the smallest of three: the loss is reached by a pair whose density is an integral of integrals."""
    p = dpest.prove(lambda q: max(v := [x + dpest.laplace(2.0) for x in q]) - min(v), n=3)
    assert p.tight
    assert p.upper == pytest.approx(1.0)


def test_a_gap_of_whole_numbers_follows_the_largest_of_the_others() -> None:
    """The winner alone goes on; with two others, ties between them are all that is not settled by their maximum."""

    def last_gap(queries: Any) -> Any:
        *others, last = [q + dpest.geometric(2.0) for q in queries]
        return last - max(others)

    p = dpest.prove(last_gap, n=3, domain=int)
    assert isinstance(p.proof, Certificate)
    assert p.proof.check()
    assert p.upper == pytest.approx(1.0)
    assert p.proof.rerun(40) == []


def test_a_value_by_pieces_changes_by_no_more_than_its_range() -> None:
    """Two rows in one piece differ by less than two rows of the domain do: 0.5 x, x and 2 are between 0 and 2."""

    def by_pieces(rows: Any) -> Any:
        total = 0.0
        for x in rows:
            if x > 2:
                total = total + 2
            elif x > 1:
                total = total + x
            else:
                total = total + 0.5 * x
        return total + dpest.laplace(1.0)

    p = dpest.prove(by_pieces, n=2, adjacency="replace", domain=(0, 3))
    assert p.tight
    assert p.upper == pytest.approx(2.0)
    assert isinstance(p.proof, Certificate)
    assert p.proof.check()
    assert p.proof.rerun(40) == []


def test_a_form_of_output_that_no_input_next_to_a_bound_has() -> None:
    """The pair that is named for the second form lies on the bound, where there is none; x[1] = -1 against 2 shows it."""

    def mechanism(x: Any) -> Any:
        z = x[1] + dpest.gumbel(1)
        if x[1] > -1:
            return 0
        return max(z, 1), -z < x[0]

    p = dpest.prove(mechanism, 2, adjacency="replace", domain=(-1, 2), progress=False)
    assert p.lower == p.upper == math.inf
