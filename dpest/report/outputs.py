"""The output of a mechanism under both inputs of a pair, as a table to draw: where the loss is, and what lies around it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from dpest.exact.inference.cases import Constant
from dpest.exact.loss.blocks import Block, CoordinateKind
from dpest.exact.loss.buckets import Bucket, Group
from dpest.exact.loss.compare import Comparison, Loss, StratumLoss
from dpest.exact.loss.coordinates import Frame
from dpest.exact.loss.logs import Sup
from dpest.exact.loss.profile import ComparedProfile
from dpest.exact.loss.strata import Stratum
from dpest.inputs.shown import show, signed_sum
from dpest.numerics.rationals import Rational
from dpest.report.data import OutputTable
from dpest.report.line import carrying_line, line_through
from dpest.results import Result
from dpest.trace.outputs import rebuild

MOST_ROWS = 2000  # outputs that are listed for a picture: the few that it draws are chosen from them



class OutputRow(NamedTuple):
    """An output with mass of its own: label, ln of its probability under both inputs, value, and whether it is the witness."""

    label: str
    left: float
    right: float
    value: Any
    witness: bool


def output_table(result: Result) -> OutputTable | None:
    """Both laws of the output on the worst pair; None where the result does not hold them or there is nothing to draw."""
    profiles: list[object] = [p.profile for p in result.pairs if p.pair == result.pair]
    comparisons = [p.comparison for p in profiles if isinstance(p, ComparedProfile)]
    return table(comparisons[0]) if comparisons else None


def table(found: Comparison) -> OutputTable | None:
    """The part of the output that shows the largest loss: its density, or the masses of all outputs of its kind."""
    worst = max(found.forward, found.backward, key=lambda loss: loss.value)
    if worst.bucket is None or not worst.parts:
        return None
    part = max(worst.parts, key=lambda p: p.value)
    block = _worst_block(part)
    sign = 1 if worst is found.forward else -1
    if block is not None and CoordinateKind.REAL in block.kinds:
        return _density(worst, part, block, sign)
    return _masses(found, worst, part, sign)


def _worst_block(part: StratumLoss) -> Block | None:
    pairs = list(zip(part.stratum.blocks, part.sups, strict=True))
    return max(pairs, key=lambda p: p[1].value)[0] if pairs else None


# -- one density -------------------------------------------------------------------------------------------------------


def _density(worst: Loss, part: StratumLoss, block: Block, sign: int) -> OutputTable:
    assert worst.bucket is not None
    stratum = part.stratum
    index = stratum.blocks.index(block)
    sup = part.sups[index]
    line = carrying_line(block, sup.at)
    y = line.grid()
    lattice = stratum.frame.lattices[stratum.members[index][line.along]]
    origin, step = float(lattice.origin), float(lattice.step)
    left, right = _others(worst, part, block)
    return OutputTable(
        y=tuple((origin + step * y).tolist()),
        log_density_left=tuple((line.log(block.left, y) + left).tolist()),
        log_density_right=tuple((line.log(block.right, y) + right).tolist()),
        axis=_axis(worst.bucket, stratum, stratum.members[index][line.along]),
        parts=sum(1 for p in worst.parts for b in p.stratum.blocks if CoordinateKind.REAL in b.kinds),
        slice=block.dimension > 1,
        place=origin + step * sup.at[line.along] if sup.at else None,
        ray=sup.ray if step > 0 else -sup.ray,
        sign=sign,
    )


def _others(worst: Loss, part: StratumLoss, block: Block) -> tuple[float, float]:
    """The weight of everything that goes with the density: conditions without outputs of their own."""
    empty = np.empty((1, 0))
    plain = [b for p in worst.parts for b in p.stratum.blocks if b.dimension == 0 and b is not block]
    return sum(float(b.left.log(empty)[0][0]) for b in plain), sum(float(b.right.log(empty)[0][0]) for b in plain)


def _axis(bucket: Bucket, stratum: Stratum, member: int) -> str:
    """The block's coordinate in terms of what is released: `output[3]`, or `output[3] - output[2]`."""
    places = [position for position, leaf in stratum.leaves if isinstance(leaf, int)]
    row = [float(c) for c in stratum.frame.transform[member]]
    named = [(c, f"output[{position}]" if bucket.size > 1 else "output") for position, c in zip(places, row, strict=True)]
    parts = ((c, name if abs(abs(c) - 1) < 1e-12 else f"{abs(c):.3g} {name}") for c, name in named if abs(c) > 1e-12)
    return signed_sum(parts) or "output"


# -- masses ------------------------------------------------------------------------------------------------------------


def _masses(found: Comparison, worst: Loss, part: StratumLoss, sign: int) -> OutputTable | None:
    assert worst.bucket is not None
    random_groups = [g for g in worst.bucket.groups if any(s.leaves for s in g.strata)]
    group = next((g for g in random_groups if part.stratum in g.strata), None)
    drawn = [group] if len(random_groups) > 1 and group is not None else [g for b in found.buckets for g in b.groups]
    if any(b.dimension > 1 and CoordinateKind.REAL in b.kinds for g in drawn for s in g.strata for b in s.blocks):
        return None
    if len(random_groups) > 1 and group is not None:
        rows = list(_group_rows(worst.bucket, group, part, whole=False))
        parts = len(random_groups)
    else:
        rows = [row for bucket in found.buckets for row in _bucket_rows(bucket, part)]
        parts = 1
    if not rows or len(rows) > MOST_ROWS:
        return None
    ordered = sorted(rows, key=lambda row: _order(row.value))
    labels, left, right, _, witness = zip(*ordered, strict=True)
    marked = witness.index(True) if True in witness else None
    return OutputTable(labels=labels, log_left=left, log_right=right, parts=parts, marked=marked, sign=sign)


def _order(value: Any) -> tuple[Any, ...]:
    """Numbers in their order, then other values, any number, None, and NaN last; lists from their first part on."""
    if isinstance(value, list | tuple):
        return 1, tuple(_order(part) for part in value)
    if value is None:
        return 4, ()
    if isinstance(value, bool | int | float | np.number):
        return (5, ()) if math.isnan(value) else (0, (float(value),))
    return (3, ()) if isinstance(value, _Any) else (2, (show(value),))


def _bucket_rows(bucket: Bucket, part: StratumLoss) -> Iterator[OutputRow]:
    """All outputs of one bucket: one of its groups gives the rows, the others are weights."""
    main = max(bucket.groups, key=lambda g: sum(len(s.leaves) for s in g.strata))
    weights = [list(_group_rows(bucket, g, part, whole=True)) for g in bucket.groups if g is not main]
    left = sum(float(np.logaddexp.reduce([r.left for r in rows])) for rows in weights)
    right = sum(float(np.logaddexp.reduce([r.right for r in rows])) for rows in weights)
    for row in _group_rows(bucket, main, part, whole=True):
        yield row._replace(left=row.left + left, right=row.right + right)


def _group_rows(bucket: Bucket, group: Group, part: StratumLoss, whole: bool) -> Iterator[OutputRow]:
    for stratum in group.strata:
        yield from _stratum_rows(bucket, stratum, part.sups if stratum is part.stratum else None, whole)


def _stratum_rows(bucket: Bucket, stratum: Stratum, sups: tuple[Sup, ...] | None, whole: bool) -> Iterator[OutputRow]:
    """The outputs of one stratum; `sups` are the places of its loss where it is the worst one."""
    smooth = [b for b in stratum.blocks if CoordinateKind.REAL in b.kinds]
    orders = math.log(stratum.multiplicity)
    left, right = (orders + sum(line_through(b, ()).log_mass(side(b)) for b in smooth) for side in (_left, _right))
    plain = [(b, m) for b, m in zip(stratum.blocks, stratum.members, strict=True) if b not in smooth]
    places = [sup.at for b, sup in zip(stratum.blocks, sups or (), strict=False) if b not in smooth]
    columns = [b.points() if b.points is not None else np.empty((1, b.dimension)) for b, _ in plain]
    for choice in itertools.islice(itertools.product(*columns), MOST_ROWS + 1):
        p = left + sum(float(b.left.log(y.reshape(1, -1))[0][0]) for (b, _), y in zip(plain, choice, strict=True))
        q = right + sum(float(b.right.log(y.reshape(1, -1))[0][0]) for (b, _), y in zip(plain, choice, strict=True))
        there = sups is not None and all(not at or tuple(y) == at for y, at in zip(choice, places, strict=True))
        # A lattice has no end: what lies far out is left out, except the place of the witness.
        if max(p, q) > (-math.inf if there or not any(b.dimension for b, _ in plain) else -60):
            known = {j: float(v) for (_, m), y in zip(plain, choice, strict=True) for j, v in zip(m, y, strict=True)}
            label, value = _stratum_label(bucket, stratum, known, whole)
            yield OutputRow(label, p, q, value, there)


_left = attrgetter("left")
_right = attrgetter("right")


class _Any:
    """Stands for any real number in a label."""

    def __repr__(self) -> str:
        return "*"


def _stratum_label(bucket: Bucket, stratum: Stratum, known: Mapping[int, float], whole: bool) -> tuple[str, Any]:
    """The label of an output, and the output itself."""
    shown = [_shown(stratum.frame, row, known) for row in stratum.frame.restore]
    values = {i: leaf.value if isinstance(leaf, Constant) else shown[leaf] for i, leaf in stratum.leaves}
    if whole:
        return _label(bucket, values, stratum.multiplicity)
    if len(values) == 1:
        ((place, value),) = values.items()
        return f"output[{place}] = {show(value)}", value
    return show(list(values.values())), list(values.values())


def _shown(frame: Frame, row: Sequence[Rational], known: Mapping[int, float]) -> Any:
    """An output in terms of the coordinates; a star where one of them can be any number."""
    used = [j for j, c in enumerate(row) if c]
    return float(sum(row[j] * frame.place(j, known[j]) for j in used)) if all(j in known for j in used) else _Any()


def _label(bucket: Bucket, values: Mapping[int, Any], multiplicity: int) -> tuple[str, Any]:
    known = {**dict(bucket.constants), **values}
    output = rebuild(bucket.structure, [known.get(i, _Any()) for i in range(bucket.size)])
    text = show(output)
    return text if multiplicity == 1 else f"{text}, {multiplicity} orders", output
