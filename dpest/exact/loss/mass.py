"""Whether the probabilities of all outputs add up to one, under both inputs: a check that costs nothing.

A case that is missing or counted twice, and an integral that is wrong, show in the sum. Outputs with a density are left
out: the mass of a shape of them would take integrals of its own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias

from dpest.errors import ExactRefused
from dpest.exact.loss.logs import BothWays, Sup
from dpest.exact.loss.strata import Stratum
from dpest.trace.explore import Trace

BothMasses: TypeAlias = tuple[float, float] | None  # under both inputs; None where they are not known

# What the engine says of a probability is right to 1e-9 and mostly to 1e-13; a wrong case is off by far more.
_OFF = 1e-7


def with_stratum(masses: BothMasses, stratum: Stratum, sups: Sequence[BothWays]) -> BothMasses:
    """The masses of some outputs together with those of one more, which is given by its blocks' suprema."""
    if masses is None or any(b.dimension for b in stratum.blocks):
        return None
    return masses[0] + _mass([s.forward for s in sups]), masses[1] + _mass([s.backward for s in sups])


def _mass(sups: Sequence[Sup]) -> float:
    """How likely an output is under the first law: the product over its blocks."""
    return math.exp(sum(s.log_p for s in sups)) if all(s.possible for s in sups) else 0.0


class TotalMass:
    """The mass of all buckets, as they come."""

    def __init__(self) -> None:
        self._total: BothMasses = (0.0, 0.0)

    def unknown(self) -> None:
        """Something was left out."""
        self._total = None

    def add(self, groups: Sequence[BothMasses]) -> None:
        """One bucket more: groups are independent."""
        if self._total is None or any(g is None for g in groups):
            self._total = None
            return
        p, q = (math.prod(g[way] for g in groups if g is not None) for way in (0, 1))
        self._total = self._total[0] + p, self._total[1] + q

    def check(self, left: Trace, right: Trace) -> None:
        """Raises `ExactRefused` where outputs with all their probabilities have not one together."""
        if self._total is None:
            return
        for mass, trace in zip(self._total, (left, right), strict=True):
            if not trace.whole:
                continue
            least = 1.0 - math.exp(min(0.0, trace.log_unexplored))
            if not least - _OFF <= mass <= 1.0 + _OFF:
                raise ExactRefused(
                    f"the probabilities of all outputs add up to {mass:.9g}, which should be 1: dpest reads this mechanism "
                    "wrongly; please report it"
                )
