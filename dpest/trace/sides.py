"""Which `if` statements can have both sides worked out: sides that only give values to plain places, and do nothing else.

Read on the syntax tree. What this cannot see (what a name stands for, what a call does) is checked when the sides are
worked out, by the functions of `together`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

_EXPRESSIONS = (
    ast.Constant, ast.Name, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Call, ast.Attribute, ast.Subscript,
    ast.Slice, ast.Tuple, ast.List, ast.ListComp,
)  # fmt: skip
_PARTS = (ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context, ast.keyword, ast.comprehension)


class PlaceKind(Enum):
    """What is given a value."""

    NAME = "x = ..."
    ITEM = "x[i] = ..."
    APPEND = "x.append(...)"


@dataclass(frozen=True)
class AssignedPlace:
    """One place that a side gives a value to, and the name that it has while the sides are worked out."""

    kind: PlaceKind
    name: str  # of the variable, or of the container
    text: str  # what tells it from others
    target: ast.expr  # where the value goes

    @property
    def inside(self) -> str:
        """The place's name inside a side."""
        return self.name if self.kind is PlaceKind.NAME else f"_dpest_{self.kind.name.lower()}_{self.name}"


@dataclass(frozen=True)
class Assignments:
    """What the sides of an `if` do: which places get values, which of them by `+=` and the like, and which names are read."""

    places: tuple[AssignedPlace, ...]
    changed: frozenset[str]
    reads: tuple[str, ...]


def is_plain(node: ast.expr) -> bool:
    """Whether an expression has no statement-like parts: no `yield`, no `:=`, no function of its own."""
    return all(isinstance(x, (*_EXPRESSIONS, *_PARTS)) for x in ast.walk(node))


def sides_of(node: ast.If, fixed: frozenset[str]) -> Assignments | None:
    """What both sides do; None where that is more than giving values. `fixed` are names that belong to another scope."""
    found = _Assigned()
    if not all(found.block(block) for block in (node.body, node.orelse)) or not found.places:
        return None
    places = tuple(found.places.values())
    assigned = {p.name for p in places if p.kind is PlaceKind.NAME}
    containers = [p.name for p in places if p.kind is not PlaceKind.NAME]
    if assigned & fixed or assigned & {*containers} or len({*containers}) < len(containers):
        return None
    statements = [*node.body, *node.orelse]
    if any(_mentions(statements, p) for p in places if p.kind is not PlaceKind.NAME):
        return None
    if any(_names(p.target.slice) & assigned for p in places if isinstance(p.target, ast.Subscript)):
        return None
    return Assignments(places, frozenset(found.changed), reads(statements, assigned | {*containers}))


class _Assigned:
    """The places of some statements, in the order in which they are met."""

    def __init__(self) -> None:
        self.places: dict[str, AssignedPlace] = {}
        self.changed: set[str] = set()

    def block(self, statements: Sequence[ast.stmt]) -> bool:
        appended: list[str] = []
        for x in statements:
            if not self._statement(x):
                return False
            now = _appends(x)
            if now & {*appended}:
                return False  # two values for one list, one after the other
            appended += now
        return True

    def _statement(self, node: ast.stmt) -> bool:
        match node:
            case ast.Pass() | ast.Expr(value=ast.Constant()):
                return True
            case ast.Assign(targets=targets, value=value):
                return is_plain(value) and all(self._target(t) for t in targets)
            case ast.AnnAssign(target=ast.Name() as target, value=ast.expr() as value):
                return is_plain(value) and self._target(target)
            case ast.AugAssign(target=target, value=value):
                self.changed.add(ast.dump(_loaded(target)))
                return is_plain(value) and not isinstance(target, ast.Tuple) and self._target(target)
            case ast.If(test=test, body=body, orelse=orelse):
                return is_plain(test) and self.block(body) and self.block(orelse)
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append"), args=[value], keywords=[])):
                target = ast.Name(name, ast.Load())
                self.places.setdefault(f"append {name}", AssignedPlace(PlaceKind.APPEND, name, f"append {name}", target))
                return is_plain(value)
            case _:
                return False

    def _target(self, target: ast.expr) -> bool:
        match target:
            case ast.Name(id=name):
                place = AssignedPlace(PlaceKind.NAME, name, ast.dump(_loaded(target)), target)
            case ast.Subscript(value=ast.Name(id=name), slice=index) if _is_index(index):
                place = AssignedPlace(PlaceKind.ITEM, name, ast.dump(_loaded(target)), target)
            case ast.Tuple(elts=elements):
                return all(isinstance(x, ast.Name) and self._target(x) for x in elements)
            case _:
                return False
        self.places.setdefault(place.text, place)
        return True


def _appends(node: ast.stmt) -> set[str]:
    return {
        x.value.func.value.id
        for x in ast.walk(node)
        if isinstance(x, ast.Expr)
        and isinstance(x.value, ast.Call)
        and isinstance(x.value.func, ast.Attribute)
        and isinstance(x.value.func.value, ast.Name)
    }


def _is_index(node: ast.expr) -> bool:
    return all(
        isinstance(
            x, ast.Constant | ast.Name | ast.BinOp | ast.UnaryOp | ast.Tuple | ast.operator | ast.unaryop | ast.expr_context
        )
        for x in ast.walk(node)
    )


def _loaded(node: ast.expr) -> ast.expr:
    """The same place, read."""
    match node:
        case ast.Name(id=name):
            return ast.Name(name, ast.Load())
        case ast.Subscript(value=value, slice=index):
            return ast.Subscript(value, index, ast.Load())
        case _:
            return node


def is_place(node: ast.AST, place: AssignedPlace) -> bool:
    """Whether a subscript is this place."""
    return place.kind is PlaceKind.ITEM and isinstance(node, ast.Subscript) and ast.dump(_loaded(node)) == place.text


def _mentions(statements: Sequence[ast.stmt], place: AssignedPlace) -> bool:
    """Whether a container is used in any other way than by its place."""
    used = sum(1 for s in statements for x in ast.walk(s) if isinstance(x, ast.Name) and x.id == place.name)
    if place.kind is PlaceKind.APPEND:
        meant = sum(1 for s in statements for x in ast.walk(s) if isinstance(x, ast.Expr) and _appends(x) == {place.name})
    else:
        meant = sum(1 for s in statements for x in ast.walk(s) if is_place(x, place))
    return used != meant


def _names(node: ast.AST) -> set[str]:
    return {x.id for x in ast.walk(node) if isinstance(x, ast.Name)}


def reads(statements: Sequence[ast.stmt], given: set[str]) -> tuple[str, ...]:
    """The names whose values the sides compute with; what is called, or asked for an attribute, is looked at there."""
    inner = {y.id for s in statements for x in ast.walk(s) if isinstance(x, ast.comprehension) for y in _stores(x.target)}
    found = {x.id for s in statements for x in _operands(s) if isinstance(x.ctx, ast.Load)}
    return tuple(sorted(found - inner - given))


def _stores(node: ast.AST) -> Iterator[ast.Name]:
    yield from (x for x in ast.walk(node) if isinstance(x, ast.Name))


def _operands(node: ast.AST) -> Iterator[ast.Name]:
    if isinstance(node, ast.Name):
        yield node
        return
    for x in ast.iter_child_nodes(node):
        called = isinstance(node, ast.Call) and x is node.func
        if isinstance(x, ast.Name) and (called or isinstance(node, ast.Attribute)):
            continue
        if called and isinstance(x, ast.Attribute) and isinstance(x.value, ast.Name):
            continue
        yield from _operands(x)
