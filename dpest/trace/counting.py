"""Loops that only count: how often a coin that is tossed anew in each round comes up is one draw, whatever the count.

`while random.random() < p: k += 1` adds to k the number of rounds, which is geometric. Read on the syntax tree: the test
must not see the count, and the loop must do nothing else. What the test is made of is looked at when it is met.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dpest.lang.dist import RUN, Dist, truth
from dpest.lang.generators.draws import geometric
from dpest.lang.logic import sign
from dpest.lang.nodes import Compare, Draw, Not, Relation
from dpest.laws.discrete import Atoms
from dpest.laws.law import Continuous, Law
from dpest.numerics.rationals import exact
from dpest.numerics.setting import Setting
from dpest.trace.replay import Unusual
from dpest.trace.sides import is_plain


@dataclass(frozen=True)
class Counting:
    """A loop that counts: its test, whether it goes on where the test holds, what each round adds, and how it ends."""

    test: ast.expr
    goes_on: bool
    name: str
    step: ast.expr
    first: bool  # whether the round in which the loop ends counts too
    ends: list[ast.stmt]


def counting(node: ast.While) -> Counting | None:
    """What a loop counts; None where it does anything else."""
    if node.orelse:
        return None
    forever = isinstance(node.test, ast.Constant) and bool(node.test.value)
    match node.body:
        case [ast.AugAssign() as add] if not forever:
            return _checked(node.test, True, add, False, [])
        case [ast.If(test=test, body=[ast.Break() | ast.Return() as end], orelse=[]), ast.AugAssign() as add] if forever:
            return _checked(test, False, add, False, [end])
        case [ast.AugAssign() as add, ast.If(test=test, body=[ast.Break() | ast.Return() as end], orelse=[])] if forever:
            return _checked(test, False, add, True, [end])
        case [ast.If(test=test, body=[ast.AugAssign() as add], orelse=[ast.Break() | ast.Return() as end])] if forever:
            return _checked(test, True, add, False, [end])
        case [ast.If(test=test, body=[ast.Break() | ast.Return() as end], orelse=[ast.AugAssign() as add])] if forever:
            return _checked(test, False, add, False, [end])
    return None


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


def rounds(test: Callable[[], Any], goes_on: bool) -> Any:
    """How many rounds a loop goes through before the one in which it ends, as one draw; raises `Unusual` for other tests."""
    tosses = Tosses()
    with Setting(RUN, tosses):
        found = test()
    if not isinstance(found, Dist):
        raise Unusual
    chance = _chance(found.node, tosses)
    success = 1.0 - chance if goes_on else chance
    if not 0.0 < success < 1.0:
        raise Unusual
    return geometric(success) - 1


def _chance(node: Any, tosses: Tosses) -> float:
    """The probability of a comparison of one fresh draw with a number."""
    if isinstance(node, Not):
        return 1.0 - _chance(node.value, tosses)
    if isinstance(node, Draw):
        node = truth(node)
    if not isinstance(node, Compare) or len(tosses.made) != 1 or len(node.value.terms) != 1:
        raise Unusual
    (draw, c), constant = node.value.terms[0], node.value.constant
    if draw is not tosses.made[0]:
        raise Unusual
    bound = float(-constant / c)
    if isinstance(draw.law, Continuous) and node.relation is not Relation.EQ:
        ends = (bound, math.inf) if c > 0 else (-math.inf, bound)
        return math.exp(float(draw.law.log_interval(*ends)))
    if not isinstance(draw.law, Atoms):
        raise Unusual
    signs = [(c * exact(x) + constant, math.exp(p)) for x, p in zip(draw.law.points, draw.law.log_probabilities, strict=True)]
    return math.fsum(p for s, p in signs if sign(node.relation, s))
