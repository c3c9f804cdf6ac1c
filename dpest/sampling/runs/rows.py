"""The rows of a sample that are on one path, and the values of graph nodes on them."""

from __future__ import annotations

import operator
from functools import reduce
from typing import Any, assert_never

import numpy as np

from dpest.errors import MechanismError, UnsupportedOperation
from dpest.lang.nodes import (
    NODES,
    All,
    Apply,
    ArgExtreme,
    Compare,
    Draw,
    Extreme,
    Function,
    Linear,
    Node,
    Not,
    Origin,
    Pick,
    Product,
    Quotient,
    Ranked,
    Relation,
    Rounded,
    Rounding,
    Where,
    is_node,
    selected,
)
from dpest.trace.columns import Rng, Values

_RELATIONS = {Relation.GE: np.greater_equal, Relation.GT: np.greater, Relation.EQ: np.equal}
_ROUNDINGS = {Rounding.FLOOR: np.floor, Rounding.CEIL: np.ceil, Rounding.ROUND: np.rint}
_NAMES = ("add", "sub", "mul", "truediv", "floordiv", "mod", "neg", "ge", "gt", "eq")
_VECTORISED = frozenset(getattr(operator, name) for name in _NAMES)  # what arrays compute as single numbers do
_PICKS = {Pick.MAX: np.maximum, Pick.MIN: np.minimum}


def on_lattice(x: Any) -> bool:
    """Whether a value is made of discrete draws, roundings, indices and truth values alone, so that ties have weight."""
    match x:
        case Draw(law=law):
            return law.discrete
        case Rounded() | ArgExtreme() | Ranked(place=True) | Compare() | Not() | All():
            return True
        case Linear(terms=terms):
            return all(on_lattice(n) for n, _ in terms)
        case Where(yes=yes, no=no):
            return on_lattice(yes) and on_lattice(no)
        case Extreme(values=values) | Ranked(values=values):
            return all(map(on_lattice, values))
        case Product(left=left, right=right) | Quotient(left=left, right=right):
            return on_lattice(left) and on_lattice(right)
        case Function(value=value):
            return on_lattice(value)
        case _:
            return not is_node(x)


class Rows:
    """Rows on one path: those of the parent where its condition had one outcome. Values are kept, and made when needed."""

    __slots__ = ("_index", "_kept", "_mask", "_outcome", "_parent", "rng", "size")

    def __init__(self, size: int, rng: Rng, parent: Rows | None, mask: Values | None, outcome: bool) -> None:
        self.size = size
        self.rng = rng
        self._parent = parent
        self._mask = mask
        self._outcome = outcome
        self._index: Values | None = None
        self._kept: dict[Node, Values] = {}

    @classmethod
    def start(cls, size: int, rng: Rng) -> Rows:
        """All rows, before any condition."""
        return cls(size, rng, None, None, True)

    def split(self, condition: Node) -> tuple[Rows, Rows | None, bool]:
        """The rows to go on with, the others (None where all agree), and the outcome for those that go on."""
        mask = self.value(condition)
        holds = int(np.count_nonzero(mask))
        if holds in (0, self.size):
            return self, None, holds > 0
        larger = 2 * holds >= self.size
        here = Rows(holds if larger else self.size - holds, self.rng, self, mask, larger)
        return here, Rows(self.size - here.size, self.rng, self, mask, not larger), larger

    def put(self, draw: Draw, number: float) -> None:
        """Give a draw one number on every row, instead of fresh ones."""
        self._kept[draw] = np.full(self.size, number)

    def forget_all_but(self, needed: frozenset[Node]) -> None:
        """Let go of values that nothing needs any more."""
        for node in [node for node in self._kept if node not in needed]:
            del self._kept[node]

    def value(self, node: Any) -> Values:
        """A node's value on each of these rows."""
        kept = self._found(node)
        if kept is not None:
            return kept
        computed = self._computed(node)
        if not isinstance(node, Compare | Not | All):
            self._kept[node] = computed
        return computed

    def _found(self, node: Node) -> Values | None:
        """The value made on these rows or on an earlier, larger set of them."""
        below: list[Rows] = []
        rows: Rows | None = self
        while rows is not None and node not in rows._kept:
            below.append(rows)
            rows = rows._parent
        if rows is None:
            return None
        values = rows._kept[node]
        for smaller in reversed(below):
            values = smaller._kept[node] = values.take(smaller._rows_of_parent())
        return values

    def _rows_of_parent(self) -> Values:
        if self._index is None:
            assert self._mask is not None
            self._index = np.flatnonzero(self._mask if self._outcome else ~self._mask)
        return self._index

    def _operand(self, x: Any) -> Any:
        return self.value(x) if isinstance(x, NODES) else x

    def _counted(self, x: Any) -> Any:
        """An operand of arithmetic; truth values count as 0 and 1."""
        values = self._operand(x)
        return values.astype(float) if isinstance(values, np.ndarray) and values.dtype == bool else values

    def _computed(self, node: Node) -> Values:
        written = node.written if isinstance(node, Linear | Compare | Rounded) else None
        # Where noise is continuous, ties have no weight, and the fewest passes over the rows are best.
        inner = node.value if isinstance(node, Compare | Rounded) else node
        if written is not None and written[0] in _VECTORISED and on_lattice(inner):
            # Such values meet bounds exactly: there the rounding of the author's own arithmetic decides.
            with np.errstate(all="ignore"):
                return np.asarray(written[0](*map(self._counted, written[1])))
        match node:
            case Draw(law=law, origin=origin):
                return law.sample(self.rng, self.size) if origin is None else self._image(origin)
            case Linear(written=(function, (condition, yes, no))) if function is selected:
                return np.asarray(np.where(self.value(condition), self._operand(yes), self._operand(no)))
            case Linear():
                return self._linear(node, float(node.constant))
            case Compare(relation=relation, value=value):
                truth: Values = _RELATIONS[relation](self._linear(value, 0.0), -float(value.constant))
                return truth
            case Not(value=value):
                return np.logical_not(self.value(value))
            case All(values=values):
                return np.asarray(reduce(np.logical_and, map(self.value, values)))
            case Where(condition=condition, yes=yes, no=no):
                return np.asarray(np.where(self.value(condition), self._operand(yes), self._operand(no)))
            case Extreme(pick=pick, values=values):
                return self._full(reduce(_PICKS[pick], map(self._operand, values)))
            case ArgExtreme():
                return self._first_extreme(node)
            case Ranked():
                return self._ranked(node)
            case Rounded(rounding=rounding, value=value):
                whole: Values = _ROUNDINGS[rounding](self.value(value))
                return whole
            case Function(function=function, value=value):
                return function.values(self._counted(value))
            case Product(left=left, right=right):
                return self.value(left) * self.value(right)
            case Quotient(left=left, right=right):
                with np.errstate(divide="ignore", invalid="ignore"):
                    return np.asarray(self._operand(left) / self.value(right))
            case Apply():
                return self._applied(node)
            case _:
                assert_never(node)

    def _linear(self, node: Linear, constant: float) -> Values:
        """constant + the sum of coefficient * value, in as few passes as it takes."""
        if len(node.terms) == 2 and node.terms[0][1] == 1 and node.terms[1][1] == -1:
            total: Values = self._counted(node.terms[0][0]) - self._counted(node.terms[1][0])
        else:
            (first, factor), *others = [(n, float(c)) for n, c in node.terms]
            total = self.value(first) * factor if factor != 1.0 else self.value(first).astype(float)
            for other, factor in others:
                total = total + self.value(other) * factor
        return total + constant if constant else total

    def _image(self, step: Origin) -> Values:
        """A draw that is a function of another one."""
        inner = float(step.factor) * self.value(step.base) + float(step.offset)
        return np.asarray((step.function.values(inner) - float(step.constant)) / float(step.coefficient))

    def _first_extreme(self, node: ArgExtreme) -> Values:
        """The running extreme and its index; a later value replaces it only when it is strictly better."""
        better = np.greater if node.pick is Pick.MAX else np.less
        best = self._full(self._operand(node.values[0])).astype(float)
        index = np.zeros(self.size, dtype=np.int64)
        for i, x in enumerate(node.values[1:], start=1):
            value = self._operand(x)
            replaced = better(value, best)
            index[replaced] = i
            best = np.where(replaced, value, best)
        return index

    def _ranked(self, node: Ranked) -> Values:
        """The values of each row in order; a stable sort keeps equal ones as they were."""
        table = np.stack([self._full(self._operand(x)).astype(float) for x in node.values])
        order = np.argsort(-table if node.pick is Pick.MAX else table, axis=0, kind="stable")[node.rank]
        found: Values = order if node.place else np.take_along_axis(table, order[None, :], axis=0)[0]
        return found

    def _applied(self, node: Apply) -> Values:
        name = getattr(node.function, "__name__", "the function")
        try:
            values = np.asarray(node.function(*map(self._operand, node.values)))
        except Exception as error:
            raise MechanismError(
                f"{name}, applied to {self.size} values at once, raised {type(error).__name__}: {error}"
            ) from error
        if values.dtype.kind not in "biuf" or values.shape not in ((), (self.size,)):
            raise UnsupportedOperation(
                f"dpest.apply({name}, ...) must return one number for each of the {self.size} values that it gets as an array, "
                f"got shape {values.shape} of {values.dtype}; numpy.vectorize makes such a function of one that takes numbers"
            )
        return self._full(values)

    def _full(self, values: Any) -> Values:
        return np.broadcast_to(np.asarray(values), (self.size,))
