"""`sweep`: one parameter against the loss."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from dpest.doors.estimate import estimate
from dpest.doors.prove import prove
from dpest.doors.table import Sweep
from dpest.errors import InvalidInput
from dpest.inputs.question import check_progress
from dpest.results import Result
from dpest.run.progress import showing


def sweep(
    mechanism: Callable[..., Any],
    parameter: str,
    values: Iterable[Any],
    pairs: Any = None,
    *,
    progress: Any = None,
    params: Any = None,
    **options: Any,
) -> Sweep:
    """The loss for each value of a parameter (or of `n`): on the given pairs, else over all adjacent inputs.

    Args:
        mechanism: a function of its input, as for `dpest.estimate`.
        parameter: the name of the parameter that changes; "n" for the number of rows.
        values: its values.
        pairs: (D, D') or a list of pairs; without them each value is answered by `dpest.prove`.
        progress: None (a bar on a terminal), False, True, or a function of (values done, their number, message).
        params: other parameters of the mechanism.
        options: keywords of `dpest.estimate` where pairs are given, else of `dpest.prove`.

    Returns:
        A table with a `Result` for each value, in words how the loss grows (`trend`), and `plot()`.

    Example:
        >>> import dpest
        >>> table = dpest.sweep(lambda x, scale: x + dpest.laplace(scale), "scale", [1, 2, 4])
        >>> [round(r.epsilon, 6) for r in table]
        [1.0, 0.5, 0.25]
    """
    if not isinstance(values, Iterable):
        raise InvalidInput(f"sweep(mechanism, parameter, values) needs several values, such as [1, 2, 4], got {values!r}")
    listed = list(values)
    if not isinstance(parameter, str) or not parameter:
        raise InvalidInput(
            f'sweep(mechanism, parameter, values) needs the name of a parameter, such as "scale", got {parameter!r}'
        )
    if not listed:
        raise InvalidInput(f"sweep(..., {parameter!r}, values) needs at least one value")
    check_progress(progress)
    rows: list[tuple[Any, Result]] = []
    with showing(progress, "values") as show:
        for value in listed:
            show(len(rows), len(listed), f"{parameter} = {value}")
            if parameter == "n":
                own, given = {**options, "n": value}, dict(params or {})
            else:
                own, given = dict(options), {**(params or {}), parameter: value}
            ask = prove if pairs is None else estimate
            where = {} if pairs is None else {"pairs": pairs}
            rows.append((value, ask(mechanism, **where, params=given, progress=False, **own)))
    return Sweep(parameter, tuple(rows))
