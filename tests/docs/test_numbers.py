"""Numbers that a page only states are those that its examples print."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SECONDS = re.compile(r"\b[\d.]+ m?s\b")


@pytest.mark.parametrize("page", ["docs/tutorial.md", "docs/ja/tutorial.md", "docs/concepts.md", "docs/ja/concepts.md"])
def test_numbers_in_the_text_stand_in_an_example_that_is_executed(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    examples = "\n".join(code for kind, code in FENCE.findall(text) if kind in ("python", "pycon", "console"))
    prose = re.sub(r"^- `.*", "", re.sub(r"\]\([^)]*\)", "", FENCE.sub("", text)), flags=re.MULTILINE)  # forms of an answer
    stated = set(re.findall(r"(?<![\w.])\d+\.\d+(?![\w.])", prose))
    assert {number for number in stated if number not in examples} == set()


@pytest.mark.parametrize("page", ["README.md", "README.ja.md"])
def test_what_the_readme_says_is_printed(page: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fences = FENCE.findall((ROOT / page).read_text(encoding="utf-8"))
    program = next(code for kind, code in fences if kind == "python")
    said = next(code for kind, code in fences if kind == "text")
    path = tmp_path / "program.py"
    path.write_text(program, encoding="utf-8")
    names: dict[str, Any] = {"__name__": "program"}
    exec(compile(program, str(path), "exec"), names)
    printed = capsys.readouterr().out
    assert _without_measures(printed) == _without_measures(said)


def _without_measures(text: str) -> str:
    """The text without seconds, and without the digit of a width that is rounding alone: versions of NumPy differ in it."""
    return re.sub(r"± \de-1[3-6]", "± _", SECONDS.sub("_ s", " ".join(text.split())))
