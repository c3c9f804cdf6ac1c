"""Paths as polyhedra: inequalities over numbered draws and inputs with rational coefficients, and what is released there.

Draws are variables 0, 1, 2, ... in the order in which the program makes them; inputs are -1, -2, -3, ...
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

from dpest.errors import ExactRefused
from dpest.exact.inference.cases import (
    MOST_CASES,
    Affine,
    Constant,
    Expansion,
    Floor,
    LeafValue,
    Ratio,
    expand,
    expansion_key,
    pinned_leaves,
)
from dpest.exact.inference.sphere import Spherical
from dpest.exact.proof.symbols import UnknownInput
from dpest.lang.nodes import Draw, is_node
from dpest.lang.origins import is_joined, root, steps_of
from dpest.laws.law import Law
from dpest.numerics.links import Links
from dpest.numerics.memo import Memo
from dpest.numerics.ranges import Range, ends
from dpest.numerics.rationals import ONE, ZERO, Rational, ceil, common_measure, exact, floor
from dpest.trace.columns import constant_key
from dpest.trace.explore import Path
from dpest.trace.literal import Literal

_FIRST_FORM = 10**6  # above the numbers of draws

Terms: TypeAlias = tuple[tuple[int, Rational], ...]


@dataclass(frozen=True)
class Row:
    """terms + constant >= 0, or > 0 where strict; scaled so that equal conditions are equal rows."""

    terms: Terms
    constant: Rational
    strict: bool

    @cached_property
    def _hash(self) -> int:
        return hash((self.terms, self.constant, self.strict))

    def __hash__(self) -> int:  # rows are looked up again and again
        return self._hash

    @cached_property
    def bare(self) -> bool:
        """Whether it is a condition on inputs alone."""
        return not any(v >= 0 for v, _ in self.terms)

    @cached_property
    def stored(self) -> list[Any]:
        """Plain data, rationals as text: a row stands in many regions."""
        return [[[v, str(c)] for v, c in self.terms], str(self.constant), self.strict]

    def negated(self) -> Row:
        """The opposite inequality."""
        return Row(tuple((v, -c) for v, c in self.terms), -self.constant, not self.strict)


@dataclass(frozen=True)
class Released:
    """A released value: terms + constant, or a multiple of its floor."""

    terms: Terms
    constant: Rational
    offset: Rational | None = None  # of floor(terms + constant) + offset; None where the value itself is released


@dataclass(frozen=True)
class Region:
    """The runs that release outputs of one form: the conditions that they meet, and the released values."""

    key: Any  # the constants of the output, and which leaves are numbers: equal for outputs of one shape
    rows: tuple[Row, ...]
    released: tuple[Released, ...]
    laws: tuple[tuple[int, Law], ...]  # of every draw that a row or a released value mentions
    group: int = 0  # outputs that share no draw with the others are described apart, in a group of their own

    @cached_property
    def law(self) -> dict[int, Law]:
        """The law of each draw."""
        return dict(self.laws)

    @cached_property
    def bare(self) -> tuple[Row, ...]:
        """The conditions on inputs alone."""
        return tuple(r for r in self.rows if r.bare)

    @cached_property
    def cell(self) -> frozenset[Row]:
        """The cell of inputs that it is about: the conditions on inputs alone, in no order."""
        return frozenset(self.bare)

    @cached_property
    def conditions(self) -> tuple[Row, ...]:
        """The conditions that have a draw in them."""
        return tuple(r for r in self.rows if not r.bare)


_OUTSIDE = 1 << 30  # numbers from here on are draws that a run did not make; no run makes so many


class Variables:
    """Numbers the draws of one run and the unknown inputs."""

    def __init__(self, inputs: Sequence[Draw] = (), forms: dict[Any, int] | None = None) -> None:
        self._forms = {} if forms is None else forms  # numbers of functions of draws; shared by programs that are aligned
        self._of = {id(d): -1 - i for i, d in enumerate(inputs)}
        self._laws = {-1 - i: d.law for i, d in enumerate(inputs)}
        self._rows: dict[int, tuple[Literal, Row]] = {}
        self._outside: list[Draw] = []
        self.laws: dict[int, Law] = {}

    def enter(self, made: Sequence[Draw]) -> None:
        """The draws of a path. A draw has the same place on every path that it is on, so that conditions are read once."""
        self._of.update((id(d), k) for k, d in enumerate(made))
        self.laws = {k: d.law for k, d in enumerate(made)} | self._laws

    def terms(self, terms: Iterable[tuple[Any, Any]]) -> Terms:
        """Terms over draws as terms over numbers, sorted."""
        total: dict[int, Rational] = {}
        for draw, c in terms:
            if not isinstance(draw, Draw):
                raise ExactRefused("an output or a condition is not an affine expression of draws")
            if is_joined(draw):
                raise ExactRefused("a value is made of draws in a way that is not monotone")
            if id(root(draw)) not in self._of:
                self._from_outside(root(draw))
            v = self._of[id(draw)] if draw.origin is None else self._form(draw)
            total[v] = total.get(v, ZERO) + exact(c)
        return tuple(sorted((v, c) for v, c in total.items() if c))

    def _from_outside(self, draw: Draw) -> None:
        """A draw that was made before the run, and is the same on every path."""
        v = _OUTSIDE + len(self._outside)
        self._outside.append(draw)  # an id stands for it only as long as it lives
        self._of[id(draw)], self._laws[v], self.laws[v] = v, draw.law, draw.law

    def _form(self, draw: Draw) -> int:
        """The number of a function of a draw: the same for the same function of the same draw."""
        base = self._of[id(root(draw))]
        v = self._forms.setdefault((base, steps_of(draw)), _FIRST_FORM + len(self._forms))
        self._laws[v] = self.laws[v] = draw.law
        return v

    def row(self, literal: Literal) -> Row:
        """A condition of a path."""
        known = self._rows.get(id(literal))
        if known is None:
            known = literal, self._read(literal)
            self._rows[id(literal)] = known
        return known[1]

    def _read(self, literal: Literal) -> Row:
        return scaled_row(self.terms(literal.terms), literal.constant, getattr(literal, "strict", False), self.laws)


def scaled_row(terms: Terms, constant: Rational, strict: bool, laws: Mapping[int, Law]) -> Row:
    """The row in its scaled form: whole numbers and >= where all variables are whole, else a leading coefficient of 1 or -1."""
    if not terms:
        return Row((), constant, strict)
    kinds = [laws[v] for v, _ in terms]
    if all(law.discrete and getattr(law, "integral", False) for law in kinds):
        step = common_measure(c for _, c in terms)
        bound = constant / step
        last = ceil(bound) - 1 if strict else floor(bound)
        return Row(tuple((v, c / step) for v, c in terms), exact(last), False)
    lead = abs(terms[0][1])
    # A tie with a continuous draw in it has probability zero.
    return Row(tuple((v, c / lead) for v, c in terms), constant / lead, strict and all(law.discrete for law in kinds))


def regions(
    path: Path,
    variables: Variables,
    positions: Sequence[int] | None = None,
    group: int = 0,
    most: int = MOST_CASES,
    kept: Memo | None = None,
) -> list[Region]:
    """The regions of one path: one for each case of its outputs, or of the outputs at some positions.

    Where `kept` holds the cases of these outputs, they are not worked out again.
    """
    if path.loops:
        raise ExactRefused("a loop without a bound on its length: its rounds cannot be aligned one by one")
    variables.enter(path.drawn)
    leaves = path.output.leaves if positions is None else tuple(path.output.leaves[i] for i in positions)
    drawn = path.draws if positions is None else [path.draws[i] for i in positions]
    random = [i for i, x in enumerate(leaves) if is_node(x)]
    open_ = [leaves[i] for i in random]
    pins = pinned_leaves([drawn[i] for i in random], path.conditions) if len(leaves) > 1 else ()
    cases = _known_cases(open_, path.conditions, pins, kept) or expand(open_, path.conditions, range(len(open_)), pins, most=most)
    values: list[LeafValue] = [Constant(x) for x in leaves]
    found = []
    for case in cases:
        for i, value in zip(random, case.values, strict=True):
            values[i] = value
        found.append(_region(path, case.literals, values, variables))
    return found if positions is None else [replace(r, key=(*r.key, tuple(positions)), group=group) for r in found]


def _known_cases(
    leaves: Sequence[Any], literals: Sequence[Literal], pins: Collection[int], kept: Memo | None
) -> list[Expansion] | None:
    """The cases that were worked out for inference, where they have no quotients of random values, which regions do not have."""
    found: list[Expansion] | None = None
    if kept is not None:
        found = kept.recalled(expansion_key(leaves, literals, range(len(leaves)), pins, ()))
    return None if found is None or any(isinstance(x, Ratio | Spherical) for case in found for x in case.values) else found


def output_groups(path: Path) -> list[list[int]]:
    """The positions of outputs that share draws with each other and with no other output; constants are in no group."""
    link = Links()
    for x in path.conditions:
        link.join([id(root(d)) for d, _ in x.terms if not isinstance(d.law, UnknownInput)])
    drawn = {i: [id(d) for d in draws if not isinstance(d.law, UnknownInput)] for i, draws in enumerate(path.draws)}
    for ids in drawn.values():
        link.join(ids)
    groups: dict[Any, list[int]] = {}
    for i, ids in drawn.items():
        if is_node(path.output.leaves[i]):
            groups.setdefault(link.root(ids[0]) if ids else ("input", i), []).append(i)
    return list(groups.values())


def _region(path: Path, literals: Sequence[Literal], values: Sequence[LeafValue], variables: Variables) -> Region:
    rows = tuple(dict.fromkeys(variables.row(x) for x in literals))
    shape: list[Any] = []
    released: list[Released] = []
    for value in values:
        match value:
            case Constant(value=x):
                shape.append(("=", constant_key(x)))
            case Affine(value=x):
                shape.append(("real",))
                released.append(Released(variables.terms(x.terms), exact(x.constant)))
            case Floor(inner=inner, scale=scale, offset=offset):
                shape.append(("floor", exact(scale)))
                released.append(Released(variables.terms(inner.terms), exact(inner.constant), exact(offset) / exact(scale)))
    laws = tuple((v, variables.laws[v]) for v in sorted(drawn(rows, released)))
    return Region((path.output.structure, tuple(shape)), rows, tuple(released), laws)


def drawn(rows: Iterable[Row], released: Iterable[Released]) -> set[int]:
    """The draws that conditions and released values mention."""
    expressions = [*(r.terms for r in rows), *(r.terms for r in released)]
    return {v for terms in expressions for v, _ in terms if v >= 0}


def with_rows(region: Region, rows: Iterable[Row]) -> Region:
    """The region described by other rows."""
    kept = tuple(rows)
    used = drawn(kept, region.released)
    return replace(region, rows=kept, laws=tuple((v, law) for v, law in region.laws if v in used))


def common_laws(source: Region, target: Region) -> dict[int, Law] | None:
    """The law of every draw; None where the two programs draw the same value from different laws."""
    laws = dict(source.law)
    for v, law in target.laws:
        if laws.setdefault(v, law) != law:
            return None
    return laws


def support_rows(laws: Iterable[tuple[int, Law]]) -> list[Row]:
    """What the draws' supports say: v >= low, v <= high where they are finite."""
    return [row for v, law in laws for row in range_rows(v, ends(*law.support))]


def range_rows(v: int, within: Range) -> list[Row]:
    """The bounds of a variable as conditions."""
    return [Row(((v, sign),), -sign * end, False) for sign, end in zip((ONE, -ONE), within, strict=True) if end is not None]
