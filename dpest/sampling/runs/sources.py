"""Samples any traced mechanism, many rows at a time.

A random condition is evaluated on the rows that are on the current path. Where it holds for some of them only, the run
goes on with those that are more, and the others are queued. The ways through the program that were met are kept as a
tree: the author's function runs once for each way, replayed with the decisions recorded so far, and never again.
Arrays are computed when a condition or the output needs them, and rows that are finished are dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from dpest.errors import ExactRefused, MechanismError
from dpest.lang.nodes import NODES, Draw, Node, Where, ancestors
from dpest.run.settings import Sides, keeping_sides
from dpest.sampling.runs.outcomes import Outcomes, tally
from dpest.sampling.runs.outputs import Batch, encode_groups
from dpest.sampling.runs.rows import Rows
from dpest.trace.against_program import SECONDS
from dpest.trace.columns import HOLE, Columns, Rng, RowsOfShape, Shape, constant_key
from dpest.trace.execute import execute
from dpest.trace.hidden_randomness import Watch
from dpest.trace.identity import check_identity
from dpest.trace.memory import nodes_forgotten
from dpest.trace.outputs import Flat
from dpest.trace.plain_run import one_run
from dpest.trace.replay import Replay, Unusual, differs, mark

MOST_DECISIONS = 100_000  # of one run: beyond, its loop is taken not to end
MOST_SPOTS = 200_000  # forks that are remembered, some hundred bytes each: beyond, one begins anew
MOST_LOOKED_AHEAD = 500  # forks up to which needed values are worked out: the walk over all of them costs less than the rows
FEW_DECISIONS = 6  # of one run: up to 64 ways through the program are cheap to keep apart


class OutputSource(Protocol):
    """What can be sampled: outputs of a mechanism on one input."""

    def draw(self, data: Any, size: int, rng: Rng, /) -> Batch:
        """`size` independent outputs on `data`."""


class TracedSampler:
    """A mechanism written with dpest draws, ready to be sampled."""

    def __init__(
        self, mechanism: Callable[..., Any], params: Mapping[str, Any] | None = None, together: bool | None = None
    ) -> None:
        self.mechanism = mechanism
        self.params = dict(params or {})
        self.together = together  # whether sides of `if` statements are kept together; None until `check` knows
        self._trees: dict[int, tuple[Any, PathTree]] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return TracedSampler, (self.mechanism, self.params, self.together)

    def draw(self, data: Any, size: int, rng: Rng) -> Batch:
        """`size` independent outputs on `data`."""
        found = encode_groups(self.groups(data, size, rng))
        return found.picked(rng.permutation(len(found)))  # rows come path by path

    def outcomes(self, data: Any, size: int, rng: Rng) -> Outcomes:
        """How often each output occurs in as many; a path that ends in constants is one row."""
        groups = self.groups(data, size, rng).groups
        brief = Columns(tuple(g if g.values else replace(g, rows=1) for g in groups))
        times = [np.ones(g.rows, dtype=np.int64) if g.values else np.array([g.rows]) for g in groups]
        return tally(encode_groups(brief), np.concatenate(times))

    def groups(self, data: Any, size: int, rng: Rng) -> Columns:
        """Outputs path by path."""
        if not size:
            return Columns(())
        tree = self._tree(data)
        tree.look_ahead()
        pending = [(Rows.start(size, rng), tree.root)]
        groups: list[RowsOfShape] = []
        with nodes_forgotten():
            while pending:
                groups.append(self._one_way(*pending.pop(), pending, tree, data))
        return Columns(tuple(groups))

    def check(self, data: Any, seconds: float = SECONDS) -> None:
        """Compare the graph with the program on plain numbers: rows are drawn through the graph only where they agree."""
        from dpest.sampling.runs.source_check import check_sampling

        def program(run: Any) -> Flat:
            return execute(run, self.mechanism, data, self.params)

        with Watch(self.mechanism, data, self.params, lambda: program(one_run())):
            decisions = check_sampling(program, seconds)
            if decisions > FEW_DECISIONS and self.together is not False and keeping_sides() is not Sides.APART:
                try:
                    check_sampling(program, seconds, together=True)
                    self.together = True
                except (MechanismError, ExactRefused):
                    self.together = False
            check_identity(self.mechanism, program, bool(self.together))

    def _tree(self, data: Any) -> PathTree:
        # The data is kept beside its tree, so that no other object can come to have its id.
        known = self._trees.get(id(data))
        if known is None or known[1].spots > MOST_SPOTS:
            known = self._trees[id(data)] = (data, PathTree())
        return known[1]

    def _one_way(self, rows: Rows, spot: Spot, pending: list[_Waiting], tree: PathTree, data: Any) -> RowsOfShape:
        while isinstance(spot.content, Fork):
            rows, outcome = _part(rows, spot.content, pending)
            spot = spot.content.ways[outcome]
        if spot.content is None:
            run = SampleRun(rows, spot, pending, tree, bool(self.together))
            flat = execute(run, self.mechanism, data, self.params)
            leaves = [run.settled(leaf) for leaf in flat.leaves]
            rows, spot = run.rows, run.spot
            spot.content = End.of(flat.structure, leaves)
        assert isinstance(spot.content, End)
        return RowsOfShape(spot.content.shape, tuple(rows.value(node) for node in spot.content.nodes), rows.size)


@dataclass(eq=False)
class Fork:
    """A random condition, and what comes after it for either outcome; `later` holds what that needs, once all is known."""

    condition: Node
    ways: tuple[Spot, Spot]
    later: frozenset[Node] | None = None


@dataclass(frozen=True)
class End:
    """What the program returns: its shape, and the nodes in the holes of it."""

    shape: Shape
    nodes: tuple[Node, ...]

    @classmethod
    def of(cls, structure: Any, leaves: list[Any]) -> End:
        """The end of a run that returned these leaves."""
        shape = tuple(HOLE if isinstance(leaf, NODES) else constant_key(leaf) for leaf in leaves)
        return cls(Shape(structure, shape), tuple(leaf for leaf in leaves if isinstance(leaf, NODES)))


@dataclass(eq=False)
class Spot:
    """A place in the program: the decisions that lead there, and what comes next once it is known."""

    outcomes: list[bool] = field(default_factory=list)
    marks: list[Any] = field(default_factory=list)
    draws: list[Draw] = field(default_factory=list)
    joined: list[bool] = field(default_factory=list)
    content: Fork | End | None = None


@dataclass(eq=False)
class PathTree:
    """The ways through a program on one input that were met so far."""

    root: Spot = field(default_factory=Spot)
    spots: int = 1
    seen_spots: int = 0

    def look_ahead(self) -> None:
        """Note at each fork which values its ways still need, so that others are not carried along."""
        if self.spots != self.seen_spots <= MOST_LOOKED_AHEAD:
            self.seen_spots = self.spots
            _needs(self.root)


_Waiting = tuple[Rows, Spot]


def _needs(spot: Spot) -> frozenset[Node] | None:
    """The nodes that are evaluated from here on; None while a way is not known."""
    match spot.content:
        case None:
            return None
        case End(nodes=nodes):
            return frozenset(ancestors(*nodes))
        case Fork() as fork:
            parts = [_needs(way) for way in fork.ways]
            known = [part for part in parts if part is not None]
            fork.later = frozenset().union(*known) if len(known) == len(parts) else None
            return None if fork.later is None else fork.later | frozenset(ancestors(fork.condition))


def _part(rows: Rows, fork: Fork, pending: list[_Waiting]) -> tuple[Rows, bool]:
    here, there, outcome = rows.split(fork.condition)
    if fork.later is not None:
        rows.forget_all_but(fork.later)
    if there is not None:
        pending.append((there, fork.ways[not outcome]))
    return here, outcome


class SampleRun(Replay):
    """One run of the author's function: follows the recorded decisions, then goes one way at each new one."""

    def __init__(self, rows: Rows, spot: Spot, pending: list[_Waiting], tree: PathTree, together: bool = False) -> None:
        super().__init__(spot.draws, spot.joined)
        self.together = together
        self.rows = rows
        self.spot = spot
        self.pending = pending
        self.tree = tree
        self.outcomes, self.marks = list(spot.outcomes), list(spot.marks)
        self.called = 0

    def decide(self, condition: Node) -> bool:
        """The recorded outcome, or the one that more of the rows have; the others are queued."""
        if self.under:
            raise Unusual
        k = self.called
        self.called = k + 1
        seen = mark(condition)
        if k < len(self.outcomes):
            if self.marks[k] != seen:
                raise differs(f"condition {k + 1} compared with {self.marks[k]}, then with {seen}")
            return self.outcomes[k]
        if k >= MOST_DECISIONS:
            raise MechanismError(f"one run made more than {MOST_DECISIONS} random decisions: does its loop end?")
        return self._fork(condition, seen)

    def _fork(self, condition: Node, seen: Any) -> bool:
        self.marks.append(seen)
        no, yes = (
            Spot([*self.outcomes, outcome], list(self.marks), list(self.draws), list(self.joined)) for outcome in (False, True)
        )
        fork = self.spot.content = Fork(condition, (no, yes))
        self.tree.spots += 2
        self.rows, outcome = _part(self.rows, fork, self.pending)
        self.spot = fork.ways[outcome]
        self.outcomes.append(outcome)
        return outcome

    def settled(self, leaf: Any) -> Any:
        """An output leaf as a number that varies or a constant: where it may be None or a string, the run splits."""
        while isinstance(leaf, Where) and not _numeric(leaf):
            leaf = leaf.yes if self.decide(leaf.condition) else leaf.no
        return leaf


def _numeric(x: Any) -> bool:
    if isinstance(x, Where):
        return _numeric(x.yes) and _numeric(x.no)
    return isinstance(x, (*NODES, int, float))
