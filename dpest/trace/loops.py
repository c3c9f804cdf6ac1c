"""What rewritten code asks about its loops: whether one is a draw, or a few."""

from __future__ import annotations

import builtins
import itertools
from collections.abc import Callable, Sequence
from typing import Any

from dpest.errors import ExactRefused
from dpest.lang.dist import RUN, Dist
from dpest.trace import arrivals, counting, kept_best
from dpest.trace.replay import Replay, Unusual, unless_unbound

Thunk = Callable[[], Any]


def counted_rounds(count: Any, step: int | float, more: int, test: Thunk, goes_on: bool) -> Any:
    """Where the count of a loop that only counts ends, by one draw; None where it must be followed round by round."""
    return _one_draw(lambda: counting.counted_on(count, step, counting.rounds(test, goes_on) + more))


def counted_steps(count: Any, step: int | float, more: int, *asked: Any) -> Any:
    """The same for a loop that counts the steps of a product or a sum."""
    return _one_draw(lambda: counting.counted_on(count, step, arrivals.steps_until(*asked) + more))


def best_kept(
    step: Callable[..., Any], text: str, held: Sequence[Thunk], count: Thunk | None, many: Any, most: Thunk | None
) -> Any:
    """What a loop keeps that keeps the best of its rounds, as many as were drawn; None where it must be followed."""
    before = tuple(unless_unbound(x) for x in held)

    def kept() -> kept_best.BestOfRounds:
        return kept_best.best_of_rounds(step, text, before, count, None if most is None else _rounds_in(*most()))

    found = _one_draw(kept)
    if found is None or many is None:
        return None if found is None else found.drawn(before)
    return before if many == 0 else found.of_some().drawn(before)


def _rounds_in(function: Any, *args: Any) -> int:
    """How many rounds a loop over a range has, at least one."""
    if function is not range or any(type(x) is not int for x in args) or not (rounds := len(range(*args))):
        raise Unusual
    return rounds


def larger(value: Any, best: Any) -> Any:
    """The larger of a value and the best before it, if there is one."""
    return value if best is None or value > best else best


def largest(
    step: Callable[..., Any], text: str, count: Thunk, many: Any, as_written: Thunk, names: tuple[Any, Any]
) -> Any:
    """max(value for _ in range(count)) of as many values as a draw says."""
    own = names == (builtins.max, builtins.range)
    found = _one_draw(lambda: kept_best.best_of_rounds(step, text, (None,), count)) if own else None
    if found is None or (many is None and found.none) or (many is not None and many == 0):
        return as_written()
    return found.of_some().drawn(())[0]


def _one_draw(count: Thunk) -> Any:
    run: Any = RUN.get()
    if isinstance(run, Replay):
        found = run.attempt(lambda: (count(),))
        run.closed = run.closed or found is not None
        run.counted = run.counted or run.closed
        return None if found is None else found[0]
    try:
        return count() if getattr(run, "together", False) else None
    except Unusual:
        return None


def counted_from(function: Any, start: Any = 0) -> Any:
    """Where a loop over `itertools.count` begins; raises where that name stands for something else."""
    if function is not itertools.count:
        raise ExactRefused("a loop over a function `count` that is not the one of itertools")
    return start


def climbed(bound: Any, start: Any, step: int, strict: bool) -> Any:
    """Where a loop that counts up to a random bound ends; None where it must be followed round by round."""
    run: Any = RUN.get()
    if not isinstance(run, Replay) or not isinstance(bound, Dist) or type(start) is not int:
        return None
    found = run.attempt(lambda: (counting.climbed(bound, start, step, strict),))
    return None if found is None else found[0]
