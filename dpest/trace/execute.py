"""One run of a mechanism: its generators stood in for, its errors told apart, its output taken apart."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dpest.errors import BudgetExceeded, DpestError, MechanismRaised, NoText
from dpest.inputs.shown import brief, raised
from dpest.lang.dist import RUN, Dist
from dpest.lang.generators.open_arrays import opened_data
from dpest.lang.generators.swap import left_at_none, standing_in, stood_in_for
from dpest.lang.handed import all_handed, handed
from dpest.lang.not_plain import TEXT
from dpest.numerics.setting import Setting
from dpest.trace.outputs import Flat, flatten

_NO_ENTRY = "; a random key is looked up as each of its points, and one of them has no entry: add it, or use .get(key, default)"
_HINT = "; a Dist is a random value, which has no digits while it is traced: return it as it is, or compare it"

_NO_LIST = "; a Dist is one random number, as a float is one: with size=n, a draw makes n of them"


def execute(run: Any, mechanism: Callable[..., Any], data: Any, params: Mapping[str, Any]) -> Flat:
    """One run of the mechanism under `run`, its output taken apart; generators are stood in for."""
    held = stood_in_for(mechanism, params)
    if held is None:
        with standing_in(mechanism, data, params):
            return execute(run, mechanism, data, params)
    before = held.begin()
    try:
        return execute_as_it_stands(run, mechanism, data, held.params)
    finally:
        held.end(before)


def execute_as_it_stands(run: Any, mechanism: Callable[..., Any], data: Any, params: Mapping[str, Any]) -> Flat:
    """One run in which generators give their own numbers."""
    try:
        return returned(run, mechanism, data, params)
    except Abandoned:
        return flatten(None)
    except DpestError:
        raise
    except RecursionError as error:
        raise BudgetExceeded("the mechanism recurses deeper than Python allows on some path") from error
    except Exception as error:
        if "format: a real number is required, not Dist" in str(error):  # "%d" % value
            raise NoText(TEXT) from error
        name = getattr(mechanism, "__name__", "the mechanism")
        hint = _hint(error, mechanism, params)
        raise MechanismRaised(f"{name} raised {raised(error)} (on the input {brief(data)}){hint}") from error


def _hint(error: Exception, mechanism: Callable[..., Any], params: Mapping[str, Any]) -> str:
    """What may have gone wrong, and what to write instead."""
    if isinstance(error, KeyError) and error.args and isinstance(error.args[0], Dist):
        return _NO_ENTRY
    unset = left_at_none(mechanism, params) if "'NoneType' object" in str(error) else []
    if unset:
        return f"; its parameter {unset[0]} is None unless it is given: pass {unset[0]}=numpy.random.default_rng()"
    if "Dist" not in str(error):
        return ""
    return _NO_LIST if "iterable" in str(error) or "len()" in str(error) else _HINT


def returned(run: Any, mechanism: Callable[..., Any], data: Any, params: Mapping[str, Any]) -> Flat:
    """What the mechanism returns under `run`, in the form of its code that the run asks for."""
    if getattr(run, "together", False):
        from dpest.trace.calls import call  # most programs have few paths, and need no other code

        mechanism = call(mechanism)
    elif getattr(run, "by_states", False):
        from dpest.trace import steps_between

        mechanism = steps_between.call(mechanism)
    with Setting(RUN, run):
        return flatten(mechanism(opened_data(handed(data)), **all_handed(dict(params))))


def is_rewritten(mechanism: Callable[..., Any]) -> bool:
    """Whether the author's code can be read, and other code stand for it."""
    from dpest.trace.calls import call

    return call(mechanism) is not mechanism


class Abandoned(BaseException):
    """Unwinds a run whose path is not worth finishing; no `except Exception` of the author's catches it."""
