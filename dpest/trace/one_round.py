"""One round of a loop, followed by itself: the ways through it, and what each hands on to the next round."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import CellType, FunctionType, ModuleType
from typing import Any

from dpest.errors import DpestError
from dpest.lang.dist import Dist, wrap
from dpest.lang.generators.places import is_authors
from dpest.lang.generators.standins import StandIn
from dpest.lang.nodes import Draw, draws_of, linear, simplified
from dpest.lang.plain import evaluate
from dpest.lang.substitute import substituted
from dpest.laws.law import Discrete
from dpest.numerics.rationals import exact
from dpest.trace.effects import Scope, keep_to_themselves
from dpest.trace.execute import returned
from dpest.trace.functions import NotFinite
from dpest.trace.limits import Limits
from dpest.trace.literal import Literal
from dpest.trace.outputs import Flat
from dpest.trace.replay import UNBOUND, Unusual
from dpest.trace.resolve import affine

MOST_WAYS = 12  # that a round may take, but for its end: as many times it is followed again
_LIMITS = Limits(paths=8 * MOST_WAYS, decisions=1_000, forks=0, work=20_000)
Key = tuple[Any, Any, bool]  # a condition, in a form in which equal ones are equal
Kept = tuple[Any, ...]
PLAIN = (bool, int, float, str, type(None))


@dataclass(frozen=True)
class RoundWay:
    """One way through a round: its conditions, whether the loop ends, what it hands on, and that as nodes."""

    literals: tuple[Literal, ...]
    ended: bool
    kept: Kept
    flat: Flat

    @cached_property
    def keys(self) -> frozenset[Key]:
        """Its conditions."""
        return frozenset(x.direction for x in self.literals)

    def without(self, draw: Draw | None) -> RoundWay:
        """Without the conditions on a draw."""
        return self if draw is None else replace(self, literals=tuple(x for x in self.literals if x.terms[0][0] is not draw))


def changes_nothing(step: FunctionType, text: str) -> bool:
    """Whether a round changes nothing but its own variables."""
    held = {name: held_in(cell) for name, cell in zip(step.__code__.co_freevars, step.__closure__ or (), strict=True)}
    read = _Attributes(held)
    tree, free = read.visit(ast.parse(text)), read.free
    called = {name: x for name, x in free.items() if isinstance(x, FunctionType | ModuleType)}
    local = frozenset({*step.__code__.co_varnames, *step.__code__.co_cellvars, *free} - {*called})
    generators = frozenset(name for name, x in free.items() if isinstance(x, StandIn))
    scope = Scope({**step.__globals__, **called}, local, frozenset(), generators)
    used = {x.id for x in ast.walk(tree) if isinstance(x, ast.Name)}
    return not any(is_an_object(x) for name, x in free.items() if name in used) and keep_to_themselves(tree.body, scope)


class _Attributes(ast.NodeTransformer):
    """Attributes of the author's objects as free names with their values: `self.stop` is one, `self.draw()` is none."""

    def __init__(self, free: Mapping[str, Any]) -> None:
        self.free = dict(free)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=attr, ctx=ast.Load()) if is_an_object(self.free.get(name)):
                self.free[f"{name}.{attr}"] = _attribute(self.free[name], attr)
                return ast.Name(f"{name}.{attr}", ast.Load())
        return node


def is_an_object(x: Any) -> bool:
    """Whether a value is an instance of a class of the author's."""
    return is_authors(type(x)) and not isinstance(x, StandIn)


def _attribute(x: Any, attr: str) -> Any:
    """The value of an attribute that is kept in an object, and by no code."""
    kind = type(x)
    own_ways = any("__getattribute__" in vars(c) for c in kind.__mro__[:-1])
    worked_out = own_ways or hasattr(getattr(kind, attr, None), "__get__")
    if worked_out or attr not in (own := getattr(x, "__dict__", {})):
        raise Unusual
    return own[attr]


def held_in(cell: CellType) -> Any:
    """The value of a variable that a round reads."""
    try:
        return cell.cell_contents
    except ValueError:
        raise Unusual from None  # it has none yet


def followed(step: Callable[..., Any], held: Kept, table: dict[tuple[int, Any], Draw]) -> list[RoundWay]:
    """All ways through a round; the k-th draw of one law is the same in all of them."""
    from dpest.trace.explore import explored  # which runs the code that leads here
    from dpest.trace.forks import TraceRun

    outputs: dict[int, tuple[Flat, Any]] = {}

    def program(run: Any) -> Flat:
        raw: list[Any] = []

        def one(_: Any) -> Any:
            raw.append(step(*held))
            return raw[0]

        found = returned(run, one, None, {})
        outputs[id(found)] = found, raw[0]
        return found

    traced = explored(program, _LIMITS, None, TraceRun)
    if traced.cycles or traced.log_unexplored > -math.inf or any(path.guards for path in traced.paths):
        raise Unusual
    return [_way(path, outputs[id(path.output)][1], table) for path in traced.paths]


def _way(path: Any, output: Any, table: dict[tuple[int, Any], Draw]) -> RoundWay:
    places = {id(d): k for k, d in enumerate(path.drawn)}

    def own(d: Draw) -> Draw:
        return _first_of_kind(d, places, table)

    met = [x for step in path.steps for x in step]
    literals = tuple(Literal(tuple((own(d), c) for d, c in x.terms), x.constant) for x in met)

    def known(node: Any) -> Any:
        simple = _without_functions(node)
        return _pinned(substituted(simple, {id(d): own(d) for d in noise_of(simple)}), literals)

    ended, kept = output
    kept = mapped(kept, known)
    return RoundWay(literals, ended, kept, flat(kept))


def _first_of_kind(d: Draw, places: Mapping[int, int], table: dict[tuple[int, Any], Draw]) -> Draw:
    """The draw, or the function of one, that was the first to be made at this place of a round."""
    if id(d) in places:
        return table.setdefault((places[id(d)], d.law), d)
    made = d.origin
    if made is None or id(made.base) not in places:
        return d
    function = made.factor, made.offset, made.function, made.coefficient, made.constant
    return table.setdefault((places[id(made.base)], (d.law, function)), d)


class _NothingIsAsked:
    """Raises where a value depends on which way a condition goes."""

    def __call__(self, literal: Literal) -> bool:
        raise Unusual

    def choose(self, options: Sequence[tuple[Literal, ...]]) -> int:
        raise Unusual


def _without_functions(node: Any) -> Any:
    """A value with noise that was made by hand as draws of their own, where no condition decides what it is."""
    if all(isinstance(n, Draw) for n, _ in linear(node).terms):
        return node
    try:
        return simplified(affine(node, _NothingIsAsked()))
    except (Unusual, DpestError, NotFinite):
        return node


def noise_of(node: Any) -> list[Draw]:
    """The draws that a value is made of; noise that was made by hand is one, and what it was made of is none."""
    terms = linear(node).terms
    direct = [n for n, _ in terms if isinstance(n, Draw)]
    return direct if len(direct) == len(terms) else draws_of(node)


def mapped(x: Any, change: Callable[[Any], Any]) -> Any:
    """Values inside tuples and lists changed, random ones as their nodes."""
    if isinstance(x, Dist):
        return wrap(change(x.node))
    if type(x) in (tuple, list):
        return type(x)(mapped(v, change) for v in x)
    if type(x) not in PLAIN and x is not UNBOUND:
        raise Unusual
    return x


def flat(x: Any) -> Flat:
    """The nodes and constants of what is handed on; a name without a value counts as a constant of its own."""
    leaves: list[Any] = []

    def shape(v: Any) -> Any:
        if type(v) in (tuple, list):
            return (type(v), *map(shape, v))
        leaves.append(v.node if isinstance(v, Dist) else None if v is UNBOUND else v)
        return None if isinstance(v, Dist) else type(v)

    return Flat(shape(x), tuple(leaves))


def _pinned(node: Any, literals: Sequence[Literal]) -> Any:
    """A value with the draws that conditions leave one point replaced by it."""
    points = {id(d): p for d in draws_of(node) if isinstance(d.law, Discrete) and (p := _point(d, literals)) is not None}
    return evaluate(node, points) if points and all(id(d) in points for d in draws_of(node)) else node


def _point(draw: Draw, literals: Sequence[Literal]) -> Any:
    """The one point of a draw at which conditions on it hold; None where there are several."""
    own = [x for x in literals if len(x.terms) == 1 and x.terms[0][0] is draw]
    law = draw.law
    if not own or not getattr(law, "finite", False):
        return None
    assert isinstance(law, Discrete)
    found = [x for x in law.window(-math.inf)[0].tolist() if all(_holds(literal, x) for literal in own)]
    return None if len(found) != 1 else int(found[0]) if law.integral else found[0]


def _holds(literal: Literal, x: float) -> bool:
    ((_, c),) = literal.terms
    return bool(c * exact(x) + literal.constant >= 0)
