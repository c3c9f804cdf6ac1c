"""docs/architecture.md is true: what it names exists, and its three questions call those files in that order."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import dpest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "dpest"
PAGE = (ROOT / "docs" / "architecture.md").read_text()
NAMED = re.compile(r"`([a-z_/]+\.py)(?:: (\w+))?`")


def above_threshold(queries: list[float], eps: float = 0.1, threshold: float = 0.5) -> Any:
    noisy = threshold + dpest.laplace(2 / eps)
    for i, q in enumerate(queries):
        if q + dpest.laplace(4 / eps) >= noisy:
            return i
    return None


def released(data: list[float]) -> Any:
    return [x + dpest.laplace(1) for x in data]


QUESTIONS: dict[str, Callable[[], Any]] = {
    "### `dpest.estimate(above": lambda: dpest.estimate(above_threshold, ([1, 1, 1], [2, 0, 0])),
    '### `dpest.estimate(..., method="sampling")`': lambda: dpest.estimate(
        released, ([0, 0], [1, 0]), method="sampling", samples=20_000, seed=1, progress=False
    ),
    "### `dpest.prove(": lambda: dpest.prove(above_threshold, n=2),
}


@pytest.mark.parametrize("path", sorted({path for path, _ in NAMED.findall(PAGE) if not path.startswith(("tests/", "dpest/"))}))
def test_every_file_that_is_named_exists_with_its_functions(path: str) -> None:
    tree = ast.parse((PACKAGE / path).read_text())
    defined = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    assert {name for at, name in NAMED.findall(PAGE) if at == path and name} <= defined


@pytest.mark.parametrize("room", sorted(set(re.findall(r"^\| `([a-z_]+)/?`", PAGE, re.MULTILINE))))
def test_every_room_exists(room: str) -> None:
    assert (PACKAGE / room).is_dir() or (PACKAGE / f"{room}.py").is_file()


def called(ask: Callable[[], Any]) -> list[str]:
    """The files of the package in the order in which something in them is first called."""
    ask()  # what is imported on the way is imported now
    seen: dict[str, None] = {}

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(f"{PACKAGE}/"):
            seen.setdefault(frame.f_code.co_filename.removeprefix(f"{PACKAGE}/"))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        ask()
    finally:
        sys.setprofile(before)
    return list(seen)


@pytest.mark.parametrize("title", QUESTIONS)
def test_a_walk_calls_the_files_that_open_its_steps_in_this_order(title: str) -> None:
    part = PAGE.split(title, 1)[1].split("\n### ")[0]
    steps = re.findall(r"^\d+\. (.*(?:\n {3}.*)*)", part, re.MULTILINE)
    order = called(QUESTIONS[title])
    first = [found[0][0] for found in map(NAMED.findall, steps) if found]
    assert [path for path in first if path not in order] == []
    assert first == sorted(first, key=order.index)
