"""One block of output coordinates as a part of a privacy loss distribution: cells, or a shift of Gaussian noise."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from dpest.curves.boxes import Boxes
from dpest.curves.cells import LARGE, ROUND, single, slack_of_sums
from dpest.curves.fibres import Fibres
from dpest.curves.pieces import DensityPiece
from dpest.curves.tails import NormalTails
from dpest.curves.tree import CellSource, Fixed
from dpest.errors import NotCovered
from dpest.exact.inference.component import Component, Parts
from dpest.exact.inference.lattice import WINDOW
from dpest.exact.loss.blocks import Block, BlockLaw, CoordinateKind
from dpest.exact.loss.direction import DirectionSide
from dpest.exact.loss.last_step import LastStep, last_step
from dpest.exact.loss.logs import logs_at
from dpest.exact.loss.mixed import MixedSide
from dpest.exact.loss.ratio import RatioSide
from dpest.exact.loss.shift import release
from dpest.exact.loss.sphere import SphereSide
from dpest.exact.loss.supremum import supremum
from dpest.laws.continuous import Gaussian
from dpest.laws.law import Continuous, Discrete, Law
from dpest.numerics.effort import spend
from dpest.numerics.linear import product, reduced
from dpest.numerics.logspace import Floats, log_sum
from dpest.numerics.quadrature import with_tails
from dpest.numerics.rationals import ZERO, Rational, exact

_LOG_BEYOND = -120.0  # ln of the mass of one draw that may lie beyond the cells
_MOST_REAL = 3  # real coordinates that share noise
_WELL_CONDITIONED = 1e6  # of a covariance that doubles solve to nine digits of its square root; beyond, rationals do
_MOST_SOLVED = 40  # outputs whose covariance is solved in rationals: about a second


@dataclass(frozen=True)
class Weight:
    """A block without coordinates: ln of its probability under both laws, and their relative error."""

    log_p: float
    log_q: float
    error: float


@dataclass(frozen=True)
class SharedGaussian:
    """Gaussian noise that both inputs share, moved by sqrt(mu_squared) deviations."""

    mu_squared: float
    error: float  # relative, of mu


def part_of(block: Block) -> Weight | SharedGaussian | CellSource:
    """The block as a part; worked out once for blocks with the same laws."""
    known = block.left.measures.answers
    key = ("part", block.kinds, block.left.key, block.right.key)
    if key not in known:
        known[key] = _part(block)
    found: Weight | SharedGaussian | CellSource = known[key]
    return found


def _part(block: Block) -> Weight | SharedGaussian | CellSource:
    if isinstance(block.left, RatioSide | DirectionSide | MixedSide):
        raise NotCovered("delta(eps) of a quotient of random values is not covered; its epsilon is")
    if isinstance(block.left, SphereSide):
        raise NotCovered("delta(eps) of noise in a uniform direction is not covered; its epsilon is")
    if block.dimension == 0:
        (p, e), (q, f) = (side.log(np.empty((1, 0))) for side in (block.left, block.right))
        return Weight(float(p[0]), float(q[0]), float(max(e[0], f[0])) + 4 * ROUND)
    if block.kinds[0] is CoordinateKind.LATTICE:
        return _on_lattice(block)
    shifted = _shifted(block)
    if shifted is not None:
        return shifted
    if block.equal and release(block.left) is not None:
        return Weight(0.0, 0.0, 0.0)
    if block.dimension == 1:
        return _equal_weight(line_piece(block)) if block.equal else line_piece(block)
    steps = last_step(block)
    if steps is not None:
        return _fibres(block, steps)
    if block.dimension <= _MOST_REAL:
        return _boxes(block)
    raise _too_many(block)


def _too_many(block: Block) -> NotCovered:
    return NotCovered(
        f"delta(eps) of {block.dimension} continuous outputs that share noise is not covered; up to {_MOST_REAL}, discrete "
        "outputs, independent parts and Gaussian noise through a linear map are"
    )


def _on_lattice(block: Block) -> Weight | CellSource:
    """Single points, all but a negligible tail of infinite laws."""
    assert block.points is not None
    logs = logs_at(block, block.points())
    found = single(logs.p, logs.q, logs.error)
    drawn = _laws(block.left) or _laws(block.right)
    if not drawn and found.size == 1 and found.log_p[0] == found.log_q[0] == 0.0:
        return Weight(0.0, 0.0, 0.0)  # a value that nothing moves, such as one that is released twice
    if all(isinstance(law, Discrete) and law.finite for side in (block.left, block.right) for law in _laws(side)):
        return Fixed(found)
    rest = 4 * max(len(_laws(side)) for side in (block.left, block.right)) * math.exp(WINDOW)
    return Fixed(replace(found, beyond=(rest, rest), bounds=_ratio_bounds(block)))


def _ratio_bounds(block: Block) -> tuple[float, float]:
    """Where ln p/q lies everywhere, as far as the suprema know."""
    found = supremum(block)
    ends = [float(s.upper) if s.possible else math.inf for s in (found.backward, found.forward)]
    return -ends[0], ends[1]


def _laws(side: BlockLaw) -> list[Law]:
    return [law for parts, _ in side.cases for placed, _ in parts for law in placed.component.laws]


# -- one coordinate on a line ------------------------------------------------------------------------------------------


def line_piece(block: Block) -> DensityPiece:
    """Both densities of a block with one real coordinate, as far as all but a negligible mass reaches."""
    kinks = line_places(block)
    reach = _reaches(block)[0]
    scale = block.scale
    low, high = np.array([min(reach.low, kinks[0] - scale)]), np.array([max(reach.high, kinks[-1] + scale)])
    edges = np.unique(with_tails(kinks[None, :], low, high, scale)[0])
    beyond = reach.beyond, reach.beyond
    return DensityPiece(lambda y: densities(block, y[:, None]), edges, beyond, _ratio_bounds(block), _normal_tails(block))


def densities(block: Block, y: Floats) -> tuple[Floats, Floats, Floats]:
    """ln of both densities at places, and the larger relative error; what lies below a table's floor is not known."""
    spend(len(y) * (len(block.left.cases) + len(block.right.cases)))
    (p, e), (q, f) = block.left.log(y), block.right.log(y)
    error = np.maximum(e, f) + ROUND * (4.0 + np.where(p > -np.inf, np.abs(p), 0.0))
    if block.log_floor > -math.inf:
        error = np.where((np.minimum(p, q) < block.log_floor) & (np.maximum(p, q) > -np.inf), 1.0, error)
    return p, q, error


def line_places(block: Block) -> Floats:
    """The kinks of both densities of a block with one coordinate; at least one place."""
    kinks = [k for k in (*block.left.kinks(), *block.right.kinks()) if k.terms]
    places = [float(-k.constant / k.terms[0][1]) for k in kinks]
    return np.unique(np.array(places, float)) if places else np.zeros(1)


def _equal_weight(piece: DensityPiece) -> Weight:
    """Equal laws on a line: only their mass counts, which is the same on both sides."""
    cells = piece.cells
    log_mass = float(log_sum(cells.log_p))
    beyond = math.exp(min(math.log(piece.beyond[0]) - log_mass, LARGE)) if piece.beyond[0] else 0.0
    off = slack_of_sums(np.zeros(cells.size, np.intp), cells.log_p, np.array([log_mass]), cells.slack)
    return Weight(log_mass, log_mass, min(float(off[0]), float(cells.slack.max(initial=0.0))) + beyond + 1e-14)


@dataclass(frozen=True)
class _Reach:
    """An interval of one coordinate, and a bound of the mass outside it."""

    low: float
    high: float
    beyond: float


def _reaches(block: Block) -> list[_Reach]:
    """For each coordinate, how far its noise goes under either law."""
    return [_reach(block, j) for j in range(block.dimension)]


def _reach(block: Block, j: int) -> _Reach:
    found = [
        _component_reach(placed.component, placed.outputs.index(j))
        for side in (block.left, block.right)
        for parts, _ in side.cases
        for placed, _ in parts
        if j in placed.outputs
    ]
    return _Reach(min(r.low for r in found), max(r.high for r in found), math.fsum(r.beyond for r in found))


def _component_reach(component: Component, j: int) -> _Reach:
    """The range of an output coordinate whose equation is a sum of draws: the sum of the draws' ranges."""
    for equation in component.equations:
        scale = -equation.coefficient(-1 - j)
        others = [v for v, _ in equation.terms if v < 0 and v != -1 - j]
        if not scale or others:
            continue
        low = high = float(equation.constant / scale)
        beyond = 0.0
        for v, c in equation.terms:
            if v >= 0:
                ends, more = _law_reach(component.laws[v])
                moved = sorted(float(c / scale) * x for x in ends)
                low, high, beyond = low + moved[0], high + moved[1], beyond + more
        return _Reach(low, high, beyond)
    raise NotCovered("delta(eps) of an output whose range is not known from its noise")


def _normal_tails(block: Block) -> tuple[NormalTails, NormalTails] | None:
    """Both laws as mixtures of normal ones, where each case is Gaussian noise beside bounded values."""
    sides = []
    for side in (block.left, block.right):
        found = [_normal_case(parts) for parts, _ in side.cases]
        known = [t for t in found if t is not None]
        if not known or len(known) < len(found):
            return None
        ends = min(t.low for t in known), max(t.high for t in known)
        sides.append(NormalTails(*ends, min(t.least for t in known), max(t.most for t in known)))
    return sides[0], sides[1]


def _normal_case(parts: Parts) -> NormalTails | None:
    """One case of a block with one coordinate: a sum of Gaussian draws and of bounded ones, without conditions."""
    placed = [(p.component, times) for p, times in parts if p.outputs]
    if len(placed) != 1 or placed[0][1] != 1:
        return None
    c = placed[0][0]
    if c.folded or c.bounds or c.wholes or len(c.equations) != 1:
        return None
    (equation,) = c.equations
    scale = -equation.coefficient(-1)
    low = high = float(equation.constant / scale)
    variance = 0.0
    for v, k in equation.terms:
        if v < 0:
            continue
        law, factor = c.laws[v], float(k / scale)
        if isinstance(law, Gaussian):
            variance += (factor * law.sigma) ** 2
            continue
        ends = sorted(factor * float(x) for x in law.support)
        if not all(map(math.isfinite, ends)):
            return None
        low, high = low + ends[0], high + ends[1]
    room = 1e-14 * (1 + abs(low) + abs(high))
    deviation = math.sqrt(variance)
    return NormalTails(low - room, high + room, deviation * (1 - 1e-15), deviation * (1 + 1e-15)) if variance else None


def _law_reach(law: Law) -> tuple[tuple[float, float], float]:
    if isinstance(law, Continuous):
        ends = law.reach(_LOG_BEYOND)
        bounded = all(map(math.isfinite, law.support))
        return ends, 0.0 if bounded else 2 * math.exp(law.log_beyond(_LOG_BEYOND))
    assert isinstance(law, Discrete)
    points, _ = law.window(_LOG_BEYOND)
    return (float(points.min()), float(points.max())), 0.0 if law.finite else 2 * math.exp(_LOG_BEYOND)


# -- several coordinates that share noise ------------------------------------------------------------------------------


def _boxes(block: Block) -> Boxes:
    """Both densities of a block with two or three real coordinates, on boxes."""
    reaches = _reaches(block)
    edges = tuple(_axis_edges(block, j, reach) for j, reach in enumerate(reaches))
    beyond = math.fsum(r.beyond for r in reaches)
    return Boxes(lambda y: densities(block, y), edges, (beyond, beyond), _ratio_bounds(block))


def _axis_edges(block: Block, j: int, reach: _Reach) -> Floats:
    """Where boxes begin along one coordinate: the kinks across it, and steps to both ends."""
    kinks = [k for k in (*block.left.kinks(), *block.right.kinks()) if [v for v, _ in k.terms] == [-1 - j]]
    places = np.unique([float(-k.constant / k.terms[0][1]) for k in kinks] or [0.5 * (reach.low + reach.high)])
    low, high = np.array([min(reach.low, places[0] - block.scale)]), np.array([max(reach.high, places[-1] + block.scale)])
    return np.unique(with_tails(places[None, :], low, high, 4 * block.scale)[0])


def _fibres(block: Block, steps: LastStep) -> Fibres:
    """The last coordinates in closed form, the others on panels."""

    def whole() -> CellSource:
        if block.dimension > _MOST_REAL:
            raise _too_many(block)
        return _boxes(block)

    reaches = [_reach(block, j) for j in steps.others]
    edges = tuple(_axis_edges(block, j, r) for j, r in zip(steps.others, reaches, strict=True))
    beyond = math.fsum(r.beyond for r in reaches)
    return Fibres(steps.fibre, edges, (beyond, beyond), whole)


# -- Gaussian noise ----------------------------------------------------------------------------------------------------


def _shifted(block: Block) -> SharedGaussian | None:
    """Both laws as Gaussian noise through one linear map, moved: the length of the shift in deviations.

    Rotating the noise so that one axis points along the shift leaves one Gaussian coordinate that moves.
    """
    left, right = _linear(block.left, block.dimension), _linear(block.right, block.dimension)
    if left is None or right is None or left.sigmas != right.sigmas or left.matrix != right.matrix:
        return None
    gap = [exact(a - b) for a, b in zip(left.constants, right.constants, strict=True)]
    spread = np.array([[float(x) * s for x, s in zip(row, left.sigmas, strict=True)] for row in left.matrix])
    covariance = spread @ spread.T
    condition = float(np.linalg.cond(covariance))
    if condition < _WELL_CONDITIONED:
        difference = np.array([float(x) for x in gap])
        squared, error = float(difference @ np.linalg.solve(covariance, difference)), 8 * ROUND * (1.0 + condition)
    elif block.dimension <= _MOST_SOLVED:
        solved = _squared_in_rationals(left, gap)
        if solved is None:
            return None
        squared, error = float(solved), 4 * ROUND
    else:
        return None
    return SharedGaussian(squared, error if squared else 0.0)


def _squared_in_rationals(noise: _Linear, gap: list[Rational]) -> Rational | None:
    """gap (M S^2 M^T)^-1 gap without rounding: rows of M may be almost parallel, as those of a pseudo-inverse are."""
    scaled = tuple(tuple(x * exact(s) for x, s in zip(row, noise.sigmas, strict=True)) for row in noise.matrix)
    covariance = product(scaled, tuple(zip(*scaled, strict=True)))
    transform, rank = reduced(covariance)
    if rank < len(gap):
        return None
    (inner,) = zip(*product(transform, tuple((x,) for x in gap)), strict=True)
    return sum((x * y for x, y in zip(gap, inner, strict=True)), ZERO)


@dataclass(frozen=True, eq=False)
class _Linear:
    """y = matrix @ noise + constants, with independent Gaussian noise."""

    matrix: tuple[tuple[Rational, ...], ...]
    constants: tuple[Rational, ...]
    sigmas: tuple[float, ...]


def _linear(side: BlockLaw, dimension: int) -> _Linear | None:
    if len(side.cases) != 1 or side.cases[0][1] != 1:
        return None
    rows: dict[int, tuple[dict[int, Rational], Rational]] = {}
    sigmas: list[float] = []
    for placed, times in sorted(side.cases[0][0], key=lambda item: item[0].outputs):
        c = placed.component
        plain = times == 1 and placed.outputs and not (c.folded or c.bounds or c.wholes)
        if not plain or not all(isinstance(x, Gaussian) for x in c.laws):
            return None
        start = len(sigmas)
        sigmas += [x.sigma for x in c.laws if isinstance(x, Gaussian)]
        for equation in c.equations:
            outputs = [v for v, _ in equation.terms if v < 0]
            if len(outputs) != 1:
                return None
            scale = -equation.coefficient(outputs[0])
            draws = {start + v: x / scale for v, x in equation.terms if v >= 0}
            rows[placed.outputs[-1 - outputs[0]]] = (draws, equation.constant / scale)
    if sorted(rows) != list(range(dimension)):
        return None
    order = [rows[j] for j in range(dimension)]
    matrix = tuple(tuple(draws.get(v, ZERO) for v in range(len(sigmas))) for draws, _ in order)
    return _Linear(matrix, tuple(constant for _, constant in order), tuple(sigmas))
