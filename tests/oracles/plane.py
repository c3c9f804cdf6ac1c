"""The loss of a program with two continuous draws, any discrete ones and constant outputs, from cells of the plane.

A run at one rational point notes the lines at which its decisions change. On the vertical line through z1 = c, runs fill z2
segment by segment; the segments stay as they are until two of their edges, or an edge and another noted line, cross. So each
column stands for an interval of z1, on which P(output | z1) is smooth and is integrated by Gauss-Legendre panels in doubles.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from tests.oracles.affine import NotSwept, OnEdge
from tests.oracles.families import Family
from tests.oracles.sweep import Swept, TooLight, family_of, shape_of
from tests.oracles.truth import Truth, real

Mechanism = Callable[[Any, Any], Any]
TAIL = 1e-16  # mass beyond the part of the plane that is integrated
FAR = Fraction(10) ** 60  # stands for infinity in the cells, whose lines have coefficients far smaller
BEYOND = Fraction(10) ** 40  # cells that begin here are made by FAR alone
MOST_COLUMNS = 250
MOST_SEGMENTS = 120
ABSOLUTE, RELATIVE = 1e-13, 1e-10  # what the sums of panels may be off
NODES, WEIGHTS = np.polynomial.legendre.leggauss(16)


@dataclass(frozen=True)
class Edge:
    """The line z2 = slope * z1 + offset."""

    slope: Fraction
    offset: Fraction

    def at(self, z1: Fraction) -> Fraction:
        return self.slope * z1 + self.offset

    def crossing(self, other: Edge) -> Fraction | None:
        """The z1 where two edges meet."""
        if self.slope == other.slope:
            return None
        return (other.offset - self.offset) / (self.slope - other.slope)


class Point:
    """Where a run stands, and the lines that its decisions noted."""

    def __init__(self, z1: Fraction, z2: Fraction) -> None:
        self.z = (z1, z2)
        self.edges: set[Edge] = set()
        self.walls: set[Fraction] = set()

    def note(self, a: tuple[Fraction, ...], b: Fraction) -> None:
        """A decision changes where a . z + b = 0."""
        if a[0] * self.z[0] + a[1] * self.z[1] + b == 0:
            raise OnEdge
        if a[1]:
            self.edges.add(Edge(-a[0] / a[1], -b / a[1]))
        else:
            self.walls.add(-b / a[0])


@dataclass
class Segment:
    """A part of a column between two edges, with the outputs there."""

    low: Edge
    high: Edge
    entries: list[tuple[float, Any]]
    edges: set[Edge]
    walls: set[Fraction]


@dataclass
class PlaneLaw:
    """Probabilities of the outputs, and the mass that was not looked at."""

    masses: dict[Any, float] = field(default_factory=dict)
    rest: float = 0.0
    complete: bool = False  # whether every cell was seen, so that there are no other outputs


def plane_truth(mechanism: Mechanism, pair: tuple[Any, Any]) -> Truth:
    """The enclosure of the loss of one pair."""
    p, q = (plane_law(mechanism, x) for x in pair)
    ways = [_one_way(a, b) for a, b in ((p, q), (q, p))]
    return Truth(max(w[0] for w in ways), max(w[1] for w in ways), "cells of the plane")


def _one_way(p: PlaneLaw, q: PlaneLaw) -> tuple[float, float]:
    lower, upper = 0.0, 0.0
    for key in set(p.masses) | set(q.masses):
        a, b = p.masses.get(key, 0.0), q.masses.get(key, 0.0)
        slack_a, slack_b = (RELATIVE * m + ABSOLUTE + s.rest for m, s in ((a, p), (b, q)))
        if a > slack_a:
            lower = max(lower, math.log((a - slack_a) / (b + slack_b)))
        upper = max(upper, math.log((a + slack_a) / (b - slack_b)) if b > slack_b else math.inf)
    return lower, upper if p.complete else math.inf


def plane_law(mechanism: Mechanism, data: Any) -> PlaneLaw:
    """The law of the output, column by column, the heaviest gaps first."""
    table: dict[Any, Any] = {}
    families = _families(mechanism, data, table)
    ends = [_ends(f) for f in families]
    out = PlaneLaw(rest=4 * TAIL)
    gaps = [(-1.0, *_support(families[0]))]
    for _ in range(MOST_COLUMNS):
        if not gaps:
            out.complete = True
            return out
        _, low, high = heapq.heappop(gaps)
        left, right, segments = _column(mechanism, data, families, ends, (low, high), table)
        _integrate(out, families, (max(left, ends[0][0]), min(right, ends[0][1])), segments)
        for a, b in ((low, left), (right, high)):
            if a < b and a < BEYOND and b > -BEYOND:
                heapq.heappush(gaps, (-float(families[0].mass(a, b)), a, b))
    out.rest += -sum(g[0] for g in gaps)
    return out


def _support(family: Family) -> tuple[Fraction, Fraction]:
    low, high = family.support
    return -FAR if math.isinf(low) else Fraction(low), FAR if math.isinf(high) else Fraction(high)


def _inside(low: Fraction, high: Fraction, ends: tuple[Fraction, Fraction], turn: int) -> Fraction:
    """A point between two ends, within the integrated part where the two overlap."""
    a, b = max(low, ends[0]), min(high, ends[1])
    if a >= b:
        near, way = (low, 1) if low >= ends[1] else (high, -1)
        step = min(high - low, abs(near) + 1) / 2
        a, b = sorted((near, near + way * step))
    return a + (b - a) * (Fraction(1, 2) + Fraction(1, 7901 + 13 * turn))


def _families(mechanism: Mechanism, data: Any, table: dict[Any, Any]) -> list[Family]:
    """The laws of the two draws; both must be made on every run."""
    run = Swept((), [], Point(Fraction(1, 7919), Fraction(-1, 7907)), table)
    mechanism(data, run)
    if len(run.swept) != 2:
        raise NotSwept(f"{len(run.swept)} continuous draws at first")
    return [family_of(name, parameters, table) for name, parameters in run.swept]


def _ends(family: Family) -> tuple[Fraction, Fraction]:
    """The part of the line that holds all but the tail mass."""
    low, high = family.support
    far = Fraction(family.scale)
    while math.isinf(low) and family.below(real(-far)) > TAIL:
        far *= 2
    out_low = -far if math.isinf(low) else Fraction(low)
    far = Fraction(family.scale)
    while math.isinf(high) and family.above(real(far)) > TAIL:
        far *= 2
    return out_low, far if math.isinf(high) else Fraction(high)


def _column(
    mechanism: Mechanism, data: Any, families: list[Family], ends: Any, gap: tuple[Any, Any], table: dict[Any, Any]
) -> tuple[Fraction, Fraction, list[Segment]]:
    """The segments above one z1 inside the gap, and the interval of z1 on which they stay."""
    for attempt in range(20):
        z1 = _inside(gap[0], gap[1], ends[0], attempt)
        try:
            segments = list(_segments(mechanism, data, z1, families[1], ends[1], table))
            left, right = _stays(segments, z1, gap, families[0])
        except OnEdge:
            continue
        return left, right, segments
    raise NotSwept("every place tried is an edge")


def _segments(
    mechanism: Mechanism, data: Any, z1: Fraction, family: Family, ends: Any, table: dict[Any, Any]
) -> Iterator[Segment]:
    cuts = [Edge(Fraction(0), k) for k in sorted({*_support(family), *map(Fraction, family.kinks)})]
    gaps = list(zip(cuts, cuts[1:], strict=False))
    made = 0
    while gaps:
        low, high = gaps.pop()
        found = _explored(mechanism, data, z1, _inside(low.at(z1), high.at(z1), ends, 0), (low, high), table)
        yield found
        made += 1
        if made > MOST_SEGMENTS:
            raise NotSwept(f"more than {MOST_SEGMENTS} segments in a column")
        if found.low != low:
            gaps.append((low, found.low))
        if found.high != high:
            gaps.append((found.high, high))


def _explored(
    mechanism: Mechanism, data: Any, z1: Fraction, z2: Fraction, gap: tuple[Edge, Edge], table: dict[Any, Any]
) -> Segment:
    point = Point(z1, z2)
    pending: list[tuple[int, ...]] = [()]
    entries = []
    while pending:
        run = Swept(pending.pop(), pending, point, table)
        try:
            key, line = shape_of(mechanism(data, run), float)
        except TooLight:
            continue
        if line is not None:
            raise NotSwept("a continuous output")
        entries.append((float(run.weight), key))
    low, high = gap
    for edge in point.edges:
        at = edge.at(z1)
        if at < z2 and at > low.at(z1):
            low = edge
        elif at > z2 and at < high.at(z1):
            high = edge
    return Segment(low, high, entries, point.edges, point.walls)


def _stays(segments: list[Segment], z1: Fraction, gap: tuple[Any, Any], family: Family) -> tuple[Fraction, Fraction]:
    left, right = gap
    for at in _events(segments, family):
        if at == z1:
            raise OnEdge
        if at < z1:
            left = max(left, at)
        else:
            right = min(right, at)
    return left, right


def _events(segments: list[Segment], family: Family) -> Iterator[Fraction]:
    """Every z1 at which the columns may change."""
    yield from (Fraction(k) for k in family.kinks)
    for segment in segments:
        yield from segment.walls
        for edge in (*segment.edges, segment.high):
            for own in (segment.low, segment.high):
                if edge != own and (at := edge.crossing(own)) is not None:
                    yield at


def _integrate(out: PlaneLaw, families: list[Family], ends: tuple[Fraction, Fraction], segments: list[Segment]) -> None:
    """Adds the masses of the segments over an interval of z1."""
    # An output that comes only where there is next to no mass is an output all the same.
    for _, key in (entry for s in segments for entry in s.entries):
        out.masses.setdefault(key, 0.0)
    low, high = float(ends[0]), float(ends[1])
    if not low < high:
        return
    z, w = _panels(low, high, families, segments)
    with np.errstate(over="ignore"):
        weight = w * np.exp(families[0].log(z))
    for s in segments:
        with np.errstate(over="ignore"):
            inside = families[1].mass64(_line(s.low, z), _line(s.high, z))
        mass = float(np.sum(weight * inside))
        for share, key in s.entries:
            out.masses[key] = out.masses.get(key, 0.0) + share * mass


def _line(edge: Edge, z: Any) -> Any:
    return float(edge.slope) * z + float(edge.offset)


def _panels(low: float, high: float, families: list[Family], segments: list[Segment]) -> tuple[Any, Any]:
    """Nodes and weights; panels are short next to 0 and where an edge passes the middle of the second law, longer further out."""
    centres = [(0.0, families[0].scale)]
    for s in segments:
        for e in (s.low, s.high):
            if e.slope:
                centres.append((float(-e.offset / e.slope), families[1].scale / abs(float(e.slope))))
    cuts, at = [low], low
    while at < high:
        at += min(0.7 * scale + 0.35 * max(abs(at - c) - scale, 0.0) for c, scale in centres)
        cuts.append(min(at, high))
        if len(cuts) > 20_000:
            raise NotSwept("too many panels")
    edges = np.array(cuts)
    half = np.diff(edges)[:, None] / 2
    z = (edges[:-1, None] + half) + half * NODES
    return z.ravel(), (half * WEIGHTS).ravel()
