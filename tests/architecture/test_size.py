"""Small functions, small files: what the house style asks for, measured."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "dpest"
FILES = sorted(PACKAGE.rglob("*.py"))


def functions(path: Path) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno is not None
            yield node.name, node.end_lineno - node.lineno + 1 - described(node)


def described(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The lines of the docstring beyond its first: a parameter that is explained makes no function longer to read."""
    doc = node.body[0] if ast.get_docstring(node) is not None else None
    return 0 if doc is None or doc.end_lineno is None else doc.end_lineno - doc.lineno


def test_files_are_short() -> None:
    lengths = {str(p.relative_to(PACKAGE)): len(p.read_text(encoding="utf-8").splitlines()) for p in FILES}
    assert {name: length for name, length in lengths.items() if length > 400} == {}


def test_functions_are_short() -> None:
    assert [(str(p.relative_to(PACKAGE)), *f) for p in FILES for f in functions(p) if f[1] > 50] == []


def test_most_functions_fit_in_a_glance() -> None:
    lengths = sorted(length for path in FILES for _, length in functions(path))
    assert lengths[len(lengths) // 2] <= 9
    assert lengths[len(lengths) * 9 // 10] < 30
