"""A name stands for one thing in the whole package."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]

# `dpest.noise.Laplace(b=1.0)` and its like are part of the contract; the laws have the names that the field has for them.
TWICE = {"Exponential", "Gaussian", "Gumbel", "Laplace", "Logistic"}


def test_no_two_classes_have_one_name() -> None:
    homes: dict[str, list[str]] = defaultdict(list)
    for path in sorted((ROOT / "dpest").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef):
                homes[node.name].append(str(path.relative_to(ROOT)))
    assert {name: places for name, places in homes.items() if len(places) > 1 and name not in TWICE} == {}
    for name in TWICE:
        assert homes[name] == ["dpest/lang/noise.py", "dpest/laws/continuous.py"]
