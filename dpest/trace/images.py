"""Functions of draws as draws of their own: made once for each draw and function, so that they are the same on every path.

What is known of one draw may be said in several forms (a condition on u, a released log(u)). Before anything is integrated
every case is brought to one form for each draw: conditions move to the other side of the function, which is monotone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from dpest.errors import ExactRefused
from dpest.lang.made_of import Polar, Steps
from dpest.lang.nodes import Draw, Function, Linear, Origin, combine, linear
from dpest.lang.origins import is_joined, on_base, root
from dpest.laws.images import image
from dpest.laws.law import Continuous
from dpest.numerics.elementary import Elementary, TooFar, nearby_short
from dpest.numerics.rationals import ONE, ZERO, Rational, ceil, floor
from dpest.trace.literal import Literal


def image_of(node: Function, inner: Linear) -> Linear:
    """A function of an affine expression of one continuous draw, as an affine expression of another draw."""
    draw, factor = inner.terms[0]
    name = getattr(node.call, "__name__", node.function.kind.value)
    if len(inner.terms) != 1:
        raise ExactRefused(f"{name} of a sum of {len(inner.terms)} random values, used in further arithmetic")
    if not isinstance(draw, Draw) or not isinstance(draw.law, Continuous):
        raise ExactRefused(f"{name} of a discrete random value with infinitely many points, used in further arithmetic")
    return _image(draw, factor, inner.constant, node.function)


def _image(draw: Draw, factor: Rational, offset: Rational, function: Elementary) -> Linear:
    def make() -> Linear:
        assert isinstance(draw.law, Continuous)
        made = image(draw.law, factor, offset, function)
        new = Draw(made.law, Origin(draw, factor, offset, function, made.coefficient, made.constant))
        return combine(Linear((), made.constant), linear(new), made.coefficient)

    found: Linear = draw.derived.once((function, factor, offset), make)
    return found


_BESIDE = "noise that another value is made of (a Gaussian one, a remainder) is used beside it"


class TwoForms(ExactRefused):
    """One draw is needed both as it is and as a function of it."""


class Impossible(Exception):
    """Conditions on one draw that cannot hold together."""


def has_images(literals: Iterable[Literal], values: Iterable[Linear] = ()) -> bool:
    """Whether a function of a draw takes part."""
    return any(d.origin is not None or is_joined(d) for x in literals for d, _ in x.terms) or any(
        isinstance(d, Draw) and (d.origin is not None or is_joined(d)) for v in values for d, _ in v.terms
    )


def unified(literals: Sequence[Literal], values: Sequence[Linear] = ()) -> tuple[Literal, ...]:
    """The conditions with every draw in one form: the one in which the values, or conditions on several draws, have it.

    Raises `Impossible` where a condition can never hold, `ExactRefused` where a draw is needed in two forms.
    """
    orders = [x for x in literals if _is_order(x)]
    used = [d for v in values for d, _ in v.terms if isinstance(d, Draw)]
    used += [d for x in literals if len(x.terms) > 1 and not _is_order(x) for d, _ in x.terms]
    form: dict[Any, Draw] = {}
    for d in used:
        _set(form, d)
    orders = [_in_forms(x, form) for x in _those_with_forms_first(orders, form)]
    used += [d for x in orders for d, _ in x.terms]
    literals = [*(x for x in literals if not _is_order(x)), *orders] if orders else literals
    for x in literals:
        d = x.terms[0][0]
        known = form.get(_key(d))
        # A function's own law keeps the digits of its tails, which the draw behind it may have lost.
        if known is None or (len(used) == 0 and depth(d) > depth(known)):
            form[_key(d)] = d
    _check_apart([*form.values()])
    moved = (_moved(x, form[_key(x.terms[0][0])]) if len(x.terms) == 1 else x for x in literals)
    return tuple(x for x in moved if x is not None)


def _set(form: dict[Any, Draw], d: Draw) -> None:
    """The form in which a draw is used; refused where it is used in another one."""
    known = form.setdefault(_key(d), d)
    if known is not d:
        raise TwoForms(
            f"one draw is used in two forms that are added to or compared with others: {d.law.words()} and {known.law.words()}"
        )


def _is_order(x: Literal) -> bool:
    """Whether a condition says which of two draws is larger: it says the same of a function of both."""
    return len(x.terms) == 2 and x.constant == 0 and x.terms[0][1] == -x.terms[1][1]


def _those_with_forms_first(orders: list[Literal], form: dict[Any, Draw]) -> Iterator[Literal]:
    """Comparisons of two draws, whose forms are set while they are handed out."""
    left = [*orders]
    while left:
        x = next((x for x in left if any(_key(d) in form for d, _ in x.terms)), left[0])
        left.remove(x)
        yield x


def _in_forms(x: Literal, form: dict[Any, Draw]) -> Literal:
    """A comparison of two draws as one of the forms that are used elsewhere, where both are the same function of them."""
    (a, c), (b, _) = x.terms
    known = form.get(_key(a)), form.get(_key(b))
    target = known[0] or known[1]
    own = a if known[0] else b
    if target is not None and target is not own and _behind(own, target):
        steps = _steps(target, own)[::-1]
        first, second = _through(steps, a), _through(steps, b)
        if first is not None and second is not None:
            c = -c if sum(not s.rising for s in steps) % 2 else c
            x = Literal(((first, c), (second, -c)), ZERO)
    for d, _ in x.terms:
        _set(form, d)
    return x


def _through(steps: Sequence[Origin], draw: Draw) -> Draw | None:
    """The same function of another draw; None where it is moved or scaled in another way."""
    for step in steps:
        made = _image(draw, step.factor, step.offset, step.function)
        ((new, coefficient),) = made.terms
        if not isinstance(new, Draw) or (coefficient, made.constant) != (step.coefficient, step.constant):
            return None
        draw = new
    return draw


def _key(draw: Draw) -> Any:
    """Equal for forms of one draw; the cosine and the sine of one angle, times one radius, are draws apart."""
    return id(root(draw)), draw.made_of.turned if isinstance(draw.made_of, Polar) else None


def _check_apart(forms: list[Draw]) -> None:
    """Draws that a Gaussian one is made of must not be used beside it; its twin at a right angle may be: it is independent."""
    by_root: dict[int, Any] = {}
    for draw in forms:
        made_of = draw.made_of
        if by_root.setdefault(id(root(draw)), made_of) is made_of:
            continue
        first = by_root[id(root(draw))]
        if not isinstance(first, Polar) or not isinstance(made_of, Polar):
            raise ExactRefused(_BESIDE)
        if replace(first, turned="") != replace(made_of, turned=""):
            raise ExactRefused(_BESIDE)


def depth(draw: Draw) -> int:
    """How many functions a draw is away from the one that was made."""
    return 0 if draw.origin is None else 1 + depth(draw.origin.base)


def _moved(literal: Literal, target: Draw) -> Literal | None:
    """A condition on one form of a draw, as one on another form; None where it always holds there."""
    ((draw, c),) = literal.terms
    if draw is target:
        return literal
    least, bound = c > 0, -literal.constant / c
    for made, other in ((draw.made_of, target), (target.made_of, draw)):
        if isinstance(made, Steps) and made.draw is other:
            return _from_steps(made, least, bound, target) if other is target else _to_steps(made, least, bound, target)
    while draw is not target and not _behind(draw, target):
        if draw.origin is None:
            raise ExactRefused(_BESIDE)
        least, there = on_base(draw.origin, least, bound)
        if there is None:
            return _always(least)
        draw, bound = draw.origin.base, there
    for step in reversed(_steps(target, draw)):
        rising, there = step.rising, _try(step.forward, bound)
        if there is None:
            return _always(_beyond(step, bound) == least)
        least, bound = least == rising, there
    bound = nearby_short(bound)
    return Literal(((target, ONE),), -bound) if least else Literal(((target, -ONE),), bound)


def _from_steps(steps: Steps, least: bool, bound: Rational, target: Draw) -> Literal:
    """A condition on a rounding as one on the draw that is rounded: floor(a) >= k is a >= k."""
    edge = ceil(bound) if least else floor(bound) + 1
    sign = ONE if (steps.factor > 0) == least else -ONE
    return Literal(((target, sign),), -sign * (edge - steps.offset) / steps.factor)


def _to_steps(steps: Steps, least: bool, bound: Rational, target: Draw) -> Literal:
    """A condition on a draw as one on its rounding, where it ends between two steps."""
    edge = steps.factor * bound + steps.offset
    if edge.denominator != 1:
        raise ExactRefused(_BESIDE)
    return Literal(((target, ONE),), -edge) if least == (steps.factor > 0) else Literal(((target, -ONE),), edge - 1)


def _beyond(step: Origin, x: Rational) -> bool:
    """Whether a value of the base lies below all for which the function is defined (else above)."""
    low, _ = step.function.domain
    below = low is not None and step.factor * x + step.offset <= low
    return below if step.factor > 0 else not below


def _always(holds: bool) -> Literal | None:
    """No condition is left where it always holds."""
    if not holds:
        raise Impossible
    return None


def _try(function: Any, x: Rational) -> Rational | None:
    try:
        found: Rational | None = function(x)
        return found
    except TooFar as error:
        raise ExactRefused(f"a condition moves to {error}, which has too many digits") from None


def _behind(draw: Draw, target: Draw) -> bool:
    """Whether the target is a function of the draw."""
    while target.origin is not None:
        target = target.origin.base
        if target is draw:
            return True
    return False


def _steps(target: Draw, base: Draw) -> list[Origin]:
    """The functions that lead from the base to the target, the last one first."""
    steps = []
    while target is not base:
        assert target.origin is not None
        steps.append(target.origin)
        target = target.origin.base
    return steps


def in_one_form(literals: tuple[Literal, ...], values: Sequence[Any] = ()) -> tuple[Literal, ...] | None:
    """The conditions of a case with every draw in one form; None where they cannot hold together."""
    affine = [v.value for v in values if hasattr(v, "value") and isinstance(v.value, Linear)]
    affine += [v.inner for v in values if hasattr(v, "inner")]
    affine += [x for v in values if hasattr(v, "bottom") for x in (v.top, v.bottom)]
    if not has_images(literals, affine):
        return literals
    try:
        return unified(literals, affine)
    except Impossible:
        return None
