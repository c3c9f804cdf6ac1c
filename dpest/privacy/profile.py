"""delta(eps) of one compared pair."""

from __future__ import annotations

from dpest.errors import NotCovered
from dpest.numerics.bracket import Bracketed
from dpest.privacy.compare import Comparison


class ComparedProfile:
    """The privacy profile of a comparison, worked out when it is asked for."""

    def __init__(self, comparison: Comparison) -> None:
        self.comparison = comparison

    def delta(self, epsilon: float) -> Bracketed:
        """The smallest delta for which the pair is (epsilon, delta)-close."""
        raise NotCovered("delta(eps) is not known for this result")
