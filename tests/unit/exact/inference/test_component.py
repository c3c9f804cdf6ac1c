"""Cases split into components: which draws are folded into factors, and what the parts weigh, by enumeration in fractions."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction

import numpy as np
import pytest

from dpest.exact.inference.component import Case, components
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
