"""Runs a mechanism on stand-ins and collects every way through it.

A random condition forks the run: the function is replayed with the decisions recorded so far, and the first new
decision goes both ways, depth first. Replays are checked: a function that behaves differently the second time has
hidden randomness or state and is refused.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from dpest.errors import BudgetExceeded, DpestError, MechanismRaised
from dpest.lang.dist import RUN, Dist
from dpest.lang.generators.swap import standing_in, stood_in_for
from dpest.lang.nodes import Draw, Node, draws_of, is_node
from dpest.numerics.logspace import log_sum
from dpest.trace.against_program import SECONDS, SHARE, check_against_program
from dpest.trace.columns import constant_key
from dpest.trace.hidden_randomness import Watch
from dpest.trace.images import has_images, in_one_form
from dpest.trace.limits import LIMITS, Limits
from dpest.trace.literal import Bounds, Literal, held, implied, log_chances, log_weight, narrowed, open_options
from dpest.trace.outputs import Flat, flatten
from dpest.trace.plain_run import one_run
from dpest.trace.replay import Pool, Replay, differs, mark, same_output
from dpest.trace.resolve import decide
from dpest.trace.rounds import Loop, Step, Visit, returns_to, visit
from dpest.trace.series import Loops
from dpest.trace.settled import settled


@dataclass(frozen=True)
class Path:
    """One way through the program: the conditions taken, and what it returns."""

    steps: tuple[Step, ...]  # what each fork on the way added
    output: Flat
    conditions: tuple[Literal, ...]  # the inequalities that hold on it, without those that others imply
    drawn: tuple[Draw, ...] = ()  # every draw of the run, in its order
    loops: tuple[Loop, ...] = ()  # loops on the way whose further rounds are like the one that is written out here

    @cached_property
    def draws(self) -> tuple[list[Draw], ...]:
        """The draws that each leaf of the output depends on."""
        return tuple(draws_of(x) for x in self.output.leaves)

    @cached_property
    def constants(self) -> tuple[Any, ...] | None:
        """The keys of the output's leaves, where all are constants."""
        leaves = self.output.leaves
        return None if any(map(is_node, leaves)) else tuple(("=", constant_key(x)) for x in leaves)


@dataclass(frozen=True)
class Trace:
    """Every path of one run on one input, and the most that unexplored ones can weigh."""

    paths: tuple[Path, ...]
    log_unexplored: float = -math.inf
    cycles: tuple[Path, ...] = ()  # runs that came back to a state in which they were before, and return nothing
    seeded: tuple[str, ...] = ()  # seeds that the program sets itself: what it draws from them is known to everybody


_MOST_VISITS = 3  # earlier visits of one state that a run is compared with: a loop without memory is seen at the second


LoopWeight = Callable[[Loop], float]  # ln of what a loop multiplies the weight of its first round by


def trace(
    mechanism: Callable[..., Any],
    data: Any,
    params: Mapping[str, Any],
    limits: Limits = LIMITS,
    check_seconds: float = SECONDS,
    loop_weight: LoopWeight | None = None,
) -> Trace:
    """Every path of `mechanism(data, **params)`, compared with the program on plain numbers.

    Without `loop_weight`, of paths that were left out behind a loop it is only known that they weigh at most 1.
    """

    def program(run: Any) -> Flat:
        return execute(run, mechanism, data, params)

    with Watch(mechanism, data, params, lambda: program(one_run())), standing_in(mechanism, data, params) as held:
        start = time.perf_counter()
        traced = explored(program, limits, loop_weight=loop_weight)
        check_against_program(traced, program, max(check_seconds, SHARE * (time.perf_counter() - start)))
    paths = tuple(replace(path, output=settled(path.output, path.conditions)) for path in traced.paths)
    return replace(traced, paths=paths, seeded=tuple(held.seeded))


Rewrite = Callable[[Node], Any]


def trace_on_unknown(
    mechanism: Callable[..., Any], data: Any, params: Mapping[str, Any], limits: Limits, rewrite: Rewrite
) -> Trace:
    """Every path on data that holds unknown numbers; `rewrite` gives the form in which a condition is looked at."""

    def program(run: Any) -> Flat:
        return execute(run, mechanism, data, params)

    watch = Watch(mechanism, data, params, lambda: program(TraceRun(Branch(), [], limits, rewrite)))
    with watch, standing_in(mechanism, data, params):
        return explored(program, limits, rewrite)


def explored(
    program: Callable[[Any], Flat],
    limits: Limits,
    rewrite: Rewrite | None = None,
    loop_weight: LoopWeight | None = None,
    make: type[TraceRun] | None = None,
) -> Trace:
    """Every path of a program, run by run."""
    search = _Search(limits)
    pool: Pool = {}
    while search.pending:
        run = (make or TraceRun)(search.next(), search.pending, limits, rewrite, pool)
        returned = program(run)
        output = run.released(returned)
        search.work += run.called
        conditions = held(run.bounds) if not run.images else in_one_form(held(run.bounds))
        if conditions is None:
            continue
        path = Path(tuple(run.steps), output, conditions, tuple(run.draws[: run.drawn]))
        if run.returned is not None:
            search.cycles.append((path, run.returned))
        elif run.abandoned:
            search.left_out += [(path.steps, run.log_mass)] if run.log_mass > -math.inf else []
        else:
            if not search.paths:
                _check_replay(run, returned, program, limits)
            search.paths.append(path)
    return search.found(loop_weight)


class _Search:
    """The branches still to be followed, and what was found."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.pending = [Branch()]
        self.paths: list[Path] = []
        self.cycles: list[tuple[Path, int]] = []  # runs that came back, and how many conditions they had when they were there
        self.left_out: list[tuple[tuple[Step, ...], float]] = []
        self.work = 0

    def next(self) -> Branch:
        """The newest branch; in a long search the heaviest."""
        if len(self.paths) + len(self.pending) > self.limits.paths:
            raise BudgetExceeded(f"the mechanism has more than {self.limits.paths} paths through its random conditions")
        if self.work > self.limits.work:
            return self._last()
        if self.work <= self.limits.work // 10:
            return self.pending.pop()
        return self.pending.pop(max(range(len(self.pending)), key=lambda i: self.pending[i].log_mass))

    def _last(self) -> Branch:
        """Leaves the other branches unexplored, where they weigh little."""
        rest = sorted(self.pending, key=lambda branch: -branch.log_mass)
        if log_sum(np.array([branch.log_mass for branch in rest])) > self.limits.log_rest:
            raise BudgetExceeded(
                f"the mechanism makes more than {self.limits.work} random decisions on its paths together, and what is left "
                "is too likely to be left out"
            )
        self.left_out += [(tuple(branch.steps), branch.log_mass) for branch in rest[1:]]
        self.pending.clear()
        return rest[0]

    def found(self, loop_weight: LoopWeight | None) -> Trace:
        """Every path with its loops, and the most that unexplored ones can weigh."""
        if not self.paths:
            raise BudgetExceeded("no way through the mechanism that was followed comes to an end: does its loop end?")
        loops = Loops([(path.steps, start) for path, start in self.cycles])
        paths = tuple(replace(path, loops=loops.on(path.steps)) if self.cycles else path for path in self.paths)
        missing = [_most(mass, loops.on(steps), loop_weight) for steps, mass in self.left_out]
        return Trace(paths, float(log_sum(np.array(missing))), tuple(path for path, _ in self.cycles))


def _most(log_mass: float, loops: Sequence[Loop], loop_weight: LoopWeight | None) -> float:
    """ln of the most that a path weighs with all rounds of its loops."""
    if loop_weight is None:
        return 0.0 if loops else log_mass
    return log_mass + sum(map(loop_weight, loops))


_NO_ENTRY = "; a random key is looked up as each of its points, and one of them has no entry: add it, or use .get(key, default)"
_HINT = "; a Dist is a random value, which has no digits while it is traced: return it as it is, or compare it"


def execute(run: Any, mechanism: Callable[..., Any], data: Any, params: Mapping[str, Any]) -> Flat:
    """One run of the mechanism under `run`, its output taken apart; generators are stood in for."""
    held = stood_in_for(mechanism, params)
    if held is None:
        with standing_in(mechanism, data, params):
            return execute(run, mechanism, data, params)
    before = held.begin()
    try:
        return execute_as_it_stands(run, mechanism, data, held.params)
    finally:
        held.end(before)


def execute_as_it_stands(run: Any, mechanism: Callable[..., Any], data: Any, params: Mapping[str, Any]) -> Flat:
    """One run in which generators give their own numbers."""
    try:
        return _returned(run, mechanism, data, params)
    except _Abandoned:
        return flatten(None)
    except DpestError:
        raise
    except RecursionError as error:
        raise BudgetExceeded("the mechanism recurses deeper than Python allows on some path") from error
    except Exception as error:
        name = getattr(mechanism, "__name__", "the mechanism")
        hint = _HINT if "Dist" in str(error) else ""
        if isinstance(error, KeyError) and error.args and isinstance(error.args[0], Dist):
            hint = _NO_ENTRY
        raise MechanismRaised(f"{name} raised {type(error).__name__}: {error} (on the input {data!r}){hint}") from error


def _returned(run: Any, mechanism: Callable[..., Any], data: Any, params: Mapping[str, Any]) -> Flat:
    token = RUN.set(run)
    try:
        return flatten(mechanism(data, **params))
    finally:
        RUN.reset(token)


class _Abandoned(BaseException):
    """Unwinds a run whose path is not worth finishing; no `except Exception` of the author's catches it."""


@dataclass
class Branch:
    """Where a replay starts: the outcomes of earlier conditions, and what they left; `bounds` decides the one in progress."""

    outcomes: list[bool] = field(default_factory=list)
    prints: list[Any] = field(default_factory=list)
    draws: list[Draw] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    bounds: Bounds = field(default_factory=dict)
    forks: int = 0
    log_mass: float = 0.0
    visits: dict[Any, tuple[Visit, ...]] = field(default_factory=dict)
    images: bool = False  # whether a condition speaks of a function of a draw
    opened: tuple[Any, ...] = ()  # conditions that were released instead of decided (`trace.opened`)


class TraceRun(Replay):
    """One run: follows its branch's recorded decisions, then goes one way at each new one and queues the other."""

    def __init__(
        self, branch: Branch, pending: list[Branch], limits: Limits, rewrite: Rewrite | None = None, pool: Pool | None = None
    ) -> None:
        super().__init__(branch.draws, pool)
        self.rewrite = rewrite
        self.pending = pending
        self.limits = limits
        self.outcomes = list(branch.outcomes)
        self.prints = list(branch.prints)
        self.called = 0
        self.steps = list(branch.steps)
        self.bounds = dict(branch.bounds)
        self.forks = branch.forks
        self.log_mass = branch.log_mass
        self.visits = dict(branch.visits)
        self.images = branch.images
        self.opened = branch.opened
        self.abandoned = False
        self.returned: int | None = None

    def decide(self, condition: Node) -> bool:
        """The recorded outcome, or a new one that the conditions taken so far decide or fork."""
        k = self.called
        self.called = k + 1
        seen = mark(condition)
        prints = self.prints
        if k < len(prints) and prints[k] != seen:
            raise differs(f"condition {k + 1} compared with {prints[k]}, then with {seen}")
        if k < len(self.outcomes):
            return self.outcomes[k]
        if k >= self.limits.decisions:
            raise BudgetExceeded(f"one run made more than {self.limits.decisions} random decisions")
        if k == len(self.prints):
            self.prints.append(seen)
            self._look_back(condition)
        outcome = self.settle(condition if self.rewrite is None else self.rewrite(condition))
        self.outcomes.append(outcome)
        return outcome

    def settle(self, condition: Node) -> bool:
        """Which way a new condition goes."""
        return decide(condition, self)

    def released(self, output: Flat) -> Flat:
        """What counts as the output of the run."""
        return output

    def _look_back(self, condition: Node) -> None:
        """Ends a run that is back in a state in which it was before: it goes on as it did then."""
        now = visit(condition, len(self.steps), _returned.__code__)
        if now is None:
            return
        known = self.visits.get(now.state, ())[-_MOST_VISITS:]
        for earlier in known:
            if returns_to(now, earlier, self.steps):
                self.returned = earlier.steps
                raise _Abandoned
        self.visits[now.state] = (*known, now)

    def __call__(self, literal: Literal) -> bool:
        """One inequality: known from earlier ones (in a replay, from the recorded decision), or a fork."""
        known = implied(literal, self.bounds)
        if known is not None:
            return known
        yes, no = log_chances(literal, self.bounds)
        self._count_fork(max(yes, no))
        # The likelier way first: a loop that ends with probability one is then left in a bounded number of runs.
        first = yes >= no
        ways = (literal, yes), (literal.negated(), no)
        (taken, chance), (other, other_chance) = ways if first else ways[::-1]
        self._queue((other,), other_chance)
        self._take((taken,), chance)
        return first

    def choose(self, options: Sequence[tuple[Literal, ...]]) -> int:
        """One of several conjunctions: known from earlier conditions, or a fork with as many ways."""
        chosen, left = open_options(options, self.bounds)
        if chosen is not None:
            return chosen
        if not left:  # the conditions taken so far contradict each other
            self.abandoned, self.log_mass = True, -math.inf
            raise _Abandoned
        weights = [log_weight(new, self.bounds) for _, new in left]
        self._count_fork(max(weights))
        for (_, new), weight in zip(left[1:], weights[1:], strict=True):
            self._queue(new, weight)
        self._take(left[0][1], weights[0])
        return left[0][0]

    def _count_fork(self, likeliest: float) -> None:
        self.forks += 1
        if self.forks > self.limits.forks and self.log_mass + likeliest < self.limits.log_mass:
            self.abandoned = True
            raise _Abandoned
        if self.forks > self.limits.depth:
            raise BudgetExceeded(f"one run made more than {self.limits.depth} random decisions that nothing decides")

    def _queue(self, new: Step, chance: float) -> None:
        self.pending.append(
            Branch(
                list(self.outcomes),
                list(self.prints),
                list(self.draws),
                [*self.steps, new],
                narrowed(self.bounds, new),
                self.forks,
                self.log_mass + chance,
                dict(self.visits),
                self.images or has_images(new),
                self.opened,
            )
        )

    def _take(self, new: Step, chance: float) -> None:
        self.steps.append(new)
        self.images = self.images or has_images(new)
        self.bounds = narrowed(self.bounds, new)
        self.log_mass += chance


def _check_replay(run: TraceRun, output: Flat, program: Callable[[Any], Flat], limits: Limits) -> None:
    """The first path once more: the same decisions must give the same output."""
    branch = Branch(run.outcomes, run.prints, run.draws, run.steps, run.bounds, run.forks, run.log_mass, run.visits)
    again = TraceRun(branch, [], limits, run.rewrite)
    second = program(again)
    if again.pending or again.drawn != run.drawn or not same_output(output, second):
        raise differs("the same decisions gave another output")
