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

    Other keywords go to `dpest.estimate` where `pairs` are given, else to `dpest.prove`. `progress` is None (a bar on a
    terminal), False, True or a function of (values done, their number, message).

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
