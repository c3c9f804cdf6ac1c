"""Cases that are every combination of those of single outputs: k steps of which each has two cases are k blocks, not 2^k cases.

The density of some outputs is a sum over cases of a product of components. Components that no output touches are weights.
Where changing the case of one output changes the weights by the same factors whatever the cases of the others are, and every
combination is there, the sum is a product of sums. Weights are compared as they are made, not as numbers.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product

from dpest.exact.inference.component import Parts, Placed
from dpest.numerics.links import Links

_Cases = tuple[tuple[Parts, int], ...]
_Members = tuple[int, ...]
_Powers = Mapping[Placed, int]
_MOST_PAIRS = 20_000  # combinations of two outputs' cases that are looked at: a tenth of a second


@dataclass(frozen=True)
class BlockCases:
    """Some coordinates (none, for weights that all cases have) and their own cases under either input."""

    members: _Members
    left: _Cases
    right: _Cases


@dataclass(frozen=True)
class _Weight:
    """How often a combination is there, and the components that it is weighted with."""

    count: int
    powers: _Powers

    def over(self, other: _Weight) -> tuple[Fraction, frozenset[tuple[Placed, int]]]:
        """The quotient of two weights, as a number and the powers of components."""
        changed = {p: k - other.powers.get(p, 0) for p, k in self.powers.items()}
        changed |= {p: -k for p, k in other.powers.items() if p not in self.powers}
        return Fraction(self.count, other.count), frozenset((p, k) for p, k in changed.items() if k)


_WeightTable = dict[tuple[Parts, ...], _Weight]


def combined_blocks(
    left: Sequence[list[Placed]], right: Sequence[list[Placed]], groups: Sequence[_Members]
) -> list[BlockCases] | None:
    """The parts that the coordinates of some groups fall into under both inputs; None where they are one."""
    if len(groups) < 2 or not left or not right:
        return None
    links = Links()
    for cases in (left, right):
        table = _table(cases, groups)
        if table is None or not _join_dependent(table, links):
            return None
    joined: dict[Hashable, list[int]] = {}
    for j, members in enumerate(groups):
        joined.setdefault(links.root(j), []).extend(members)
    if len(joined) < 2:
        return None
    parts = [tuple(sorted(members)) for members in joined.values()]
    found = [_factors(cases, parts) for cases in (left, right)]
    if found[0] is None or found[1] is None:
        return None
    return [BlockCases(m, p, q) for m, p, q in zip([*parts, ()], found[0], found[1], strict=True)]


def restricted(case: Iterable[Placed], block: _Members) -> Parts:
    """The components of a case on some coordinates, which are counted from 0."""
    index = {j: i for i, j in enumerate(block)}
    inside = [p for p in case if p.outputs and set(p.outputs) <= set(block)]
    return frozenset(Counter(Placed(p.component, tuple(index[j] for j in p.outputs)) for p in inside).items())


def _table(cases: Sequence[list[Placed]], groups: Sequence[_Members]) -> _WeightTable | None:
    """The weight of each combination; None where one has several."""
    out: _WeightTable = {}
    for case in cases:
        powers = Counter(p for p in case if not p.outputs)
        key = tuple(restricted(case, g) for g in groups)
        known = out.get(key)
        if known is not None and known.powers != powers:
            return None
        out[key] = _Weight(1 if known is None else known.count + 1, powers)
    return out


def _options(table: _WeightTable) -> list[list[Parts]]:
    return [list(dict.fromkeys(column)) for column in zip(*table, strict=True)]


def _join_dependent(table: _WeightTable, links: Links) -> bool:
    """Joins groups whose weights change together; False where that is too much work."""
    base, options = next(iter(table)), _options(table)
    if sum(len(a) * len(b) for a, b in combinations(options, 2)) > _MOST_PAIRS:
        return False
    for i, j in combinations(range(len(base)), 2):
        if not all(_apart(table, base, (i, a), (j, b)) for a, b in product(options[i], options[j])):
            links.join([i, j])
    return True


def _apart(table: _WeightTable, base: tuple[Parts, ...], one: tuple[int, Parts], other: tuple[int, Parts]) -> bool:
    """Whether one change leads to the same factors before and after another one."""
    found = [table.get(_with(base, *changes)) for changes in ((one,), (other,), (one, other))]
    if found[0] is None or found[1] is None or found[2] is None:
        return False
    return found[2].over(found[1]) == found[0].over(table[base])


def _with(base: tuple[Parts, ...], *changes: tuple[int, Parts]) -> tuple[Parts, ...]:
    out = list(base)
    for j, option in changes:
        out[j] = option
    return tuple(out)


def _factors(cases: Sequence[list[Placed]], parts: Sequence[_Members]) -> list[_Cases] | None:
    """The cases of each part, and last the weight that all have; None where the sum is no product of these."""
    table = _table(cases, parts)
    if table is None:
        return None
    base, options = next(iter(table)), _options(table)
    if len(table) != math.prod(map(len, options)):
        return None
    changes = [{o: table[_with(base, (j, o))].over(table[base]) for o in column} for j, column in enumerate(options)]
    for key, weight in table.items():
        if weight.over(table[base]) != _product(c[o] for c, o in zip(changes, key, strict=True)):
            return None
    out: list[_Cases] = []
    count, powers = Fraction(table[base].count), Counter(table[base].powers)
    for change in changes:
        least = _least([dict(p) for _, p in change.values()])
        unit = Fraction(1, math.lcm(*(r.denominator for r, _ in change.values())))
        count *= unit
        powers.update(least)
        out.append(tuple((o | _without(p, least), int(r / unit)) for o, (r, p) in change.items()))
    common = frozenset((p, k) for p, k in powers.items() if k)
    return [*out, ((common, int(count)),)] if count.denominator == 1 else None


def _product(weights: Iterable[tuple[Fraction, frozenset[tuple[Placed, int]]]]) -> tuple[Fraction, frozenset[tuple[Placed, int]]]:
    total, powers = Fraction(1), Counter[Placed]()
    for ratio, changed in weights:
        total *= ratio
        powers.update(dict(changed))
    return total, frozenset((p, k) for p, k in powers.items() if k)


def _least(powers: Sequence[dict[Placed, int]]) -> dict[Placed, int]:
    """The lowest power of each component: what all of them have in common."""
    return {p: min(x.get(p, 0) for x in powers) for p in {p for x in powers for p in x}}


def _without(powers: Iterable[tuple[Placed, int]], least: dict[Placed, int]) -> Parts:
    own = dict(powers)
    return frozenset((p, k) for p in least if (k := own.get(p, 0) - least[p]))
