"""Pairs of inputs that are named, run again, cut down to one form of output, or told apart by symmetry (oracle: enumeration)."""

from __future__ import annotations

import itertools
import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import dpest
from dpest.errors import InvalidInput
from dpest.exact.proof import worst
from dpest.exact.proof.adjacency import Box, Field, unknown_inputs
from dpest.exact.proof.certificate import PairKind
from dpest.exact.proof.concrete import separate_forms, trace_of_form
from dpest.exact.proof.cross import Crossing, change
from dpest.exact.proof.crossed import _farthest, _shifted, crossed_pairs
from dpest.exact.proof.finite import symmetry_key
from dpest.exact.proof.regions import Region, Released, Row
from dpest.exact.proof.rerun import _Rerun
from dpest.exact.proof.upper import ProofQuestion, traced_question, upper_side
from dpest.laws.continuous import Exponential, Laplace
from dpest.laws.discrete import Geometric
from dpest.numerics.rationals import exact
from dpest.trace.columns import constant_key
from dpest.trace.explore import trace


def coins(rows: Any) -> Any:
    return [dpest.bernoulli(0.75 if v else 0.25) for v in rows]


# -- which pairs are tried ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("counts", [(), (0,), (1,), (5,), (0, 2), (3, 1, 4), (1, 3), (2, 2, 2)])
def test_every_pair_is_named_once_the_best_guesses_first(counts: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    ways = [[(target, k) for k in range(count)] for target, count in enumerate(counts)]
    monkeypatch.setattr(worst, "_targets", lambda _: [(w,) for w in ways])
    monkeypatch.setattr(worst, "_ways", lambda _, way: iter(way))
    named: list[Any] = list(itertools.islice(worst.named_pairs(SimpleNamespace(traced=None)), 100))  # type: ignore[arg-type]
    assert sorted(named) == sorted(itertools.chain(*ways))
    first = ways[0][:2] if ways else []
    assert named[: len(first)] == first
    assert all(named.index((t, 0)) < named.index((t, 2)) for t, count in enumerate(counts) if count > 2)
    rest = named[len(first) :]
    assert [k for t, k in rest if t == 0] == list(range(len(first), counts[0] if counts else 0))


def test_what_a_crossing_shifts_in_all() -> None:
    """At each point, the sum of price times shift but for the constants: 2 (q + d) / 4 + (3 d - q) / 2."""
    source = Region("out", (), (), ((0, Laplace(4.0)),))
    target = Region("out", (), (), ((0, Laplace(4.0)), (1, Exponential(2.0))))
    q, d = -1, change(-1)
    shifts = ((0, ((q, exact(2)), (d, exact(2))), exact(7)), (1, ((q, exact(-1)), (d, exact(3))), exact(1)))
    goal = _shifted(Crossing(shifts, (), (), ()), source, target)
    assert goal == {q: 2 / 4 - 1 / 2, d: 2 / 4 + 3 / 2}


ROWS = [
    Row(((-1, exact(1)), (-2, exact(1))), exact(-3), False),  # x + y >= 3
    Row(((change(-1), exact(-1)),), exact(1), False),  # x grows by at most 1
]


@pytest.mark.parametrize(
    ("fields", "goal", "value"),
    [
        ([Field(0, 10), Field(0, 10)], {-1: 1.0, -2: 2.0, change(-1): 1.0}, 31.0),
        ([Field(0, 10), Field(0, 10)], {-1: -1.0, -2: -2.0, change(-1): 1.0}, -2.0),
        ([Field(-5, 2), Field(-5, 2)], {-1: -1.0}, -1.0),
        ([Field(), Field()], {-1: 1.0, -2: 1.0}, 200.0),  # inputs without bounds stay within 100 of zero
        ([Field(), Field()], {-1: -1.0, -2: -1.0}, -3.0),
        ([Field(), Field(0, 1)], {-1: -1.0}, -2.0),
        ([Field(), Field()], {-1: -1.0}, 97.0),
        ([Field(0.25, 9.75, True), Field(0.5, 0.5)], {-1: -1.0}, -3.0),  # x is whole, x >= 2.5
        ([Field(500, 600), Field(0, 1)], {-1: 1.0}, 600.0),  # a domain beyond 100 keeps its ends
        ([Field(-600, -500), Field(600, 700)], {-1: 1.0}, -500.0),
        ([Field(-600, -500), Field(600, 700)], {-1: -1.0}, 600.0),
    ],
)
def test_the_farthest_inputs_are_those_of_the_linear_program(fields: list[Field], goal: dict[int, float], value: float) -> None:
    """By hand: the largest value of the goal over the domain, x + y >= 3 and a change of at most 1."""
    traced: Any = SimpleNamespace(inputs=SimpleNamespace(fields=fields))
    case = PairKind(0, 0, Box("x changes", ((-1, (None, None)),)))
    point = _farthest(traced, case, ROWS, goal)
    assert point is not None
    assert sum(c * point[v] for v, c in goal.items()) == pytest.approx(value, abs=1e-6)
    for k, f in enumerate(fields):
        assert f.low - 1e-6 <= point[-1 - k] <= f.high + 1e-6
    assert point[-1] + point[-2] >= 3 - 1e-6
    assert point[change(-1)] <= 1 + 1e-6


def test_strict_rows_are_kept_by_a_little() -> None:
    """`x > 3` is false at 3, `x >= 3` is true."""
    traced: Any = SimpleNamespace(inputs=SimpleNamespace(fields=[Field(0, 9)]))
    for strict in (True, False):
        point = _farthest(traced, PairKind(0, 0, Box("nothing", ())), [Row(((-1, exact(1)),), exact(-3), strict)], {-1: -1.0})
        assert point is not None
        assert (point[-1] > 3) == strict
        assert point[-1] == pytest.approx(3, abs=1e-6)


def test_no_inputs_meet_rows_that_contradict_the_domain() -> None:
    traced: Any = SimpleNamespace(inputs=SimpleNamespace(fields=[Field(0, 1), Field(0, 1)]))
    assert _farthest(traced, PairKind(0, 0, Box("nothing", ())), ROWS[:1], {-1: 1.0}) is None


def thresholds(rows: Any) -> Any:
    """Each row has a threshold of its own, above which it counts as the threshold."""
    return [(most if x > most else x) + dpest.laplace(1.0) for most, x in zip((2, 5, 7), rows, strict=True)]


@pytest.mark.parametrize(
    ("adjacency", "low", "high"),
    [("linf", None, None), ("l1", None, None), ("monotone", None, None), ("replace", 0, 9), ("l1", 1, 6)],
)
def test_inputs_between_which_the_program_decides_differently_are_adjacent(adjacency: str, low: Any, high: Any) -> None:
    question = ProofQuestion(thresholds, {}, 3, adjacency, 1.0, None if low is None else (low, high))
    pairs = list(crossed_pairs(upper_side(question)))
    assert any(p.left != p.right for p in pairs)
    for p in pairs:
        moved = [b - a for a, b in zip(p.left, p.right, strict=True) if a != b]
        assert len(moved) <= 1 or adjacency in ("linf", "monotone")
        assert adjacency == "replace" or all(abs(s) <= 1 + 1e-6 for s in moved)
        assert adjacency != "monotone" or all(s > 0 for s in moved) or all(s < 0 for s in moved)
        assert low is None or all(low <= x <= high for x in (*p.left, *p.right))


@pytest.mark.parametrize(("low", "high"), [(0, 4), (-math.inf, math.inf), (20, math.inf), (-math.inf, -30), (-2, 3)])
@pytest.mark.parametrize("whole", [True, False])
def test_pairs_that_are_run_again_are_adjacent(low: float, high: float, whole: bool) -> None:
    """Whole inputs move by whole numbers, within the domain and the ranges of the changes; an input that does not move stays."""
    run = _Rerun.__new__(_Rerun)
    run.rng = np.random.default_rng(3)
    run.traced = SimpleNamespace(inputs=SimpleNamespace(fields=[Field(low, high, whole)] * 3))  # type: ignore[assignment]
    run.case = PairKind(0, 0, Box("two move", ((-1, (exact(-1), exact(1))), (-3, (exact(0), exact(2))))))
    moves = set()
    for _ in range(200):
        first, second = run._inputs()
        assert all(low <= x <= high for x in (*first, *second))
        assert not whole or all(x == round(x) for x in (*first, *second))
        changes = [b - a for a, b in zip(first, second, strict=True)]
        assert -1 <= changes[0] <= 1
        assert changes[1] == 0
        assert 0 <= changes[2] <= 2
        moves.add((round(changes[0]), round(changes[2])))
    assert {x for x, _ in moves} == {-1, 0, 1}
    assert {y for _, y in moves} == {0, 1, 2}


# -- one form of output ------------------------------------------------------------------------------------------------


def of_two_forms(x: Any, rng: np.random.Generator) -> Any:
    z = x + rng.laplace(0, 1)
    if x > 3:
        return "large", math.nan, None, 1.5, z
    return ("low", None, math.nan, 2, z) if z > 0 else ("low", None, math.nan, 3, z)


FORMS = {  # the constants of the output
    "large": ("large", math.nan, None, 1.5),
    "up": ("low", None, math.nan, 2),
    "down": ("low", None, math.nan, 3),
}


@pytest.mark.parametrize(("x", "expected"), [(2, {"up", "down"}), (3, {"up", "down"}), (4, {"large"})])
def test_the_runs_of_one_form_on_plain_inputs(x: int, expected: set[str]) -> None:
    regions = traced_question(ProofQuestion(of_two_forms, {}, None, "linf", 1.0, None)).programs[0]
    wanted = {name: tuple(map(constant_key, constants)) for name, constants in FORMS.items()}
    found = []
    for key in dict.fromkeys(r.key for r in regions):
        for path in trace_of_form(regions, key, {-1: exact(x)}).paths:
            *constants, value = path.output.leaves
            found.append(tuple(map(constant_key, constants)))
            assert value.constant == x
            (draw,) = path.drawn
            assert value.terms == ((draw, 1),)
            for literal in path.conditions:  # z > 0 or z <= 0 where z = x + draw
                sign = 1 if found[-1] == wanted["up"] else -1
                assert (literal.terms, literal.constant) == (((draw, sign),), sign * x)
    assert sorted(found) == sorted(wanted[name] for name in expected)


@pytest.mark.parametrize(
    ("released", "apart"),
    [
        ([], True),
        ([(0, None)], True),
        ([(0, None), (1, None)], False),  # a whole number
        ([(0, exact(0))], False),  # a floor
        ([(-1, None)], False),  # an input as it is
        ([(None, None)], False),  # a number
    ],
)
def test_outputs_of_different_forms_are_never_equal_where_they_have_a_density(released: list[Any], apart: bool) -> None:
    values = tuple(Released(() if v is None else ((v, exact(1)),), exact(3), offset) for v, offset in released)
    region = Region("out", (), values, ((0, Laplace(1.0)), (1, Geometric(1.0))))
    plain = Region("out", (), (), ())
    assert separate_forms([region, plain]) == separate_forms([plain, region]) == apart


# -- pairs that must have one loss -------------------------------------------------------------------------------------


def test_pairs_of_independent_outputs_are_equal_up_to_their_order() -> None:
    """Of independent coins the loss is a sum over rows: equal for pairs whose rows are the same in another order."""
    rows = list(itertools.product((0, 1), repeat=2))
    keys = {(a, b): symmetry_key(trace(coins, a, {}), trace(coins, b, {})) for a in rows for b in rows}
    for (a, b), (c, d) in itertools.combinations(keys, 2):
        both = [sorted(zip(a, b, strict=True)), sorted(zip(b, a, strict=True))]
        assert keys[a, b] is not None
        assert (keys[a, b] == keys[c, d]) == (sorted(zip(c, d, strict=True)) in both)


def of_another_shape(rows: Any) -> Any:
    return coins(rows) if rows[0] else tuple(coins(rows))


def forking(rows: Any) -> Any:
    return coins(rows) if dpest.bernoulli(0.5) else None


def sharing(rows: Any) -> Any:
    z = dpest.laplace(1.0)
    return [v + z for v in rows]


def conditional(rows: Any) -> Any:
    z = dpest.laplace(1.0)
    while z < 0:  # one path is left: the others are not explored
        z = dpest.laplace(1.0)
    return [v + z for v in rows]


@pytest.mark.parametrize("mechanism", [of_another_shape, forking, sharing, conditional])
@pytest.mark.parametrize("pair", [((0, 1), (1, 1)), ((1, 1), (0, 1))])
def test_nothing_is_known_of_other_programs(mechanism: Any, pair: Any) -> None:
    assert symmetry_key(*(trace(mechanism, rows, {}) for rows in pair)) is None
    if mechanism is not of_another_shape:  # one of both sides is enough
        one = [trace(mechanism if rows[0] else coins, rows, {}) for rows in pair]
        assert symmetry_key(*one) is None


# -- domains -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("values", [[0, 1], [1, 2, 3], [3, 1, 2], range(-4, 3), {5, 6}, [2.0, 3], [-1, 0], np.arange(7, 10)])
def test_whole_numbers_without_a_gap_are_a_field(values: Any) -> None:
    inputs = unknown_inputs(None, (values, (0, 1)), "replace")
    assert inputs.fields == (Field(float(min(values)), float(max(values)), True), Field(0.0, 1.0))


@pytest.mark.parametrize("values", [[0, 2], [1, 2, 4], [0.5, 1.5], [-1, 1], [1, 2, "a"], range(0, 6, 2)])
def test_other_lists_beside_numbers_are_refused(values: Any) -> None:
    with pytest.raises(InvalidInput, match="consecutive whole numbers"):
        unknown_inputs(None, (values, (0, 1)), "replace")


def test_a_solver_that_fails_names_no_direction(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [Row(((-1, exact(1)), (0, exact(1))), exact(0), False), Row(((-2, exact(1)), (1, exact(1))), exact(0), False)]
    ray, gain = worst._ray(rows, [-1, -2], frozenset({0}))
    assert ray.tolist() == [-1.0, 1.0]
    assert gain == pytest.approx(1.25)
    monkeypatch.setattr("scipy.optimize.linprog", lambda *a, **k: SimpleNamespace(status=4, x=None))
    ray, gain = worst._ray(rows, [-1, -2], frozenset({0}))
    assert ray.tolist() == [0.0, 0.0]
    assert gain == -1.0
