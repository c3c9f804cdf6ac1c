"""What a random value looks like, as a key that two values of the same making share."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpest.lang.nodes import (
    Apply,
    ArgExtreme,
    Compare,
    Draw,
    Extreme,
    Function,
    Linear,
    Node,
    Ranked,
    Rounded,
    children,
    draws_of,
    is_node,
)


def signature(x: Any, shared: set[int], private: dict[int, int]) -> Any:
    """What a value looks like; draws that are not shared are numbered in the order in which they are met."""
    if not is_node(x):
        # The text of a long array leaves most of it out.
        return ("constant", type(x).__name__, (x.shape, x.tobytes()) if isinstance(x, np.ndarray) else repr(x))
    if isinstance(x, Draw):
        if id(x) in shared:
            return ("shared", id(x))
        return ("private", x.law, private.setdefault(id(x), len(private)))
    return (operation(x), tuple(signature(c, shared, private) for c in children(x)))


_MOST_WRITTEN = 300  # steps of arithmetic: as many as a person writes for one value


def as_written(x: Any, shared: set[int]) -> Any:
    """What a value looks like as the author wrote its arithmetic; its own key alone where that is long."""
    private: dict[int, int] = {}
    left = _MOST_WRITTEN

    def look(y: Any) -> Any:
        nonlocal left
        left -= 1
        if left < 0:
            return ("long", id(x))
        written = getattr(y, "written", None)
        if written is None:
            return (operation(y), tuple(map(look, children(y)))) if is_node(y) and children(y) else signature(y, shared, private)
        function, operands = written
        return (function, tuple(map(look, operands)))

    return look(x)


def making(x: Any) -> Any:
    """Equal for values that are built in the same way from the same draws: replays build nodes anew."""
    return signature(x, {id(d) for d in draws_of(x)}, {})


def operation(node: Node) -> tuple[Any, ...]:
    """What is done to the values that a node is computed from."""
    match node:
        case Linear(terms=terms, constant=constant):
            return ("linear", tuple(c for _, c in terms), constant)
        case Compare(relation=relation):
            return ("compare", relation)
        case Extreme(pick=pick) | ArgExtreme(pick=pick):
            return (type(node).__name__, pick)
        case Ranked(pick=pick, rank=rank, place=place):
            return ("ranked", pick, rank, place)
        case Rounded(rounding=rounding):
            return ("rounded", rounding)
        case Function(function=function):
            return ("function", function)
        case Apply(function=function):
            return ("apply", function)
        case _:
            return (type(node).__name__,)


def written_out(node: Any, sizes: dict[int, int]) -> int:
    """How long a value is where each of its parts is written as often as it is used; `sizes` has those of living nodes."""
    if not is_node(node):
        return 0
    if id(node) not in sizes:
        sizes[id(node)] = 1 + sum(written_out(part, sizes) for part in children(node))
    return sizes[id(node)]
