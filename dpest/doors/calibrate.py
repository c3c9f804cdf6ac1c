"""`calibrate`: the value of a parameter at which the proved loss meets a target."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from dpest.doors.prove import prove, proved_bound
from dpest.errors import DpestError, InvalidInput
from dpest.inputs.pairs import is_real
from dpest.inputs.question import check_progress
from dpest.results import Result
from dpest.run.progress import showing

_DOUBLINGS = 60  # the parameter is looked for from about 2^-60 to 2^60 times where one starts
_HALVINGS = 60  # of an interval whose ends differ by a factor 2: more than the 52 after which neighbouring doubles are reached


@dataclass(frozen=True)
class Calibration:
    """A value that meets the target, the bracket around the turning point, and the proof at the value."""

    parameter: str
    target: float
    value: float
    bracket: tuple[float, float]  # the loss meets the target at one end and not at the other
    result: Result
    delta: float = 0.0  # at which epsilon meets the target

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        low, high = self.bracket
        what, upper = "the loss", self.result.upper
        if self.delta:
            what, upper = f"epsilon at delta {self.delta:g}", self.result.epsilon_at(self.delta).upper
        return (
            f"{self.parameter} = {self.value:.9g} meets the target: {what} over {self.result.scope} is at most "
            f"{upper:.9g} <= {self.target:g}; the turning point lies in [{low:.9g}, {high:.9g}]"
        )


def calibrate(
    mechanism: Callable[..., Any],
    parameter: str,
    *,
    target: float,
    delta: float = 0.0,
    start: float = 1.0,
    tolerance: float = 1e-6,
    progress: Any = None,
    params: Mapping[str, Any] | None = None,
    **options: Any,
) -> Calibration:
    """The value of a parameter at which the proved loss over all adjacent inputs meets the target.

    For a scale of noise it is the smallest one that is enough, for an epsilon the largest one that is allowed.

    Args:
        mechanism: a function of its input, as for `dpest.prove`.
        parameter: the name of the parameter to find a value for.
        target: the epsilon to meet.
        delta: at which delta; 0 for the pure loss. Gaussian noise needs one > 0.
        start: where the search begins; it doubles and halves from there.
        tolerance: relative accuracy of the value.
        progress: None (a bar on a terminal), False, True, or a function of (values tried, the most that are tried, message).
        params: other parameters of the mechanism.
        options: `n`, `adjacency`, `sensitivity`, `domain`, as for `dpest.prove`.

    Returns:
        A `Calibration` with value, the bracket around the turning point, and the proof at the value.

    Example:
        >>> import dpest
        >>> found = dpest.calibrate(lambda x, scale: x + dpest.laplace(scale), "scale", target=0.5)
        >>> round(found.value, 4)
        2.0
    """
    _check(parameter, target, start, tolerance)
    if not is_real(delta) or not 0 <= delta < 1:
        raise InvalidInput(f"delta must lie in [0, 1), got {delta!r}")
    check_progress(progress)
    known: dict[float, float] = {}
    with showing(progress, "values") as show:

        def bound(value: float) -> float:
            if value not in known:
                show(len(known), _DOUBLINGS + _HALVINGS, f"calibrating: {parameter} = {value:.6g}")
                known[value] = _bound(mechanism, {**(params or {}), parameter: value}, delta, options)
            return known[value]

        good, bad = _bracket(bound, start, target, parameter)
        good, bad = _bisected(bound, good, bad, target, tolerance)
        result = prove(mechanism, params={**(params or {}), parameter: good}, progress=False, **options)
    return Calibration(parameter, target, good, (min(good, bad), max(good, bad)), result, float(delta))


def _bound(mechanism: Callable[..., Any], params: Mapping[str, Any], delta: float, options: Mapping[str, Any]) -> float:
    """What is proved at these parameters: the pure loss, or epsilon at a delta."""
    if delta == 0:
        return proved_bound(mechanism, params=params, **options)
    return float(prove(mechanism, params=params, progress=False, **options).epsilon_at(delta).upper)


def _check(parameter: Any, target: Any, start: Any, tolerance: Any) -> None:
    if not isinstance(parameter, str) or not parameter:
        raise InvalidInput(
            f'calibrate(mechanism, parameter, ...) needs the name of a parameter, such as "scale", got {parameter!r}'
        )
    for name, value in (("target", target), ("start", start), ("tolerance", tolerance)):
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
            raise InvalidInput(f"calibrate(..., {name}=...) needs a positive finite number, got {value!r}")


def _bracket(bound: Callable[[float], float], start: float, target: float, parameter: str) -> tuple[float, float]:
    """Two values, the first of which meets the target and the second does not."""
    first = bound(start) <= target
    for k in range(1, _DOUBLINGS):
        for value in (start * 2.0**k, start / 2.0**k):
            try:
                met = bound(value) <= target
            except DpestError:
                continue  # a value that the mechanism does not allow
            if met != first:
                near = value / 2 if value > start else value * 2
                return (near, value) if first else (value, near)
    does = "meets" if first else "does not meet"
    # Gaussian noise has an infinite loss at any scale.
    infinite = not first and bound(start) == math.inf
    hint = "it is infinite, give delta=1e-6 (--delta 1e-6)" if infinite else "give start=..."
    raise InvalidInput(f"the loss {does} the target {target:g} at every {parameter} that was tried from {start:g} on: {hint}")


def _bisected(bound: Callable[[float], float], good: float, bad: float, target: float, tolerance: float) -> tuple[float, float]:
    for step in range(_HALVINGS):
        if abs(good - bad) <= tolerance * abs(good):
            break
        # Losses are mostly proportional to a parameter or to its inverse: the first guesses try that.
        middle = math.sqrt(good * bad)
        if step < 2 and 0 < bound(good) < math.inf:
            ratio = target / bound(good)
            guess = good * (ratio if bad > good else 1 / ratio)
            guess *= 1 + (1 if (step == 0) == (bad > good) else -1) * tolerance / 4
            middle = guess if min(good, bad) < guess < max(good, bad) else middle
        if bound(middle) <= target:
            good = middle
        else:
            bad = middle
    return good, bad
