"""The workflow and the hook of the CI page: valid YAML, and their commands run in the project that `dpest init` writes."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dpest.cli import main

yaml = pytest.importorskip("yaml")
PAGE = Path(__file__).parents[2] / "docs" / "howto_ci.md"
WORKFLOW, HOOKS = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def steps() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = yaml.safe_load(WORKFLOW)["jobs"]["claims"]["steps"]
    return found


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "mechanism", raising=False)
    assert main(["init"]) == 0
    return tmp_path


def test_every_step_of_the_workflow_runs(project: Path) -> None:
    commands = [step["run"] for step in steps() if "run" in step]
    assert len(commands) == 4
    assert "dpest[report]" in commands[0]  # a page needs more than a check
    for command in commands[1:]:  # the first one installs
        words = shlex.split(command)
        if words[0] == "dpest":
            assert main(words[1:]) == 0
        else:
            arguments = [sys.executable, *words[1:], "-p", "no:cacheprovider", "--rootdir", ".", "--import-mode=prepend"]
            assert subprocess.run(arguments, cwd=project, capture_output=True, timeout=120, check=False).returncode == 0
    assert (project / "privacy.html").is_file()


def test_the_workflow_fails_when_the_claim_is_broken(project: Path) -> None:
    text = (project / "mechanism.py").read_text(encoding="utf-8")
    (project / "mechanism.py").write_text(text.replace("4 / eps", "1 / eps"), encoding="utf-8")
    sys.modules.pop("mechanism", None)
    check = next(step["run"] for step in steps() if step.get("run", "").startswith("dpest check"))
    assert main(shlex.split(check)[1:]) == 1


def test_the_hook_is_a_command_that_runs(project: Path) -> None:
    (hook,) = yaml.safe_load(HOOKS)["repos"][0]["hooks"]
    assert re.search(hook["files"], "mechanism.py")
    assert hook["language"] == "system"
    assert main(shlex.split(hook["entry"])[1:]) == 0
