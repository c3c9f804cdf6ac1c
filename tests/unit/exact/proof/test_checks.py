"""The checks of an alignment, one by one: released values stay, conditions and prices follow, rows are compared in one form."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import mpmath
import pytest

import dpest
from dpest.errors import BudgetExceeded, ExactRefused
from dpest.exact.inference.expressions import expr, plus, single, substituted
from dpest.exact.proof import upper
from dpest.exact.proof.adjacency import Box
from dpest.exact.proof.align import Alignments, _direction, _same_value, _together
from dpest.exact.proof.checking import _contradict, _crossing_fault, _policy_fault, _proved
from dpest.exact.proof.cross import Crossing
from dpest.exact.proof.regions import Region, Released, Row
from dpest.laws.continuous import Laplace
from dpest.laws.law import Law
from dpest.numerics.rationals import Rational, exact

X, V = -1, 0  # an input and a draw
HERE = Box("nothing moves", ())


def terms(**by_name: float) -> tuple[tuple[int, Rational], ...]:
    return tuple(({"x": X, "v": V, "w": 1}[name], exact(c)) for name, c in by_name.items())


def row(constant: float, strict: bool = False, **by_name: float) -> Row:
    return Row(terms(**by_name), exact(constant), strict)


# -- sums of known rows ------------------------------------------------------------------------------------------------


def test_a_condition_is_a_sum_of_known_rows_and_something_left_over() -> None:
    """2 x + v + 3 = (x + v + 1) + (x) + 2."""
    known = [row(1, x=1, v=1), row(0, x=1)]
    wanted, one = dict(terms(x=2, v=1)), exact(1)
    both = ((0, one), (1, one))
    assert _proved(wanted, exact(3), known, both, inputs_only=False)
    assert _proved(wanted, exact(1), known, both, inputs_only=False)
    assert not _proved(wanted, exact(0), known, both, inputs_only=False)
    assert not _proved(wanted, exact(3), known, ((0, one),), inputs_only=False)
    assert not _proved(wanted, exact(9), known, ((0, one), (1, exact(2))), inputs_only=False)
    assert not _proved(wanted, exact(9), known, ((0, one), (2, one)), inputs_only=False)
    assert not _proved(wanted, exact(9), known, ((0, one), (-1, one)), inputs_only=False)


def test_prices_follow_from_conditions_on_inputs_alone() -> None:
    """A shift is chosen before the draws are seen."""
    known = [row(1, x=1, v=1), row(5, x=1)]
    one = exact(1)
    assert _proved(dict(terms(x=1)), exact(5), known, ((1, one),), inputs_only=True)
    assert not _proved(dict(terms(x=1, v=1)), exact(1), known, ((0, one),), inputs_only=True)
    assert _proved(dict(terms(x=1, v=1)), exact(1), known, ((0, one),), inputs_only=False)
    assert not _proved(dict(terms(x=-1)), exact(9), known, ((1, -one),), inputs_only=True)


def test_rows_that_contradict_each_other() -> None:
    one = exact(1)
    both = ((0, one), (1, one))
    assert _contradict([row(-1, x=1), row(0, x=-1)], both)
    assert not _contradict([row(0, x=1), row(0, x=-1)], both)
    assert _contradict([row(0, True, x=1), row(0, x=-1)], both)
    assert not _contradict([row(-1, x=1), row(0, x=-2)], both)
    assert not _contradict([row(-1, x=1), row(0, x=-1)], ((0, one), (1, -one)))


# -- released values ---------------------------------------------------------------------------------------------------


def fault(a: Released, b: Released, shift: float, cost: float | None = None) -> str | None:
    """Of a shift of one Laplace draw between two regions without conditions, at its price."""
    source, target = (Region("out", (), (x,), ((V, Laplace(1.0)),)) for x in (a, b))
    price = exact(abs(shift) if cost is None else cost)
    crossing = Crossing(((V, (), exact(shift)),), ((V, price),), (), (((), ()),))
    inputs: dict[int, Law] = {}
    return _crossing_fault(source, target, HERE, inputs, crossing, price)


def value(constant: float, offset: float | None = None) -> Released:
    return Released(terms(v=1), exact(constant), None if offset is None else exact(offset))


@pytest.mark.parametrize(("constants", "shift"), [((0, 0), 0), ((3, 1), 2), ((1, 3), -2), ((0.5, 0.25), 0.25)])
def test_a_released_value_stays(constants: tuple[float, float], shift: float) -> None:
    a, b = (value(c) for c in constants)
    assert fault(a, b, shift) is None
    assert fault(a, b, shift + 1) == "a released value does not stay as it is"
    assert fault(a, b, shift, cost=abs(shift) + 1) is None  # a price may be too high, never too low
    if shift:
        assert fault(a, b, shift, cost=abs(shift) / 2) == "a shift may cost more than its price"


@pytest.mark.parametrize(("offsets", "shift"), [((2, 1), 1), ((1, 2), -1), ((5, 2), 3), ((2, 2), 0), ((0.5, 2.5), -2)])
def test_floors_stay_where_offsets_differ_by_what_the_draw_moves(offsets: tuple[float, float], shift: float) -> None:
    """floor(v) + 2 = floor(v + 1) + 1."""
    a, b = value(0, offsets[0]), value(0, offsets[1])
    assert fault(a, b, shift) is None
    for wrong in (shift + 1, -shift or 2, shift + 0.5):
        assert fault(a, b, wrong) == "a released value does not stay as it is"


def test_floors_whose_offsets_differ_by_a_fraction_never_agree() -> None:
    assert fault(value(0, 0.5), value(0, 0), 0.5) == "a released value does not stay as it is"


class _Equations:
    """Takes down what a program is asked to keep equal."""

    def __init__(self) -> None:
        self.told: list[Any] = []

    def equal(self, combination: Any, bound: Rational) -> None:
        self.told.append((combination, bound))


@pytest.mark.parametrize(
    ("a", "b", "needed"),
    [
        (value(3), value(1), 2),
        (value(1, 2), value(1, 5), -3),
        (value(0.5, 4), value(0.25, 1), 3.25),
        (value(0, 0.5), value(0, 0), None),
        (value(0, 0), value(0, 0.5), None),
        (value(3), Released(terms(v=2), exact(1)), None),
    ],
)
def test_what_a_draw_must_move_by(a: Released, b: Released, needed: float | None) -> None:
    program, shifts = _Equations(), SimpleNamespace(along=lambda t: dict(t))
    assert _same_value(program, shifts, a, b) == (needed is not None)  # type: ignore[arg-type]
    assert program.told == ([] if needed is None else [(dict(b.terms), exact(needed))])


def test_rows_that_differ_by_a_factor_have_one_form() -> None:
    wanted = row(3, True, v=1, w=-2)
    assert _direction(row(6, True, v=2, w=-4)) == wanted
    assert _direction(row(0.75, True, v=0.25, w=-0.5)) == wanted
    assert _direction(wanted) == wanted
    assert _direction(row(6, v=-2, w=4)) == row(3, v=-1, w=2)
    assert _direction(row(5)) == row(5)


@pytest.mark.parametrize("strict", [False, True])
def test_conditions_hold_after_a_shift(strict: bool) -> None:
    """v >= 1 holds after a shift upwards; an input that moves by up to 1 needs a shift that follows it."""
    region = Region("out", (row(-1, strict, v=1),), (), ((V, Laplace(1.0)),))
    for shift, told in ((0, None), (0.5, None), (-0.5, "a condition need not hold after the shift")):
        policy = {V: expr((), exact(shift))}
        assert _policy_fault(region, policy, HERE, {}, exact(abs(shift))) == told
    moving = Region("out", (row(-1, strict, x=-1, v=1),), (), ((V, Laplace(1.0)),))
    box = Box("x changes", ((X, (exact(-1), exact(1))),))
    follows = {V: expr(((X, exact(1)),), exact(0))}
    assert _policy_fault(moving, follows, box, {}, exact(1)) is None
    assert _policy_fault(moving, {V: expr((), exact(1))}, box, {}, exact(1)) is None
    assert _policy_fault(moving, {V: expr((), exact(0.5))}, box, {}, exact(0.5)) == "a condition need not hold after the shift"
    assert _policy_fault(moving, follows, box, {}, exact(0.5)) == "the cost is not what the shifts cost"
    endless = Box("x changes", ((X, (exact(-1), None)),))
    assert _policy_fault(moving, {V: expr((), exact(1))}, endless, {}, exact(1)) == "a condition need not hold after the shift"
    released = Region("out", (), (value(0),), ((V, Laplace(1.0)),))
    assert _policy_fault(released, {V: expr((), exact(1))}, HERE, {}, exact(1)) == "a released value does not stay as it is"


def test_outputs_are_independent_on_one_path_without_conditions_on_either_side() -> None:
    def sides(*paths: int, error: tuple[float, float] = (0.0, 0.0), conditions: tuple[int, ...] = (), loops: Any = ()) -> bool:
        path = SimpleNamespace(conditions=conditions, loops=loops)
        traces: list[Any] = [SimpleNamespace(paths=[path] * n, error=e) for n, e in zip(paths, error, strict=True)]
        return Alignments(*traces).adds_up

    assert sides(1, 1)
    assert not sides(2, 1)
    assert not sides(2, 0)
    assert not sides(1, 1, error=(1e-9, 0.0))
    assert not sides(1, 1, error=(0.0, 1e-9))
    assert not sides(1, 1, conditions=(1,))
    assert not sides(1, 1, loops=(1,))


# -- groups of outputs -------------------------------------------------------------------------------------------------


class Told(tuple[int, ...]):
    """A region that rests on no input alone."""

    bare = ()


def grouped(monkeypatch: pytest.MonkeyPatch, paths: int, groups: int, each: int, conditions: tuple[int, ...] = ()) -> Any:
    """The regions of `groups` outputs with `each` regions; every path is the same."""
    path = SimpleNamespace(conditions=conditions)
    monkeypatch.setattr(upper, "output_groups", lambda _: [[g] for g in range(groups)])
    monkeypatch.setattr(
        upper, "regions", lambda _path, _variables, positions, g, _most: [Told((g, *positions, k)) for k in range(each)]
    )
    return upper._grouped(SimpleNamespace(paths=[path] * paths), None, 100)  # type: ignore[arg-type]


def test_outputs_are_taken_apart_on_a_single_path_without_conditions(monkeypatch: pytest.MonkeyPatch) -> None:
    few = upper._FEW_COMBINATIONS
    found = grouped(monkeypatch, 1, few, 2)
    assert found == [(g, g, k) for g in range(few) for k in range(2)]
    assert grouped(monkeypatch, 2, few, 2) is None
    assert grouped(monkeypatch, 1, few, 2, (1,)) is None
    assert grouped(monkeypatch, 1, 1, few + 1) is None
    assert grouped(monkeypatch, 1, 2, 1) is None


def test_the_dearest_steps_are_priced_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps with a policy and a cost, the dearest first; where one stays as it is, the others of its case are left alone."""
    tried: list[Any] = []

    def cheaper(step: Any, *_: Any) -> Any:
        tried.append(step.name)
        return SimpleNamespace(name=step.name.upper(), cost=0) if step.name in ("a", "b") else None

    monkeypatch.setattr(upper, "cheaper_step", cheaper)
    cases = [SimpleNamespace(source=0, box=None), SimpleNamespace(source=0, box=None)]
    region = SimpleNamespace(group=0, bare=())
    traced: Any = SimpleNamespace(cases=cases, programs=[[region]], input_laws={})

    def step(name: str, cost: int, case: int = 0, policy: Any = ()) -> Any:
        return SimpleNamespace(name=name, cost=cost, case=case, source=0, policy=policy)

    steps = [step("d", 1), step("a", 9), step("c", 4), step("x", 20, policy=None), step("b", 6), step("z", 0), step("e", 2, 1)]
    found = upper._cheaper(traced, steps, None)  # type: ignore[arg-type]
    assert tried == ["a", "b", "c", "e"]
    assert [s.name for s in found] == ["d", "A", "c", "x", "B", "z", "e"]


# -- values of a maximum -----------------------------------------------------------------------------------------------


M = -99


def test_differences_of_values_and_a_winner_that_is_replaced() -> None:
    """(2 x + 5) - (x + 3 w + 4) = x - 3 w + 1, and 3 v + x with v = M - (2 x + 5) is 3 M - 5 x - 15."""
    first, second = expr([(X, exact(2))], exact(5)), expr([(X, exact(1)), (1, exact(3))], exact(4))
    assert plus(first, second, -1) == expr([(X, exact(1)), (1, exact(-3))], exact(1))
    assert plus(second, first, -1) == expr([(X, exact(-1)), (1, exact(3))], exact(-1))
    largest = plus(single(M), first, -1)
    found = substituted(expr([(X, exact(1)), (V, exact(3))], exact(0)), V, largest)
    assert found == expr([(M, exact(3)), (X, exact(-5))], exact(-15))
    alone = expr([(X, exact(1))], exact(2))
    assert substituted(alone, V, largest) == alone


# -- what cannot be aligned, and sums of costs -------------------------------------------------------------------------


@pytest.mark.parametrize(("unexplored", "cycles"), [(-40.0, ()), (-math.inf, (1,)), (0.0, ())])
def test_paths_that_were_not_explored_cannot_be_aligned(unexplored: float, cycles: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    traced = SimpleNamespace(log_unexplored=unexplored, cycles=cycles, paths=[])
    monkeypatch.setattr(upper, "symbolic_trace", lambda *_: traced)
    names = ("mechanism", "params", "limits", "sides", "cases")
    question: Any = SimpleNamespace(**dict.fromkeys(names))
    with pytest.raises(ExactRefused, match="a loop without a bound on its length"):
        upper._regions(question, None, SimpleNamespace(inputs=[]))  # type: ignore[arg-type]


@pytest.mark.parametrize("costs", [(1.0,), (0.0, 0.0), (0.1, 3.0, 2.5), (700.0, 1.0), (0.3, 0.3, 0.3)])
def test_costs_that_arrive_together_are_added_and_rounded_up(costs: tuple[float, ...]) -> None:
    found = _together([exact(c) for c in costs])
    with mpmath.workdps(40):
        truth = mpmath.log(mpmath.fsum(mpmath.exp(mpmath.mpf(c)) for c in costs))
        assert truth <= found <= truth + mpmath.mpf("3e-14") * (1 + abs(truth))


@pytest.mark.parametrize("paths", [None, 2])
def test_more_paths_than_a_first_look_has_are_traced_where_the_limits_allow_it(
    paths: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three queries whose noise of scale 4 moves by 1 each: 3/4, which is less than moving the threshold (1/2 + 2/4)."""
    monkeypatch.setattr(upper, "_FEW_PATHS", 2)

    def above(queries: Any) -> Any:
        threshold = 1 + dpest.laplace(2.0)
        for i, q in enumerate(queries):
            if q + dpest.laplace(4.0) >= threshold:
                return i
        return None

    question = upper.ProofQuestion(above, {}, 3, "linf", 1.0, None)
    if paths is None:
        assert upper.upper_side(question).bound == Rational(3, 4)
    else:
        with pytest.raises(BudgetExceeded):
            upper.upper_side(replace(question, limits=replace(question.limits, paths=paths)))
