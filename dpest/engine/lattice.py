"""The points that a discrete output can take, all but a negligible tail."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dpest.engine.cases import Affine, Floor
from dpest.engine.convolve import sum_law
from dpest.errors import ExactRefused
from dpest.graph.nodes import Draw
from dpest.laws.discrete import Atoms
from dpest.laws.law import Continuous, Discrete, Law
from dpest.numerics.logspace import Floats

WINDOW = -60.0  # ln of the mass that an infinite law's window leaves out


def lattice_points(value: Affine | Floor) -> Floats:
    """Where a leaf that is discrete can lie."""
    if isinstance(value, Floor):
        return floor_points(value)
    terms = [(d.law, c) for d, c in value.value.terms if isinstance(d, Draw)]
    return sum_points(terms, value.value.constant)


def sum_points(terms: Sequence[tuple[Law, float]], constant: float) -> Floats:
    """Where constant + the sum of coefficient * (discrete value) can lie."""
    total: Law | None = None
    for law, c in terms:
        total = _scaled(law, c) if total is None else sum_law(total, law, c)
        if total is None:
            return _regular([law for law, _ in terms], [c for _, c in terms], constant)
    if total is None:
        return np.array([constant])
    assert isinstance(total, Discrete)
    return np.asarray(total.window(WINDOW)[0] + constant)


def _scaled(law: Law, c: float) -> Atoms:
    assert isinstance(law, Discrete)
    points, logs = law.window(WINDOW)
    order = np.argsort(c * points)
    return Atoms(tuple((c * points)[order].tolist()), tuple(logs[order].tolist()), "measure")


def _regular(laws: Sequence[Law], coefficients: Sequence[float], constant: float) -> Floats:
    """Sums of whole numbers times one step: every point of the lattice within reach."""
    steps = {abs(c) for c in coefficients}
    if len(steps) > 1 or not all(isinstance(law, Discrete) and law.integral for law in laws):
        raise ExactRefused("an output is a sum of discrete values on different lattices")
    step = steps.pop()
    reach = sum(float(np.abs(law.window(WINDOW)[0]).max()) for law in laws if isinstance(law, Discrete))
    return np.asarray(constant + step * np.arange(-reach, reach + 1))


def floor_points(floor: Floor) -> Floats:
    """The values of a rounding within the reach of what it rounds."""
    low = high = floor.inner.constant
    for draw, c in floor.inner.terms:
        assert isinstance(draw, Draw)
        ends = _ends(draw.law)
        low += min(c * ends[0], c * ends[1])
        high += max(c * ends[0], c * ends[1])
    points = floor.scale * np.arange(math.floor(low) - 1, math.ceil(high) + 2) + floor.offset
    return np.sort(points)


def _ends(law: Law) -> tuple[float, float]:
    if isinstance(law, Continuous):
        return law.reach(WINDOW)
    assert isinstance(law, Discrete)
    points = law.window(WINDOW)[0]
    return float(points[0]), float(points[-1])
