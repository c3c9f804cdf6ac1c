"""The largest of several noisy values as one unknown: how far the winner is ahead does not depend on who came second.

Regions that differ only in which of several noisy values w_k is the largest, and speak of that one alone, are one region in
M = max w_k. Draws behind M are not shifted; M then changes by as much as the inputs in the w_k do, and other draws may
follow it: a shift that depends on draws that stay is still one to one, and costs what it costs at the worst change of M.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from dpest.exact.inference.expressions import Expr, expr, plus, single, substituted
from dpest.exact.proof.policy import is_whole
from dpest.exact.proof.regions import Region, Released, Row, Terms, drawn, scaled_row, with_rows
from dpest.exact.proof.symbols import Symbols, UnknownInput
from dpest.lang.nodes import Draw, Extreme, Linear, Pick
from dpest.laws.law import Law
from dpest.numerics.rationals import ONE, ZERO, Rational


@dataclass(frozen=True)
class Maximum:
    """max over k of draw k + terms over inputs + constant."""

    values: tuple[tuple[int, Terms, Rational], ...]
    whole: bool = False  # whether all values are whole numbers


class _Ties(Enum):
    """Which of two equal values counts as the larger one: it matters where values are whole numbers."""

    NONE = "no two values are equal"
    FIRST = "the one of the earlier draw"
    LAST = "the one of the later draw"


@dataclass(frozen=True)
class _Form:
    """A region with the largest value written as one variable."""

    maximum: Maximum
    winner: int
    ties: _Ties
    rows: frozenset[Row]
    released: tuple[Released, ...]


_MOST_REGIONS = 2_000  # after maxima are written out as cases; beyond, the maximum is left as it is
_M = -(1 << 30)  # stands for the maximum until it has a number


def with_maxima(regions: Sequence[Region], symbols: Symbols) -> tuple[list[Region], dict[int, Maximum]] | None:
    """The regions in terms of maxima, and what each new variable is; None where no regions can be put together so."""
    laws: dict[int, Law] = {-1 - i: d.law for i, d in enumerate(symbols.inputs)}
    families: dict[Any, dict[int, Region]] = {}
    for region in _candidates(regions):
        for form in _forms(without_transitive(region), laws):
            key = (region.key, region.group, form.maximum, form.ties, form.rows, form.released)
            families.setdefault(key, {})[form.winner] = region
    numbers: dict[Maximum, int] = {}
    out: list[Region] = []
    gone: set[int] = set()
    for (key, group, maximum, _, rows, released), members in families.items():
        whole = len(members) == len(maximum.values)
        if not whole or len({id(r) for r in members.values()}) != len(members) or any(id(r) in gone for r in members.values()):
            continue
        gone.update(id(r) for r in members.values())
        number = numbers.setdefault(maximum, -1 - len(symbols.inputs) - len(numbers))
        own = {v: law for r in members.values() for v, law in r.laws}
        out.append(_numbered(key, group, rows, released, own, number))
    if not gone:
        return None
    for maximum in numbers:
        symbols.inputs.append(Draw(UnknownInput(f"m{len(symbols.derived) + 1}", integral=maximum.whole)))
        symbols.derived.append(_node(maximum, symbols))
    return [r for r in regions if id(r) not in gone] + out, {v: m for m, v in numbers.items()}


def _candidates(regions: Sequence[Region]) -> list[Region]:
    """Regions that share the form of their output with others, which release other values."""
    by_key: dict[Any, list[Region]] = {}
    for region in regions:
        by_key.setdefault((region.key, region.group), []).append(region)
    sharing = [group for group in by_key.values() if len({r.released for r in group}) > 1]
    return [r for group in sharing for r in group] if sum(map(len, sharing)) <= _MOST_REGIONS else []


def without_transitive(region: Region) -> Region:
    """The region without a >= c where it also has a >= b and b >= c."""
    between: dict[tuple[int, int], Row] = {}
    for row in region.rows:
        draws = _compared(row)
        if draws is not None:
            between[draws] = row
    for (a, c), row in list(between.items()):
        for b in {b for x, b in between if x == a and b != c}:
            if (b, c) in between and _adds_up(between[a, b], between[b, c], row):
                del between[a, c]
                break
    kept = set(between.values())
    return with_rows(region, [r for r in region.rows if _compared(r) is None or r in kept])


def _compared(row: Row) -> tuple[int, int] | None:
    """(winner, loser) of a row that compares two draws of coefficient 1."""
    draws = [(v, c) for v, c in row.terms if v >= 0]
    if len(draws) != 2 or {c for _, c in draws} != {ONE, -ONE} or row.strict:
        return None
    (winner, _), (loser, _) = sorted(draws, key=lambda t: -t[1])
    return winner, loser


def _adds_up(first: Row, second: Row, third: Row) -> bool:
    total = plus(Expr(first.terms, first.constant), Expr(second.terms, second.constant), ONE)
    return total.terms == third.terms and total.constant <= third.constant


def _forms(region: Region, laws: Mapping[int, Law]) -> Iterable[_Form]:
    """The ways in which a region says that one noisy value is the largest of several that it does not speak of otherwise."""
    uses: dict[int, int] = {}
    for terms in (*(r.terms for r in region.rows), *(r.terms for r in region.released)):
        for v, _ in terms:
            uses[v] = uses.get(v, 0) + 1
    beaten: dict[int, dict[int, Row]] = {}
    for row in region.rows:
        draws = _compared(row)
        if draws is not None:
            winner, loser = draws
            if uses[loser] == 1 and all(not law.discrete or is_whole(law) for law in (region.law[winner], region.law[loser])):
                beaten.setdefault(winner, {})[loser] = row
    for winner, rows in beaten.items():
        kinds = {region.law[v].discrete for v in (winner, *rows)}
        for ties in (_Ties.FIRST, _Ties.LAST) if kinds == {True} else (_Ties.NONE,) if kinds == {False} else ():
            form = _form(region, winner, rows, laws, ties)
            if form is not None:
                yield form


def _form(
    region: Region, winner: int, beaten: Mapping[int, Row], laws: Mapping[int, Law], ties: _Ties
) -> _Form | None:
    group = sorted([winner, *beaten])
    base = group[0]
    # A row says w_winner - w_k >= 0, or >= 1 where a tie goes to k: the values up to what they have in common.
    margins = {k: _margin(row, _loses_ties(winner, k, ties)) for k, row in beaten.items()}
    lead = Expr((), ZERO) if winner == base else margins[base]
    rests = {k: lead if k == winner else plus(lead, margins[k], -ONE) for k in group}
    shared = _shared([dict(rests[k].terms) for k in group if k != base])
    lead, own_values = plus(lead, shared, -ONE), {k: plus(rests[k], shared, -ONE) for k in group}
    values = tuple((k, x.terms, x.constant) for k, x in own_values.items())
    whole = ties is not _Ties.NONE and all(_is_whole(terms, constant, laws) for _, terms, constant in values)
    if ties is not _Ties.NONE and not whole:
        return None
    own = dict(region.law) | dict(laws) | {_M: UnknownInput("max", integral=whole)}
    in_maximum = plus(single(_M), lead, -ONE)  # the winning draw is M minus the rest of its value
    rows = set()
    for row in region.rows:
        if row in beaten.values():
            continue
        renamed = substituted(Expr(row.terms, row.constant), winner, in_maximum)
        if renamed.coefficient(_M) and not any(v >= 0 for v, _ in renamed.terms):
            return None  # a condition on the maximum alone would pass for one on the input
        rows.add(scaled_row(renamed.terms, renamed.constant, row.strict, own))
    released = []
    for value in region.released:
        renamed = substituted(Expr(value.terms, value.constant), winner, in_maximum)
        released.append(Released(renamed.terms, renamed.constant, value.offset))
    return _Form(Maximum(values, whole), winner, ties, frozenset(rows), tuple(released))


def _shared(others: Sequence[Mapping[int, Rational]]) -> Expr:
    """The inputs that all values but the first have in common: they belong to the first, with the opposite sign.

    Only differences of the values are known; this is the split in which each value has its own inputs.
    """
    same = ((v, c) for v, c in others[0].items() if all(o.get(v, ZERO) == c for o in others))
    return expr(((v, c) for v, c in same if len(others) > 1 or c < 0), ZERO)


def _loses_ties(winner: int, k: int, ties: _Ties) -> bool:
    return (ties is _Ties.FIRST and k < winner) or (ties is _Ties.LAST and k > winner)


def _is_whole(terms: Terms, constant: Rational, laws: Mapping[int, Law]) -> bool:
    return constant.denominator == 1 and all(c.denominator == 1 and is_whole(laws[v]) for v, c in terms)


def _margin(row: Row, more: bool) -> Expr:
    """By how much the winner is ahead of the loser, without their draws."""
    return Expr(tuple((v, c) for v, c in row.terms if v < 0), row.constant + (ONE if more else ZERO))


def _numbered(
    key: Any, group: int, rows: Iterable[Row], released: Iterable[Released], laws: Mapping[int, Law], number: int
) -> Region:
    def named(terms: Terms) -> Terms:
        return tuple(sorted((number if v == _M else v, c) for v, c in terms))

    new_rows = sorted((Row(named(r.terms), r.constant, r.strict) for r in rows), key=lambda r: (r.terms, r.constant))
    new_released = tuple(Released(named(r.terms), r.constant, r.offset) for r in released)
    used = sorted(drawn(new_rows, new_released))
    return Region(key, tuple(new_rows), new_released, tuple((v, laws[v]) for v in used), group)


def _node(maximum: Maximum, symbols: Symbols) -> Extreme:
    """What the maximum changes with: the inputs in its values, whose draws stay as they are.

    A draw that may be anything stands beside them: bounds of the inputs alone say nothing about how large a noisy value is.
    """
    noise = Draw(UnknownInput("noise"))
    values = []
    for _, terms, constant in maximum.values:
        listed = tuple((symbols.inputs[-1 - v], c) for v, c in terms)
        values.append(Linear((*listed, (noise, ONE)), constant))
    return Extreme(Pick.MAX, tuple(values))
