"""One inequality between draws and a constant, in a normal form: terms + constant >= 0.

Where a continuous draw takes part, equality has probability zero, and `>` is `>=`. Where all draws are whole numbers, so
are the coefficients and the constant, and `>` is `>=` with the next whole number. A single draw with other points is
compared with one of its points.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, ClassVar

from dpest.lang.nodes import Draw, Linear, Relation, is_integral
from dpest.lang.origins import at_root
from dpest.laws.continuous import Uniform
from dpest.laws.discrete import Atoms
from dpest.laws.narrow_spans import log_chance
from dpest.numerics.rationals import ONE, ZERO, Rational, common_measure, exact, floor

DrawDirection = tuple[tuple[Draw, Rational], ...]


@dataclass(frozen=True)
class Literal:
    """A comparison of draws with a constant that holds on a path: terms + constant >= 0."""

    terms: tuple[tuple[Draw, Rational], ...]
    constant: Rational
    opposite_of: Literal | None = field(default=None, kw_only=True, compare=False, repr=False)

    @cached_property
    def direction(self) -> tuple[DrawDirection, Rational, bool]:
        """As `direction >= bound`, or <= where flipped: (direction, bound, flipped).

        A condition on a function of a draw speaks of the draw: what is known of either decides the other.
        """
        if self.opposite_of is not None:
            direction, bound, flipped = self.opposite_of.direction
            return direction, bound, not flipped
        if len(self.terms) == 1 and self.terms[0][0].origin is not None:
            ((draw, c),) = self.terms
            found = at_root(draw, c > 0, -self.constant / c)
            if found is not None:
                return ((found[0], ONE),), found[2], not found[1]
        terms = self.terms if len(self.terms) == 1 else sorted(self.terms, key=lambda t: id(t[0]))
        lead = terms[0][1]
        return tuple((d, c / lead) for d, c in terms), -self.constant / lead, lead < 0

    @cached_property
    def smooth(self) -> bool:
        """Whether a continuous draw takes part: ties then have probability zero."""
        return any(not d.law.discrete for d, _ in self.terms)

    @cached_property
    def by_support(self) -> bool | None:
        """Whether the draws' supports alone decide the inequality; None where they do not."""
        low, high = self._end(lower=True), self._end(lower=False)
        if low is not None and low >= 0:
            return True
        return False if high is not None and (high < 0 or (self.smooth and high == 0)) else None

    def _end(self, *, lower: bool) -> Rational | None:
        """The smallest (or largest) value of terms + constant; None where it is infinite."""
        total = self.constant
        for draw, c in self.terms:
            end = draw.law.support[0 if (c > 0) == lower else 1]
            if math.isinf(end):
                return None
            total += c * exact(end)
        return total

    def negated(self) -> Literal:
        """The opposite inequality, as one object: what is known of it is kept."""
        return self._opposite

    @cached_property
    def _opposite(self) -> Literal:
        if self.opposite_of is not None:
            return self.opposite_of
        if self.smooth:
            return Literal(tuple((d, -c) for d, c in self.terms), -self.constant, opposite_of=self)
        if len(self.terms) == 1 and not is_integral(self.terms[0][0]):
            return self._beside()
        return Literal(tuple((d, -c) for d, c in self.terms), -self.constant - 1)

    def _beside(self) -> Literal:
        """The opposite of a comparison with one of a draw's points: a comparison with the point next to it."""
        ((draw, c),) = self.terms
        points = [exact(x) for x in draw.law.window(0.0)[0]]  # type: ignore[attr-defined]
        at = points.index(-self.constant / c)
        return Literal(((draw, -c),), c * points[at - 1 if c > 0 else at + 1])


@dataclass(frozen=True)
class InputLiteral(Literal):
    """A comparison of unknown inputs (and discrete draws) with a constant: terms + constant >= 0, or > 0 where strict.

    Nothing is known of inputs, so that each comparison is a truth value of its own, which only itself and its opposite decide.
    """

    strict: bool = False
    smooth: ClassVar[bool] = False

    @cached_property
    def direction(self) -> tuple[DrawDirection, Rational, bool]:
        """The truth value as a direction: >= 1 where it holds, <= 0 where it does not."""
        terms = sorted(self.terms, key=lambda t: id(t[0]))
        lead = terms[0][1]
        name: Any = (tuple((d, c / lead) for d, c in terms), self.constant / lead, self.strict == (lead > 0))
        return ((terms[0][0], name),), exact(1 if lead > 0 else 0), lead < 0

    @cached_property
    def by_support(self) -> bool | None:
        """Whether the ranges of the inputs alone decide the inequality; None where they do not."""
        low, high = self._end(lower=True), self._end(lower=False)
        if low is not None and (low > 0 or (low == 0 and not self.strict)):
            return True
        return False if high is not None and (high < 0 or (high == 0 and self.strict)) else None

    def negated(self) -> Literal:
        """The opposite inequality."""
        return InputLiteral(tuple((d, -c) for d, c in self.terms), -self.constant, not self.strict)


Tightest = tuple[Literal | None, Literal | None]  # the tightest lower and the tightest upper bound; None where there is none
Bounds = dict[DrawDirection, Tightest]

FREE: Tightest = (None, None)


def ends(span: Tightest) -> tuple[Rational | None, Rational | None]:
    """The smallest and the largest value that are left of a direction."""
    low, high = span
    return None if low is None else low.direction[1], None if high is None else high.direction[1]


def held(bounds: Bounds) -> tuple[Literal, ...]:
    """The inequalities that say all that is known: in each direction the tightest ones."""
    return tuple(literal for span in bounds.values() for literal in span if literal is not None)


# -- what the conditions taken so far say about the next one -----------------------------------------------------------


def implied(literal: Literal, bounds: Bounds) -> bool | None:
    """Whether the draws' supports or earlier conditions decide an inequality; None where it is open."""
    if literal.by_support is not None:
        return literal.by_support
    direction, bound, flipped = literal.direction
    known = bounds.get(direction)
    if known is None:
        return _by_single_draws(literal, bounds) if len(literal.terms) > 1 else None
    low, high = ends(known)
    if flipped:
        low, high, bound = _minus(high), _minus(low), -bound
    if low is not None and low >= bound:
        return True
    if high is not None and (high < bound or (literal.smooth and high == bound)):
        return False
    if len(literal.terms) == 1 and isinstance(literal.terms[0][0].law, Atoms):  # between two of its points there is nothing
        return _by_single_draws(literal, bounds)
    return flipped if rounded_off(literal, bounds) else None


# In units of 2^-53 of the width of a uniform law. Sums of 100 probabilities that should be 1 were seen to miss it by up to 14, of
# 20 by 7: half of it loses tables of a few hundred entries, twice of it gains tables that nobody writes.
_ROUNDING = exact(32 * 2.0**-53)


def rounded_off(literal: Literal, bounds: Bounds) -> Rational:
    """The chance that a uniform number lies above the last of several rising bounds, where that is a matter of rounding; else 0.

    Programs that look a uniform number up in a table of cumulative probabilities add them up in floating point, so that the last
    bound may be 1 - 1e-16 instead of 1. What lies above it is no outcome that the author wrote. A single bound is never taken
    for a table: `u < 1 - 1e-16` alone stands as it is.
    """
    direction, bound, _ = literal.direction
    draw = direction[0][0]
    if len(direction) != 1 or not isinstance(draw.law, Uniform) or literal.terms[0][0].origin is not None:
        return ZERO  # a tail of a function of uniform noise is one that the author asks for
    below = ends(bounds.get(direction, FREE))[0]
    if below is None or not below < bound:
        return ZERO
    end = exact(draw.law.high)
    share = (end - bound) / (end - exact(draw.law.low))
    return share if ZERO < share <= _ROUNDING else ZERO


def _by_single_draws(literal: Literal, bounds: Bounds) -> bool | None:
    """Whether what is known of each draw alone decides an inequality between several; None where it does not."""
    if not any(((draw, ONE),) in bounds for draw, _ in literal.terms):
        return None  # their supports decide nothing, and nothing else is known
    low = _end_within(literal, bounds, lower=True)
    if low is not None and low >= 0:
        return True
    high = _end_within(literal, bounds, lower=False)
    return False if high is not None and (high < 0 or (literal.smooth and high == 0)) else None


def _end_within(literal: Literal, bounds: Bounds, *, lower: bool) -> Rational | None:
    """The smallest (or largest) value of terms + constant wherever each draw may still lie; None where it is infinite."""
    total = literal.constant
    for draw, c in literal.terms:
        end = _last_of(draw, bounds, lower=(c > 0) == lower)
        if end is None:
            return None
        total += c * end
    return total


def _last_of(draw: Draw, bounds: Bounds, *, lower: bool) -> Rational | None:
    """The smallest (or largest) number that a draw may still be; None where there is no such end."""
    if draw.law.unknown:
        return None
    side = 0 if lower else 1
    known = None if draw.origin is not None else ends(bounds.get(((draw, ONE),), FREE))[side]
    end = draw.law.support[side]
    if math.isinf(end):
        return known
    last = exact(end)
    if known is None or (isinstance(draw.law, Atoms) and (at := _point_beside(draw.law.points, known, lower)) is not None):
        return last if known is None else at
    return max(last, known) if lower else min(last, known)


def _point_beside(points: Sequence[float], bound: Rational, lower: bool) -> Rational | None:
    """The first point that is not below a bound, or the last one that is not above it."""
    at = bisect_left(points, bound, key=exact) if lower else bisect_right(points, bound, key=exact) - 1
    return exact(points[at]) if 0 <= at < len(points) else None


def left_of(literal: Literal, bounds: Bounds) -> Literal | bool:
    """What is left of an inequality where draws with one point left count as numbers; a truth value where it is decided.

    `u + 2 * v >= 3` with u known to be 0 speaks of v alone, and a loop that looked at u and is back has nothing to do with it.
    """
    known = implied(literal, bounds)
    if known is not None or len(literal.terms) == 1 or isinstance(literal, InputLiteral):
        return literal if known is None else known
    points = [_only_point(draw, bounds) for draw, _ in literal.terms]
    constant = sum((c * x for (_, c), x in zip(literal.terms, points, strict=True) if x is not None), literal.constant)
    open_terms = tuple(term for term, x in zip(literal.terms, points, strict=True) if x is None)
    if len(open_terms) == len(literal.terms):
        return literal
    if not open_terms:
        return bool(constant >= ZERO)
    if not literal.smooth:
        step = common_measure(c for _, c in open_terms)
        open_terms, constant = tuple((d, c / step) for d, c in open_terms), exact(floor(constant / step))
    rest = Literal(open_terms, constant)
    known = implied(rest, bounds)
    return rest if known is None else known


def _only_point(draw: Draw, bounds: Bounds) -> Rational | None:
    """The only whole number that a draw may still be; None where there are more."""
    if draw.origin is not None or not is_integral(draw):
        return None
    low, high = _last_of(draw, bounds, lower=True), _last_of(draw, bounds, lower=False)
    return low if low == high else None


def _minus(x: Rational | None) -> Rational | None:
    return None if x is None else -x


def narrowed(bounds: Bounds, literals: Sequence[Literal]) -> Bounds:
    """The known bounds, with several more inequalities that hold."""
    out = dict(bounds)
    for literal in literals:
        direction = literal.direction[0]
        out[direction] = _tighter(out.get(direction, FREE), literal)
    return out


def _tighter(span: Tightest, literal: Literal) -> Tightest:
    _, bound, flipped = literal.direction
    low, high = span
    if flipped:
        return low, literal if high is None or bound < high.direction[1] else high
    return literal if low is None or bound > low.direction[1] else low, high


def open_options(
    options: Sequence[tuple[Literal, ...]], bounds: Bounds
) -> tuple[int | None, list[tuple[int, tuple[Literal, ...]]]]:
    """The option that must hold, if it is known; else those that still can, with what each adds."""
    left: list[tuple[int, tuple[Literal, ...]]] = []
    for i, option in enumerate(options):
        new = _added(option, bounds)
        if new == ():
            return i, []
        if new is not None:
            left.append((i, new))
    return (left[0][0] if len(left) == 1 else None), left


def _added(option: tuple[Literal, ...], bounds: Bounds) -> tuple[Literal, ...] | None:
    """The inequalities of an option that are still open; None where one of them cannot hold."""
    new = []
    for literal in option:
        rest = left_of(literal, bounds)
        if isinstance(rest, Literal):
            new.append(rest)
        elif not rest:
            return None
    return tuple(new)


# -- weights -----------------------------------------------------------------------------------------------------------


def log_weight(literals: tuple[Literal, ...], bounds: Bounds) -> float:
    """An upper bound of ln P(the literals hold | the bounds hold): of conditions on single draws, taken together.

    Conditions that compare several draws count as certain. What holds of one draw is weighed as one interval: its
    conditions are not independent.
    """
    after: Bounds = {}
    for literal in literals:
        if len(literal.terms) == 1:
            direction = literal.direction[0]
            after[direction] = _tighter(after.get(direction, bounds.get(direction, FREE)), literal)
    before = [_log_span(d, bounds.get(d, FREE)) for d in after]
    if -math.inf in before:
        return -math.inf
    total = 0.0
    for (d, span), old in zip(after.items(), before, strict=True):
        new = _log_span(d, span)
        total += 0.0 if new is None or old is None else new - old
    return min(0.0, total)


def _log_span(direction: DrawDirection, span: Tightest) -> float | None:
    """ln P(a draw lies in a span); None where its ends speak of different functions of the draw."""
    if span == FREE:
        return 0.0
    if any(x is not None and x.terms[0][0].origin is not None for x in span):
        return _log_image_span(span)
    return log_chance(direction[0][0].law, *ends(span))


def _log_image_span(span: Tightest) -> float | None:
    """ln P(a span) whose ends are conditions on functions of a draw: from their own laws, which keep the digits of tails."""
    draws = {id(x.terms[0][0]): x.terms[0][0] for x in span if x is not None}
    if len(draws) > 1:
        return None
    (draw,) = draws.values()
    bounds = [(x.terms[0][1], -x.constant / x.terms[0][1]) for x in span if x is not None]
    least = max((bound for c, bound in bounds if c > 0), default=None)
    most = min((bound for c, bound in bounds if c < 0), default=None)
    return log_chance(draw.law, least, most)


def log_chances(literal: Literal, bounds: Bounds) -> tuple[float, float]:
    """Upper bounds of ln P(holds) and ln P(does not), given the bounds; 0 and 0 where several draws take part."""
    if len(literal.terms) != 1:
        return 0.0, 0.0
    return log_weight((literal,), bounds), log_weight((literal.negated(),), bounds)


@lru_cache(maxsize=1 << 14)
def smooth_literal(relation: Relation, value: Linear) -> Literal | None:
    """An inequality in which a continuous draw takes part, as one object for one node: what is known of it is kept."""
    terms = tuple((n, c) for n, c in value.terms if isinstance(n, Draw))
    plain = relation is not Relation.EQ and len(terms) == len(value.terms) > 0
    found = Literal(terms, value.constant) if plain else None
    return found if found is not None and found.smooth else None
