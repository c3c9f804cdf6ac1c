"""The cheapest alignment of a region with itself, for every difference in a box at once.

A policy shifts each draw by an affine function of the difference d. Conditions must still hold, released values stay as they
are, and the cost is bounded over the whole box: a linear program, whose answer is checked in rationals.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence

from dpest.exact.inference.expressions import Expr, expr
from dpest.exact.proof.adjacency import Box
from dpest.exact.proof.folding import Known, solve_folded
from dpest.exact.proof.parts import Folded, Part, folded, parts
from dpest.exact.proof.programs import Program
from dpest.exact.proof.regions import Region, Released, Row
from dpest.laws.law import Law
from dpest.numerics.ranges import Range
from dpest.numerics.rationals import ONE, ZERO, Rational

_MOST_SLOPES = 4_000  # unknown slopes of one policy; beyond it, only draws that are released together with an input follow it
_MOST_VERTICES = 1 << 8  # of differences at which a cost is added up exactly; beyond it each draw is priced at its own worst


# The shift of each draw: constant + the sum of slope * change of an input.
Policy = dict[int, Expr]


def cheapest_policy(region: Region, box: Box, inputs: Mapping[int, Law], known: Known) -> Policy | None:
    """A policy of small cost; None where none was found."""
    policy: Policy = {}
    for part in parts(region):
        found = _part_policy(part, dict(box.moves), inputs, known)
        if found is None:
            return None
        policy.update(found)
    return policy


def _part_policy(part: Part, moves: dict[int, Range], inputs: Mapping[int, Law], known: Known) -> Policy | None:
    mixed = mixed_inputs(part, moves)
    small = folded(part, moves)
    program = Program()
    columns = PolicyColumns(program, small, mixed, moves, inputs)
    for value in part.released:
        if not columns.keep(value):
            return None
    for number, row in enumerate(small.part.rows):
        if not columns.hold(row, number):
            return None
    point = solve_folded(program, known)
    return None if point is None else columns.policy(point)


def mixed_inputs(part: Part, moves: Mapping[int, Range]) -> set[int]:
    """Inputs for which no one difference is the worst: they are released, or enter the conditions with both signs."""
    out = {v for value in part.released for v, _ in value.terms if v in moves}
    signs: dict[int, bool] = {}
    for row in part.rows:
        for v, c in row.terms:
            if v in moves and signs.setdefault(v, c > 0) != (c > 0):
                out.add(v)
    return out


def is_whole(law: Law) -> bool:
    """Whether an input takes whole values only."""
    return bool(getattr(law, "integral", False))


class PolicyColumns:
    """The unknowns of a policy: for each draw a constant, and slopes along the inputs that it may follow."""

    def __init__(
        self, program: Program, small: Folded, mixed: set[int], moves: Mapping[int, Range], inputs: Mapping[int, Law]
    ) -> None:
        self.program, self.moves, self.mixed, self.small = program, moves, mixed, small
        part = small.part
        follows = _followed(part, mixed)
        self.follows: dict[int, list[int]] = {}
        self.constant: dict[int, dict[int, Rational]] = {}
        self.law = dict(part.laws)
        for v, law in part.laws:
            up, down = law.shift_cost()
            able = follows.get(v, set()) if (up, down) != (None, None) else set()
            # A whole-number draw can only follow an input that changes by whole numbers.
            self.follows[v] = sorted(i for i in able if not law.discrete or is_whole(inputs[i]))
            sloped = bool(self.follows[v])
            self.constant[v] = self.sloped(v, law, self.follows[v], up, down) if sloped else self._plain(v, law, up, down)

    def _plain(self, v: int, law: Law, up: Rational | None, down: Rational | None) -> dict[int, Rational]:
        """A draw that is shifted by a constant: a part upwards and a part downwards."""
        out = {}
        for sign, price in ((ONE, up), (-ONE, down)):
            if price is not None:
                cost = price * self.small.times(v)
                out[self.program.column(("s", v, int(sign)), cost=cost, low=ZERO, whole=law.discrete)] = sign
        return out

    def sloped(self, v: int, law: Law, inputs: Sequence[int], up: Rational | None, down: Rational | None) -> dict[int, Rational]:
        """A draw that follows inputs: its price is at least that of the largest shift either way."""
        program, whole = self.program, law.discrete
        constant = program.column(("s", v), whole=whole)
        price = program.column(("price", v), cost=ONE * self.small.times(v), low=ZERO)
        slopes = [program.column(("S", v, i), whole=whole) for i in inputs]
        for sign, each in ((ONE, up), (-ONE, down)):
            # price >= each * (sign * constant + the largest of sign * slope * d)
            terms = {constant: -sign}
            for i, slope in zip(inputs, slopes, strict=True):
                most = program.column(("most", v, i, int(sign)))
                for end in self.moves[i]:
                    if end is None:
                        program.equal({slope: ONE}, ZERO)
                    program.at_least({most: ONE, slope: -sign * (end or ZERO)}, ZERO)
                terms[most] = -ONE
            if each is not None:
                terms = {j: c * each for j, c in terms.items()} | {price: ONE}
            program.at_least(terms, ZERO)
        return {constant: ONE}

    def slope(self, terms: Iterable[tuple[int, Rational]], i: int) -> dict[int, Rational]:
        """By how much an expression of draws changes with input i, as a combination of columns."""
        out: dict[int, Rational] = {}
        for v, c in terms:
            if v >= 0 and i in self.follows[v]:
                column = self.program.index["S", v, i]
                out[column] = out.get(column, ZERO) + c
        return out

    def fixed(self, terms: Iterable[tuple[int, Rational]]) -> dict[int, Rational]:
        """The constant part of the change of an expression of draws."""
        out: dict[int, Rational] = {}
        for v, c in terms:
            for column, sign in self.constant[v].items() if v >= 0 else ():
                out[column] = out.get(column, ZERO) + sign * c
        return out

    def keep(self, value: Released) -> bool:
        """The released value stays as it is; False where an input moves it and no draw can follow."""
        self.program.equal(self.fixed(value.terms), ZERO)
        given = dict(value.terms)
        for i in self.mixed:
            slope, own = self.slope(value.terms, i), given.get(i, ZERO)
            if not slope and own:
                return False
            if slope:
                self.program.equal(slope, -own)
        return True

    def hold(self, row: Row, number: int) -> bool:
        """The condition holds after the shift, at the worst difference; False where nothing bounds that."""
        terms = self.fixed(row.terms)
        bound = ZERO
        given = {v: c for v, c in row.terms if v in self.moves}
        for i in self.mixed:
            slope, own = self.slope(row.terms, i), given.pop(i, ZERO)
            if slope:
                self._worst(terms, slope, own, i, number)
            elif own:
                given[i] = own
        for i, own in given.items():
            end = self.moves[i][0 if own > 0 else 1]
            if end is None:
                return False
            bound -= own * end
        self.program.at_least(terms, bound)
        return True

    def _worst(self, terms: dict[int, Rational], slope: dict[int, Rational], own: Rational, i: int, number: int) -> None:
        """Adds the least of (slope + own) * d over the range of d."""
        program = self.program
        least = program.column(("least", number, i))
        for k, end in enumerate(self.moves[i]):
            if end is None:  # towards an infinite end the expression must not fall
                sign = -ONE if k == 0 else ONE
                program.at_least({j: sign * c for j, c in slope.items()}, -sign * own)
            else:
                program.at_least({least: -ONE} | {j: c * end for j, c in slope.items()}, -own * end)
        if self.moves[i] == (None, None):
            program.equal({least: ONE}, ZERO)
        terms[least] = ONE

    def policy(self, point: Sequence[Rational]) -> Policy:
        """The shifts at a point of the program; draws that stay where they are have none."""
        out: Policy = {}
        for v, parts_ in self.constant.items():
            constant = sum((sign * point[column] for column, sign in parts_.items()), ZERO)
            slopes = [(i, point[self.program.index["S", v, i]]) for i in self.follows[v]]
            shift = expr(slopes, constant)
            if shift.constant or shift.terms:
                out.update(dict.fromkeys(self.small.members.get(v, (v,)), shift))
        return out


def _followed(part: Part, mixed: set[int]) -> dict[int, set[int]]:
    """Which mixed inputs each draw may follow: those that it shares a released value or a condition with."""

    def shared(expressions: Iterable[Iterable[tuple[int, Rational]]]) -> dict[int, set[int]]:
        out: dict[int, set[int]] = {}
        for terms in expressions:
            listed = list(terms)
            inputs = {v for v, _ in listed if v in mixed}
            for v, _ in listed:
                if v >= 0 and inputs:
                    out.setdefault(v, set()).update(inputs)
        return out

    released = [r.terms for r in part.released]
    found = shared([*released, *(r.terms for r in part.rows)])
    return found if sum(map(len, found.values())) <= _MOST_SLOPES else shared(released)


def cost_of(policy: Policy, laws: Mapping[int, Law], box: Box) -> Rational | None:
    """What a policy costs at most over the box, exactly; None where it shifts a draw as its law does not allow."""
    moves = dict(box.moves)
    used = sorted({i for shift in policy.values() for i, _ in shift.terms})
    if any(end is None for i in used for end in moves[i]):
        return None
    linear = all(type(laws[v]).shift_loss is Law.shift_loss for v in policy)  # only then is a cost convex in d
    if linear and used and 1 << len(used) <= _MOST_VERTICES:
        totals = [total for _, total in costs_at_vertices(policy, laws, used, moves)]
        return None if any(t is None for t in totals) else max(t for t in totals if t is not None)
    total = ZERO
    for v, shift in policy.items():
        most = [laws[v].shift_loss(s) for s in _extremes(shift, moves)]
        if any(p is None for p in most):
            return None
        total += max(p for p in most if p is not None)
    return total


def costs_at_vertices(
    policy: Policy, laws: Mapping[int, Law], used: Sequence[int], moves: Mapping[int, Range]
) -> Iterator[tuple[dict[int, Rational], Rational | None]]:
    """Each combination of the ends of the used inputs, with what the policy costs there."""
    ends = [[(i, end) for end in moves[i] if end is not None] for i in used]
    for choice in itertools.product(*ends):
        d = dict(choice)
        yield d, _total([(policy[v].exactly(d), laws[v]) for v in policy])


def _extremes(shift: Expr, moves: Mapping[int, Range]) -> tuple[Rational, Rational]:
    """The smallest and largest value of a shift over a box."""
    low = high = shift.constant
    for i, c in shift.terms:
        ends = [c * end for end in moves[i] if end is not None]
        low, high = low + min(ends), high + max(ends)
    return low, high


def _total(shifts: Iterable[tuple[Rational, Law]]) -> Rational | None:
    out = ZERO
    for s, law in shifts:
        price = law.shift_loss(s)
        if price is None:
            return None
        out += price
    return out
