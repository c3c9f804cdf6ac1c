"""Gaussian differential privacy over all adjacent inputs: one shift of the Gaussian draws that serves every run.

If M(q, v) = M(q + d, v + s) for all values v of the draws, with one s, then the outputs on q and on q + d are the same function
of v and of v - s: telling them apart is no easier than telling normal laws apart whose means differ by s. Their
distance in standard deviations, mu, is at most the largest length of s over all adjacent inputs.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from dpest.exact.proof.cells import by_cell
from dpest.exact.proof.cross import apart
from dpest.exact.proof.merge import contradiction
from dpest.exact.proof.regions import Region, Released, Row, Terms
from dpest.exact.proof.upper import ProofQuestion, Traced
from dpest.laws.continuous import Gaussian
from dpest.laws.law import Law
from dpest.numerics.links import Links
from dpest.numerics.ranges import Range, ends
from dpest.numerics.rationals import ONE, ZERO, Rational, exact

ColumnName: TypeAlias = tuple[str, int]  # ("d", input): its change; ("q", input): its value; ("1", 0): a constant
Equation: TypeAlias = tuple[tuple[tuple[Any, Rational], ...], tuple[tuple[ColumnName, Rational], ...]]

Key = TypeVar("Key")

CONSTANT: ColumnName = ("1", 0)
_MOST_CELLS = 30  # conditions on inputs alone: pairs of cells are looked at one by one
_MOST_EQUATIONS = 150  # independent ones of one case: they are solved in rationals
_MOST_VERTICES = 10  # columns of which every combination of ends is looked at


@dataclass(frozen=True)
class ShiftedCells:
    """Two cells of the inputs, and the shift that carries every run on the first to a run on the second."""

    name: str
    sigmas: tuple[Rational, ...]  # of the draws that are shifted
    ranges: tuple[tuple[ColumnName, Range], ...]
    equations: tuple[Equation, ...]  # over draws by number: sum of c * shift = right side, for each column
    shifts: tuple[tuple[tuple[ColumnName, Rational], ...], ...]  # of each draw, as a combination of columns

    def holds(self) -> bool:
        """Whether the shift keeps every condition and every released value, in rational arithmetic."""
        shifts = [dict(s) for s in self.shifts]
        for terms, right in self.equations:
            wanted = dict(right)
            columns = {c for v, _ in terms for c in shifts[v]} | set(wanted)
            if any(sum((x * shifts[v].get(c, ZERO) for v, x in terms), ZERO) != wanted.get(c, ZERO) for c in columns):
                return False
        return True

    def mu_squared(self) -> Rational | None:
        """The largest square of the shift's length over the ranges; None where it is unbounded."""
        link = Links()
        for s in self.shifts:
            link.join([c for c, _ in s])
        groups: dict[Any, list[int]] = {}
        for v, s in enumerate(self.shifts):
            if s:
                groups.setdefault(link.root(s[0][0]), []).append(v)
        out = ZERO
        for draws in groups.values():
            found = self._group(draws)
            if found is None:
                return None
            out += found
        return out

    def _group(self, draws: Sequence[int]) -> Rational | None:
        ranges = dict(self.ranges)
        columns = sorted({c for v in draws for c, _ in self.shifts[v]})
        bounds = [ranges[c] for c in columns]
        if any(end is None for pair in bounds for end in pair):
            return None
        if len(columns) <= _MOST_VERTICES:
            vertices = (dict(zip(columns, ends_, strict=True)) for ends_ in itertools.product(*map(set, bounds)))
            return max(sum((self._length(v, at) for v in draws), ZERO) for at in vertices)
        # Each draw at its own worst end: never less than the truth.
        return sum((max(self._length(v, self._end(v, sign)) for sign in (ONE, -ONE)) for v in draws), ZERO)

    def _end(self, v: int, sign: Rational) -> dict[ColumnName, Rational | None]:
        """The ends of the ranges at which a draw is shifted most in one direction."""
        ranges = dict(self.ranges)
        return {c: ranges[c][1 if sign * x > 0 else 0] for c, x in self.shifts[v]}

    def _length(self, v: int, at: Mapping[ColumnName, Rational | None]) -> Rational:
        s = sum((x * (at[c] or ZERO) for c, x in self.shifts[v]), ZERO)
        return (s / self.sigmas[v]) ** 2


@dataclass(frozen=True)
class GaussianProof:
    """Why every adjacent pair is at most as far apart as two normal laws at distance mu."""

    mechanism: str
    adjacency: str
    cases: tuple[ShiftedCells, ...]
    squared: Rational  # mu^2

    @property
    def mu(self) -> float:
        """The distance in standard deviations, rounded up."""
        return math.nextafter(math.nextafter(math.sqrt(self.squared), math.inf), math.inf) if self.squared else 0.0

    def check(self) -> bool:
        """Whether the proof is right: every shift, every equation and the length, in rational arithmetic."""
        lengths = [case.mu_squared() for case in self.cases]
        known = [x for x in lengths if x is not None]
        return len(known) == len(lengths) and max(known, default=ZERO) == self.squared and all(c.holds() for c in self.cases)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON: rationals as text."""
        return {
            "kind": "gaussian",
            "mechanism": self.mechanism,
            "adjacency": self.adjacency,
            "squared": str(self.squared),
            "cases": [_case_to_dict(c) for c in self.cases],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> GaussianProof:
        """The inverse of `to_dict`."""
        cases = tuple(_case_from_dict(c) for c in data["cases"])
        return cls(data["mechanism"], data["adjacency"], cases, exact(data["squared"]))

    def __str__(self) -> str:
        lines = [
            f"{self.mechanism}: every {self.adjacency}-adjacent pair is Gaussian-private with mu = {self.mu:.12g}.",
            "One shift of the Gaussian draws carries every run on the first input to a run on the second with the same output:",
        ]
        for case in self.cases[:12]:
            drawn = zip(case.sigmas, case.shifts, strict=True)
            shown = [f"noise of deviation {float(s):g} by {_words(x)}" for s, x in drawn if x]
            lines.append(f"- {case.name}: {'; '.join(shown[:6]) or 'nothing'}{'; ...' if len(shown) > 6 else ''}")
        return "\n".join(lines)


def gaussian_proof(question: ProofQuestion, traced: Traced) -> GaussianProof | None:
    """The smallest mu that one shift of the Gaussian draws proves; None where no such shift was found."""
    if traced.maxima or not _has_gaussians(traced):
        return None
    cases = []
    most = ZERO
    for found in _cases(traced):
        length = None if found is None else found.mu_squared()
        if found is None or length is None:
            return None
        cases.append(found)
        most = max(most, length)
    proof = GaussianProof(question.name, question.adjacency, tuple(cases), most)
    return proof if cases and proof.check() else None


def _has_gaussians(traced: Traced) -> bool:
    return any(isinstance(law, Gaussian) for program in traced.programs for r in program for _, law in r.laws)


def _cases(traced: Traced) -> Iterator[ShiftedCells | None]:
    """One for each pair of cells that adjacent inputs may lie in; None where no shift was found."""
    laws = traced.input_laws
    for case in traced.cases:
        source, target = (by_cell(traced.programs[p]) for p in (case.source, case.target))
        if len(source) * len(target) > _MOST_CELLS**2:
            yield None
            return
        ranges: dict[ColumnName, Range] = {("d", v): r for v, r in case.box.moves} | {CONSTANT: (ONE, ONE)}
        ranges |= {("q", v): ends(*law.support) for v, law in laws.items()}
        for own, regions in source.items():
            for other, others in target.items():
                same = case.source == case.target and own == other
                if not same and contradiction(apart(regions[0].bare, others[0].bare, case.box, laws), ()):
                    continue
                pairs = [(r, r) for r in regions] if same else _matched(regions, others)
                yield None if pairs is None else _shifted(case.box.name, pairs, {v for v, _ in case.box.moves}, ranges)


def _matched(regions: Sequence[Region], others: Sequence[Region]) -> list[tuple[Region, Region]] | None:
    """Regions of two cells that release outputs of one form under conditions on the same noise; None where they differ."""
    by_key = {(r.key, r.group, frozenset(_conditions(r))): r for r in others}
    pairs = [(r, by_key.get((r.key, r.group, frozenset(_conditions(r))))) for r in regions]
    if len(by_key) != len(others) or len(regions) != len(others) or any(b is None for _, b in pairs):
        return None
    return [(a, b) for a, b in pairs if b is not None]


def _conditions(region: Region) -> dict[Terms, Row]:
    """The conditions that have draws in them, by what they say of the draws."""
    return {tuple((v, c) for v, c in r.terms if v >= 0): r for r in region.conditions}


def _shifted(
    name: str, pairs: Iterable[tuple[Region, Region]], moved: set[int], ranges: Mapping[ColumnName, Range]
) -> ShiftedCells | None:
    equations: dict[Equation, None] = {}
    for a, b in pairs:
        both = _expressions(a, b)
        if both is None or any(a.law.get(v, law) != law for v, law in b.laws):
            return None
        for first, second in both:
            found = _equation(first, second, moved, {**a.law, **b.law})
            if found is None:
                return None
            equations[found] = None
    return _solved(name, list(equations), ranges)


def _expressions(a: Region, b: Region) -> list[tuple[Row | Released, Row | Released]] | None:
    """What must be the same on both sides: conditions with draws in them, and released values."""
    released = list(zip(a.released, b.released, strict=True))
    if a is b:
        return [*((r, r) for r in a.conditions), *released]
    mine, theirs = _conditions(a), _conditions(b)
    alone = [len(r.conditions) for r in (a, b)]
    if [len(mine), len(theirs)] != alone or any(x.offset != y.offset for x, y in released):
        return None  # two conditions say the same of the draws, or values are rounded in different ways
    return [*((mine[k], theirs[k]) for k in mine), *released]


def _equation(
    first: Row | Released, second: Row | Released, moved: set[int], laws: Mapping[int, Law]
) -> Equation | None:
    """What a shift must meet for the second expression at (v + s, q + d) to equal the first at (v, q)."""
    mine, theirs = dict(first.terms), dict(second.terms)
    right: dict[ColumnName, Rational] = {}
    if first.constant != second.constant:
        right[CONSTANT] = first.constant - second.constant
    draws = []
    for v in sorted({*mine, *theirs}):
        a, b = mine.get(v, ZERO), theirs.get(v, ZERO)
        if v >= 0:
            if a != b:
                return None
            law = laws[v]
            if isinstance(law, Gaussian):
                draws.append(((v, law), a))
            continue
        if v in moved and b:
            right["d", v] = -b
        if a != b:
            right["q", v] = a - b
    return tuple(draws), tuple(sorted(right.items()))


def _solved(name: str, equations: Sequence[Equation], ranges: Mapping[ColumnName, Range]) -> ShiftedCells | None:
    """The shortest shift that meets all equations: W A' (A W A')^-1 applied to the right sides, in rationals."""
    labels = sorted({label for terms, _ in equations for label, _ in terms}, key=lambda x: (x[0], x[1].sigma))
    number = {label: k for k, label in enumerate(labels)}
    rows = independent([({number[x]: c for x, c in terms}, dict(right)) for terms, right in equations])
    if rows is None or len(rows) > _MOST_EQUATIONS:
        return None
    weights = [exact(law.sigma) ** 2 for _, law in labels]
    gram = [({j: _dot(a, b, weights) for j, (b, _) in enumerate(rows)}, dict(right)) for a, right in rows]
    multipliers = independent([({j: c for j, c in terms.items() if c}, right) for terms, right in gram])
    assert multipliers is not None
    shifts: list[dict[ColumnName, Rational]] = [{} for _ in labels]
    for terms, right in multipliers:
        ((j, _),) = terms.items()  # the matrix is invertible, so that every row has one column left
        for v, c in rows[j][0].items():
            for column, x in right.items():
                shifts[v][column] = shifts[v].get(column, ZERO) + weights[v] * c * x
    used = {c for s in shifts for c in s}
    return ShiftedCells(
        name,
        tuple(exact(law.sigma) for _, law in labels),
        tuple((c, r) for c, r in ranges.items() if c in used),
        tuple((tuple((number[x], c) for x, c in terms), right) for terms, right in equations),
        tuple(tuple(sorted((c, x) for c, x in s.items() if x)) for s in shifts),
    )


Solving: TypeAlias = tuple[dict[int, Rational], dict[ColumnName, Rational]]


def independent(equations: Iterable[Solving]) -> list[Solving] | None:
    """The equations in reduced form; None where they contradict each other."""
    out: dict[int, Solving] = {}  # by leading variable, with coefficient 1; no other equation mentions it
    for terms, right in equations:
        for lead, known in out.items():
            if lead in terms:
                terms, right = _minus((terms, right), known, terms[lead])
        terms = {v: c for v, c in terms.items() if c}
        right = {c: x for c, x in right.items() if x}
        if not terms:
            if right:
                return None
            continue
        lead = min(terms)
        scale = terms[lead]
        new = {v: c / scale for v, c in terms.items()}, {c: x / scale for c, x in right.items()}
        out = {k: _minus(e, new, e[0][lead]) if lead in e[0] else e for k, e in out.items()}
        out[lead] = new
    return list(out.values())


def _minus(a: Solving, b: Solving, factor: Rational) -> Solving:
    return _less(a[0], b[0], factor), _less(a[1], b[1], factor)


def _less(mine: Mapping[Key, Rational], theirs: Mapping[Key, Rational], factor: Rational) -> dict[Key, Rational]:
    total = dict(mine)
    for k, x in theirs.items():
        total[k] = total.get(k, ZERO) - factor * x
    return {k: x for k, x in total.items() if x}


def _dot(a: Mapping[int, Rational], b: Mapping[int, Rational], weights: Sequence[Rational]) -> Rational:
    return sum((c * b[v] * weights[v] for v, c in a.items() if v in b), ZERO)


def _words(shift: Iterable[tuple[ColumnName, Rational]]) -> str:
    names = {"d": "the change of input {}", "q": "input {}", "1": "1"}
    return " + ".join(f"{float(x):g} * {names[kind].format(-v)}" for (kind, v), x in shift)


def _case_to_dict(case: ShiftedCells) -> dict[str, Any]:
    def columns(items: Iterable[tuple[ColumnName, Rational]]) -> list[list[Any]]:
        return [[kind, v, str(x)] for (kind, v), x in items]

    return {
        "name": case.name,
        "sigmas": [str(s) for s in case.sigmas],
        "ranges": [[k, v, None if a is None else str(a), None if b is None else str(b)] for (k, v), (a, b) in case.ranges],
        "equations": [[[[v, str(c)] for v, c in terms], columns(right)] for terms, right in case.equations],
        "shifts": [columns(s) for s in case.shifts],
    }


def _case_from_dict(data: Mapping[str, Any]) -> ShiftedCells:
    def columns(items: Iterable[Any]) -> tuple[tuple[ColumnName, Rational], ...]:
        return tuple(((kind, int(v)), exact(x)) for kind, v, x in items)

    return ShiftedCells(
        data["name"],
        tuple(exact(s) for s in data["sigmas"]),
        tuple(
            ((k, int(v)), (None if a is None else exact(a), None if b is None else exact(b))) for k, v, a, b in data["ranges"]
        ),
        tuple((tuple((int(v), exact(c)) for v, c in terms), columns(right)) for terms, right in data["equations"]),
        tuple(columns(s) for s in data["shifts"]),
    )
