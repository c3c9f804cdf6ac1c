"""What is known about an algorithm, and `auto_dist`, which gives it the law of its output."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from numbers import Integral, Real
from typing import Any, Protocol, cast

from dpest.errors import InvalidInput
from dpest.inputs.pairs import Pair, pattern_pairs
from dpest.lang.run import shown


class Adjacency(Enum):
    """Which two inputs a claim of privacy is about."""

    L1 = "l1"  # one coordinate changes by 1
    LINF = "linf"  # every coordinate changes by at most 1
    VALUES = "any two values"
    COUNTS = "counts that differ by 1"


class Mechanism(Protocol):
    """A randomised function of its data, with the function that gives the law of its output."""

    __name__: str
    __doc__: str | None
    _dist_func: Callable[..., Any]

    def __call__(self, data: Any, *args: Any, **params: Any) -> Any:
        """One run of the mechanism: random values inside a trace, new draws outside."""


@dataclass(frozen=True)
class Algorithm:
    """One algorithm of the literature, with its claim and whether the claim is true."""

    name: str
    function: Mechanism
    paper: str
    adjacency: Adjacency
    n: int  # how many coordinates its input has by default; for a count, its largest value
    claim: float  # the loss that is claimed for the default parameters and n
    claim_true: bool
    flaw: str = ""  # what goes wrong where the claim is false

    @property
    def title(self) -> str:
        """What it does, in one sentence."""
        return (self.function.__doc__ or "").strip().splitlines()[0]

    def pairs(self, n: int | None = None, adjacency: str | None = None) -> list[Pair]:
        """The pairs of adjacent inputs that it is looked at with; "l1" or "linf" asks for another adjacency than its own."""
        size = self.n if n is None else n
        if adjacency is not None:
            return pattern_pairs(size, adjacency)
        match self.adjacency:
            case Adjacency.LINF:
                return pattern_pairs(size, "linf")
            case Adjacency.L1 | Adjacency.VALUES:
                return pattern_pairs(size, "l1")
            case Adjacency.COUNTS:
                return [Pair(f"{count} and {count - 1}", count, count - 1) for count in range(size, 0, -1)]

    def all_inputs(self, n: int | None = None) -> dict[str, Any]:
        """What `dpest.prove` is asked about it: keywords that name the adjacent inputs of its claim."""
        size = self.n if n is None else n
        match self.adjacency:
            case Adjacency.LINF | Adjacency.L1:
                return {"n": size, "adjacency": self.adjacency.value}
            case Adjacency.VALUES:
                # Twelve values have two whose bits do not meet, and no pair is further apart.
                return {"n": 1, "adjacency": "replace", "domain": range(12)}
            case Adjacency.COUNTS:
                return {"adjacency": "l1", "domain": range(size + 1)}


def auto_dist(function: Callable[..., Any]) -> Mechanism:
    """Check the parameters of an algorithm, and give it `_dist_func`: its input -> the law of its output."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def mechanism(data: Any, *args: Any, **params: Any) -> Any:
        if args or params:
            given = signature.bind(data, *args, **params).arguments
            _check(function.__name__, dict(list(given.items())[1:]))  # all but the data
        return function(data, *args, **params)

    @functools.wraps(function)
    def dist(data: Any, *args: Any, **params: Any) -> Any:
        from dpest.doors.compile import compile

        return compile(lambda x: mechanism(x, *args, **params))(data)

    dist.__name__ = dist.__qualname__ = f"{function.__name__}_dist"
    result = cast(Mechanism, mechanism)
    result._dist_func = dist
    return result


def _check(name: str, arguments: dict[str, Any]) -> None:
    """Parameters that every algorithm reads alike: positive budgets, a positive whole number of passes."""
    for key in ("eps", "eps_each"):
        eps = arguments.get(key)
        if eps is not None and not (isinstance(eps, Real) and 0 < float(eps) < float("inf")):
            raise InvalidInput(f"{name} needs a finite {key} > 0, got {key}={shown(eps)}")
    passes = arguments.get("c", 1)
    if not (isinstance(passes, Integral) and int(passes) >= 1):
        raise InvalidInput(f"{name} stops after c passes, a whole number >= 1, got c={shown(passes)}")


def only_value(data: Any) -> Any:
    """The number in an input of one coordinate, given as it is or in a list."""
    if not hasattr(data, "__len__"):
        return data
    if len(data) != 1:
        raise InvalidInput(f"this mechanism takes one value, got {len(data)}: {data!r}")
    return data[0]
