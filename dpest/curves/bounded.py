"""The curve over all adjacent inputs: from above by a pair of laws that dominates them all, from below by the worst pair."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from dpest.curves.curve import Curve, composed
from dpest.errors import InvalidInput, NotCovered
from dpest.numerics.bracket import Bracketed


@dataclass(frozen=True, eq=False, repr=False)
class BoundedCurve(Curve):
    """A curve whose upper ends hold for every adjacent pair, and whose lower ends are those of one pair.

    Its ways are those of the pair that dominates; where the pair that was found reaches it, both ends meet.
    """

    below: Curve | None = None  # of the worst pair that was found
    about: str = "all adjacent inputs"

    def __str__(self) -> str:
        return f"over {self.about}\n{super().__str__()}"

    @property
    def epsilon(self) -> Bracketed:
        """The largest loss over all adjacent inputs."""
        return _joined(super().epsilon, None if self.below is None else self.below.epsilon)

    def delta(self, epsilon: float) -> Bracketed:
        """The smallest delta at which every adjacent pair is (epsilon, delta)-close."""
        return _joined(super().delta(epsilon), None if self.below is None else self.below.delta(epsilon))

    def epsilon_at(self, delta: float) -> Bracketed:
        """The smallest epsilon at which every adjacent pair is (epsilon, delta)-close."""
        return _joined(self._above.epsilon_at(delta), None if self.below is None else self.below.epsilon_at(delta))

    get_delta_for_epsilon = delta
    get_epsilon_for_delta = epsilon_at

    def renyi(self, alpha: float) -> Bracketed:
        """The largest Renyi divergence of order alpha > 1."""
        return _joined(super().renyi(alpha), None if self.below is None else self.below.renyi(alpha))

    def rho(self) -> Bracketed:
        """The smallest rho of zero-concentrated privacy."""
        return _joined(super().rho(), None if self.below is None else self.below.rho())

    def expected_loss(self) -> Bracketed:
        """The largest expected loss."""
        return _joined(super().expected_loss(), None if self.below is None else self.below.expected_loss())

    def gdp_mu(self) -> Bracketed:
        """The smallest mu of Gaussian differential privacy."""
        return _joined(self._above.gdp_mu(), None if self.below is None else self.below.gdp_mu())

    def tradeoff(self, alpha: float) -> Bracketed:
        """The smallest type II error of any test with type I error alpha: here the proof bounds from below."""
        proved = self._above.tradeoff(alpha)
        shown = 1.0 - float(alpha) if self.below is None else self.below.tradeoff(alpha).upper
        return Bracketed(float(proved), proved.lower, max(proved.lower, float(proved), shown))

    def compose(self, k: int = 1, *, tolerance: float | None = None) -> BoundedCurve:
        """k independent runs, one after the other; every run may be on the worst pair."""
        above = self._above.compose(k, tolerance=tolerance)
        below = None if self.below is None else self.below.compose(k, tolerance=tolerance)
        return BoundedCurve(above.ways, above.tolerance, below=below, about=self.about)

    @property
    def _above(self) -> Curve:
        return Curve(self.ways, self.tolerance, self._known)


def over_all_inputs(scope: str, upper: float, mu: float | None, pair: Any, profiles: Iterable[Any]) -> BoundedCurve:
    """What a proof of a pure loss (`upper`) or of Gaussian privacy (`mu`) says, beside the curve of the worst pair."""
    if mu is None and upper == math.inf:
        raise NotCovered(f"nothing bounds the loss over {scope}: ask estimate(mechanism, pair) for one pair's curve")
    above = Curve.pure(upper) if mu is None else Curve.gaussian(mu)
    dominating = f"coins of loss {upper:.6g}" if mu is None else f"normal laws at distance mu = {mu:.6g}"
    try:
        ways = tuple(way for p in profiles if p is not None for way in p.curve.ways)
    except NotCovered:  # joint continuous outputs, say: nothing is known from below
        ways = ()
    reached = f"; from below by {pair}" if ways else ""
    about = f"{scope}, dominated by {dominating}{reached}"
    return BoundedCurve(above.ways, above.tolerance, below=Curve(ways) if ways else None, about=about)


def composed_together(items: list[tuple[Curve, int]], tolerance: float | None) -> Curve:
    """Independent runs of several curves; where some are about all adjacent inputs, so is the upper end."""
    bounded = [c for c, _ in items if isinstance(c, BoundedCurve)]
    if not bounded:
        return composed(items, tolerance)
    above = composed([(c._above if isinstance(c, BoundedCurve) else c, k) for c, k in items], tolerance)
    below = _below(items, tolerance)
    return BoundedCurve(above.ways, above.tolerance, below=below, about=" and ".join(dict.fromkeys(c.about for c in bounded)))


def _below(items: list[tuple[Curve, int]], tolerance: float | None) -> Curve | None:
    """The composition on one pair of inputs that all curves are about; the longest single one where there is none."""
    sides = [(c.below if isinstance(c, BoundedCurve) else c, k) for c, k in items]
    known = [(c, k) for c, k in sides if c is not None]
    if not known:
        return None
    try:
        return composed(known, tolerance)
    except InvalidInput:  # different pairs are the worst for different mechanisms
        return composed([max(known, key=lambda x: x[1])], tolerance)


def _joined(above: Bracketed, below: Bracketed | None) -> Bracketed:
    """The upper end of what is proved, the lower end of what was found."""
    low = 0.0 if below is None else below.lower
    return Bracketed(float(above), min(low, float(above)), above.upper)
