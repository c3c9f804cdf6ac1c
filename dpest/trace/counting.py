"""Loops that only count: how often a coin that is tossed anew in each round comes up is one draw, whatever the count.

`while random.random() < p: k += 1` adds to k the number of rounds, which is geometric. Read on the syntax tree: the test
must not see the count, and the loop must do nothing else. What the test is made of is looked at when it is met.
"""

from __future__ import annotations

import ast
import copy
import math
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpest.lang.dist import RUN, Dist, truth
from dpest.lang.functions import ceil, floor, maximum
from dpest.lang.generators.draws import geometric
from dpest.lang.logic import sign
from dpest.lang.nodes import Compare, Draw, Not, Relation, Where, is_integral
from dpest.lang.plain import Undetermined, evaluate
from dpest.laws.discrete import Whole
from dpest.laws.law import Continuous, Discrete, Law
from dpest.numerics.rationals import Rational, exact
from dpest.numerics.setting import Setting
from dpest.trace.replay import Unusual
from dpest.trace.sides import is_plain
from dpest.trace.syntax import ask, if_known, load, thunk

_MOST_POINTS = 10_000  # of a whole number that is drawn in a test: each is looked at, in about a microsecond
_NUMBERS = (int, float, np.int64, np.float64)  # of a count: numbers that `+=` replaces, and that are wide enough for it
_MANY_ROUNDS = 2**40  # days of any program
_OFF = 1e-13  # relative: what SciPy's laws are known to is ten times that


@dataclass(frozen=True)
class Counting:
    """A loop that counts: its test, whether it goes on where the test holds, what each round adds, and how it ends."""

    test: ast.expr
    goes_on: bool
    name: str
    step: ast.expr
    first: bool  # whether the round in which the loop ends counts too
    ends: list[ast.stmt]


def counting(node: ast.While, elsewhere: Callable[[str], bool]) -> Counting | None:
    """What a loop counts; None where it does anything else. `elsewhere` says whether a name is read outside the loop."""
    if node.orelse:
        return None
    forever = isinstance(node.test, ast.Constant) and bool(node.test.value)
    match _without_names([_added(x) for x in node.body], elsewhere):
        case [ast.AugAssign() as add] if not forever:
            return _checked(_unnamed(node.test, elsewhere), True, add, False, [])
        case [ast.If(test=test, body=[ast.Break() | ast.Return() as end], orelse=[]), ast.AugAssign() as add] if forever:
            return _checked(test, False, add, False, [end])
        case [ast.AugAssign() as add, ast.If(test=test, body=[ast.Break() | ast.Return() as end], orelse=[])] if forever:
            return _checked(test, False, add, True, [end])
        case [ast.If(test=test, body=[ast.AugAssign() as add], orelse=[ast.Break() | ast.Return() as end])] if forever:
            return _checked(test, True, add, False, [end])
        case [ast.If(test=test, body=[ast.Break() | ast.Return() as end], orelse=[ast.AugAssign() as add])] if forever:
            return _checked(test, False, add, False, [end])
    return None


@dataclass(frozen=True)
class Climbing:
    """A loop that counts up to a bound that it does not change: it goes on while the name is below, or not above, the bound."""

    name: str
    step: int
    bound: ast.expr
    strict: bool


_STILL = (ast.Name, ast.Constant, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.Load)  # nothing that runs code again


def climbing(node: ast.While) -> Climbing | None:
    """How a loop counts up to a bound, `while z > k: k += 1`; None where it does anything else."""
    match [_added(x) for x in node.body], node.test, node.orelse:
        case [ast.AugAssign(target=ast.Name(id=name), op=ast.Add(), value=ast.Constant(value=step))], ast.Compare() as test, []:
            pass
        case _:
            return None
    if type(step) is not int or step < 1 or len(test.ops) != 1:
        return None
    sides, op = [test.left, test.comparators[0]], test.ops[0]
    if isinstance(op, ast.Gt | ast.GtE):
        sides.reverse()
    elif not isinstance(op, ast.Lt | ast.LtE):
        return None
    low, bound = sides
    own = isinstance(low, ast.Name) and low.id == name and not _loads(bound)[name]
    still = own and all(isinstance(x, _STILL) for x in ast.walk(bound))
    return Climbing(name, step, bound, isinstance(op, ast.Lt | ast.Gt)) if still else None


def climbed(bound: Dist, start: int, step: int, strict: bool) -> Any:
    """Where a loop that counts from a number to a bound ends."""
    gap = bound - start
    if step == 1 and is_integral(bound.node):
        rounds = gap if strict else gap + 1
    else:
        rounds = ceil(gap / step) if strict else floor(gap / step) + 1
    return start + step * maximum(0, rounds)


def _added(node: ast.stmt) -> ast.stmt:
    """k = k + 1 as k += 1, also inside an `if`."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name) as target], value=ast.BinOp(left=ast.Name(id=same), op=ast.Add(), right=step)):
            return ast.AugAssign(target, ast.Add(), step) if name == same else node
        case ast.Assign(targets=[ast.Name(id=name) as target], value=ast.BinOp(left=step, op=ast.Add(), right=ast.Name(id=same))):
            return ast.AugAssign(target, ast.Add(), step) if name == same else node
        case ast.Assign(targets=[ast.Name(id=name) as target], value=ast.BinOp(left=ast.Name(id=same), op=ast.Sub(), right=step)):
            return _added(ast.AugAssign(target, ast.Sub(), step)) if name == same else node
        case ast.AugAssign(target=target, op=ast.Sub(), value=ast.Constant(value=int() | float() as number)):
            return ast.AugAssign(target, ast.Add(), ast.Constant(-number))
        case ast.If(test=test, body=body, orelse=orelse):
            return ast.If(test, [_added(x) for x in body], [_added(x) for x in orelse])
    return node


def _without_names(body: list[ast.stmt], elsewhere: Callable[[str], bool]) -> list[ast.stmt]:
    """u = random.random(); if u > p: ... as if random.random() > p: ..., where u is read there and nowhere else."""
    match body:
        case [ast.Assign(targets=[ast.Name(id=name)], value=value), ast.If() as choice, *rest] if not elsewhere(name):
            others = [*choice.body, *choice.orelse, *rest]
            if _loads(choice.test)[name] == 1 and not any(_loads(x)[name] for x in (*others, value)):
                return [ast.If(_Put(name, value).visit(copy.deepcopy(choice.test)), choice.body, choice.orelse), *rest]
        case [ast.If() as choice, *rest]:
            return [ast.If(_unnamed(choice.test, elsewhere), choice.body, choice.orelse), *rest]
        case [first, ast.If() as choice]:
            return [first, ast.If(_unnamed(choice.test, elsewhere), choice.body, choice.orelse)]
    return body


def _unnamed(test: ast.expr, elsewhere: Callable[[str], bool]) -> ast.expr:
    """A test without the names that it gives to values (`:=`) and that nothing reads."""
    names = [x.target.id for x in ast.walk(test) if isinstance(x, ast.NamedExpr)]
    if not names or any(elsewhere(name) or _loads(test)[name] for name in names):
        return test
    unnamed: ast.expr = _Unnamed().visit(copy.deepcopy(test))
    return unnamed


def _loads(node: ast.AST) -> Counter[str]:
    """How often names are read."""
    return Counter(x.id for x in ast.walk(node) if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Load))


def read_outside(function: ast.AST, node: ast.AST) -> Callable[[str], bool]:
    """Whether a name is read in a function outside of a part of it."""
    everywhere, inside = _loads(function), _loads(node)
    return lambda name: everywhere[name] > inside[name]


class _Put(ast.NodeTransformer):
    """Puts an expression in the place of a name."""

    def __init__(self, name: str, value: ast.expr) -> None:
        self.name, self.value = name, value

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return self.value if node.id == self.name else node


class _Unnamed(ast.NodeTransformer):
    """Leaves out `name :=`."""

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.AST:
        inner: ast.AST = self.visit(node.value)
        return inner


def _checked(test: ast.expr, goes_on: bool, add: ast.AugAssign, first: bool, ends: list[ast.stmt]) -> Counting | None:
    if not (isinstance(add.target, ast.Name) and isinstance(add.op, ast.Add) and isinstance(add.value, ast.Constant)):
        return None
    if not isinstance(add.value.value, int | float) or not is_plain(test):
        return None
    seen = {x.id for x in ast.walk(test) if isinstance(x, ast.Name)}
    kept: list[ast.stmt] = [x for x in ends if isinstance(x, ast.Return)]
    return None if add.target.id in seen else Counting(test, goes_on, add.target.id, add.value, first, kept)


class Tosses:
    """Stands for the run while a test is looked at: its draws are its own, and nothing is decided."""

    def __init__(self) -> None:
        self.made: list[Draw] = []

    def draw(self, law: Law) -> Draw:
        """A draw of the test."""
        self.made.append(Draw(law))
        return self.made[-1]

    def decide(self, condition: Any) -> bool:
        """A test that needs a plain truth value is no single toss."""
        raise Unusual

    def attempt(self, sides: Callable[[], Any]) -> Any:
        """What both sides of a condition come to; where they do not come together, the test is no single toss."""
        return sides()

    def inside(self, condition: Any, holds: bool) -> AbstractContextManager[None]:
        """A side of a condition, whose draws are draws of the test as well."""
        return nullcontext()


def counted_on(start: Any, step: int | float, rounds: Any) -> Any:
    """Where a count is after some rounds; raises `Unusual` where adding step by step rounds, or changes an array in place."""
    random = isinstance(start, Dist)
    if not (is_integral(start.node) and type(step) is int if random else type(start) in _NUMBERS and _adds_exactly(start, step)):
        raise Unusual
    return start + step * rounds


def _adds_exactly(start: int | float, step: int | float) -> bool:
    """Whether sums of doubles stay what they are in real arithmetic, for as many rounds as any program goes through."""
    if isinstance(start, int | np.int64) and isinstance(step, int):
        return True
    if not (math.isfinite(start) and math.isfinite(step)):
        return False
    first, more = exact(start), exact(step)
    return bool(abs(first) + abs(more) * _MANY_ROUNDS <= Rational(2**53, max(first.denominator, more.denominator)))


def as_counted(found: Counting, name: str, test: ast.expr, loop: ast.While, ends: list[ast.stmt]) -> list[ast.stmt]:
    """A loop that counts: as one draw where it can be had, and else as it was written."""
    count = (load(found.name), copy.deepcopy(found.step), ast.Constant(int(found.first)))
    counted = ast.Assign([ast.Name(found.name, ast.Store())], load(name))
    return if_known(name, ask("counted_rounds", *count, thunk(test), ast.Constant(found.goes_on)), [counted, *ends], loop)


def as_climbed(found: Climbing, name: str, bound: ast.expr, loop: ast.While) -> list[ast.stmt]:
    """A loop that counts up to a bound: the place where it ends where that can be had, and else as it was written."""
    asked = ask("climbed", bound, load(found.name), ast.Constant(found.step), ast.Constant(found.strict))
    return if_known(name, asked, [ast.Assign([ast.Name(found.name, ast.Store())], load(name))], loop)


def rounds(test: Callable[[], Any], goes_on: bool) -> Any:
    """How many rounds a loop goes through before the one in which it ends, as one draw; raises `Unusual` for other tests."""
    tosses = Tosses()
    with Setting(RUN, tosses):
        found = test()
    if not isinstance(found, Dist) or len(tosses.made) != 1:
        raise Unusual
    holds, fails = _chances(truth(found.node), tosses.made[0])
    going, success = (holds, fails) if goes_on else (fails, holds)
    # A geometric law knows the chance of its end alone: one that is so near to 1 that it forgets the other is not said by it.
    if not 0.0 < success < 1.0 or abs((1.0 - success) - going) > _OFF * going:
        raise Unusual
    return geometric(success) - 1


def _chances(node: Any, draw: Draw) -> tuple[float, float]:
    """The probabilities that a condition on one fresh draw holds and that it does not, each to the last digits."""
    if getattr(draw.law, "finite", False):
        return _counted(node, draw)
    if isinstance(node, Not):
        holds, fails = _chances(node.value, draw)
        return fails, holds
    if not isinstance(node, Compare) or len(node.value.terms) != 1:
        raise Unusual
    (inner, c), constant = node.value.terms[0], node.value.constant
    if isinstance(inner, Where | Compare | Not):  # a truth value counts as 1 or 0
        choice = (inner.condition, inner.yes, inner.no) if isinstance(inner, Where) else (inner, 1, 0)
        sides = tuple(zip(choice[1:], _chances(choice[0], draw), strict=True))
        return _split((_holds(node.relation, c, x, constant), p) for x, p in sides)
    if inner is not draw or not isinstance(draw.law, Continuous) or node.relation is Relation.EQ:
        raise Unusual
    bound = float(-constant / c)
    above, below = (math.exp(float(draw.law.log_interval(*ends))) for ends in ((bound, math.inf), (-math.inf, bound)))
    return (above, below) if c > 0 else (below, above)


def _split(weighed: Iterable[tuple[bool, float]]) -> tuple[float, float]:
    """The weights of what holds and of what does not."""
    known = list(weighed)
    return math.fsum(p for holds, p in known if holds), math.fsum(p for holds, p in known if not holds)


def _counted(node: Any, draw: Draw) -> tuple[float, float]:
    """The probabilities of a condition on a draw with finitely many points, each looked at as the program does."""
    low, high = draw.law.support
    if isinstance(draw.law, Whole) and high - low > _MOST_POINTS:
        raise Unusual
    assert isinstance(draw.law, Discrete)
    points, logs = draw.law.window(-math.inf)
    numbers = (int(x) if draw.law.integral else x for x in points.tolist())
    try:
        return _split((bool(evaluate(node, {id(draw): x})), math.exp(p)) for x, p in zip(numbers, logs.tolist(), strict=True))
    except Undetermined:
        raise Unusual from None


def _holds(relation: Relation, c: Rational, x: Any, constant: Rational) -> bool:
    """Whether a comparison holds where a value is a number."""
    if not isinstance(x, int | float):
        raise Unusual
    return sign(relation, c * exact(x) + constant)
