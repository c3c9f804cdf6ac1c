"""The two laws on one independent block of output coordinates, as functions that can be evaluated and compared."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property

import numpy as np
import numpy.typing as npt

from dpest.errors import BudgetExceeded
from dpest.exact.inference.component import Component, Parts, Placed
from dpest.exact.inference.eliminate import Measure, eliminate, eliminate_together
from dpest.exact.inference.expressions import Expr, expr
from dpest.exact.inference.factors import Factor
from dpest.exact.inference.stars import Spokes
from dpest.exact.loss.combinations import restricted
from dpest.numerics.logspace import HALF_GRAIN, Floats, log_sum, log_sum_error
from dpest.numerics.memo import Memo

MOST_POINTS = 400_000  # lattice points of a joint output: some 10 MB for both laws


class CoordinateKind(Enum):
    """What a coordinate of an output can be."""

    REAL = "real"
    LATTICE = "lattice"


class Measures(Memo):
    """Eliminated components, and answers about pairs of laws, each worked out once."""

    def __init__(self) -> None:
        super().__init__()
        self.known: dict[Component, Measure] = {}
        self.spokes: Spokes = {}

    def of(self, component: Component) -> Measure:
        """The component's measure on its outputs."""
        found = self.known.get(component)
        if found is None:
            found = self.known[component] = eliminate(component)
        return found

    def prepare(self, components: Iterable[Component]) -> None:
        """Works out what will be asked for, as far as it is quicker together."""
        self.known.update(eliminate_together([c for c in components if c not in self.known]))

    def forget(self) -> None:
        """Lets go of everything."""
        super().forget()
        self.known.clear()
        self.spokes.clear()


_FEW_ROWS = 64  # up to here looking for equal ones is not worth it


def _distinct(rows: Floats) -> tuple[Floats, npt.NDArray[np.intp]]:
    """The different rows, and which of them each row is; whole numbers in one column need no sorting."""
    if rows.shape[1] == 0:
        return rows[:1], np.zeros(len(rows), np.intp)
    if rows.shape[1] == 1:
        column = rows[:, 0]
        low, high = float(column.min()), float(column.max())
        if high - low < len(column) and np.all(column == np.floor(column)):
            return np.arange(low, high + 1)[:, None], (column - low).astype(np.intp)
        one, of_one = np.unique(column, return_inverse=True)  # numbers are sorted much faster than rows
        return one[:, None], of_one
    found, of_row = np.unique(rows, axis=0, return_inverse=True)
    return found, of_row.ravel()


class _Places:
    """Rows of outputs, as the components see them: of points on a grid, those that differ in other coordinates only are one."""

    def __init__(self, y: Floats) -> None:
        self.y = y
        self._distinct: dict[tuple[int, ...], tuple[Floats, npt.NDArray[np.intp]]] = {}

    def log(self, measure: Measure, outputs: tuple[int, ...]) -> tuple[Floats, Floats]:
        """ln of a measure of some coordinates at every row, and how far it may be off."""
        if len(outputs) == self.y.shape[1] or len(self.y) <= _FEW_ROWS:
            return measure.log(self._own(outputs))
        if outputs not in self._distinct:
            self._distinct[outputs] = _distinct(self._own(outputs))
        rows, of_row = self._distinct[outputs]
        logs, errors = measure.log(rows)
        return logs[of_row], np.broadcast_to(errors, logs.shape)[of_row]

    def _own(self, outputs: tuple[int, ...]) -> Floats:
        return self.y[:, list(outputs)] if outputs else np.empty((len(self.y), 0))


def _finite(sizes: Floats) -> Floats:
    return np.where(np.isfinite(sizes), sizes, 0.0)


def _sum_of(cases: list[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    """ln of the sum of all cases at each place, and how far it may be off: what each case is off counts by its share."""
    whole = log_sum(np.stack([total for total, _ in cases], axis=1), axis=1)
    known = np.where(whole > -np.inf, whole, np.inf)
    off = np.full(len(whole), log_sum_error(len(cases)))
    for total, error in cases:
        off += np.exp(total - known) * (error + 2 * HALF_GRAIN * _finite(np.abs(total)))
    return whole, off


@dataclass(frozen=True, eq=False)
class BlockLaw:
    """One law on a block: a sum over cases of products of components."""

    cases: tuple[tuple[Parts, int], ...]
    measures: Measures = field(repr=False)

    def log(self, y: Floats) -> tuple[Floats, Floats]:
        """ln of the density (or probability) at each row of y, and bounds on their relative errors."""
        if not self.cases:
            return np.full(y.shape[0], -np.inf), np.zeros(y.shape[0])
        places = _Places(y)
        cases = [self._product(parts, count, places) for parts, count in self.cases]
        return cases[0] if len(cases) == 1 else _sum_of(cases)

    def _product(self, parts: Parts, count: int, places: _Places) -> tuple[Floats, Floats]:
        """One case: ln of the product of its components, and how far it may be off."""
        total, error = np.full(len(places.y), math.log(count)), np.zeros(len(places.y))
        sizes = total
        for placed, times in parts:
            logs, e = places.log(self.measures.of(placed.component), placed.outputs)
            total, error, sizes = total + times * logs, error + times * e, sizes + times * np.abs(logs)
        return total, error if len(parts) < 2 else error + HALF_GRAIN * len(parts) * _finite(sizes)

    @cached_property
    def impossible(self) -> bool:
        """Whether every case contradicts itself."""
        return all(any(self.measures.of(p.component).impossible for p, _ in parts) for parts, _ in self.cases)

    @cached_property
    def log_total(self) -> float:
        """ln of the probability that any output of the block comes about: its conditions, without what is released."""
        totals = []
        for parts, count in self.cases:
            total = math.log(count)
            for placed, times in parts:
                total += times * self._log_any(placed.component)
            totals.append(total)
        return float(log_sum(np.array(totals)))

    def _log_any(self, component: Component) -> float:
        bounds = frozenset(b for b in component.bounds if all(v >= 0 for v, _ in b.expression.terms))
        folded = frozenset((f, k) for f, k in component.folded if all(v >= 0 for v in f.scope))
        bare = replace(component, bounds=bounds, folded=folded, equations=frozenset(), wholes=frozenset(), outputs=0)
        return float(self.measures.of(bare).log(np.empty((1, 0)))[0][0])

    @cached_property
    def log_floor(self) -> float:
        """The log density below which nothing is claimed."""
        floors = [self.measures.of(p.component).log_floor for parts, _ in self.cases for p, _ in parts]
        return max(floors, default=-math.inf)

    @property
    def conditions(self) -> int:
        """How many conditions its cases have together."""
        parts = [(placed.component, times) for parts, _ in self.cases for placed, times in parts]
        return sum(times * (len(c.bounds) + sum(k for _, k in c.folded)) for c, times in parts)

    def weights(self) -> Iterator[Component]:
        """The components that have no output."""
        return (placed.component for parts, _ in self.cases for placed, _ in parts if not placed.outputs)

    def factors(self) -> Iterator[Factor]:
        """The factors that the law is made of."""
        for parts, _ in self.cases:
            for placed, _ in parts:
                yield from self.measures.of(placed.component).factors

    def kinks(self) -> list[Expr]:
        """Hyperplanes in the block's coordinates across which the density need not be smooth."""
        out = []
        for parts, _ in self.cases:
            for placed, _ in parts:
                names = {-1 - i: -1 - j for i, j in enumerate(placed.outputs)}
                for k in self.measures.of(placed.component).kinks():
                    out.append(expr(((names[v], c) for v, c in k.terms), k.constant))
        return out

    @cached_property
    def key(self) -> frozenset[tuple[Parts, int]]:
        """Equal for sides that are the same law."""
        return frozenset(self.cases)


class IntegratedLaw(BlockLaw):
    """A law whose density is an integral of its own, in which other methods find no factors and no hyperplanes."""

    def factors(self) -> Iterator[Factor]:
        """Nothing that other methods could use."""
        yield from ()

    def kinks(self) -> list[Expr]:
        """None that is a hyperplane."""
        return []


@dataclass(frozen=True, eq=False)
class Block:
    """Some output coordinates that are independent of all others, under both inputs."""

    kinds: tuple[CoordinateKind, ...]
    left: BlockLaw
    right: BlockLaw
    points: Callable[..., Floats] | None = None  # for a lattice: candidate points, one per row; `some=True` where they are many
    scale: float = 1.0  # the smallest of any law in it
    widest: float = 1.0  # the largest

    @property
    def dimension(self) -> int:
        return len(self.kinds)

    @cached_property
    def log_floor(self) -> float:
        """The log density below which nothing is claimed."""
        return max(self.left.log_floor, self.right.log_floor)

    @cached_property
    def equal(self) -> bool:
        """Whether the two laws are the same, case by case."""
        return self.left.key == self.right.key


def split_blocks(
    left: Sequence[list[Placed]], right: Sequence[list[Placed]]
) -> tuple[list[tuple[int, ...]], tuple[int, ...]]:
    """(common, rest): groups of coordinates that are independent of all others, and those on which cases differ.

    A group is common where every case of a law has the same part there: the sum over cases then leaves it a factor.
    """
    joined = connected([*left, *right])
    common = [b for b in joined if all(_same_everywhere(side, b) for side in (left, right))]
    rest = tuple(sorted(j for b in joined if b not in common for j in b))
    return common, rest


def connected(cases: Sequence[list[Placed]]) -> list[tuple[int, ...]]:
    """Groups of coordinates that share noise in some case."""
    groups: list[set[int]] = []
    for placed in itertools.chain.from_iterable(cases):
        if placed.outputs:
            touching = [g for g in groups if g & set(placed.outputs)]
            groups = [g for g in groups if g not in touching] + [set(placed.outputs).union(*touching)]
    return sorted(tuple(sorted(g)) for g in groups)


def _same_everywhere(cases: Sequence[list[Placed]], block: tuple[int, ...]) -> bool:
    return len({restricted(case, block) for case in cases}) <= 1


def _weights(case: list[Placed]) -> Parts:
    return frozenset(Counter(p for p in case if not p.outputs).items())


def common_side(cases: Sequence[list[Placed]], block: tuple[int, ...], measures: Measures) -> BlockLaw:
    """One law on a block on which all its cases agree."""
    return BlockLaw(((restricted(cases[0], block), 1),) if cases else (), measures)


def joint_side(cases: Sequence[list[Placed]], rest: tuple[int, ...], measures: Measures) -> BlockLaw:
    """One law on the coordinates on which its cases differ, with the weights of the cases."""
    if not rest and len(cases) == 1 and len(cases[0]) == 1 and not cases[0][0].outputs:  # one star of conditions
        return BlockLaw(((frozenset(((cases[0][0], 1),)), 1),), measures)
    found = Counter(restricted(c, rest) | _weights(c) for c in cases)
    return BlockLaw(tuple(found.items()), measures)


def product_points(columns: Sequence[Floats]) -> Floats:
    """All combinations of the coordinates' candidate values, one per row."""
    count = math.prod(len(c) for c in columns)
    if count > MOST_POINTS:
        raise BudgetExceeded(f"{count} lattice points of a joint output; at most {MOST_POINTS} are enumerated")
    grid = np.meshgrid(*columns, indexing="ij")
    return np.stack([g.ravel() for g in grid], axis=1) if columns else np.empty((1, 0))
