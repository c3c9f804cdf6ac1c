"""A returned counter of random texts: how often each possible text came, of which those that never came are no key in the end.

While the counts are random, the keys are not known. Once they are numbers, those that are zero are left out, as Python has it;
which keys are possible is no part of the output, and may differ between two inputs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from dpest.errors import ExactRefused
from dpest.lang.nodes import is_node
from dpest.trace.explore import Path, Trace
from dpest.trace.outputs import COUNTS, Flat


def with_counted_keys(traced: Trace) -> Trace:
    """The same paths, returned counters with the keys that came; refused where a count is still random."""
    return replace(traced, paths=tuple(map(_path, traced.paths)))


def _path(path: Path) -> Path:
    if not _has_counts(path.output.structure):
        return path
    leaves: list[Any] = []
    structure = _counted(path.output.structure, iter(path.output.leaves), leaves)
    return replace(path, output=Flat(structure, tuple(leaves)))


def _has_counts(structure: Any) -> bool:
    return type(structure) is tuple and (structure[:1] == (COUNTS,) or any(map(_has_counts, structure)))


def _counted(structure: Any, left: Iterator[Any], leaves: list[Any]) -> Any:
    if structure is None:
        leaves.append(next(left))
        return None
    if type(structure) is not tuple:
        return structure
    if structure[:1] != (COUNTS,):
        return tuple(_counted(x, left, leaves) for x in structure)
    numbers = [next(left) for _ in structure[1]]
    if any(map(is_node, numbers)):
        raise ExactRefused("a counter of random values is returned, and which values it holds is not known")
    came = [(key, n) for key, n in zip(structure[1], numbers, strict=True) if n]
    leaves += [n for _, n in came]
    return ("dict", tuple(key for key, _ in came), *(None,) * len(came))
