"""Values that alone use their noise, as draws of their own: a sum of thirty of them is then a convolution, not 2^30 cases.

`x if bernoulli(p) else 1 - x`, or whether `x + laplace(1)` exceeds a bound, has a few points with a probability each. Where no
other output and no condition shares its noise, nothing can tell it from one draw with these points.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpest.errors import BudgetExceeded, ExactRefused
from dpest.exact.inference.cases import Constant, conditions_case, expand
from dpest.exact.inference.component import components
from dpest.exact.inference.eliminate import eliminate
from dpest.lang.behind import hidden_draws
from dpest.lang.nodes import Draw, Linear, Node, ancestors, draws_of
from dpest.lang.origins import root
from dpest.lang.points import listed_points
from dpest.lang.sharing import sharing_noise
from dpest.lang.substitute import substituted
from dpest.laws.discrete import Atoms
from dpest.numerics.logspace import log_sum
from dpest.numerics.rationals import Rational, common_measure, exact, is_number
from dpest.trace.explore import Path, Trace
from dpest.trace.literal import Literal
from dpest.trace.outputs import Flat
from dpest.trace.rounds import Loop

_MOST_POINTS = 64  # of one value: sums of values with more points are for the convolution of laws
_MOST_STEPS = 1 << 20  # from the first to the last point; finer lattices are not summed but listed
_ROUNDING = 1e-15  # relative, of a probability that is given in closed form


def with_own_draws(traced: Trace) -> Trace:
    """The same law, with a draw of its own in place of every value in a sum that alone uses its noise."""
    paths, errors = [], [0.0]
    for path in traced.paths:
        changed, error = _changed(path)
        paths.append(changed)
        errors.append(error)
    return replace(traced, paths=tuple(paths), error=traced.error + max(errors)) if max(errors) else traced


def _changed(path: Path) -> tuple[Path, float]:
    candidates = _candidates(path.nodes)
    if not candidates:
        return path, 0.0
    used = in_conditions(path) | elsewhere(path.output.leaves, {id(x) for x in candidates})
    known: dict[int, Any] = {}
    gone: dict[int, Draw | None] = {}  # by the id of a draw: what stands for it and for those that it is used with
    error = 0.0
    for group in sharing_noise(candidates):
        if any(id(d) in used for x in group for d in draws_of(x)):
            continue
        found = _as_draw(group)
        if found is not None:
            known.update((id(x), new) for x, new in zip(group, found.values, strict=True))
            gone.update((id(d), found.draw) for x in group for d in draws_of(x))
            error += found.error
    if not known:
        return path, 0.0
    leaves = tuple(substituted(x, known) for x in path.output.leaves)
    drawn = dict.fromkeys(gone.get(id(d), d) for d in path.drawn)
    return replace(path, output=Flat(path.output.structure, leaves), drawn=tuple(d for d in drawn if d is not None)), error


def in_conditions(path: Path) -> set[int]:
    """The draws in the conditions of a path and of its loops, and those that decide how an output is rounded."""
    literals = [*path.conditions, *(x for loop in path.loops for x in _around(loop))]
    rounding = {id(d) for x in path.output.leaves for d in hidden_draws(x)}
    return {id(root(d)) for x in literals for d, _ in x.terms} | rounding


def _around(loop: Loop) -> Iterator[Literal]:
    """The conditions of every way around a loop, and around those inside it."""
    for cycle in loop.cycles:
        yield from cycle.literals
        for inner in cycle.loops:
            yield from _around(inner)


def _candidates(nodes: Sequence[Node]) -> list[Node]:
    """The terms of sums, other than draws, that have few points."""
    found: dict[int, Node] = {}
    for node in nodes:
        if isinstance(node, Linear) and len(node.terms) > 1:
            for term, _ in node.terms:
                if not isinstance(term, Draw) and id(term) not in found and has_few_points(term):
                    found[id(term)] = term
    return list(found.values())


def has_few_points(node: Node) -> bool:
    """Whether a value can be one of a few numbers only."""
    points = listed_points(node)
    return points is not None and len(points) <= _MOST_POINTS


def elsewhere(leaves: Sequence[Any], candidates: set[int]) -> set[int]:
    """The draws that the outputs use in any other way."""
    return {id(node) for node in ancestors(*leaves, without=candidates) if isinstance(node, Draw)}


@dataclass(frozen=True)
class _OwnDraws:
    """What stands for each value of a group, the draw in it, and the relative error of the probabilities."""

    values: list[Any]
    draw: Draw | None
    error: float


def _as_draw(group: list[Node]) -> _OwnDraws | None:
    """One draw for values that share noise: any number of values with two outcomes together, or a single one with more."""
    try:
        outcomes, error = outcomes_of(group)
    except (BudgetExceeded, ExactRefused):
        return None
    points = list(outcomes)
    if len(points) > 2 and len(group) > 1:
        return None
    if len(points) == 1:
        return _OwnDraws(list(points[0]), None, error)
    if len(points) == 2:
        draw = Draw(Atoms((0.0, 1.0), tuple(outcomes[p] for p in points), "a value with two points"))
        pairs = [(exact(a), exact(b)) for a, b in zip(*points, strict=True)]
        return _OwnDraws([_affine(draw, a, b - a) for a, b in pairs], draw, error)
    found = _on_lattice({exact(x): log_p for (x,), log_p in outcomes.items()})
    if found is None:
        return None
    draw = Draw(found[0])
    return _OwnDraws([_affine(draw, found[1], found[2])], draw, error)


def _affine(draw: Draw, start: Rational, step: Rational) -> Any:
    if not step:
        return int(start) if start.denominator == 1 else float(start)
    return Linear(((draw, step),), start)


def _on_lattice(logs: dict[Rational, float]) -> tuple[Atoms, Rational, Rational] | None:
    """The law in steps of a lattice, its first point, and the step."""
    points = sorted(logs)
    step = common_measure(x - points[0] for x in points)
    if (points[-1] - points[0]) / step > _MOST_STEPS:
        return None
    steps = tuple(float((x - points[0]) / step) for x in points)
    return Atoms(steps, tuple(logs[x] for x in points), f"a value with {len(points)} points"), points[0], step


def outcomes_of(group: list[Node]) -> tuple[dict[tuple[Any, ...], float], float]:
    """ln of the probability of each joint outcome, and how far off it may be."""
    cases = expand(group, (), range(len(group)), range(len(group)))
    if len(cases) > _MOST_POINTS:
        raise BudgetExceeded("a value in a sum has too many cases to be a draw of its own")
    logs: dict[tuple[Any, ...], list[float]] = {}
    error = _ROUNDING
    for case in cases:
        values = tuple(x.value for x in case.values if isinstance(x, Constant))
        if len(values) < len(group) or not all(map(is_number, values)):
            raise ExactRefused("a value in a sum is not a number")
        total = 0.0
        for placed in components(conditions_case(case.literals)):
            found, off = eliminate(placed.component).log(np.empty((1, 0)))
            total += float(found[0])
            error += float(np.max(off))
        if total > -math.inf:
            logs.setdefault(values, []).append(total)
    return {k: float(log_sum(np.array(v))) for k, v in logs.items()}, error


def with_values(path: Path, found: Mapping[int, tuple[Node, Linear]]) -> Path:
    """The path with other expressions, of draws of their own, in place of nodes (by id) whose draws nothing else uses."""
    used = in_conditions(path) | elsewhere(path.output.leaves, set(found)) if found else set()
    times = Counter(id(d) for node, _ in found.values() for d in draws_of(node))
    known: dict[int, Any] = {}
    gone: set[int] = set()
    for node, value in found.values():
        own = {id(d) for d in draws_of(node)}
        joined = {id(root(d)) for d in draws_of(node)}  # a condition may be about noise that is made of several
        if not (own | joined) & used and all(times[i] == 1 for i in own):
            known[id(node)] = value
            gone |= own
    return replaced(path, known, gone, draws_of(*known.values())) if known else path


def replaced(path: Path, known: Mapping[int, Any], gone: set[int], new: Sequence[Draw]) -> Path:
    """The path with other values in place of nodes (by id), and with the draws that they are made of."""
    leaves = tuple(substituted(x, dict(known)) for x in path.output.leaves)
    drawn = (*(d for d in path.drawn if id(d) not in gone), *new)
    return replace(path, output=Flat(path.output.structure, leaves), drawn=drawn)
