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
from functools import cached_property, partial
from typing import Any

import numpy as np

from dpest.errors import BudgetExceeded, ExactRefused, MechanismError, MechanismRaised, RandomTruth
from dpest.lang.behind import hidden_draws
from dpest.lang.folding import folded
from dpest.lang.generators.swap import standing_in
from dpest.lang.nodes import Draw, Linear, Node, ancestors, children, draws_of, is_node
from dpest.lang.one_text import of_texts
from dpest.lang.sharing import sharing_noise
from dpest.laws.discrete import Atoms
from dpest.numerics.effort import counted_effort, spend_steps
from dpest.numerics.logspace import log_sum
from dpest.run.settings import Sides, keeping_sides
from dpest.trace.against_program import CHECKS, LEAST_RUNS, SHARE, Checks, Places, aims_of, check_against_program
from dpest.trace.agreeing import without_agreeing_forks
from dpest.trace.chain import OutputChances
from dpest.trace.chained import CHAIN, LaterChain, chained
from dpest.trace.columns import constant_key
from dpest.trace.execute import execute, is_rewritten
from dpest.trace.forks import Branch, Rewrite, TraceRun, check_replay
from dpest.trace.hidden_randomness import Watch
from dpest.trace.identity import check_identity
from dpest.trace.images import in_one_form
from dpest.trace.kept_state import check_state
from dpest.trace.limits import LIMITS, Limits
from dpest.trace.literal import Literal, held
from dpest.trace.memory import nodes_forgotten
from dpest.trace.one_of import one_of
from dpest.trace.outcomes import returns_no_more
from dpest.trace.outputs import Flat
from dpest.trace.plain_run import one_run
from dpest.trace.replay import Guard, Pool
from dpest.trace.rounds import Loop, Step
from dpest.trace.seeds_kept import check_seeds_kept
from dpest.trace.series import Loops, check_weights
from dpest.trace.settled import settled


@dataclass(frozen=True)
class Path:
    """One way through the program: the conditions taken, and what it returns."""

    steps: tuple[Step, ...]  # what each fork on the way added
    output: Flat
    conditions: tuple[Literal, ...]  # the inequalities that hold on it, without those that others imply
    drawn: tuple[Draw, ...] = ()  # every draw of the run, in its order
    guards: Mapping[Draw, Guard] = field(default_factory=dict)  # of draws that are made only where conditions hold
    joined: tuple[bool, ...] = ()  # which `if` statements on the way had both sides worked out
    loops: tuple[Loop, ...] = ()  # loops on the way whose further rounds are like the one that is written out here

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """Every node that the output depends on."""
        return tuple(ancestors(*self.output.leaves))

    @cached_property
    def draws(self) -> tuple[list[Draw], ...]:
        """The draws that each leaf of the output depends on."""
        return tuple(draws_of(x) + hidden_draws(x) for x in self.output.leaves)

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
    error: float = 0.0  # how far off ln of a probability may be, where probabilities were worked out before
    together: bool = False  # whether sides of `if` statements were kept together
    counted: bool = False  # whether a loop that only counts is one draw
    whole: bool = True  # whether the paths are all there are; not where a program is cut down to some of its runs
    seeded: tuple[str, ...] = ()  # seeds that the program sets itself: what it draws from them is known to everybody
    cancelled: str = ""  # an output in which noise cancels as a real number, and leaves its rounding in the program's own
    closed: bool = False  # whether the unexplored ones are known to return nothing that others do not
    rounded_off: float = 0.0  # the most that a table of cumulative probabilities misses 1 by (`literal.rounded_off`)


# Up to here forks are cheaper than anything else, and known best. Above, the sides of `if` statements are kept together where
# they can be: above-threshold over ten queries has 11 paths, a dozen randomised responses have 4,096.
FEW_PATHS = 16
FEW_DECISIONS = 2_000  # of all runs together, for the same reason: long loops have few paths and many decisions
_MOST_WITHOUT_USE = 8 * FEW_PATHS  # paths of a trace that should keep sides together, and does not

# Operations on each other's values that an output is made of. Sums of choices have three or four, however many people there are;
# what is computed from itself in each of a dozen rounds has more, and is a long sum over all sequences of rounds.
_NESTED = 10

_IN_STEPS = 10  # what an `if` whose sides are kept together takes, also in a replay: a tenth of a millisecond

# A loop that comes back to a state in which it was has few paths by forks, and no end where sides are kept together: there,
# as many times more paths and decisions are followed. Twice of it helps no program that was tried, half loses one.
_MORE_IN_LOOPS = 16

LoopWeight = Callable[[Loop], float]  # ln of what a loop multiplies the weight of its first round by


def trace(
    mechanism: Callable[..., Any],
    data: Any,
    params: Mapping[str, Any],
    limits: Limits = LIMITS,
    checks: Checks = CHECKS,
    loop_weight: LoopWeight | None = None,
    sides: Sides | None = None,
) -> Trace:
    """Every path of `mechanism(data, **params)`, compared with the program on plain numbers.

    Without `loop_weight`, of paths that were left out behind a loop it is only known that they weigh at most 1.
    """
    kept = keeping_sides() if sides is None else sides

    def program(run: Any) -> Flat:
        return execute(run, mechanism, data, params)

    watch = Watch(mechanism, data, params, lambda: program(one_run()))
    with nodes_forgotten(), watch, standing_in(mechanism, data, params) as held:
        if kept is Sides.BY_STATES:
            traced = as_trace(chained(program, CHAIN, limits, checks))
        else:
            traced = _few_or_together(program, limits, checks, kept, loop_weight, lambda: is_rewritten(mechanism))
        check_identity(mechanism, program, traced.counted, checks.runs >= LEAST_RUNS, aims_of(traced.paths, Places()))
        check_state(mechanism, data, program)
    check_seeds_kept(held.secret, traced.paths)
    whole = traced.log_unexplored == -math.inf and not traced.cycles
    if traced.log_unexplored > -math.inf:
        seen = (x for path in traced.paths if path.output.structure is None for x in path.output.leaves)
        traced = replace(traced, closed=returns_no_more(mechanism, (data,), seen))
    paths = without_agreeing_forks(traced.paths) if whole else traced.paths
    paths = tuple(replace(path, output=settled(path.output, path.conditions)) for path in paths)
    return replace(traced, paths=paths, seeded=tuple(held.seeded))


def _few_or_together(
    program: Callable[[Any], Flat],
    limits: Limits,
    checks: Checks,
    sides: Sides,
    loop_weight: LoopWeight | None,
    rewritten: Callable[[], bool],
) -> Trace:
    """The paths by forks where they are few; else with sides kept together; where that fails, all of them by forks."""
    checked = partial(_checked, program, checks, loop_weight)
    start = time.perf_counter()
    forks = _PathSearch(limits)
    refusal: ExactRefused | RandomTruth | MechanismRaised | None = None
    if sides is not Sides.TOGETHER:
        try:
            if forks.explored(program, few=1 if sides is Sides.AS_NEEDED else 0):
                return checked(forks, start)
        except (ExactRefused, RandomTruth, MechanismRaised) as error:
            # Code that is rewritten writes random values into texts, and makes fractions and decimals of them.
            if isinstance(error, MechanismRaised) and not isinstance(error.__cause__, TypeError):
                raise
            # A function that calls itself without end, and asks for no decision, is no loop either.
            if sides is Sides.APART or (isinstance(error.__cause__, RecursionError) and not forks.pending and not forks.paths):
                raise
            refusal = error
    chain = LaterChain(program, limits, checks, (forks.looped or forks.repeats) and sides is Sides.AS_NEEDED)
    if sides is Sides.AS_NEEDED and (found := chain.on_points(FEW_PATHS)) is not None:
        return as_trace(found)
    try:
        if sides is Sides.TOGETHER or rewritten():
            begin, search = time.perf_counter(), _PathSearch(limits, together=True)
            search.begin(program, few=1 if chain.may_be_found() else 0)
            if forks.repeats and not forks.looped and search.explored(program, few=1) and not search.is_nested():
                return checked(search, begin)
            if not search.closed and (whole := chain.whole()) is not None:
                return as_trace(whole)
            with counted_effort(_SHORT if chain.may_be_found() else None):
                if forks.cycles and not search.counted and forks.explored(program, few=_MORE_IN_LOOPS):
                    return checked(forks, start)
                search.explored(program)
                return checked(search, begin)
    except (ExactRefused, MechanismError, RecursionError) as error:  # nested choices may be deeper than Python's stack
        if sides is Sides.TOGETHER or of_texts(error):
            raise
    if chain.may_be_found() and (found := chain.found() or chain.long()) is not None:
        return as_trace(found)
    if refusal is not None:
        raise refusal
    forks.explored(program)
    return checked(forks, start)


def _checked(program: Callable[[Any], Flat], checks: Checks, of: LoopWeight | None, search: _PathSearch, start: float) -> Trace:
    traced = search.found(of)
    seconds = max(checks.seconds, SHARE * (time.perf_counter() - start))
    return replace(traced, cancelled=check_against_program(traced, program, replace(checks, seconds=seconds)))


# Steps after which a chain whose tail was left out is the answer, if no other way has led to one with its tail: three seconds.
_SHORT = 300_000


def as_trace(found: OutputChances) -> Trace:
    """A path for each output of a chain: one draw says which of them came."""
    draw, conditions = one_of([log_p for _, log_p in found.outputs], "outputs")
    paths = [Path((told,), output, told, (draw,)) for told, (output, _) in zip(conditions, found.outputs, strict=True)]
    return Trace(tuple(paths), found.log_left_out, error=found.error)


def trace_on_unknown(
    mechanism: Callable[..., Any],
    data: Any,
    params: Mapping[str, Any],
    limits: Limits,
    rewrite: Rewrite,
    sides: Sides = Sides.APART,
) -> Trace:
    """Every path on data that holds unknown numbers; `rewrite` gives the form in which a condition is looked at."""

    def program(run: Any) -> Flat:
        return execute(run, mechanism, data, params)

    watch = Watch(mechanism, data, params, lambda: program(TraceRun(Branch(), [], limits, rewrite)))
    with nodes_forgotten(), watch, standing_in(mechanism, data, params) as held:
        search = _PathSearch(limits, together=sides is Sides.TOGETHER)
        search.explored(program, rewrite)
        traced = search.found(None)
    check_seeds_kept(held.secret, traced.paths)
    return traced


def explored(program: Callable[[Any], Flat], limits: Limits, loop_weight: LoopWeight | None, make: type[TraceRun]) -> Trace:
    """Every path of a program, followed by runs of another kind."""
    search = _PathSearch(limits, make=make)
    search.explored(program)
    return search.found(loop_weight)


class _PathSearch:
    """The branches still to be followed, and what was found."""

    def __init__(self, limits: Limits, together: bool = False, make: type[TraceRun] = TraceRun) -> None:
        self.limits = limits
        self.together = together
        self.make = make
        self.pool: Pool = {}
        self.joined = False  # whether sides came together anywhere
        self.counted = self.closed = False
        self.rounded_off = 0.0
        self.error = 0.0
        self.looped = self.repeats = False  # whether a state in a loop was seen, and a decision in a `for` loop
        self.pending = [Branch()]
        self.paths: list[Path] = []
        self.cycles: list[tuple[Path, int]] = []  # runs that came back, and how many conditions they had when they were there
        self.left_out: list[tuple[tuple[Step, ...], float]] = []
        self.work = self.runs = 0

    def explored(self, program: Callable[[Any], Flat], rewrite: Rewrite | None = None, *, few: int = 0) -> bool:
        """Follows every branch; with `few`, gives up (and can be gone on with) where there are that many times a few."""
        while self.pending:
            many = len(self.paths) + len(self.pending)
            if few and (many > few * FEW_PATHS or self.work > few * FEW_DECISIONS):
                return False
            useless = self.together and not self.joined and not self.counted
            if useless and (many > _MOST_WITHOUT_USE or self.work > 4 * FEW_DECISIONS):
                raise BudgetExceeded("no `if` of the mechanism has sides that can be kept together")
            if not self._short(program, rewrite, few):
                return False
        return True

    def _short(self, program: Callable[[Any], Flat], rewrite: Rewrite | None, few: int) -> bool:
        """Follows the next branch; False where it has too many forks for a few paths, and is left for later."""
        self.runs += 1
        branch = self.next()
        soft = replace(self.limits, depth=min(self.limits.depth, branch.forks + 4 * few * FEW_PATHS)) if few else self.limits
        if self.runs <= soft.tries and soft.forks < soft.tries and not self.cycles:
            soft = replace(soft, forks=soft.tries)
        run = self.make(branch, self.pending, soft, rewrite, self.together, self.pool)
        waiting = len(self.pending)
        try:
            self._follow(run, program)
        except ExactRefused as error:
            self.looped, self.closed = self.looped or bool(run.visits), self.closed or run.closed
            self.repeats = self.repeats or run.repeats
            if not isinstance(error, BudgetExceeded) or run.forks <= soft.depth or soft.depth == self.limits.depth:
                raise
            self.pending[waiting:] = [branch]
            return False
        return True

    def is_nested(self) -> bool:
        """Whether an output is computed from values that are computed from each other, again and again, or each from the last."""
        return any(max(_depth(x), _tied(x)) > _NESTED for path in self.paths for x in path.output.leaves if is_node(x))

    def begin(self, program: Callable[[Any], Flat], *, few: int) -> None:
        """Follows the first branch; with `few`, leaves it for later where it has too many forks for a few paths."""
        self._short(program, None, few)

    def _follow(self, run: TraceRun, program: Callable[[Any], Flat]) -> None:
        output = program(run)
        if run.over is not None:
            raise run.over
        self.work += run.called
        conditions = held(run.bounds) if not run.images else in_one_form(held(run.bounds))
        if conditions is None:
            return
        spend_steps(1 + run.called // 8 + _IN_STEPS * run.tried)  # most decisions are replayed, which costs little
        self.joined = self.joined or any(run.joined)
        self.counted = self.counted or run.counted
        self.closed = self.closed or run.closed
        self.rounded_off = max(self.rounded_off, run.rounded_off)
        self.error = max(self.error, math.fsum(d.law.off for d in run.draws[: run.drawn] if isinstance(d.law, Atoms)))
        self.looped, self.repeats = self.looped or bool(run.visits), self.repeats or run.repeats
        drawn = tuple(run.draws[: run.drawn])
        if run.log_left_out > -math.inf:
            self.left_out.append((tuple(run.steps), run.log_left_out))
        path = Path(tuple(run.steps), run.released(output), conditions, drawn, run.guards, tuple(run.joined))
        if run.returned is not None:
            self.cycles.append((path, run.returned))
        elif run.abandoned:
            self.left_out += [(path.steps, run.log_mass)] if run.log_mass > -math.inf else []
        else:
            if not self.paths:
                check_replay(run, output, program, run.limits)
            self.paths.append(path)

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
        cycles = tuple(path for path, _ in self.cycles)
        unexplored = float(log_sum(np.array(missing)))
        if cycles and loop_weight is not None and not any(path.guards for path in paths):
            check_weights(((path.conditions, path.loops) for path in paths), math.exp(unexplored), loop_weight)
        return Trace(
            paths, unexplored, cycles, self.error, together=self.together, counted=self.counted, rounded_off=self.rounded_off
        )


def _depth(node: Node) -> int:
    """How many operations lie between a value and its draws."""

    def parts(x: Node) -> list[Node]:
        return [y for y in children(x) if is_node(y)]

    return folded(node, parts, lambda x, found: 1 + max((found[id(y)] for y in parts(x)), default=0))


def _tied(node: Node) -> int:
    """How many terms of a sum share noise, each with another one: all terms of `sum(a != b for a, b in pairwise(answers))`."""
    terms = [n for n, _ in node.terms] if isinstance(node, Linear) else []
    return max(map(len, sharing_noise(terms)), default=0)


def _most(log_mass: float, loops: Sequence[Loop], loop_weight: LoopWeight | None) -> float:
    """ln of the most that a path weighs with all rounds of its loops."""
    if loop_weight is None:
        return 0.0 if loops else log_mass
    return log_mass + sum(map(loop_weight, loops))
