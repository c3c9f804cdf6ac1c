"""The quick split of conditions into components gives what the general one gives."""

from __future__ import annotations

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
