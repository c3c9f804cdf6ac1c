"""Which outcomes a mechanism can have at all, where its program says so."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from dpest.errors import DpestError
from dpest.lang.nodes import NODES, All, ArgExtreme, Compare, Draw, Not, Ranked, Where
from dpest.laws.discrete import Atoms, Whole
from dpest.run.settings import Sides
from dpest.sampling.runs.outcomes import row_keys
from dpest.sampling.runs.outputs import Keys, encode_groups
from dpest.trace.columns import Columns, RowsOfShape, Shape, constant_key
from dpest.trace.explore import trace
from dpest.trace.limits import Limits

_MOST_PATHS = 4096  # of a program whose outcomes are listed: beyond, no upper bound is given
_MOST_OUTCOMES = 1 << 14  # beyond, samples do not show all of them anyway, and no upper bound follows


def covers(keys: Keys, mechanism: Callable[..., Any], inputs: Sequence[Any], params: Mapping[str, Any]) -> bool:
    """Whether the outcomes that were counted are all that the program can have; keys must tell them apart."""
    possible = possible_outcomes(mechanism, inputs, params)
    if possible is None:
        return False
    needed = row_keys(encode_groups(Columns(tuple(RowsOfShape(outcome, (), 1) for outcome in possible))))
    return len(np.unique(needed)) == len(possible) and bool(np.isin(needed, keys).all())


def possible_outcomes(mechanism: Callable[..., Any], inputs: Sequence[Any], params: Mapping[str, Any]) -> frozenset[Shape] | None:
    """Every outcome of every path, possible or not, on any of the inputs; None where they cannot be listed."""
    found: set[Shape] = set()
    try:
        for data in inputs:
            paths = trace(mechanism, data, params, Limits(paths=_MOST_PATHS), sides=Sides.APART)
            if paths.log_unexplored > -math.inf:
                return None
            for path in paths.paths:
                values = [_values(leaf) for leaf in path.output.leaves]
                if math.prod(map(len, values)) > _MOST_OUTCOMES or len(found) > _MOST_OUTCOMES:
                    return None
                found.update(Shape(path.output.structure, leaves) for leaves in itertools.product(*values))
    except (DpestError, _Unlisted):
        return None
    return frozenset(found)


class _Unlisted(Exception):
    """A leaf whose values cannot be listed."""


def _values(leaf: Any) -> list[Any]:
    match leaf:
        case Compare() | Not() | All():
            return [0.0, 1.0]
        case ArgExtreme(values=values) | Ranked(values=values, place=True):
            return [float(i) for i in range(len(values))]
        case Where(yes=yes, no=no):
            return list(dict.fromkeys([*_values(yes), *_values(no)]))
        case Draw(law=law) if isinstance(law, Atoms):
            return [float(x) for x in law.points]
        case Draw(law=law) if isinstance(law, Whole) and law.high - law.low < _MOST_OUTCOMES:
            return [float(x) for x in range(law.low, law.high + 1)]
        case _ if isinstance(leaf, NODES):
            raise _Unlisted
        case _:
            return [constant_key(leaf)]
