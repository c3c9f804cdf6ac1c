"""The pairs that the dual names: inputs at which the conditions that cost most are hard to meet, and the others easy.

Nothing here is part of a proof: a pair that is named is handed to the exact engine, and its loss is what counts.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dpest.exact.inference.expressions import Expr, number
from dpest.exact.proof.certificate import PairKind, ProofStep
from dpest.exact.proof.policy import Policy
from dpest.exact.proof.regions import Region, Row
from dpest.exact.proof.upper import Traced, Upper
from dpest.lang.nodes import Linear, Rounded, ancestors, children, linear
from dpest.laws.law import Continuous
from dpest.numerics.rationals import ZERO, Rational, is_number

# Distances in units of the widest noise. Exponentially small terms are below 1e-9 at 30; power laws need more. At 0 all
# conditions are even: sums of maxima lose most there, and spread inputs come near it only far out in the tails.
_DISTANCES = (40.0, 0.0, 150.0, 12.0, 1e4, 4.0, 1.0, 1e6, 1e8)
_MOST_MIXED = 4  # inputs without one worst end of which every combination of ends is looked at
_FAR = 1e6  # multipliers are cut off here: what is unbounded shows as a large gain, which only orders the candidates
_MOST_STEPS = 3  # regions of largest cost that are tried
_MOST_COMBINATIONS = 5_000
_MOST_LANDMARKS = 12  # constants of the program at which inputs are tried
_MOST_RANKED = 24  # regions of largest cost whose directions are compared

_NEAR = Rational(1, 10**9)  # costs this close to the largest are tried too

Point = dict[int, float]  # input variable -> value


@dataclass(frozen=True)
class NamedPair:
    """A pair of inputs, the numbers in them by input, and the form of output on which its loss should be large."""

    left: Any
    right: Any
    numbers: tuple[tuple[float, ...], tuple[float, ...]]
    case: PairKind
    key: Any  # None where the outputs fall into several groups


def named_pairs(upper: Upper) -> Iterator[NamedPair]:
    """Pairs of inputs on which the mechanism may lose most, most promising first."""
    ways = [_ways(upper.traced, *target) for target in _targets(upper)]
    yield from itertools.chain.from_iterable(itertools.islice(way, 2) for way in ways[:1])
    while ways:  # the best guess for each region first, then the next one
        for way in list(ways):
            pair = next(way, None)
            if pair is None:
                ways.remove(way)
            else:
                yield pair


def _ways(traced: Traced, case: PairKind, region: Region, policy: Policy) -> Iterator[NamedPair]:
    for d in _differences(case, region, policy):
        for hard in _hard_sets(region, policy, d):
            for q in _inputs(traced, region, d, hard):
                yield _pair(traced, case, region.key, q, d)


def _targets(upper: Upper) -> list[_Target]:
    """The regions of largest cost, those that one direction makes hard first; the one that resisted where there is no bound."""
    if upper.obstacle is not None:
        return [(upper.obstacle.case, upper.obstacle.region, {})]
    proof = upper.dearest or upper.certificate
    assert proof is not None
    by_case: dict[int, dict[int, list[ProofStep]]] = {}
    for step in proof.steps:
        if step.apart is None:
            region = _region(upper.traced, step)
            by_case.setdefault(step.case, {}).setdefault(region.group, []).append(step)
    largest = {c: sum((max(s.cost for s in steps) for steps in groups.values()), ZERO) for c, groups in by_case.items()}
    most = max(largest.values(), default=ZERO)
    found: list[_Target] = []
    for c, groups in by_case.items():
        if largest[c] >= most * (1 - _NEAR):
            near = [_near(steps) for steps in groups.values()]
            found.extend(_united(upper.traced, combination) for combination in _agreeing(upper.traced, near))
    least = min((len(region.rows) for _, region, _ in found), default=0)
    # The shortest path that costs most is often a borderline case, at which the loss is approached slowly.
    found.sort(key=lambda t: (_conflicts(t[1]), abs(len(t[1].rows) - least - 2)))
    return sorted(found[:_MOST_RANKED], key=lambda t: _promise(*t))[:_MOST_STEPS]


_Target = tuple[PairKind, Region, Policy]


def _region(traced: Traced, step: ProofStep) -> Region:
    return traced.programs[traced.cases[step.case].source][step.source]


def _near(steps: Sequence[ProofStep]) -> list[ProofStep]:
    most = max(s.cost for s in steps)
    return [s for s in steps if s.cost >= most * (1 - _NEAR)]


def _agreeing(traced: Traced, near: Sequence[Sequence[ProofStep]]) -> list[tuple[ProofStep, ...]]:
    """Combinations of steps of independent groups, those first whose conditions pull the inputs the same way."""
    if len(near) == 1:
        return [(s,) for s in near[0]]
    pulls = {id(s): _pulls(_region(traced, s)) for steps in near for s in steps}

    def conflicts(combination: tuple[ProofStep, ...]) -> int:
        signs = [pulls[id(s)] for s in combination]
        return sum((v, not up) in signs[0] for other in signs[1:] for v, up in other)

    listed = list(itertools.islice(itertools.product(*near), _MOST_COMBINATIONS))
    return sorted(listed, key=conflicts)[:_MOST_RANKED]


def _pulls(region: Region) -> set[tuple[int, bool]]:
    """The inputs with the signs with which they enter the conditions."""
    return {(v, c > 0) for row in region.conditions for v, c in row.terms if v < 0}


def _conflicts(region: Region) -> int:
    """How many inputs enter the conditions with both signs."""
    pulls = _pulls(region)
    return sum((v, not up) in pulls for v, up in pulls)


def _united(traced: Traced, steps: Sequence[ProofStep]) -> _Target:
    """Regions of independent groups of outputs as one."""
    found = [_region(traced, s) for s in steps]
    policy: Policy = {}
    for s in steps:
        policy.update(s.policy or _at_dearest_corner(s))
    rows = tuple(r for region in found for r in region.rows)
    released = tuple(r for region in found for r in region.released)
    laws = tuple(pair for region in found for pair in region.laws)
    key = found[0].key if len(found) == 1 else None
    return traced.cases[steps[0].case], Region(key, rows, released, laws), policy


def _at_dearest_corner(step: ProofStep) -> Policy:
    """The shifts at the corner of largest cost, as a policy."""
    return {v: number(x) for v, x in max(step.corners, key=lambda c: c[2])[1]} if step.corners else {}


def _promise(case: PairKind, region: Region, policy: Policy) -> tuple[float, float]:
    """Smaller is better: first the cost at the worst difference, then how far one direction makes its conditions hard."""
    d = next(_differences(case, region, policy), {})
    hard = next(_hard_sets(region, policy, d))
    return -_dual(region, d)[0], -round(_ray(region.conditions, _variables(region, d), hard)[1], 6)


def _differences(case: PairKind, region: Region, policy: Policy) -> Iterator[Point]:
    """The differences at which the policy costs most: the worst end of each input."""
    moves = {v: tuple(0.0 if e is None else float(e) for e in ends) for v, ends in case.box.moves}
    fixed: Point = {}
    signs: dict[int, set[bool]] = {}
    for row in region.conditions:
        for v, c in row.terms:
            if v in moves:
                signs.setdefault(v, set()).add(c > 0)
    released = {v for value in region.released for v, _ in value.terms if v in moves}
    mixed = sorted(released | {v for v, s in signs.items() if len(s) > 1})
    for v in moves:
        if v not in mixed:
            fixed[v] = moves[v][0 if signs.get(v) == {True} else 1] if v in signs else 0.0
    vertices = [{**fixed, **dict(zip(mixed, ends, strict=True))} for ends in _vertices([moves[v] for v in mixed])]
    upwards = sum(math.copysign(1.0, x) for x in fixed.values()) >= 0
    # Of equally dear ends, those that go with the other inputs: the loss is then largest far out, not in between.
    ranked = [(-_dual(region, d)[0], sum((d[v] > 0) != upwards for v in mixed), k) for k, d in enumerate(vertices)]
    yield from (vertices[k] for _, _, k in sorted(ranked)[:4])


def _vertices(ends: Sequence[tuple[float, ...]]) -> Iterator[tuple[float, ...]]:
    if len(ends) <= _MOST_MIXED:
        return iter(itertools.product(*ends))
    return iter([tuple(e[1] for e in ends), tuple(e[0] for e in ends), tuple(e[i % 2] for i, e in enumerate(ends))])


def _at(shift: Expr, d: Point) -> float:
    return float(shift.constant) + sum(float(c) * d.get(i, 0.0) for i, c in shift.terms)


def _hard_sets(region: Region, policy: Policy, d: Point) -> Iterator[frozenset[int]]:
    """Which conditions to make hard: all that the shift only just keeps, or those with a positive multiplier."""
    rows = region.conditions
    tight = frozenset(i for i, row in enumerate(rows) if policy and abs(_slack(row, policy, d)) < 1e-9 and _moved(row, d))
    yield tight
    dual = _dual(region, d)[1]
    if dual != tight:
        yield dual


def _slack(row: Row, policy: Policy, d: Point) -> float:
    return sum(float(c) * (_at(policy.get(v, number(ZERO)), d) if v >= 0 else d.get(v, 0.0)) for v, c in row.terms)


def _moved(row: Row, d: Point) -> bool:
    """Whether the condition gets harder, or a draw in it has to be shifted for another one's sake."""
    return any(d.get(v, 0.0) for v, _ in row.terms)


def _dual(region: Region, d: Point) -> tuple[float, frozenset[int]]:
    """The cost of the cheapest shift at d (infinite where there is none), and the conditions with a positive multiplier."""
    from scipy.optimize import linprog

    rows = region.conditions
    if not rows and not region.released:
        return 0.0, frozenset()
    draws = {v: k for k, (v, _) in enumerate(region.laws)}
    expressions = [*(r.terms for r in rows), *(r.terms for r in region.released)]
    matrix = np.zeros((len(draws), len(expressions)))
    gain = np.zeros(len(expressions))
    for j, terms in enumerate(expressions):
        for v, c in terms:
            if v >= 0:
                matrix[draws[v], j] += float(c)
            else:
                gain[j] -= float(c) * d.get(v, 0.0)
    prices = [law.shift_cost() for _, law in region.laws]
    upper = np.array([np.inf if up is None else float(up) for up, _ in prices])
    lower = np.array([np.inf if down is None else float(down) for _, down in prices])
    a = np.vstack([matrix[np.isfinite(upper)], -matrix[np.isfinite(lower)]])
    b = np.concatenate([upper[np.isfinite(upper)], lower[np.isfinite(lower)]])
    bounds = [(0.0, _FAR)] * len(rows) + [(-_FAR, _FAR)] * len(region.released)
    found = linprog(-gain, A_ub=a if len(a) else None, b_ub=b if len(a) else None, bounds=bounds, method="highs")
    if found.status != 0 or found.x is None:
        return 0.0, frozenset()
    x = np.asarray(found.x, float)
    return round(float(gain @ x), 9), frozenset(j for j in range(len(rows)) if x[j] > 1e-12)


def _inputs(traced: Traced, region: Region, d: Point, hard: frozenset[int]) -> Iterator[Point]:
    """Inputs at growing distances along the ray that makes the hard conditions rare and the others easy."""
    rows = region.conditions
    variables = _variables(region, d)
    ray = _ray(rows, variables, hard)[0]
    unit = max((law.scale for _, law in region.laws if isinstance(law, Continuous)), default=1.0)
    unit = max([unit, *(1.0 / float(law.shift_cost()[0] or 1) for _, law in region.laws if law.discrete)])
    for distance in _DISTANCES:
        yield {v: distance * unit * float(x) for v, x in zip(variables, ray, strict=True)}
        if not np.any(ray):
            return


def _variables(region: Region, d: Point) -> list[int]:
    return sorted({v for r in region.rows for v, _ in r.terms if v < 0} | set(d), reverse=True)


def _ray(rows: Sequence[Row], variables: Sequence[int], hard: frozenset[int]) -> tuple[npt.NDArray[np.float64], float]:
    """The direction along which the hard conditions fall and the others rise, as evenly as can be, and how well it does."""
    from scipy.optimize import linprog

    n = len(variables)
    at = {v: j for j, v in enumerate(variables)}
    a = []
    for i, row in enumerate(rows):
        own = np.zeros(n + 2)
        for v, c in row.terms:
            if v < 0:
                own[at[v]] += float(c) if i in hard else -float(c)
        if np.any(own):
            own[n if i in hard else n + 1] = 1.0
            a.append(own)
    if not a:
        return np.zeros(n), 2.0
    goal = np.concatenate([np.zeros(n), [-1.0, -0.25]])
    found = linprog(
        goal, A_ub=np.array(a), b_ub=np.zeros(len(a)), bounds=[(-1.0, 1.0)] * n + [(0.0, 1.0), (-1.0, 1.0)], method="highs"
    )
    if found.status != 0 or found.x is None:
        return np.zeros(n), -1.0
    return np.asarray(found.x[:n], float), -float(goal @ found.x)


def _pair(traced: Traced, case: PairKind, key: Any, q: Point, d: Point) -> NamedPair:
    """Plain data from values and changes of the given inputs, kept inside their domains."""
    fields = traced.inputs.fields
    left, right = [], []
    for i, f in enumerate(fields):
        low, high = f.low, f.high
        change = d.get(-1 - i, 0.0)
        x = min(max(q.get(-1 - i, 0.0), max(low, low - change)), min(high, high - change))
        x = float(round(x)) if f.whole else x
        left.append(x)
        right.append(min(max(x + change, low), high))
    return pair_of(traced, case, key, left, right)


def pair_of(traced: Traced, case: PairKind, key: Any, left: list[float], right: list[float]) -> NamedPair:
    """The pair of these numbers; of data that differ in length, the second input has the first one's without a row."""
    full = traced.inputs.fill(left)
    if case.source == case.target:
        return NamedPair(full, traced.inputs.fill(right), (tuple(left), tuple(right)), case, key)
    removed = max(case.source, case.target) - 1
    return NamedPair(full, [row for k, row in enumerate(full) if k != removed], (tuple(left), tuple(left)), case, key)


def landmarks(traced: Traced) -> list[float]:
    """Numbers that the program compares its inputs with: thresholds of cells, bounds of clips."""
    out: set[float] = set()
    for regions in traced.programs:
        for region in regions:
            out.update(-float(r.constant / r.terms[0][1]) for r in region.bare if len(r.terms) == 1)
    for node in ancestors(*traced.symbols.derived):
        if isinstance(node, Linear) and len(node.terms) == 1:
            out.add(-float(node.constant) / float(node.terms[0][1]))
        out.update(float(x) for x in children(node) if is_number(x))
        if isinstance(node, Rounded):  # halves are rounded to the even side: up from one, down from the next
            inner = linear(node.value)
            out.update(float((Rational(1, 2) - inner.constant) / c) for _, c in inner.terms[:1])
    return sorted(out)[:_MOST_LANDMARKS]
