"""Small changes of a module's code, one at a time: what mutation testing tries.

Docstrings, annotations, imports, messages, assertions, decorators and `strict=` arguments stay as they are: a change there cannot
change an answer.
"""

from __future__ import annotations

import ast
import copy
import hashlib
import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
Change = tuple[Callable[[], None], str]


@dataclass(frozen=True)
class Mutant:
    """One change: where it is, what it does, and how to make it."""

    module: str
    function: str  # the outermost function that holds it; "" where it is outside of functions
    line: int
    what: str
    nth: int  # among equal changes in the function
    place: tuple[int, int]  # the node's number in the walk, and which of its changes
    digest: str  # of the function's code, so that results of other code are not taken for this one's

    @property
    def key(self) -> str:
        """Names the change, whatever the line numbers are."""
        return f"{self.module}:{self.function}:{self.what}" + (f" ({self.nth})" if self.nth else "")


def mutants(root: Path, module: str) -> list[Mutant]:
    """Every single change of a module's code."""
    tree = ast.parse((root / module).read_text(encoding="utf-8"))
    left_out, owners, outside = set(_not_code(tree)), _owners(tree), ("", _digest(tree))
    found: list[Mutant] = []
    seen: dict[tuple[str, str], int] = {}
    for number, node in enumerate(ast.walk(tree)):
        if id(node) in left_out:
            continue
        owner, digest = owners.get(id(node), outside)
        for which, what in enumerate(_described(node)):
            nth = seen.get((owner, what), 0)
            seen[owner, what] = nth + 1
            found.append(Mutant(module, owner, getattr(node, "lineno", 0), what, nth, (number, which), digest))
    return found


def sampled(found: list[Mutant], count: int, seed: int) -> list[Mutant]:
    """A random sample that keeps its members where the module is edited elsewhere or moved: those with the smallest hashes."""

    def rank(m: Mutant) -> str:
        name = f"{seed} {Path(m.module).stem} {m.key.partition(':')[2]}"
        return hashlib.sha256(name.encode()).hexdigest()

    return sorted(sorted(found, key=rank)[: count or None], key=lambda m: (m.line, m.key))


def drawn(found: Iterable[list[Mutant]], count: int, seed: int) -> list[Mutant]:
    """One mutant each of so many modules, drawn from all mutants together: a module with more of them is likelier."""
    first: dict[str, Mutant] = {}
    for m in sorted(itertools.chain(*found), key=lambda m: hashlib.sha256(f"{seed} {m.key}".encode()).hexdigest()):
        first.setdefault(m.module, m)
    return list(first.values())[:count]


def changed(root: Path, mutant: Mutant) -> ast.Module:
    """The module's tree with the change made."""
    tree = ast.parse((root / mutant.module).read_text(encoding="utf-8"))
    number, which = mutant.place
    node = next(n for i, n in enumerate(ast.walk(tree)) if i == number)
    _changes(node)[which][0]()
    return ast.fix_missing_locations(tree)


def digest_of(path: Path) -> str:
    """A short name for what a file holds."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12]


def _digest(node: ast.AST) -> str:
    return hashlib.sha256(ast.dump(node).encode()).hexdigest()[:12]


def _owners(tree: ast.Module) -> dict[int, tuple[str, str]]:
    """The outermost function around each node, with the digest of its code."""
    out: dict[int, tuple[str, str]] = {}

    def visit(body: list[ast.stmt], path: str) -> None:
        for node in body:
            if isinstance(node, ast.ClassDef):
                visit(node.body, f"{path}{node.name}.")
            elif isinstance(node, ast.FunctionDef):
                owner = f"{path}{node.name}", _digest(node)
                out.update((id(n), owner) for statement in node.body for n in ast.walk(statement))

    visit(tree.body, "")
    return out


def _not_code(tree: ast.AST) -> Iterator[int]:
    """Everything that is not looked at."""
    for node in ast.walk(tree):
        inner: list[Any] = []
        match node:
            case ast.Import() | ast.ImportFrom() | ast.Raise() | ast.Assert() | ast.JoinedStr():
                inner = [node]
            case ast.FunctionDef():
                inner = [*node.decorator_list, node.returns]
            case ast.ClassDef():
                inner = [*node.decorator_list, *node.bases]
            case ast.arg():
                inner = [node.annotation]
            case ast.AnnAssign():
                inner = [node if _is_alias(node) else node.annotation]
            case ast.Expr(value=ast.Constant()):
                inner = [node]
            case ast.keyword(arg="strict"):
                inner = [node]
            case ast.Assign(value=ast.Subscript() | ast.BinOp()) if _is_hint(node):
                inner = [node]
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                inner = [node]
        for root in inner:
            if root is not None:
                yield from (id(n) for n in ast.walk(root))


def _is_alias(node: ast.AnnAssign) -> bool:
    return isinstance(node.annotation, ast.Name) and node.annotation.id == "TypeAlias"


def _is_hint(node: ast.Assign) -> bool:
    """A name such as `Span = tuple[Literal | None, Literal | None]`: a capitalised word and no number in it."""
    (target, *_), value = node.targets, node.value
    words = [n.id for n in ast.walk(value) if isinstance(n, ast.Name)]
    named = isinstance(target, ast.Name) and target.id[0].isupper() and not target.id.isupper()
    return named and not any(isinstance(n, ast.Call) for n in ast.walk(value)) and bool(words)


def _described(node: ast.AST) -> list[str]:
    """What each change of a node does, in words and code."""
    if isinstance(node, ast.If | ast.While):  # their bodies are long and stay
        negated = f"negated condition: {_short(node)} -> {type(node).__name__.lower()} not {_short(node.test)}"
        return [negated] if _changes(node) else []
    out = []
    for which in range(len(_changes(node))):
        new = copy.deepcopy(node)
        change, what = _changes(new)[which]
        change()
        out.append(f"{what}: {_short(node)} -> {_short(new)}")
    return out


def _short(node: ast.AST) -> str:
    if isinstance(node, ast.If | ast.While):
        return f"{type(node).__name__.lower()} {_short(node.test)}"
    return " ".join(ast.unparse(node).split())[:90]


def _changes(node: ast.AST) -> list[Change]:
    """The changes of one node, in a fixed order."""
    out: list[Change] = []
    match node:
        case ast.Compare() if len(node.ops) == 1:
            for new in COMPARISONS.get(type(node.ops[0]), ()):
                out.append((lambda o=new: node.ops.__setitem__(0, o()), "comparison"))
        case ast.BinOp() if type(node.op) in ARITHMETIC:
            out.append((lambda: setattr(node, "op", ARITHMETIC[type(node.op)]()), "arithmetic"))
            if isinstance(node.op, ast.Add | ast.Sub):
                out.append((lambda: _become(node, node.left), "dropped term"))
        case ast.UnaryOp(op=ast.Not() | ast.USub()):
            out.append((lambda: _become(node, node.operand), "removed sign or not"))
        case ast.BoolOp():
            out.append((lambda: setattr(node, "op", ast.Or() if isinstance(node.op, ast.And) else ast.And()), "and / or"))
        case ast.Constant(value=bool()):
            out.append((lambda: setattr(node, "value", not node.value), "truth"))
        case ast.Constant(value=int() | float()):
            out.append((lambda: setattr(node, "value", _other(node.value)), "constant"))
        case ast.Name() | ast.Attribute():
            field = "id" if isinstance(node, ast.Name) else "attr"
            name = getattr(node, field)
            if name in SWAPS and isinstance(node.ctx, ast.Load):
                out.append((lambda: setattr(node, field, SWAPS[name]), "swapped name"))
        case ast.If() | ast.IfExp() | ast.While() if not _turned_itself(node.test):
            out.append((lambda: setattr(node, "test", ast.UnaryOp(ast.Not(), node.test)), "negated condition"))
        case ast.Return(value=ast.Tuple(elts=[one, other])) if ast.dump(one) != ast.dump(other):
            out.append((lambda: node.value.elts.reverse(), "swapped pair"))  # type: ignore[union-attr]
        case ast.AugAssign() if type(node.op) in ARITHMETIC:
            out.append((lambda: setattr(node, "op", ARITHMETIC[type(node.op)]()), "arithmetic"))
        case ast.Continue():
            out.append((lambda: _become(node, ast.Break()), "continue / break"))
    return out


def _turned_itself(test: ast.expr) -> bool:
    """Whether a change of the condition's own node negates it already."""
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        return isinstance(test.ops[0], ast.Is | ast.IsNot | ast.In | ast.NotIn | ast.Eq | ast.NotEq)
    return isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)


def _become(node: Any, other: ast.AST) -> None:
    """Turns a node into another in place."""
    node.__class__ = other.__class__
    node.__dict__.update({k: v for k, v in vars(other).items() if k in other._fields})


def _other(value: float) -> float:
    return value + 1 if isinstance(value, int) or value in (0.0, 1.0) else value * 2
