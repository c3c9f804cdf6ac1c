"""Programs that draw numbers in loops, as a chain of states: runs that come to the same state are one run from there on.

`while s < 4: s += randrange(3)` has a path for every sequence of numbers, and four states (`trace.states` says what a state is,
and why it is all that matters). Each state is followed to the next ones, once; the probabilities of the outputs are those of a
Markov chain (`trace.absorbing`).
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpest.errors import BudgetExceeded, ExactRefused
from dpest.lang.dist import RUN, Dist
from dpest.lang.nodes import Draw, Node, draws_of, is_node
from dpest.laws.discrete import Atoms, Whole
from dpest.laws.law import Discrete
from dpest.numerics.effort import spend_steps
from dpest.numerics.logspace import log_sum
from dpest.numerics.rationals import ZERO, exact
from dpest.numerics.setting import Setting
from dpest.trace.absorbing import Chain
from dpest.trace.atomic import point
from dpest.trace.columns import constant_key
from dpest.trace.execute import Abandoned, returned
from dpest.trace.forks import Branch, TraceRun
from dpest.trace.frames import asks_for_point
from dpest.trace.limits import Limits
from dpest.trace.literal import Literal, implied, log_weight, open_options
from dpest.trace.outputs import SHUFFLED, Flat
from dpest.trace.replay import Pool
from dpest.trace.rounds import Step
from dpest.trace.states import KnownValues, is_made, state_at

_OF_A_RUN = 16  # decisions that take as long as the rest of a run
# Decisions that making a draw again on the way to a state counts for: a recursion that tries again took 25 s without it, now 7 s.
_OF_A_DRAW = 4
_FURTHER = 128  # states that are followed though all of them together weigh too little
# The same where the code says what can be returned. A coin of chance exp(-g) as g coins of chance exp(-1) has returned False by
# then, and each further state is replayed from the start: with 128 of them a discrete Gaussian took 47 s instead of 15 s.
_FURTHER_OF_KNOWN = 24
_SOME_WORK = 40_000  # on further states beside the others, a second or so: a loop of a hundred tries is followed to its end
_BLIND = 64  # ways from the beginning that come to no state: behind that many, there is none
_FEW = 256  # points that are worth a state for each
_FAR_ABOVE = 20.0  # nats: what is left out of a loop with few outputs lies on the same ones
_LEAST = 2.0**-1022  # the smallest number with all its digits
_OFF = 1e-12  # how far the chances of all ways from one decision, or from one state, may be from 1 together
_ROUNDING = 4e-15  # of ln of a chance that a law gives, and of the difference of two of them


@dataclass(frozen=True)
class OutputChances:
    """ln of the probability of each output, ln of the most that others have, and how far off a logarithm may be."""

    outputs: tuple[tuple[Flat, float], ...]
    log_left_out: float
    error: float

    @property
    def has_tail(self) -> bool:
        """Whether outputs may have been left out that are like those that were found: some of these are hardly likelier."""
        return any(log_p - self.log_left_out < _FAR_ABOVE for _, log_p in self.outputs)


@dataclass(frozen=True)
class ChainLimits:
    """How many states are followed, how many decisions are replayed on the way to them, and how much may be left out."""

    states: int
    work: int
    little: float  # the mass of all states together that are not followed further


def chances(
    program: Callable[[Any], Flat],
    size: ChainLimits,
    limits: Limits,
    possible: frozenset[Any] | None = None,
    make: type[ChainRun] | None = None,
) -> OutputChances:
    """The probability of each output of a program; raises `ExactRefused` where it is no chain, or too long a one.

    `possible` are the only numbers that it may return, where that is known; `make` the kind of its runs.
    """
    return _Following(program, size, limits, possible, make or ChainRun).all()


class ChainRun(TraceRun):
    """A run from one state to the next: it stops at the first decision that shows its state."""

    by_states = True

    def __init__(self, branch: Branch, pending: list[Branch], limits: Limits, pool: Pool, start: Branch) -> None:
        super().__init__(branch, pending, limits, None, False, pool)
        self.state: Any = None  # that it stopped in
        self.finished = False  # whether the program has returned, and only its output is looked at
        self._replays = bool(branch.prints)
        self._began = len(start.steps)  # how many steps led to the last state
        self.first = len(start.draws)  # how many draws were made on the way to it
        self._looks = False

    def settle(self, condition: Node) -> bool:
        """Which way a new condition goes; what was left out before it was counted when it came first."""
        if self._replays:
            self._replays, self.log_left_out = False, -math.inf
        return super().settle(condition)

    def here(self) -> Branch:
        """Where the run stands."""
        steps, bounds = list(self.steps), dict(self.bounds)
        return Branch(list(self.outcomes), list(self.prints), list(self.draws), steps, bounds)

    def look_at_points(self, condition: Node) -> None:
        """A draw whose point is asked for is looked at at once: the questions by halves would be states of their own."""
        if asks_for_point(returned.__code__):
            for draw in filter(has_few, draws_of(condition)):
                point(draw, self)

    def look_back(self, condition: Node) -> None:
        """Ends the run where it is in a state; draws with few points that can still be read are looked at first."""
        seen = KnownValues(self.bounds)
        known = seen.points(condition) is not None and len(self.steps) == self._began
        if self.finished or known:  # what the last state says is no question
            return
        state = state_at(condition, returned.__code__, seen)
        if seen.open and all(map(has_few, seen.open.values())):
            self._looks = True
            for d in seen.open.values():
                point(d, self)
            self._looks = False
            state = state_at(condition, returned.__code__, KnownValues(self.bounds))
        if state is not None:
            self.state = state
            raise Abandoned

    def queue(self, new: Step, chance: float) -> None:
        """Leaves another way for later; one on which a draw was looked at for the state looks for its own."""
        super().queue(new, chance)
        if self._looks:
            self.pending[-1].prints.pop()

    def __call__(self, literal: Literal) -> bool:
        """One inequality; of several draws, those with few points are taken point by point."""
        one = self._of_one_draw(literal)
        if isinstance(one, bool):
            return one
        if implied(one, self.bounds) is None:
            _check_sum([log_weight((x,), self.bounds) for x in (one, one.negated())])
        return super().__call__(one)

    def choose(self, options: Sequence[tuple[Literal, ...]]) -> int:
        """One of several conjunctions, each of them made of conditions on one draw."""
        told = [[self._of_one_draw(x) for x in option] for option in options]
        kept = [tuple(x for x in option if isinstance(x, Literal)) for option in told]
        able = [k for k, option in enumerate(told) if False not in option]
        chosen, left = open_options([kept[k] for k in able], self.bounds)
        if chosen is not None:
            return able[chosen]
        _check_sum([log_weight(new, self.bounds) for _, new in left])
        return able[super().choose([kept[k] for k in able])]

    def _of_one_draw(self, literal: Literal) -> Literal | bool:
        if any(is_made(d) for d, _ in literal.terms):
            raise ExactRefused("a function of a draw decides")
        if len(literal.terms) == 1:
            return literal
        listed = [d for d, _ in literal.terms if isinstance(d.law, Discrete) and d.law.finite]
        rest = tuple((d, c) for d, c in literal.terms if not any(d is x for x in listed))
        if len(rest) > 1 or any(d.law.discrete for d, _ in rest):
            raise ExactRefused("several draws decide together")
        seen = KnownValues(self.bounds)
        points = {id(d): exact(point(d, self) if (x := seen.one_point(d)) is None else x) for d in listed}
        constant = sum((c * points[id(d)] for d, c in literal.terms if id(d) in points), literal.constant)
        return Literal(rest, constant) if rest else bool(constant >= ZERO)


def _check_sum(logs: Sequence[float]) -> None:
    """Raises where the chances of ways that exclude each other do not add up to one: they are bounds, then, and no more."""
    if abs(math.fsum(map(math.exp, logs)) - 1.0) > _OFF:
        raise ExactRefused("the chances of the ways that a decision can go are not known one by one")


def _off(steps: Sequence[Step]) -> float:
    """How far ln of the chance of some conditions may be off."""
    draws = {id(d): d for step in steps for literal in step for d, _ in literal.terms}
    return _ROUNDING * (1 + len(steps)) + math.fsum(d.law.off for d in draws.values() if isinstance(d.law, Atoms))


def has_few(draw: Draw) -> bool:
    """Whether a draw has so few points that each is worth a way of its own."""
    first, last = draw.law.support
    few = isinstance(draw.law, Whole) and last - first < _FEW
    return not is_made(draw) and (few or (isinstance(draw.law, Atoms) and len(draw.law.points) <= _FEW))


class _OpenStates:
    """The states met so far by number, and where those that are still to be followed stand; the likeliest comes first."""

    def __init__(self) -> None:
        self._numbers: dict[Any, int] = {}
        self._open: dict[int, tuple[float, Branch]] = {}  # how likely they are known to be
        self._heap: list[tuple[float, int]] = []

    def met(self, state: Any, mass: float, here: Callable[[], Branch]) -> int:
        """The number of a state that a run came to."""
        known = self._numbers.get(state)
        number = self._numbers[state] = len(self._numbers) + 1 if known is None else known
        if known is None:
            self._open[number] = 0.0, here()
        if number in self._open:
            before, branch = self._open[number]
            self._open[number] = before + mass, branch
            heapq.heappush(self._heap, (-before - mass, number))
        return number

    def next(self, little: float) -> tuple[int, float, Branch] | None:
        """The likeliest state that was not followed; None where all of them together weigh too little."""
        while self._heap and (-self._heap[0][0] > little or self._left() > little):
            _, number = heapq.heappop(self._heap)
            if number in self._open:
                return number, *self._open.pop(number)
        return None

    def has_more(self) -> bool:
        """Whether states are left that were not followed."""
        return bool(self._open)

    def _left(self) -> float:
        return math.fsum(mass for mass, _ in self._open.values())


class _Following:
    """The states of a program, followed one after another."""

    def __init__(
        self,
        program: Callable[[Any], Flat],
        size: ChainLimits,
        limits: Limits,
        possible: frozenset[Any] | None,
        make: type[ChainRun],
    ) -> None:
        self.program, self.size, self.limits, self.possible, self.make = program, size, limits, possible, make
        self.pool: Pool = {}
        self.chain = Chain()
        self.waiting = _OpenStates()
        self.outputs: dict[Any, Flat] = {}
        self.left_out: dict[int, float] = {}  # by the state: ln of the mass that inner laws leave out behind it
        self.work = self.blind = 0

    def all(self) -> OutputChances:
        """Every output with its probability."""
        state: tuple[int, float, Branch] | None = (0, 1.0, Branch())
        while state is not None:
            if len(self.chain.ways) > self.size.states:
                raise BudgetExceeded(f"the mechanism's loops have more than {self.size.states} states")
            self._follow(*state)
            state = self.waiting.next(self.size.little)
        self._look_further()
        if not self.outputs:
            raise BudgetExceeded("no way through the mechanism that was followed comes to an end: does its loop end?")
        return self._solved()

    def _look_further(self) -> None:
        """Follows a few states that weigh too little: a loop that ends after some tries may return what nothing else does."""
        if self.possible is not None and self.possible <= {x for flat in self.outputs.values() for x in flat.leaves}:
            return
        before = dict(self.chain.ways), dict(self.left_out), len(self.outputs)
        most = min(self.size.work * 9 // 10, 2 * self.work + _SOME_WORK)
        for _ in range(_FURTHER if self.possible is None else _FURTHER_OF_KNOWN):
            short = 2 * len(self.chain.ways) < self.size.states and self.work < most
            state = self.waiting.next(-1.0) if short else None
            if state is None:
                break
            self._follow(*state)
        if self.waiting.has_more() and len(self.outputs) == before[2]:  # they only make bounds on rounding wider
            self.chain.ways, self.left_out = before[0], before[1]

    def _follow(self, number: int, mass: float, start: Branch) -> None:
        """One state up to the next ones."""
        ways: dict[Any, tuple[float, float]] = {}
        pending = [start]
        left_out = -math.inf
        while pending:
            run = self.make(pending.pop(), pending, self.limits, self.pool, start)
            output = self.program(run)
            if run.over is not None:
                raise run.over
            self.work += _OF_A_RUN + run.called + _OF_A_DRAW * len(run.draws)
            if self.work > self.size.work:
                raise BudgetExceeded(f"the mechanism's loops take more than {self.size.work} decisions")
            spend_steps(2 + run.called // 8)
            if run.rounded_off:  # a table that is looked up again and again: its rounding adds up
                raise ExactRefused("a table of probabilities in a loop does not add up to 1")
            rare = run.log_mass < math.log(_LEAST)  # a probability that doubles do not hold: left out, wherever it leads
            left_out = float(np.logaddexp(left_out, np.logaddexp(run.log_left_out, run.log_mass if rare else -math.inf)))
            if rare:
                continue
            self.blind = self.blind + 1 if number == 0 and run.state is None else 0
            if self.blind > _BLIND:
                raise ExactRefused("no state of the mechanism's loops is seen")
            end = self._end(run, output, mass * math.exp(run.log_mass))
            before, off = ways.get(end, (0.0, 0.0))
            ways[end] = before + math.exp(run.log_mass), max(off, _off(run.steps[len(start.steps) :]))
            if len(self.outputs) > self.size.states or len(pending) > self.size.states:
                raise BudgetExceeded(f"the mechanism has more than {self.size.states} outputs")
        _check_sum([math.log(p) for p, _ in ways.values() if p > 0.0])
        self.chain.add(number, ways)
        self.left_out[number] = left_out

    def _end(self, run: ChainRun, output: Flat, mass: float) -> Any:
        """Where a run ended: in a state, with an output, or nowhere."""
        if run.abandoned:
            return "left out"
        return self._output(output) if run.state is None else self.waiting.met(run.state, mass, run.here)

    def _output(self, output: Flat) -> Any:
        if any(map(is_node, output.leaves)) or (type(output.structure) is tuple and SHUFFLED in output.structure[:1]):
            raise ExactRefused("an output is random on a path")
        key = output_key(output)
        self.outputs.setdefault(key, output)
        return key

    def _solved(self) -> OutputChances:
        ends = self.chain.ends(0)
        outputs = tuple((flat, ends.logs[key]) for key, flat in self.outputs.items() if key in ends.logs)
        error = max(ends.off.values())
        # In logarithms: what is less likely than the smallest double is left out all the same.
        lost = [p for key, p in ends.logs.items() if key not in self.outputs]
        lost += [log_p + math.log(max(ends.visits[k], _LEAST)) for k, log_p in self.left_out.items()]
        return OutputChances(outputs, float(log_sum(np.array(lost))) + error, error)


def output_key(output: Flat) -> Any:
    """Equal for outputs that nobody can tell apart."""
    return "output", output.structure, tuple(map(constant_key, output.leaves))


def with_points(run: Any, output: Flat) -> Flat:
    """An output whose random values are known by their points, on which the run forks."""
    if not any(map(is_node, output.leaves)):
        return output
    leaves = []
    with Setting(RUN, run):
        for leaf in output.leaves:
            number = Dist(leaf)._point() if is_node(leaf) else leaf
            if number is None:
                raise ExactRefused("an output with a density")
            leaves.append(number)
    return Flat(output.structure, tuple(leaves))
