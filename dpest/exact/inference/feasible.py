"""Whether conditions contradict each other, decided in exact arithmetic: zero is a fact, not a small number."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from dpest.exact.inference.factors import Bound
from dpest.laws.law import Law
from dpest.numerics.rationals import ONE, Rational, exact

_MOST = 2000  # inequalities that one elimination step may leave; beyond, nothing is claimed

Inequality = tuple[dict[int, Rational], Rational, bool]  # terms + constant >= 0, or > 0 where strict


def contradictory(bounds: Iterable[Bound], laws: Sequence[Law]) -> bool:
    """Whether no values of the draws satisfy all bounds (a set of measure zero counts as none).

    Fourier-Motzkin elimination over the rationals; an inequality that involves a continuous draw is taken as strict.
    """
    rows = [_row(b, laws) for b in bounds]
    if len(rows) < 2 and all(math.isinf(end) for law in laws for end in law.support):
        return False
    rows += [r for v, law in enumerate(laws) for r in _support(v, law)]
    while True:
        if any(not terms and (constant < 0 or (strict and constant == 0)) for terms, constant, strict in rows):
            return True
        rows = _distinct(r for r in rows if r[0])
        if not rows:
            return False
        v = _cheapest(rows)
        lower = [r for r in rows if r[0].get(v, 0) > 0]
        upper = [r for r in rows if r[0].get(v, 0) < 0]
        if len(lower) * len(upper) + len(rows) > _MOST:
            return False
        rows = [r for r in rows if v not in r[0]] + [_combined(a, b, v) for a in lower for b in upper]


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


def _distinct(rows: Iterable[Inequality]) -> list[Inequality]:
    seen: dict[object, Inequality] = {}
    for terms, constant, strict in rows:
        lead = abs(next(iter(sorted(terms.items())))[1])
        scaled = {v: c / lead for v, c in terms.items()}
        key = (tuple(sorted(scaled.items())), constant / lead, strict)
        seen.setdefault(key, (scaled, constant / lead, strict))
    return list(seen.values())


def _cheapest(rows: list[Inequality]) -> int:
    def price(v: int) -> int:
        up = sum(1 for r in rows if r[0].get(v, 0) > 0)
        down = sum(1 for r in rows if r[0].get(v, 0) < 0)
        return up * down - up - down

    return min(sorted({v for r in rows for v in r[0]}), key=price)


def _combined(a: Inequality, b: Inequality, v: int) -> Inequality:
    """The sum of two inequalities in which the variable cancels."""
    x, y = -b[0][v], a[0][v]
    terms = {w: x * a[0].get(w, 0) + y * b[0].get(w, 0) for w in {*a[0], *b[0]} if w != v}
    return {w: c for w, c in terms.items() if c}, x * a[1] + y * b[1], a[2] or b[2]
