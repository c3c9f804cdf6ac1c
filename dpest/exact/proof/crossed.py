"""Pairs of inputs in two cells between which the noise has to be shifted most: where `if x > 3` decides differently.

Nothing here is part of a proof: a pair that is named is handed to the exact engine, and its loss is what counts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from dpest.exact.proof.certificate import PairKind, ProofStep
from dpest.exact.proof.cross import Crossing, change, known_rows
from dpest.exact.proof.regions import Region, Row
from dpest.exact.proof.upper import Traced, Upper
from dpest.exact.proof.worst import NamedPair, pair_of
from dpest.numerics.rationals import ZERO

_MOST_STEPS = 8  # crossings of largest cost that are tried, each with a pair or two
_FAR = 100.0  # inputs without bounds are looked for within this distance of zero
_INSIDE = 1e-9  # by which strict conditions are kept: `x > 3` is false at 3

_Objective = dict[int, float]


def crossed_pairs(upper: Upper) -> Iterator[NamedPair]:
    """Pairs at which a crossing of large cost shifts the noise most."""
    proof, traced = upper.certificate, upper.traced
    if proof is None or traced.symbols.derived:
        return
    crossing = [s for s in proof.steps if s.crossing is not None]
    for step in sorted(crossing, key=lambda s: -s.cost)[:_MOST_STEPS]:
        yield from _pairs(traced, step)


def _pairs(traced: Traced, step: ProofStep) -> Iterator[NamedPair]:
    case = traced.cases[step.case]
    source, target = traced.programs[case.source][step.source], traced.programs[case.target][step.target]
    bare = [r for r in known_rows(source, target, case.box, traced.input_laws) if r.bare]
    assert step.crossing is not None
    goal = _shifted(step.crossing, source, target)
    for sign in (1.0, -1.0):
        point = _farthest(traced, case, bare, {i: sign * c for i, c in goal.items()})
        if point is not None:
            yield _named(traced, case, point)


def _shifted(crossing: Crossing, source: Region, target: Region) -> _Objective:
    """The sum of all shifts, each at its price, as a function of inputs and changes."""
    laws = {**source.law, **target.law}
    out: _Objective = {}
    for v, terms, _ in crossing.shifts:
        price = float(max((p for p in laws[v].shift_cost() if p is not None), default=ZERO))
        for i, c in terms:
            out[i] = out.get(i, 0.0) + price * float(c)
    return out


def _farthest(traced: Traced, case: PairKind, rows: Sequence[Row], goal: _Objective) -> Mapping[int, float] | None:
    """Inputs and changes that meet the rows and have the largest value of the goal."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    fields = traced.inputs.fields
    given = [-1 - i for i in range(len(fields))]
    moved = [v for v, _ in case.box.moves]
    at = {v: k for k, v in enumerate([*given, *(change(v) for v in moved)])}
    matrix = np.zeros((len(rows), len(at)))
    least = np.zeros(len(rows))
    for n, row in enumerate(rows):
        for v, c in row.terms:
            matrix[n, at[v]] = float(c)
        least[n] = (_INSIDE if row.strict else 0.0) - float(row.constant)
    whole = [fields[-1 - v].whole for v in (*given, *moved)]
    low = [max(f.low, -_FAR) if f.high > -_FAR else f.low for f in fields] + [-math.inf] * len(moved)
    high = [min(f.high, _FAR) if f.low < _FAR else f.high for f in fields] + [math.inf] * len(moved)
    for v in moved:
        low[at[change(v)]], high[at[change(v)]] = -2 * _FAR, 2 * _FAR
    cost = np.zeros(len(at))
    for v, c in goal.items():
        cost[at[v]] = -c
    found = milp(
        cost,
        constraints=LinearConstraint(matrix, least, np.inf) if rows else None,
        integrality=np.array(whole, dtype=int),
        bounds=Bounds(np.array(low), np.array(high)),
    )
    return {v: float(found.x[k]) for v, k in at.items()} if found.status == 0 else None


def _named(traced: Traced, case: PairKind, point: Mapping[int, float]) -> NamedPair:
    left, right = [], []
    for i, f in enumerate(traced.inputs.fields):
        x, y = point[-1 - i], point[-1 - i] + point.get(change(-1 - i), 0.0)
        left.append(float(round(x)) if f.whole else min(max(x, f.low), f.high))
        right.append(float(round(y)) if f.whole else min(max(y, f.low), f.high))
    return pair_of(traced, case, None, left, right)
