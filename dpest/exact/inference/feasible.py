"""Whether conditions contradict each other, decided in exact arithmetic: zero is a fact, not a small number."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from dpest.exact.inference.factors import Bound
from dpest.laws.law import Law
from dpest.numerics.rationals import ONE, Rational, exact
from dpest.numerics.simplex import Inequality, Undecided, hold_together


def contradictory(bounds: Iterable[Bound], laws: Sequence[Law]) -> bool:
    """Whether no values of the draws satisfy all bounds (a set of measure zero counts as none).

    An inequality that involves a continuous draw is taken as strict. What takes too long to tell is no contradiction.
    """
    rows = [_row(b, laws) for b in bounds]
    if len(rows) < 2 and all(math.isinf(end) for law in laws for end in law.support):
        return False
    try:
        return not hold_together([*rows, *(r for v, law in enumerate(laws) for r in _support(v, law))])
    except Undecided:
        return False


def without_implied(bounds: Sequence[Bound]) -> list[Bound]:
    """The bounds without those between two draws that two others imply: x <= z where x <= y and y <= z.

    What is left over connects fewer draws: sorting by comparisons, as programs do it, leaves such bounds behind.
    """
    gaps: dict[tuple[int, int], tuple[Rational, Bound]] = {}  # (u, v): u - v + constant >= 0, the tightest one
    for b in bounds:
        pair = _difference(b)
        if pair is not None and (pair[0] not in gaps or pair[1] < gaps[pair[0]][0]):
            gaps[pair[0]] = pair[1], b
    beside: dict[int, set[int]] = {}
    for u, v in gaps:
        beside.setdefault(u, set()).add(v)
    for (u, v), (constant, _) in list(gaps.items()):
        ways = (gaps[u, w][0] + gaps[w, v][0] for w in beside[u] if v in beside.get(w, ()) and (u, w) in gaps and (w, v) in gaps)
        if any(way <= constant for way in ways):
            del gaps[u, v]
            beside[u].discard(v)
    kept = {id(b) for _, b in gaps.values()}
    return [b for b in bounds if id(b) in kept or _difference(b) is None]


def _difference(b: Bound) -> tuple[tuple[int, int], Rational] | None:
    """((u, v), constant) of a bound that is a multiple of u - v + constant >= 0; None for others."""
    terms = b.expression.terms
    if len(terms) != 2 or terms[0][1] != -terms[1][1]:
        return None
    (u, c), (v, _) = terms if terms[0][1] > 0 else terms[::-1]
    return (u, v), b.expression.constant / c


def _row(b: Bound, laws: Sequence[Law]) -> Inequality:
    smooth = any(v >= 0 and not laws[v].discrete for v, _ in b.expression.terms)
    return dict(b.expression.terms), b.expression.constant, smooth


def _support(v: int, law: Law) -> list[Inequality]:
    low, high = law.support
    out: list[Inequality] = []
    if math.isfinite(low):
        out.append(({v: ONE}, -exact(low), not law.discrete))
    if math.isfinite(high):
        out.append(({v: -ONE}, exact(high), not law.discrete))
    return out
