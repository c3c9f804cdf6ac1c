"""Splits the cases of some outputs into strata of one shape, and each stratum into blocks of independent coordinates."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from dpest.errors import ExactRefused
from dpest.exact.inference.cases import Affine, Constant, Expansion, Floor, LeafValue, Ratio
from dpest.exact.inference.component import Placed
from dpest.exact.inference.lattice import Lattice, meeting
from dpest.exact.inference.sphere import Spherical
from dpest.exact.inference.stars import condition_components
from dpest.exact.inference.symmetry import canonical
from dpest.exact.loss.blocks import (
    Block,
    BlockLaw,
    CoordinateKind,
    Measures,
    common_side,
    connected,
    joint_side,
    product_points,
    split_blocks,
)
from dpest.exact.loss.combinations import combined_blocks
from dpest.exact.loss.coordinates import CoordinateRows, Frame, frame_of, kind_of, rows_of, simplifying
from dpest.exact.loss.direction import direction_block
from dpest.exact.loss.doubles import check_doubles
from dpest.exact.loss.mixed import mixed_block
from dpest.exact.loss.product import IndependentPart, independent_parts
from dpest.exact.loss.ratio import ratio_sides
from dpest.exact.loss.sphere import sphere_block
from dpest.laws.law import Continuous
from dpest.numerics.linear import Matrix, identity
from dpest.numerics.logspace import Floats
from dpest.numerics.rationals import ONE, ZERO, is_number
from dpest.trace.columns import constant_key

NO_COORDINATES = Frame((), ())
ANY = "?"
REAL = "real"


@dataclass(frozen=True, eq=False)
class Stratum:
    """All outputs of one shape: what the leaves are, and the two laws on their coordinates, block by block."""

    leaves: tuple[tuple[int, Any], ...]  # (position in the output, Constant, or the coordinate's number)
    blocks: tuple[Block, ...]
    members: tuple[tuple[int, ...], ...]  # the coordinates of each block
    frame: Frame  # what the coordinates are in terms of the output
    multiplicity: int = 1


_DIVIDED = (Ratio, Spherical)


def _is_smooth(x: LeafValue) -> bool:
    """Whether a value has a density; single points have no weight in it."""
    return isinstance(x, _DIVIDED) or (isinstance(x, Affine) and x.continuous)


def strata(
    left: list[Expansion], right: list[Expansion], positions: list[int], exchange: list[int], measures: Measures
) -> list[Stratum]:
    """The strata of the outputs at some positions, from their cases under either input."""
    lattice = {
        i
        for case in (*left, *right)
        for i, x in enumerate(case.values)
        if isinstance(x, Floor) or (isinstance(x, Affine) and not x.continuous)
    }
    if list(map(id, left)) != list(map(id, right)):  # one and the same law loses nothing, however it is rounded
        for i in lattice:
            check_doubles([x for case in (*left, *right) if not _is_smooth(x := case.values[i])])
    keyed: dict[Any, tuple[list[Expansion], list[Expansion]]] = {}
    for side, cases in enumerate((left, right)):
        for case in cases:
            keyed.setdefault(_shape(case, lattice), ([], []))[side].append(case)
    out = []
    apart = len(set(exchange)) == len(exchange)
    for shape, (p, q) in keyed.items():
        many = 1 if apart else _arrangements(shape, exchange)
        if any(isinstance(x, _DIVIDED) for case in (*p, *q) for x in case.values):
            out.append(_ratio_stratum(shape, p, q, positions, many, measures))
            continue
        out.extend(_reduced_strata(shape, p, q, positions, many, measures))
    return out


def _shape(case: Expansion, lattice: set[int]) -> tuple[Any, ...]:
    out: list[Any] = []
    for i, x in enumerate(case.values):
        if _is_smooth(x):
            out.append((REAL,))
        elif i in lattice and _is_number(x):
            out.append((ANY,))
        else:
            assert isinstance(x, Constant)
            out.append(("=", constant_key(x.value)))
    return tuple(out)


def _is_number(x: Any) -> bool:
    return not isinstance(x, Constant) or is_number(x.value)


def _arrangements(shape: tuple[Any, ...], exchange: list[int]) -> int:
    """How many outputs a sorted one stands for."""
    by_class: dict[int, Counter[Any]] = {}
    for i, key in enumerate(shape):
        by_class.setdefault(exchange[i], Counter())[key] += 1
    total = 1
    for counts in by_class.values():
        total *= math.factorial(sum(counts.values())) // math.prod(math.factorial(k) for k in counts.values())
    return total


def _reduced_strata(
    shape: tuple[Any, ...],
    left: list[Expansion],
    right: list[Expansion],
    positions: list[int],
    multiplicity: int,
    measures: Measures,
) -> list[Stratum]:
    """Cases whose outputs satisfy different linear identities live on different subspaces: strata of their own."""
    kinds = [CoordinateKind.REAL if key[0] == REAL else CoordinateKind.LATTICE for key in shape if key[0] != "="]
    coordinates = itertools.count()
    some = (left or right)[0].values
    leaves = tuple((positions[i], some[i] if key[0] == "=" else next(coordinates)) for i, key in enumerate(shape))
    if not kinds:
        p, q = ([_placed(case, measures) for case in cases] for cases in (left, right))
        return [constant_stratum(p, q, measures, leaves, multiplicity)]
    fixed = tuple(i for i, key in enumerate(shape) if key[0] == "=")
    names = [[_name(case, fixed, measures) for case in cases] for cases in (left, right)]

    def found() -> list[Stratum]:
        keyed: dict[Any, tuple[list[CoordinateRows], list[CoordinateRows]]] = {}
        for side, cases in enumerate((left, right)):
            for case, name in zip(cases, names[side], strict=True):
                rows = measures.once(("rows", name, tuple(kinds)), case, partial(rows_of, case, shape, kinds))
                keyed.setdefault(rows.subspace, ([], []))[side].append(rows)
        return [_stratum(*x, measures) for cases in keyed.values() for x in _apart(kinds, *cases)]

    # Outputs that differ in the places of their constants, and in the names of their draws, have the same laws.
    known = measures.once(("strata", tuple(kinds), *map(tuple, names)), (left, right), found)
    return [Stratum(leaves, s.blocks, s.members, s.frame, multiplicity) for s in known]


def _name(case: Expansion, fixed: tuple[int, ...], measures: Measures) -> Any:
    """What cases with the same law of their coordinates have in common; where that is not easily told, the case itself."""
    return measures.once(("name", id(case), fixed), case, lambda: canonical(case, fixed) or id(case))


def _ratio_stratum(
    shape: tuple[Any, ...],
    left: list[Expansion],
    right: list[Expansion],
    positions: list[int],
    multiplicity: int,
    measures: Measures,
) -> Stratum:
    """Outputs that are quotients of random values, or noise in a uniform direction; those that share noise are one block."""
    places = [i for i, key in enumerate(shape) if key[0] != "="]
    some = (left or right)[0].values
    at = {i: j for j, i in enumerate(places)}
    leaves = tuple((positions[i], at.get(i, x)) for i, x in enumerate(some))
    parts = independent_parts(left, right, places)
    if parts is None:
        blocks, members = [_quotients(left, right, places, measures)], [tuple(range(len(places)))]
    else:
        blocks = [_part_block(part, measures) for part in parts]
        members = [part.members for part in parts]
    frame = Frame(identity(len(places)), (Lattice(ZERO, ONE),) * len(places))
    return Stratum(leaves, tuple(blocks), tuple(members), frame, multiplicity)


def _part_block(part: IndependentPart, measures: Measures) -> Block:
    """The laws of outputs that share no noise with the others, or the weights of conditions that no output touches."""
    if not part.members:
        return _weights([[_placed(case, measures) for case in cases] for cases in (part.left, part.right)], measures)
    return _quotients(part.left, part.right, list(range(len(part.members))), measures)


def _weights(placed: Sequence[list[list[Placed]]], measures: Measures) -> Block:
    p, q = (joint_side(cases, (), measures) for cases in placed)
    return Block((), p, q)


def _quotients(left: list[Expansion], right: list[Expansion], places: list[int], measures: Measures) -> Block:
    """The laws of outputs that are quotients in some case: a direction, or one quotient that is mixed with other cases."""
    if any(isinstance(x, Spherical) for case in (*left, *right) for x in case.values):
        return sphere_block(left, right, places, measures)
    try:
        return direction_block(left, right, places, measures)
    except ExactRefused:
        if len(places) > 1:
            return mixed_block(left, right, places, measures)
    return Block((CoordinateKind.REAL,), *ratio_sides(left, right, places[0], measures))


Apart = tuple[list[CoordinateKind], Matrix, list[CoordinateRows], list[CoordinateRows]]


def _apart(kinds: list[CoordinateKind], left: list[CoordinateRows], right: list[CoordinateRows]) -> list[Apart]:
    """Cases whose lattice coordinates have no point in common can never return the same output: strata of their own."""
    both = [*left, *right]
    transform = simplifying(both[0], kinds, any(c.floors for c in both))
    new = [kind_of(row, kinds, both[0]) for row in transform]
    marks: list[list[int]] = []
    for j, kind in enumerate(new):
        if kind is CoordinateKind.LATTICE:
            marks.append(meeting([case.lattice(transform, j, kind) for case in both]))
    keyed: dict[tuple[int, ...], tuple[list[CoordinateRows], list[CoordinateRows]]] = {}
    for i, case in enumerate(both):
        keyed.setdefault(tuple(m[i] for m in marks), ([], []))[i >= len(left)].append(case)
    return [(new, transform, p, q) for p, q in keyed.values()]


def constant_stratum(
    left: list[list[Placed]],
    right: list[list[Placed]],
    measures: Measures,
    leaves: tuple[tuple[int, Any], ...] = (),
    multiplicity: int = 1,
) -> Stratum:
    """Constants alone: what counts is how likely their conditions are."""
    return Stratum(leaves, (_weights((left, right), measures),), ((),), NO_COORDINATES, multiplicity)


def _placed(case: Expansion, measures: Measures) -> list[Placed]:
    """The components of a case's conditions, split once."""
    return measures.once(("conditions", id(case)), case, lambda: condition_components(case.literals, case.loops, measures.spokes))


def _stratum(
    kinds: list[CoordinateKind],
    transform: Matrix,
    left: list[CoordinateRows],
    right: list[CoordinateRows],
    measures: Measures,
) -> Stratum:
    """The laws of the coordinates, without the leaves that they stand for."""
    cases = (*left, *right)
    frame = frame_of(transform, [[c.lattice(transform, j, kind) for c in cases] for j, kind in enumerate(kinds)], kinds)
    p, q = ([case.placed(frame) for case in side] for side in (left, right))
    common, rest = split_blocks(p, q)
    sides = [(b, common_side(p, b, measures), common_side(q, b, measures)) for b in common]
    parts = combined_blocks(p, q, [b for b in connected([*p, *q]) if b not in common])
    if parts is None:
        sides.append((rest, joint_side(p, rest, measures), joint_side(q, rest, measures)))
    else:
        sides += [(part.members, BlockLaw(part.left, measures), BlockLaw(part.right, measures)) for part in parts]
    blocks = tuple(_block(b, one, other, kinds, cases, frame) for b, one, other in sides)
    return Stratum((), blocks, tuple(b for b, _, _ in sides), frame)


def _block(
    members: tuple[int, ...],
    left: BlockLaw,
    right: BlockLaw,
    kinds: list[CoordinateKind],
    cases: Sequence[CoordinateRows],
    frame: Frame,
) -> Block:
    own = tuple(kinds[j] for j in members)
    if len(set(own)) > 1:
        raise ExactRefused("an output coordinate with a density and one with single points share noise")
    scales = [law.scale for c in cases for law in c.numbering.laws if isinstance(law, Continuous)] or [1.0]

    def points(*, some: bool = False) -> Floats:
        columns = [np.unique(np.concatenate([c.points(frame, j, some=some) for c in cases])) for j in members]
        return product_points(columns)

    return Block(own, left, right, points if CoordinateKind.LATTICE in own else None, min(scales), max(scales))
