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

from tests.oracles.families import CONTINUOUS, Family, geometric_beyond, geometric_weight
from tests.oracles.plain import Plain
from tests.oracles.truth import real

Mechanism = Callable[[Any, Any], Any]
LEAST = mpf("1e-30")  # weights below this are not followed; they go into `rest`
MOST_RUNS = 200_000
MOST_CELLS = 400


class NotSwept(Exception):
    """The program is not of this kind: two continuous draws, a product of draws, too many runs."""


class OnEdge(Exception):
    """The run stood exactly where a decision changes."""


class Cell:
    """One run's place on the line, and how far it can move before a decision changes."""

    def __init__(self, z: Fraction, low: Any, high: Any) -> None:
        self.z, self.low, self.high = z, low, high

    def edge(self, at: Fraction) -> None:
        """A decision changes at this z."""
        if at == self.z:
            raise OnEdge
        if at < self.z:
            self.low = max(self.low, at)
        else:
            self.high = min(self.high, at)


def _fraction(x: Any) -> Fraction:
    return Fraction(x.item() if hasattr(x, "item") else x)


class Line:
    """A value a z + b of the swept draw."""

    def __init__(self, cell: Cell, a: Fraction, b: Fraction) -> None:
        self.cell, self.a, self.b = cell, a, b

    @property
    def now(self) -> Fraction:
        return self.a * self.cell.z + self.b

    def _like(self, other: Any) -> Line:
        return other if isinstance(other, Line) else Line(self.cell, Fraction(0), _fraction(other))

    def __add__(self, other: Any) -> Line:
        o = self._like(other)
        return Line(self.cell, self.a + o.a, self.b + o.b)

    __radd__ = __add__

    def __neg__(self) -> Line:
        return Line(self.cell, -self.a, -self.b)

    def __pos__(self) -> Line:
        return self

    def __sub__(self, other: Any) -> Line:
        return self + -self._like(other)

    def __rsub__(self, other: Any) -> Line:
        return -self + other

    def __mul__(self, other: Any) -> Line:
        o = self._like(other)
        if self.a and o.a:
            raise NotSwept("a product of two values of the continuous draw")
        return Line(self.cell, self.a * o.b + o.a * self.b, self.b * o.b)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Line:
        o = self._like(other)
        if o.a:
            raise NotSwept("a quotient by the continuous draw")
        return Line(self.cell, self.a / o.b, self.b / o.b)

    def __floor__(self) -> int:
        k = math.floor(self.now)
        if self.a:
            ends = [(k - self.b) / self.a, (k + 1 - self.b) / self.a]
            for end in ends:
                self.cell.edge(end)
        return k

    def __ceil__(self) -> int:
        return -math.floor(-self)

    def __trunc__(self) -> int:
        return math.floor(self) if self >= 0 else math.ceil(self)

    __int__ = __trunc__

    def __round__(self, digits: int | None = None) -> Any:
        if digits is None or digits == 0:
            return self._nearest()
        unit = Fraction(10) ** digits
        return float(Fraction((self * unit)._nearest()) / unit)

    def _nearest(self) -> int:
        return round(self.b) if not self.a else math.floor(self + Fraction(1, 2))

    def __floordiv__(self, other: Any) -> Any:
        return math.floor(self / other)

    def __mod__(self, other: Any) -> Any:
        return self - other * (self // other)

    def __abs__(self) -> Line:
        return self if self >= 0 else -self

    def _sign(self, other: Any) -> int:
        gap = self - other
        if gap.a:
            self.cell.edge(-gap.b / gap.a)
        now = gap.now
        return (now > 0) - (now < 0)

    def __lt__(self, other: Any) -> bool:
        return self._sign(other) < 0

    def __le__(self, other: Any) -> bool:
        return self._sign(other) <= 0

    def __gt__(self, other: Any) -> bool:
        return self._sign(other) > 0

    def __ge__(self, other: Any) -> bool:
        return self._sign(other) >= 0

    def __eq__(self, other: object) -> bool:
        return not isinstance(other, str | type(None)) and self._sign(other) == 0

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __bool__(self) -> bool:
        return self != 0

    __hash__ = None  # type: ignore[assignment]


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
            points = sorted(range(-far, far + 1), key=abs)
            return [(k, geometric_weight(k, scale)) for k in points], geometric_beyond(far, scale)
    raise AssertionError(family)


class Swept(Plain):
    """One run: discrete draws take recorded choices, the continuous draw is the line z."""

    def __init__(self, choices: tuple[int, ...], pending: list[tuple[int, ...]], cell: Cell, table: dict[Any, Any]) -> None:
        super().__init__()
        self.choices, self.pending, self.cell, self.table = choices, pending, cell, table
        self.made: list[int] = []
        self.weight: Any = Fraction(1)
        self.lost: Any = 0
        self.swept: tuple[Any, ...] | None = None

    def draw(self, family: str, *parameters: Any) -> Any:
        if family in CONTINUOUS:
            if self.swept is not None:
                raise NotSwept("a second continuous draw")
            self.swept = (family, parameters)
            return Line(self.cell, Fraction(1), Fraction(0))
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
        if real(self.weight) < LEAST:
            raise _TooLight
        return points[chosen][0]


class _TooLight(Exception):
    """The run's weight is below what is followed."""


@dataclass
class Law:
    """The output's law: constant outputs with their masses, pieces of density, and the weight that was not followed."""

    atoms: dict[Any, Any] = field(default_factory=dict)
    pieces: dict[Any, list[tuple[Any, Any, Fraction, Fraction, Any]]] = field(default_factory=dict)
    rest: Any = mpf(0)
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
                if mass < LEAST:
                    found.rest += mass
                else:
                    heapq.heappush(gaps, (-mass, a, b))
    found.rest += -sum((gap[0] for gap in gaps), mpf(0))
    return found


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
        except _TooLight:
            out.lost += real(run.weight)
        out.lost += real(run.lost)
        out.runs += 1
        if run.swept is not None:
            family = CONTINUOUS[run.swept[0]](*run.swept[1])
            if out.family is not None and out.family.name != family.name:
                raise NotSwept("which continuous draw is made depends on a discrete one")
            out.family = family
        if out.runs > MOST_RUNS:
            raise NotSwept(f"more than {MOST_RUNS} runs")
    out.low, out.high = cell.low, cell.high
    return out


def _add(found: Law, cell: Explored, mass: Any, key: Callable[[Any], Any]) -> None:
    for weight, output in cell.entries:
        shape, line = _shape(output, key)
        if line is None:
            found.atoms[shape] = found.atoms.get(shape, mpf(0)) + real(weight) * mass
        else:
            found.pieces.setdefault(shape, []).append((cell.low, cell.high, line.a, line.b, real(weight)))
    found.rest += cell.lost * mass


def _shape(output: Any, key: Callable[[Any], Any]) -> tuple[Any, Line | None]:
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
            if not x.a:
                return key(x.b)
            lines.append(x)
            first = lines[0]
            return ("free",) if x is first else ("follows", x.a / first.a, x.b - first.b * x.a / first.a)
        if isinstance(x, str | bool | type(None)):
            return x
        if isinstance(x, float) and math.isnan(x):
            return "NaN"
        return key(x)

    shape = part(output)
    return shape, lines[0] if lines else None
