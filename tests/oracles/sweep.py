"""The law of a program with any discrete draws and at most one continuous draw, from the program's own runs.

Discrete draws are enumerated. The continuous draw z is swept: a run at one rational z carries values a z + b, notes at each
comparison and rounding how far z can move before the decision changes, and so stands for a whole interval of z. The next
run starts beyond its end. What is not covered (tails, loops without end) is weighed in `rest`.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from mpmath import mpf

from tests.oracles.affine import Line, NotSwept, OnEdge, Place
from tests.oracles.families import CONTINUOUS, Family, geometric_beyond, geometric_weight
from tests.oracles.plain import Plain
from tests.oracles.truth import real

Mechanism = Callable[[Any, Any], Any]
LEAST = mpf("1e-27")  # weights below this are not followed; they go into `rest`
LONG = 12  # draws after which a run may be given up for its weight: only loops make so many
MOST_RUNS = 20_000
MOST_CELLS = 250
FEW = 60  # runs after which gaps of no weight are left


class Cell:
    """One run's place on the line, and how far it can move before a decision changes."""

    def __init__(self, z: Fraction, low: Any, high: Any) -> None:
        self.z, self.low, self.high = (z,), low, high

    def note(self, a: tuple[Fraction, ...], b: Fraction) -> None:
        """A decision changes where a z + b = 0."""
        at = -b / a[0]
        if at == self.z[0]:
            raise OnEdge
        if at < self.z[0]:
            self.low = max(self.low, at)
        else:
            self.high = min(self.high, at)


def outcomes(family: str, parameters: tuple[Any, ...]) -> tuple[list[tuple[Any, Any]], Any]:
    """The points of a discrete draw with their weights, and the weight of the points that are left out."""
    match family:
        case "bernoulli":
            p = Fraction(parameters[0])
            return [(1, p), (0, 1 - p)], 0
        case "categorical":
            return [(k, Fraction(p)) for k, p in enumerate(parameters[0]) if p], 0
        case "integers":
            low, high = parameters
            return [(k, Fraction(1, high - low + 1)) for k in range(low, high + 1)], 0
        case "from_atoms":
            return [(v, Fraction(p)) for v, p in parameters[0] if p], 0
        case "geometric":
            scale = parameters[0]
            far = 0
            while geometric_beyond(far, scale) > LEAST:
                far = far + max(1, int(scale))
            # A few points far out show outputs that come only there; their weights are what they are.
            points = sorted([*range(-far, far + 1), *(s * (far + 10**j) for j in range(2, 8) for s in (-1, 1))], key=abs)
            return [(k, geometric_weight(k, scale)) for k in points], geometric_beyond(far, scale)
    raise AssertionError(family)


class Swept(Plain):
    """One run: discrete draws take recorded choices, the continuous draw is the line z."""

    def __init__(self, choices: tuple[int, ...], pending: list[tuple[int, ...]], cell: Place, table: dict[Any, Any]) -> None:
        super().__init__()
        self.choices, self.pending, self.cell, self.table = choices, pending, cell, table
        self.made: list[int] = []
        self.weight: Any = Fraction(1)
        self.lost: Any = 0
        self.swept: list[tuple[Any, ...]] = []

    def draw(self, family: str, *parameters: Any) -> Any:
        if family in CONTINUOUS:
            at, of = len(self.swept), len(self.cell.z)
            if at == of:
                raise NotSwept(f"more than {of} continuous draws")
            self.swept.append((family, parameters))
            return Line(self.cell, tuple(Fraction(i == at) for i in range(of)), Fraction(0))
        key = (family, parameters)
        if key not in self.table:
            self.table[key] = outcomes(family, parameters)
        points, left_out = self.table[key]
        at = len(self.made)
        if at >= len(self.choices):
            self.pending.extend((*self.made, k) for k in range(len(points) - 1, 0, -1))
            self.choices = (*self.made, 0)
            self.lost += left_out * self.weight
        chosen = self.choices[at]
        self.made.append(chosen)
        self.weight = self.weight * points[chosen][1]
        if len(self.made) > LONG and real(self.weight) < LEAST:
            raise TooLight
        return points[chosen][0]


class TooLight(Exception):
    """The run's weight is below what is followed."""


@dataclass
class Law:
    """The output's law: constant outputs with their masses, pieces of density, and the weight that was not followed."""

    atoms: dict[Any, Any] = field(default_factory=dict)
    pieces: dict[Any, list[tuple[Any, Any, Fraction, Fraction, Any]]] = field(default_factory=dict)
    rest: Any = field(default_factory=lambda: mpf(0))
    unseen: bool = False  # whether the rest holds outputs that occur nowhere else
    beyond: bool = False  # whether some places were left because their weight is beyond the arithmetic: exp(-exp(2000))
    family: Family | None = None


def law(mechanism: Mechanism, data: Any, key: Callable[[Any], Any] = float) -> Law:
    """The law of `mechanism(data, d)`; `key` is how a number in an output is told from another."""
    found = Law()
    table: dict[Any, Any] = {}
    first = _explore(mechanism, data, Fraction(1, 7919), (-math.inf, math.inf), table)
    if first.family is None:
        _add(found, first, mpf(1), key)
        return found
    found.family = family = first.family
    gaps = [(-mpf(1), family.support[0], family.support[1])]
    weightless: list[Any] = []  # gaps whose weight is beyond the arithmetic, and still not zero: exp(-exp(2000))
    runs = 0
    for _ in range(MOST_CELLS):
        if not gaps:
            break
        _, low, high = heapq.heappop(gaps)
        cell = _explore(mechanism, data, _inside(low, high), (low, high), table)
        if cell.family is not None and cell.family.name != family.name:
            raise NotSwept("the continuous draw differs from one run to another")
        _add(found, cell, family.mass(cell.low, cell.high), key)
        runs += cell.runs
        if runs > MOST_RUNS:
            raise NotSwept(f"more than {MOST_RUNS} runs")
        for a, b in ((low, cell.low), (cell.high, high)):
            if a < b and (mass := family.mass(a, b)):
                heapq.heappush(gaps, (-mass, a, b))
            elif a < b:
                weightless.append((mpf(0), a, b))
        if gaps and -gaps[0][0] < LEAST and runs > FEW:
            break
    found.rest += -sum((gap[0] for gap in gaps), mpf(0))
    found.beyond = bool(weightless)
    ends = [gap for gap in gaps if math.isinf(gap[1]) or math.isinf(gap[2])]
    found.unseen = any(_new_shapes(mechanism, data, found, gap, table, key) for gap in (*ends, *weightless))
    return found


def _new_shapes(mechanism: Mechanism, data: Any, found: Law, gap: Any, table: dict[Any, Any], key: Callable[[Any], Any]) -> bool:
    """Whether far out in an unbounded gap that was left there are outputs of a shape that was not seen before."""
    _, low, high = gap
    for j in (0, 1, 2, 4, 6, 8, 12):
        far = Fraction(10) ** j + Fraction(1, 7919)
        z = Fraction(low) + far if math.isinf(high) else Fraction(high) - far
        cell = _explore(mechanism, data, z, (low, high), table)
        shapes = [shape_of(output, key) for _, output in cell.entries]
        if any(s not in (found.atoms if line is None else found.pieces) for s, line in shapes):
            return True
    return False


def _inside(low: Any, high: Any) -> Fraction:
    """A point between two ends, away from round numbers."""
    off = Fraction(1, 7919)
    if math.isinf(low) and math.isinf(high):
        return off
    if math.isinf(high):
        return Fraction(low) + 1 + off
    if math.isinf(low):
        return Fraction(high) - 1 - off
    return Fraction(low) + (Fraction(high) - Fraction(low)) * (Fraction(1, 2) + off)


@dataclass
class Explored:
    """All discrete outcomes at one place of the line, and the interval on which they stay as they are."""

    low: Any
    high: Any
    entries: list[tuple[Any, Any]]
    lost: Any
    family: Family | None
    runs: int


def _explore(mechanism: Mechanism, data: Any, z: Fraction, gap: tuple[Any, Any], table: dict[Any, Any]) -> Explored:
    for attempt in range(20):
        try:
            return _explored(mechanism, data, z, gap, table)
        except OnEdge:
            width = min(Fraction(1), _width(gap))
            z += width * Fraction(1, 104_729 * (attempt + 2))
    raise NotSwept("every place tried is an edge")


def _width(gap: tuple[Any, Any]) -> Any:
    low, high = gap
    return Fraction(1) if math.isinf(low) or math.isinf(high) else Fraction(high) - Fraction(low)


def _explored(mechanism: Mechanism, data: Any, z: Fraction, gap: tuple[Any, Any], table: dict[Any, Any]) -> Explored:
    cell = Cell(z, *gap)
    pending: list[tuple[int, ...]] = [()]
    out = Explored(*gap, [], mpf(0), None, 0)
    while pending:
        run = Swept(pending.pop(), pending, cell, table)
        try:
            output = mechanism(data, run)
            out.entries.append((run.weight, output))
        except TooLight:
            out.lost += real(run.weight)
        out.lost += real(run.lost)
        out.runs += 1
        if run.swept:
            family = family_of(*run.swept[0], table)
            if out.family is not None and out.family.name != family.name:
                raise NotSwept("which continuous draw is made depends on a discrete one")
            out.family = family
        if out.runs > MOST_RUNS:
            raise NotSwept(f"more than {MOST_RUNS} runs")
    out.low, out.high = cell.low, cell.high
    return out


def family_of(name: str, parameters: tuple[Any, ...], table: dict[Any, Any]) -> Family:
    """The family of a draw, made once for each name and numbers."""
    first = parameters[0]
    numbers = (first.dist.name, first.args, *first.kwds.items()) if hasattr(first, "dist") else parameters
    key = ("family", name, numbers)
    if key not in table:
        table[key] = CONTINUOUS[name](*parameters)
    made: Family = table[key]
    return made


def _add(found: Law, cell: Explored, mass: Any, key: Callable[[Any], Any]) -> None:
    for weight, output in cell.entries:
        shape, line = shape_of(output, key)
        if line is None:
            found.atoms[shape] = found.atoms.get(shape, mpf(0)) + real(weight) * mass
        else:
            found.pieces.setdefault(shape, []).append((cell.low, cell.high, line.a[0], line.b, real(weight)))
    found.rest += cell.lost * mass


def shape_of(output: Any, key: Callable[[Any], Any]) -> tuple[Any, Line | None]:
    """The output as a key, and the first number in it that moves with z; other moving numbers are told by how they follow it."""
    lines: list[Line] = []

    def part(x: Any) -> Any:
        if isinstance(x, dict):
            return ("dict", *((k, part(v)) for k, v in x.items()))
        if hasattr(x, "tolist"):
            x = x.tolist()
        if isinstance(x, list | tuple):
            return (type(x).__name__, *(part(v) for v in x))
        if isinstance(x, Line):
            if not x.moves:
                return key(x.b)
            lines.append(x)
            first = lines[0]
            if len(x.a) > 1:
                return ("free",)  # in the plane, an output that moves is refused by the caller
            slope = x.a[0] / first.a[0]
            return ("free",) if x is first else ("follows", slope, x.b - first.b * slope)
        if isinstance(x, str | bool | type(None)):
            return x
        if isinstance(x, float) and math.isnan(x):
            return "NaN"
        return key(x)

    shape = part(output)
    return shape, lines[0] if lines else None


def rekeyed(found: Law, change: Callable[[float], float]) -> Law:
    """The same law with the numbers in its outputs changed; outputs that become equal are added up."""

    def part(key: Any) -> Any:
        if isinstance(key, tuple):
            return tuple(part(k) for k in key)
        return change(key) if isinstance(key, float) else key

    out = Law(rest=found.rest, unseen=found.unseen, beyond=found.beyond, family=found.family)
    for key, mass in found.atoms.items():
        out.atoms[part(key)] = out.atoms.get(part(key), mpf(0)) + mass
    for key, pieces in found.pieces.items():
        out.pieces.setdefault(part(key), []).extend(pieces)
    return out
