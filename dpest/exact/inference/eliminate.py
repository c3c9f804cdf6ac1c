"""Integrates the draws of a component out, in an order that keeps the integrals narrow.

What is left is a product of factors of the output coordinates alone: the component's density there, or its
probability where it has no output.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from dpest.errors import BudgetExceeded
from dpest.exact.inference.asymptotics import product_asymptotes
from dpest.exact.inference.changed import fixed
from dpest.exact.inference.component import Component, LoopRounds, between
from dpest.exact.inference.convolve import merged_sums
from dpest.exact.inference.expressions import Expr, number, solved, substituted
from dpest.exact.inference.factors import Answer, Bound, Density, Factor, Identity, Indicator, Integral, WholeIndicator
from dpest.exact.inference.feasible import contradictory, without_implied
from dpest.exact.inference.many_stars import star_probabilities
from dpest.laws.images import Moved
from dpest.laws.law import Continuous, Discrete, Law
from dpest.laws.panels import Panels, tabulate
from dpest.numerics.effort import spend_steps
from dpest.numerics.logspace import Floats
from dpest.numerics.quadrature import with_tails
from dpest.numerics.rationals import ceil, floor

MOST_NESTED = 3  # numerical integrals inside one another
_NODES = 40  # a sum over so many points counts as an integral: its rows cost more each, and sums over 16 coins take seconds
TABLE_REACH = -800.0
ROUNDING = 4e-16  # relative: about two roundings of a double, the least error that an answer has
_EXTRAPOLATED = 60.0  # nats below which a table's answers come from the slope at its end
_SLOPE_ERROR = 1e-14  # the relative error of such a slope


@dataclass(frozen=True)
class Measure:
    """A component's density (or probability) as a function of its output coordinates."""

    log_constant: float
    factors: tuple[Factor, ...]
    outputs: int

    @property
    def impossible(self) -> bool:
        """Whether no output has positive probability: a contradiction, not a small number."""
        return self.log_constant == -math.inf

    def log(self, y: Floats) -> tuple[Floats, Floats]:
        """ln of the density at each row of y, and a bound on the relative error."""
        values = {-1 - j: y[:, j] for j in range(self.outputs)}
        total, error = np.full(y.shape[0], self.log_constant), np.full(y.shape[0], ROUNDING)
        for f in self.factors:
            logs, more = f.log(values)
            total, error = total + logs, error + more
        if self.tabulated:
            deep = (total < -_EXTRAPOLATED) & (total > -np.inf)
            error = error + np.where(deep, -_SLOPE_ERROR * np.where(deep, total, 0.0), 0.0)
        return total, error

    @cached_property
    def tabulated(self) -> bool:
        """Whether a law in it is a table, whose far tails are extrapolated."""
        return any(isinstance(law, Panels) for f in self.factors for law in f.laws())

    @cached_property
    def log_floor(self) -> float:
        """The log density below which nothing is claimed: tables say nothing far out in their tails."""
        return max((-law.trusted for f in self.factors for law in f.laws() if isinstance(law, Panels)), default=-math.inf)

    def kinks(self) -> list[Expr]:
        """The hyperplanes across which the density need not be smooth."""
        return [k for f in self.factors for k in f.kinks]


IMPOSSIBLE = Measure(-math.inf, (), 0)


def eliminate(component: Component) -> Measure:
    """The component's measure on its outputs."""
    if component.rounds:
        return Measure(0.0, (_series(component.rounds),), 0)
    if component.bounds and contradictory(component.bounds, component.laws):
        return replace(IMPOSSIBLE, outputs=component.outputs)
    spend_steps(10)
    state = _State.start(component)
    for equation in state.merged_equations(component):
        if not state.solve(equation):
            return replace(IMPOSSIBLE, outputs=component.outputs)
    state.tidy()
    while state.laws and not state.impossible:
        state.eliminate_one()
    if state.impossible:
        return replace(IMPOSSIBLE, outputs=component.outputs)
    return Measure(state.log_constant, tuple(state.factors), component.outputs)


def eliminate_together(components: Iterable[Component]) -> Iterator[tuple[Component, Measure]]:
    """The measures of those components without outputs that are quicker worked out together."""
    for component, (log, error) in star_probabilities(components):
        yield component, IMPOSSIBLE if log == -math.inf else Measure(0.0, (_Number(log, error),), 0)


def _series(rounds: LoopRounds) -> _Number:
    """1 / (1 - a), where a is the probability of another round: the sum of a geometric series."""
    again, off = 0.0, 0.0
    for parts, count in rounds:
        logs = [(times, *eliminate(p.component).log(np.empty((1, 0)))) for p, times in parts]
        weight = count * math.exp(math.fsum(times * float(log[0]) for times, log, _ in logs))
        again += weight
        off += weight * sum(times * float(error[0]) for times, _, error in logs)
    if not 1 - again > 1e-12:
        raise BudgetExceeded("a loop that goes on for ever with probability 1, as far as floats can tell")
    return _Number(-math.log1p(-again), (off + ROUNDING) / (1 - again))


@dataclass
class _State:
    """What is left to do: draws with their laws, bounds on them, and the factors so far."""

    laws: dict[int, Law]
    bounds: list[Bound]
    factors: list[Factor]
    nested: dict[int, float]  # by id of a factor: how many integrals are inside it
    log_constant: float = 0.0
    impossible: bool = False
    replaced: tuple[tuple[int, Expr], ...] = ()

    @staticmethod
    def start(component: Component) -> _State:
        factors: list[Factor] = [replace(f, power=k) for f, k in component.folded]
        factors.sort(key=repr)
        factors += [WholeIndicator(e) for e in sorted(component.wholes, key=repr)]
        bounds = without_implied(sorted(component.bounds, key=repr))
        return _State(dict(enumerate(component.laws)), bounds, factors, {})

    def merged_equations(self, component: Component) -> list[Expr]:
        """The equations, short ones first, with sums of draws that have a closed form merged."""
        self._fix_points()
        equations = sorted(map(self._without_replaced, component.equations), key=lambda e: (len(e.terms), e.terms))
        self.laws, self.bounds, self.factors, equations = merged_sums(self.laws, self.bounds, self.factors, equations)
        return equations

    # -- equations -------------------------------------------------------------------------------------------------

    def solve(self, equation: Expr) -> bool:
        """Lets an equation fix one draw; False where it cannot hold."""
        equation = self._without_replaced(equation)
        draws = [v for v, _ in equation.terms if v >= 0]
        if not draws:
            if equation.terms:
                self.factors.append(Identity(equation))
                return True
            return not equation.constant
        smooth = [v for v in draws if not self.laws[v].discrete]
        if smooth and not any(v < 0 for v, _ in equation.terms):
            return False  # an equation between continuous draws holds with probability zero
        # The widest is solved for: what is left to integrate is then narrow.
        pivot = min(smooth or draws, key=lambda v: (_peaked(self.laws[v]), self._degree(v), -_width(self.laws[v]), v))
        value = solved(equation, pivot)
        law = self.laws.pop(pivot)
        if smooth:
            self.log_constant -= math.log(abs(float(equation.coefficient(pivot))))
        self._replace(pivot, value, smooth=bool(smooth))
        self.replaced = (*((v, substituted(e, pivot, value)) for v, e in self.replaced), (pivot, value))
        self.factors.append(Density(law, value))
        return True

    def _without_replaced(self, e: Expr) -> Expr:
        for v, value in self.replaced:
            e = substituted(e, v, value)
        return e

    def _degree(self, v: int) -> int:
        return sum(1 for b in self.bounds if b.expression.coefficient(v)) + sum(1 for f in self.factors if v in f.scope)

    def _replace(self, v: int, value: Expr, *, smooth: bool) -> None:
        def without(b: Bound) -> Bound:
            return replace(b, expression=substituted(b.expression, v, value), smooth=b.smooth or smooth)

        self.bounds = [without(b) if b.expression.coefficient(v) else b for b in self.bounds]
        self.factors = [fixed(f, v, value) for f in self.factors]

    def tidy(self) -> None:
        """Settles draws without a choice and bounds without draws, and merges draws that occur only as one sum."""
        self._fix_points()
        self._settle()
        self.laws, self.bounds, self.factors, _ = merged_sums(self.laws, self.bounds, self.factors)

    def _fix_points(self) -> None:
        """Puts in the value of each draw that bounds on it alone leave one whole number: `n < 1` says that a coin fell on 0."""
        while True:
            own = {b.expression.terms[0][0] for b in self.bounds if len(b.expression.terms) == 1 and not b.smooth}
            settled = [(v, k) for v in sorted(own) if v >= 0 and (k := self._only_point(v)) is not None]
            if not settled:
                return
            for v, k in settled:
                law = self.laws.pop(v)
                self._replace(v, number(k), smooth=False)
                self.replaced = (*((w, substituted(e, v, number(k))) for w, e in self.replaced), (v, number(k)))
                self._add(Density(law, number(k)), 0.0)

    def _only_point(self, v: int) -> int | None:
        law = self.laws[v]
        if not isinstance(law, Discrete) or not law.integral or any(v in f.scope for f in self.factors):
            return None
        low, high = law.support
        for e in (b.expression for b in self.bounds if len(b.expression.terms) == 1):
            c = e.coefficient(v)
            if c > 0:
                low = max(low, ceil(-e.constant / c))
            elif c < 0:
                high = min(high, floor(-e.constant / c))
        return int(low) if low == high else None

    def _settle(self) -> None:
        open_bounds: list[Bound] = []
        for b in self.bounds:
            if any(v >= 0 for v, _ in b.expression.terms):
                open_bounds.append(b)
            elif b.expression.terms:
                self.factors.append(Indicator(b))
            elif b.expression.constant < 0:
                self.impossible = True
        self.bounds = open_bounds

    # -- elimination -----------------------------------------------------------------------------------------------

    def eliminate_one(self) -> None:
        """Takes out the draw whose elimination makes the narrowest factor."""
        v = min(self.laws, key=self._price)
        law = self.laws.pop(v)
        bounds = [b for b in self.bounds if b.expression.coefficient(v)]
        factors = [f for f in self.factors if v in f.scope]
        self.bounds = [b for b in self.bounds if not b.expression.coefficient(v)]
        self.factors = [f for f in self.factors if v not in f.scope]
        limits = between(law, v, bounds)
        alone = all(f.scope == {v} for f in factors)
        if isinstance(law, Continuous) and factors and alone and limits.scope:
            law, factors = self._absorbed(law, v, factors), []
            limits = replace(limits, law=law)
        new: Factor = limits if not factors else Integral(v, law, limits.lowers, limits.uppers, tuple(factors))
        depth = max((self.nested.get(id(f), 0.0) for f in factors), default=0.0) + (_integrals(law) if factors else 0.0)
        if depth > MOST_NESTED:
            raise BudgetExceeded(
                f"the random values depend on each other too widely: {math.ceil(depth)} nested integrals would be needed, "
                f"at most {MOST_NESTED} are done"
            )
        self._add(new, depth)

    def _add(self, factor: Factor, depth: float) -> None:
        if factor.scope:
            self.nested[id(factor)] = depth
            self.factors.append(factor)
            return
        value, error = factor.log({})
        if float(value) == -math.inf:
            self.impossible = True
        else:
            self.factors.append(_Number(float(value), float(np.max(error))))

    def _price(self, v: int) -> tuple[int, int, int, int]:
        """Discrete draws stay while continuous ones are about; then few neighbours, then no quadrature."""
        touching = [f for f in self.factors if v in f.scope]
        scope = {w for f in touching for w in f.scope if w >= 0}
        scope.update(w for b in self.bounds if b.expression.coefficient(v) for w, _ in b.expression.terms if w >= 0)
        scope.discard(v)
        waits = self.laws[v].discrete and any(not self.laws[w].discrete for w in scope)
        numeric = any(f.scope != {v} for f in touching)
        return int(waits), len(scope), int(numeric) + int(bool(touching)), v

    @staticmethod
    def _absorbed(law: Continuous, v: int, factors: Sequence[Factor]) -> Continuous:
        """The law times factors of the same draw, as a law of its own: its constraints stay closed forms."""
        kinks = sorted({float(solved(k, v).constant) for f in factors for k in f.kinks} | set(law.kinks))
        low, high = law.reach(TABLE_REACH)
        finest = min(x.scale for x in (law, *(y for f in factors for y in f.laws())) if isinstance(x, Continuous))
        inside = np.array([[k for k in kinks if low < k < high]]).reshape(1, -1)
        edges = with_tails(inside, np.array([low]), np.array([high]), finest)[0]

        def log_f(x: Floats) -> Answer:
            out = law.log_density(x)
            error = np.asarray(law.error + law.noise(x, out))
            for f in factors:
                logs, more = f.log({v: x})
                out, error = out + logs, error + more
            return out, error

        laws = [law, *(x for f in factors for x in f.laws())]
        concave = all(isinstance(x, Continuous) and x.log_concave for x in laws)
        table = tabulate(log_f, edges, tuple(kinks), law.scale, "a product of laws", concave=concave)
        return replace(table, declared=product_asymptotes(law, v, factors))


@dataclass(frozen=True)
class _Number(Factor):
    """A factor that is a number."""

    log_value: float
    error: float
    scope = frozenset()
    kinks = ()

    def log(self, values: object) -> Answer:
        return np.asarray(self.log_value), self.error


def _peaked(law: Law) -> bool:
    """Whether a density may be infinite: it is left to integrate, over the draw that it is a function of."""
    return isinstance(law, Moved) and law.peaked


def _integrals(law: Law) -> float:
    """What summing or integrating a draw out costs, in integrals inside one another: their nodes multiply."""
    if not isinstance(law, Discrete) or not law.finite:
        return 1.0
    return min(1.0, math.log(max(2, len(law.window(0.0)[0]))) / math.log(_NODES))


def _width(law: Law) -> float:
    if isinstance(law, Continuous):
        return law.scale
    # With the unbounded one solved for, what is left to sum is finite, and tails are those of one draw.
    return math.inf if isinstance(law, Discrete) and not law.finite else 0.0
