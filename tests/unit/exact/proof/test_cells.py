"""Regions split into cells of the inputs, and regions put together: the runs in them stay the same (oracle: points)."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Sequence

import pytest
from scipy.optimize import linprog

from dpest.exact.proof import cells, merge
from dpest.exact.proof.cells import by_cell, refined
from dpest.exact.proof.merge import contradiction, merged, opposite
from dpest.exact.proof.regions import Region, Row, scaled_row
from dpest.exact.proof.symbols import UnknownInput
from dpest.laws.continuous import Laplace
from dpest.laws.discrete import Geometric
from dpest.laws.law import Law
from dpest.numerics.rationals import Rational, exact

X, Y = -1, -2
INPUTS: dict[int, Law] = {X: UnknownInput("x"), Y: UnknownInput("y", 0.0, 1.0)}
NOISE: dict[int, Law] = {0: Laplace(1.0), 1: Geometric(1.0)}
LAWS = INPUTS | NOISE


def row(constant: float, strict: bool = False, **by_name: float) -> Row:
    numbers = {"x": X, "y": Y, "v": 0, "k": 1}
    return scaled_row(tuple(sorted((numbers[n], exact(c)) for n, c in by_name.items())), exact(constant), strict, LAWS)


def region(*rows: Row, key: str = "out") -> Region:
    return Region(key, rows, (), tuple(NOISE.items()))


def holds(rows: Iterable[Row], at: dict[int, Rational]) -> bool:
    values = [(r.constant + sum(c * at[v] for v, c in r.terms), r.strict) for r in rows]
    return all(x > 0 or (x == 0 and not strict) for x, strict in values)


def points(rng: random.Random, count: int) -> list[dict[int, Rational]]:
    """Inputs in quarters, so that conditions are met with equality; whole numbers for whole draws."""
    quarter = [exact(k) / 4 for k in range(-12, 13)]
    y = [exact(k) / 4 for k in range(5)]
    whole = [exact(k) for k in range(-3, 4)]
    return [{X: rng.choice(quarter), Y: rng.choice(y), 0: rng.choice(quarter), 1: rng.choice(whole)} for _ in range(count)]


PROGRAMS: list[list[Region]] = [
    [region(row(0, v=1)), region(row(-1, x=1), row(0, True, v=-1)), region(row(1, True, x=-1), row(0, True, v=-1))],
    [region(row(-1, x=1), row(-2, True, x=-1)), region(row(0, y=1, x=1)), region(row(0, k=1, x=-1), key="other")],
    [region(row(0.5, True, x=1), row(-0.5, y=1)), region(row(-2, x=1), row(0, v=1)), region(row(0, x=1, y=-1), row(1, k=2))],
    [region(row(0, v=1)), region(row(0, True, v=-1))],
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_cell_decides_every_condition_on_inputs(program: list[Region]) -> None:
    rng = random.Random(1)
    found = refined(program, INPUTS)
    bare = {r for region in program for r in region.bare}
    for piece in found:
        for r in bare:
            assert (r in piece.bare) != (opposite(r, INPUTS) in piece.bare)
    for at in points(rng, 150):
        before, after = (sorted(r.key for r in regions if holds(r.rows, at)) for regions in (program, found))
        assert before == after
        assert sum(holds(cell, at) for cell in by_cell(found)) == any(holds(r.bare, at) for r in program)


def test_cells_that_no_input_lies_in_are_left_out() -> None:
    """x > 1, 0 < x <= 1 and x <= 0, each with y below and above a half; y is never 2."""
    program = [region(row(0, v=1)), region(row(-1, True, x=1)), region(row(0, x=-1)), region(row(-0.5, y=1))]
    for given in (program, [*program, region(row(-2, y=1))]):
        assert len(by_cell(refined(given, INPUTS))) == 6


def test_too_many_cells_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cells, "MOST_REGIONS", 3)
    two = [region(row(0, v=1)), region(row(0, True, x=1))]
    assert len(refined(two, INPUTS)) == 3
    with pytest.raises(cells.BudgetExceeded, match="more than 3 regions"):
        refined([*two, region(row(0, v=-1))], INPUTS)
    with pytest.raises(cells.BudgetExceeded, match="more than 3 regions"):
        refined([region(row(0, x=1)), region(row(-1, x=1)), region(row(-0.5, y=1))], INPUTS)


# -- rows that contradict each other -----------------------------------------------------------------------------------


def room(rows: Sequence[Row], smooth: set[int]) -> float:
    """The most by which all strict rows can be kept, up to 1; those of smooth variables are strict up to probability zero."""
    used = sorted({v for r in rows for v, _ in r.terms})
    strict = [r.strict or any(v in smooth for v, _ in r.terms) for r in rows]
    left = [[*(-float(dict(r.terms).get(v, 0)) for v in used), float(s)] for r, s in zip(rows, strict, strict=True)]
    free = [(None, None)] * len(used)
    found = linprog([*(0.0 for _ in used), -1.0], left, [float(r.constant) for r in rows], bounds=[*free, (0, 1)])
    return float(-found.fun) if found.status == 0 else -1.0


@pytest.mark.parametrize("size", [2, 3, 4])
def test_rows_contradict_each_other_where_a_linear_program_says_so(size: int) -> None:
    """The multipliers are checked: what they add up to is that a number is positive which is not."""
    rng, told = random.Random(size), []
    for _ in range(80):
        rows = []
        for _ in range(size):
            terms = sorted(rng.sample([X, 0, 1], rng.choice([1, 1, 2])))
            signed = tuple((v, exact(rng.choice([-1, 1]))) for v in terms)
            rows.append(Row(signed, exact(rng.choice([-1, 0, 0, 1])), rng.random() < 0.4))
        smooth = {0} if rng.random() < 0.5 else set()
        strictly = any(r.strict or any(v in smooth for v, _ in r.terms) for r in rows)
        least, found = room(rows, smooth), contradiction(rows, smooth)
        told.append(found is not None)
        assert (found is not None) == (least < 1e-9 if strictly else least < 0)
        if found is not None:
            sums: dict[int, Rational] = {}
            for i, factor in found:
                assert factor > 0
                for v, c in rows[i].terms:
                    sums[v] = sums.get(v, exact(0)) + factor * c
            total = sum(factor * rows[i].constant for i, factor in found)
            used = [rows[i] for i, _ in found]
            assert not any(sums.values())
            assert total < 0 or (total == 0 and any(r.strict or any(v in smooth for v, _ in r.terms) for r in used))
    assert 2 <= sum(told) <= 78


def test_the_tightest_of_equal_conditions_contradicts() -> None:
    """v > -1, v >= 1 and v > 0 with -v >= c: the second decides, without a linear program, wherever it stands."""
    lower = [row(1, True, x=1), row(-1, x=1), row(0, True, x=1)]
    for order in itertools.permutations(lower):
        for bound, contradicts in ((0.75, True), (1, False), (0, True), (2, False)):
            above = row(bound, x=-1)
            for rows in ([*order, above], [above, *order], [order[0], above, *order[1:]]):
                assert (contradiction(rows, ()) is not None) == contradicts
        assert contradiction([*order, row(1, True, x=-1)], ()) is not None
    strict = [row(-1, x=1), row(-1, True, x=1)]
    for rows in (strict, strict[::-1]):
        assert contradiction([*rows, row(1, x=-1)], ()) is not None


# -- regions put together ----------------------------------------------------------------------------------------------

HALVES = [region(row(0, v=1)), region(row(0, True, v=-1))]
LARGEST = [  # of v, x and y; no two of them are a polyhedron
    [row(0, v=1, x=-1), row(0, v=1, y=-1)],
    [row(0, True, x=1, v=-1), row(0, x=1, y=-1)],
    [row(0, True, y=1, v=-1), row(0, True, y=1, x=-1)],
]
QUADRANTS = [region(row(0, s == -1, v=s), row(0, t == -1, x=t)) for s in (1, -1) for t in (1, -1)]


@pytest.mark.parametrize(
    ("given", "left"),
    [
        (HALVES, 1),
        (QUADRANTS, 1),
        (QUADRANTS[:3], 2),  # an L is no polyhedron
        ([QUADRANTS[0], QUADRANTS[3]], 2),
        ([region(row(0, v=1), row(1, v=-1)), region(row(-1, True, v=1), row(2, v=-1))], 1),  # 0 <= v <= 1 < v <= 2
        ([region(row(0, v=1), row(1, v=-1)), region(row(-1.25, True, v=1), row(2, v=-1))], 2),  # with a gap
        ([region(row(0, v=1), row(1, v=-1)), region(row(-0.5, v=1), row(2, v=-1))], 1),  # that overlap
        ([region(row(0, k=1), row(1, k=-1)), region(row(-2, k=1), row(3, k=-1))], 1),  # 0, 1 and 2, 3
        ([region(row(0, k=1), row(1, k=-1)), region(row(-3, k=1), row(4, k=-1))], 2),
        ([region(row(0, v=1, x=-1)), region(row(0, True, v=-1, x=1), row(0, y=1, v=-1)), region(row(0, v=1, y=-1))], None),
        ([HALVES[0], region(row(0, True, v=-1), key="other")], 2),
        ([HALVES[0]], 1),
        ([region(*rows) for rows in LARGEST], 1),
        ([region(*rows, row(-1, k=1)) for rows in LARGEST], 1),
        ([region(*LARGEST[0]), region(*LARGEST[1]), region(*LARGEST[2], row(-0.5, True, y=1))], 3),
        ([region(*LARGEST[0], row(-1, k=1)), region(*LARGEST[1]), region(*LARGEST[2])], 3),
        ([region(*LARGEST[0]), region(*LARGEST[1]), region(row(-1, True, y=1, v=-1), row(0, True, y=1, x=-1))], 3),
    ],
)
def test_regions_put_together_hold_the_same_runs(given: Sequence[Region], left: int | None) -> None:
    """Two half-planes are the plane, and so on: as few regions as that, and every point where it was."""
    found = merged(given, INPUTS)
    assert left is None or len(found) == left
    for order in itertools.islice(itertools.permutations(given), 6):
        assert len(merged(order, INPUTS)) == len(found)
    for at in points(random.Random(4), 300):
        for key in ("out", "other"):
            before, after = (any(holds(r.rows, at) for r in regions if r.key == key) for regions in (given, found))
            # A tie of a draw that has a density may be left out or taken in.
            ties = [r for g in given for r in g.rows if r.constant + sum(c * at[v] for v, c in r.terms) == 0]
            assert before == after or any(v == 0 for r in ties for v, _ in r.terms)


def test_a_group_without_programs_left_stays_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    pieces = [region(row(0, v=1), row(1, v=-1)), region(row(-0.5, v=1), row(2, v=-1))]
    for most, left in ((0, 2), (2, 2), (400, 1)):
        monkeypatch.setattr(merge, "_MOST_PROGRAMS", most)
        assert len(merged(pieces, INPUTS)) == left
