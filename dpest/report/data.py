"""What a report shows, as plain frozen data: drawing comes after."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field

from dpest.errors import NotCovered, OutOfTime
from dpest.report.verdict import Verdict
from dpest.results import Profile, Result
from dpest.run.deadline import deadline

PROFILE_POINTS = 41  # of a drawn curve: more are not seen
FEWEST_POINTS = 7  # of a drawn curve: fewer would show corners that are not there
PROFILE_SECONDS = 3.0  # for one picture of a report; slower curves get fewer points, or none


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
    """delta(epsilon) of the worst pair from 0 to just past the loss; empty where it is not covered or takes too long."""
    profile = next((p.profile for p in result.pairs if p.pair == result.pair), None)
    if profile is None:
        return ()
    try:
        with deadline(3 * PROFILE_SECONDS):
            count = _affordable(profile)
            end = _profile_end(result.epsilon, profile) if count else 0.0
            grid = [end * i / (count - 1) for i in range(count)]
            found = [profile.delta(e) for e in grid]
    except (NotCovered, OutOfTime):
        return ()
    return tuple(ProfilePoint(e, float(d), d.lower, d.upper) for e, d in zip(grid, found, strict=True))


def _affordable(profile: Profile) -> int:
    """How many points a picture may take; the first evaluation may do work that later ones reuse."""
    first, again = _seconds(profile), 0.0
    if first < PROFILE_SECONDS:
        again = _seconds(profile)
    count = int(PROFILE_SECONDS / max(again or first, 1e-9))
    return 0 if count < FEWEST_POINTS else min(count, PROFILE_POINTS)


def _seconds(profile: Profile) -> float:
    start = time.perf_counter()
    profile.delta(0.0)
    return time.perf_counter() - start


def _profile_end(epsilon: float, profile: Profile) -> float:
    """Where the curve has come to rest: just past a finite loss, else where delta has stopped falling."""
    if 0 < epsilon < math.inf:
        return 1.1 * epsilon
    end = 0.125
    while end < 64 and profile.delta(2 * end) < 0.99 * profile.delta(end) and profile.delta(end) > 1e-9:
        end *= 2
    return end
