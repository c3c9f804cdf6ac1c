"""Cases split into components: which draws are folded into factors, and what the parts weigh, by enumeration in fractions."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction

import numpy as np
import pytest

from dpest.exact.inference.component import Case, components, repeated
from dpest.exact.inference.eliminate import eliminate
from dpest.exact.inference.expressions import Expr, coordinate, expr
from dpest.exact.inference.factors import Bound
from dpest.laws.continuous import Laplace
from dpest.laws.discrete import Geometric, integers_law
from dpest.numerics.rationals import exact


def linear(terms: dict[int, int], constant: int = 0) -> Expr:
    return expr(((v, exact(c)) for v, c in terms.items()), exact(constant))


@pytest.mark.parametrize("seed", range(25))
def test_the_parts_weigh_what_the_whole_does(seed: int) -> None:
    """Up to five draws from 0 to 3, and conditions on one, two or three of them."""
    rng = random.Random(seed)
    n = rng.randint(1, 5)
    expressions = []
    for _ in range(rng.randint(1, 5)):
        some = rng.sample(range(n), min(n, rng.choice([1, 2, 2, 3])))
        expressions.append(linear({v: rng.choice([-2, -1, 1, 1]) for v in some}, rng.randint(-1, 3)))
    case = Case((integers_law(0, 3),) * n, tuple(map(Bound, expressions)), ())
    hits = 0
    for point in itertools.product(range(4), repeat=n):
        hits += all(e.constant + sum(c * point[v] for v, c in e.terms) >= 0 for e in expressions)
    placed = components(case)
    log_p = math.fsum(float(eliminate(p.component).log(np.empty((1, 0)))[0][0]) for p in placed)
    assert math.exp(log_p) == pytest.approx(float(Fraction(hits, 4**n)), abs=1e-13)
    assert len(placed) <= n


def test_draws_that_no_condition_joins_are_parts_of_their_own() -> None:
    case = Case((Laplace(1.0),) * 5, tuple(Bound(linear(e)) for e in ({0: 1, 1: -1}, {2: 1}, {3: 1, 4: 1}, {4: -1, 3: 2})), ())
    assert sorted((len(p.component.laws), len(p.component.folded), len(p.component.bounds)) for p in components(case)) == [
        (1, 0, 1),
        (1, 1, 0),
        (1, 1, 0),
    ]


def test_draws_that_meet_one_other_or_an_output_alone_are_folded() -> None:
    """Spokes of a star; and whole-number draws that are compared with one output and with nothing else."""
    star = Case((Laplace(1.0),) * 4, tuple(Bound(linear({0: 1, k: -1})) for k in (1, 2, 3)), ())
    (placed,) = components(star)
    assert (placed.component.laws, [times for _, times in placed.component.folded]) == ((Laplace(1.0),), [3])
    y = coordinate(0)
    laws = Geometric(1.0), Geometric(2.0), Geometric(4.0)
    (placed,) = components(Case(laws, tuple(Bound(linear({k: 1, y: -1})) for k in range(3)), ()))
    assert (len(placed.component.laws), len(placed.component.folded)) == (1, 2)  # one draw of a part stays
    # P(K >= y) of each.
    logs, error = eliminate(placed.component).log(np.array([[1.0], [3.0]]))
    for k, log_p in zip((1, 3), logs, strict=True):
        truth = sum(-k / b - math.log1p(math.exp(-1 / b)) for b in (1.0, 2.0, 4.0))
        assert abs(log_p - truth) <= np.max(error) + 1e-14


def test_what_an_equation_fixes_and_what_sums_would_replace_is_kept() -> None:
    """A draw in an equation stays; and a whole-number draw that meets a continuous one is not folded into it."""
    y = coordinate(0)
    fixed = Case((Laplace(1.0), Laplace(1.0)), (Bound(linear({0: 1, 1: -1})),), (linear({0: 1, y: -1}),))
    (placed,) = components(fixed)
    assert (len(placed.component.laws), len(placed.component.folded), placed.outputs) == (1, 1, (0,))
    mixed = Case((Geometric(1.0), Laplace(1.0)), (Bound(linear({0: 1, 1: -1})),), ())
    (placed,) = components(mixed)
    assert placed.component.laws == (Geometric(1.0),)


@pytest.mark.parametrize("order", list(itertools.permutations(range(4))))
def test_draws_in_a_row_in_any_order(order: tuple[int, ...]) -> None:
    """Each is at least the one before: 35 of 256 ways for four draws from 0 to 3."""
    case = Case((integers_law(0, 3),) * 4, tuple(Bound(linear({b: 1, a: -1})) for a, b in itertools.pairwise(order)), ())
    (placed,) = components(case)
    assert math.exp(float(eliminate(placed.component).log(np.empty((1, 0)))[0][0])) == pytest.approx(35 / 256, rel=1e-13)
    assert sum(times for _, times in placed.component.folded) == 2


def test_a_whole_number_draw_is_not_folded_into_a_continuous_one() -> None:
    """X at least K (two-sided geometric), Y and Z; Y and Z also below 5: the spokes that are continuous are folded."""
    bounds = [linear({0: 1, k: -1}) for k in (1, 2, 3)] + [linear({k: -1}, 5) for k in (2, 3)]
    case = Case((Laplace(1.0), Geometric(1.0), Laplace(2.0), Laplace(2.0)), tuple(map(Bound, bounds)), ())
    (placed,) = components(case)
    assert set(placed.component.laws) == {Laplace(1.0), Geometric(1.0)}
    assert [times for _, times in placed.component.folded] == [2]


def test_a_whole_number_draw_is_folded_into_another() -> None:
    case = Case((Geometric(1.0),) * 3, tuple(Bound(linear({0: 1, k: -1})) for k in (1, 2)), ())
    (placed,) = components(case)
    assert (placed.component.laws, [times for _, times in placed.component.folded]) == ((Geometric(1.0),), [2])


def test_outputs_keep_their_order() -> None:
    """y = U + V, z = V: the density is that of U at y - z times that of V at z."""
    y, z = coordinate(0), coordinate(1)
    case = Case((Laplace(1.0), Laplace(2.0)), (), (linear({0: 1, 1: 1, y: -1}), linear({1: 1, z: -1})))
    (placed,) = components(case)
    assert placed.outputs == (0, 1)
    place = np.array([[3.0, 0.5], [-1.0, 2.0]])
    logs, error = eliminate(placed.component).log(place)
    truth = -abs(place[:, 0] - place[:, 1]) - math.log(2) - abs(place[:, 1]) / 2 - math.log(4)
    assert np.all(np.abs(logs - truth) <= error + 1e-14)
    apart = components(Case((Laplace(1.0), Laplace(2.0)), (), (linear({1: 1, y: -1}), linear({0: 1, z: -1}))))
    assert sorted((p.outputs, p.component.laws) for p in apart) == [((0,), (Laplace(2.0),)), ((1,), (Laplace(1.0),))]


def test_what_must_be_whole_is_kept_beside_its_outputs() -> None:
    """y is at most a draw and above it by less than 2, and half of it is a whole number."""
    y = coordinate(0)
    half = expr(((y, exact(0.5)),), exact(0))
    bounds = tuple(map(Bound, (linear({0: 1, y: -1}), linear({0: -1, y: 1}, 1))))
    (placed,) = components(Case((integers_law(0, 9),), bounds, (), (half,)))
    assert (placed.component.wholes, placed.outputs) == (frozenset({half}), (0,))
    logs = eliminate(placed.component).log(np.array([[3.0], [4.0], [8.0], [10.0]]))[0]
    assert np.exp(logs) == pytest.approx([0.0, 0.2, 0.2, 0.0])


def test_rounds_of_a_loop_have_no_outputs() -> None:
    assert repeated(frozenset()).component.outputs == 0
