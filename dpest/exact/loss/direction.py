"""Outputs that are quotients of the same noisy values: they tell the direction of these, and nothing else.

(a, b, c) / (a + b + c) tells the line through (a, b, c) and the origin; so does a / (a + b) for two values, and so does every set
of quotients that fix all proportions, as tp / (tp + fp) and tp / (tp + fn) do. Both laws of the direction are compared.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dpest.errors import ExactRefused
from dpest.exact.inference.cases import Expansion, Ratio
from dpest.exact.inference.convolve import sum_law
from dpest.exact.inference.direction import NOISE, NoisyRay
from dpest.exact.inference.ratio import BoundedDraw
from dpest.exact.inference.stars import condition_components
from dpest.exact.loss.blocks import Block, CoordinateKind, IntegratedLaw, Measures
from dpest.lang.nodes import Draw, Linear
from dpest.laws.law import Law
from dpest.numerics.linear import Matrix, product, reduced
from dpest.numerics.logspace import Floats, log_sum
from dpest.numerics.rationals import ONE, ZERO, Rational, exact
from dpest.trace.literal import Literal


@dataclass(frozen=True)
class Cone:
    """Where a case holds: each row of numbers times the values is >= 0."""

    rows: frozenset[tuple[Rational, ...]]

    @property
    def table(self) -> Floats:
        """The rows, as floats."""
        return np.array([[float(x) for x in row] for row in sorted(self.rows)])

    def excludes(self, other: Cone) -> bool:
        """Whether the lines through the two have at most a boundary in common."""
        return self._apart(other) and self._apart(other.opposite)

    def _apart(self, other: Cone) -> bool:
        return any(row in other.opposite.rows for row in self.rows)

    @property
    def opposite(self) -> Cone:
        """The cone of the negatives."""
        return Cone(frozenset(tuple(-x for x in row) for row in self.rows))

    @property
    def upright(self) -> bool:
        """Whether it, and not its opposite, stands for the lines through both: a value and its negative have one direction."""
        return sorted(self.rows) >= sorted(self.opposite.rows)


@dataclass(frozen=True)
class QuotientForm:
    """What outputs tell: the rows (the tops, then the bottoms) times the values; and what is added to the quotients."""

    rows: Matrix
    offsets: tuple[Rational, ...]
    units: tuple[Rational, ...]  # of the values

    def outputs(self, u: Floats) -> tuple[float, ...]:
        """The outputs at a direction."""
        values = u * np.array([float(x) for x in self.units])
        forms = [sum(float(c) * float(v) for c, v in zip(row, values, strict=True)) for row in self.rows]
        count = len(self.offsets)
        return tuple(_quotient(x, y) + float(o) for x, y, o in zip(forms[:count], forms[count:], self.offsets, strict=True))


@dataclass(frozen=True, eq=False)
class DirectionSide(IntegratedLaw):
    """One law of a direction: for each cone, the cases that hold in it."""

    shape: QuotientForm | None = None
    shares: tuple[tuple[Cone, NoisyRay], ...] = ()

    def log(self, y: Floats) -> tuple[Floats, Floats]:
        """Nothing that other methods could use."""
        raise ExactRefused("the density of quotients of the same values, at outputs")

    def log_at(self, cone: Cone, u: Floats) -> tuple[Floats, Floats]:
        """ln of the density at directions in a cone, and the relative error."""
        return summed([share.log(u) for c, share in self.shares if c == cone])

    @cached_property
    def impossible(self) -> bool:
        """Whether there is no case."""
        return not self.shares

    @cached_property
    def log_total(self) -> float:
        """ln of the probability of its cases together; what cones leave out is not taken off."""
        return float(log_sum(np.array([s.log_weight for _, s in self.shares])))

    @cached_property
    def key(self) -> frozenset[Any]:
        """Equal for sides that are the same law."""
        return frozenset((s, self.shape, self.shares.count(s)) for s in self.shares)


def summed(answers: Sequence[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    """ln of a sum, and its relative error."""
    if len(answers) == 1:
        return answers[0]
    logs, errors = np.stack([a[0] for a in answers]), np.stack([a[1] for a in answers])
    whole = np.logaddexp.reduce(logs, axis=0)
    known = np.where(np.isfinite(whole), whole, np.inf)
    return whole, (np.exp(logs - known) * errors).sum(axis=0)


def direction_block(left: list[Expansion], right: list[Expansion], places: list[int], measures: Measures) -> Block:
    """Both laws of the outputs at some places, which are quotients in every case."""
    if not left or not right:
        raise ExactRefused("quotients of random values that one input alone releases")
    sides = [[_share(case, places, measures) for case in cases] for cases in (left, right)]
    forms = {(s.rows, s.offsets) for side in sides for s in side}
    if len(forms) > 1:
        raise ExactRefused("quotients of random values that are put together in different ways from case to case")
    ((rows, offsets),) = forms
    units = _units([s.noises for side in sides for s in side])
    shape = QuotientForm(rows, offsets, units)
    p, q = (DirectionSide((), measures, shape, tuple(s.measured(units) for s in side)) for side in sides)
    return Block((CoordinateKind.REAL,) * len(places), p, q)


@dataclass(frozen=True)
class _Case:
    """One case of the outputs, in terms of noisy values."""

    rows: Matrix
    offsets: tuple[Rational, ...]
    noises: tuple[BoundedDraw, ...]
    cone: Cone
    log_weight: float
    error: float

    def measured(self, units: Sequence[Rational]) -> tuple[Cone, NoisyRay]:
        """The case with its values in other units."""
        cone, sign = (self.cone, ONE) if self.cone.upright else (self.cone.opposite, -ONE)
        units = [sign * x for x in units]
        noises = tuple(BoundedDraw(n.law, n.factor / s, n.offset / s) for n, s in zip(self.noises, units, strict=True))
        rows = frozenset(tuple(x * abs(s) for x, s in zip(row, units, strict=True)) for row in cone.rows)
        return Cone(rows), NoisyRay(noises, bool(rows), self.log_weight, self.error)


def _units(noises: Sequence[tuple[BoundedDraw, ...]]) -> tuple[Rational, ...]:
    """The size of each value, as a power of two: a direction whose parts are of one size in these is an ordinary one."""
    sizes = [max(abs(n.mode) + n.scale for n in column) for column in zip(*noises, strict=True)]
    return tuple(exact(2.0 ** round(math.log2(x))) for x in sizes)


def _share(case: Expansion, places: Sequence[int], measures: Measures) -> _Case:
    values = [case.values[i] for i in places]
    ratios = [v for v in values if isinstance(v, Ratio)]
    if len(ratios) < len(values):
        raise ExactRefused("a quotient of two random values shares noise with another output")
    forms = [*(r.top for r in ratios), *(r.bottom for r in ratios)]
    sums = _sums(forms)
    rows = tuple(zip(*(s.column for s in sums), strict=True))
    if not _tells_direction(rows):
        raise ExactRefused("quotients of random values that share noise and do not fix each other's proportions")
    offsets = _solved(rows, [f.constant for f in forms])
    noises = tuple(s.noise(offset) for s, offset in zip(sums, offsets, strict=True))
    used = {id(d) for s in sums for d, _ in s.terms}
    own = [x for x in case.literals if any(id(d) in used for d, _ in x.terms)]
    rest = [x for x in case.literals if x not in own]
    cone = Cone(frozenset(_row(x, sums, offsets) for x in own))
    log_weight = error = 0.0
    for placed in condition_components(rest, case.loops):
        logs, off = measures.of(placed.component).log(np.empty((1, 0)))
        log_weight, error = log_weight + float(logs[0]), error + float(off[0])
    return _Case(rows, tuple(r.offset for r in ratios), noises, cone, log_weight, error)


def _coefficient(form: Linear, node: Any) -> Rational:
    return next((c for n, c in form.terms if n is node), ZERO)


def _tells_direction(rows: Matrix) -> bool:
    """Whether the quotients fix the direction of the values, but for directions of no weight.

    At a direction with the quotients y the values solve top - y * bottom == 0 for each of them: it is the only solution where
    these equations have all ranks but one, which then holds almost everywhere.
    """
    count, size = len(rows) // 2, len(rows[0])
    some = [exact(3 + 4 * i * i + i) / (7 + 2 * i) for i in range(size)]  # in no special position
    values = [sum((c * v for c, v in zip(row, some, strict=True)), ZERO) for row in rows]
    if not all(values[count:]):
        return False
    pairs = zip(rows[:count], rows[count:], values[:count], values[count:], strict=True)
    equations = [[a - x / y * b for a, b in zip(top, bottom, strict=True)] for top, bottom, x, y in pairs]
    return reduced(equations)[1] == size - 1


def _quotient(x: float, y: float) -> float:
    return x / y if y else math.copysign(math.inf, x) if x else math.nan


def _solved(rows: Matrix, constants: Sequence[Rational]) -> tuple[Rational, ...]:
    """What is added to each draw so that the forms are combinations of the sums, with nothing added."""
    transform, rank = reduced(rows)
    if rank < len(rows[0]):
        raise ExactRefused("quotients of sums of several random values")
    found = [row[0] for row in product(transform, tuple((c,) for c in constants))]
    if any(found[rank:]):
        raise ExactRefused("quotients of random values with numbers added to some of them")
    return tuple(found[:rank])


@dataclass(frozen=True)
class _NoiseSum:
    """Draws that the forms have in one combination only, and how often each form has it."""

    column: tuple[Rational, ...]
    terms: tuple[tuple[Any, Rational], ...]

    def noise(self, offset: Rational) -> BoundedDraw:
        """The combination as one noisy value."""
        (first, c), *others = self.terms
        law: Law | None = first.law if isinstance(first, Draw) else None
        for draw, k in others:
            law = sum_law(law, draw.law, k / c) if law is not None and isinstance(draw, Draw) else None
        if not isinstance(law, NOISE):
            raise ExactRefused("quotients of random values that share noise which is not Laplace, Gaussian or logistic")
        return BoundedDraw(law, c, offset)


def _sums(forms: Sequence[Linear]) -> list[_NoiseSum]:
    """The combinations of draws in the forms, in an order that does not depend on the case."""
    grouped: dict[tuple[Rational, ...], dict[int, tuple[Any, Rational]]] = {}
    for node in (n for f in forms for n, _ in f.terms):
        column = tuple(_coefficient(f, node) for f in forms)
        lead = next(c for c in column if c)
        grouped.setdefault(tuple(c / lead for c in column), {})[id(node)] = (node, lead)
    return [_NoiseSum(column, tuple(terms.values())) for column, terms in sorted(grouped.items())]


def _row(x: Literal, sums: Sequence[_NoiseSum], offsets: Sequence[Rational]) -> tuple[Rational, ...]:
    """A condition as a combination of the noisy values that is >= 0, made so that equal ones are the same."""
    terms = {id(d): c for d, c in x.terms}
    row = []
    for s in sums:
        shares = {terms.pop(id(d), ZERO) / c for d, c in s.terms}
        row.append(shares.pop())
        if shares:
            raise ExactRefused("quotients of random values of which a part is compared with something")
    if terms or x.constant != sum((c * o for c, o in zip(row, offsets, strict=True)), ZERO):
        raise ExactRefused("quotients of random values that are compared with other values")
    lead = abs(next(c for c in row if c))
    return tuple(c / lead for c in row)
