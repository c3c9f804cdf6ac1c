"""Inequalities between draws: what supports and earlier conditions decide, against enumeration of the draws' points."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction

import pytest

import dpest
from dpest.lang.nodes import Draw, Origin
from dpest.laws.continuous import Exponential, Laplace, Uniform
from dpest.laws.discrete import Geometric, atoms, integers_law
from dpest.numerics.elementary import EXP
from dpest.numerics.rationals import exact
from dpest.trace.literal import (
    Bounds,
    InputLiteral,
    Literal,
    ends,
    held,
    implied,
    left_of,
    log_chances,
    log_weight,
    narrowed,
    open_options,
)

DIE = Draw(integers_law(1, 6))
COIN = Draw(atoms({-0.5: 0.25, 0.25: 0.25, 2.0: 0.5}))
UNIT = Draw(Uniform(0.0, 1.0))


def literal(draw: Draw, c: float, constant: float) -> Literal:
    return Literal(((draw, exact(c)),), exact(constant))


def points(draw: Draw) -> list[Fraction]:
    return [Fraction(float(x)) for x in draw.law.window(0.0)[0]]  # type: ignore[attr-defined]


def holds(x: Literal, point: Fraction) -> bool:
    ((_, c),) = x.terms
    return Fraction(int(c.numerator), int(c.denominator)) * point + Fraction(float(x.constant)) >= 0


CONDITIONS = [literal(DIE, c, k) for c in (1, -1) for k in range(-7, 8)]


def test_supports_decide_what_every_point_agrees_on() -> None:
    for one in CONDITIONS:
        said = {holds(one, x) for x in points(DIE)}
        assert one.by_support == (said.pop() if len(said) == 1 else None)
        assert [holds(one.negated(), x) for x in points(DIE)] == [not holds(one, x) for x in points(DIE)]


def test_earlier_conditions_decide_what_the_points_left_agree_on() -> None:
    for first, second in itertools.product(CONDITIONS, CONDITIONS):
        left = [x for x in points(DIE) if holds(first, x)]
        if left and first.by_support is None:
            said = {holds(second, x) for x in left}
            assert implied(second, narrowed({}, [first])) == (said.pop() if len(said) == 1 else None)


def test_bounds_keep_the_tightest_of_each_side() -> None:
    known = narrowed(
        {}, [literal(DIE, 1, -2), literal(DIE, 1, -4), literal(DIE, 1, -3), literal(DIE, -1, 6), literal(DIE, -1, 5)]
    )
    (span,) = known.values()
    assert ends(span) == (4, 5)
    assert {x.constant for x in held(known)} == {-4, 5}


@pytest.mark.parametrize("c", [1.0, -1.0])
@pytest.mark.parametrize("point", [-0.5, 0.25, 2.0])
def test_the_opposite_of_a_comparison_with_a_point_is_one_with_its_neighbour(c: float, point: float) -> None:
    one = literal(COIN, c, -c * point)
    if one.by_support is None:
        opposite = one.negated()
        assert [holds(opposite, x) for x in points(COIN)] == [not holds(one, x) for x in points(COIN)]


def test_ties_of_continuous_draws_have_no_weight() -> None:
    assert literal(UNIT, 1, 0).by_support is True  # u >= 0
    assert literal(UNIT, -1, 0).by_support is False  # u <= 0
    assert literal(UNIT, -1, 1e-12).by_support is None
    assert literal(UNIT, 1, -1).by_support is False  # u >= 1
    assert literal(UNIT, -1, 1).by_support is True
    assert literal(UNIT, 1, -1 + 1e-12).by_support is None
    half = narrowed({}, [literal(UNIT, 1, -0.5)])
    assert implied(literal(UNIT, -1, 0.5), half) is False
    assert implied(literal(UNIT, 1, -0.5), half) is True
    assert implied(literal(UNIT, 1, -0.25), half) is True
    assert implied(literal(UNIT, 1, -0.75), half) is None


def test_several_draws_by_their_ends() -> None:
    other = Draw(integers_law(-2, 3))
    for a, b, k in itertools.product((-2, 1), (-1, 3), range(-20, 21, 3)):
        one = Literal(((DIE, exact(a)), (other, exact(b))), exact(k))
        said = {a * x + b * y + k >= 0 for x in points(DIE) for y in points(other)}
        assert one.by_support == (said.pop() if len(said) == 1 else None)


def test_an_infinite_end_decides_nothing() -> None:
    noise, wait = Draw(Laplace(1.0)), Draw(Exponential(1.0))
    assert literal(noise, 1, -1e9).by_support is None
    assert literal(wait, 1, 0).by_support is True
    assert literal(wait, -1, 0).by_support is False
    assert Literal(((wait, exact(1)), (noise, exact(1))), exact(5)).by_support is None


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("c", [2.0, 0.5, -3.0])
@pytest.mark.parametrize("constant", [-1.0, 0.0, 3.0])
def test_truths_about_inputs_know_themselves_and_their_opposite(strict: bool, c: float, constant: float) -> None:
    x = Draw(Laplace(1.0))
    one = InputLiteral(((x, exact(c)),), exact(constant), strict)
    known = narrowed({}, [one])
    assert implied(one, known) is True
    assert implied(one.negated(), known) is False
    assert implied(one.negated(), narrowed({}, [one.negated()])) is True
    assert implied(one, narrowed({}, [one.negated()])) is False
    scaled = InputLiteral(((x, exact(5 * c)),), exact(5 * constant), strict)
    assert implied(scaled, known) is True
    assert implied(InputLiteral(((x, exact(c)),), exact(constant), not strict), known) is None
    assert implied(InputLiteral(((x, exact(-c)),), exact(-constant), strict), known) is None


def test_ranges_of_inputs_decide_ties_by_strictness() -> None:
    def within(c: float, k: float, strict: bool) -> bool | None:
        return InputLiteral(((UNIT, exact(c)),), exact(k), strict).by_support

    assert within(1, 0, False) is True
    assert within(1, 0, True) is None
    assert within(-1, 0, True) is False
    assert within(-1, 0, False) is None
    assert within(1, 1, True) is True
    assert within(-1, -1, False) is False


def test_options() -> None:
    low, high = literal(DIE, -1, 2), literal(DIE, 1, -3)  # at most 2, at least 3
    assert open_options([(low,), (high,)], {}) == (None, [(0, (low,)), (1, (high,))])
    assert open_options([(low,), (high,)], narrowed({}, [literal(DIE, 1, -5)])) == (1, [])
    assert open_options([(high, low), (low,)], {})[1] == [(0, (high, low)), (1, (low,))]
    one_left = open_options([(low,), (high, literal(DIE, 1, -5))], narrowed({}, [high]))
    assert one_left == (1, [(1, (literal(DIE, 1, -5),))])


def weight(conditions: list[Literal], given: list[Literal]) -> Fraction:
    before = [x for x in points(DIE) if all(holds(g, x) for g in given)]
    return Fraction(sum(all(holds(c, x) for c in conditions) for x in before), len(before))


@pytest.mark.parametrize("given", [[], [literal(DIE, 1, -2)], [literal(DIE, 1, -2), literal(DIE, -1, 5)]])
@pytest.mark.parametrize("conditions", [[literal(DIE, 1, -4)], [literal(DIE, 1, -3), literal(DIE, -1, 4)], [literal(DIE, -1, 3)]])
def test_conditions_on_one_draw_are_weighed_together(given: list[Literal], conditions: list[Literal]) -> None:
    bounds: Bounds = narrowed({}, given)
    assert log_weight(tuple(conditions), bounds) == pytest.approx(math.log(weight(conditions, given)), abs=1e-14)
    both = log_chances(conditions[0], bounds)
    truths = [weight([conditions[0]], given), weight([conditions[0].negated()], given)]
    assert both == pytest.approx([math.log(t) for t in truths], abs=1e-14)


def test_weights_of_several_draws() -> None:
    noise, other = Draw(Laplace(2.0)), Draw(Geometric(1.0))
    joint = Literal(((noise, exact(1)), (other, exact(1))), exact(0))
    assert log_weight((joint,), {}) == 0.0
    assert log_chances(joint, {}) == (0.0, 0.0)
    # P(L > 3) P(G >= 2) with a = e^(-1): e^(-3/2) / 2 and a^2 / (1 + a).
    expected = -1.5 - math.log(2) - 2 - math.log1p(math.exp(-1))
    assert log_weight((literal(noise, 1, -3), literal(other, 1, -2), joint), {}) == pytest.approx(expected, rel=1e-13)
    impossible = narrowed({}, [literal(noise, 1, -3), literal(noise, -1, 2)])
    assert log_weight((literal(noise, 1, -4),), impossible) == -math.inf


@pytest.mark.parametrize("coefficient", [1.0, -1.0, 0.5])
@pytest.mark.parametrize("falling", [False, True])
def test_a_condition_on_a_function_of_a_draw_is_one_on_the_draw(coefficient: float, falling: bool) -> None:
    """c (e^z - 2) >= 0 says z >= ln 2 where c > 0, and z <= ln 2 else; with e^-z the other way round."""
    base = Draw(Laplace(1.0))
    origin = Origin(base, exact(-1 if falling else 1), exact(0), EXP, exact(1), exact(0))
    image = Draw(Exponential(1.0), origin)
    found = Literal(((image, exact(coefficient)),), exact(-2 * coefficient))
    direction, bound, flipped = found.direction
    assert direction == ((base, 1),)
    assert float(bound) == pytest.approx(-math.log(2) if falling else math.log(2), rel=1e-15)
    assert flipped == ((coefficient < 0) != falling)
    assert found.negated().direction == (direction, bound, not flipped)


@pytest.mark.parametrize(("low", "high", "said"), [(4, 2, True), (2, 4, False), (2, 2, True), (None, 2, None)])
def test_what_is_known_of_single_draws_decides_what_compares_them(low: int | None, high: int, said: bool | None) -> None:
    x, y = Draw(integers_law(0, 9)), Draw(Geometric(1.0))
    known = [literal(y, -1, high), *([] if low is None else [literal(x, 1, -low)])]
    bounds = narrowed({}, known)
    between = Literal(((x, exact(1)), (y, exact(-1))), exact(0))  # x >= y
    if said is False:
        bounds = narrowed({}, [literal(x, -1, low or 0), literal(y, 1, -high)])
    assert implied(between, bounds) is said


@pytest.mark.parametrize("known", [0, 1, 2])
@pytest.mark.parametrize("constant", range(-9, 3))
def test_a_draw_with_one_point_left_counts_as_a_number(known: int, constant: int) -> None:
    u, v = Draw(integers_law(0, 2)), Draw(integers_law(0, 3))
    at = Literal(((u, exact(1)),), exact(-known)), Literal(((u, exact(-1)),), exact(known))
    literal = Literal(((u, exact(1)), (v, exact(2))), exact(constant))
    rest = left_of(literal, narrowed({}, at))
    holds = [known + 2 * k + constant >= 0 for k in range(4)]
    if isinstance(rest, bool):
        assert holds == [rest] * 4
    else:
        assert [d for d, _ in rest.terms] == [v]
        assert holds == [rest.terms[0][1] * k + rest.constant >= 0 for k in range(4)]
        assert holds == [not (rest.negated().terms[0][1] * k + rest.negated().constant >= 0) for k in range(4)]


def test_a_known_number_beside_continuous_noise() -> None:
    u, z = Draw(integers_law(0, 2)), Draw(Laplace(1.0))
    at = Literal(((u, exact(1)),), exact(-1)), Literal(((u, exact(-1)),), exact(1))
    rest = left_of(Literal(((u, exact(1)), (z, exact(2))), exact(0.5)), narrowed({}, at))
    assert rest == Literal(((z, exact(2)),), exact(1.5))


def test_draws_that_are_open_stay() -> None:
    u, v = Draw(integers_law(0, 2)), Draw(integers_law(0, 3))
    literal = Literal(((u, exact(1)), (v, exact(2))), exact(-3))
    assert left_of(literal, {}) is literal
    both = [Literal(((d, exact(s)),), exact(-s * 1)) for d in (u, v) for s in (1, -1)]
    assert left_of(literal, narrowed({}, both)) is True


GAPS = Draw(atoms({0: 0.5, 2: 0.25, 5: 0.25}))


@pytest.mark.parametrize("low", range(-1, 6))
@pytest.mark.parametrize("high", range(7))
@pytest.mark.parametrize("bound", range(-1, 7))
def test_points_that_are_left_decide_where_there_are_gaps_between_them(low: int, high: int, bound: int) -> None:
    left = [x for x in points(GAPS) if low <= x <= high]
    bounds = narrowed(narrowed({}, (literal(GAPS, 1, -low),)), (literal(GAPS, -1, high),))
    for asked in (literal(GAPS, 1, -bound), literal(GAPS, -1, bound)):
        holds = {x >= bound if asked.terms[0][1] > 0 else x <= bound for x in left}
        if left:
            assert implied(asked, bounds) is (holds.pop() if len(holds) == 1 else None)


def test_what_is_chosen_is_taken_out_of_a_list() -> None:
    """Peeling two of four: the law of pairs without replacement, summed by hand."""

    def peeled(scores: list[int]) -> list[int]:
        left, chosen = list(range(len(scores))), []
        for _ in range(2):
            one = random.choices(left, weights=[math.exp(0.5 * scores[i]) for i in left])[0]
            chosen.append(one)
            left.remove(one)
        return chosen

    def law(scores: list[int]) -> dict[tuple[int, int], float]:
        w = [math.exp(0.5 * s) for s in scores]
        return {(i, j): w[i] / sum(w) * w[j] / (sum(w) - w[i]) for i, j in itertools.permutations(range(len(w)), 2)}

    a, b = [3, 1, 4, 1], [2, 2, 4, 2]
    truth = max(abs(math.log(law(a)[k] / law(b)[k])) for k in law(a))
    found = dpest.estimate(peeled, (a, b), method="exact")
    assert found.lower - 1e-12 <= truth <= found.upper + 1e-12
    assert found.upper - found.lower < 1e-9
