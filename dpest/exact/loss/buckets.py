"""Pairs the paths of two traces: buckets of equal constants, and in each the groups of outputs that share noise.

    program pair -> buckets (the same constants at the same places)
      -> groups of outputs that share no noise -> strata (the same shape) -> blocks of independent coordinates

Losses add over blocks and groups, per direction; over strata and buckets the largest counts.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dpest.exact.inference.case_check import check_cases
from dpest.exact.inference.cases import Expansion, expand, expansion_key, pinned_leaves
from dpest.exact.inference.component import Placed
from dpest.exact.inference.stars import condition_components
from dpest.exact.inference.symmetry import classes, signatures
from dpest.exact.loss.blocks import Measures
from dpest.exact.loss.redundant import redundant, surely_real
from dpest.exact.loss.strata import ANY, REAL, Stratum, constant_stratum, strata
from dpest.exact.loss.undone import Taken
from dpest.lang.nodes import is_node
from dpest.lang.origins import root
from dpest.numerics.links import Links
from dpest.trace.columns import constant_key
from dpest.trace.explore import Path, Trace
from dpest.trace.literal import Literal
from dpest.trace.texts import check_apart


@dataclass(frozen=True, eq=False)
class Group:
    """Outputs that share noise with each other and with nothing else."""

    strata: tuple[Stratum, ...]
    positions: tuple[int, ...] = ()  # of the outputs
    complete: bool = True  # whether all assignments are listed: of exchangeable outputs, only sorted ones are


@dataclass(frozen=True, eq=False)
class Bucket:
    """The paths of both programs that return the same constants at the same places."""

    structure: Any
    constants: tuple[tuple[int, Any], ...]
    size: int
    groups: tuple[Group, ...]
    layers: Mapping[int, Taken] = field(default_factory=dict)  # functions that outputs are shown with


def buckets(left: Trace, right: Trace, measures: Measures) -> list[Bucket]:
    """Everything that either program can return, ready to be compared."""
    check_apart([p.output for p in (*left.paths, *right.paths)])
    open_positions = _open_positions([p for p in (*left.paths, *right.paths) if p.constants is None])
    keyed: dict[Any, tuple[list[Path], list[Path]]] = {}
    for side, trace in enumerate((left, right)):
        for path in trace.paths:
            keyed.setdefault(_bucket_key(path, open_positions), ([], []))[side].append(path)
    return [_bucket(keys, p, q, measures) for (_, keys), (p, q) in keyed.items()]


def _open_positions(paths: Sequence[Path]) -> set[tuple[Any, int]]:
    """Places where some path returns a random value that may turn out to be a constant."""
    return {
        (path.output.structure, i)
        for path in paths
        for i, x in enumerate(path.output.leaves)
        if is_node(x) and not surely_real(x)
    }


def _bucket_key(path: Path, open_positions: set[tuple[Any, int]]) -> Any:
    structure = path.output.structure
    if path.constants is not None and not open_positions:
        return structure, path.constants
    keys: list[tuple[Any, ...]] = []
    for i, x in enumerate(path.output.leaves):
        if (structure, i) in open_positions:
            keys.append((ANY,))
        else:
            keys.append((REAL,) if is_node(x) else ("=", constant_key(x)))
    return structure, tuple(keys)


def _bucket(keys: tuple[tuple[Any, ...], ...], left: list[Path], right: list[Path], measures: Measures) -> Bucket:
    some = (left or right)[0]
    if len(left) <= 1 and len(right) <= 1 and _all_fixed(keys):
        p, q = ([_conditions(path, measures) for path in side] for side in (left, right))
        alone = constant_stratum(p, q, measures)
        return Bucket(some.output.structure, tuple(enumerate(some.output.leaves)), len(keys), (Group((alone,)),))
    leaves = [p.output.leaves for p in (*left, *right)]
    loose = [i for i, key in enumerate(keys) if key[0] != "="]
    varying = [i for i in loose if any(is_node(x[i]) or not _equal(x[i], leaves[0][i]) for x in leaves)]
    told = redundant([*left, *right], varying)
    varying = [i for i in varying if i not in told]
    constants = tuple((i, told.get(i, x)) for i, x in enumerate(leaves[0]) if i not in varying)
    single = len(left) <= 1 and len(right) <= 1
    groups = _single(left, right, varying, measures) if single else [_group(left, right, varying, None, measures)]
    return Bucket(some.output.structure, constants, len(leaves[0]), tuple(groups))


def _all_fixed(keys: tuple[tuple[Any, ...], ...]) -> bool:
    return all(key[0] == "=" for key in keys)


def _conditions(path: Path, measures: Measures) -> list[Placed]:
    """The components of a path's conditions; a path that takes part in several pairs is split once."""
    return measures.once(("path", id(path)), path, lambda: condition_components(path.conditions, path.loops, measures.spokes))


def _equal(a: Any, b: Any) -> bool:
    return not is_node(a) and not is_node(b) and bool(constant_key(a) == constant_key(b))


def _single(left: list[Path], right: list[Path], varying: list[int], measures: Measures) -> list[Group]:
    """One path on either side: outputs that share no noise are groups of their own, and so are the bare conditions."""
    groups: list[set[int]] = [{i} for i in varying]
    for path in (*left, *right) if varying else ():
        link = _links(path, measures).copy()
        for i in varying:
            link.join([("leaf", i), *(id(d) for d in path.draws[i])])
        groups = _merged(groups, {i: link.root(("leaf", i)) for i in varying})
    out = [_group(left, right, sorted(g), g, measures) for g in groups]
    return [*out, _group(left, right, [], set(), measures)]


def _links(path: Path, measures: Measures) -> Links:
    """The draws of a path, joined where a condition compares them; worked out once for each path."""

    def joined() -> Links:
        link = Links()
        for x in path.conditions:
            link.join([id(root(d)) for d, _ in x.terms])
        return link

    return measures.once(("links", id(path)), path, joined)


def _merged(groups: list[set[int]], owner: dict[int, Hashable]) -> list[set[int]]:
    out: list[set[int]] = []
    for g in groups:
        marks = {owner[i] for i in g}
        touching = [h for h in out if marks & {owner[i] for i in h}]
        out = [h for h in out if h not in touching] + [g.union(*touching)]
    return out


def _group(left: list[Path], right: list[Path], positions: list[int], alone: set[int] | None, measures: Measures) -> Group:
    """The strata of some outputs; `alone` says that only conditions that touch them (or none) belong here."""
    sides = []
    exchange: list[int] = list(range(len(positions)))
    if alone is not None and len(positions) > 1 and left and right:
        marks = [_signatures(p[0], positions, measures) for p in (left, right)]
        exchange = classes(marks[0], marks[1])
    pins = tuple(sorted({i for path in (*left, *right) for i in _pins(path, positions)}))
    for paths in (left, right):
        cases: list[Expansion] = []
        for path in paths:
            cases.extend(_cases(path, positions, exchange, pins, alone is None, measures))
        sides.append(cases)
    found = strata(sides[0], sides[1], positions, exchange, measures)
    return Group(tuple(found), tuple(positions), _all_differ(exchange))


def _all_differ(exchange: Sequence[int]) -> bool:
    return len(set(exchange)) == len(exchange)


def _signatures(path: Path, positions: list[int], measures: Measures) -> list[Any]:
    """What the outputs look like up to their private draws; worked out once for each path."""

    def marks() -> list[Any]:
        return signatures([path.output.leaves[i] for i in positions], [path.draws[i] for i in positions], path.conditions)

    return measures.once(("signatures", id(path), tuple(positions)), path, marks)


def _pins(path: Path, positions: list[int]) -> set[int]:
    """Which of the outputs must be told apart point by point, since they share noise with one that has a density."""
    return pinned_leaves([path.draws[i] for i in positions], path.conditions) if len(positions) > 1 else set()


def _cases(
    path: Path, positions: list[int], exchange: list[int], pins: tuple[int, ...], whole: bool, measures: Measures
) -> list[Expansion]:
    """The cases of some outputs on one path; a path that takes part in several pairs is expanded once."""

    def named() -> list[Expansion]:
        literals = path.conditions if whole else _touching(path, positions, measures)
        loops = path.loops if whole or not positions else ()  # a loop's weight goes with the conditions that no output touches
        leaves = [path.output.leaves[i] for i in positions]

        def expanded() -> list[Expansion]:
            found = expand(leaves, literals, exchange, pins, loops, ratios=True)
            if any(map(is_node, leaves)) and not path.loops:
                check_cases(leaves, literals, found, complete=_all_differ(exchange))
            return found

        return measures.once(expansion_key(leaves, literals, exchange, pins, loops), (leaves, literals, loops), expanded)

    return measures.once(("cases", id(path), tuple(positions), tuple(exchange), pins, whole), path, named)


def _touching(path: Path, positions: list[int], measures: Measures) -> list[Literal]:
    """The conditions that share noise with the outputs at these positions; with none, those that no output touches."""
    if not any(map(is_node, path.output.leaves)):
        return [] if positions else list(path.conditions)
    link = _links(path, measures)
    chosen = positions or [i for i, x in enumerate(path.output.leaves) if is_node(x)]
    roots = {link.root(id(d)) for i in chosen for d in path.draws[i]}
    return [x for x in path.conditions if (link.root(id(root(x.terms[0][0]))) in roots) == bool(positions)]
