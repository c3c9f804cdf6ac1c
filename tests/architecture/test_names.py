"""A name stands for one thing in the whole package."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]

# `dpest.noise.Laplace(b=1.0)` and its like are part of the contract; the laws have the names that the field has for them.
TWICE = {"Exponential", "Gaussian", "Gumbel", "Laplace", "Logistic"}
MODULES = {str(p.relative_to(ROOT)): ast.parse(p.read_text()) for p in sorted((ROOT / "dpest").rglob("*.py"))}


def classes() -> dict[str, list[str]]:
    homes: dict[str, list[str]] = defaultdict(list)
    for path, tree in MODULES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                homes[node.name].append(path)
    return homes


def test_no_two_classes_have_one_name() -> None:
    homes = classes()
    assert {name: places for name, places in homes.items() if len(places) > 1 and name not in TWICE} == {}
    for name in TWICE:
        assert homes[name] == ["dpest/lang/noise.py", "dpest/laws/continuous.py"]


def test_no_alias_of_a_type_has_the_name_of_a_class() -> None:
    homes, found = classes(), []
    for path, tree in MODULES.items():
        for node in tree.body:
            targets = [node.target] if isinstance(node, ast.AnnAssign) else node.targets if isinstance(node, ast.Assign) else []
            found += [(path, t.id, homes[t.id]) for t in targets if isinstance(t, ast.Name) and t.id in homes]
    assert found == []
