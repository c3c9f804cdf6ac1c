"""The outputs of a program that is a chain of states, compared with what it returns on plain numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from dpest.run.streams import stream
from dpest.trace.against_program import Checks, Rounds, is_plausible, mismatch, no_path, run_plainly
from dpest.trace.chain import ChainLimits, OutputChances, chances, output_key, with_points
from dpest.trace.execute import Abandoned
from dpest.trace.limits import Limits
from dpest.trace.outputs import Flat, flatten
from dpest.trace.plain_run import SEED, NumberSource, PlainRun

_SURPRISE = 21.0  # nats: a sample that is so much less likely than it can be comes by chance once in 10^9 times


def chained(
    program: Callable[[Any], Flat], size: ChainLimits, limits: Limits, checks: Checks, possible: frozenset[Any] | None = None
) -> OutputChances:
    """The probability of each output of a program, compared with the program on plain numbers."""

    def to_points(run: Any) -> Flat:
        output = program(run)
        if run.state is not None or run.abandoned:
            return output
        run.finished = True
        try:
            return with_points(run, output)
        except Abandoned:
            return flatten(None)

    found = chances(to_points, size, limits, possible)
    _check(found, program, checks)
    return found


def _check(found: OutputChances, program: Callable[[Any], Flat], checks: Checks) -> None:
    """Raises `TraceMismatch` where the program on plain numbers returns what it should not, or never what it should."""
    known = {output_key(flat): log_p for flat, log_p in found.outputs}
    source = NumberSource(stream(SEED))
    rounds = Rounds(checks)
    lost, surprise = 0, 0.0
    for _ in rounds:
        run = PlainRun(source)
        output = run_plainly(program, run)
        rounds.compared += 1
        log_p = known.get(output_key(Flat(output.structure, tuple(map(run.number, output.leaves)))))
        lost += log_p is None
        if log_p is None and not is_plausible(lost, rounds.compared, found.log_left_out):
            raise mismatch(run, output, no_path(found.log_left_out))
        # E exp(-ln p - ln n) is at most 1 for n outputs, so that by Markov's inequality more than this is no chance.
        surprise += 0.0 if log_p is None else -log_p - math.log(len(known))
        if surprise > _SURPRISE:
            raise mismatch(run, output, "outputs that are likelier")
