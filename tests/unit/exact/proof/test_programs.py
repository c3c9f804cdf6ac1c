"""Linear programs in rationals: equal rows put together, solved where doubles see no difference (oracle: SciPy, by hand)."""

from __future__ import annotations

import itertools
import random
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

from dpest.exact.proof import programs
from dpest.exact.proof.folding import _classes, solve_folded
from dpest.exact.proof.programs import Program
from dpest.numerics.rationals import ZERO, Rational, exact


def program(costs: list[float], lows: list[float | None], rows: list[tuple[dict[int, float], float, bool]]) -> Program:
    out = Program()
    for j, (cost, low) in enumerate(zip(costs, lows, strict=True)):
        out.column(j, cost=exact(cost), low=None if low is None else exact(low))
    for terms, bound, equality in rows:
        (out.equal if equality else out.at_least)({j: exact(c) for j, c in terms.items()}, exact(bound))
    return out


def cost(of: Program, point: list[Rational]) -> float:
    return float(sum((c * x for c, x in zip(of.costs, point, strict=True)), ZERO))


def by_scipy(of: Program) -> float | None:
    """The least cost, by SciPy in doubles."""
    n = len(of.costs)
    sides: dict[bool, tuple[list[Any], list[float]]] = {False: ([], []), True: ([], [])}
    for terms, bound, equality in of.rows:
        row = np.zeros(n)
        for j, c in terms.items():
            row[j] = float(c)
        sides[equality][0].append(row if equality else -row)
        sides[equality][1].append(float(bound) if equality else -float(bound))
    (a, b), (e, f) = sides[False], sides[True]
    bounds, whole = [(None if x is None else float(x), None) for x in of.lows], np.array(of.whole, int)
    found = linprog([float(c) for c in of.costs], a or None, b or None, e or None, f or None, bounds=bounds, integrality=whole)
    return float(found.fun) if found.status == 0 else None


# -- equal rows --------------------------------------------------------------------------------------------------------

# threshold + noise >= 1 for each of some queries, and the same with a weight of 2
QUERIES = [
    ([1, 0.5, 0.5, 0.5], [None, 0, 0, 0], [({0: 1, k: 1}, 1.0, False) for k in (1, 2, 3)]),
    ([1, 0.5, 0.25, 0.5], [0, 0, 0, 0], [({0: 1, k: 1}, 1.0, False) for k in (1, 2, 3)]),
    ([1, 0.5, 0.5, 0.5, 0.5], [0, 0, 0, 0, 0], [({0: 1, 1: 1, 2: -1}, 1.0, False), ({0: 1, 3: 1, 4: -1}, 1.0, True)]),
    ([1, 1, 1, 3], [-2, 0.5, None, 0.25], [({0: 1, 1: 1}, 2.0, False), ({0: 1, 2: 1}, 2.0, False)]),
]


@pytest.mark.parametrize(("costs", "lows", "rows"), QUERIES)
def test_a_folded_program_has_the_cost_of_the_whole(costs: Any, lows: Any, rows: Any) -> None:
    whole = program(costs, lows, rows)
    point = solve_folded(whole, {})
    assert point is not None
    assert whole.holds(point)
    assert cost(whole, point) == pytest.approx(by_scipy(whole), abs=1e-12)


def test_random_programs_with_equal_rows() -> None:
    """Shared columns, and rows that repeat with columns of their own in another order; columns in no row stay at their ends."""
    rng = random.Random(5)
    seen = set()
    for _ in range(60):
        shared, rows = rng.randint(0, 2), []
        costs: list[float] = [rng.randint(1, 3) for _ in range(shared)]
        lows: list[float | None] = [rng.choice([0, -1]) for _ in range(shared)]
        for _ in range(rng.randint(1, 3)):
            common = {j: rng.choice([-1, 1, 2]) for j in range(shared)}
            own = [(rng.choice([-1, 1, 2]), rng.randint(1, 2), rng.choice([0, 1, -2])) for _ in range(rng.randint(0, 2))]
            bound, equality = rng.randint(-1, 2), rng.random() < 0.3
            for _ in range(rng.randint(1, 3)):
                rng.shuffle(own)
                terms = dict(common)
                for c, price, low in own:
                    terms[len(costs)] = c
                    costs.append(price)
                    lows.append(low)
                rows.append((terms, bound, equality))
        costs, lows = [*costs, 2, 0], [*lows, 3, None]  # columns that no row has
        whole = program(costs, lows, rows)
        point, truth = solve_folded(whole, {}), by_scipy(whole)
        assert (point is None) == (truth is None)
        seen.add(truth is None)
        if point is not None:
            assert whole.holds(point)
            assert cost(whole, point) == pytest.approx(truth, abs=1e-9)
    assert seen == {True, False}


@pytest.mark.parametrize("differ", ["coefficient", "cost", "low"])
def test_rows_are_one_class_whatever_the_order_of_their_own_columns(differ: str) -> None:
    first, second = ({"coefficient": 1, "cost": 1, "low": 0} | {differ: x} for x in (1, 2))
    for low in (0, None):
        own = [first, second] if differ == "low" else [first | {"low": low}, second | {"low": low}]
        listed = [*own, *own[::-1], *own]
        rows = [({0: 1, **{k: listed[k - 1]["coefficient"] for k in pair}}, 4.0, False) for pair in ((1, 2), (3, 4), (5, 6))]
        whole = program([1, *(x["cost"] for x in listed)], [0, *(x["low"] for x in listed)], rows)
        (only,) = _classes(whole)
        assert sorted(sorted(m) for m in only.members) == [[1, 2], [3, 4], [5, 6]]
        for member in only.members:
            assert [whole.costs[j] for j in member] == [p[1] for p in only.privates]
            assert [whole.lows[j] for j in member] == [p[2] for p in only.privates]
    # Another bound, another sign or an equality is another class.
    rows = [({0: 1, 1: 1}, 4.0, False), ({0: 1, 2: 1}, 4.0, True), ({0: 1, 3: 1}, 5.0, False), ({0: 1, 4: -1}, 4.0, False)]
    assert len(_classes(program([1] * 5, [0] * 5, rows))) == 4


# -- what doubles cannot tell ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cheaper", list(itertools.permutations(range(3))))
def test_costs_that_differ_below_the_rounding_of_doubles(cheaper: tuple[int, ...]) -> None:
    """x + y >= 1, y + z >= 1, x + z >= 1 at prices 1 + k 2^-60: one half of each; where z is free, the cheaper of the others."""
    tiny = exact(2) ** -60
    small = Program()
    for j in range(3):
        small.column(j, cost=exact(1) + cheaper[j] * tiny, low=ZERO)
    for terms in ({0: 1, 1: 1}, {1: 1, 2: 1}, {0: 1, 2: 1}):
        small.at_least({j: exact(c) for j, c in terms.items()}, exact(1))
    assert small.solve() == [exact(1) / 2] * 3
    most = cheaper.index(2)
    small.at_least({0: exact(1), 1: exact(1), 2: exact(1)}, exact(2))
    assert small.solve() == [ZERO if j == most else exact(1) for j in range(3)]


def test_rows_that_contradict_each_other_below_the_rounding_of_doubles() -> None:
    small = Program()
    x, y = small.column("x", cost=exact(1), low=ZERO), small.column("y", cost=exact(1), low=ZERO)
    small.at_least({x: exact(1), y: exact(1)}, exact(1))
    small.at_least({x: exact(-1), y: exact(-1)}, exact(2) ** -60 - 1)
    assert small.solve() is None


# -- the two ways to a point -------------------------------------------------------------------------------------------


def random_program(rng: random.Random) -> Program:
    """Four columns, some of them whole ones between bounds that rows set, and rows with coefficients of every sign and size."""
    out = Program()
    for j in range(4):
        low = rng.choice([None, 0, exact(1) / 3, -2])
        out.column(j, cost=exact(rng.randint(0, 6)) / 3, low=low if low is None else exact(low), whole=rng.random() < 0.3)
    for _ in range(rng.randint(1, 5)):
        terms = {j: exact(rng.choice([-3, -1, 1, 2])) / rng.choice([1, 7]) for j in rng.sample(range(4), rng.randint(1, 3))}
        (out.equal if rng.random() < 0.3 else out.at_least)(terms, exact(rng.randint(-4, 4)) / rng.choice([1, 5]))
    for j, whole in enumerate(out.whole):
        out.at_least({j: exact(-1)}, exact(-6))
        if whole or out.lows[j] is None:
            out.at_least({j: exact(1)}, exact(-6))
    return out


@pytest.mark.parametrize("entries", [400, -1])  # that are solved in rationals at most: none goes to the solver, all go there
def test_both_ways_come_to_a_cheapest_point(entries: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "_SMALL", entries)
    rng, seen = random.Random(11), set()
    for _ in range(80):
        own = random_program(rng)
        point, truth = own.solve(), by_scipy(own)
        seen.add((point is None, any(own.whole)))
        if point is None:
            assert truth is None
        else:
            assert all(x.denominator == 1 for x, whole in zip(point, own.whole, strict=True) if whole)
            assert meets(own, point)
            assert truth is not None
            assert cost(own, point) == pytest.approx(truth, abs=1e-6)
    assert len(seen) == 4


def meets(own: Program, point: list[Rational]) -> bool:
    """Whether a point keeps every row and every lower bound."""
    for terms, bound, equality in own.rows:
        value = sum((c * point[j] for j, c in terms.items()), ZERO)
        if value < bound or (equality and value > bound):
            return False
    return all(low is None or x >= low for x, low in zip(point, own.lows, strict=True))


def test_what_holds_at_a_point() -> None:
    own = Program()
    for j in range(2):
        own.column(j, low=ZERO, whole=j == 1)
    own.at_least({0: exact(2), 1: exact(1)}, exact(2))
    own.equal({0: exact(1), 1: exact(-1)}, exact(-1) / 2)
    for x, y in ((1 / 2, 1), (3 / 2, 2)):
        assert own.holds([exact(x), exact(y)])
    for x, y in ((0, 1 / 2), (1, 3 / 2), (-1 / 2, 0), (1, 2)):
        assert not own.holds([exact(x), exact(y)])
