"""Whole-number sums that share their noise, such as how many of n people gave each answer, as joint outcomes.

Every person's answer adds to several counts at once, and 3^n combinations of answers lead to a few counts. The people are
independent: the joint law of the counts is summed person by person, and each outcome is a path with constants.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from dpest.errors import BudgetExceeded, ExactRefused
from dpest.exact.inference.own_draws import has_few_points, in_conditions, outcomes_of
from dpest.lang.nodes import TRUTHS, Linear, Node, draws_of, is_node, is_whole_as_written, linear, selected
from dpest.lang.points import listed_points
from dpest.lang.sharing import sharing_noise
from dpest.numerics.logspace import HALF_GRAIN
from dpest.numerics.rationals import exact
from dpest.trace.explore import Path, Trace
from dpest.trace.one_of import one_of
from dpest.trace.outputs import Flat

_FEW = 8  # combinations of points: so many are followed one by one as quickly
_MOST = 4096  # joint outcomes: more paths than that are no shorter way
JointOutcome = tuple[int, ...]
JointLaw = dict[JointOutcome, float]  # ln of the probability of each joint outcome


@dataclass(frozen=True)
class _Sum:
    """A whole number that is a sum of values with few points, and what the program makes of it."""

    whole: Linear
    made: Callable[[int], Any]


def with_joint_sums(traced: Trace) -> Trace:
    """The same law, with the joint outcomes of sums that share their noise in place of the combinations of their terms."""
    found = [_path(path) for path in traced.paths]
    error = max((off for _, off in found), default=0.0)
    return replace(traced, paths=tuple(p for paths, _ in found for p in paths), error=traced.error + error) if error else traced


def _path(path: Path) -> tuple[list[Path], float]:
    random = {k: leaf for k, leaf in enumerate(path.output.leaves) if is_node(leaf)}
    sums = {k: s for k, leaf in random.items() if len(random) > 1 and (s := _as_sum(leaf)) is not None}
    if len(sums) < 2:
        return [path], 0.0
    others = {id(d) for k, x in enumerate(path.output.leaves) if k not in sums for d in draws_of(x)} | in_conditions(path)
    paths, error = [path], 0.0
    for places in _sharing(sums):
        groups = list(sharing_noise({id(n): n for k in places for n, _ in sums[k].whole.terms}.values()))
        own = not any(id(d) in others for group in groups for n in group for d in draws_of(n))
        many = min(len(places), len(groups)) > 1 and _combinations(groups) > _FEW
        law = _law([sums[k].whole for k in places], groups) if own and many else None
        if law is not None:
            paths = [q for p in paths for q in _paths(p, places, [sums[k] for k in places], law[0])]
            error += law[1]
    return paths, error


def _as_sum(leaf: Node) -> _Sum | None:
    """The whole number behind an output; the rest of its formula is done by the program's own arithmetic."""
    if isinstance(leaf, TRUTHS):
        return None
    if is_whole_as_written(leaf):
        whole = linear(leaf)
        return _Sum(whole, lambda k: k) if all(has_few_points(n) for n, _ in whole.terms) else None
    if not isinstance(leaf, Linear) or leaf.written is None or leaf.written[0] is selected:
        return None
    function, operands = leaf.written
    random = [k for k, x in enumerate(operands) if is_node(x)]
    inner = _as_sum(operands[random[0]]) if len(random) == 1 else None
    return None if inner is None else _Sum(inner.whole, partial(_applied, function, operands, random[0], inner.made))


def _applied(function: Callable[..., Any], operands: Sequence[Any], place: int, made: Callable[[int], Any], k: int) -> Any:
    return function(*operands[:place], made(k), *operands[place + 1 :])


def _sharing(sums: dict[int, _Sum]) -> list[list[int]]:
    """The sums (by their places in the output) that share noise with each other."""
    places: dict[int, list[int]] = {}
    for k, s in sums.items():
        places.setdefault(id(s.whole), []).append(k)
    wholes = {id(s.whole): s.whole for s in sums.values()}.values()
    return [[k for whole in group for k in places[id(whole)]] for group in sharing_noise(wholes)]


def _combinations(groups: Sequence[Sequence[Node]]) -> int:
    return math.prod(max(len(listed_points(n) or ()) for n in group) for group in groups)


def _law(sums: Sequence[Linear], groups: Sequence[list[Node]]) -> tuple[JointLaw, float] | None:
    """The joint law of the sums, and how far its logarithms may be off; None where the outcomes are too many."""
    law: JointLaw = {tuple(int(s.constant) for s in sums): 0.0}
    error, roundings = 0.0, 0
    for group in groups:
        try:
            outcomes, off = outcomes_of(group)
        except (BudgetExceeded, ExactRefused):
            return None
        steps: JointLaw = {}
        for values, log_p in outcomes.items():
            _add(steps, tuple(_part(s, group, values) for s in sums), log_p)
        error, roundings = error + off, roundings + 2 + 2 * len(steps)
        longer: JointLaw = {}
        for held, log_p in law.items():
            for step, log_q in steps.items():
                _add(longer, tuple(map(int.__add__, held, step)), log_p + log_q)
        if len(longer) > _MOST:
            return None
        law = longer
    size = max(map(abs, law.values()))  # logarithms are rounded relative to their size, which only grows
    return law, error + HALF_GRAIN * (1 + size) * roundings


def _part(whole: Linear, group: Sequence[Node], values: Sequence[Any]) -> int:
    """What the terms of one group add to a sum."""
    of = {id(n): exact(x) for n, x in zip(group, values, strict=True)}
    return int(sum((c * of[id(n)] for n, c in whole.terms if id(n) in of), exact(0)))


def _add(law: JointLaw, key: JointOutcome, log_p: float) -> None:
    """Adds a probability to a key's."""
    held = law.get(key, -math.inf)
    high, low = (held, log_p) if held > log_p else (log_p, held)
    law[key] = high + math.log1p(math.exp(low - high)) if low > -math.inf else high


def _paths(path: Path, places: Sequence[int], sums: Sequence[_Sum], law: JointLaw) -> Iterator[Path]:
    """A path for each joint outcome."""
    draw, conditions = one_of(list(law.values()), "joint outcomes")
    for vector, told in zip(law, conditions, strict=True):
        leaves = list(path.output.leaves)
        for k, s, number in zip(places, sums, vector, strict=True):
            leaves[k] = s.made(number)
        output = Flat(path.output.structure, tuple(leaves))
        yield replace(path, output=output, conditions=(*path.conditions, *told), drawn=(*path.drawn, draw))
