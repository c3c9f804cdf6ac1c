"""Values that are draws of a known family: floors of exponential noise, products of noise, shares that are added up.

floor(c E) of an exponential draw E is geometric; n gamma (or negative binomial) draws with shapes a_1, ..., a_n that only occur
in one sum are one such draw with shape a_1 + ... + a_n. Both need that nothing else uses the draws.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from dpest.errors import ExactRefused
from dpest.exact.inference.own_draws import in_conditions, replaced, with_values
from dpest.exact.inference.parabolas import with_completed_squares
from dpest.exact.inference.product_forms import with_products
from dpest.lang.nodes import Draw, Function, Linear, Node, Rounded, Rounding, ancestors, children, draws_of, is_node, linear
from dpest.laws.continuous import Exponential
from dpest.laws.law import Law
from dpest.laws.scipy_law import ScipyContinuous, ScipyDiscrete, from_frozen
from dpest.numerics.elementary import Kind
from dpest.numerics.rationals import ONE, ZERO, Rational, exact
from dpest.trace.explore import Path, Trace
from dpest.trace.images import image_of

_NEAR = 1e-12  # a sum of shapes that is so near to a whole number is meant to be one: seven times 1/7


def with_closed_forms(traced: Trace) -> Trace:
    """The same law, with one draw in place of every such value; raises `ExactRefused` where a share is left alone."""
    paths = tuple(_with_sums(with_products(_with_floors(with_completed_squares(path)))) for path in traced.paths)
    asked = {id(x): x for path in paths for x in path.conditions}  # paths share their conditions
    for nodes in (*(path.nodes for path in paths), draws_of(*(d for x in asked.values() for d, _ in x.terms))):
        for draw in nodes:
            if isinstance(draw, Draw) and _share(draw) and draw.law.name == "gamma" and draw.law.shapes[0] < 1:  # type: ignore[attr-defined]
                raise ExactRefused("a gamma draw with a shape below 1 that is no share of a sum: its density has a pole")
    return replace(traced, paths=paths)


# -- floors of exponential noise ----------------------------------------------------------------------------------------


def _with_floors(path: Path) -> Path:
    found = _floors(path.nodes)
    return with_values(path, {id(node): (node, Linear(((Draw(law), sign),), k)) for node, (law, sign, k) in found})


def _floors(nodes: Iterable[Node]) -> Iterator[tuple[Rounded, tuple[Law, Rational, Rational]]]:
    """Roundings that are sign * G + constant with G geometric: 1, 2, ..."""
    for node in nodes:
        if isinstance(node, Rounded) and node.rounding is not Rounding.ROUND:
            inner = _exponential(linear(node.value))
            if inner is None or inner[2].denominator != 1:
                continue
            scale, factor, offset = inner
            law = from_frozen(_scipy("geom", -math.expm1(-1 / (scale * abs(float(factor))))))[1]
            # Noise is a whole number with probability zero: of x > 0 the ceiling is G, the floor G - 1.
            sign = ONE if factor > 0 else -ONE
            down = node.rounding is Rounding.FLOOR
            yield node, (law, sign, offset - (sign if down == (factor > 0) else ZERO))


def _exponential(value: Linear) -> tuple[float, Rational, Rational] | None:
    """Scale, factor and offset of a value that is factor * E + offset."""
    if len(value.terms) != 1:
        return None
    ((node, factor),) = value.terms
    offset = value.constant
    if isinstance(node, Function) and node.function.kind in (Kind.LOG, Kind.LOG1P) and is_node(node.value):
        inner = linear(node.value)
        if len(inner.terms) != 1 or not isinstance(inner.terms[0][0], Draw) or inner.terms[0][0].law.discrete:
            return None
        moved = image_of(node, inner)
        ((node, c),) = moved.terms
        factor, offset = factor * c, offset + factor * moved.constant
    return (node.law.b, factor, offset) if isinstance(node, Draw) and isinstance(node.law, Exponential) else None


def _scipy(family: str, *shapes: float, **options: float) -> Any:
    import scipy.stats

    return getattr(scipy.stats, family)(*shapes, **options)


# -- shares of noise ----------------------------------------------------------------------------------------------------


def _with_sums(path: Path) -> Path:
    shares = [d for d in path.nodes if isinstance(d, Draw) and _share(d)]
    if not shares:
        return path
    used = in_conditions(path)
    columns = _columns(path.output.leaves)
    groups: dict[Any, list[Draw]] = {}
    for d in shares:
        column = columns.get(id(d))
        if id(d) not in used and column:
            groups.setdefault((_family(d.law), tuple(column)), []).append(d)
    known: dict[int, Any] = {}
    new: list[Draw] = []
    for members in groups.values():
        law, shift = _sum([d.law for d in members])
        if len(members) == 1 and shift == 0:
            continue
        new.append(Draw(law))
        known.update((id(d), 0) for d in members[1:])
        known[id(members[0])] = Linear(((new[-1], ONE),), shift)
    return replaced(path, known, set(known), new) if known else path


def _share(draw: Draw) -> bool:
    law = draw.law
    named = isinstance(law, ScipyContinuous | ScipyDiscrete) and not law.identity
    return named and draw.origin is None and law.name in ("gamma", "nbinom")  # type: ignore[attr-defined]


def _family(law: Any) -> Any:
    """Equal for draws whose sum is one of the family."""
    return (law.name, law.spread) if law.name == "gamma" else (law.name, law.shapes[1])


def _columns(leaves: Sequence[Any]) -> dict[int, list[tuple[int, Rational]] | None]:
    """In which sums a draw occurs, and how often; None where it occurs in any other way."""
    found: dict[int, list[tuple[int, Rational]] | None] = {id(x): None for x in leaves if isinstance(x, Draw)}
    for node in ancestors(*leaves):
        if isinstance(node, Linear):
            for d, c in node.terms:
                column = found.setdefault(id(d), [])
                if column is not None:
                    column.append((id(node), c))
        else:
            found.update((id(d), None) for d in children(node) if isinstance(d, Draw))
    return found


def _sum(laws: Sequence[Any]) -> tuple[Law, Rational]:
    """The law of a draw, and what is added to it."""
    total = math.fsum(law.shapes[0] for law in laws)
    whole = round(total)
    if whole >= 1 and abs(total - whole) <= _NEAR * total:
        total = whole
    first = laws[0]
    if first.name == "gamma":
        return (Exponential(first.spread) if total == 1 else _located(_scipy("gamma", total, scale=first.spread))), ZERO
    if total == 1:
        return _located(_scipy("geom", first.shapes[1])), -ONE
    return _located(_scipy("nbinom", total, first.shapes[1])), ZERO


def _located(frozen: Any) -> Law:
    location, law = from_frozen(frozen)
    assert exact(location) == 0
    return law
