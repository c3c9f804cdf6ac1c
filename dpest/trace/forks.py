"""One run of a mechanism on stand-ins: a random condition goes one way, and the other is queued."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from dpest.errors import BudgetExceeded, ExactRefused
from dpest.lang.nodes import Draw, Node, Where, linear
from dpest.trace.atomic import point
from dpest.trace.execute import Abandoned, returned
from dpest.trace.images import has_images
from dpest.trace.limits import Limits
from dpest.trace.literal import Bounds, Literal, implied, left_of, log_chances, log_weight, narrowed, open_options, rounded_off
from dpest.trace.outputs import Flat
from dpest.trace.replay import Pool, Replay, Unusual, differs, mark, same_output
from dpest.trace.resolve import decide
from dpest.trace.rounds import Step, Visit, in_for_loop, kept_in_a_loop, returns_to, visit

Rewrite = Callable[[Node], Any]
MOST_VISITS = 3  # earlier visits of one state that a run is compared with: a loop without memory is seen at the second


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
    joined: list[bool] = field(default_factory=list)
    images: bool = False  # whether a condition speaks of a function of a draw
    opened: tuple[Any, ...] = ()  # conditions that were released instead of decided (`trace.opened`)


class TraceRun(Replay):
    """One run: follows its branch's recorded decisions, then goes one way at each new one and queues the other."""

    counts_up = True  # draws with infinitely many points are taken number by number where nothing else is known

    def __init__(
        self,
        branch: Branch,
        pending: list[Branch],
        limits: Limits,
        rewrite: Rewrite | None = None,
        together: bool = False,
        pool: Pool | None = None,
    ) -> None:
        super().__init__(branch.draws, branch.joined, pool)
        self.together = together
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
        self.repeats = False  # whether a decision was met in a `for` loop
        self.rounded_off = 0.0
        self.choices: dict[int, tuple[Where, Any]] = {}  # inside values: each, and the side that it came down to
        self.over: ExactRefused | None = None  # which an `except` of the author's may have caught

    def decide(self, condition: Node) -> bool:
        """The recorded outcome, or a new one that the conditions taken so far decide or fork."""
        if self.under:
            raise Unusual
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
            self.look_back(condition)
        self.look_at_points(condition)
        outcome = self.settle(condition if self.rewrite is None else self.rewrite(condition))
        self.outcomes.append(outcome)
        return outcome

    def look_at_points(self, condition: Node) -> None:
        """Forks on draws of a condition that are better known point by point."""
        for draw in kept_in_a_loop(condition, returned.__code__):
            point(draw, self)

    def settle(self, condition: Node) -> bool:
        """Which way a new condition goes."""
        return decide(condition, self)

    def side(self, choice: Where) -> Any:
        """The value that a choice comes down to, which stays so on this run."""
        if id(choice) not in self.choices:
            self.choices[id(choice)] = choice, choice.yes if decide(choice.condition, self) else choice.no
        return self.choices[id(choice)][1]

    def released(self, output: Flat) -> Flat:
        """What counts as the output of the run."""
        return output

    def look_back(self, condition: Node) -> None:
        """Ends a run that is back in a state in which it was before: it goes on as it did then."""
        self.repeats = self.repeats or in_for_loop(returned.__code__)
        now = visit(condition, len(self.steps), returned.__code__, self.bounds)
        if now is None:
            return
        known = self.visits.get(now.state, ())[-MOST_VISITS:]
        for earlier in known:
            if returns_to(now, earlier, self.steps):
                self.returned = earlier.steps
                raise Abandoned
        self.visits[now.state] = (*known, now)

    def within(self, node: Node, most: int) -> bool:
        """Whether the conditions so far say that a value lies between -most and most."""
        value = linear(node)
        terms = tuple((d, c) for d, c in value.terms if isinstance(d, Draw) and c.denominator == 1)
        if len(terms) < len(value.terms):
            return False
        sides = Literal(terms, value.constant + most), Literal(tuple((d, -c) for d, c in terms), most - value.constant)
        return all(implied(x, self.bounds) for x in sides)

    def __call__(self, literal: Literal) -> bool:
        """One inequality: known from earlier ones (in a replay, from the recorded decision), or a fork."""
        rest = left_of(literal, self.bounds)
        if isinstance(rest, bool):
            self.rounded_off = max(self.rounded_off, float(rounded_off(literal, self.bounds)))
            return rest
        literal = rest
        yes, no = log_chances(literal, self.bounds)
        self._count_fork(max(yes, no))
        # The likelier way first: a loop that ends with probability one is then left in a bounded number of runs.
        first = yes >= no
        ways = (literal, yes), (literal.negated(), no)
        (taken, chance), (other, other_chance) = ways if first else ways[::-1]
        self.queue((other,), other_chance)
        self._take((taken,), chance)
        return first

    def choose(self, options: Sequence[tuple[Literal, ...]]) -> int:
        """One of several conjunctions: known from earlier conditions, or a fork with as many ways."""
        chosen, left = open_options(options, self.bounds)
        if chosen is not None:
            return chosen
        if not left:  # the conditions taken so far contradict each other
            self.abandoned, self.log_mass = True, -math.inf
            raise Abandoned
        weights = [log_weight(new, self.bounds) for _, new in left]
        self._count_fork(max(weights))
        for (_, new), weight in zip(left[1:], weights[1:], strict=True):
            self.queue(new, weight)
        self._take(left[0][1], weights[0])
        return left[0][0]

    def _count_fork(self, likeliest: float) -> None:
        self.forks += 1
        if self.forks > self.limits.forks and self.log_mass + likeliest < self.limits.log_mass:
            self.abandoned = True
            raise Abandoned
        if self.forks > self.limits.depth:
            self.over = BudgetExceeded(f"one run made more than {self.limits.depth} random decisions that nothing decides")
            raise self.over

    def branch(self) -> Branch:
        """Where the run stands now."""
        return Branch(
            list(self.outcomes),
            list(self.prints),
            list(self.draws),
            list(self.steps),
            dict(self.bounds),
            self.forks,
            self.log_mass,
            dict(self.visits),
            list(self.joined),
            self.images,
            self.opened,
        )

    def queue(self, new: Step, chance: float) -> None:
        other = self.branch()
        other.steps.append(new)
        other.bounds, other.images = narrowed(self.bounds, new), self.images or has_images(new)
        other.log_mass += chance
        self.pending.append(other)

    def _take(self, new: Step, chance: float) -> None:
        self.steps.append(new)
        self.images = self.images or has_images(new)
        self.bounds = narrowed(self.bounds, new)
        self.log_mass += chance


def check_replay(run: TraceRun, output: Flat, program: Callable[[Any], Flat], limits: Limits) -> None:
    """The first path once more: the same decisions must give the same output."""
    again = TraceRun(run.branch(), [], limits, run.rewrite, run.together)
    second = program(again)
    if again.pending or again.drawn != run.drawn or not same_output(output, second):
        raise differs("the same decisions gave another output")
