"""The tables of the README and the gallery say what the engine says."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

import dpest
from dpest.algorithms import Algorithm, gallery
from dpest.report.verdict import Outcome, judge
from dpest.results import Result

ROOT = Path(__file__).parents[2]
INFINITE = ("infinite", "無限大")
TRUE = ("holds", "正しい")


def rows(page: str) -> dict[str, list[str]]:
    """The rows of the tables of a page that start with an algorithm's name."""
    names = {a.name for a in gallery()}
    text = re.sub(r"\[(\w+)\]\(.*?\)", r"\1", (ROOT / page).read_text(encoding="utf-8"))
    found = [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in text.splitlines() if line.startswith("|")]
    return {cells[0]: cells for cells in found if cells[0] in names}


def value(cell: str) -> float:
    return math.inf if cell.startswith(INFINITE) else float(re.split(r"[ （(]", cell)[0])


@pytest.fixture(scope="module", params=gallery(), ids=lambda a: a.name)
def answer(request: pytest.FixtureRequest) -> tuple[str, float, Result]:
    algorithm = request.param
    return algorithm.name, algorithm.claim, dpest.estimate(algorithm.function, algorithm.pairs())


@pytest.mark.parametrize(("page", "column"), [("README.md", 1), ("README.ja.md", 1), ("docs/gallery.md", 2)])
def test_exact_losses(answer: tuple[str, float, Result], page: str, column: int) -> None:
    name, _, result = answer
    assert value(rows(page)[name][column]) == pytest.approx(result.epsilon, rel=1e-9)


@pytest.mark.parametrize("page", ["README.md", "README.ja.md"])
def test_verdicts(answer: tuple[str, float, Result], page: str) -> None:
    name, claim, result = answer
    said = rows(page)[name][3]
    assert value(said) == pytest.approx(claim, rel=2e-6)  # six digits
    assert said.endswith(TRUE) == (judge(result, claim).outcome is Outcome.HOLDS)


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", gallery(), ids=lambda a: a.name)
@pytest.mark.parametrize("page", ["README.md", "README.ja.md"])
def test_losses_over_all_inputs(algorithm: Algorithm, page: str) -> None:
    found = dpest.prove(algorithm.function, **algorithm.all_inputs())
    assert found.tight
    assert value(rows(page)[algorithm.name][4]) == pytest.approx(found.upper, rel=1e-9)
    holds = found.upper <= algorithm.claim * (1 + 1e-9)
    assert rows(page)[algorithm.name][3].endswith(TRUE) == holds
