"""A policy that is priced as a whole: what all draws cost together at the worst difference, not each at its own.

Where a value that several inputs enter is released beside conditions on them, the difference that is worst for one draw is
often harmless for another. Corners of the box are added one by one, until none costs more than the program knows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from dpest.exact.proof.adjacency import Box
from dpest.exact.proof.certificate import ProofStep
from dpest.exact.proof.corners import MOST_MIXED, Corner, allowed, cheapest_corners
from dpest.exact.proof.folding import Known
from dpest.exact.proof.parts import Folded, Part
from dpest.exact.proof.policy import Policy, PolicyColumns, cost_of, costs_at_vertices, mixed_inputs
from dpest.exact.proof.programs import Program
from dpest.exact.proof.regions import Region
from dpest.laws.law import Law
from dpest.numerics.ranges import Range
from dpest.numerics.rationals import ONE, ZERO, Rational

_MOST_CORNERS = 40  # that are added; most programs need fewer than ten
_MOST_SLOPES = 300  # unknown slopes: a larger program takes seconds


def cheaper_step(
    step: ProofStep, region: Region, box: Box, inputs: Mapping[int, Law], known: Known
) -> ProofStep | None:
    """The step with shifts that cost less at the worst corner; None where none were found."""
    assert step.policy is not None
    mixed = sorted(mixed_inputs(Part(region.conditions, region.released, region.laws), dict(box.moves)))
    if not 0 < len(mixed) <= MOST_MIXED or any(None in dict(box.moves)[i] for i in mixed):
        return None
    first = _dearest(step.policy, region.law, mixed, dict(box.moves))[0]
    corners = cheapest_corners(region, box, mixed, first, step.cost, known)
    if corners is None and allowed(law for _, law in region.laws):
        return None
    policy = _cheaper_policy(region, box, inputs, step.policy, step.cost)
    cost = None if policy is None else cost_of(policy, region.law, box)
    if cost is not None and cost < step.cost and (corners is None or cost <= corners[1]):
        return replace(step, policy=policy, cost=cost)
    return None if corners is None else replace(step, policy=None, corners=corners[0], cost=corners[1])


def _cheaper_policy(
    region: Region, box: Box, inputs: Mapping[int, Law], policy: Policy, cost: Rational
) -> Policy | None:
    """An affine policy that costs less at the worst corner than the given one; None where none was found."""
    moves = dict(box.moves)
    part = Part(region.conditions, region.released, region.laws)
    mixed = mixed_inputs(part, moves)
    if not all(type(law).shift_loss is Law.shift_loss for _, law in region.laws):
        return None
    columns = _Unpriced(Program(), Folded(part, {}), mixed, moves, inputs)
    if sum(map(len, columns.follows.values())) > _MOST_SLOPES:
        return None
    kept = all(columns.keep(value) for value in part.released)
    if not kept or not all(columns.hold(row, number) for number, row in enumerate(part.rows)):
        return None
    listed = sorted(mixed)
    first = _dearest(policy, region.law, listed, moves)[0]
    return _by_corners(columns, listed, region.law, moves, first, cost)


class _Unpriced(PolicyColumns):
    """The columns of a policy; draws that follow inputs have no price of their own."""

    def sloped(self, v: int, law: Law, inputs: Sequence[int], up: Rational | None, down: Rational | None) -> dict[int, Rational]:
        """A draw that follows inputs."""
        for i in inputs:
            self.program.column(("S", v, i), whole=law.discrete)
        return {self.program.column(("s", v), whole=law.discrete): ONE}

    def price_at(self, number: int, corner: Corner) -> None:
        """The price of all draws is at least what they cost at a corner."""
        program = self.program
        terms = {program.column("price", cost=ONE, low=ZERO): ONE}
        for v, inputs in self.follows.items():
            if not inputs:
                continue
            shift = {program.index["s", v]: ONE} | {program.index["S", v, i]: corner[i] for i in inputs}
            own = program.column(("price", number, v), low=ZERO)
            terms[own] = -ONE
            for sign, each in zip((ONE, -ONE), self.law[v].shift_cost(), strict=True):
                scaled = {j: -sign * c * (ONE if each is None else each) for j, c in shift.items()}
                program.at_least(scaled if each is None else scaled | {own: ONE}, ZERO)
        program.at_least(terms, ZERO)


def _by_corners(
    columns: _Unpriced,
    mixed: Sequence[int],
    laws: Mapping[int, Law],
    moves: Mapping[int, Range],
    corner: Corner,
    most: Rational,
) -> Policy | None:
    for number in range(_MOST_CORNERS):
        columns.price_at(number, corner)
        point = columns.program.solve()
        if point is None:
            return None
        told = sum((c * x for c, x in zip(columns.program.costs, point, strict=True)), ZERO)
        if told >= most:
            return None
        policy = columns.policy(point)
        corner, worst = _dearest(policy, laws, mixed, moves)
        if worst is not None and worst <= told:
            return policy
    return None


def _dearest(
    policy: Policy, laws: Mapping[int, Law], mixed: Sequence[int], moves: Mapping[int, Range]
) -> tuple[Corner, Rational | None]:
    """The corner at which a policy costs most; None for a cost where a law does not allow the shift."""
    return max(costs_at_vertices(policy, laws, mixed, moves), key=lambda x: (x[1] is None, x[1] or ZERO))
