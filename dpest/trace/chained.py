"""The outputs of a program that is a chain of states, compared with what it returns on plain numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

from dpest.errors import BudgetExceeded, DpestError
from dpest.lang.plain_numbers import own_numbers
from dpest.lang.shuffled import HoldsNumbersOnly
from dpest.run.streams import stream
from dpest.trace.against_program import Checks, Rounds, is_plausible, mismatch, no_path, run_plainly
from dpest.trace.chain import ChainLimits, ChainRun, OutputChances, chances, output_key, with_points
from dpest.trace.execute import Abandoned
from dpest.trace.limits import Limits
from dpest.trace.outputs import Flat, flatten
from dpest.trace.plain_run import SEED, NumberSource, PlainRun
from dpest.trace.pointwise import PointRun

# A state takes half a millisecond, and what is replayed up to it as long again: a few seconds in all. Outputs that are as rare
# as one run in 10^9 keep ten digits with what is left out.
CHAIN = ChainLimits(states=3_000, work=300_000, little=1e-20)
# Where nothing else has led to an answer: a hundred people who are counted in two places have 5,000 states, in ten seconds.
LONG_CHAIN = ChainLimits(states=6_000, work=1_000_000, little=1e-20)
# On plain numbers: a second for programs that have no other short way, and a third of that before other ways are tried.
FEW_STATES = ChainLimits(states=400, work=20_000, little=1e-20)
MANY_STATES = ChainLimits(states=3_000, work=200_000, little=1e-20)
_SURPRISE = 21.0  # nats: a sample that is so much less likely than it can be comes by chance once in 10^9 times


def chained(
    program: Callable[[Any], Flat],
    size: ChainLimits,
    limits: Limits,
    checks: Checks,
    possible: frozenset[Any] | None = None,
    make: type[ChainRun] = ChainRun,
) -> OutputChances:
    """The probability of each output of a program, compared with the program on plain numbers."""

    def to_points(run: Any) -> Flat:
        with own_numbers() if make is PointRun else nullcontext():
            output = program(run)
        if run.state is not None or run.abandoned:
            return output
        run.finished = True
        try:
            return with_points(run, output)
        except Abandoned:
            return flatten(None)

    found = chances(to_points, size, limits, possible, make)
    _check(found, program, checks)
    return found


def _check(found: OutputChances, program: Callable[[Any], Flat], checks: Checks) -> None:
    """Raises `TraceMismatch` where the program on plain numbers returns what it should not, or never what it should."""
    known = {output_key(flat): log_p for flat, log_p in found.outputs}
    source = NumberSource(stream(SEED))
    rounds = Rounds(checks)
    surprise = 0.0
    for _ in rounds:
        run = PlainRun(source)
        output = run_plainly(program, run)
        rounds.compared += 1
        log_p = known.get(output_key(Flat(output.structure, tuple(map(run.number, output.leaves)))))
        if log_p is None and not is_plausible(1, rounds.compared, found.log_left_out):
            raise mismatch(run, output, no_path(found.log_left_out))
        # E exp(-ln p - ln n) is at most 1 for n outputs, so that by Markov's inequality more than this is no chance.
        surprise += 0.0 if log_p is None else -log_p - math.log(len(known))
        if surprise > _SURPRISE:
            raise mismatch(run, output, "outputs that are likelier")


class LaterChain:
    """The outputs of a program with loops whose states are few, worked out when they are first asked for."""

    def __init__(self, program: Callable[[Any], Flat], limits: Limits, checks: Checks, looped: bool) -> None:
        self._program, self._limits, self._checks = program, limits, checks
        self._found: OutputChances | None = None
        self._open = looped  # whether it is still to be looked for
        self._longer = False  # whether it has more states than were followed

    def on_points(self, most: int) -> OutputChances | None:
        """The outputs, if they are this few, the states are few once draws are plain numbers, and no tail was left out."""
        found = self._followed(FEW_STATES, PointRun)
        if found is None or found.has_tail:
            return None
        if self._open:  # with more outputs, a graph that shows which of them are independent comes first
            self._open, self._found = False, found
        return found if len(found.outputs) <= most else None

    def found(self) -> OutputChances | None:
        """The outputs; None where the program is no chain, or too long a one."""
        if self._open:
            self._open = False
            self._found = (self._followed(MANY_STATES, PointRun) if self._longer else None) or self._followed(CHAIN)
        return self._found

    def long(self) -> OutputChances | None:
        """The outputs of a long chain."""
        if self._longer:
            self._found = self._followed(LONG_CHAIN)
        return self._found

    def whole(self) -> OutputChances | None:
        """The outputs, if no tail of them was left out."""
        found = self.found()
        return None if found is None or found.has_tail else found

    def may_be_found(self) -> bool:
        """Whether there is a chain, or one was not looked for yet."""
        return self._open or self._longer or self._found is not None

    def _followed(self, size: ChainLimits, make: type[ChainRun] = ChainRun) -> OutputChances | None:
        self._longer = False
        try:
            return chained(self._program, size, self._limits, self._checks, make=make)
        except (DpestError, RecursionError) as error:
            self._longer = isinstance(error, BudgetExceeded) and (size is CHAIN or (size is FEW_STATES and self._open))
            return None
        except HoldsNumbersOnly:
            if make is not PointRun:
                raise
            return None  # an array that holds random values in other runs holds numbers in these
