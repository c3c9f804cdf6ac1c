"""Functions of the standard library's `math` on random values: they ask for a plain float, which no random value is.

While a mechanism is traced, these stand in for them, in `math` itself and under names that were imported from it. On
anything but a random value they do what they always did.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from dpest.lang.dist import Dist, unwrap, with_sign, wrap
from dpest.lang.elementary import OF_MATH, bare_function, elementary, inside
from dpest.lang.limits import exact_sum
from dpest.lang.nodes import NODES, Apply, Linear
from dpest.lang.plain_numbers import PlainNumber, bare, marked
from dpest.lang.points import has_listed_points


def _standing_in(real: Callable[..., Any], random: Callable[..., Any]) -> Any:
    def function(*args: Any, **keywords: Any) -> Any:
        for x in args:
            if isinstance(x, Dist):
                return random(*args, **keywords)
            if isinstance(x, PlainNumber):
                return marked(real(*map(bare, args), **keywords))
        return real(*args, **keywords)

    function.__name__ = function.__qualname__ = real.__name__
    function.__doc__ = real.__doc__
    function.__module__ = "math"
    return function


def _elementary(name: str) -> Callable[[Dist], Any]:
    real = getattr(math, name)
    known = OF_MATH[name]

    def function(x: Dist) -> Any:
        if has_listed_points(x.node):  # a plain number on each path, as before, for code that wants one
            return real(float(x))
        if name == "tan":
            return wrap(elementary(known, x.node, real))
        fine = inside(known, x.node)
        if not (bool(wrap(fine)) if isinstance(fine, NODES) else fine):
            raise ValueError(
                f"math domain error: math.{name} of a random value outside its domain; test it before, as in "
                "`if x > 0`, or catch the error"
            )
        return wrap(bare_function(known, x.node, real))

    return function


def _turned(name: str) -> Callable[[Dist], Any]:
    """cos and sin, which are not monotone: of a few listed points as numbers, else as a function that products know."""

    def function(x: Dist) -> Any:
        return getattr(math, name)(float(x)) if has_listed_points(x.node) else Dist(Apply(getattr(np, name), (x.node,)))

    return function


def _log(x: Any, base: Any = None) -> Any:
    top = _NAMED["log"](x) if isinstance(x, Dist) else math.log(x)
    return top if base is None else top / (_NAMED["log"](base) if isinstance(base, Dist) else math.log(base))


def _pow(x: Any, y: Any) -> Any:
    return (float(x) if not isinstance(x, Dist) else x) ** (float(y) if not isinstance(y, Dist) else y)


_NAMED: dict[str, Callable[..., Any]] = {name: _elementary(name) for name in OF_MATH if hasattr(math, name)}
_RANDOM: dict[str, Callable[..., Any]] = {**_NAMED, "log": _log, "pow": _pow, "fabs": abs, "copysign": with_sign}
_RANDOM |= {"cos": _turned("cos"), "sin": _turned("sin")}


def _fsum_standing_in(real: Callable[..., Any]) -> Any:
    def fsum(values: Any) -> Any:
        items = list(values)
        if not any(isinstance(x, Dist) for x in items):
            return real(items)
        total = unwrap(sum(items))
        written = (exact_sum, tuple(map(unwrap, items)))
        return wrap(replace(total, written=written) if isinstance(total, Linear) else total)

    return fsum


# By what they replace.
MATHEMATICS: dict[int, Any] = {id(getattr(math, name)): _standing_in(getattr(math, name), f) for name, f in _RANDOM.items()}
MATHEMATICS[id(math.fsum)] = _fsum_standing_in(math.fsum)
