"""What a result keeps of a compared pair: the way to its curve. The numerics of curves are loaded when first asked for."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

import cloudpickle

from dpest.errors import NotCovered
from dpest.exact.loss.compare import Comparison
from dpest.inputs.pairs import Pair
from dpest.numerics.bracket import Bracketed
from dpest.results import DeltaWitness

if TYPE_CHECKING:
    from dpest.curves.curve import Curve


class ComparedProfile:
    """The privacy profile of a comparison, which is made again when it is first asked for: graphs are large, results are not."""

    def __init__(self, compared: Callable[[], Comparison], pair: Pair | None = None) -> None:
        self._compared = compared
        self._pair = pair

    def __reduce__(self) -> tuple[Callable[..., ComparedProfile], tuple[bytes | None, Pair | None]]:
        try:
            return _unpacked, (cloudpickle.dumps(self._compared), self._pair)
        except Exception:  # a mechanism that holds an open file or a lock: the result travels, its curve does not
            return _unpacked, (None, self._pair)

    @cached_property
    def comparison(self) -> Comparison:
        """The two laws, part by part."""
        return self._compared()

    @cached_property
    def curve(self) -> Curve:
        """The pair's losses in both directions."""
        from dpest.exact.loss.compared import compared_curve

        return compared_curve(self.comparison, None if self._pair is None else str(self._pair))

    def delta(self, epsilon: float) -> Bracketed:
        """The smallest delta for which the pair is (epsilon, delta)-close, in the worse direction."""
        return self.curve.delta(epsilon)

    def event(self, epsilon: float) -> DeltaWitness:
        """The outputs that are more than e^epsilon times as likely under one input as under the other."""
        from dpest.exact.loss.delta_event import delta_event

        return delta_event(self.comparison, self.curve, self._pair, epsilon)


def _unpacked(compared: bytes | None, pair: Pair | None) -> ComparedProfile:
    return ComparedProfile(_gone if compared is None else cloudpickle.loads(compared), pair)


def _gone() -> Comparison:
    raise NotCovered("the mechanism of this result could not be pickled with it: run estimate(...) again for delta(eps)")
