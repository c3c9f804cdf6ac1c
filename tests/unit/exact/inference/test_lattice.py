"""Lattices of rationals: where they meet, what spans them, and their points, against enumeration in fractions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from dpest.errors import BudgetExceeded, ExactRefused
from dpest.exact.inference.cases import Floor
from dpest.exact.inference.expressions import expr
from dpest.exact.inference.lattice import Lattice, floor_points, meeting, of_floor, of_sum, spanned, sum_points
from dpest.lang.nodes import Draw, Linear
from dpest.laws.continuous import Exponential, Laplace, Uniform
from dpest.laws.discrete import Geometric, atoms, integers_law
from dpest.numerics.rationals import exact
from dpest.trace.literal import Literal, narrowed


def lattice(origin: object, step: object) -> Lattice:
    return Lattice(exact(origin), exact(step))  # type: ignore[arg-type]


def listed(x: Lattice, most: int = 20) -> set[Fraction]:
    origin, step = (Fraction(int(v.numerator), int(v.denominator)) for v in (x.origin, x.step))
    return {origin + step * k for k in range(-most, most + 1)}


CHOICES = [lattice(o, s) for o in (0, 1, Fraction(1, 2), Fraction(1, 3)) for s in (0, 1, 2, Fraction(2, 3), Fraction(3, 2))]


def test_two_lattices_meet_where_they_have_a_point_in_common() -> None:
    points = [listed(x) for x in CHOICES]
    for i, a in enumerate(CHOICES):
        for j, b in enumerate(CHOICES):
            assert a.meets(b) == bool(points[i] & points[j])


def test_the_coarsest_lattice_that_holds_all() -> None:
    for a in CHOICES:
        for b in CHOICES:
            found = spanned([a, b])
            origin, step = (Fraction(int(v.numerator), int(v.denominator)) for v in (found.origin, found.step))
            points = {x for y in (a, b) for x in listed(y, 6)}
            multiples = [(x - origin) / step for x in points]
            assert all(m.denominator == 1 for m in multiples)
            if len(points) > 1:
                assert math.gcd(*(int(m) for m in multiples)) == 1


def test_lattices_that_meet_through_others_have_one_number() -> None:
    evens, odds, halves, all_of_them = lattice(0, 2), lattice(1, 2), lattice(0.5, 1), lattice(0, 1)
    assert meeting([evens, odds, halves]) == [0, 1, 2]
    assert meeting([evens, odds, all_of_them, halves]) == [0, 0, 0, 3]
    assert meeting([halves, odds, evens, all_of_them, lattice(1.5, 4)]) == [0, 1, 1, 1, 0]


def test_points_of_a_sum() -> None:
    laws = [integers_law(0, 2), integers_law(-1, 1)]
    value = expr(((0, exact(3)), (1, exact(Fraction(1, 2)))), exact(Fraction(1, 4)))
    on = of_sum(value, laws)
    assert (on.origin, on.step) == (Fraction(1, 4), Fraction(1, 2))
    expected = sorted({6 * a + b for a in range(3) for b in (-1, 0, 1)})
    assert sum_points(value, laws, on).tolist() == expected
    finer = lattice(0, Fraction(1, 4))
    assert sum_points(value, laws, finer).tolist() == [1 + 2 * x for x in expected]
    with pytest.raises(ExactRefused, match="different lattices"):
        of_sum(value, [integers_law(0, 2), atoms({0.5: 0.5, 2.0: 0.5})])
    with pytest.raises(ExactRefused, match="different lattices"):
        of_sum(value, [integers_law(0, 2), Laplace(1.0)])


def test_points_of_a_sum_too_large_to_list_reach_as_far() -> None:
    laws = [Geometric(300.0), Geometric(200.0)]
    value = expr(((0, exact(2)), (1, exact(4))), exact(3))
    found = sum_points(value, laws, lattice(1, 2))
    reach = 2 * laws[0].window(-60.0)[0].max() + 4 * laws[1].window(-60.0)[0].max()
    assert found[0] <= (3 - 1 - reach) / 2
    assert found[-1] >= (3 - 1 + reach) / 2
    assert set(np.diff(found)) <= {1.0}
    with pytest.raises(BudgetExceeded, match="at most"):
        sum_points(expr(((0, exact(1)), (1, exact(1))), exact(0)), [Geometric(2e4), Geometric(2e4)], lattice(0, 1))


def floor_of(draw: Draw, c: float, constant: float, scale: float = 1.0, offset: float = 0.0) -> Floor:
    return Floor(Linear(((draw, exact(c)),), exact(constant)), exact(scale), exact(offset))


def test_points_of_a_rounding_hold_every_value_within_reach() -> None:
    draw = Draw(Uniform(-1.0, 2.0))
    rounded = floor_of(draw, -3, 0.25, 2, 1)  # 1 + 2 floor(-3 u + 1/4): the inside lies in [-5.75, 3.25]
    on = of_floor(rounded)
    assert (on.origin, on.step) == (1, 2)
    found = {1 + 2 * k for k in floor_points(rounded, on, {}).tolist()}
    assert {1 + 2 * k for k in range(-6, 4)} <= found
    assert max(map(abs, found)) <= 1 + 2 * 8
    far = floor_of(draw, 1, 1e6 + 0.5)
    assert of_floor(far).origin == 1_000_000


@pytest.mark.parametrize("c", [1.0, -2.0])
def test_conditions_on_what_is_rounded_shorten_the_list(c: float) -> None:
    draw = Draw(Laplace(1.0))
    rounded = floor_of(draw, c, 0.5)
    on = of_floor(rounded)
    between = [Literal(((draw, exact(1)),), exact(3)), Literal(((draw, exact(-1)),), exact(5))]  # -3 <= draw <= 5
    values = floor_points(rounded, on, narrowed({}, between)) + float(on.origin)
    inside = sorted((c * -3 + 0.5, c * 5 + 0.5))
    assert set(range(math.floor(inside[0]), math.floor(inside[1]) + 1)) <= set(values.tolist())
    assert values.min() >= inside[0] - 3
    assert values.max() <= inside[1] + 3
    assert len(floor_points(rounded, on, {})) > 100 * abs(c)


@pytest.mark.parametrize("c", [(-1.0, 2.0), (3.0, 0.5), (-0.5, -4.0)])
def test_conditions_on_a_combination_of_two_draws(c: tuple[float, float]) -> None:
    """-2 <= c[0] a + c[1] b <= 7: the rounded sum lies between these, whichever draw comes first."""
    for draws in ((Draw(Laplace(1.0)), Draw(Laplace(1.0))), (Draw(Laplace(1.0)), Draw(Laplace(1.0)))[::-1]):
        terms = tuple((d, exact(x)) for d, x in zip(draws, c, strict=True))
        rounded = Floor(Linear(terms, exact(0.5)), exact(1), exact(0))
        turned = tuple((d, -x) for d, x in terms)
        between = [Literal(terms, exact(2)), Literal(turned, exact(7))]
        values = floor_points(rounded, lattice(0, 1), narrowed({}, between))
        assert set(range(-2, 8)) <= set(values.tolist())
        assert values.min() >= -5
        assert values.max() <= 10


def test_a_one_sided_draw_reaches_from_its_end() -> None:
    draw = Draw(Exponential(1.0))
    found = floor_points(floor_of(draw, 1, 0.5), lattice(0, 1), {})
    assert found[0] in (-1.0, 0.0)
    assert found[-1] >= 60
    with pytest.raises(BudgetExceeded, match="rounded value"):
        floor_points(floor_of(draw, 1e6, 0.0), lattice(0, 1), {})


def test_many_sums_are_listed_by_their_common_step() -> None:
    """More sums than are listed one by one: every multiple of the step within reach."""
    laws = [integers_law(-100, 100) for _ in range(4)]
    value = expr(((v, exact(1000)) for v in range(4)), exact(0))
    points = sum_points(value, laws, lattice(0, 1))
    assert list(points) == [1000 * k for k in range(-400, 401)]
    wide = [integers_law(-150_000, 150_000) for _ in range(4)]
    with pytest.raises(BudgetExceeded, match=r"with 1\.2e\+06 points"):
        sum_points(expr(((v, exact(1)) for v in range(4)), exact(0)), wide, lattice(0, 1))
