"""Unknown inputs: numbers without a law that take part in conditions and outputs as draws do.

A value that depends on inputs alone and is not affine in them (`clip(x, 0, 1)`, `x > 3` as a number, `max(xs)`) becomes an
unknown of its own, with a known range and a known range of change; `if x > 3` splits the inputs into cells.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dpest.errors import ExactRefused
from dpest.lang.nodes import All, Compare, Draw, Linear, Node, Not, combine, draws_of, is_integral, is_node, linear
from dpest.lang.plain import missing_draws
from dpest.lang.signature import making, written_out
from dpest.lang.spans import span
from dpest.lang.substitute import rebuilt
from dpest.laws.law import Discrete, Rng
from dpest.numerics.logspace import Floats
from dpest.numerics.ranges import floats
from dpest.run.settings import Sides
from dpest.trace.explore import Trace, trace_on_unknown
from dpest.trace.limits import Limits
from dpest.trace.outputs import Flat

# Paths over unknown inputs: each costs a linear program, and a bound by alignments is wanted in seconds. A loop without end on
# unknown inputs forks in each round: 500 rounds take 4 s, 1,000 take 17 s. A sparse vector over 1,000 queries forks as often.
LIMITS = Limits(paths=5_000, work=1_200_000, depth=1_200)
_LARGEST = 2.0**30  # counts beyond a thousand million are rare, and a million of them still add up exactly


@dataclass(frozen=True)
class UnknownInput(Discrete):
    """An input: any number between `low` and `high`, or any whole one.

    It counts as discrete because a tie with it may matter: `x == 3` is possible.
    """

    name: str
    low: float = -math.inf
    high: float = math.inf
    integral: bool = False
    finite = False

    @property
    def unknown(self) -> bool:  # type: ignore[override]
        """Whole numbers are compared as whole draws are; other numbers have no lattice."""
        return not self.integral

    @property
    def support(self) -> tuple[float, float]:
        return self.low, self.high

    def words(self) -> str:
        return self.name

    def first(self, bound: npt.ArrayLike, strict: bool) -> Floats:
        return np.asarray(bound, float)

    def last(self, bound: npt.ArrayLike, strict: bool) -> Floats:
        return np.asarray(bound, float)

    def log_between(self, first: npt.ArrayLike, last: npt.ArrayLike) -> Floats:
        """0: nothing is known about how likely an input is, and 1 is at least the probability of anything."""
        return np.asarray(0.0)

    def log_density(self, x: npt.ArrayLike) -> Floats:
        raise AssertionError("an unknown input has no density")

    def window(self, log_mass: float) -> tuple[Floats, Floats]:
        raise ExactRefused("a function of an unknown input that needs its value")

    def largest(self, log_mass: float) -> float:
        """Whole inputs beyond this are not thought of where a comparison may be rounded: sums of them are exact in doubles."""
        low, high = self.support
        return max(abs(low), abs(high)) if math.isfinite(low) and math.isfinite(high) else _LARGEST

    def sample(self, rng: Rng, size: int) -> npt.NDArray[np.generic]:
        raise AssertionError("an unknown input cannot be sampled")


@dataclass
class Symbols:
    """The unknown inputs of one trace, and the values that depend on them alone."""

    inputs: list[Draw]  # given first, then derived
    given: int
    derived: list[Node] = field(default_factory=list)  # what each derived one stands for
    deciding: bool = False  # whether inputs alone decided a condition
    _known: dict[Any, Draw] = field(default_factory=dict)

    def rewrite(self, node: Node) -> Any:
        """The node with every value of inputs alone that is not affine replaced by an unknown of its own."""
        if isinstance(node, Draw) or not is_node(node):
            return node
        if isinstance(node, Linear):
            return self._linear(node)
        own = self._inputs_only(node)
        if isinstance(node, Compare | Not | All) or not own:
            self.deciding = self.deciding or own
            return self._rebuilt(node)
        return self._symbol(node)

    def value(self, node: Any) -> Any:
        """As `rewrite`, for a place where a number stands: a truth value of inputs alone is an unknown 0 or 1."""
        if isinstance(node, Compare | Not | All) and self._inputs_only(node):
            return self._symbol(node)
        return self.rewrite(node) if is_node(node) else node

    def _linear(self, node: Linear) -> Linear:
        if all(isinstance(n, Draw) for n, _ in node.terms):
            return node
        out = Linear((), node.constant)
        for n, c in node.terms:
            out = combine(out, linear(self.value(n)), c)
        return out

    def _inputs_only(self, node: Node) -> bool:
        drawn = draws_of(node) or missing_draws(node, {})  # noise that cancels in rationals need not in the program
        return all(isinstance(d.law, UnknownInput) for d in drawn)

    def _symbol(self, node: Node) -> Draw:
        key = making(node)
        if key not in self._known:
            law = UnknownInput(f"u{len(self.derived) + 1}", *floats(span(node, off=0)), is_integral(node))
            self._known[key] = Draw(law)
            self.inputs.append(self._known[key])
            self.derived.append(node)
        return self._known[key]

    def _rebuilt(self, node: Node) -> Any:
        if isinstance(node, Compare):
            return replace(node, value=self._linear(node.value))
        return rebuilt(node, self.value, self.rewrite)


_MOST_WRITTEN = 20_000  # parts of a value where each is written as often as it is used: a tenth of a second


def _short(node: Any) -> Any:
    """The node; refused where its parts are used again and again, so that it cannot be compared part by part."""
    if written_out(node, {}) > _MOST_WRITTEN:
        raise ExactRefused("a value of unknown inputs that uses its own parts again and again, such as x %= 3 in a loop")
    return node


def symbolic_trace(
    mechanism: Callable[..., Any],
    data: Any,
    symbols: Symbols,
    params: Mapping[str, Any],
    limits: Limits = LIMITS,
    sides: Sides = Sides.APART,
) -> Trace:
    """Every path of the mechanism on data made of unknown inputs; `symbols` grows by what depends on them alone."""

    def rewrite(node: Node) -> Any:
        return symbols.rewrite(_short(node))

    traced = trace_on_unknown(mechanism, data, params, limits, rewrite, sides)
    paths = []
    for path in traced.paths:
        for x in path.output.leaves:
            _short(x)
        leaves = tuple(symbols.value(x) if is_node(x) else x for x in path.output.leaves)
        paths.append(replace(path, output=Flat(path.output.structure, leaves)))
    return Trace(tuple(paths), traced.log_unexplored)
