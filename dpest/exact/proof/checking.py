"""Verifies a certificate in rational arithmetic: no solver, no floats, no trace."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from dpest.exact.inference.expressions import number
from dpest.exact.proof.adjacency import Box
from dpest.exact.proof.align import rounded_up
from dpest.exact.proof.certificate import Certificate, PairKind, ProofStep
from dpest.exact.proof.corners import corners_fault
from dpest.exact.proof.cross import Crossing, Multipliers, apart, change, known_rows, whole_variable
from dpest.exact.proof.policy import Policy, cost_of, is_whole
from dpest.exact.proof.pools import pool_fault
from dpest.exact.proof.regions import Region, Row, common_laws
from dpest.exact.proof.storage import digest_of
from dpest.laws.law import Law
from dpest.numerics.ranges import Range
from dpest.numerics.rationals import ZERO, Rational, exact

NOTHING = number(ZERO)


def check(certificate: Certificate) -> bool:
    """Whether a certificate proves its bound."""
    return not faults(certificate)


def faults(certificate: Certificate) -> list[str]:
    """What is wrong with a certificate; empty where it proves its bound."""
    if certificate.digest != digest_of(certificate):
        return ["the regions, inputs or differences are not those that the mechanism was traced to"]
    out: list[str] = []
    for place, step in enumerate(certificate.steps, 1):
        problem = _step_fault(certificate, step)
        if problem:
            out.append(f"step {place}: {problem}")
    if out:
        return out
    out.extend(_missing(certificate))
    if total(certificate.steps, certificate.programs, certificate.cases) != certificate.bound:
        out.append("the bound is not the largest cost")
    return out


def _step_fault(certificate: Certificate, step: ProofStep) -> str | None:
    try:
        case = certificate.cases[step.case]
        source = certificate.programs[case.source][step.source]
        target = certificate.programs[case.target][step.target]
    except IndexError:
        return "it speaks of a region that does not exist"
    if min(step.case, step.source, step.target) < 0:
        return "it speaks of a region that does not exist"
    if [step.policy, step.crossing, step.apart, step.corners, step.pool].count(None) != 4:
        return "it must have one kind of reason"
    if step.policy is not None or step.corners is not None or step.pool is not None:
        if case.source != case.target or step.source != step.target:
            return "a region can only go to itself by a policy"
        if step.pool is not None:
            if step.source not in step.pool.members:
                return "a step speaks for regions that are bounded together, and is none of them"
            return pool_fault(certificate.programs[case.source], step.pool, case.box, step.cost)
        if step.policy is None:
            return corners_fault(source, step.corners or (), case.box, step.cost)
        return _policy_fault(source, step.policy, case.box, certificate.input_laws, step.cost)
    laws = certificate.input_laws
    if step.apart is not None:
        rows = apart(source.bare, target.bare, case.box, laws)
        return None if step.cost == 0 and _contradict(rows, step.apart) else "the two cells may meet"
    assert step.crossing is not None
    return _crossing_fault(source, target, case.box, laws, step.crossing, step.cost)


def _policy_fault(region: Region, policy: Policy, box: Box, inputs: Mapping[int, Law], cost: Rational) -> str | None:
    moves = dict(box.moves)
    if not set(policy) <= set(region.law) or any(i not in moves for s in policy.values() for i, _ in s.terms):
        return "it shifts a draw that the region does not have"
    for v, law in region.laws:
        shift = policy.get(v, NOTHING)
        numbers = [shift.constant, *(c for _, c in shift.terms)]
        if law.discrete and any(x.denominator != 1 for x in numbers):
            return "a whole-number draw is shifted by a fraction"
        if law.discrete and any(not is_whole(inputs[i]) for i, _ in shift.terms):
            return "a whole-number draw follows an input that is not whole"
    for value in region.released:
        constant, slopes = _change(value.terms, policy, moves)
        if constant or any(slopes.values()):
            return "a released value does not stay as it is"
    for row in region.conditions:
        constant, slopes = _change(row.terms, policy, moves)
        least = _least(constant, slopes, moves)
        if least is None or least < 0:
            return "a condition need not hold after the shift"
    found = cost_of(policy, region.law, box)
    return None if found is not None and found == cost else "the cost is not what the shifts cost"


def _change(
    terms: Iterable[tuple[int, Rational]], policy: Policy, moves: Mapping[int, Range]
) -> tuple[Rational, dict[int, Rational]]:
    """By how much an expression changes from (v, q) to (v + shift, q + d): a constant, and slopes along d."""
    constant = ZERO
    slopes: dict[int, Rational] = {}
    for v, c in terms:
        if v < 0:
            if v in moves:
                slopes[v] = slopes.get(v, ZERO) + c
            continue
        shift = policy.get(v, NOTHING)
        constant += c * shift.constant
        for i, slope in shift.terms:
            slopes[i] = slopes.get(i, ZERO) + c * slope
    return constant, slopes


def _least(constant: Rational, slopes: Mapping[int, Rational], moves: Mapping[int, Range]) -> Rational | None:
    """The smallest value over a box; None where it is unbounded."""
    for i, c in slopes.items():
        if c:
            end = moves[i][0 if c > 0 else 1]
            if end is None:
                return None
            constant += c * end
    return constant


def _contradict(rows: Sequence[Row], multipliers: Multipliers) -> bool:
    """Whether the multipliers show that the rows cannot hold together."""
    total_: dict[int, Rational] = {}
    constant, strict = ZERO, False
    for n, factor in multipliers:
        if factor <= 0 or not 0 <= n < len(rows):
            return False
        for v, c in rows[n].terms:
            total_[v] = total_.get(v, ZERO) + factor * c
        constant += factor * rows[n].constant
        strict = strict or rows[n].strict
    return not any(total_.values()) and (constant < 0 or (constant == 0 and strict))


def _proved(
    terms: Mapping[int, Rational], constant: Rational, known: Sequence[Row], multipliers: Multipliers, inputs_only: bool
) -> bool:
    """Whether terms + constant = the multiples of known rows + something that is not negative."""
    rest = dict(terms)
    for n, factor in multipliers:
        if factor < 0 or not 0 <= n < len(known):
            return False
        row = known[n]
        if inputs_only and not row.bare:
            return False
        constant -= factor * row.constant
        for v, c in row.terms:
            rest[v] = rest.get(v, ZERO) - factor * c
    return constant >= 0 and not any(rest.values())


def _crossing_fault(
    source: Region, target: Region, box: Box, laws: Mapping[int, Law], crossing: Crossing, cost: Rational
) -> str | None:
    drawn = common_laws(source, target)
    if drawn is None or source.key != target.key:
        return "the two regions do not have the same draws and the same form of output"
    shifts = {v: (dict(terms), constant) for v, terms, constant in crossing.shifts}
    free = {*laws, *(change(v) for v, _ in box.moves)}
    if not set(shifts) <= set(drawn) or any(i not in free for terms, _ in shifts.values() for i in terms):
        return "it shifts a draw that the regions do not have"
    for a, b in zip(source.released, target.released, strict=True):
        terms, constant = _at_target(b.terms, b.constant, shifts, box)
        for v, c in a.terms:
            terms[v] = terms.get(v, ZERO) - c
        whole = ZERO if a.offset is None or b.offset is None else a.offset - b.offset
        if any(terms.values()) or constant - a.constant != whole or whole.denominator != 1:
            return "a released value does not stay as it is"
    known = known_rows(source, target, box, laws)
    needed = target.conditions
    if len(needed) != len(crossing.conditions) or any(r.strict for r in needed):
        return "a condition has no reason"
    for row, multipliers in zip(needed, crossing.conditions, strict=True):
        if not _proved(*_at_target(row.terms, row.constant, shifts, box), known, multipliers, False):
            return "a condition need not hold after the shift"
    return _pricing_fault(crossing, drawn, laws, shifts, known, cost)


def _pricing_fault(
    crossing: Crossing,
    drawn: Mapping[int, Law],
    laws: Mapping[int, Law],
    shifts: Mapping[int, tuple[dict[int, Rational], Rational]],
    known: Sequence[Row],
    cost: Rational,
) -> str | None:
    prices = dict(crossing.prices)
    if [v for v, _ in crossing.prices] != list(shifts) or len(crossing.pricing) != len(shifts):
        return "a shift has no price"
    for (v, (terms, constant)), reasons in zip(shifts.items(), crossing.pricing, strict=True):
        if drawn[v].discrete and (
            any(x.denominator != 1 for x in (*terms.values(), constant)) or not all(whole_variable(i, laws) for i in terms)
        ):
            return "a whole-number draw is shifted by a fraction"
        for sign, each, multipliers in zip((1, -1), drawn[v].shift_cost(), reasons, strict=True):
            scale = -exact(sign) * (1 if each is None else each)
            value = {i: scale * c for i, c in terms.items()}
            room = scale * constant + (ZERO if each is None else prices[v])
            if not _proved(value, room, known, multipliers or (), True):
                return "a shift may cost more than its price"
    return None if sum(prices.values(), ZERO) == cost else "the cost is not the sum of the prices"


def _at_target(
    terms: Iterable[tuple[int, Rational]],
    constant: Rational,
    shifts: Mapping[int, tuple[dict[int, Rational], Rational]],
    box: Box,
) -> tuple[dict[int, Rational], Rational]:
    """An expression of the second program at the shifted draws and the second input, in terms of v, q and d."""
    out: dict[int, Rational] = {}
    for v, c in terms:
        out[v] = out.get(v, ZERO) + c
        if v in box:
            out[change(v)] = out.get(change(v), ZERO) + c
        if v in shifts:
            slopes, fixed = shifts[v]
            constant += c * fixed
            for i, slope in slopes.items():
                out[i] = out.get(i, ZERO) + c * slope
    return out, constant


def _missing(certificate: Certificate) -> list[str]:
    """Regions of the source that are not carried to every cell of the target."""
    reached = {(s.case, i, _target(certificate, s).cell) for s in certificate.steps for i in _sources(s)}
    pooled = [(s.case, i) for s in certificate.steps if s.pool is not None for i in s.pool.members]
    out = ["a region is bounded together with two sets of others"] if len(set(pooled)) < len(pooled) else []
    for c, case in enumerate(certificate.cases):
        cells = {r.cell for r in certificate.programs[case.target]}
        for i in range(len(certificate.programs[case.source])):
            if any((c, i, key) not in reached for key in cells):
                out.append(f"region {i + 1} is not carried to every cell of the other input")
    return out


def _sources(step: ProofStep) -> tuple[int, ...]:
    return (step.source,) if step.pool is None else step.pool.members


def _target(certificate: Certificate, step: ProofStep) -> Region:
    return certificate.programs[certificate.cases[step.case].target][step.target]


def total(steps: Iterable[ProofStep], programs: Sequence[Sequence[Region]], cases: Sequence[PairKind]) -> Rational:
    """The bound that the steps prove: the largest cost, added up over groups of outputs that share no draw.

    What arrives in one region from several is added up as probabilities are.
    """
    arriving: dict[tuple[int, int, frozenset[Row], int], list[Rational]] = {}
    for s in steps:
        if s.apart is None:
            source = programs[cases[s.case].source][s.source]
            for target in (s.target,) if s.pool is None else s.pool.members:
                arriving.setdefault((s.case, source.group, source.cell, target), []).append(s.cost)
    largest: dict[int, dict[int, Rational]] = {}
    for (case, group, _, _), costs in arriving.items():
        groups = largest.setdefault(case, {})
        groups[group] = max(groups.get(group, ZERO), together(costs))
    return max((sum(groups.values(), ZERO) for groups in largest.values()), default=ZERO)


def together(costs: Sequence[Rational]) -> Rational:
    """ln of the sum of e^cost, rounded up."""
    if len(costs) == 1:
        return costs[0]
    most = max(costs)
    value = math.log(math.fsum(math.exp(float(c - most)) for c in sorted(costs)))
    return most + exact(rounded_up(exact(value + 1e-14 * (1 + value))))
