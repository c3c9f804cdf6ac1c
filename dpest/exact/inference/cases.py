"""Output values that are still random expressions, worked out into cases: conditions, and constants or affine values."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from dpest.errors import BudgetExceeded, ExactRefused
from dpest.exact.inference.choices import CaseRun, Contradiction, Decisions
from dpest.exact.inference.component import Case
from dpest.exact.inference.computed import Computed, computed
from dpest.exact.inference.expressions import Expr, expr, number, plus, times
from dpest.exact.inference.factors import Bound
from dpest.exact.inference.sphere import Spherical, spherical
from dpest.lang.extent import is_rounded
from dpest.lang.logic import compare
from dpest.lang.nodes import (
    All,
    ArgExtreme,
    Compare,
    Draw,
    Extreme,
    Linear,
    Not,
    Pick,
    Quotient,
    Ranked,
    Relation,
    Rounded,
    Where,
    ancestors,
    draws_of,
    is_node,
    linear,
    plain_number,
    scaled,
)
from dpest.lang.origins import root
from dpest.lang.plain import Undetermined, evaluate, rests_on
from dpest.laws.law import Law
from dpest.numerics.rationals import Rational, common_denominator, exact, floor
from dpest.trace.atomic import Became, has_finitely_many_points
from dpest.trace.functions import NotFinite
from dpest.trace.images import in_one_form
from dpest.trace.literal import Literal, narrowed
from dpest.trace.literal import held as tightest
from dpest.trace.pinning import pinned
from dpest.trace.resolve import affine, decide, floor_form, index, meets_halves, unrounded
from dpest.trace.roundings import short
from dpest.trace.rounds import Loop
from dpest.trace.stepped import steps_of

MOST_CASES = 20_000  # of one output: each is solved by itself; beyond, exact inference gives up and says so


@dataclass(frozen=True)
class Constant:
    """A leaf that is a plain value on this case."""

    value: Any


@dataclass(frozen=True, eq=False)
class Affine:
    """A leaf that is an affine expression of draws: a real number, or a lattice point where all draws are discrete."""

    value: Linear
    computed: Computed | None = None  # a lattice point that the program rounds

    @property
    def continuous(self) -> bool:
        return any(not n.law.discrete for n, _ in self.value.terms if isinstance(n, Draw))


@dataclass(frozen=True, eq=False)
class Floor:
    """A leaf that is scale * floor(inner) + offset."""

    inner: Linear
    scale: Rational
    offset: Rational
    computed: Computed | None = None  # where the program rounds it


@dataclass(frozen=True, eq=False)
class Ratio:
    """A leaf that is a quotient of two affine expressions of different continuous draws, plus a number."""

    top: Linear
    bottom: Linear
    offset: Rational


LeafValue: TypeAlias = Constant | Affine | Floor | Ratio | Spherical


@dataclass(frozen=True, eq=False)
class Expansion:
    """One case of some leaves: the conditions it needs, and the leaves' values."""

    literals: tuple[Literal, ...]
    values: tuple[LeafValue, ...]
    loops: tuple[Loop, ...] = ()


def expand(
    leaves: Sequence[Any],
    literals: Sequence[Literal],
    classes: Sequence[int],
    pins: Collection[int] = (),
    loops: tuple[Loop, ...] = (),
    most: int = MOST_CASES,
    *,
    ratios: bool = False,
) -> list[Expansion]:
    """Every case of the leaves; leaves of one class are exchangeable, and only sorted assignments are listed.

    Leaves at `pins` have finitely many points, and each point is a case of its own. Quotients of two random values are
    cases where `ratios` says so, and refused else.
    """
    done: list[Expansion] = []
    base = narrowed({}, literals) if any(map(is_node, leaves)) else {}
    stack: list[tuple[Decisions, tuple[LeafValue, ...]]] = [(Decisions(tuple(literals), base, {}), ())]
    while stack:
        taken, values = stack.pop()
        if len(values) == len(leaves):
            held, bounds = taken.literals, taken.bounds
            # Of what was decided about one direction only the tightest bounds count: a sum that was compared with forty
            # numbers has two of them.
            one_form = in_one_form(tightest(bounds) if len(held) > len(literals) else held, values)
            done += [Expansion(one_form, values, loops)] if one_form is not None else []
        else:
            at = len(values)
            for value, more in _options(leaves[at], taken, at in pins, ratios):
                if _in_order((*values, value), classes):
                    stack.append((more, (*values, value)))
        if len(done) + len(stack) > most:
            raise BudgetExceeded(f"the outputs have more than {most} cases")
    return done


def expansion_key(
    leaves: Sequence[Any], literals: Sequence[Literal], classes: Sequence[int], pins: Collection[int], loops: tuple[Loop, ...]
) -> tuple[Any, ...]:
    """What the cases of some leaves are kept by, as long as the leaves and the conditions are."""
    names = tuple(map(id, leaves)), tuple(map(id, literals)), tuple(map(id, loops))
    return ("expanded", *names, tuple(classes), tuple(sorted(pins)))


def pinned_leaves(draws: Sequence[Sequence[Draw]], literals: Sequence[Literal]) -> set[int]:
    """Leaves of finite draws that share noise with a leaf that has a density: each of their points is a case of its own.

    Each leaf is given by its draws.
    """
    finite = [all(getattr(d.law, "finite", False) for d in ds) for ds in draws]
    if not any(finite):
        return set()
    linked = {id(d) for ds in draws if any(not d.law.discrete for d in ds) for d in ds}
    size = -1
    while linked and len(linked) != size:
        size = len(linked)
        touched = ([id(root(d)) for d, _ in x.terms] for x in literals)
        linked.update(d for ids in touched if any(i in linked for i in ids) for d in ids)
    return {i for i, ds in enumerate(draws) if finite[i] and any(id(d) in linked for d in ds)}


def _in_order(values: tuple[LeafValue, ...], classes: Sequence[int]) -> bool:
    """Whether the newest value does not come before an earlier one of its class."""
    newest = values[-1]
    for i in range(len(values) - 2, -1, -1):
        if classes[i] == classes[len(values) - 1]:
            return _rank(values[i]) <= _rank(newest)
    return True


def _rank(value: LeafValue) -> tuple[str, str]:
    if isinstance(value, Constant):
        return type(value.value).__name__, repr(value.value)
    return "~", ""


def _options(node: Any, taken: Decisions, pin: bool, ratios: bool) -> list[tuple[LeafValue, Decisions]]:
    """The values that one leaf can take, each with the conditions that lead to it."""
    if not is_node(node):
        return [(Constant(node), taken)]
    out = []
    pending = [taken]
    while pending:
        run = CaseRun(pending.pop(), pending)
        with suppress(Contradiction):
            value = _leaf_value(node, run, pin, ratios)
            out.append((value, run.taken))
        if len(out) + len(pending) > MOST_CASES:
            raise BudgetExceeded(f"one output has more than {MOST_CASES} cases")
    return out


def _leaf_value(x: Any, run: CaseRun, pin: bool, ratios: bool) -> LeafValue:
    """An output value as a constant, an affine expression of draws, or a rounding of one."""
    while isinstance(x, Where):
        x = run.side(x)
    match x:
        case Compare() | Not() | All():
            return Constant(decide(x, run))
        case ArgExtreme() | Ranked(place=True):
            return Constant(index(x, run))
        case _ if not is_node(x):
            return Constant(x)
    became: Became = {}
    if ratios:
        turned = spherical(x)
        if turned is not None:
            return turned
        x = _picked(x, run)
        found = _ratio(x, run, became)
        if found is not None:
            return found
    try:
        value = affine(x, run, became)
    except NotFinite as beyond:
        return Constant(beyond.value)
    if pin or not value.terms or _uneven(value) or _rounds(x, value, became):
        return Constant(pinned(x, run, "an output", became))
    if not any(isinstance(n, Rounded) for n, _ in value.terms):
        return _affine(x, value, became)
    return _rounded_value(x, value, run, became)


def _affine(x: Any, value: Linear, became: Became) -> Affine:
    found = Affine(value)
    return found if found.continuous else Affine(value, computed(x, value, became, value.constant))


def _picked(x: Any, run: CaseRun) -> Any:
    """Of several values of which one is a quotient, the extreme one: quotients can be compared with numbers."""
    while isinstance(x, Extreme) and any(isinstance(n, Quotient) for n in ancestors(*x.values)):
        best, *others = x.values
        for other in others:
            larger = decide(compare(Relation.GE, best, other), run)
            best = best if larger == (x.pick is Pick.MAX) else other
        x = best
    return x


def _ratio(x: Any, run: CaseRun, became: Became) -> Ratio | Constant | None:
    """c * top / bottom, plus a number, as one quotient; None where it is none, or comes down to an affine value."""
    whole = linear(x) if is_node(x) else None
    if whole is None or len(whole.terms) != 1 or not isinstance(whole.terms[0][0], Quotient):
        return None
    ((node, c),) = whole.terms
    assert isinstance(node, Quotient)
    bottom, top = affine(node.right, run, became), affine(node.left, run, became)
    names = {id(n) for n, _ in (*top.terms, *bottom.terms)}
    rounded = any(not isinstance(n, Draw) for n, _ in (*top.terms, *bottom.terms))
    if has_finitely_many_points(bottom) or len(names) < 2 or rounded:
        return None
    if not top.terms and not top.constant:
        return Constant(float(whole.constant))
    return Ratio(scaled(top, c), bottom, whole.constant)


def _uneven(value: Linear) -> bool:
    """Whether a value of discrete draws alone has points that are not on one lattice: each is a case of its own."""
    if any(isinstance(d, Draw) and not d.law.discrete for d, _ in value.terms):
        return False
    draws = draws_of(value)
    return all(d.law.discrete for d in draws) and not all(getattr(d.law, "integral", False) for d in draws)


_MOST_ROUNDED = 500  # points of an output that are each computed as the program does; more are taken to lie on their lattice


def _rounds(x: Any, value: Linear, became: Became) -> bool:
    """Whether the program's own arithmetic rounds an output with few points: which of them are equal, it alone can tell."""
    if any(isinstance(n, Draw) and not getattr(n.law, "finite", False) for n, _ in value.terms):
        return False
    draws, _ = rests_on(x, became)
    if not all(getattr(d.law, "finite", False) for d in draws):
        return False
    few = math.prod(d.law.support[1] - d.law.support[0] + 1 for d in draws) <= _MOST_ROUNDED
    return few and is_rounded(x)


_FINEST = 1 << 20  # steps per unit of a discrete value that is rounded; with more, floats do not tell its ties


def _too_fine(inner: Linear) -> bool:
    """Whether discrete draws alone are rounded, in steps so fine that floats cannot tell which side of a bound they lie on."""
    discrete = all(isinstance(d, Draw) and d.law.discrete for d, _ in inner.terms)
    return discrete and common_denominator([inner.constant, *(c for _, c in inner.terms)]) > _FINEST


_FAR = -60.0  # ln of the mass of a draw beyond which its points are not looked at
_MOST_LOOKED_AT = 20_000


def _simple(node: Rounded, inner: Linear, sign: int, became: Became) -> Linear | None:
    """What is rounded, with 1/10 for the double 0.1, where the program rounds every point of its one draw to the same number."""
    if len(inner.terms) != 1 or not getattr(inner.terms[0][0].law, "integral", False):  # type: ignore[union-attr]
        return None
    ((draw, c),) = inner.terms
    assert isinstance(draw, Draw)
    simple = Linear(((draw, _nearby(c)),), _nearby(inner.constant))
    points = draw.law.window(_FAR)[0]  # type: ignore[attr-defined]
    if len(points) > _MOST_LOOKED_AT or _too_fine(simple):
        return None
    for k in map(int, points):
        try:
            said = evaluate(node, {**became, id(draw): k})
        except (Undetermined, ArithmeticError):
            return None
        if said != sign * floor(simple.terms[0][1] * k + simple.constant):
            return None
    return simple


def _nearby(x: Rational) -> Rational:
    """The fraction with a small denominator that the author meant by a double; the number itself where there is none."""
    near = exact(Fraction(int(x.numerator), int(x.denominator)).limit_denominator(1000))
    return near if abs(near - x) <= exact(2) ** -50 * abs(x) else x


def _rounded_value(x: Any, value: Linear, run: CaseRun, became: Became) -> LeafValue:
    """A value in which a rounding occurs: beside it only values with finitely many points, taken one by one."""
    loose = [(n, c) for n, c in value.terms if not has_finitely_many_points(linear(n))]
    if not loose and (len(value.terms) > 1 or meets_halves(value.terms[0][0], run, became)):
        return Constant(pinned(x, run, "an output", became))
    if len(loose) > 1 or (loose and not isinstance(loose[0][0], Rounded)):
        if all(short(n) or steps_of(n) is not None for n, _ in loose if isinstance(n, Rounded)):
            return _affine(x, unrounded(value, run, became), became)
        raise ExactRefused("an output is a sum of a rounded value and another random value")
    node, scale = loose[0] if loose else value.terms[0]
    assert isinstance(node, Rounded)
    steps = steps_of(node) if loose else None
    if steps is not None and any(d is steps.terms[0][0] for direction in run.bounds for d, _ in direction):
        return _affine(x, unrounded(value, run, became), became)  # conditions speak of the whole number, and so does the output
    offset = value.constant
    for other, c in value.terms:
        if other is not node:
            offset += c * exact(pinned(other, run, "an output", became))
    inner, sign = floor_form(node, run, became)
    if not inner.terms:
        return Constant(plain_number(scale * sign * floor(inner.constant) + offset))
    made = computed(x, Linear(((node, scale),), offset), became, offset)
    if _too_fine(inner):
        simple = _simple(node, inner, sign, became)
        if simple is not None:
            return Floor(simple, sign * scale, offset, made)
        return Constant(pinned(x, run, "an output that rounds discrete values on lattices without a common step, and", became))
    return Floor(inner, sign * scale, offset, made)


class Numbering:
    """Numbers draws in the order in which they are met."""

    def __init__(self) -> None:
        self.laws: list[Law] = []
        self.of: dict[int, int] = {}

    def number(self, draw: Draw) -> int:
        """The draw's number; a new one if it was not met before."""
        key = id(draw)
        if key not in self.of:
            self.of[key] = len(self.laws)
            self.laws.append(draw.law)
        return self.of[key]

    def expression(self, terms: Sequence[tuple[Any, Rational]], constant: Rational) -> Expr:
        """An affine expression of draws, in numbers."""
        return expr(((self.number(d), c) for d, c in terms), constant)

    def bounds(self, literals: Sequence[Literal]) -> list[Bound]:
        """A path's conditions, in numbers."""
        return [Bound(self.expression(x.terms, x.constant)) for x in literals]


def floor_conditions(value: Floor, numbering: Numbering, here: Expr) -> tuple[list[Bound], list[Expr]]:
    """here = scale * floor(a) + offset as bounds on a: k <= a < k + 1 with k = (here - offset) / scale; k must be whole."""
    a = numbering.expression(value.inner.terms, value.inner.constant)
    k = times(plus(here, number(value.offset), -1), 1 / value.scale)
    gap = plus(plus(k, number(1)), a, -1)  # > 0
    if all(d.law.discrete for d, _ in value.inner.terms if isinstance(d, Draw)):
        gap = plus(gap, number(exact(1) / common_denominator([gap.constant, *(c for _, c in gap.terms)])), -1)
    whole = all(x.denominator == 1 for x in (k.constant, *(c for _, c in k.terms)))
    return [Bound(plus(a, k, -1)), Bound(gap)], [] if whole else [k]


def conditions_case(literals: Sequence[Literal]) -> Case:
    """A case without outputs: the probability that the conditions hold."""
    numbering = Numbering()
    bounds = numbering.bounds(literals)
    return Case(tuple(numbering.laws), tuple(bounds), ())
