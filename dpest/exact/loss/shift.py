"""One draw or a sum of draws, released: the loss of a shift or of another scale, in closed form."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpest.exact.inference.component import Component, Placed
from dpest.exact.inference.convolve import merged_sums
from dpest.exact.loss.blocks import Block, BlockLaw
from dpest.exact.loss.logs import BothWays, Sup, logs_at
from dpest.laws.continuous import Gaussian, Laplace
from dpest.laws.discrete import Geometric
from dpest.laws.law import Continuous, Law
from dpest.laws.scipy_law import ScipyContinuous, ScipyDiscrete
from dpest.numerics.rationals import Rational, exact

_BESIDE = 1e-3  # scales from a place next to which the densities of a limit are shown
_FAR = 8.0  # scales out at which the densities of a limit are shown


@dataclass(frozen=True)
class Release:
    """y = coefficient * draw + constant."""

    law: Law
    coefficient: Rational
    constant: Rational

    def log_mass(self, low: float, high: float) -> float:
        """ln P(low < y < high)."""
        assert isinstance(self.law, Continuous)
        ends = sorted(self._draw(y) for y in (low, high))
        return float(self.law.log_interval(*ends))

    def log_density(self, y: float) -> float:
        """ln of the density at y."""
        return float(self.law.log_density(self._draw(y))) - math.log(abs(float(self.coefficient)))

    def _draw(self, y: float) -> float:
        """The draw behind a released value."""
        if math.isinf(y):
            return y if self.coefficient > 0 else -y
        return float((exact(y) - self.constant) / self.coefficient)


def shifted(block: Block) -> BothWays | None:
    """The loss where both laws are the same draw, moved or scaled; None where they are not, or no closed form is known."""
    p, q = release(block.left), release(block.right)
    if p is None or q is None:
        return None
    if p.law == q.law and p.coefficient == q.coefficient:
        forward, backward = _sup(p, q), _sup(q, p)
    else:
        forward, backward = scaled(p, q), scaled(q, p)
    return BothWays(forward, backward) if forward and backward else None


def alone(side: BlockLaw) -> Placed | None:
    """The one component of a law that equations describe, without conditions; None where it is not so."""
    if len(side.cases) != 1 or len(side.cases[0][0]) != 1:
        return None
    ((placed, times),) = side.cases[0][0]
    plain = times == 1 and side.cases[0][1] == 1 and not placed.component.folded and not placed.component.bounds
    return placed if plain else None


def _equation_alone(side: BlockLaw) -> Component | None:
    placed = alone(side)
    return placed.component if placed is not None and len(placed.component.equations) == 1 else None


def release(side: BlockLaw) -> Release | None:
    component = _equation_alone(side)
    if component is None:
        return None
    laws, _, _, (equation,) = merged_sums(dict(enumerate(component.laws)), [], [], list(component.equations))
    # coefficient * draw + constant - y == 0, up to a common factor
    scale = -equation.coefficient(-1)
    if len(laws) != 1 or not scale:
        return None
    ((draw, law),) = laws.items()
    return Release(law, equation.coefficient(draw) / scale, equation.constant / scale)


def outgrown(block: Block) -> int:
    """1 or -1 where both laws are one draw whose probabilities outgrow exponentials, the second further up or down; 0 else."""
    p, q = release(block.left), release(block.right)
    if p is None or q is None or p.law != q.law or p.coefficient != q.coefficient:
        return 0
    if not isinstance(p.law, ScipyDiscrete) or not p.law.outgrows_exponentials:
        return 0
    return int(q.constant > p.constant) - int(q.constant < p.constant)


def _sup(p: Release, q: Release) -> Sup | None:
    law = p.law
    if not isinstance(law, Continuous):
        return None
    moved = (p.constant - q.constant) / p.coefficient
    found = law.shift(float(moved))
    if found is None:
        return None
    limit = math.isinf(found.at)
    x = math.copysign(_FAR * law.scale, found.at) if limit else found.at
    y = float(p.coefficient * exact(x) + p.constant)
    direction = 1 if p.coefficient > 0 else -1
    place = math.copysign(math.inf, found.at * direction) if limit else y
    slack = 4e-16 * found.loss if math.isfinite(found.loss) else 0.0
    ends = (found.loss - slack, found.loss + slack)
    return Sup(found.loss, *ends, (place,), p.log_density(y), q.log_density(y), limit, ray=found.ray * direction)


# -- one family at two scales ------------------------------------------------------------------------------------------


def scaled(p: Release, q: Release) -> Sup | None:
    """sup ln p - ln q for two laws of one family at different scales; None where no closed form is known."""
    match p.law, q.law:
        case Laplace(b=b), Laplace(b=c):
            return _laplace(p, q, exact(b) * abs(p.coefficient), exact(c) * abs(q.coefficient))
        case Gaussian(sigma=s), Gaussian(sigma=t):
            return _gaussian(p, q, exact(s) * abs(p.coefficient), exact(t) * abs(q.coefficient))
        case ScipyContinuous() as f, ScipyContinuous() as g if f.nu is not None and f.nu == g.nu:
            return _student(p, q, f.nu, f.spread * abs(float(p.coefficient)), g.spread * abs(float(q.coefficient)))
        case ScipyContinuous() as f, ScipyContinuous() as g if (f.name, f.shapes, f.identity) == (g.name, g.shapes, g.identity):
            return _from_zero(p, q, exact(f.spread) * p.coefficient, exact(g.spread) * q.coefficient)
    return None


def _at(p: Release, q: Release, y: float, value: float) -> Sup:
    """A supremum that is attained at y; its value there is rounded like the densities are."""
    log_p, log_q = p.log_density(y), q.log_density(y)
    slack = 4e-16 * (2 + abs(value)) + 2.3e-16 * (abs(log_p) + abs(log_q)) + p.law.error + q.law.error
    return Sup(value, value - slack, value + slack, (y,), log_p, log_q)


def _unbounded(p: Release, q: Release) -> Sup:
    """A ratio without bound, in the tails."""
    assert isinstance(p.law, Continuous)
    y = float(p.constant + exact(_FAR * p.law.scale) * abs(p.coefficient))
    return Sup(math.inf, math.inf, math.inf, (math.inf,), p.log_density(y), q.log_density(y), limit=True)


def _laplace(p: Release, q: Release, b: Rational, c: Rational) -> Sup | None:
    if b > c:
        return _unbounded(p, q)
    d = abs(p.constant - q.constant)
    value = math.log(float(c / b)) + float(d / c)
    return _at(p, q, float(p.constant), value) if b < c else None


def _gaussian(p: Release, q: Release, s: Rational, t: Rational) -> Sup | None:
    d = p.constant - q.constant
    if s > t or (s == t and d):
        return _unbounded(p, q)
    if s == t:
        return None
    # The difference of two parabolas is largest where the wider one's centre is left behind by a share of the distance.
    gap = t * t - s * s
    y = float(p.constant + d * s * s / gap)
    return _at(p, q, y, math.log(float(t / s)) + float(d * d / (2 * gap)))


def _from_zero(p: Release, q: Release, s: Rational, t: Rational) -> Sup | None:
    """Two scales of one family around one place, of those that differ most there or without bound far out."""
    power = p.law.power_at_zero if isinstance(p.law, ScipyContinuous) else None
    if power is None or p.constant != q.constant or s * t <= 0 or s == t:
        return None
    if abs(s) > abs(t):
        return _unbounded(p, q)
    value = power * math.log(float(t / s))
    y = float(p.constant + s * exact(_BESIDE))
    slack = 4e-16 * (2 + abs(value))
    return Sup(value, value - slack, value + slack, (float(p.constant),), p.log_density(y), q.log_density(y), limit=True)


def tilted(block: Block) -> BothWays | None:
    """The loss of two laws on whole numbers of one family, whose log ratio rises or falls evenly: as two Poisson laws' does."""
    p, q = release(block.left), release(block.right)
    if p is None or q is None or (p.coefficient, p.constant) != (q.coefficient, q.constant):
        return None
    found = p.law.tilt(q.law) if isinstance(p.law, ScipyDiscrete) and isinstance(q.law, ScipyDiscrete) else None
    if found is None or not found[1]:
        return None
    at_zero, step = found
    y, far = float(p.constant), math.copysign(math.inf, p.coefficient)
    logs = float(p.law.log_density(0.0)), float(q.law.log_density(0.0))
    slack = 1e-15 * (1 + abs(at_zero))
    ways = []
    for value, rises, shown in ((at_zero, step > 0, logs), (-at_zero, step < 0, logs[::-1])):
        endless = Sup(math.inf, math.inf, math.inf, (far,), *shown, limit=True)
        ways.append(endless if rises else Sup(value, value - slack, value + slack, (y,), *shown))
    return BothWays(ways[0], ways[1])


def _student(p: Release, q: Release, nu: float, s: float, t: float) -> Sup:
    """(nu + 1) / 2 ln((t^2 nu + (y - m')^2) / (s^2 nu + (y - m)^2)) + nu ln(s / t): largest at a root, or far out."""
    d = float(p.constant - q.constant)
    a, c = nu * s * s, nu * t * t
    # With x = y - m: ((x + d)^2 + c) / (x^2 + a) is stationary where d x^2 + (d^2 + c - a) x - a d = 0.
    half = 0.5 * (d * d + c - a)
    root = math.hypot(half, d * math.sqrt(a))
    turn = half + math.copysign(root, half)
    places = [x for x in (-turn / d if d else 0.0, a * d / turn if turn else 0.0) if math.isfinite(x)]
    found = [(nu + 1) / 2 * math.log(((x + d) ** 2 + c) / (x * x + a)) + nu * math.log(s / t) for x in places]
    far = nu * math.log(s / t)
    if far >= max(found):
        y = float(p.constant) + 1e6 * s
        slack = 1e-15 * (1 + abs(far))
        return Sup(far, far - slack, far + slack, (math.inf,), p.log_density(y), q.log_density(y), limit=True)
    i = found.index(max(found))
    return _at(p, q, float(p.constant) + places[i], found[i])


# -- sums that are moved -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DrawSum:
    """y = the sum of coefficient * draw, plus a constant."""

    terms: tuple[tuple[Law, Rational], ...]
    constant: Rational


def _sum(side: BlockLaw) -> DrawSum | None:
    component = _equation_alone(side)
    if component is None:
        return None
    (equation,) = component.equations
    scale = -exact(equation.coefficient(-1))
    if not scale:
        return None
    terms = tuple((component.laws[v], exact(c) / scale) for v, c in equation.terms if v >= 0)
    return DrawSum(terms, exact(equation.constant) / scale)


def moved_sum(block: Block) -> tuple[float, float] | None:
    """Upper bounds in both directions where both laws are one sum of draws, moved: one draw takes the whole move."""
    p, q = _sum(block.left), _sum(block.right)
    if p is None or q is None or not p.terms or sorted(p.terms, key=repr) != sorted(q.terms, key=repr):
        return None
    d = p.constant - q.constant
    return min(_cost(law, d / c) for law, c in p.terms), min(_cost(law, -d / c) for law, c in p.terms)


def _cost(law: Law, d: Rational) -> float:
    """sup ln f(x) - ln f(x + d)."""
    if isinstance(law, Continuous):
        found = law.shift(float(d))
        return math.inf if found is None else found.loss * (1 + 8e-16)
    whole = isinstance(law, Geometric) and d.denominator == 1
    return float(abs(d)) / law.b * (1 + 8e-16) if isinstance(law, Geometric) and whole else math.inf


def moved_concave_sum(block: Block) -> BothWays | None:
    """The loss of a sum of log-concave draws that is moved: its log ratio is monotone, and tends to the move times a rate."""
    p, q = _sum(block.left), _sum(block.right)
    if p is None or q is None or sorted(p.terms, key=repr) != sorted(q.terms, key=repr) or len(p.terms) < 2:
        return None
    if not all(isinstance(law, Continuous) and law.log_concave for law, _ in p.terms):
        return None
    d = p.constant - q.constant
    forward, backward = _monotone(block, p, q, d, swap=False), _monotone(block, q, p, -d, swap=True)
    return BothWays(forward, backward) if forward and backward else None


def _monotone(block: Block, p: DrawSum, q: DrawSum, d: Rational, *, swap: bool) -> Sup | None:
    side = 1 if d > 0 else -1
    rates = [_rate(law, c, side) for law, c in p.terms]
    if any(r is None for r in rates):
        return None
    finite = [r for r in rates if r is not None and r < math.inf]
    y = float(p.constant) + side * 8 * block.widest
    ends = [c * (law.support[1] if side * c > 0 else law.support[0]) for law, c in p.terms]
    if all(math.isfinite(e) for e in ends):  # a sum with an end point: between both ends lies what only one law reaches
        total = sum(exact(float(e)) for e in ends)
        y = float(total + (p.constant + q.constant) / 2)
    logs = logs_at(block, np.array([[y]]))
    shown = (float(logs.q[0]), float(logs.p[0])) if swap else (float(logs.p[0]), float(logs.q[0]))
    if not finite:
        bounded = all(math.isfinite(e) for e in ends)
        return Sup(math.inf, math.inf, math.inf, (y if bounded else side * math.inf,), *shown, limit=not bounded)
    value = float(abs(d) * exact(min(finite)))
    slack = 1e-15 * value
    return Sup(value, value - slack, value + slack, (side * math.inf,), *shown, limit=True)


def _rate(law: Law, c: Rational, side: int) -> float | None:
    """How fast a scaled draw decays on one side: infinite for an end point or faster than exponential; None where unknown."""
    assert isinstance(law, Continuous)
    own = 1 if side * c > 0 else -1
    if math.isfinite(law.support[1] if own > 0 else law.support[0]):
        return math.inf
    declared = law.asymptote(own)
    if declared is None:
        return None
    return math.inf if declared.bursts or declared.square else float(declared.rate / abs(c))
