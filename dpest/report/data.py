"""What a report shows, as plain frozen data: drawing comes after."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from dpest.errors import NotCovered
from dpest.report.verdict import Verdict
from dpest.results import Result

PROFILE_POINTS = 41


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


@dataclass(frozen=True)
class Report:
    """Several mechanisms, and with what they were looked at."""

    title: str
    entries: tuple[Entry, ...]
    version: str = ""
    notes: tuple[str, ...] = ()


def profile_points(result: Result, points: int = PROFILE_POINTS) -> tuple[ProfilePoint, ...]:
    """delta(epsilon) from 0 to just past the loss; empty where the result does not hold it."""
    try:
        end = _profile_end(result)
        grid = [end * i / (points - 1) for i in range(points)]
        found = [result.delta(e) for e in grid]
    except NotCovered:
        return ()
    return tuple(ProfilePoint(e, float(d), d.lower, d.upper) for e, d in zip(grid, found, strict=True))


def _profile_end(result: Result) -> float:
    """Where the curve has come to rest: just past a finite loss, else where delta has stopped falling."""
    if 0 < result.epsilon < math.inf:
        return 1.1 * result.epsilon
    end = 0.125
    while end < 64 and result.delta(2 * end) < 0.99 * result.delta(end) and result.delta(end) > 1e-9:
        end *= 2
    return end
