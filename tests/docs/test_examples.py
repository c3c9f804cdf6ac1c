"""Every example of the README and the documentation, executed."""

from __future__ import annotations

import doctest
import re
import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from dpest.cli import main

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("README*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "ja").glob("*.md")])
FENCE = re.compile(r"^```(?P<kind>python|pycon|console)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
STATUS = "exit status "


@dataclass(frozen=True)
class Block:
    """One fenced example and where it stands."""

    kind: str
    text: str
    line: int


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [Block(m["kind"], m["text"], text[: m.start()].count("\n") + 2) for m in FENCE.finditer(text)]


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p)], ids=lambda p: str(p.relative_to(ROOT)))
def test_examples_run(page: Path, workplace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {"__name__": "example"}
    for block in blocks(page):
        match block.kind:
            case "python":
                run_python(block, workplace, names)
            case "pycon":
                run_session(block, page, names)
            case "console":
                run_console(block, page, capsys)


def run_python(block: Block, workplace: Path, names: dict[str, Any]) -> None:
    """Execute it; one that starts with a file's name is saved as that file too."""
    if (name := re.match(r"# (\w+\.py)\n", block.text)) is not None:
        (workplace / name[1]).write_text(block.text, encoding="utf-8")
        sys.modules.pop(name[1].removesuffix(".py"), None)
    path = workplace / f"line_{block.line}.py"  # a reader keeps it in a file, where its source can be read
    path.write_text(block.text, encoding="utf-8")
    exec(compile(block.text, str(path), "exec"), names)


def run_session(block: Block, page: Path, names: dict[str, Any]) -> None:
    test = doctest.DocTestParser().get_doctest(block.text, names, page.name, str(page), block.line)
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    runner.run(test, out=report.append, clear_globs=False)
    names.update(test.globs)
    assert runner.failures == 0, "".join(report)


def run_console(block: Block, page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Run each `$ dpest ...` command; lines after it are its output (with ... for what varies) and its status if not 0."""
    for command, *lines in (part.splitlines() for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE) if part):
        expected = [int(line.removeprefix(STATUS)) for line in lines if line.startswith(STATUS)]
        capsys.readouterr()
        status = main(shlex.split(command)[1:])
        assert status == (expected or [0])[0], f"{page.name}: {command}"
        wanted = "\n".join(line for line in lines if line and not line.startswith(STATUS))
        printed = capsys.readouterr().out
        assert not wanted or doctest.OutputChecker().check_output(wanted, printed, FLAGS), f"{command} printed\n{printed}"
