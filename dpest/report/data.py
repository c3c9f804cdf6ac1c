"""What a report shows, as plain frozen data: drawing comes after."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from dpest.errors import BudgetExceeded, NotCovered
from dpest.numerics.bracket import Bracketed
from dpest.numerics.effort import counted_effort
from dpest.report.verdict import Verdict
from dpest.results import Profile, Result

POINTS = (7, 13, 25, 49)  # of a drawn curve: fewer would show corners that are not there, more are not seen
PICTURE_WORK = 300_000  # steps of about ten microseconds: curves that take more get fewer points, or after twice that none


@dataclass(frozen=True)
class OutputTable:
    """A mechanism's output under both inputs of a pair: outputs with mass of their own, and one density on a grid."""

    labels: tuple[str, ...] = ()
    log_left: tuple[float, ...] = ()
    log_right: tuple[float, ...] = ()
    y: tuple[float, ...] = ()
    log_density_left: tuple[float, ...] = ()
    log_density_right: tuple[float, ...] = ()
    axis: str = "output"
    slice: bool = False  # whether other coordinates are held fixed where the loss is largest
    parts: int = 1  # how many independent parts the output has, of which this is the worst
    marked: int | None = None  # the row of the witness, among outputs with mass of their own
    place: float | None = None  # where the witness lies on the grid; infinite where the loss is a limit
    ray: int = 0  # the witness goes on from its place to this side: 1 to the right, -1 to the left
    sign: int = 0  # 1 where D makes the witness likelier, -1 where D' does, 0 where it is not known


@dataclass(frozen=True)
class ProfilePoint:
    """delta(epsilon) at one epsilon, with its bracket."""

    epsilon: float
    delta: float
    lower: float
    upper: float


@dataclass(frozen=True)
class Entry:
    """One mechanism in a report."""

    name: str
    sentence: str
    adjacency: str
    claim: float | None
    result: Result
    verdict: Verdict | None = None
    outputs: OutputTable | None = None
    profile: tuple[ProfilePoint, ...] = ()
    graph: str = field(default="", repr=False)  # the dependence graph as SVG
    source: str = ""
    comment: str = ""
    everywhere: bool = False  # whether the verdict is about all adjacent inputs, not about the pairs alone
    proved: Result | None = None  # the loss over all adjacent inputs
    unproved: str = ""  # why there is none
    code: str = field(default="", repr=False)  # the mechanism as its author wrote it


@dataclass(frozen=True)
class Report:
    """Several mechanisms, and with what they were looked at."""

    title: str
    entries: tuple[Entry, ...]
    version: str = ""
    notes: tuple[str, ...] = ()


def profile_points(result: Result) -> tuple[ProfilePoint, ...]:
    """delta(epsilon) of the worst pair from 0 to just past the loss; empty where it is not covered or takes too much work."""
    profile = next((p.profile for p in result.pairs if p.pair == result.pair), None)
    if profile is None:
        return ()
    drawn: list[tuple[float, Bracketed]] = []
    try:
        with counted_effort(2 * PICTURE_WORK) as effort:
            profile.delta(0.0)
            end = _profile_end(result.epsilon, profile)
            start = effort.work  # on what all points share
            for count in POINTS:  # each has the points of the one before, which are known then
                drawn = [(e, profile.delta(e)) for e in (end * i / (count - 1) for i in range(count))]
                if effort.work - start > PICTURE_WORK // 3:
                    break  # the next would take about twice as much again
    except NotCovered:
        return ()
    except BudgetExceeded:
        pass
    return tuple(ProfilePoint(e, float(d), d.lower, d.upper) for e, d in drawn)


def _profile_end(epsilon: float, profile: Profile) -> float:
    """Where the curve has come to rest: just past a finite loss, else where delta has stopped falling."""
    if 0 < epsilon < math.inf:
        return 1.1 * epsilon
    end = 0.125
    while end < 64 and profile.delta(2 * end) < 0.99 * profile.delta(end) and profile.delta(end) > 1e-9:
        end *= 2
    return end
