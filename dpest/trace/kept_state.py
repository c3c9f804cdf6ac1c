"""What a mechanism keeps from one run to the next, and the clock: whether they decide what it returns.

A counter that passes 1,000 shows in no replay. What changes with each run is found by looking at it before and after one, and
is then moved far ahead: if the same draws lead to another output there, the mechanism is not one law, and is refused.
"""

from __future__ import annotations

import dis
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from copy import copy
from functools import lru_cache
from itertools import islice
from operator import length_hint
from types import CodeType
from typing import Any

import numpy as np

from dpest.errors import NotReplayable
from dpest.lang.generators.clock import CLOCK_NAMES, clock_moved
from dpest.lang.generators.places import Place, places
from dpest.lang.plain_numbers import Own
from dpest.trace.identity import alike_on, codes_of
from dpest.trace.outputs import Flat
from dpest.trace.plain_run import PlainRun, one_run

RunProgram = Callable[[Any], Flat]

_AHEAD = (10, 100, 1_000, 10_000, 10**6, 10**9)  # runs that a counter is moved ahead by
_MOST_GROWN = 10_000  # elements that a list which grows with each run is given
# Seconds that the clock is moved by: parts of a second and of a minute, hours of the day, days of the week, years.
_LATER = (0.37, 0.5, 1.0, 7.3, 31.0, 600.0, 7_200.0, 43_200.0, 90_000.0, 260_000.0, 1e7, 3.2e8)
_STORES = ("STORE_GLOBAL", "STORE_DEREF", "STORE_ATTR", "STORE_SUBSCR", "STORE_SLICE")
_METHODS = ("append", "extend", "insert", "pop", "popleft", "appendleft", "add", "update", "setdefault", "clear")
_CHANGES = frozenset((*_METHODS, "next"))
_CALENDAR = frozenset({"now", "utcnow", "today"})


def check_state(mechanism: Any, data: Any, program: RunProgram) -> None:
    """Raises where something that is kept between runs, or the clock, decides what a run returns."""
    codes = [*codes_of(mechanism)]
    if not any(map(_keeps, codes)) and not any(map(_tells_time, codes)):
        return
    if any(map(_asks_the_calendar, codes)):
        raise _refused("asks datetime for the time, which cannot be moved to see whether it decides anything")
    with clock_moved(0.0) as clock, np.errstate(all="ignore"):
        program(one_run())  # what is kept from the first run on, and stays as it is, decides nothing
        before = {place.key: _shown(place.value) for place in places(mechanism, data)}
        output = program(run := one_run())
    changed = [p for p in places(mechanism, data) if p.key in before and before[p.key] != _shown(p.value)]
    for place in changed:
        if not all(_same_inside(moved, run, output, program) for moved in _moved(place)):
            raise _refused("keeps something between runs that decides what it returns after a number of them")
    later = _LATER if clock.was_read else ()
    if not all(_same_inside(clock_moved(seconds), run, output, program) for seconds in later):
        raise _refused("reads the clock, and returns something else at another time")


def _same_inside(moved: AbstractContextManager[Any], run: PlainRun, output: Flat, program: RunProgram) -> bool:
    with moved:
        return alike_on(Own.OURS, run, output, program)


def _shown(x: Any) -> Any:
    """What is compared of a value: a number itself, of a container how much it holds, of an iterator how far it is."""
    if isinstance(x, int | float | str | bytes | None):
        return x if x == x else "nan"
    if isinstance(x, Iterator):
        return id(x), length_hint(x), repr(x)
    return (id(x), len(x)) if isinstance(x, list | dict | set) else id(x)


def _moved(place: Place) -> Iterator[AbstractContextManager[None]]:
    """The ways in which the contents of a place are moved ahead, each as a block to run the program in."""
    if isinstance(place.value, int | float) and not isinstance(place.value, bool):
        yield from (_put(place, place.value + sign * step) for step in _AHEAD for sign in (1, -1))
    elif isinstance(place.value, list):
        yield _grown(place.value)
    elif isinstance(place.value, Iterator):
        ahead = _copied(place.value)
        yield _put(place, (*islice(ahead, _MOST_GROWN), ahead)[-1])


def _copied(iterator: Iterator[Any]) -> Iterator[Any]:
    """An iterator that goes on from the same place; those of itertools have no copies from Python 3.14 on."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # which says so before
        try:
            return copy(iterator)
        except TypeError:
            raise _refused("goes on with an iterator from run to run") from None


@contextmanager
def _put(place: Place, value: Any) -> Iterator[None]:
    place.put(value)
    try:
        yield
    finally:
        place.put(place.value)


@contextmanager
def _grown(held: list[Any]) -> Iterator[None]:
    size = len(held)
    held.extend(held[-1:] * (_MOST_GROWN - size))
    try:
        yield
    finally:
        del held[size:]


@lru_cache(maxsize=1024)
def _keeps(code: CodeType) -> bool:
    """Whether the code stores something outside its own variables, as far as its instructions tell."""
    if _CHANGES & {*code.co_names}:
        return True
    for step in dis.get_instructions(code):
        if step.opname in _STORES and not (step.opname == "STORE_DEREF" and step.argval not in code.co_freevars):
            return True
    return False


def _tells_time(code: CodeType) -> bool:
    return not CLOCK_NAMES.isdisjoint(code.co_names) or _asks_the_calendar(code)


def _asks_the_calendar(code: CodeType) -> bool:
    return not _CALENDAR.isdisjoint(code.co_names) and not {"datetime", "date"}.isdisjoint(code.co_names)


def _refused(what: str) -> NotReplayable:
    return NotReplayable(
        f"the mechanism {what}: keep no state between runs, and give it the time as a parameter; dpest.audit bounds the loss of "
        "the program as it stands, as a black box"
    )
