"""What a function stands for in a run from state to state: one draw where it samples by a loop, and else itself."""

from __future__ import annotations

import sys
from types import FunctionType, MethodType
from typing import Any

from dpest.lang.generators.places import is_authors
from dpest.trace import source
from dpest.trace.samplers import sampled


def call(function: Any) -> Any:
    """What stands for a function that is called."""
    return sampled(function, followed(function))


def iterator(values: Any) -> Any:
    """What a `for` loop goes through."""
    return iter(values)


def followed(function: Any) -> Any:
    """A function of the author's whose calls ask here; others as they are."""
    if type(function) is FunctionType and is_authors(function):
        return source.calling(function, sys.modules[__name__])
    if type(function) is MethodType and type(function.__func__) is FunctionType and is_authors(function.__func__):
        return MethodType(source.calling(function.__func__, sys.modules[__name__]), function.__self__)
    return function
