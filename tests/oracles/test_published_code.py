"""Mechanisms in the code of their authors: what docs/coverage.md calls exact and quick holds its reference on both sides."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import pytest

from benchmarks.coverage import families
from benchmarks.coverage.case import Case
from benchmarks.coverage.run import _asked, _judged

PAGE = Path(__file__).parents[2] / "docs" / "coverage.md"
QUICK = 0.3  # seconds on the page: nine of ten mechanisms, which take a third of the time of all
_ROW = re.compile(r"^\| (?P<name>[^|]+) (?:\| [^|]* ){3}\| (?P<outcome>[^|]+) \| (?P<seconds>[\d.]+) \|$", re.MULTILINE)
SAID = {row["name"]: (row["outcome"], float(row["seconds"])) for row in _ROW.finditer(PAGE.read_text(encoding="utf-8"))}


def _is_quick(name: str) -> bool:
    outcome, seconds = SAID.get(name, ("", 0.0))
    return outcome == "exact" and seconds <= QUICK


CASES = {case.name: case for _, case in families.cases() if _is_quick(case.name)}


def test_the_page_names_the_mechanisms() -> None:
    assert len(CASES) > 300
    assert set(SAID) <= {case.name for _, case in families.cases()}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_published_code_is_answered_with_both_sides(case: Case) -> None:
    truth = case.truth()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of authors' code
        found = _asked(case, "exact")
    outcome, figures, _ = _judged(found, truth)
    assert outcome == "exact", figures
