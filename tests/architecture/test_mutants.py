"""Mutation testing names modules that exist, and changes code only: no docstring, hint, message or import."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]

SOURCE = '''
"""A module."""
import math

Span = tuple[int | None, int]


def clipped(x: float | None, low: float = 0.0) -> tuple[float, float]:
    """The larger of 1 and 2."""
    if x is None:
        raise ValueError(f"needs {1 + 1} numbers")
    assert x > 0
    for a, b in zip([x], [low], strict=True):
        x = max(a - b, 3)
    return x, low
'''


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> tuple[ModuleType, ModuleType]:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import mutants
    import mutating

    yield mutants, mutating
    for name in ("mutants", "mutating", "mutant_page"):
        sys.modules.pop(name, None)


def test_every_module_exists(modules: tuple[ModuleType, ModuleType]) -> None:
    assert [m for m in modules[0].MODULES if not (ROOT / m).exists()] == []
    assert [p for p in modules[0].TESTS if not (ROOT / p).exists()] == []


def test_only_code_is_changed(modules: tuple[ModuleType, ModuleType], tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(SOURCE, encoding="utf-8")
    found = modules[1].mutants(tmp_path, "m.py")
    assert sorted(m.what for m in found) == [
        "arithmetic: a - b -> a + b",
        "comparison: x is None -> x is not None",
        "constant: 0.0 -> 1.0",
        "constant: 3 -> 4",
        "dropped term: a - b -> a",
        "swapped name: max -> min",
        "swapped pair: return (x, low) -> return (low, x)",
    ]
    assert {m.function for m in found} == {"", "clipped"}  # a default belongs to no function's body
    for m in found:
        assert ast.dump(modules[1].changed(tmp_path, m)) != ast.dump(ast.parse(SOURCE))


def test_a_sample_is_the_same_each_time_and_nested(modules: tuple[ModuleType, ModuleType]) -> None:
    found = modules[1].mutants(ROOT, "dpest/numerics/rationals.py")
    few, more = ({m.key for m in modules[1].sampled(found, n, seed=1)} for n in (4, 9))
    assert len(few) == 4
    assert few < more
    assert {m.key for m in modules[1].sampled(found, 4, seed=2)} != few


def test_reasons_are_about_functions_that_exist(modules: tuple[ModuleType, ModuleType]) -> None:
    import mutant_page

    reasons = mutant_page.read_reasons(ROOT / "benchmarks" / "mutants_reasons.toml")
    assert len(reasons) > 100
    assert {key.partition(":")[0] for key in reasons} <= set(modules[0].MODULES)
