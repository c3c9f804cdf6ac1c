"""The probabilities of many stars at once: conditions that compare one shared draw with a draw of their own each.

The paths of a sparse vector are integrals over its threshold of products of the same few factors: how many queries of each
kind passed, and how many did not. On panels that all of them have in common each factor is evaluated once, and the logarithm
of each integrand is a combination of theirs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from dpest.exact.inference.component import Component
from dpest.exact.inference.expressions import solved
from dpest.exact.inference.factors import LOG_REACH, Answer, Between, reach
from dpest.exact.inference.gaps import edge_error
from dpest.laws.images import Moved
from dpest.laws.law import Continuous
from dpest.numerics.logspace import Floats
from dpest.numerics.quadrature import RowNumbers, integrate, with_tails

# Every star gets the panels of all: above, those that are alike in little would pay for each other. Twice of it, and half of it,
# take as long on the sparse vectors that were tried, which have four.
_MOST_BREAKS = 32
_AT_ONCE = 256  # stars: 10 MB for their integrands on 200 panels
_HUB = 0  # the number of the shared draw

Probability = tuple[float, float]  # its logarithm, and its relative error


def star_probabilities(components: Iterable[Component]) -> Iterator[tuple[Component, Probability]]:
    """The probabilities of those components that are stars and have much in common with others."""
    groups: dict[Continuous, list[Component]] = {}
    for component in dict.fromkeys(components):
        hub = _hub(component)
        if hub is not None:
            groups.setdefault(hub, []).append(component)
    for hub, group in groups.items():
        if len(group) > 1:
            yield from _of_group(hub, group)


def _hub(component: Component) -> Continuous | None:
    """The law of the shared draw; None where the component is no star, or its density is taken at another place."""
    bare = not (component.bounds or component.equations or component.wholes or component.rounds or component.outputs)
    if not bare or len(component.laws) != 1 or not component.folded:
        return None
    (law,) = component.laws
    smooth = all(isinstance(f.law, Continuous) for f, _ in component.folded)
    return law if smooth and isinstance(law, Continuous) and not isinstance(law, Moved) else None


def _of_group(hub: Continuous, group: Sequence[Component]) -> Iterator[tuple[Component, Probability]]:
    factors = list(dict.fromkeys(f for component in group for f, _ in component.folded))
    breaks = _breaks(hub, factors)
    if len(breaks) > _MOST_BREAKS:
        return
    number = {f: k for k, f in enumerate(factors)}
    for start in range(0, len(group), _AT_ONCE):
        some = group[start : start + _AT_ONCE]
        counts = np.zeros((len(some), len(factors)))
        for row, component in enumerate(some):
            for f, times in component.folded:
                counts[row, number[f]] += times
        logs, errors = _integrals(hub, factors, counts, breaks)
        for component, log, error in zip(some, logs, errors, strict=True):
            yield component, (float(log), float(error))


def _breaks(hub: Continuous, factors: Sequence[Between]) -> Floats:
    """The values of the shared draw at which an integrand may have a kink."""
    places = {float(solved(k, _HUB).constant) for f in factors for k in f.kinks}
    return np.array(sorted(places | {float(k) for k in hub.kinks}))


def _integrals(hub: Continuous, factors: Sequence[Between], counts: Floats, breaks: Floats) -> tuple[Floats, Floats]:
    """ln of the integral of each row's product of factors, and its relative error (as `factors.Integral` has them)."""
    rows = len(counts)
    columns = np.broadcast_to(breaks, (rows, len(breaks)))
    low, high = reach(hub, columns)
    columns = np.clip(columns, low[:, None], high[:, None])
    finest = min(law.scale for law in (hub, *(f.law for f in factors)) if isinstance(law, Continuous))

    def log_f(row: RowNumbers, x: Floats) -> Answer:
        # Rows have the same edges, so that points between the same ends are the same points.
        _, first, again = np.unique(x[:, 0] + 1j * x[:, -1], return_index=True, return_inverse=True)
        points = x[first]
        density = hub.log_density(points)
        out = density[again]
        error = np.asarray(hub.error + hub.noise(points, density))
        error = error[again] if error.ndim else error
        for k, f in enumerate(factors):
            logs, more = f.log({_HUB: points})
            times = counts[row, k][:, None]
            has = np.flatnonzero(times)
            with np.errstate(over="ignore"):  # a density below e^-1e308 is none
                out[has] += times[has] * logs[again[has]]
            if np.any(more):
                error = error + times * np.broadcast_to(more, points.shape)[again]
        return out, error

    found = integrate(log_f, with_tails(columns, low, high, finest))
    error = found.error + edge_error(columns, log_f, np.zeros(rows), finest)
    # What lies beyond the reach: every kink is inside it, so that the integrands only decay there.
    at_ends = log_f(np.arange(rows), np.stack([low, high], axis=1))[0]
    ends = at_ends.max(axis=1) + math.log(hub.scale) + 10.0
    beyond = np.minimum(ends, hub.log_beyond(LOG_REACH))
    known = np.where(found.log_value > -np.inf, found.log_value, np.inf)
    return found.log_value, error + np.exp(np.minimum(beyond - known, 0.0))
