"""The law of a single random value: its points of positive probability, and its density."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dpest.exact.inference.cases import Affine, Constant, Expansion, Floor, LeafValue, Numbering, expand, floor_conditions
from dpest.exact.inference.component import Case, Placed, components
from dpest.exact.inference.eliminate import eliminate
from dpest.exact.inference.expressions import Expr, coordinate, number, plus, single, times
from dpest.exact.inference.factors import Bound
from dpest.exact.inference.lattice import floor_points, of_floor, of_sum, spanned, sum_points
from dpest.lang.nodes import Node
from dpest.laws.law import Continuous
from dpest.laws.panels import Panels, tabulate
from dpest.numerics.logspace import Floats, log_sum
from dpest.numerics.quadrature import with_tails
from dpest.numerics.rationals import exact
from dpest.trace.literal import Bounds, narrowed

GRID_POINTS = 8001  # of a density that somebody looks at: a picture shows no more


@dataclass(frozen=True, eq=False)
class ValueLaw:
    """Atoms and density of one value; what is neither a number nor NaN is an atom too."""

    atoms: tuple[tuple[Any, float], ...]
    smooth: Panels | None
    error: float

    @property
    def support(self) -> tuple[float, float]:
        """The smallest interval that holds every possible number."""
        numbers = [x for x, _ in self.atoms if isinstance(x, int | float) and not math.isnan(x)]
        ends = [*numbers, *(self.smooth.support if self.smooth else ())]
        return (min(ends), max(ends)) if ends else (math.nan, math.nan)

    def cdf(self, x: npt.ArrayLike) -> Floats:
        """P(value <= x)."""
        x = np.asarray(x, float)
        out = np.exp(self.smooth.log_cdf(x)) if self.smooth else np.zeros(x.shape)
        for point, p in self.atoms:
            if isinstance(point, int | float) and not math.isnan(point):
                out = out + p * (x >= point)
        return np.asarray(out)

    def grid(self, points: int = GRID_POINTS) -> dict[str, Any]:
        """The density on equal cells, averaged over each: `f.sum() * dx` is the mass, all but 1e-10 of it on either side."""
        if self.smooth is None:
            return {}
        low, high = self.smooth.quantile([1e-10, 1 - 1e-10])
        edges = np.linspace(low, high, points + 1)
        dx = float(edges[1] - edges[0])
        f = np.exp(self.smooth.log_interval(edges[:-1], edges[1:])) / dx
        return {"x": 0.5 * (edges[1:] + edges[:-1]), "f": f, "dx": dx}


def infer_value(node: Node) -> ValueLaw:
    """The value's own law, inferred."""
    cases = expand([node], (), [0])
    masses: dict[Any, list[float]] = {}
    names: dict[Any, Any] = {}
    smooth: list[tuple[Expansion, list[Placed]]] = []
    error = 0.0
    for case in cases:
        numbering = Numbering()
        bounds = numbering.bounds(case.literals)
        value = case.values[0]
        if isinstance(value, Affine) and value.continuous:
            row = numbering.expression(value.value.terms, value.value.constant)
            equation = plus(row, single(coordinate(0)), -1)
            smooth.append((case, components(Case(tuple(numbering.laws), tuple(bounds), (equation,)))))
            continue
        points, placed, name = _points(value, numbering, bounds, narrowed({}, case.literals))
        logs, off = _logs(placed, points)
        error = max(error, off)
        for point, log_p in zip(points[:, 0], logs, strict=True):
            if log_p > -math.inf:
                x = name(point)
                key = "NaN" if isinstance(x, float) and math.isnan(x) else x
                names.setdefault(key, x)
                masses.setdefault(key, []).append(float(log_p))
    atoms = tuple((names[k], math.exp(float(log_sum(np.array(v))))) for k, v in masses.items())
    density = _density(smooth) if smooth else None
    return ValueLaw(tuple(sorted(atoms, key=_order)), density, max(error, density.error if density else 0.0))


def _points(
    value: LeafValue, numbering: Numbering, bounds: list[Bound], spans: Bounds
) -> tuple[Floats, list[Placed], Callable[[float], Any]]:
    """Where a discrete value can lie, in steps of its lattice; the case in those steps; and what a step stands for."""
    there = coordinate(0)
    match value:
        case Constant(value=constant):
            return np.zeros((1, 1)), components(Case(tuple(numbering.laws), tuple(bounds), ())), lambda _: constant
        case Affine(value=terms):
            row = numbering.expression(terms.terms, terms.constant)
            lattice = spanned([of_sum(row, numbering.laws)])
            equation = plus(times(plus(row, number(lattice.origin), -1), 1 / lattice.step), single(there), -1)
            placed = components(Case(tuple(numbering.laws), tuple(bounds), (equation,)))
            points = sum_points(row, numbering.laws, lattice)
        case Floor():
            lattice = of_floor(value)
            more, _ = floor_conditions(value, numbering, Expr(((there, lattice.step),), lattice.origin))
            placed = components(Case(tuple(numbering.laws), (*bounds, *more), ()))
            points = floor_points(value, lattice, spans)
    return points[:, None], placed, lambda t: float(lattice.origin + lattice.step * exact(t))


def _order(atom: tuple[Any, float]) -> tuple[bool, float, str]:
    number = isinstance(atom[0], int | float) and not math.isnan(atom[0])
    return not number, atom[0] if number else 0.0, str(atom[0])


def _logs(placed: list[Placed], y: Floats) -> tuple[Floats, float]:
    total, error = np.zeros(len(y)), 0.0
    for p in placed:
        logs, off = eliminate(p.component).log(y if p.outputs else y[:, :0])
        total, error = total + logs, error + float(np.max(off, initial=0.0))
    return total, error


def _density(cases: list[tuple[Expansion, list[Placed]]]) -> Panels:
    """The sum of the cases' densities, tabulated."""
    measures = [[(eliminate(p.component), bool(p.outputs)) for p in placed] for _, placed in cases]
    kinks = sorted({_root(k) for parts in measures for m, has in parts if has for k in m.kinks() if k.terms}) or [0.0]
    scales = [law.scale for _, placed in cases for p in placed for law in p.component.laws if isinstance(law, Continuous)]
    low, high, scale = kinks[0] - 1000 * max(scales), kinks[-1] + 1000 * max(scales), min(scales)

    def log_f(x: Floats) -> tuple[Floats, Floats]:
        y = x.reshape(-1, 1)
        logs, errors = [], []
        for parts in measures:
            answers = [m.log(y if has else y[:, :0]) for m, has in parts]
            logs.append(np.sum([a[0] for a in answers], axis=0))
            errors.append(np.sum([a[1] for a in answers], axis=0))
        return log_sum(np.stack(logs), axis=0).reshape(x.shape), np.max(errors, axis=0).reshape(x.shape)

    edges = with_tails(np.array([kinks]), np.array([low]), np.array([high]), scale)[0]
    return tabulate(log_f, edges, tuple(kinks), scale, "inferred")


def _root(k: Expr) -> float:
    return float(-k.constant / k.terms[0][1])
