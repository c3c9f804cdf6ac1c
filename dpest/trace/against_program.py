"""The trace compared with the program: the author's own function on plain numbers must do what a traced path says.

Each round draws a number for every draw, runs the function on them, looks up the traced path whose conditions hold at
those numbers, and compares what was returned with the path's output there. Then the function runs once more on
stand-ins, its conditions decided by the same numbers: that run must end in the same expressions. State between runs,
hidden randomness, and operations that the graph reads wrongly show here, before a number is printed.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dpest.errors import MechanismRaised, TraceMismatch
from dpest.lang.extent import is_rounded
from dpest.lang.nodes import Draw, Node, Relation, is_node
from dpest.lang.plain import missing_draws
from dpest.lang.plain_numbers import PlainFloat, size_of
from dpest.laws.law import Law
from dpest.run.streams import stream
from dpest.trace.outputs import Flat
from dpest.trace.plain_run import SEED, Aim, NumberSource, PlainRun, draws_in_words, same_family, shown_leaves, shown_output
from dpest.trace.replay import Replay, Unusual, same_output
from dpest.trace.rounding import check_rounding, differing, has_functions
from dpest.trace.texts import read_as
from dpest.trace.valuation import Valuation, Value

if TYPE_CHECKING:
    from dpest.trace.explore import Path, Trace

RunProgram = Callable[[Any], Flat]

# Eight runs notice a fair hidden coin with probability 1 - 2^-8, and cost less than a millisecond for a small mechanism;
# more are made while they are cheap beside the trace.
LEAST_RUNS, MOST_RUNS = 8, 48
# Further inputs of one question run the same code: half as many for each of them are some dozens together.
FEWER_RUNS = 4
SHARE = 0.1  # of the time that the trace took
SECONDS = 0.005
_VERY_LONG = 2.0  # seconds after which even the least number of runs is cut short
_AIMED_PATHS = 64  # paths whose conditions are aimed at
_MOST_EXACT = 2**53  # whole numbers above are rounded too
ROUNDING = 1e-13  # relative to the largest number on the way: a thousand floating-point operations
_MOST_SHOWN = 400  # characters of an output in a message
_CHANCE = 1e-9  # an unexplored path may be met by chance, but not more rarely than this


@dataclass(frozen=True)
class Checks:
    """How thoroughly a trace is compared with the program: seconds, and the runs that are made even if they take longer."""

    seconds: float = SECONDS
    runs: int = LEAST_RUNS


CHECKS = Checks()


class Rounds:
    """How many runs are made: as many as the time allows, and at least a few that could be compared."""

    def __init__(self, checks: Checks) -> None:
        self.compared = 0
        self._seconds, self._least = checks.seconds, checks.runs
        self._start = time.perf_counter()

    def __iter__(self) -> Iterator[int]:
        for i in range(MOST_RUNS):
            spent = time.perf_counter() - self._start
            if i and spent > max(_VERY_LONG, self._seconds):
                return
            if self.compared >= self._least and spent > self._seconds:
                return
            yield i


def check_against_program(traced: Trace, program: RunProgram, checks: Checks) -> str:
    """Raises `TraceMismatch` where the program does what no path says; returns an output whose noise cancels but for rounding."""
    source = NumberSource(stream(SEED))
    tree = _Branching([*traced.paths, *traced.cycles], 0)
    around = set(map(id, traced.cycles))
    places = Places()
    aims = aims_of(traced.paths, places)
    lost, cancelled = 0, ""
    constants: dict[tuple[int, int], Any] = {}
    rounds = Rounds(replace(checks, runs=MOST_RUNS) if has_functions(traced.paths[:_AIMED_PATHS]) else checks)
    for i in rounds:
        aimed = i % 2 == 1
        run = PlainRun(source, aims if aimed else None, together=traced.counted)
        output = run_plainly(program, run)
        met = _Met(run, places)
        path = met.path(tree)
        output = output if path is None else read_as(path.output.structure, output)
        if not aimed:
            check_rounding(run, [] if path is None or met.valuation.by_rounding else met.leaves(path))
        if met.valuation.unclear or id(path) in around:  # another round of a loop: the trace has the first one only
            continue
        rounds.compared += 1
        if path is None:
            lost += not aimed
            if not is_plausible(lost, rounds.compared, traced.log_unexplored):
                raise mismatch(run, output, no_path(traced.log_unexplored))
            continue
        met.compare(path, output)
        cancelled = cancelled or differing(path, output, run, constants)
        if i % 4 < 2:
            _replay(path, run, program, traced.together)
    return cancelled


def run_plainly(program: RunProgram, run: PlainRun) -> Flat:
    """The program's output on plain numbers; an error of its own is shown with the draws that lead to it."""
    try:
        with np.errstate(all="ignore"):
            return program(run)
    except MechanismRaised as error:
        raise MechanismRaised(f"{error}; the draws were {draws_in_words(run.drawn)}") from error.__cause__


def is_plausible(lost: int, rounds: int, log_unexplored: float) -> bool:
    """Whether so many of the runs may have met paths that were not explored, by chance."""
    return log_unexplored > -math.inf and (not lost or math.log(rounds) + log_unexplored > math.log(_CHANCE))


class Places:
    """Which draw of a run each draw of the graph is: 0 for the first."""

    def __init__(self) -> None:
        self._known: dict[Draw, int] = {}
        self._paths: set[int] = set()

    def add(self, path: Path) -> None:
        """Note the draws of a path."""
        if id(path) not in self._paths:
            self._paths.add(id(path))
            self._known.update((draw, k) for k, draw in enumerate(path.drawn))

    def get(self, draw: Draw) -> int | None:
        """The draw's place; None for one that was made outside the run."""
        return self._known.get(draw)


class _Branching:
    """The paths that share their first steps, and what they do next, worked out when it is needed."""

    def __init__(self, paths: list[Path], depth: int) -> None:
        self.paths = paths
        self._depth = depth
        self._ways: list[tuple[Any, _Branching]] | None = None

    @property
    def end(self) -> Path | None:
        """The path that takes no further step."""
        first = self.paths[0] if self.paths else None
        return first if first is not None and len(first.steps) <= self._depth else None

    def ways(self) -> list[tuple[Any, _Branching]]:
        """Each next step, and the paths that take it."""
        if self._ways is None:
            groups: dict[int, tuple[Any, list[Path]]] = {}
            for path in self.paths:
                step = path.steps[self._depth]
                groups.setdefault(id(step), (step, []))[1].append(path)
            self._ways = [(step, _Branching(paths, self._depth + 1)) for step, paths in groups.values()]
        return self._ways


class _Met:
    """One plain run, and the traced path that its numbers lead to."""

    def __init__(self, run: PlainRun, places: Places) -> None:
        self.run = run
        self.valuation = run.outside
        self._places = places
        self._on: Path | None = None  # a path that goes on from where the run stands

    def path(self, tree: _Branching) -> Path | None:
        """The path whose conditions hold at the run's numbers; None where there is none."""
        while tree.end is None:
            taken = [below for step, below in tree.ways() if self._takes(step, below.paths[0])]
            if len(taken) != 1:
                if len(taken) > 1 and not self.valuation.unclear:
                    raise mismatch(self.run, None, "two of its paths at once, whose conditions should exclude each other")
                return None
            tree = taken[0]
        return tree.end

    def _takes(self, step: Sequence[Any], path: Path) -> bool:
        self._places.add(path)
        self._on = path
        return all(self._holds(literal) for literal in step)

    def _holds(self, literal: Any) -> bool:
        for draw, _ in literal.terms:
            self._place(draw)
        return self.valuation.satisfies(Relation.GE, literal.terms, literal.constant)

    def _place(self, draw: Draw) -> None:
        if draw.made_of is not None:
            for part in draw.made_of.parts:
                self._place(part)
            return
        while draw.origin is not None:
            draw = draw.origin.base
        k = self._places.get(draw)
        if k is not None and self._on is not None and self._on.guards:
            self._made(self._on, draw)
        elif k is not None:
            put(self.valuation, draw, k, self.run)

    def _made(self, path: Path, last: Draw | None = None) -> int:
        """How many draws the program makes on a path, up to one of them; each gets its number."""
        if not path.guards:
            return len(path.drawn)
        made = 0
        for draw in path.drawn:
            if all(self.valuation.holds(c) == way for c, way in path.guards.get(draw, ())):
                put(self.valuation, draw, made, self.run)
                made += 1
            if draw is last:
                break
        return made

    def leaves(self, path: Path) -> Sequence[Any]:
        """The path's output, its draws numbered; nothing where the program made others than the path says."""
        return path.output.leaves if self._entered(path) == len(self.run.drawn) else ()

    def _entered(self, path: Path) -> int:
        """How many draws the program makes on a path; each gets its number."""
        self._places.add(path)
        self._on = path
        for draw in path.drawn if not path.guards else ():
            self._place(draw)
        return self._made(path)

    def compare(self, path: Path, output: Flat) -> None:
        """Refuse an output that the path does not say at these numbers."""
        made = self._entered(path)
        if made != len(self.run.drawn):
            raise mismatch(self.run, output, f"{made} draws, and the program made {len(self.run.drawn)}")
        compare_outputs(path.output, output, self.valuation, self.run)


def put(valuation: Valuation, draw: Draw, position: int, run: PlainRun) -> None:
    """Give a draw of the graph the number that the program drew at its place."""
    if position >= len(run.drawn):
        raise mismatch(run, None, f"at least {position + 1} draws, and the program made {len(run.drawn)}")
    drawn = run.drawn[position]
    factor = same_family(draw.law, drawn.law)
    if factor is None:
        raise mismatch(run, None, f"{draw.law.words()} as draw {position + 1}, where the program drew {drawn.law.words()}")
    valuation.put(draw, drawn.value * factor)


def compare_outputs(expected: Flat, output: Flat, valuation: Valuation, run: PlainRun) -> None:
    """Refuse an output of the program that is not what the graph says at the numbers that were drawn."""
    leaves = [valuation.leaf(x) for x in expected.leaves]
    if not valuation.unclear:
        compare_leaves(expected, leaves, output, run)


def compare_leaves(expected: Flat, values: Sequence[Any], output: Flat, run: PlainRun) -> None:
    """Refuse an output of the program that has not these values where the graph has its leaves."""
    same = expected.structure == output.structure
    if not same or not all(_leaf_agrees(*x, run) for x in zip(expected.leaves, values, output.leaves, strict=True)):
        raise mismatch(run, output, shown_leaves(expected.structure, values))


def _leaf_agrees(node: Any, expected: Any, returned: Any, run: PlainRun) -> bool:
    size, number = size_of(returned) if isinstance(returned, PlainFloat) else 0.0, run.number(returned)
    if _agree(expected, number, size):
        return True
    if not isinstance(expected, Value):
        return False
    if not expected.inexact:  # a whole number, unless what cancels was rounded on the way
        return _cancels(node) and _rounded_to(float(expected.number), number, run.outside.largest(node))
    # What an array holds has lost the size of the numbers on the way to it; the graph knows them, at some cost.
    return _agree(expected, number, run.outside.largest(node))


def _cancels(node: Any) -> bool:
    return is_rounded(node) or (is_node(node) and any(not draw.law.discrete for draw in missing_draws(node, {})))


def _agree(expected: Any, returned: Any, size: float) -> bool:
    """Whether a leaf is what was expected; `size` is that of the numbers from which the program computed it."""
    if not isinstance(expected, Value):
        return _same_constant(expected, returned) or _rounded_to(expected, returned, size)
    if not isinstance(returned, int | float):
        return False
    if isinstance(expected.number, float):  # beyond what floats hold: the program's result has no digits to compare
        return True
    if not math.isfinite(returned):
        return False
    if not expected.inexact and abs(expected.number) <= _MOST_EXACT:
        return bool(expected.number == returned)
    return abs(float(expected.number) - returned) <= max(expected.slack, ROUNDING * size, 1e-300)


def _rounded_to(expected: Any, returned: Any, size: float) -> bool:
    """Whether noise that cancels, as in (x + z) - z, left a number that differs from a constant by rounding alone."""
    numbers = all(isinstance(v, int | float) and not isinstance(v, bool) for v in (expected, returned))
    return numbers and abs(float(expected) - float(returned)) <= ROUNDING * size


def _same_constant(a: Any, b: Any) -> bool:
    if isinstance(a, int | float) and isinstance(b, int | float):
        close = isinstance(a, float) and math.isclose(a, b, rel_tol=1e-12)  # x - x + 0.1 is a constant up to rounding
        return a == b or close or (math.isnan(a) and math.isnan(b))
    return type(a) is type(b) and bool(a == b)


class GuidedRun(Replay):
    """A run on stand-ins whose conditions are decided by the numbers of a plain run."""

    def __init__(self, draws: Sequence[Draw], plain: PlainRun, joined: Sequence[bool] = (), together: bool = False) -> None:
        super().__init__(draws, joined)
        self.together = together
        self.plain = plain
        self.valuation = plain.outside
        self.made = 0

    def within(self, node: Node, most: int) -> bool:
        """Whether a value may be taken number by number: the numbers of the plain run end that."""
        return True

    def draw(self, law: Law) -> Node:
        """A stand-in, with the number that the program drew here."""
        node = super().draw(law)
        assert isinstance(node, Draw)
        if all(self.valuation.holds(c) == way for c, way in self.under):
            put(self.valuation, node, self.made, self.plain)
            self.made += 1
        return node

    def decide(self, condition: Node) -> bool:
        """Which way the condition goes at the numbers of the plain run."""
        if self.under:
            raise Unusual
        return self.valuation.holds(condition)


def _replay(path: Path, run: PlainRun, program: RunProgram, together: bool) -> None:
    """The path once more on stand-ins: the same numbers must lead to the same expressions."""
    again = GuidedRun(path.drawn, run, path.joined, together)
    output = program(again)
    if again.valuation.unclear:
        return
    if again.drawn != len(path.drawn) or not same_output(path.output, output):
        shown = [x if not is_node(x) else again.valuation.leaf(x) for x in output.leaves]
        raise mismatch(run, None, f"{_words(path, again)}; run again, it said {shown_leaves(output.structure, shown)}")


def _words(path: Path, again: GuidedRun) -> str:
    return shown_leaves(path.output.structure, [again.valuation.leaf(x) for x in path.output.leaves])


def aims_of(paths: Sequence[Path], places: Places) -> dict[int, list[Aim]]:
    """Conditions of some paths, by the position of the last draw in each."""
    found: dict[int, Aim] = {}
    last: dict[int, list[Aim]] = {}
    for path in paths[:: max(1, len(paths) // _AIMED_PATHS)]:
        places.add(path)
        for literal in path.conditions if not path.guards else ():
            placed = [(places.get(d), float(c), d) for d, c in literal.terms]
            if id(literal) in found or any(k is None for k, _, _ in placed):
                continue
            *others, (k, c, draw) = sorted(placed, key=lambda t: t[0] or 0)
            found[id(literal)] = aim = Aim(draw.law, c, float(literal.constant), tuple((j or 0, x) for j, x, _ in others))
            last.setdefault(k or 0, []).append(aim)
    return last


def no_path(log_unexplored: float) -> str:
    """What is said of a run that no path has foreseen."""
    if log_unexplored == -math.inf:
        return "no path at all: none of them has conditions that hold at these draws"
    return f"a path that was explored: others weigh at most exp({log_unexplored:.4g})"


def _short(text: str) -> str:
    return text if len(text) <= _MOST_SHOWN else text[:_MOST_SHOWN] + " ..."


def mismatch(run: PlainRun, output: Flat | None, expected: str) -> TraceMismatch:
    """The error for a program that does not do what its trace says."""
    returned = "" if output is None else f" it returned {_short(shown_output(run, output))};"
    return TraceMismatch(
        f"the mechanism on plain numbers does not do what its trace says. With the draws {draws_in_words(run.drawn)}"
        f"{returned} the trace expected {_short(expected)}. Either the mechanism has randomness or state of its own (random, "
        "secrets, numpy.random, a clock, a counter kept between runs): use dpest draws, and keep no state. Or it compares values "
        "that are equal as real numbers, and the rounding of floating point decides, as in `(x + noise) - x > noise`. Or dpest "
        "reads one of its operations wrongly: please report it. Meanwhile dpest.audit bounds the loss of any program as a black "
        "box"
    )
