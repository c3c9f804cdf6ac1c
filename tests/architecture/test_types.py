"""What a type checker sees of dpest: a user's script under `mypy --strict`, with every wrong line found and no other."""

from __future__ import annotations

import inspect
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import dpest

SCRIPT = """
from typing import Any

import dpest
from dpest.audit import AuditResult, all_pairs
from dpest.testing import assert_private


def noisy(x: float, scale: float = 1.0) -> Any:
    return dpest.max([x + dpest.laplace(scale), dpest.clip(dpest.gaussian(1.0, size=3)[0], 0, 1)])


found: dpest.Result = dpest.estimate(noisy, (0, 1), method="exact")
proved: dpest.Result = dpest.prove(noisy, n=3)
audited: AuditResult = dpest.audit(noisy, (0, 1), claim=0.5)
pairs = all_pairs([0, 1])
witness: dpest.Witness | None = found.witness
number: float = found.epsilon + found.epsilon_at(1e-6).lower + audited.lower
curve: dpest.Curve = dpest.compose((found, 3))
losses: list[float] = [r.epsilon for r in dpest.sweep(noisy, "scale", [1, 2])]
grown: list[float] = [r.epsilon for r in dpest.prove(noisy, n=[1, 2])]
scale: float = dpest.calibrate(noisy, "scale", target=0.5).value
dpest.laplace(3, 1)  # wrong: call
dpest.integers(0, 9, 3)  # wrong: call
dpest.estimate(noisy, (0, 1), smaples="many", samples="many")  # wrong: arg
dpest.estimat(noisy)  # wrong: attr
text: str = dpest.estimate(noisy, (0, 1))  # wrong: assignment
other: str = dpest.audit(noisy, (0, 1))  # wrong: assignment
third: str = dpest.prove(noisy)  # wrong: assignment
fourth: str = dpest.sweep(noisy, "scale", [1])  # wrong: assignment
fifth: str = dpest.calibrate(noisy, "scale", target=1)  # wrong: assignment
seventh: str = dpest.compose(found)  # wrong: assignment
sixth: str = assert_private(noisy, 1.0, (0, 1))  # wrong: assignment
dpest.audit(noisy, (0, 1), claim="one")  # wrong: arg
try:
    dpest.estimate(noisy)
except dpest.errors.DpestError as error:
    print(error)
"""


def test_a_typed_script(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    (tmp_path / "script.py").write_text(SCRIPT, encoding="utf-8")
    root = Path(dpest.__file__).parent.parent
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--config-file=", "script.py"]
    environment = {**os.environ, "MYPYPATH": str(root)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=300)
    wrong = {int(line) for line in re.findall(r"^script\.py:(\d+): error:", done.stdout, re.M)}
    expected = {i for i, line in enumerate(SCRIPT.splitlines(), 1) if "# wrong" in line}
    assert wrong == expected, done.stdout + done.stderr


def test_the_typed_names_are_the_loaded_ones() -> None:
    source = inspect.getsource(dpest)
    typed = source[source.index("if TYPE_CHECKING") : source.index("__version__")]
    for name in set(dpest.__all__) - {"__version__"}:
        assert re.search(rf"\b{name}\b", typed), f"{name} is public, but type checkers do not see it"


def test_dir_shows_the_public_names_only() -> None:
    import dpest.doors.estimate
    import dpest.report.text

    assert sorted(dir(dpest)) == sorted(dpest.__all__)


def test_the_signature_of_an_audit_is_seen() -> None:
    assert list(inspect.signature(dpest.audit).parameters)[:3] == ["mechanism", "pairs", "n"]
    assert inspect.signature(dpest.laplace).parameters["size"].kind is inspect.Parameter.KEYWORD_ONLY


PROJECT = Path(__file__).parents[2] / "examples" / "typed_project"


def test_the_typed_project_runs_and_is_right_for_mypy() -> None:
    pytest.importorskip("mypy")
    root = str(Path(dpest.__file__).parent.parent)
    options = ["--strict", "--follow-imports=silent", "--config-file=", "--cache-dir=/dev/null", "report.py", "mechanisms.py"]
    environment = {**os.environ, "MYPYPATH": root, "PYTHONPATH": root}
    for command in (["-m", "mypy", *options], ["report.py"]):
        words = [sys.executable, *command]
        done = subprocess.run(words, cwd=PROJECT, env=environment, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(shutil.which("pyright") is None, reason="pyright is not installed: make pyright")
def test_the_typed_project_is_right_for_pyright(tmp_path: Path) -> None:
    root = str(Path(dpest.__file__).parent.parent)
    settings = {"include": [str(PROJECT)], "extraPaths": [root], "strict": [str(PROJECT)], "reportMissingImports": True}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    command = ["pyright", "--project", str(tmp_path), "--pythonpath", sys.executable, "--outputjson"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    found = json.loads(done.stdout)["generalDiagnostics"]
    assert [(d["file"], d["range"]["start"]["line"] + 1, d["message"]) for d in found if d["severity"] == "error"] == []
