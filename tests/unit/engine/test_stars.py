"""The quick split of conditions into components gives what the general one gives."""

from __future__ import annotations

import pytest

from dpest.engine.cases import conditions_case
from dpest.engine.component import components
from dpest.engine.resolve import Literal
from dpest.engine.stars import condition_components
from dpest.graph.nodes import Draw, Relation
from dpest.laws.continuous import Laplace
from dpest.laws.discrete import Geometric


def star(hub: Draw, others: list[Draw], relations: list[Relation]) -> list[Literal]:
    return [Literal(((hub, 1.0), (d, -1.0)), 0.5, r) for d, r in zip(others, relations, strict=True)]


@pytest.mark.parametrize("relations", [[Relation.GE] * 3, [Relation.GT, Relation.GE, Relation.GT]])
@pytest.mark.parametrize("law", [Laplace(2.0), Geometric(3.0)])
def test_a_star_is_split_as_in_general(law: Laplace | Geometric, relations: list[Relation]) -> None:
    literals = star(Draw(law), [Draw(law) for _ in relations], relations)
    assert condition_components(literals) == components(conditions_case(literals))


def test_a_draw_that_is_met_twice_makes_no_star() -> None:
    hub, other = Draw(Laplace(1.0)), Draw(Laplace(1.0))
    literals = [*star(hub, [other], [Relation.GE]), Literal(((hub, -1.0), (other, 1.0)), 1.0, Relation.GE)]
    assert condition_components(literals) == components(conditions_case(literals))
