"""Draws that occur only through one linear combination, replaced by its law."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from dpest.exact.inference.changed import changed, without
from dpest.exact.inference.expressions import Expr, expr
from dpest.exact.inference.factors import Answer, Between, Bound, Density, Factor, Integral
from dpest.laws.continuous import Gaussian, Laplace, Uniform
from dpest.laws.discrete import Atoms, Geometric
from dpest.laws.laplace_sum import LaplaceSum
from dpest.laws.law import Continuous, Discrete, Law
from dpest.laws.panels import Panels, tabulate
from dpest.laws.scipy_law import ScipyDiscrete, from_frozen
from dpest.laws.uniform_sum import UniformSum, plus_uniform
from dpest.numerics.logspace import Floats, log_sum_by_row
from dpest.numerics.quadrature import with_tails
from dpest.numerics.rationals import ONE, ZERO, Rational, exact

_REACH = -300.0  # ln of the density at which the table of a law ends: 5e-131
_MOST_POINTS = 70_000  # of the sum of two discrete laws: a larger one has no law of its own, its draws are summed one by one
_MOST_PAIRS = 1_000_000  # of their points, which are added one by one

Merged = tuple[dict[int, Law], list[Bound], list[Factor], list[Expr]]


def merged_sums(laws: dict[int, Law], bounds: list[Bound], factors: list[Factor], equations: Sequence[Expr] = ()) -> Merged:
    """The same problem with each such combination as one draw, where that spares integrals.

    While equations are unsolved only sums with a closed form are merged: solving takes one draw out of the others.
    """
    rows = [*_rows(bounds, factors), *equations]
    for group in _proportional(laws, rows):
        for family in _families(laws, group, _weights(rows, group)):
            laws, bounds, factors, equations = _merged(laws, bounds, factors, equations, rows, family)
        left = [v for v in group if v in laws]
        alone = len(left) == 2 and not any(v not in group for e in rows if e.coefficient(group[0]) for v in e.variables())
        # Solving an equation takes one of two draws; of more, the table of their sum is what is needed anyway.
        if len(left) > (2 if equations else 1) and not alone:
            laws, bounds, factors, equations = _merged(laws, bounds, factors, equations, rows, left)
    return laws, bounds, factors, list(equations)


def _merged(
    laws: dict[int, Law],
    bounds: list[Bound],
    factors: list[Factor],
    equations: Sequence[Expr],
    rows: list[Expr],
    group: list[int],
) -> Merged:
    """The problem with one group of draws as a single one; as it was where their sum has no law here."""
    law = _sum_law(laws, group, _weights(rows, group))
    if law is None:
        return laws, bounds, factors, list(equations)
    lead, gone = group[0], set(group[1:])
    return (
        {v: (law if v == lead else x) for v, x in laws.items() if v not in gone},
        [replace(b, expression=without(b.expression, gone)) for b in bounds],
        [changed(f, lambda e: without(e, gone)) for f in factors],
        [without(e, gone) for e in equations],
    )


def _rows(bounds: Sequence[Bound], factors: Sequence[Factor]) -> list[Expr]:
    rows = [b.expression for b in bounds]
    for f in factors:
        match f:
            case Density(place=place):
                rows.append(place)
            case Between(lowers=lowers, uppers=uppers):
                rows.extend(lowers + uppers)
    return rows


def _proportional(laws: dict[int, Law], rows: list[Expr]) -> list[list[int]]:
    """Draws whose columns of coefficients are proportional, two or more at a time."""
    groups: dict[tuple[object, ...], list[int]] = {}
    columns: dict[int, list[tuple[int, Rational]]] = {v: [] for v in laws}
    for i, e in enumerate(rows):
        for v, c in e.terms:
            if v in columns:
                columns[v].append((i, c))
    for v, column in columns.items():
        if column:
            lead = column[0][1]
            key = (laws[v].discrete, *((i, c / lead) for i, c in column))
            groups.setdefault(key, []).append(v)
    return [_smallest_first(g, laws, rows) for g in groups.values() if len(g) > 1]


def _smallest_first(group: list[int], laws: dict[int, Law], rows: list[Expr]) -> list[int]:
    """Discrete draws in the order of their coefficients: those of 4 a + 2 b + c are whole numbers of the smallest."""
    if not laws[group[0]].discrete:
        return group
    sizes = {v: abs(w) for v, w in zip(group, _weights(rows, group), strict=True)}
    return sorted(group, key=sizes.__getitem__)


def _weights(rows: list[Expr], group: list[int]) -> list[Rational]:
    row = next(e for e in rows if e.coefficient(group[0]))
    return [row.coefficient(v) / row.coefficient(group[0]) for v in group]


def _families(laws: dict[int, Law], group: list[int], weights: list[Rational]) -> list[list[int]]:
    """Draws of the group whose sum has a closed form: Gaussians, Laplace or uniform draws of one scale, finite ones."""
    found: dict[object, list[int]] = {}
    for v, w in zip(group, weights, strict=True):
        law = laws[v]
        if isinstance(law, Gaussian):
            found.setdefault("gaussian", []).append(v)
        elif isinstance(law, Laplace):
            found.setdefault(("laplace", abs(w) * exact(law.b)), []).append(v)
        elif isinstance(law, Uniform):
            found.setdefault(("uniform", abs(w) * (exact(law.high) - exact(law.low))), []).append(v)
        elif isinstance(law, Discrete) and law.finite and law.integral:
            found.setdefault(("finite", abs(w)), []).append(v)
    return [*(members for members in found.values() if len(members) > 1), *_differences(laws, group, weights)]


def _differences(laws: dict[int, Law], group: list[int], weights: list[Rational]) -> list[list[int]]:
    """Pairs with opposite weights whose difference is a law of its own: equal geometric draws, and Poisson draws."""
    found: list[list[int]] = []
    waiting: dict[tuple[object, Rational], list[int]] = {}
    for v, w in zip(group, weights, strict=True):
        name = _counting(laws[v])
        if name is None:
            continue
        kind = laws[v] if name == "geom" else name
        other = waiting.get((kind, -w))
        if other:
            found.append([other.pop(), v])
        else:
            waiting.setdefault((kind, w), []).append(v)
    return found


def _counting(law: Law) -> str | None:
    """The name of a SciPy law that counts: trials up to the first success, or events."""
    own = isinstance(law, ScipyDiscrete) and not law.identity and law.name in ("geom", "poisson")
    return law.name if own and isinstance(law, ScipyDiscrete) else None


def _difference(a: ScipyDiscrete, b: ScipyDiscrete) -> Law | None:
    """The law of A - B: geometric draws give the two-sided law, Poisson draws Skellam's."""
    if a.name == "geom":
        return Geometric(-1 / math.log1p(-a.shapes[0])) if a == b and a.shapes[0] < 1 else None
    from scipy.stats import skellam

    return from_frozen(skellam(a.shapes[0], b.shapes[0]))[1]


def _sum_law(laws: dict[int, Law], group: list[int], weights: list[Rational]) -> Law | None:
    """The law of (combination) / (coefficient of the first draw): it takes the first draw's place."""
    total: Law = laws[group[0]]
    for v, w in zip(group[1:], weights[1:], strict=True):
        step = sum_law(total, laws[v], w)
        if step is None:
            return None
        total = step
    return total


@lru_cache(maxsize=256)
def sum_law(a: Law, b: Law, weight: Rational | float) -> Law | None:
    """The law of A + weight * B for independent A and B; None where there are too many points."""
    weight = exact(weight)
    if isinstance(a, Gaussian) and isinstance(b, Gaussian):
        return Gaussian(math.hypot(a.sigma, float(weight) * b.sigma))
    if isinstance(a, Laplace | LaplaceSum) and isinstance(b, Laplace) and abs(weight) * exact(b.b) == exact(a.b):
        return LaplaceSum(a.b, 2 if isinstance(a, Laplace) else a.n + 1)
    if isinstance(a, Uniform | UniformSum) and isinstance(b, Uniform) and (same := plus_uniform(a, b, weight)) is not None:
        return same
    if isinstance(a, ScipyDiscrete) and isinstance(b, ScipyDiscrete) and weight == -1:
        return _difference(a, b) if _counting(a) is not None and _counting(a) == _counting(b) else None
    if isinstance(a, Discrete) and isinstance(b, Discrete):
        return _atoms_sum(a, b, weight)
    if isinstance(a, Continuous) and isinstance(b, Continuous):
        return _density_sum(a, b, weight)
    return None


def _atoms_sum(a: Discrete, b: Discrete, weight: Rational) -> Atoms | None:
    if not (a.finite and b.finite and a.integral and b.integral and weight.denominator == 1):
        return None
    (x, log_p), (y, log_q) = a.window(0.0), b.window(0.0)
    if len(x) * len(y) > _MOST_PAIRS:
        return None
    sums = np.add.outer(x, float(weight) * y).ravel()
    points, where = np.unique(sums, return_inverse=True)
    logs = log_sum_by_row(where.ravel(), np.add.outer(log_p, log_q).ravel(), len(points))
    if len(points) > _MOST_POINTS:
        return None
    return Atoms(tuple(points.tolist()), tuple(logs.tolist()), f"{a.words()} + {float(weight):g} * {b.words()}")


def _density_sum(a: Continuous, b: Continuous, ratio: Rational) -> Continuous:
    # Variable 0 is integrated out, variable 1 is the sum; the narrower of the two is integrated over the wider's density.
    weight = float(ratio)
    if abs(weight) * b.scale <= a.scale:
        factor = Integral(0, b, (), (), (Density(a, expr(((0, -ratio), (1, ONE)), ZERO)),))
        shift = 0.0
    else:
        factor = Integral(0, a, (), (), (Density(b, expr(((0, -1 / ratio), (1, 1 / ratio)), ZERO)),))
        shift = -math.log(abs(weight))
    kinks = tuple(sorted({x + weight * y for x in a.kinks for y in b.kinks}))
    scale = min(a.scale, abs(weight) * b.scale)
    low, high = _range(a, b, weight)
    inside = [k for k in kinks if low < k < high]
    edges = with_tails(np.array([inside]).reshape(1, -1), np.array([low]), np.array([high]), scale)[0]
    name = f"{a.words()} + {weight:g} * {b.words()}"

    def log_f(x: Floats) -> Answer:
        logs, error = factor.log({1: x})
        return logs + shift, error

    return tabulate(log_f, edges, kinks, scale, name, trusted=-_REACH - 50.0, concave=a.log_concave and b.log_concave)


def _range(a: Continuous, b: Continuous, weight: float) -> tuple[float, float]:
    """Where the sum's density is tabulated: as far as both tables support it to full accuracy.

    Where one of them has an end, the sum reaches as far beyond it as the other one does.
    """
    one = list(zip(a.reach(_REACH), a.support, strict=True))
    two = [(weight * r, weight * s) for r, s in zip(b.reach(_REACH), b.support, strict=True)]
    if weight < 0:
        two.reverse()
    margin = 40 * max(a.scale, abs(weight) * b.scale)
    ends = []
    for sign, (r, s), (q, t) in zip((-1, 1), one, two, strict=True):
        closed = [math.isfinite(s) and r == s, math.isfinite(t) and q == t]
        farther = sign * (r + q) if any(closed) else max(sign * r, sign * q)
        open_table = any(isinstance(law, Panels) and not end for law, end in zip((a, b), closed, strict=True))
        ends.append(sign * (farther - min(margin, 0.25 * abs(farther))) if open_table else sign * farther)
    return ends[0], ends[1]
