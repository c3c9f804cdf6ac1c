"""The Japanese pages keep step with the English ones: the same headings, the same examples, the same numbers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [("README.md", "README.ja.md"), ("docs/tutorial.md", "docs/ja/tutorial.md"), ("docs/concepts.md", "docs/ja/concepts.md")]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
JAPANESE = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def headings(name: str) -> list[str]:
    """The levels of the headings, in order."""
    return [line.split()[0] for line in FENCE.sub("", text(name)).splitlines() if line.startswith("#")]


def examples(name: str) -> list[tuple[str, str]]:
    """The examples without their comments, which are translated."""
    return [(kind, re.sub(r"\s*#.*", "", code)) for kind, code in FENCE.findall(text(name))]


@pytest.mark.parametrize(("english", "japanese"), PAGES)
def test_headings_match(english: str, japanese: str) -> None:
    assert headings(japanese) == headings(english)


@pytest.mark.parametrize(("english", "japanese"), PAGES)
def test_examples_match(english: str, japanese: str) -> None:
    assert examples(japanese) == examples(english)


@pytest.mark.parametrize(("english", "japanese"), PAGES)
def test_tables_have_the_same_rows(english: str, japanese: str) -> None:
    rows = [[line.count("|") for line in text(name).splitlines() if line.startswith("|")] for name in (english, japanese)]
    assert rows[0] == rows[1]


@pytest.mark.parametrize("japanese", [page for _, page in PAGES])
def test_every_heading_and_paragraph_is_translated(japanese: str) -> None:
    plain = FENCE.sub("", text(japanese))
    for part in plain.split("\n\n")[1:]:
        if part.strip() and not part.lstrip().startswith("|"):
            assert JAPANESE.search(part), part
