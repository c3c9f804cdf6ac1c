"""What a random value looks like, as a key that two values of the same making share."""

from __future__ import annotations

from typing import Any

from dpest.lang.nodes import Apply, ArgExtreme, Compare, Draw, Extreme, Function, Linear, Ranked, Rounded, children, is_node


def signature(x: Any, shared: set[int], private: dict[int, int]) -> Any:
    """What a value looks like; draws that are not shared are numbered in the order in which they are met."""
    if not is_node(x):
        return ("constant", type(x).__name__, repr(x))
    if isinstance(x, Draw):
        if id(x) in shared:
            return ("shared", id(x))
        return ("private", x.law, private.setdefault(id(x), len(private)))
    inner = tuple(signature(c, shared, private) for c in children(x))
    match x:
        case Linear(terms=terms, constant=constant):
            return ("linear", tuple(c for _, c in terms), constant, inner)
        case Compare(relation=relation):
            return ("compare", relation, inner)
        case Extreme(pick=pick) | ArgExtreme(pick=pick):
            return (type(x).__name__, pick, inner)
        case Ranked(pick=pick, rank=rank, place=place):
            return ("ranked", pick, rank, place, inner)
        case Rounded(rounding=rounding):
            return ("rounded", rounding, inner)
        case Function(function=function):
            return ("function", function, inner)
        case Apply(function=function):
            return ("apply", function, inner)
        case _:
            return (type(x).__name__, inner)
