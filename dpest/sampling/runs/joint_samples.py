"""Samples of values that may share noise, drawn together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dpest.lang.dist import Dist
from dpest.sampling.runs.sources import TracedSampler
from dpest.trace.columns import HOLE, NAN_KEY, RowsOfShape


def joint_samples(values: Sequence[Any], size: int, rng: np.random.Generator) -> npt.NDArray[Any]:
    """`size` rows, one column for each value; floats where all are numbers, else objects."""
    held = [v if isinstance(v, Dist) else _held(v) for v in values]
    drawn = TracedSampler(lambda _: held).groups(None, size, rng)
    table = np.concatenate([_rows(group) for group in drawn.groups])
    table = table[rng.permutation(len(table))]  # rows come path by path
    try:
        return table.astype(float)
    except (TypeError, ValueError):
        return table


def _held(value: Any) -> Any:
    from dpest.lang.nodes import is_node

    return Dist(value) if is_node(value) else value


def _rows(group: RowsOfShape) -> npt.NDArray[Any]:
    out = np.empty((group.rows, len(group.shape.leaves)), dtype=object)
    varying = iter(group.values)
    for j, leaf in enumerate(group.shape.leaves):
        out[:, j] = next(varying) if leaf is HOLE else (np.nan if leaf == NAN_KEY else leaf)
    return out
