"""Loops that count until a product of uniform draws has fallen, or a sum of exponential ones has risen, beyond a bound.

Knuth's sampler multiplies uniform draws until their product is at most exp(-rate). The logarithms are exponential draws, and
their sums the arrivals of a Poisson process: the arrivals before the bound are one Poisson draw, and the next one ends the loop.
"""

from __future__ import annotations

import ast
import copy
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dpest.lang.dist import RUN, Dist
from dpest.lang.generators.draws import poisson
from dpest.laws.continuous import Exponential, Uniform
from dpest.numerics.setting import Setting
from dpest.trace.counting import Tosses
from dpest.trace.replay import Unusual
from dpest.trace.sides import is_plain
from dpest.trace.syntax import ask, if_known, load, thunk

_MOST = 1e6  # the rate of the Poisson draw: as many rounds as no program goes through


@dataclass(frozen=True)
class Arrivals:
    """A loop that counts arrivals: what it multiplies or adds up, until when, and what it counts."""

    level: str  # the name of the product or the sum
    step: ast.expr  # what it is multiplied by, or grows by
    falls: bool  # whether it is a product
    bound: ast.expr
    asked_first: bool  # whether the loop may end before the first step
    name: str  # what counts
    each: ast.expr  # what it grows by
    in_last: bool  # whether the round in which the loop ends counts
    ends: list[ast.stmt]


def arrivals(node: ast.While, elsewhere: Callable[[str], bool]) -> Arrivals | None:
    """What a loop counts; None where it does anything else. `elsewhere` says whether a name is read outside the loop."""
    parts = None if node.orelse else _parts(node)
    if parts is None:
        return None
    grow, count, (test, goes_on), (asked, grown, counted), ends = parts
    level, name = grow.target.id, count.target.id
    bound = _bound(test, level, isinstance(grow.op, ast.Mult) is goes_on)
    if bound is None or level == name or elsewhere(level) or not is_plain(grow.value):
        return None
    seen = {x.id for part in (bound, grow.value) for x in ast.walk(part) if isinstance(x, ast.Name)}
    if seen & {level, name} or not _is_still(bound):
        return None
    returned: list[ast.stmt] = [x for x in ends if isinstance(x, ast.Return)]
    if any(isinstance(x, ast.Name) and x.id == level for end in returned for x in ast.walk(end)):
        return None
    falls = isinstance(grow.op, ast.Mult)
    return Arrivals(level, grow.value, falls, bound, asked < grown, name, count.value, counted < asked, returned)


def _is_still(x: ast.expr) -> bool:
    """Whether an expression has one value in all rounds of a loop that does not change its names."""
    match x:
        case ast.Name() | ast.Constant():
            return True
        case ast.UnaryOp(operand=inner):
            return _is_still(inner)
        case ast.BinOp(left=left, right=right):
            return _is_still(left) and _is_still(right)
        case ast.Call(func=ast.Attribute(value=ast.Name(id=module), attr="exp" | "log"), args=[inner], keywords=[]):
            return module in ("math", "np", "numpy") and _is_still(inner)
    return False


def _parts(node: ast.While) -> Any:
    """The growing, the counting, the test and if it goes on where it holds, their places, and how the loop ends."""
    body = [_short(x) for x in node.body]
    forever = isinstance(node.test, ast.Constant) and bool(node.test.value)
    grow = [k for k, x in enumerate(body) if isinstance(x, ast.AugAssign) and not isinstance(x.value, ast.Constant)]
    count = [k for k, x in enumerate(body) if isinstance(x, ast.AugAssign) and _counts(x)]
    asks = [k for k, x in enumerate(body) if isinstance(x, ast.If)]
    if len(grow) != 1 or len(count) != 1 or len(body) != 3 - (not forever) or len(asks) != int(forever):
        return None
    grown, counted = body[grow[0]], body[count[0]]
    assert isinstance(grown, ast.AugAssign)
    assert isinstance(counted, ast.AugAssign)
    if not isinstance(grown.op, ast.Mult | ast.Add) or not all(isinstance(x.target, ast.Name) for x in (grown, counted)):
        return None
    if not forever:
        return grown, counted, (node.test, True), (-1, grow[0], count[0]), []
    match body[asks[0]]:
        case ast.If(test=test, body=[ast.Break() | ast.Return() as end], orelse=[]):
            return grown, counted, (test, False), (asks[0], grow[0], count[0]), [end]
    return None


def _counts(x: ast.AugAssign) -> bool:
    number = x.value.value if isinstance(x.value, ast.Constant) else None
    return isinstance(x.op, ast.Add) and type(number) in (int, float)


def _short(x: ast.stmt) -> ast.stmt:
    """p = p * u and p = u * p as p *= u, and so with sums."""
    match x:
        case ast.Assign(targets=[ast.Name(id=name) as target], value=ast.BinOp(op=ast.Mult() | ast.Add()) as value):
            for own, other in ((value.left, value.right), (value.right, value.left)):
                if isinstance(own, ast.Name) and own.id == name:
                    return ast.AugAssign(target, value.op, other)
    return x


def _bound(test: ast.expr, level: str, above: bool) -> ast.expr | None:
    """What the name is compared with, where the test says that it lies above (or below) of it; at the bound it never lies."""
    match test:
        case ast.Compare(left=left, ops=[ast.Gt() | ast.GtE() | ast.Lt() | ast.LtE() as op], comparators=[right]):
            pass
        case _:
            return None
    own, other = (left, right) if isinstance(left, ast.Name) and left.id == level else (right, left)
    says_above = isinstance(op, ast.Gt | ast.GtE) is (own is left)
    return copy.deepcopy(other) if isinstance(own, ast.Name) and own.id == level and says_above is above else None


def steps_until(step: Callable[[], Any], falls: bool, start: Any, bound: Any, asked_first: bool) -> Any:
    """How many steps lead beyond the bound; raises `Unusual` where they are no independent arrivals."""
    tosses = Tosses()
    with Setting(RUN, tosses):
        found = step()
    if not isinstance(found, Dist) or len(tosses.made) != 1 or found.node is not tosses.made[0]:
        raise Unusual
    rate = _rate(tosses.made[0].law, falls, start, bound)
    if rate == 0.0:
        return 0 if asked_first else 1
    return poisson(rate) + 1


def _rate(law: Any, falls: bool, start: Any, bound: Any) -> float:
    """How many arrivals are expected between two levels; 0 where the first lies beyond the second."""
    numbers = all(isinstance(x, int | float) and not isinstance(x, bool) and math.isfinite(x) for x in (start, bound))
    if not numbers or start == bound:  # whether the loop ends at the bound itself is left to the program
        raise Unusual
    if falls and isinstance(law, Uniform) and (law.low, law.high) == (0.0, 1.0) and start > 0.0 and bound > 0.0:
        near = bound < start < 2 * bound  # where a difference of logarithms would lose digits
        rate = 0.0 if start < bound else math.log1p((start - bound) / bound) if near else math.log(start) - math.log(bound)
    elif not falls and type(law) is Exponential:
        rate = max(0.0, (bound - start) / law.b)
    else:
        raise Unusual
    if not rate < _MOST:
        raise Unusual
    return rate


def as_one_draw(found: Arrivals, name: str, step: ast.expr, loop: ast.While, ends: list[ast.stmt]) -> list[ast.stmt]:
    """A loop as one draw of how many steps it takes, and as it is where that cannot be had."""
    more = ast.Constant(int(found.in_last) - int(not found.asked_first))
    falls, first = ast.Constant(found.falls), ast.Constant(found.asked_first)
    counting = (load(found.name), copy.deepcopy(found.each), more)
    asked = ask("counted_steps", *counting, thunk(step), falls, load(found.level), found.bound, first)
    counted = ast.Assign([ast.Name(found.name, ast.Store())], load(name))
    # Where it stands is not known: a loop that goes on from there is not read as one that begins there.
    gone = ast.Assign([ast.Name(found.level, ast.Store())], ast.Constant(None))
    return if_known(name, asked, [counted, gone, *ends], loop)
