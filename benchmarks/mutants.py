"""Mutation testing without dependencies: one small change of a module at a time, and the tests that should notice it.

    python benchmarks/mutants.py dpest/engine/knowledge.py --tests tests/regressions tests/grammar --timeout 120
    python benchmarks/mutants.py dpest/numerics/binomial.py --tests tests/unit/numerics/test_binomial.py --sample 60 --seed 1

The package is copied to a temporary folder once; mutants are written there, so that the working tree stays as it is.
A mutant is killed when the tests fail or run out of time, and survives when they pass.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
COPIED = (
    "dpest",
    "tests",
    "benchmarks",
    "pyproject.toml",
    "docs",
    "README.md",
    "README.ja.md",
    "examples",
    "Makefile",
    "CHANGELOG.md",
)
COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.GtE),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
SWAPS = {
    "min": "max",
    "max": "min",
    "floor": "ceil",
    "ceil": "floor",
    "minimum": "maximum",
    "maximum": "minimum",
    "any": "all",
    "all": "any",
    "lower": "upper",
    "upper": "lower",
    "log_cdf": "log_sf",
    "log_sf": "log_cdf",
}


@dataclass(frozen=True)
class Mutant:
    """One changed module."""

    line: int
    what: str
    source: str


def mutants(source: str) -> Iterator[Mutant]:
    """Every single change of a module's code; annotations, docstrings and imports stay."""
    tree = ast.parse(source)
    count = len(list(_places(tree)))
    for i in range(count):
        new = copy.deepcopy(tree)
        node, change, what = list(_places(new))[i]
        before = ast.unparse(node)
        change()
        after = ast.unparse(node)
        text = ast.unparse(ast.fix_missing_locations(new))
        yield Mutant(getattr(node, "lineno", 0), f"{what}: {_short(before)}  ->  {_short(after)}", text)


def _short(text: str) -> str:
    return " ".join(text.split())[:90]


def _places(tree: ast.AST) -> Iterator[tuple[Any, Any, str]]:
    """Nodes that can be changed, with the change and its name, in a fixed order."""
    skipped = set(_not_code(tree))
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        yield from _of(node)


def _not_code(tree: ast.AST) -> Iterator[int]:
    """Annotations, docstrings, imports, raised messages and everything inside them."""
    for node in ast.walk(tree):
        inner: list[Any] = []
        if isinstance(node, ast.Import | ast.ImportFrom | ast.Raise | ast.Assert):
            inner = [node]
        elif isinstance(node, ast.FunctionDef):
            inner = [a.annotation for a in (*node.args.args, *node.args.kwonlyargs) if a.annotation] + (
                [node.returns] if node.returns else []
            )
            inner += list(node.decorator_list)
        elif isinstance(node, ast.AnnAssign):
            inner = [node.annotation]
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            inner = [node]
        for root in inner:
            yield from (id(n) for n in ast.walk(root))


def _of(node: ast.AST) -> Iterator[tuple[Any, Any, str]]:
    match node:
        case ast.Compare() if len(node.ops) == 1:
            for new in COMPARISONS.get(type(node.ops[0]), ()):
                yield node, lambda n=node, o=new: n.ops.__setitem__(0, o()), "comparison"
        case ast.BinOp() if type(node.op) in ARITHMETIC:
            yield node, lambda n=node: setattr(n, "op", ARITHMETIC[type(n.op)]()), "arithmetic"
            if isinstance(node.op, ast.Add | ast.Sub):
                yield node, lambda n=node: _become(n, n.left), "dropped term"
        case ast.UnaryOp(op=ast.Not() | ast.USub()):
            yield node, lambda n=node: _become(n, n.operand), "removed sign or not"
        case ast.BoolOp():
            yield node, lambda n=node: setattr(n, "op", ast.Or() if isinstance(n.op, ast.And) else ast.And()), "and / or"
        case ast.Constant(value=bool()):
            yield node, lambda n=node: setattr(n, "value", not n.value), "truth"
        case ast.Constant(value=int() | float()):
            yield node, lambda n=node: setattr(n, "value", _other(n.value)), "constant"
        case ast.Name() | ast.Attribute():
            yield from _swapped(node)
        case ast.If() | ast.IfExp() | ast.While():
            yield node, lambda n=node: setattr(n, "test", ast.UnaryOp(ast.Not(), n.test)), "negated condition"
        case ast.Return(value=ast.Tuple(elts=[_, _])):
            yield node, lambda n=node: n.value.elts.reverse(), "swapped pair"
        case ast.AugAssign():
            yield node, lambda n=node: setattr(n, "op", ARITHMETIC.get(type(n.op), type(n.op))()), "arithmetic"
        case ast.Continue():
            yield node, lambda n=node: _become(n, ast.Break()), "continue / break"


def _swapped(node: ast.Name | ast.Attribute) -> Iterator[tuple[Any, Any, str]]:
    field = "id" if isinstance(node, ast.Name) else "attr"
    name = getattr(node, field)
    if name in SWAPS and isinstance(node.ctx, ast.Load):
        yield node, lambda: setattr(node, field, SWAPS[name]), "swapped name"


def _become(node: Any, other: ast.AST) -> None:
    """Turns a node into another in place."""
    node.__class__ = other.__class__
    node.__dict__.update({k: v for k, v in vars(other).items() if k in other._fields})


def _other(value: float) -> float:
    return value + 1 if isinstance(value, int) or value in (0.0, 1.0) else value * 2


@dataclass(frozen=True)
class Tried:
    """What became of a mutant."""

    mutant: Mutant
    killed: bool
    how: str


def run(module: str, chosen: list[Mutant], tests: list[str], timeout: float, extra: list[str]) -> Iterator[Tried]:
    """The tests against each mutant, in a copy of the project."""
    with tempfile.TemporaryDirectory() as folder:
        there = Path(folder)
        for name in COPIED:
            source = ROOT / name
            if source.is_dir():
                shutil.copytree(source, there / name, ignore=shutil.ignore_patterns("__pycache__", "_build"))
            elif source.exists():
                shutil.copy(source, there / name)
        good = _tested(there, tests, timeout, extra)
        if good is not None:
            raise SystemExit(f"the tests do not pass on the unchanged module ({good}): choose others, or mend them first")
        original = (there / module).read_text(encoding="utf-8")
        for mutant in chosen:
            (there / module).write_text(mutant.source, encoding="utf-8")
            how = _tested(there, tests, timeout, extra)
            yield Tried(mutant, how is not None, how or "")
            (there / module).write_text(original, encoding="utf-8")


def _tested(folder: Path, tests: list[str], timeout: float, extra: list[str]) -> str | None:
    """None where the tests pass, else how they ended."""
    command = [sys.executable, "-B", "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--no-header", *extra, *tests]
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
        return "time"
    return None if done.returncode == 0 else f"exit {done.returncode}"


def main() -> None:
    """Prints each survivor as it is found, then the score."""
    options = _options()
    for module in options.modules:
        found = list(mutants((ROOT / module).read_text(encoding="utf-8")))
        chosen = found
        if options.sample and options.sample < len(found):
            chosen = sorted(random.Random(options.seed).sample(found, options.sample), key=lambda m: m.line)
        start, killed = time.time(), 0
        for k, tried in enumerate(run(module, chosen, options.tests, options.timeout, options.pytest), 1):
            killed += tried.killed
            if not tried.killed:
                print(f"survived  {module}:{tried.mutant.line}  {tried.mutant.what}", flush=True)
            elif options.verbose:
                print(f"killed ({tried.how})  {module}:{tried.mutant.line}  {tried.mutant.what}", flush=True)
            if k % 20 == 0:
                print(f"  {k} of {len(chosen)} tried, {killed} killed, {time.time() - start:.0f} s", flush=True)
        share = killed / max(len(chosen), 1)
        seconds = time.time() - start
        print(f"{module}: {killed} of {len(chosen)} mutants killed ({share:.0%}), {len(found)} possible, {seconds:.0f} s")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modules", nargs="+", help="paths from the root of the project, such as dpest/numerics/binomial.py")
    parser.add_argument("--tests", nargs="+", required=True, help="test files or folders that should notice")
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds for the tests on one mutant")
    parser.add_argument("--sample", type=int, default=0, help="how many mutants to try, at random; 0 for all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--verbose", action="store_true", help="print killed mutants too")
    parser.add_argument("--pytest", nargs="*", default=[], help="further options of pytest, such as -m slow")
    return parser.parse_args()


if __name__ == "__main__":
    main()
