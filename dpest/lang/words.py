"""Values of the graph as their author would write them."""

from __future__ import annotations

from typing import Any, assert_never

from dpest.inputs.shown import affine_text
from dpest.lang.nodes import (
    All,
    Apply,
    ArgExtreme,
    Compare,
    Draw,
    Extreme,
    Function,
    Linear,
    Not,
    Product,
    Quotient,
    Ranked,
    Rounded,
    Where,
    is_node,
)


def words(x: Any, depth: int = 4) -> str:
    """A node in Python-like words, cut off at a depth."""
    if not is_node(x):
        return f"{x:g}" if isinstance(x, float) else repr(x)
    if depth == 0:
        return "..."

    def inner(y: Any) -> str:
        return words(y, depth - 1)

    match x:
        case Draw(law=law):
            return law.words()
        case Linear(terms=terms, constant=constant):
            return affine_text([(c, inner(n)) for n, c in terms], constant, " * ")
        case Compare(relation=relation, value=value):
            return f"{inner(value)} {relation.value} 0"
        case Not(value=value):
            return f"not ({inner(value)})"
        case All(values=values):
            return " and ".join(f"({inner(v)})" for v in values)
        case Where(condition=condition, yes=yes, no=no):
            return f"where({inner(condition)}, {inner(yes)}, {inner(no)})"
        case Extreme(pick=pick, values=values):
            return f"{pick.value}({_list(values, inner)})"
        case ArgExtreme(pick=pick, values=values):
            return f"arg{pick.value}({_list(values, inner)})"
        case Ranked(pick=pick, values=values, rank=rank, place=place):
            return f"{'arg' if place else ''}{pick.value} number {rank + 1} of ({_list(values, inner)})"
        case Rounded(rounding=rounding, value=value):
            return f"{rounding.value}({inner(value)})"
        case Function(value=value, call=call):
            return f"{getattr(call, '__name__', x.function.kind.value)}({inner(value)})"
        case Product(left=left, right=right):
            return f"({inner(left)}) * ({inner(right)})"
        case Quotient(left=left, right=right):
            return f"({inner(left)}) / ({inner(right)})"
        case Apply(function=function, values=values):
            return f"{getattr(function, '__name__', 'function')}({_list(values, inner)})"
        case _:
            assert_never(x)


def _list(values: tuple[Any, ...], inner: Any) -> str:
    shown = [inner(v) for v in values[:4]]
    return ", ".join(shown + (["..."] if len(values) > 4 else []))
