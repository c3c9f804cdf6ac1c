"""Every number that a module fixes says what it trades, or what it keeps within bounds."""

from __future__ import annotations

import ast
import io
import tokenize
from pathlib import Path

ROOT = Path(__file__).parents[2]


def numeric(value: ast.expr) -> bool:
    """Whether this is written as numbers alone."""
    match value:
        case ast.Constant(value=number):
            return isinstance(number, int | float) and not isinstance(number, bool)
        case ast.UnaryOp(operand=inner):
            return numeric(inner)
        case ast.BinOp(left=left, right=right):
            return numeric(left) and numeric(right)
        case ast.Tuple(elts=parts):
            return bool(parts) and all(map(numeric, parts))
    return False


def constants(tree: ast.Module) -> list[ast.Assign]:
    """The assignments of numbers to names in capitals at the top of a module."""
    found = []
    for node in tree.body:
        if isinstance(node, ast.Assign) and numeric(node.value):
            names = [n.id for t in node.targets for n in ast.walk(t) if isinstance(n, ast.Name)]
            if names and all(name.isupper() for name in names):
                found.append(node)
    return found


def test_each_number_has_its_reason_beside_it() -> None:
    bare = []
    for path in sorted((ROOT / "dpest").rglob("*.py")):
        text = path.read_text()
        comments = {t.start[0] for t in tokenize.generate_tokens(io.StringIO(text).readline) if t.type == tokenize.COMMENT}
        for node in constants(ast.parse(text)):
            if not comments & set(range(node.lineno - 1, (node.end_lineno or node.lineno) + 1)):
                bare.append(f"{path.relative_to(ROOT)}:{node.lineno}: {ast.unparse(node)}")
    assert bare == []
