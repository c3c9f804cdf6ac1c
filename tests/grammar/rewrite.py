"""Rewritings of a program that must not change its loss, or can only lower it; they need no oracle."""

from __future__ import annotations

import ast
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.grammar.program import Program


@dataclass(frozen=True)
class Rewriting:
    """The rewritten program, and how its loss is bound to that of the first one."""

    program: Program
    relation: str  # "same", "lower" (at most the first one's) or "zero"


def rewritten(program: Program) -> Rewriting | None:
    """The rewriting that the program's kind names (`rewritten:name:kind`), or None where it does not apply."""
    _, name, base = program.kind.split(":")
    rng = random.Random(program.source)
    plain = Program(base, program.source, program.pair)
    return REWRITINGS[name](plain, rng)


def _changed(program: Program, tree: ast.AST, relation: str = "same") -> Rewriting:
    source = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
    return Rewriting(Program(program.kind, source, program.pair), relation)


def _parsed(program: Program) -> tuple[ast.Module, ast.FunctionDef]:
    tree = ast.parse(program.source)
    function = tree.body[0]
    assert isinstance(function, ast.FunctionDef)
    return tree, function


def _neutral(program: Program, rng: random.Random) -> Rewriting | None:
    """An `if` on a random value that changes nothing."""
    tree, function = _parsed(program)
    places = [
        (i, s.targets[0].id)
        for i, s in enumerate(function.body)
        if isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name)
    ]
    if not places:
        return None
    i, name = rng.choice(places)
    condition = rng.choice(["{0} > 0", "{0} <= 1", "abs({0}) >= 2", "round({0} / 3) <= 9", "{0} - 0.3 < 0.1", "{0} + {0} > 1"])
    function.body.insert(i + 1, ast.parse(f"if {condition.format(name)}:\n    pass").body[0])
    return _changed(program, tree)


def _returned(form: str) -> Callable[[Program, random.Random], Rewriting | None]:
    def rewrite(program: Program, rng: random.Random) -> Rewriting | None:
        tree, _ = _parsed(program)
        # `return` outside a function does not parse, so the form is parsed inside one.
        for node in ast.walk(tree):
            if isinstance(node, ast.Return):
                text = ast.unparse(node.value) if node.value is not None else "None"
                node.value = ast.parse(form.format(f"({text})"), mode="eval").body
        return _changed(program, tree)

    return rewrite


def _permuted(program: Program, rng: random.Random) -> Rewriting | None:
    """Two neighbouring assignments that do not need each other, in the other order."""
    tree, function = _parsed(program)
    body = function.body
    places = [i for i in range(len(body) - 1) if _free(body[i], body[i + 1])]
    if not places:
        return None
    i = rng.choice(places)
    body[i], body[i + 1] = body[i + 1], body[i]
    return _changed(program, tree)


def _free(a: ast.stmt, b: ast.stmt) -> bool:
    if not (isinstance(a, ast.Assign) and isinstance(b, ast.Assign)):
        return False
    names = [{n.id for n in ast.walk(s) if isinstance(n, ast.Name)} for s in (a, b)]
    made = [{n.id for t in s.targets for n in ast.walk(t) if isinstance(n, ast.Name)} for s in (a, b)]
    return not (made[0] & names[1]) and not (made[1] & names[0])


class _Wheres(ast.NodeTransformer):
    """`if` for `where`."""

    done = False

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        if ast.unparse(node.func) == "d.where":
            self.done = True
            return ast.IfExp(node.args[0], node.args[1], node.args[2])
        return node


def _if_for_where(program: Program, rng: random.Random) -> Rewriting | None:
    tree, _ = _parsed(program)
    change = _Wheres()
    new = change.visit(tree)
    return _changed(program, new) if change.done else None


class _Draws(ast.NodeTransformer):
    """Noise of twice the scale, halved; whole numbers times four, divided by four."""

    done = False

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        name = ast.unparse(node.func)
        if name in ("d.laplace", "d.gaussian", "d.exponential", "d.gumbel", "d.logistic"):
            self.done = True
            return ast.parse(f"({name}(2 * {ast.unparse(node.args[0])}) / 2)", mode="eval").body
        if name in ("d.integers", "d.categorical", "d.geometric"):
            self.done = True
            return ast.parse(f"((4 * {ast.unparse(node)}) / 4)", mode="eval").body
        return node


def _scaled_draws(program: Program, rng: random.Random) -> Rewriting | None:
    tree, _ = _parsed(program)
    change = _Draws()
    new = change.visit(tree)
    return _changed(program, new) if change.done else None


class _Moved(ast.NodeTransformer):
    """Inputs with a constant taken off."""

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        return ast.parse(f"({ast.unparse(node)} - 64)", mode="eval").body if ast.unparse(node.value) == "x" else node


def _moved(program: Program, rng: random.Random) -> Rewriting | None:
    """A constant added to the data and taken off in the program; only where doubles do not round."""
    if any(v * 8 != int(v * 8) for side in program.pair for v in side):
        return None
    tree, _ = _parsed(program)
    new = _changed(program, _Moved().visit(tree)).program
    pair = ([v + 64 for v in program.pair[0]], [v + 64 for v in program.pair[1]])
    return Rewriting(Program(new.kind, new.source, pair), "same")


def _in_place(program: Program, rng: random.Random) -> Rewriting | None:
    """One input with the other sign, which the program turns round where it lies: the next run must not see that."""
    i = rng.randrange(len(program.pair[0]))
    tree, function = _parsed(program)
    function.body.insert(0, ast.parse(f"x[{i}] = -x[{i}]").body[0])
    new = _changed(program, tree).program
    left, right = ([-v if k == i else v for k, v in enumerate(side)] for side in program.pair)
    return Rewriting(Program(new.kind, new.source, (left, right)), "same")


def _swapped(program: Program, rng: random.Random) -> Rewriting | None:
    return Rewriting(Program(program.kind, program.source, program.pair[::-1]), "same")


def _identical(program: Program, rng: random.Random) -> Rewriting | None:
    x = program.pair[rng.randrange(2)]
    return Rewriting(Program(program.kind, program.source, (x, list(x))), "zero")


COARSER = """
def mechanism(x):
    out = inner(x)
    if out is None or isinstance(out, str):
        return out
    if isinstance(out, dict):
        return 'dict', out['w']
    if isinstance(out, tuple):
        return 'tuple', out[0]
    return 'more' if out > {bound} else 'less'
"""


def _coarser(program: Program, rng: random.Random) -> Rewriting | None:
    """Post-processing: the loss may not rise."""
    source = program.source.replace("def mechanism(x):", "def inner(x):", 1) + COARSER.format(bound=rng.choice([0, 1, 0.5, 0.3]))
    return Rewriting(Program(program.kind, source, program.pair), "lower")


REWRITINGS: dict[str, Callable[[Program, random.Random], Rewriting | None]] = {
    "neutral": _neutral,
    "twice": _returned("({0}, {0})"),
    "labelled": _returned("('label', {0})"),
    "permuted": _permuted,
    "if_for_where": _if_for_where,
    "scaled_draws": _scaled_draws,
    "moved": _moved,
    "in_place": _in_place,
    "swapped": _swapped,
    "identical": _identical,
    "coarser": _coarser,
}
