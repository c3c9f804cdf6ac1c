"""Losses merged on the points of a grid: a lower bound of every delta that composition keeps.

Write x = e^-loss. A list of losses with probabilities p is dominated by another if its potential
U(t) = sum of p (t - x)+ lies below the other's for all t: delta(eps) is e^eps U(e^-eps), and independent further losses
only average over t. A list on grid points has a potential that is linear between them. So one takes U at the grid
points, lowered by as much as the chord between two of them exceeds U in between: the chords then lie below U. The new
probabilities are the changes of slope. Where one of them came out negative, its point is left out, and the chord goes
past it: what is left is the largest convex function below.

For losses that are dense the price is of the order of the square of the step, for single losses that are far apart
of the order of the step.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpest.curves.cells import ROUND, Losses
from dpest.numerics.effort import spend
from dpest.numerics.logspace import Floats, log_sum

GUARD = 1e-13  # relative distance from a grid point within which a loss counts as on it; it goes into the bracket
_ROUNDS = 60
_SPARE = 1e-15  # relative: more than the roundings of a mass that is moved, in the direction that is safe
_COST = 5  # evaluations of a density that take about as long as one loss here, by measurement
_FURTHEST = 1000  # knots from the smallest loss that may be merged there; without a place among them the price is a step
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class _Sorted:
    """Losses as whole steps and what is left, with their probabilities."""

    n: Ints
    rest: Floats
    mass: Floats


def contracted(losses: Losses, step: float, offset: float, order: float = 1.0) -> tuple[Ints, Floats, float]:
    """Grid points, ln of their probabilities, and how far the losses may lie below the points.

    Two lists are made, both lower bounds: one that keeps the expectation of x and one that does not. The one with the larger
    moment of this order is the sharper one for sums under such a tilt.
    """
    spend(_COST * losses.loss.size)
    size = float(np.abs(losses.loss).max(initial=0.0)) + abs(offset)
    guard = GUARD * (size + step) + 3.03 * losses.doubt  # a lattice is laid through losses that may be off by as much
    moved = losses.loss - offset
    n = np.floor(moved / step)
    rest = moved - n * step
    near = rest >= step - guard
    n, rest = np.where(near, n + 1, n).astype(np.int64), np.where(near | (rest <= guard), 0.0, rest)
    with np.errstate(under="ignore"):
        given = _Sorted(n, rest, np.exp(losses.log_mass) * (1 - ROUND * (2 + np.abs(losses.log_mass))))
    given = _top_kept(given)
    found = [_merged(given, step, keep) for keep in ((False, True) if given.rest.any() else (False,))]
    points, mass = max(found, key=lambda x: float(log_sum(x[1] + order * step * x[0])))
    return points, mass, 2 * guard


def _merged(given: _Sorted, step: float, keep: bool) -> tuple[Ints, Floats]:
    """Grid points and ln of their probabilities; `keep` where the expectation of x is to be kept."""
    knots = np.unique(np.concatenate([given.n, given.n[given.rest > 0] + 1]))
    for _ in range(_ROUNDS):
        mass, end = _lowered(given, knots, step, keep)
        found = _convex(knots[: end + 1], mass, step)
        if found is not None:
            kept = found > 0
            return knots[: end + 1][kept], np.log(found[kept])
        knots = knots[:end]  # the potential would be negative there: what lies above is put further down
        if not knots.size:
            break
    return _rounded(given)


def _convex(knots: Ints, mass: Floats, step: float) -> Floats | None:
    """The masses of the largest convex potential below one with these changes of slope; None where it would be negative.

    At a knot with a negative mass the potential bends downwards. Without it the chord goes from its neighbour to its other
    neighbour, below the potential: its mass goes to both, such that the sum and the mean of x stay. Beyond the first knot the
    potential is a line, whose slope is all that stays.
    """
    bad = np.flatnonzero(mass < 0)
    if not bad.size:
        return mass
    last = len(mass) - 1
    m, at = mass.tolist(), (knots * step).tolist()
    before, after = list(range(-1, last)), list(range(1, last + 2))
    waiting = bad.tolist()[::-1]
    while waiting:
        j = waiting.pop()
        if not m[j] < 0:
            continue
        if j == last:
            return None
        i, k, part = before[j], after[j], m[j]
        m[j] = 0.0
        before[k] = i
        shares = [(k, 1.0)]
        if i >= 0:
            after[i] = k
            whole = -math.expm1(at[i] - at[k])
            shares = [(k, -math.expm1(at[i] - at[j]) / whole), (i, math.exp(at[i] - at[j]) * -math.expm1(at[j] - at[k]) / whole)]
        for neighbour, share in shares:
            m[neighbour] += part * share * (1 + _SPARE) - _SPARE * abs(m[neighbour])
            if m[neighbour] < 0:
                waiting.append(neighbour)
    return np.array(m)


def _top_kept(given: _Sorted) -> _Sorted:
    """The largest loss stays on its point where it is heavier than what lies in the step below it, which goes down a step."""
    if not given.n.size:
        return given
    last = int(given.n.max())
    top, below = given.n == last, given.n == last - 1
    if (given.rest[top] > 0).any() or given.mass[below & (given.rest > 0)].sum() >= given.mass[top].sum():
        return given
    return _Sorted(given.n, np.where(below, 0.0, given.rest), given.mass)


def _rounded(given: _Sorted) -> tuple[Ints, Floats]:
    """Every loss on the point below it."""
    points, where = np.unique(given.n, return_inverse=True)
    mass = np.bincount(where.ravel(), given.mass, points.size) * (1 - ROUND * given.n.size)
    kept = mass > 0
    return points[kept], np.log(mass[kept])


def _lowered(given: _Sorted, knots: Ints, step: float, keep: bool) -> tuple[Floats, int]:
    """The changes of slope of the lowered potential at the knots, and the last knot that has any.

    Everything is in units of x at the knot to the left (the smaller loss) of each interval, so that nothing is tiny.
    """
    i = np.searchsorted(knots, given.n, side="right") - 1
    mass = given.mass[i >= 0]
    rest = (given.rest + (given.n - knots[np.maximum(i, 0)]) * step)[i >= 0]
    i = i[i >= 0]
    count = knots.size
    width = np.diff(knots) * step
    fall = -np.expm1(-width)  # 1 - e^-width
    inner = (rest > 0) & (i < count - 1)
    r, at, p = rest[inner], i[inner], mass[inner]
    out = -np.expm1(-r)
    share = out / fall[at]
    plain = _gathered(i, np.where(inner, 0.0, mass), count)
    spread = plain + _gathered(at, p * (1 - share), count) + _gathered(at + 1, p * share, count)
    # The chord exceeds the potential by at most the sum of what it exceeds it by for each loss alone.
    excess = _gathered(at, p * share * np.exp(-r) * -np.expm1(-(width[at] - r)), count)[:-1] * (1 + 1e-12)
    inside = _gathered(at, p, count)
    end, room = _last(plain, excess, _gathered(at, p * out, count)[:-1], inside, width)
    given_up = _gathered(at, p * (fall[at] - out), count)[:-1]
    first, raised = _first(plain, spread, excess, given_up, inside, width) if keep else (end, None)
    first, raised = (first, raised) if first < end else (0, None)
    return _slopes(spread, excess, (raised, room), width, fall, (first, end)), end


def _gathered(at: npt.NDArray[np.intp], values: Floats, count: int) -> Floats:
    return np.asarray(np.bincount(at, values, count), float)


def _last(plain: Floats, excess: Floats, inward: Floats, inside: Floats, width: Floats) -> tuple[int, float]:
    """The knot from which the potential may start, and its potential there: what lies above is put on that knot."""
    end, room, above = plain.size - 1, 0.0, float(plain[-1])
    while end > 0 and excess[end - 1] * np.exp(width[end - 1]) > room * (1 - 1e-12):
        end -= 1
        shrink = float(np.exp(-width[end]))
        room = room * shrink + above * (1 - shrink) + float(inward[end])
        above += float(plain[end] + inside[end])
    return end, room


def _first(
    plain: Floats, spread: Floats, excess: Floats, given_up: Floats, inside: Floats, width: Floats
) -> tuple[int, float | None]:
    """The knot from which on the potential may be a line, and by how much it is lowered there: what lies below is put on it.

    Beyond the smallest loss the potential is the line (total) t - (sum of p x). On that line the expectation of x is kept: a
    bound that stayed lowered there would lower the mean of every sum by as much for each part.
    """
    first, room, below, tops = 0, 0.0, float(plain[0]), float(spread[0])
    for first in range(min(_FURTHEST, plain.size - 1)):
        grow, fall = float(np.exp(width[first])), -float(np.expm1(-width[first]))
        following = float(excess[first + 1]) if first + 1 < excess.size else 0.0
        needed = max(float(excess[first]), following / grow)  # at the next knot, in units of this one
        if excess[first] <= room * (1 - 1e-12) and (room - needed) / fall >= -tops * (1 - 1e-9):
            return first, room * (1 + 1e-12)
        room = (room + below * fall + float(given_up[first])) * grow
        below += float(inside[first] + plain[first + 1])
        tops += float(spread[first + 1])
    return plain.size, None


def _slopes(
    spread: Floats, excess: Floats, room: tuple[float | None, float], width: Floats, fall: Floats, kept: tuple[int, int]
) -> Floats:
    """The probabilities at the knots up to the last, each rounded downwards."""
    first, end = kept
    if end == 0:
        return np.array([float(spread.sum()) * (1 - 1e-12)])
    width, fall, excess = width[first:end], fall[first:end], excess[first:end]
    lower = np.zeros(end - first + 1)
    lower[:-1] = excess
    lower[1:] = np.maximum(lower[1:], excess * np.exp(width))
    lower[-1] = room[1]
    shrink = np.exp(-width)
    lower[0] = max(float(lower[0]), float(lower[1] * shrink[0]) * (1 + 1e-12)) if room[0] is None else room[0]
    change = (lower[:-1] - lower[1:] * shrink) / fall  # by how much the slope of each chord falls
    size = (lower[:-1] + lower[1:] * shrink) / fall
    tops = spread[first : end + 1].copy()
    tops[0], tops[-1] = float(spread[: first + 1].sum()), float(spread[end:].sum())
    mass = tops.copy()
    mass[1:] -= change
    mass[:-1] += change
    noise = tops.copy()
    noise[1:] += size
    noise[:-1] += size
    exact = (noise == tops) & (tops >= 0)
    return np.concatenate([np.zeros(first), np.where(exact, tops * (1 - 1e-14), mass - 1e-14 * noise)])
