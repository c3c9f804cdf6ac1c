"""Forks after which every path returns the same expression: nobody sees which way they went, and they are left out.

Programs count, log and check on the way to an output that does not depend on it. The sides of such a fork are one path,
without the fork's conditions, which may be far harder to integrate over than the output.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from dpest.lang.extent import is_rounded
from dpest.lang.nodes import draws_of, is_node
from dpest.trace.columns import constant_key
from dpest.trace.images import in_one_form
from dpest.trace.literal import held, narrowed
from dpest.trace.replay import same_output

if TYPE_CHECKING:
    from dpest.trace.explore import Path


@dataclass
class _Place:
    """Where paths stand after their first steps, with the places that the next step leads to."""

    depth: int
    below: dict[int, _Place] = field(default_factory=dict)  # by the step
    path: Path | None = None  # the one path that goes on from here


def without_agreeing_forks(paths: Sequence[Path]) -> tuple[Path, ...]:
    """The paths of a program of which none was left out, with those as one that nobody can tell apart."""
    if any(path.guards or path.loops for path in paths) or not _repeated(paths):
        return tuple(paths)
    places = _tree(paths)
    for place in reversed(places):  # from the ends to the beginning
        if place.path is None:
            ends = [below.path for below in place.below.values()]
            first = ends[0]
            if first is not None and all(other is not None and _agree(first, other) for other in ends[1:]):
                place.path = _up_to(first, place.depth) if len(ends) > 1 else first
    kept: list[Path] = []
    waiting = [places[0]]
    while waiting:
        place = waiting.pop()
        if place.path is not None:
            kept.append(place.path)
        else:
            waiting.extend(reversed(place.below.values()))
    return tuple(kept)


def _repeated(paths: Sequence[Path]) -> bool:
    """Whether two paths may return the same: their constants, and which leaves are random, are equal."""
    shapes = {_shape(path) for path in paths}
    return len(shapes) < len(paths)


def _shape(path: Path) -> Any:
    if path.constants is not None:
        return path.output.structure, path.constants
    return path.output.structure, tuple(None if is_node(x) else ("=", constant_key(x)) for x in path.output.leaves)


def _tree(paths: Sequence[Path]) -> list[_Place]:
    """Every place, each after the one that leads to it."""
    places = [_Place(0)]
    for path in paths:
        at = places[0]
        for step in path.steps:
            if id(step) not in at.below:
                at.below[id(step)] = _Place(at.depth + 1)
                places.append(at.below[id(step)])
            at = at.below[id(step)]
        at.path = path
    return places


def _agree(one: Path, other: Path) -> bool:
    """Whether both return the same expression. Of whole numbers a path may know the value, and is told apart by it."""
    if _shape(one) != _shape(other) or not same_output(one.output, other.output):
        return False
    if any(d.law.discrete for x in one.output.leaves if is_node(x) for d in draws_of(x)):
        return False
    leaves = zip(one.output.leaves, other.output.leaves, strict=True)
    return not any(a is not b and (is_rounded(a) or is_rounded(b)) for a, b in leaves)


def _up_to(path: Path, depth: int) -> Path | None:
    """The path with the conditions of its first steps alone; None where they are not easily told."""
    steps = path.steps[:depth]
    conditions = in_one_form(held(narrowed({}, [literal for step in steps for literal in step])))
    return None if conditions is None else replace(path, steps=steps, conditions=conditions)
