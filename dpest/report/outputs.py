"""The output of a mechanism under both inputs of a pair, as a table to draw: where the loss is, and what lies around it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from dpest.engine.cases import Constant
from dpest.engine.outputs import rebuild
from dpest.engine.trace import trace
from dpest.errors import DpestError
from dpest.inputs import Pair, show
from dpest.numerics.logspace import Floats
from dpest.privacy.blocks import Block, Kind
from dpest.privacy.compare import Comparison, Loss, StratumLoss, compare
from dpest.privacy.strata import Bucket, Group, Stratum
from dpest.report.data import OutputTable

POINTS = 321
MOST_ROWS = 2000
MARGIN = 4.0  # of the noise's scale, on either side of the kinks

Row = tuple[str, float, float]


def output_table(mechanism: Callable[..., Any], pair: Pair, params: Mapping[str, Any]) -> OutputTable | None:
    """Both laws of the output; None where exact inference does not give them or there is nothing to draw."""
    try:
        return table(compare(trace(mechanism, pair.left, params), trace(mechanism, pair.right, params)))
    except DpestError:
        return None


def table(found: Comparison) -> OutputTable | None:
    """The part of the output that shows the largest loss: its density, or the masses of all outputs of its kind."""
    worst = max(found.forward, found.backward, key=lambda loss: loss.value)
    if worst.bucket is None or not worst.parts:
        return None
    part = max(worst.parts, key=lambda p: p.value)
    block = _worst_block(part)
    if block is not None and block.kinds == (Kind.REAL,):
        return _density(worst, part, block)
    if any(b.dimension > 1 or Kind.REAL in b.kinds for b in part.stratum.blocks):
        return None
    return _masses(found, worst, part)


def _worst_block(part: StratumLoss) -> Block | None:
    pairs = list(zip(part.stratum.blocks, part.sups, strict=True))
    return max(pairs, key=lambda p: p[1].value)[0] if pairs else None


# -- one density -------------------------------------------------------------------------------------------------------


def _density(worst: Loss, part: StratumLoss, block: Block) -> OutputTable:
    assert worst.bucket is not None
    stratum = part.stratum
    at = part.sups[stratum.blocks.index(block)].at
    y = _grid(block, at)
    column = y.reshape(-1, 1)
    left, right = _others(worst, part, block)
    return OutputTable(
        y=tuple(y.tolist()),
        log_density_left=tuple((block.left.log(column)[0] + left).tolist()),
        log_density_right=tuple((block.right.log(column)[0] + right).tolist()),
        axis=_axis(stratum, stratum.blocks.index(block)),
        note=_note(worst, stratum),
    )


def _grid(block: Block, at: Sequence[float]) -> Floats:
    """Even points over the kinks and their surroundings, and points just beside each kink."""
    kinks = [-k.constant / c for side in (block.left, block.right) for k in side.kinks() for _, c in k.terms if len(k.terms) == 1]
    marks = np.array([*kinks, *[a for a in at if math.isfinite(a) and abs(a) < 1e6]] or [0.0])
    low, high = marks.min() - MARGIN * block.scale, marks.max() + MARGIN * block.scale
    beside = np.concatenate([marks - 1e-9 * block.scale, marks + 1e-9 * block.scale])
    return np.unique(np.concatenate([np.linspace(low, high, POINTS), beside]))


def _others(worst: Loss, part: StratumLoss, block: Block) -> tuple[float, float]:
    """The weight of everything that goes with the density: conditions without outputs of their own."""
    empty = np.empty((1, 0))
    plain = [b for p in worst.parts for b in p.stratum.blocks if b.dimension == 0 and b is not block]
    return sum(float(b.left.log(empty)[0][0]) for b in plain), sum(float(b.right.log(empty)[0][0]) for b in plain)


def _axis(stratum: Stratum, index: int) -> str:
    """The block's coordinate in terms of what is released: `output[3]`, or `output[3] - output[2]`."""
    places = [position for position, leaf in stratum.leaves if isinstance(leaf, int)]
    row = np.linalg.inv(stratum.restore)[stratum.members[index][0]]
    text = ""
    for position, c in zip(places, row, strict=True):
        if abs(c) > 1e-12:
            name = f"output[{position}]" if len(stratum.leaves) > 1 else "output"
            size = "" if abs(abs(c) - 1) < 1e-12 else f"{abs(c):.3g} "
            text += (" - " if c < 0 else " + ") + size + name if text else ("-" if c < 0 else "") + size + name
    return text or "output"


def _note(worst: Loss, stratum: Stratum) -> str:
    continuous = sum(1 for p in worst.parts for b in p.stratum.blocks if Kind.REAL in b.kinds)
    return f"One of {continuous} independent parts of the output." if continuous > 1 else ""


# -- masses ------------------------------------------------------------------------------------------------------------


def _masses(found: Comparison, worst: Loss, part: StratumLoss) -> OutputTable | None:
    assert worst.bucket is not None
    random_groups = [g for g in worst.bucket.groups if any(s.leaves for s in g.strata)]
    if len(random_groups) > 1:
        group = next(g for g in random_groups if part.stratum in g.strata)
        rows = list(_group_rows(worst.bucket, group, whole=False))
        note = f"One of {len(random_groups)} independent parts of the output."
    else:
        rows = list(itertools.chain.from_iterable(map(_bucket_rows, found.buckets)))
        note = ""
    if not rows or len(rows) > MOST_ROWS:
        return None
    labels, left, right = zip(*rows, strict=True)
    return OutputTable(labels=labels, log_left=left, log_right=right, note=note)


def _bucket_rows(bucket: Bucket) -> Iterator[Row]:
    """All outputs of one bucket: at most one of its groups has outputs, the others are weights."""
    with_output = [g for g in bucket.groups if any(s.leaves for s in g.strata)]
    weights = [r for g in bucket.groups if g not in with_output for r in _group_rows(bucket, g, whole=True)]
    left, right = sum(r[1] for r in weights), sum(r[2] for r in weights)
    if not with_output:
        yield _label(bucket, {}, 1), left, right
    for group in with_output:
        for label, p, q in _group_rows(bucket, group, whole=True):
            yield label, p + left, q + right


def _group_rows(bucket: Bucket, group: Group, whole: bool) -> Iterator[Row]:
    for stratum in group.strata:
        yield from _stratum_rows(bucket, stratum, whole)


def _stratum_rows(bucket: Bucket, stratum: Stratum, whole: bool) -> Iterator[Row]:
    columns = [b.points() if b.points is not None else np.empty((1, b.dimension)) for b in stratum.blocks]
    for choice in itertools.islice(itertools.product(*columns), MOST_ROWS + 1):
        left = sum(float(b.left.log(y.reshape(1, -1))[0][0]) for b, y in zip(stratum.blocks, choice, strict=True))
        right = sum(float(b.right.log(y.reshape(1, -1))[0][0]) for b, y in zip(stratum.blocks, choice, strict=True))
        if max(left, right) > -60:
            yield _stratum_label(bucket, stratum, choice, whole), left, right


def _stratum_label(bucket: Bucket, stratum: Stratum, choice: Sequence[Floats], whole: bool) -> str:
    size = sum(map(len, stratum.members))
    inner = np.zeros(size)
    for members, y in zip(stratum.members, choice, strict=True):
        inner[list(members)] = y
    outer = stratum.restore @ inner if size else inner
    values = {i: leaf.value if isinstance(leaf, Constant) else float(outer[leaf]) for i, leaf in stratum.leaves}
    if whole:
        return _label(bucket, values, stratum.multiplicity)
    return ", ".join(f"output[{i}] = {show(v)}" for i, v in values.items())


def _label(bucket: Bucket, values: Mapping[int, Any], multiplicity: int) -> str:
    known = {**dict(bucket.constants), **values}
    text = show(rebuild(bucket.structure, [known.get(i) for i in range(bucket.size)]))
    return text if multiplicity == 1 else f"{text} (and {multiplicity - 1} like it)"
