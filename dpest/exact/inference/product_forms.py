"""Products of noise that are noise of a known family: samplers that multiply Gaussian, exponential and angular draws.

X Y of two centred Gaussian draws is G - H with gamma draws of shape 1/2, since 4 X Y = (X + Y)^2 - (X - Y)^2; so is E cos(T) of
an exponential draw and an angle over half turns, since cos(T) = cos(T/2)^2 - sin(T/2)^2. Two of either make Laplace noise.
sqrt(2 E) X of an exponential and a Gaussian draw is Laplace noise by itself, and so is an exponential draw
with a fair sign. X / sqrt(C / k) is Student's t where C is chi-square noise, and X / Y is Cauchy noise. Any other product of two
noisy values in a sum with more noise has a law that is tabulated. All of it needs that nothing else uses the draws.
"""

from __future__ import annotations

import math
from typing import Any

from dpest.errors import BudgetExceeded, ExactRefused
from dpest.exact.inference.own_draws import outcomes_of, with_values
from dpest.lang.nodes import Draw, Extreme, Function, Linear, Node, Product, Quotient, draws_of, is_node, linear
from dpest.lang.points import listed_points
from dpest.lang.spans import is_absolute
from dpest.laws.continuous import Exponential, Gaussian, Laplace
from dpest.laws.law import Law
from dpest.laws.products import SMOOTH, NoisyFactor, noisy_product
from dpest.laws.scipy_law import ScipyContinuous, from_frozen
from dpest.numerics.elementary import SQUARE, Kind
from dpest.numerics.rationals import ONE, ZERO, Rational, exact
from dpest.trace.explore import Path
from dpest.trace.images import image_of
from dpest.trace.polar import half_turned


def with_products(path: Path) -> Path:
    """The path with draws of their own in place of such products."""
    found: dict[int, tuple[Node, Linear]] = {}
    for node in path.nodes:
        laws = _form(node) if isinstance(node, Product) else _student(node) if isinstance(node, Quotient) else None
        if laws is None and isinstance(node, Product):
            laws = _noisy(node)
            if laws is not None and id(node) not in _in_sums(path):
                continue
        if laws is not None:
            found[id(node)] = node, Linear(tuple((Draw(law), ONE * sign) for law, sign in laws), ZERO)
    return with_values(path, found)


def _in_sums(path: Path) -> set[int]:
    """The terms of sums in which another random value is a draw with a density: the sum has no pole."""
    sums = [x for x in path.nodes if isinstance(x, Linear) and len(x.terms) > 1]
    return {id(n) for x in sums if any(isinstance(d, Draw) and not d.law.discrete for d, _ in x.terms) for n, _ in x.terms}


def _noisy(node: Product) -> list[tuple[Law, int]] | None:
    """The law of the product of two values with noise of their own; None for other products."""
    one, other = _noisy_factor(node.left), _noisy_factor(node.right)
    if one is None or other is None or draws_of(node.left) == draws_of(node.right):
        return None
    return [(noisy_product(one, other), 1)]


def _noisy_factor(x: Any) -> NoisyFactor | None:
    value = linear(x)
    draw, c = value.terms[0] if len(value.terms) == 1 else (None, ZERO)
    if not isinstance(draw, Draw) or not isinstance(draw.law, SMOOTH):
        return None
    return NoisyFactor(draw.law, float(c), float(value.constant))


def _form(node: Product) -> list[tuple[Law, int]] | None:
    """The draws whose sum and difference a product is; None for other products."""
    for one, other in ((node.left, node.right), (node.right, node.left)):
        width = _gaussian(other)
        if width is not None:
            first = _gaussian(one)
            if first is not None and draws_of(one) != draws_of(other):
                return _halves(first * width)
            radius = _root_of_exponential(one)
            if radius is not None:
                return [(Laplace(width * radius / math.sqrt(2)), 1)]
        scale = _exponential(one)
        turn = None if scale is None else _angle(other)
        if scale is not None and turn is not None:
            return _halves(scale * turn)
        size = None if scale is None else _fair_sign(other)
        if scale is not None and size is not None:
            return [(Laplace(scale * size), 1)]
    return None


def _student(node: Quotient) -> list[tuple[Law, int]] | None:
    """Student's t for Gaussian noise over a root of chi-square noise; None for other quotients."""
    import scipy.stats

    top = _gaussian(node.left) if is_node(node.left) else None
    bottom = None if top is None else _chi(node.right)
    if top is None or bottom is None or set(draws_of(node.left)) & set(draws_of(node.right)):
        return None
    degrees, square = bottom
    scale = top / math.sqrt(float(square * degrees))
    frozen = scipy.stats.cauchy(scale=scale) if degrees == 1 else scipy.stats.t(float(degrees), scale=scale)
    location, law = from_frozen(frozen)
    assert exact(location) == 0
    return [(law, 1)]


def _chi(node: Any) -> tuple[Rational, Rational] | None:
    """(k, s) for a value whose square is s times chi-square noise of k degrees of freedom."""
    inner, c = _single(node) or (None, ZERO)
    if isinstance(inner, Extreme) and is_absolute(inner):
        inner = inner.values[0]
    width = None if inner is None else _gaussian(inner)
    if width is not None:
        return ONE, (c * exact(width)) ** 2
    if not isinstance(inner, Function) or inner.function.kind is not Kind.POWER or inner.function.parameter != ONE / 2:
        return None
    value = linear(inner.value)
    parts = [None if value.constant else _chi_square(n, k) for n, k in value.terms]
    known = [x for x in parts if x is not None]
    apart = sum(len(draws_of(n)) for n, _ in value.terms) == len(draws_of(value))
    if not known or len(known) < len(parts) or not apart or len({s for _, s in known}) > 1:
        return None
    return sum((k for k, _ in known), ZERO), known[0][1] * c * c


def _chi_square(node: Any, c: Rational) -> tuple[Rational, Rational] | None:
    """(k, s) for c times a node that is s times chi-square noise of k degrees of freedom."""
    if isinstance(node, Function) and node.function == SQUARE:
        found = _chi(node.value)
        return None if found is None or found[0] != 1 else (ONE, found[1] * c)
    match node:
        case Draw(law=Exponential(b=b)):
            return 2 * ONE, c * exact(b) / 2
        case Draw(law=ScipyContinuous(name="chi2", shapes=(k,), spread=spread)):
            return exact(k), c * exact(spread)
        case Draw(law=ScipyContinuous(name="gamma" | "erlang", shapes=(k,), spread=spread)):
            return 2 * exact(k), c * exact(spread) / 2
    return None


def _halves(scale: float) -> list[tuple[Law, int]]:
    """The difference of two gamma draws of shape 1/2."""
    import scipy.stats

    location, law = from_frozen(scipy.stats.gamma(0.5, scale=scale))
    assert exact(location) == 0
    return [(law, 1), (law, -1)]


def _single(node: Any) -> tuple[Any, Rational] | None:
    """The one value that a multiple of it is, and the factor."""
    value = linear(node)
    return value.terms[0] if len(value.terms) == 1 and not value.constant else None


def _gaussian(node: Any) -> float | None:
    """The standard deviation of a centred Gaussian value."""
    draw, c = _single(node) or (None, ZERO)
    return abs(float(c)) * draw.law.sigma if isinstance(draw, Draw) and isinstance(draw.law, Gaussian) else None


def _exponential(node: Any) -> float | None:
    """The scale of a value that is exponential, or the negative of one."""
    inner, c = _single(node) or (None, ZERO)
    if isinstance(inner, Function) and inner.function.kind in (Kind.LOG, Kind.LOG1P):
        place = linear(inner.value)
        if len(place.terms) != 1 or not isinstance(place.terms[0][0], Draw) or place.terms[0][0].law.discrete:
            return None
        inner, factor = _single(image_of(inner, place)) or (None, ZERO)
        c = c * factor
    return abs(float(c)) * inner.law.b if isinstance(inner, Draw) and isinstance(inner.law, Exponential) else None


def _fair_sign(node: Any) -> float | None:
    """c for a value that is c or -c with the same probability; the sign of a continuous value is never 0."""
    points = listed_points(node)
    if points is None or len(points) > 3:
        return None
    try:
        outcomes, _ = outcomes_of([node])
    except (BudgetExceeded, ExactRefused):
        return None
    values = [float(value) for (value,) in outcomes]
    fair = len(values) == 2 and values[0] == -values[1] and len(set(outcomes.values())) == 1
    return abs(values[0]) if fair else None


def _root_of_exponential(node: Any) -> float | None:
    """r for a value r * sqrt(E), E exponential with scale 1."""
    inner, c = _single(node) or (None, ZERO)
    if not isinstance(inner, Function) or inner.function.kind is not Kind.POWER or inner.function.parameter != ONE / 2:
        return None
    scale = _exponential(inner.value)
    return None if scale is None else abs(float(c)) * math.sqrt(scale)


def _angle(node: Any) -> float | None:
    """c for a value c * cos(T), T uniform over half turns, or c * sin(T), T uniform over whole turns."""
    turned, c = _single(node) or (None, ZERO)
    return None if half_turned(turned) is None else abs(float(c))
