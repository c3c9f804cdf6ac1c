"""`compose`: what several runs, of one mechanism or of different ones, lose together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpest.errors import InvalidInput

if TYPE_CHECKING:
    from dpest.curves.curve import Curve


def compose(*items: Any, tolerance: float | None = None) -> Curve:
    """The curve of independent runs, one after the other.

    Args:
        items: results of `dpest.estimate` or `dpest.prove`, or curves, each alone or as (result, how often); results are about
            the same pairs of inputs.
        tolerance: the relative width of delta(epsilon) to aim at; None for 1e-4.

    Returns:
        A `Curve` with epsilon_at(delta), delta(epsilon), renyi(alpha), tradeoff(alpha), each with both ends.

    Example:
        >>> import dpest
        >>> r = dpest.estimate(lambda x: x + dpest.gaussian(10), (0, 1))
        >>> c = dpest.compose((r, 100))
        >>> print(f"{c.epsilon_at(1e-5):.4f}")
        4.3772
    """
    from dpest.curves.bounded import composed_together

    return composed_together([_item(x) for x in items], tolerance)


def _item(x: Any) -> tuple[Curve, int]:
    from dpest.curves.curve import Curve
    from dpest.results import Result

    what, times = x if isinstance(x, tuple) and len(x) == 2 else (x, 1)
    if isinstance(what, Result):
        return what.curve(), times
    if isinstance(what, Curve):
        return what, times
    raise InvalidInput(f"compose takes results of dpest.estimate and dpest.prove, curves, and (result, how often), got {what!r}")
