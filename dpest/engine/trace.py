"""Runs a mechanism on stand-ins and collects every way through it.

A random condition forks the run: the function is replayed with the decisions recorded so far, and the first new
decision goes both ways, depth first. Replays are checked: a function that behaves differently the second time has
hidden randomness or state and is refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from dpest.core import RUN
from dpest.engine.columns import constant_key
from dpest.engine.literal import Bounds, Literal, implied, log_chances, log_weight, narrowed, open_options
from dpest.engine.outputs import Flat, flatten
from dpest.engine.replay import Replay, differs, mark, same_output
from dpest.engine.resolve import decide
from dpest.errors import BudgetExceeded, DpestError, MechanismRaised
from dpest.graph.nodes import Draw, Node, draws_of, is_node
from dpest.numerics.logspace import log_sum


@dataclass(frozen=True)
class Path:
    """One way through the program: the conditions taken, and what it returns."""

    steps: tuple[tuple[Literal, ...], ...]  # what each fork on the way added
    output: Flat

    @cached_property
    def draws(self) -> tuple[list[Draw], ...]:
        """The draws that each leaf of the output depends on."""
        return tuple(draws_of(x) for x in self.output.leaves)

    @cached_property
    def constants(self) -> tuple[Any, ...] | None:
        """The keys of the output's leaves, where all are constants."""
        leaves = self.output.leaves
        return None if any(map(is_node, leaves)) else tuple(("=", constant_key(x)) for x in leaves)

    @cached_property
    def conditions(self) -> tuple[Literal, ...]:
        """Every inequality that holds on this path."""
        return tuple(x for step in self.steps for x in step)


@dataclass(frozen=True)
class Trace:
    """Every path of one run on one input, and the most that unexplored ones can weigh."""

    paths: tuple[Path, ...]
    log_unexplored: float = -math.inf


@dataclass(frozen=True)
class Limits:
    """How much of a program is explored before exact inference gives up."""

    paths: int = 20_000
    decisions: int = 100_000
    # A path is left unexplored only after this many forks, and only when it weighs less than this.
    forks: int = 200
    log_mass: float = -45.0


LIMITS = Limits()
_SHALLOW = Limits(forks=48, log_mass=-30.0)


def trace(mechanism: Callable[..., Any], data: Any, params: Mapping[str, Any], limits: Limits = LIMITS) -> Trace:
    """Every path of `mechanism(data, **params)`."""
    try:
        return _explore(mechanism, data, params, limits)
    except _Unbounded:
        return _explore(mechanism, data, params, _SHALLOW)


def _explore(mechanism: Callable[..., Any], data: Any, params: Mapping[str, Any], limits: Limits) -> Trace:
    pending = [_Branch()]
    paths: list[Path] = []
    left_out: list[float] = []
    while pending:
        if len(paths) + len(pending) > limits.paths:
            if left_out and limits is not _SHALLOW:
                raise _Unbounded
            raise BudgetExceeded(f"the mechanism has more than {limits.paths} paths through its random conditions")
        run = TraceRun(pending.pop(), pending, limits)
        output = execute(run, mechanism, data, params)
        if run.abandoned:
            left_out += [run.log_mass] if run.log_mass > -math.inf else []
            continue
        if not paths:
            _check_replay(run, output, mechanism, data, params, limits)
        paths.append(Path(tuple(run.steps), output))
    return Trace(tuple(paths), float(log_sum(np.array(left_out))))


def execute(run: Any, mechanism: Callable[..., Any], data: Any, params: Mapping[str, Any]) -> Flat:
    """One run of the mechanism under `run`, its output taken apart."""
    token = RUN.set(run)
    try:
        return flatten(mechanism(data, **params))
    except _Abandoned:
        return flatten(None)
    except DpestError:
        raise
    except RecursionError as error:
        raise BudgetExceeded("the mechanism recurses deeper than Python allows on some path") from error
    except Exception as error:
        name = getattr(mechanism, "__name__", "the mechanism")
        raise MechanismRaised(f"{name} raised {type(error).__name__}: {error} (on the input {data!r})") from error
    finally:
        RUN.reset(token)


class _Abandoned(BaseException):
    """Unwinds a run whose path is not worth finishing; no `except Exception` of the author's catches it."""


class _Unbounded(Exception):
    """Too many paths, some of them endless: explore less deeply."""


@dataclass
class _Branch:
    """Where a replay starts: the outcomes of earlier conditions, and what they left; `bounds` decides the one in progress."""

    outcomes: list[bool] = field(default_factory=list)
    prints: list[Any] = field(default_factory=list)
    draws: list[Draw] = field(default_factory=list)
    steps: list[tuple[Literal, ...]] = field(default_factory=list)
    bounds: Bounds = field(default_factory=dict)
    forks: int = 0
    log_mass: float = 0.0


class TraceRun(Replay):
    """One run: follows its branch's recorded decisions, then goes one way at each new one and queues the other."""

    def __init__(self, branch: _Branch, pending: list[_Branch], limits: Limits) -> None:
        super().__init__(branch.draws)
        self.pending = pending
        self.limits = limits
        self.outcomes = list(branch.outcomes)
        self.prints = list(branch.prints)
        self.called = 0
        self.steps = list(branch.steps)
        self.bounds = dict(branch.bounds)
        self.forks = branch.forks
        self.log_mass = branch.log_mass
        self.abandoned = False

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
        outcome = decide(condition, self)
        self.outcomes.append(outcome)
        return outcome

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

    def _queue(self, new: tuple[Literal, ...], chance: float) -> None:
        self.pending.append(
            _Branch(
                list(self.outcomes),
                list(self.prints),
                list(self.draws),
                [*self.steps, new],
                narrowed(self.bounds, new),
                self.forks,
                self.log_mass + chance,
            )
        )

    def _take(self, new: tuple[Literal, ...], chance: float) -> None:
        self.steps.append(new)
        self.bounds = narrowed(self.bounds, new)
        self.log_mass += chance


def _check_replay(
    run: TraceRun, output: Flat, mechanism: Callable[..., Any], data: Any, params: Mapping[str, Any], limits: Limits
) -> None:
    """The first path once more: the same decisions must give the same output."""
    branch = _Branch(run.outcomes, run.prints, run.draws, run.steps, run.bounds, run.forks, run.log_mass)
    again = TraceRun(branch, [], limits)
    second = execute(again, mechanism, data, params)
    if again.pending or again.drawn != run.drawn or not same_output(output, second):
        raise differs("the same decisions gave another output")
