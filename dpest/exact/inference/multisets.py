"""Outputs whose values come in a random order, as multisets: released in order of size, they tell as much.

Independent values with few points each, such as the shuffled answers of n people, have few multisets: their law is summed value
by value, and each multiset is a path with constants. Other values are put in order.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpest.errors import BudgetExceeded, ExactRefused
from dpest.exact.inference.own_draws import has_few_points, in_conditions, outcomes_of
from dpest.lang.dist import unwrap, wrap
from dpest.lang.nodes import draws_of, is_node
from dpest.lang.ordering import python_sorted
from dpest.lang.shuffled import OrderMatters
from dpest.trace.columns import constant_key
from dpest.trace.explore import Path, Trace
from dpest.trace.one_of import one_of
from dpest.trace.outputs import SHUFFLED, Flat

_MOST = 4096  # multisets of one list: more paths than that are no shorter way
Chances = dict[Any, float]  # ln of the probability of each value
Multiset = tuple[int, ...]  # how often each of the possible values comes


def with_multisets(traced: Trace) -> Trace:
    """The same losses, with the values of every shuffled list in order."""
    if not any(_orders(path) for path in traced.paths):
        return traced
    paths: list[Path] = []
    errors = [0.0]
    for path in traced.paths:
        found, error = _in_order(path)
        paths += found
        errors.append(error)
    return replace(traced, paths=tuple(paths), error=traced.error + max(errors))


def _orders(path: Path) -> tuple[tuple[int, ...], ...]:
    structure = path.output.structure
    return structure[1] if isinstance(structure, tuple) and structure[0] == SHUFFLED else ()


def _in_order(path: Path) -> tuple[list[Path], float]:
    orders = _orders(path)
    if not orders:
        return [path], 0.0
    paths = [replace(path, output=Flat(path.output.structure[2], path.output.leaves))]
    error = 0.0
    for places in orders:
        laws = _laws(path, places)
        if laws is None:
            paths = [_sorted(p, places) for p in paths]
        else:
            counted, off = _counted(*laws, places)
            error += off
            paths = [q for p in paths for q in counted.paths(p)]
    return paths, error


def _sorted(path: Path, places: Sequence[int]) -> Path:
    leaves = [path.output.leaves[k] for k in places]
    if not any(map(is_node, leaves)):
        return _with(path, places, sorted(leaves, key=lambda x: repr(constant_key(x))))
    if not all(is_node(x) or isinstance(x, int | float) for x in leaves):
        raise OrderMatters
    return _with(path, places, [unwrap(x) for x in python_sorted(map(wrap, leaves))])


def _with(path: Path, places: Sequence[int], values: Sequence[Any]) -> Path:
    leaves = list(path.output.leaves)
    for k, value in zip(sorted(places), values, strict=True):
        leaves[k] = value
    return replace(path, output=Flat(path.output.structure, tuple(leaves)))


def _laws(path: Path, places: Sequence[int]) -> tuple[list[Chances], float] | None:
    """The law of each value and the error of all, where the values are independent of each other and of all else."""
    leaves = path.output.leaves
    used = in_conditions(path) | {id(d) for k, x in enumerate(leaves) if k not in places for d in draws_of(x)}
    laws, errors = [], 0.0
    for leaf in (leaves[k] for k in places):
        if not is_node(leaf):
            laws.append({leaf: 0.0})
            continue
        own = {id(d) for d in draws_of(leaf)}
        if own & used or not has_few_points(leaf):
            return None
        used |= own
        try:
            found, error = outcomes_of([leaf])
        except (BudgetExceeded, ExactRefused):
            return None
        laws.append({x: log_p for (x,), log_p in found.items()})
        errors += error
    return laws, errors


@dataclass(frozen=True)
class _Counted:
    """The multisets that may come, and ln of the probability of each."""

    places: Sequence[int]
    multisets: list[list[Any]]
    logs: list[float]

    def paths(self, path: Path) -> Iterator[Path]:
        """A path for each multiset."""
        draw, conditions = one_of(self.logs, "multisets")
        for told, values in zip(conditions, self.multisets, strict=True):
            counted = replace(path, conditions=(*path.conditions, *told), drawn=(*path.drawn, draw))
            yield _with(counted, self.places, values)


def _counted(laws: Sequence[Chances], error: float, places: Sequence[int]) -> tuple[_Counted, float]:
    """The multisets of independent values, summed one value after the other; and how far off the logarithms may be."""
    values = sorted({x for law in laws for x in law}, key=lambda x: repr(constant_key(x)))
    place = {x: k for k, x in enumerate(values)}
    sums: dict[Multiset, float] = {(0,) * len(values): 0.0}
    for law in laws:
        longer: dict[Multiset, float] = {}
        for held, log_p in sums.items():
            for x, log_q in law.items():
                k = place[x]
                more = (*held[:k], held[k] + 1, *held[k + 1 :])
                longer[more] = float(np.logaddexp(longer.get(more, -math.inf), log_p + log_q))
        if len(longer) > _MOST:
            raise BudgetExceeded(f"a shuffled list has more than {_MOST} multisets")
        sums = longer
    multisets = [[x for x, times in zip(values, held, strict=True) for _ in range(times)] for held in sums]
    return _Counted(places, multisets, list(sums.values())), error + 1e-15 * len(laws) * len(values)
