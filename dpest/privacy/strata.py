"""Pairs the paths of two traces, and splits what they can return into strata of one shape and independent blocks.

    program pair -> buckets (the same constants at the same places)
      -> groups of outputs that share no noise -> strata (the same shape) -> blocks of independent coordinates

Losses add over blocks and groups, per direction; over strata and buckets the largest counts.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from dpest.engine.cases import Affine, Constant, Expansion, Floor, Numbering, expand, floor_bounds
from dpest.engine.component import Case, Placed, components
from dpest.engine.expressions import Expr, coordinate, plus
from dpest.engine.lattice import floor_points, sum_points
from dpest.engine.outputs import constant_key
from dpest.engine.resolve import Literal
from dpest.engine.symmetry import classes, signatures
from dpest.engine.trace import Path, Trace
from dpest.errors import ExactRefused
from dpest.graph.nodes import Draw, Linear, draws_of, is_node
from dpest.laws.law import Continuous
from dpest.numerics.linear import identities, reduced
from dpest.numerics.logspace import Floats
from dpest.privacy.blocks import Block, Kind, Measures, Side, common_side, joint_side, product_points, split_blocks

ANY = "?"
REAL = "real"


@dataclass(frozen=True, eq=False)
class Stratum:
    """All outputs of one shape: what the leaves are, and the two laws on their coordinates, block by block."""

    leaves: tuple[tuple[int, Any], ...]  # (position in the output, Constant, or the coordinate's number)
    blocks: tuple[Block, ...]
    members: tuple[tuple[int, ...], ...]  # the coordinates of each block
    restore: Floats  # output coordinates = restore @ block coordinates
    multiplicity: int = 1


@dataclass(frozen=True, eq=False)
class Group:
    """Outputs that share noise with each other and with nothing else."""

    strata: tuple[Stratum, ...]


@dataclass(frozen=True, eq=False)
class Bucket:
    """The paths of both programs that return the same constants at the same places."""

    structure: Any
    constants: tuple[tuple[int, Any], ...]
    size: int
    groups: tuple[Group, ...]


def buckets(left: Trace, right: Trace, measures: Measures) -> list[Bucket]:
    """Everything that either program can return, ready to be compared."""
    open_positions = _open_positions([*left.paths, *right.paths])
    keyed: dict[Any, tuple[list[Path], list[Path]]] = {}
    for side, trace in enumerate((left, right)):
        for path in trace.paths:
            keyed.setdefault(_bucket_key(path, open_positions), ([], []))[side].append(path)
    return [_bucket(p, q, measures) for p, q in keyed.values()]


def _open_positions(paths: Sequence[Path]) -> set[tuple[Any, int]]:
    """Places where some path returns a random value that may turn out to be a constant."""
    return {
        (path.output.structure, i)
        for path in paths
        for i, x in enumerate(path.output.leaves)
        if is_node(x) and not _surely_real(x)
    }


def _surely_real(x: Any) -> bool:
    terms = x.terms if isinstance(x, Linear) else ((x, 1.0),)
    draws_only = all(isinstance(n, Draw) for n, _ in terms)
    return draws_only and any(not n.law.discrete for n, _ in terms)


def _bucket_key(path: Path, open_positions: set[tuple[Any, int]]) -> Any:
    structure = path.output.structure
    keys = []
    for i, x in enumerate(path.output.leaves):
        if (structure, i) in open_positions:
            keys.append((ANY,))
        else:
            keys.append((REAL,) if is_node(x) else ("=", constant_key(x)))
    return structure, tuple(keys)


def _bucket(left: list[Path], right: list[Path], measures: Measures) -> Bucket:
    some = (left or right)[0]
    leaves = [p.output.leaves for p in (*left, *right)]
    varying = [i for i in range(len(leaves[0])) if any(is_node(x[i]) or not _equal(x[i], leaves[0][i]) for x in leaves)]
    constants = tuple((i, x) for i, x in enumerate(leaves[0]) if i not in varying)
    single = len(left) <= 1 and len(right) <= 1
    groups = _single(left, right, varying, measures) if single else [_group(left, right, varying, None, measures)]
    return Bucket(some.output.structure, constants, len(leaves[0]), tuple(groups))


def _equal(a: Any, b: Any) -> bool:
    return not is_node(a) and not is_node(b) and bool(constant_key(a) == constant_key(b))


# -- groups ------------------------------------------------------------------------------------------------------------


def _single(left: list[Path], right: list[Path], varying: list[int], measures: Measures) -> list[Group]:
    """One path on either side: outputs that share no noise are groups of their own, and so are the bare conditions."""
    groups: list[set[int]] = [{i} for i in varying]
    for path in (*left, *right):
        owner: dict[int, int] = {}
        link = _Links()
        for x in path.conditions:
            link.join([id(d) for d, _ in x.terms])
        for i in varying:
            link.join([("leaf", i), *(id(d) for d in draws_of(path.output.leaves[i]))])
        for i in varying:
            owner[i] = link.root(("leaf", i))
        groups = _merged(groups, owner)
    out = [_group(left, right, sorted(g), g, measures) for g in groups]
    return [*out, _group(left, right, [], set(), measures)]


class _Links:
    """Union-find over anything hashable."""

    def __init__(self) -> None:
        self.parent: dict[Any, Any] = {}

    def root(self, x: Any) -> Any:
        while (up := self.parent.get(x, x)) != x:
            x = up
        return x

    def join(self, items: Sequence[Any]) -> None:
        for x in items[1:]:
            self.parent[self.root(x)] = self.root(items[0])


def _merged(groups: list[set[int]], owner: dict[int, Any]) -> list[set[int]]:
    out: list[set[int]] = []
    for g in groups:
        marks = {owner[i] for i in g}
        touching = [h for h in out if marks & {owner[i] for i in h}]
        out = [h for h in out if h not in touching] + [g.union(*touching)]
    return out


def _group(
    left: list[Path], right: list[Path], positions: list[int], alone: set[int] | None, measures: Measures
) -> Group:
    """The strata of some outputs; `alone` says that only conditions that touch them (or none) belong here."""
    sides = []
    exchange: list[int] = list(range(len(positions)))
    if alone is not None and len(positions) > 1 and left and right:
        marks = [signatures([p[0].output.leaves[i] for i in positions], p[0].conditions) for p in (left, right)]
        exchange = classes(marks[0], marks[1])
    for paths in (left, right):
        cases: list[Expansion] = []
        for path in paths:
            cases.extend(_cases(path, positions, exchange, alone is None, measures))
        sides.append(cases)
    return Group(tuple(_strata(sides[0], sides[1], positions, exchange, measures)))


def _cases(path: Path, positions: list[int], exchange: list[int], whole: bool, measures: Measures) -> list[Expansion]:
    """The cases of some outputs on one path; a path that takes part in several pairs is expanded once."""
    # The path is kept beside its cases, so that no other object can come to have its id.
    key = ("cases", id(path), tuple(positions), tuple(exchange), whole)
    known = measures.answers.get(key)
    if known is None:
        literals = path.conditions if whole else _touching(path, positions)
        known = (path, expand([path.output.leaves[i] for i in positions], literals, exchange))
        measures.answers[key] = known
    found: list[Expansion] = known[1]
    return found


def _touching(path: Path, positions: list[int]) -> list[Literal]:
    """The conditions that share noise with the outputs at these positions; with none, those that no output touches."""
    link = _Links()
    for x in path.conditions:
        link.join([id(d) for d, _ in x.terms])
    chosen = positions or [i for i, x in enumerate(path.output.leaves) if is_node(x)]
    roots = {link.root(id(d)) for i in chosen for d in draws_of(path.output.leaves[i])}
    return [x for x in path.conditions if (link.root(id(x.terms[0][0])) in roots) == bool(positions)]


# -- strata ------------------------------------------------------------------------------------------------------------


def _strata(
    left: list[Expansion], right: list[Expansion], positions: list[int], exchange: list[int], measures: Measures
) -> list[Stratum]:
    lattice = {
        i
        for case in (*left, *right)
        for i, x in enumerate(case.values)
        if isinstance(x, Floor) or (isinstance(x, Affine) and not x.continuous)
    }
    keyed: dict[Any, tuple[list[Expansion], list[Expansion]]] = {}
    for side, cases in enumerate((left, right)):
        for case in cases:
            keyed.setdefault(_shape(case, lattice), ([], []))[side].append(case)
    out = []
    for shape, (p, q) in keyed.items():
        many = _arrangements(shape, exchange)
        out.extend(_reduced_strata(shape, p, q, positions, many, measures))
    return out


def _shape(case: Expansion, lattice: set[int]) -> tuple[Any, ...]:
    out: list[Any] = []
    for i, x in enumerate(case.values):
        if isinstance(x, Affine) and x.continuous:
            out.append((REAL,))
        elif i in lattice and _is_number(x):
            out.append((ANY,))
        else:
            assert isinstance(x, Constant)
            out.append(("=", constant_key(x.value)))
    return tuple(out)


def _is_number(x: Any) -> bool:
    if not isinstance(x, Constant):
        return True
    return isinstance(x.value, int | float) and math.isfinite(x.value)


def _arrangements(shape: tuple[Any, ...], exchange: list[int]) -> int:
    """How many outputs a sorted one stands for."""
    by_class: dict[int, Counter[Any]] = {}
    for i, key in enumerate(shape):
        by_class.setdefault(exchange[i], Counter())[key] += 1
    total = 1
    for counts in by_class.values():
        total *= math.factorial(sum(counts.values())) // math.prod(math.factorial(k) for k in counts.values())
    return total


@dataclass(eq=False)
class _Rows:
    """One case with its coordinates as rows: affine in draws, or None where bounds define it."""

    numbering: Numbering
    bounds: list[Any]
    rows: list[Expr | None]
    floors: dict[int, Floor]
    kinds: list[Kind]
    known: dict[bytes, list[Placed]] = field(default_factory=dict)

    @cached_property
    def subspace(self) -> tuple[tuple[float, ...], ...]:
        """The linear identities that the real coordinates satisfy: equal for cases on one subspace."""
        null = identities(_matrix(self, [j for j, k in enumerate(self.kinds) if k is Kind.REAL]))
        return tuple(map(tuple, np.round(null, 9).tolist()))

    def placed(self, transform: Floats) -> list[Placed]:
        """The case's components in other coordinates; a case that takes part in several pairs is split once."""
        key = transform.tobytes()
        if key not in self.known:
            self.known[key] = components(_transformed(self, transform))
        return self.known[key]


def _rows(case: Expansion, shape: tuple[Any, ...], kinds: list[Kind]) -> _Rows:
    numbering = Numbering()
    bounds = numbering.bounds(case.literals)
    rows: list[Expr | None] = []
    floors: dict[int, Floor] = {}
    for key, x in zip(shape, case.values, strict=True):
        if key[0] == "=":
            continue
        j = len(rows)
        match x:
            case Affine(value=value):
                rows.append(numbering.expression(value.terms, value.constant))
            case Constant(value=value):
                rows.append(Expr((), float(value)))
            case Floor():
                rows.append(None)
                floors[j] = x
                bounds.extend(floor_bounds(x, numbering, j))
    return _Rows(numbering, bounds, rows, floors, kinds)


def _reduced_strata(
    shape: tuple[Any, ...],
    left: list[Expansion],
    right: list[Expansion],
    positions: list[int],
    multiplicity: int,
    measures: Measures,
) -> list[Stratum]:
    """Cases whose outputs satisfy different linear identities live on different subspaces: strata of their own."""
    kinds = [Kind.REAL if key[0] == REAL else Kind.LATTICE for key in shape if key[0] != "="]
    leaves: list[tuple[int, Any]] = []
    for i, key in enumerate(shape):
        value: Any = (left or right)[0].values[i] if key[0] == "=" else sum(1 for _, v in leaves if isinstance(v, int))
        leaves.append((positions[i], value))
    keyed: dict[Any, tuple[list[_Rows], list[_Rows]]] = {}
    for side, cases in enumerate((left, right)):
        for case in cases:
            key = ("rows", id(case), shape)
            if key not in measures.answers:
                measures.answers[key] = (case, _rows(case, shape, kinds))
            rows: _Rows = measures.answers[key][1]
            keyed.setdefault(rows.subspace, ([], []))[side].append(rows)
    return [_stratum(tuple(leaves), kinds, p, q, multiplicity, measures) for p, q in keyed.values()]


def _matrix(case: _Rows, coordinates: list[int], continuous: bool = True) -> Floats:
    """Coefficients of the continuous (or of all) draws in some coordinates."""
    draws = [v for v, law in enumerate(case.numbering.laws) if not (continuous and law.discrete)]
    out = np.zeros((len(coordinates), len(draws)))
    for i, j in enumerate(coordinates):
        row = case.rows[j]
        for v, c in row.terms if row else ():
            if v in draws:
                out[i, draws.index(v)] = c
    return out


def _stratum(
    leaves: tuple[tuple[int, Any], ...],
    kinds: list[Kind],
    left: list[_Rows],
    right: list[_Rows],
    multiplicity: int,
    measures: Measures,
) -> Stratum:
    transform = _transform((left or right)[0], kinds, any(c.floors for c in (*left, *right)))
    new_kinds = [_new_kind(row, kinds, (left or right)[0]) for row in transform]
    placed = [[case.placed(transform) for case in cases] for cases in (left, right)]
    common, rest = split_blocks(placed[0], placed[1])
    members = [*common, rest]
    blocks = []
    for i, b in enumerate(members):
        make = joint_side if i == len(common) else common_side
        p, q = (make(cases, b, measures) for cases in placed)
        blocks.append(_block(b, p, q, new_kinds, (*left, *right), transform))
    return Stratum(leaves, tuple(blocks), tuple(members), np.linalg.inv(transform), multiplicity)


def _transform(case: _Rows, kinds: list[Kind], floors: bool) -> Floats:
    """An invertible map of the coordinates under which each depends on as few draws as possible."""
    out = np.eye(len(kinds))
    for kind in Kind:
        where = [j for j, k in enumerate(kinds) if k is kind]
        if where and not (kind is Kind.LATTICE and floors):
            t, _ = reduced(_matrix(case, where, continuous=kind is Kind.REAL))
            out[np.ix_(where, where)] = t
    return out


def _new_kind(row: Floats, kinds: list[Kind], case: _Rows) -> Kind:
    """A combination of real coordinates in which all continuous noise cancels is a lattice coordinate."""
    used = [j for j in range(len(row)) if row[j]]
    if any(kinds[j] is Kind.LATTICE for j in used):
        return Kind.LATTICE
    value = _combined(case, row)
    smooth = value is None or any(not case.numbering.laws[v].discrete for v, _ in value.terms)
    return Kind.REAL if smooth else Kind.LATTICE


def _combined(case: _Rows, row: Floats) -> Expr | None:
    total = Expr((), 0.0)
    for j, c in enumerate(row):
        if c:
            part = case.rows[j]
            if part is None:
                return None
            total = plus(total, part, float(c))
    return Expr(total.terms, _unrounded(total.constant, case, row))


def _unrounded(constant: float, case: _Rows, row: Floats) -> float:
    """A constant that is rounding error beside the numbers it was computed from is zero."""
    parts = [case.rows[j] for j, c in enumerate(row) if c]
    size = max((abs(p.constant) for p in parts if p is not None), default=0.0)
    return float(np.round(constant, max(0, 14 - math.ceil(math.log10(size)) - 1))) if size > 0 and len(parts) > 1 else constant


def _transformed(case: _Rows, transform: Floats) -> Case:
    equations = []
    for i, row in enumerate(transform):
        value = _combined(case, row)
        if value is not None:
            equations.append(plus(value, Expr(((coordinate(i), 1.0),), 0.0), -1.0))
    return Case(tuple(case.numbering.laws), tuple(case.bounds), tuple(equations))


def _block(
    members: tuple[int, ...], left: Side, right: Side, kinds: list[Kind], cases: Sequence[_Rows], transform: Floats
) -> Block:
    own = tuple(kinds[j] for j in members)
    if len(set(own)) > 1:
        raise ExactRefused("an output coordinate with a density and one with single points share noise")
    scales = [law.scale for c in cases for law in c.numbering.laws if isinstance(law, Continuous)] or [1.0]

    def points() -> Floats:
        columns = [np.unique(np.concatenate([_candidates(c, transform, j) for c in cases])) for j in members]
        return product_points(columns)

    return Block(own, left, right, points if Kind.LATTICE in own else None, min(scales), max(scales))


def _candidates(case: _Rows, transform: Floats, j: int) -> Floats:
    """The points that a lattice coordinate can take on one case, all but a negligible tail."""
    value = _combined(case, transform[j])
    if value is None:
        return floor_points(case.floors[j])
    return sum_points([(case.numbering.laws[v], c) for v, c in value.terms], value.constant)
