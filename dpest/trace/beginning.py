"""The beginnings of a function, up to where it does not look at its data any more.

What the rest of a function works out of the values that it is handed, with noise of its own, tells no more than they do. So the
loss of a beginning that returns these values is an upper bound for the function, whatever the rest does: loops without end,
functions of libraries, conditions that nobody can take apart.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import FunctionType
from typing import Any

from dpest.lang.generators.places import is_authors
from dpest.lang.generators.standins import StandIn
from dpest.lang.generators.swap import missing
from dpest.trace import source
from dpest.trace.effects import Scope, assigned, keep_to_themselves, names_in, new_objects, outside
from dpest.trace.syntax import load, tuple_of

_PLAIN = (bool, int, float, str, type(None))
HANDED_ON, RETURNED = "handed on", "returned"  # which of the two a beginning does


def beginnings(mechanism: Callable[..., Any], params: Mapping[str, Any]) -> Iterator[Callable[..., Any]]:
    """The mechanism up to each of its statements, with what the rest of it reads as its output.

    The latest come first, of which least is told; but those with a loop that may be long come last.
    """
    node = source.node_of(mechanism.__code__) if type(mechanism) is FunctionType else None
    if not isinstance(node, ast.FunctionDef) or mechanism.__code__.co_flags & 0x20:
        return
    assert isinstance(mechanism, FunctionType)
    loops = [any(isinstance(x, ast.While) for x in ast.walk(s)) for s in node.body]
    for at in sorted(range(1, len(node.body)), key=lambda k: (any(loops[:k]), -k)):
        names = _handed_on(mechanism, node, at, params)
        cut = None if names is None else source.with_body(mechanism, partial(_cut, at=at, names=names))
        if cut is not None:
            yield cut


def _handed_on(function: FunctionType, node: ast.FunctionDef, at: int, params: Mapping[str, Any]) -> list[str] | None:
    """The names that carry what the first statements worked out; None where those do more than that, or data goes on as it is."""
    first, rest = node.body[:at], node.body[at:]
    arguments = [*node.args.posonlyargs, *node.args.args]
    if not arguments or node.args.vararg or node.args.kwarg:
        return None
    data = arguments[0].arg
    given = {name for name, _ in assigned(first)}
    read = {x.id for s in rest for x in ast.walk(s) if isinstance(x, ast.Name)}
    changed = {x.target.id for s in first for x in ast.walk(s) if isinstance(x, ast.AugAssign) and isinstance(x.target, ast.Name)}
    if data in read - given - changed:
        return None
    others = {name: x for name, x in _given(function, params).items() if name != data}
    if any(is_authors(type(x)) and not isinstance(x, StandIn) for x in others.values()):
        return None  # an object of the author's may keep what it is asked for
    generators = (frozenset(missing(function, params)) - given) | _made_generators(first)
    # The data are nobody else's; and a number that was given as a parameter is not changed by `+=`.
    new = new_objects(first, {data, *(name for name, x in others.items() if isinstance(x, _PLAIN))})
    alone = keep_to_themselves(first, Scope(outside(function), names_in(node), new, generators))
    return sorted((read & (given | changed | {data})) - generators) if alone else None


def _made_generators(statements: Sequence[ast.stmt]) -> frozenset[str]:
    """The names of generators that are made without a seed, and of nothing else."""
    found: dict[str, bool] = {}
    for name, value in assigned(statements):
        made = isinstance(value, ast.Call) and not value.args and not value.keywords and isinstance(value.func, ast.Attribute)
        found[name] = found.get(name, True) and made and value.func.attr == "default_rng"  # type: ignore[union-attr]
    return frozenset(name for name, made in found.items() if made)


def _given(function: FunctionType, params: Mapping[str, Any]) -> dict[str, Any]:
    """The values of the parameters, defaults included."""
    code = function.__code__
    names = code.co_varnames[: code.co_argcount]
    defaults = function.__defaults__ or ()
    return {**dict(zip(names[len(names) - len(defaults) :], defaults, strict=True)), **(function.__kwdefaults__ or {}), **params}


def _cut(node: source.FunctionNode, at: int, names: Sequence[str]) -> source.FunctionNode:
    """The function that returns the values of some names in front of a statement; behind that nothing is reached."""
    assert isinstance(node, ast.FunctionDef)
    first = [_Marked().visit(x) for x in node.body[:at]]
    end = ast.Return(tuple_of([ast.Constant(HANDED_ON), *map(load, names)]))
    node.body = [*first, ast.copy_location(end, node.body[at]), *node.body[at:]]
    return node


class _Marked(ast.NodeTransformer):
    """Marks what a function returns in front of the cut, so that nothing that is handed on equals it."""

    def visit_Return(self, node: ast.Return) -> ast.Return:
        value = ast.Constant(None) if node.value is None else node.value
        return ast.copy_location(ast.Return(tuple_of([ast.Constant(RETURNED), value])), node)

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        return node
