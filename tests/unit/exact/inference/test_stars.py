"""The quick split of conditions into components gives what the general one gives."""

from __future__ import annotations

from collections import Counter

import pytest

from dpest.exact.inference.cases import conditions_case
from dpest.exact.inference.component import components
from dpest.exact.inference.stars import _one_star, condition_components
from dpest.lang.nodes import Draw
from dpest.laws.continuous import Laplace
from dpest.laws.discrete import Geometric
from dpest.numerics.rationals import exact
from dpest.trace.literal import Literal


def star(hub: Draw, others: list[Draw], constant: float) -> list[Literal]:
    return [Literal(((hub, exact(1)), (d, exact(-1))), exact(constant)) for d in others]


@pytest.mark.parametrize(("law", "constant"), [(Laplace(2.0), 0.5), (Geometric(3.0), 1.0)])
def test_a_star_is_split_as_in_general(law: Laplace | Geometric, constant: float) -> None:
    literals = star(Draw(law), [Draw(law) for _ in range(3)], constant)
    assert condition_components(literals) == components(conditions_case(literals))
    assert _one_star(literals, {}) == components(conditions_case(literals))[0].component
    assert _one_star(literals[:1], {}) is None


def test_a_draw_that_is_met_twice_makes_no_star() -> None:
    hub, other = Draw(Laplace(1.0)), Draw(Laplace(1.0))
    literals = [*star(hub, [other], 0.5), Literal(((hub, exact(-1)), (other, exact(1))), exact(1))]
    assert condition_components(literals) == components(conditions_case(literals))


def test_conditions_on_single_draws_are_parts_of_their_own() -> None:
    """Alone, twice on one draw, beside a comparison, and with a factor: the parts are those of the general way."""
    a, b, c, d, e, k = (Draw(Laplace(float(n + 1))) for n in range(6))
    one = exact(1)

    def above(draw: Draw, factor: float, constant: float) -> Literal:
        return Literal(((draw, exact(factor)),), exact(constant))

    pair, triple = Literal(((c, one), (d, -one)), exact(0.5)), [Literal(((c, one), (x, -one)), exact(0.5)) for x in (d, e)]
    for literals in (
        [above(a, 2.0, -1.0)],
        [above(a, 2.0, -1.0), above(b, -1.0, 3.0)],
        [above(a, 1.0, 2.0), above(a, -1.0, 2.0), above(b, 1.0, 0.25)],
        [above(c, 1.0, 1.0), pair, above(a, 1.0, 2.0)],
        [pair, above(a, 1.0, 2.0)],
        [*triple, above(a, 1.0, 2.0), above(b, 0.5, 0.0)],
        [*triple, above(k, 1.0, 2.0), above(e, 1.0, 2.0)],
    ):
        assert Counter(condition_components(literals)) == Counter(components(conditions_case(literals)))
