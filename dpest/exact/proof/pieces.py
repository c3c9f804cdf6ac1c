"""What one row gives to the values that are derived from it, piece by piece: a row lies in one bin of a histogram, not in all.

`1 if 0 <= x < 1 else 0` is an unknown of its own for each row and bin. Each changes by at most 1; that the row leaves one bin
and enters one is known only when all of them are looked at together. Between the numbers that the program compares the row
with, each derived value is an affine function of the row: adjacent inputs are split by the pieces that the row moves between.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpest.exact.proof.adjacency import Box
from dpest.exact.proof.symbols import Symbols
from dpest.lang.nodes import All, Compare, Draw, Extreme, Linear, Not, Pick, Relation, Where, ancestors, is_node
from dpest.lang.nodes import linear as as_linear
from dpest.numerics.ranges import NOTHING, Range, RangeEnd, both, ends, hull, total
from dpest.numerics.rationals import ONE, ZERO, Rational, exact

_MOST_PIECES = 10  # of one row: 100 pairs of pieces
_MOST_STEPS = 500  # for one row that is split: each is a linear program

_OnPiece = tuple[Rational, Rational]  # slope, constant


@dataclass(frozen=True)
class RowPiece:
    """Values of a row between two ends, and the derived values there: variable -> affine function of the row."""

    within: Range
    values: tuple[tuple[int, _OnPiece], ...]

    def range_of(self, variable: int) -> Range:
        """An interval that holds a derived value on the piece."""
        slope, constant = dict(self.values)[variable]
        return total(((self.within, slope),) if slope else (), constant)


class SplitByPieces:
    """Splits boxes of differences by where the row that changes lies."""

    def __init__(self, symbols: Symbols, regions: int) -> None:
        self._inputs, self._regions = symbols.inputs, regions
        self._derived = _derived_from_one(symbols)

    def boxes(self, box: Box, row: Sequence[int]) -> list[Box]:
        """The box in parts, where the row is one number, that tells more, and the steps stay few; else as it is."""
        own = self._derived.get(row[0], {}) if len(row) == 1 else {}
        pieces = _pieces_of(self._inputs[row[0]], own) if len(own) > 1 else None
        if pieces is None:
            return [box]
        found = _moved_between(box, row[0], pieces) if box.moves else _held_at(box, row[0], pieces)
        return found if 0 < len(found) * self._regions <= _MOST_STEPS else [box]


def _derived_from_one(symbols: Symbols) -> dict[int, dict[int, Any]]:
    """The derived values that depend on one input alone, by that input: variable -> node."""
    places = {id(d): i for i, d in enumerate(symbols.inputs[: symbols.given])}
    out: dict[int, dict[int, Any]] = {}
    for k, node in enumerate(symbols.derived):
        drawn = {id(n) for n in ancestors(node) if isinstance(n, Draw)}
        if len(drawn) == 1 and (only := drawn.pop()) in places:
            out.setdefault(places[only], {})[-1 - symbols.given - k] = node
    return out


def _pieces_of(x: Draw, derived: Mapping[int, Any]) -> list[RowPiece] | None:
    """The pieces of the row that is input x; None where what is derived from it alone does not go by pieces."""
    nodes = dict(derived)
    breaks: set[Rational] = set()
    for variable, node in list(nodes.items()):
        found = _breaks(node, x)
        if found is None:
            del nodes[variable]
        else:
            breaks |= found
    low, high = ends(*x.law.support)
    inside = sorted(b for b in breaks if (low is None or b >= low) and (high is None or b <= high))
    if len(nodes) < 2 or len(inside) > _MOST_PIECES:
        return None
    out: list[RowPiece] = []
    for within, at in _spans(low, high, inside):
        values = tuple((v, _line(node, x, at)) for v, node in sorted(nodes.items()))
        if out and out[-1].values == values:
            out[-1] = RowPiece((out[-1].within[0], within[1]), values)
        else:
            out.append(RowPiece(within, values))
    return out if 1 < len(out) <= _MOST_PIECES else None


def _spans(low: RangeEnd, high: RangeEnd, inside: Sequence[Rational]) -> Iterable[tuple[Range, Rational]]:
    """The breaks and the intervals between them, in order, each with a number inside it."""
    points: list[RangeEnd] = [low, *inside, high]
    for k, (a, b) in enumerate(itertools.pairwise(points)):
        if a is None or b is None or a < b:
            middle = ZERO if a is None and b is None else b - 1 if a is None and b is not None else ZERO
            middle = (a + 1 if b is None else (a + b) / 2) if a is not None else middle
            yield (a, b), middle
        if k < len(inside) and b is not None:
            yield (b, b), b


def _breaks(node: Any, x: Draw) -> set[Rational] | None:
    """Numbers between which the node is an affine function of x; None where it is of another kind."""
    out: set[Rational] = set()
    for n in ancestors(node):
        match n:
            case Draw() | Not() | All() | Where():
                continue
            case Linear(terms=terms):
                if any(not isinstance(v, Draw | Compare | Not | All | Where | Extreme) for v, _ in terms):
                    return None
            case Compare(value=value):
                if any(v is not x for v, _ in value.terms):
                    return None
                out.update(-value.constant / c for _, c in value.terms)
            case Extreme(values=values):
                lines = [as_linear(v) for v in values]
                if any(v is not x for line in lines for v, _ in line.terms):
                    return None
                for a, b in itertools.combinations(lines, 2):
                    slope = sum((c for _, c in a.terms), ZERO) - sum((c for _, c in b.terms), ZERO)
                    out.update([(b.constant - a.constant) / slope] if slope else [])
            case _:
                return None
    return out


def _line(node: Any, x: Draw, at: Rational) -> _OnPiece:
    """The affine function that the node is around x = at."""
    match node:
        case Draw():
            return ONE, ZERO
        case Linear(terms=terms, constant=constant):
            lines = [(_line(v, x, at), c) for v, c in terms]
            return sum((c * a for (a, _), c in lines), ZERO), sum((c * b for (_, b), c in lines), constant)
        case Where(condition=condition, yes=yes, no=no):
            return _line(yes if _true(condition, x, at) else no, x, at)
        case Extreme(pick=pick, values=values):
            lines_ = [_line(v, x, at) for v in values]
            return (max if pick is Pick.MAX else min)(lines_, key=lambda p: (p[0] * at + p[1], p))
        case Compare() | Not() | All():
            return ZERO, ONE if _true(node, x, at) else ZERO
        case _:
            assert not is_node(node)
            return ZERO, exact(node)


def _true(node: Any, x: Draw, at: Rational) -> bool:
    match node:
        case Compare(relation=relation, value=value):
            slope, constant = _line(value, x, at)
            number = slope * at + constant
            return bool(number > 0 if relation is Relation.GT else number >= 0 if relation is Relation.GE else number == 0)
        case Not(value=value):
            return not _true(value, x, at)
        case All(values=values):
            return all(_true(v, x, at) for v in values)
        case _:
            return bool(node)


def _moved_between(box: Box, i: int, pieces: Sequence[RowPiece]) -> list[Box]:
    """The box split by the pieces between which row i moves; differences that are equal in all derived values are one box."""
    moves = dict(box.moves)
    row = -1 - i
    found: dict[tuple[tuple[int, Range], ...], Range] = {}
    for a, b in itertools.product(pieces, repeat=2):
        change = both(moves[row], _change(a.within, b.within))
        if change is None:
            continue
        derived = {v: both(moves.get(v, NOTHING), _change(a.range_of(v), b.range_of(v))) for v, _ in a.values}
        if any(r is None for r in derived.values()):
            continue
        key = tuple((v, r) for v, r in sorted(derived.items()) if r is not None)
        found[key] = hull([found[key], change]) if key in found else change
    out = []
    for key, change in found.items():
        own: Mapping[int, Range] = {**moves, **dict(key), row: change}
        out.append(Box(box.name, tuple((v, r) for v, r in sorted(own.items(), reverse=True) if r != (ZERO, ZERO))))
    return [b for b in out if b.moves]


def _change(a: Range, b: Range) -> Range:
    """The range of a change from one range to another."""
    return total(((b, ONE), (a, -ONE)), ZERO)


def _held_at(box: Box, i: int, pieces: Sequence[RowPiece]) -> list[Box]:
    """A box for each piece that row i, which is taken away or added, lies in."""
    known = [((-1 - i, p.within), *((v, p.range_of(v)) for v, _ in p.values)) for p in pieces]
    return [Box(box.name, box.moves, within) for within in known]
