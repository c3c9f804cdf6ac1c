"""A missing package is named with a command that installs it, wherever dpest itself came from."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import dpest

SOURCE = Path(dpest.__file__).parent
MESSAGES = [
    (path.name, words)
    for path in SOURCE.rglob("*.py")
    for words in re.findall(r"MissingExtra\(\s*f?\"([^\"]*)\"", path.read_text(encoding="utf-8"))
]


def test_there_are_such_messages() -> None:
    assert len(MESSAGES) >= 3


@pytest.mark.parametrize(("name", "words"), MESSAGES)
def test_the_command_names_packages_not_an_unpublished_distribution(name: str, words: str) -> None:
    command = words.split("pip install ")[1]
    assert "dpest" not in command
    assert re.fullmatch(r"[a-z0-9\- ]+", command.strip())
