"""Small functions, small files: what the house style asks for, measured."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "dpest"
FILES = sorted(PACKAGE.rglob("*.py"))


def functions(path: Path) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno is not None
            yield node.name, node.end_lineno - node.lineno + 1


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_file_and_functions_are_short(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 400
    assert [f for f in functions(path) if f[1] > 60] == []


def test_most_functions_fit_in_a_glance() -> None:
    lengths = sorted(length for path in FILES for _, length in functions(path))
    assert lengths[len(lengths) // 2] <= 9
    assert lengths[len(lengths) * 9 // 10] < 30
