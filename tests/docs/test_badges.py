"""The badges of the README say what pyproject.toml says."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

import dpest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def made() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_badges", ROOT / "docs" / "make_badges.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_badges_are_those_of_the_project(made: ModuleType) -> None:
    for name, svg in made.badges().items():
        assert (ROOT / "docs" / "pictures" / name).read_text(encoding="utf-8") == svg, f"{name}: run python docs/make_badges.py"
    assert made.facts()["version"] == dpest.__version__
    assert made.facts()["license"] in (ROOT / "LICENSE").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", ["README.md", "README.ja.md"])
def test_the_readme_shows_them_and_nothing_from_the_network(made: ModuleType, page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    for label, said in made.facts().items():
        assert f"![{label}: {said}](docs/pictures/badge-{label}.svg)" in text
    assert re.findall(r"!\[[^]]*\]\(https?:", text) == []
