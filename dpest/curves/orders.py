"""What follows from the losses by optimisation: Renyi divergences, zCDP, trade-off functions, Gaussian privacy."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Sequence

import numpy as np
from scipy import special

from dpest.curves.gaussian import gaussian_delta
from dpest.curves.way import Way, bracketed, larger, normal_rho
from dpest.errors import InvalidInput
from dpest.numerics.bracket import Bracketed

_WIDTH = 1e-6  # relative width at which a search over orders or epsilons stops
_SHARP = 1e-7  # the width of a type II error at which its search stops
_MOST = 400  # evaluations of such a search


def renyi(ways: Sequence[Way], alpha: float) -> Bracketed:
    """ln E e^((alpha - 1) loss) / (alpha - 1), the larger of the directions."""
    if isinstance(alpha, bool) or not isinstance(alpha, int | float | np.number) or not alpha > 1:
        raise InvalidInput(f"the order alpha must be a number > 1, got {alpha!r}; expected_loss() is the limit at 1")
    if alpha == math.inf:
        found = [bracketed(w.largest) for w in ways]
    else:
        order = float(alpha) - 1
        found = [bracketed(_divided(w.log_moment(order), order, w.largest[1])) for w in ways]
    out = found[0]
    for value in found[1:]:
        out = larger(out, value)
    return out


def _divided(ends: tuple[float, float], order: float, most: float) -> tuple[float, float]:
    """Divergences are never negative and never above the largest loss."""
    low, high = ends[0] / order, ends[1] / order
    return max(0.0, low * (1 - 4e-16)), max(0.0, min(high * (1 + 4e-16), most))


def rho(ways: Sequence[Way]) -> Bracketed:
    """The supremum over alpha > 1 of the Renyi divergence over alpha.

    The divergence grows with alpha: on [a, b] the quotient is at most D(b) / a. Intervals are halved, the most promising
    first, until no bound is much above the best value.
    """
    if all(not w.parts for w in ways):
        return Bracketed(*(max(0.5 * w.mu_squared * (1 + s * (2 * w.mu_error + 1e-15)) for w in ways) for s in (0, -1, 1)))
    most = max(w.largest[1] for w in ways)
    if math.isinf(most):
        orders = (1.5, 2.0, 4.0, 16.0, 64.0, 256.0, 1024.0)
        low = max(0.0, *(renyi(ways, a).lower / a for a in orders))
        top = max(_normal_limit(w) for w in ways)
        return Bracketed(low if math.isinf(top) else top, low, top)

    def quotient(a: float) -> Bracketed:
        found = renyi(ways, a)
        return Bracketed(float(found) / a, found.lower / a, found.upper / a)

    ends = [1.0 + 1e-5, *np.geomspace(1.001, 1e6, 60).tolist()]
    points = {a: quotient(a) for a in ends}
    best = max(*(float(p.lower) for p in points.values()), *(w.mean()[0] for w in ways))  # the mean is the limit at order 1
    # Next to order 1 the quotient of two small numbers is not sharp enough for halving: that interval stays whole.
    beyond = max(most / ends[-1], _reach(points, 1.0, ends[0]))
    queue = [(-_reach(points, a, b), a, b) for a, b in zip(ends[:-1], ends[1:], strict=True)]
    heapq.heapify(queue)
    for _ in range(_MOST):
        bound, a, b = queue[0]
        if -bound <= best * (1 + _WIDTH) or b - a < 1e-12 * a:
            break
        heapq.heappop(queue)
        middle = math.sqrt(a * b)
        points[middle] = quotient(middle)
        best = max(best, float(points[middle].lower))
        for x, y in ((a, middle), (middle, b)):
            heapq.heappush(queue, (-_reach(points, x, y), x, y))
    top = max(-queue[0][0], beyond)
    return Bracketed(best, best, max(best, top))


def _normal_limit(way: Way) -> float:
    """A bound of rho where all parts are mixtures of normal laws; infinite otherwise."""
    own = 0.5 * way.mu_squared * (1 + 2 * way.mu_error + 1e-15)
    return own + math.fsum(k * normal_rho(tree) for tree, k in way.parts) * (1 + 1e-15)


def _reach(points: dict[float, Bracketed], a: float, b: float) -> float:
    return float(points[b].upper * b / a)


def tradeoff(delta_of: Callable[[float], Bracketed], alpha: float, most: float) -> Bracketed:
    """sup over epsilon >= 0 of max(1 - delta - e^epsilon alpha, e^-epsilon (1 - delta - alpha)), and at least 0.

    Every epsilon bounds it from below. From above: delta is a falling and convex function of e^epsilon, so between two
    points it lies above its value at the right one, and above the chords on either side, continued. Intervals are
    halved until that is close.
    """
    if isinstance(alpha, bool) or not isinstance(alpha, int | float | np.number) or not 0 <= alpha <= 1:
        raise InvalidInput(f"the type I error alpha must lie in [0, 1], got {alpha!r}")
    level = float(alpha)
    last = min(most, 35.0 - math.log(max(level, 1e-12)))  # beyond, e^-epsilon is below 1e-15
    places = [0.0, *(last * np.geomspace(1e-3, 1.0, 12)).tolist()]
    found = {e: delta_of(e) for e in places}
    while True:
        places = sorted(found)
        best = max(_type_two(e, found[e].upper, level) for e in places)
        tops = [_between(places, found, i, level) for i in range(len(places) - 1)]
        i = int(np.argmax(tops))
        if tops[i] <= best + _SHARP or len(places) > _MOST // 4 or places[i + 1] - places[i] < 1e-9:
            break
        middle = 0.5 * (places[i] + places[i + 1])
        found[middle] = delta_of(middle)
    value = max(_type_two(e, float(found[e]), level) for e in places)
    beyond = 0.0 if last >= most else math.exp(-last)
    top = min(1.0, max(*tops, beyond, best, _type_two(last, found[last].lower, level)) + 1e-15)
    return Bracketed(min(max(value, best), top), max(0.0, best - 1e-15), top)


def _type_two(epsilon: float, delta: float, level: float) -> float:
    """What (epsilon, delta) says about the type II error at this level."""
    return max(1 - delta - math.exp(min(epsilon, 700.0)) * level, math.exp(-epsilon) * (1 - delta - level), 0.0)


def _between(places: list[float], found: dict[float, Bracketed], i: int, level: float) -> float:
    """A bound of the trade-off between two places."""
    a, b = places[i], places[i + 1]
    out = max(1 - found[b].lower - math.exp(min(a, 700.0)) * level, math.exp(-a) * (1 - found[b].lower - level), 0.0)
    if b > 20.0:
        return out
    ta, tb = math.exp(a), math.exp(b)
    lines = []  # (t, delta there, slope) of lines below delta
    if i > 0:
        t = math.exp(places[i - 1])
        lines.append((ta, found[a].lower, (found[a].lower - found[places[i - 1]].upper) / (ta - t)))
    if i + 2 < len(places) and places[i + 2] < 20.0:
        t = math.exp(places[i + 2])
        lines.append((tb, found[b].lower, (found[places[i + 2]].upper - found[b].lower) / (t - tb)))
    corners = [ta, tb]
    if len(lines) == 2 and lines[0][2] != lines[1][2]:
        (x, u, r), (y, v, s) = lines
        corners.append(min(max((v - u + r * x - s * y) / (r - s), ta), tb))
    # Between the corners the bound is linear in t, or a linear function over t: largest at a corner.
    sharp = 0.0
    for t in corners:
        below = max(0.0, *(u + r * (t - x) for x, u, r in lines)) if lines else 0.0
        sharp = max(sharp, 1 - below - t * level, (1 - below - level) / t)
    return min(out, sharp + 1e-12)


def gdp_mu(delta_of: Callable[[float], Bracketed], ways: Sequence[Way], most: float) -> Bracketed:
    """The smallest mu whose Gaussian curve is nowhere below this one.

    On [a, b] it suffices that the Gaussian curve at b reaches this one at a. Without a largest loss no finite number of
    intervals covers all epsilons. Mixtures of normal laws are bounded by their farthest components (who learns which ones were
    drawn can only tell more); the upper end is infinite for all others. mu is at least the square root of 2 rho.
    """
    if all(not w.parts for w in ways):
        return Bracketed(*(math.sqrt(max(w.mu_squared for w in ways)) * (1 + s * (ways[0].mu_error + 1e-15)) for s in (0, -1, 1)))
    if math.isinf(most):
        found = rho(ways)
        low, top = (math.sqrt(2 * x) * (1 + s * 1e-15) for x, s in ((found.lower, -1), (found.upper, 1)))
        low = max(low, *(_mu_of(delta_of(e).lower, e, up=False) for e in np.linspace(0.0, 20.0, 17).tolist()))
        return Bracketed(low if math.isinf(top) else top, min(low, top), top)
    last = most
    grid = np.linspace(0.0, last, 17).tolist()
    best = max(_mu_of(delta_of(e).lower, e, up=False) for e in grid[:-1])
    queue = [(-_mu_of(delta_of(a).upper, b, up=True), a, b) for a, b in zip(grid[:-1], grid[1:], strict=True)]
    heapq.heapify(queue)
    for _ in range(_MOST):
        bound, a, b = queue[0]
        if -bound <= best * (1 + 1e-5) or b - a < 1e-9:
            break
        heapq.heappop(queue)
        x = 0.5 * (a + b)
        found = delta_of(x)
        best = max(best, _mu_of(found.lower, x, up=False))
        heapq.heappush(queue, (-_mu_of(delta_of(a).upper, x, up=True), a, x))
        heapq.heappush(queue, (-_mu_of(found.upper, b, up=True), x, b))
    return Bracketed(best, best, max(-queue[0][0], best))


def _mu_of(delta: float, epsilon: float, up: bool) -> float:
    """The mu whose Gaussian curve takes this value at epsilon, from above or from below."""
    if delta <= 0:
        return 0.0
    if delta >= 1:
        return math.inf
    low, high = 0.0, 1.0
    while gaussian_delta(high, epsilon)[0 if up else 1] < delta:
        low, high = high, 2 * high
        if high > 1e6:
            return math.inf
    if epsilon == 0:  # delta(0) = 2 Phi(mu / 2) - 1
        guess = -2 * float(special.ndtri(0.5 * (1 - delta)))
        low, high = max(low, guess * (1 - 1e-9)), min(high, guess * (1 + 1e-9)) if guess > 0 else high
    for _ in range(60):
        middle = 0.5 * (low + high)
        if gaussian_delta(middle, epsilon)[0 if up else 1] < delta:
            low = middle
        else:
            high = middle
        if high - low < 1e-13 * high:
            break
    return high if up else low
