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


def test_a_drawn_sample_has_one_change_of_each_module(modules: tuple[ModuleType, ModuleType]) -> None:
    """A module with many possible changes is drawn sooner than one with few."""
    names = ["dpest/numerics/links.py", "dpest/numerics/rationals.py", "dpest/numerics/binomial.py"]
    found = [modules[1].mutants(ROOT, name) for name in names]
    drawn = [modules[1].drawn(found, 2, seed) for seed in range(40)]
    assert all(len({m.module for m in sample}) == 2 for sample in drawn)
    assert drawn[0] == modules[1].drawn(found, 2, 0)
    assert sum(m.module == names[2] for sample in drawn for m in sample[:1]) > 25


def test_the_page_leaves_equivalent_changes_out_of_the_score(modules: tuple[ModuleType, ModuleType]) -> None:
    import mutant_page

    name = "dpest/numerics/binomial.py"
    sample = modules[1].sampled(modules[1].mutants(ROOT, name), 4, seed=1)
    first = [True, False, False, False]
    told = {m.key: {"digest": m.digest, "killed": k < 2, "first": first[k]} for k, m in enumerate(sample)}
    reasons = {sample[2].key: ("equivalent", "the same number")}
    page = mutant_page.page(told, sample, {name: "integrate"}, reasons, 1)
    assert "1 of 4 were killed:\n25%, or 33% without the 1" in page
    assert "| integrate | 1 | 4 | 2 | 1 | 1 | 67% |" in page
    assert "the same number" in page
    assert all(heading in page for heading in ("that a new test kills", "Survivors: equivalent", "Survivors: open"))
    assert "Not finished" in mutant_page.page({}, sample, {name: "integrate"}, {}, 1)
