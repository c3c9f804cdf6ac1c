"""The example scripts, run as a reader runs them."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

from dpest.algorithms import find

EXAMPLES = Path(__file__).parents[3] / "examples"


def script(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    spec = importlib.util.spec_from_file_location(f"examples_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    return module


def test_a_single_algorithm(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    main = script("privacy_loss_single_algorithm", monkeypatch).main
    assert main(["SVT1", "--config", str(EXAMPLES / "privacy_loss_single_config.json")]) == 0
    printed = capsys.readouterr().out
    assert "found ε = 0.08780110422 (exact), claimed ε = 0.1: holds" in printed


def test_an_unknown_name_gets_the_nearest_match(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    main = script("privacy_loss_single_algorithm", monkeypatch).main
    assert main(["SVT7"]) == 2
    assert "no algorithm is called 'SVT7'; did you mean SVT" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "message"), [("{", "cannot read"), ('{"sample": 3}', "may hold n_samples"), ("[]", "it has list")]
)
def test_a_bad_config_is_refused(
    text: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "config.json"
    path.write_text(text)
    assert script("privacy_loss_single_algorithm", monkeypatch).main(["SVT1", "--config", str(path)]) == 2
    assert message in capsys.readouterr().err


def test_the_config_holds_what_is_documented() -> None:
    assert set(json.loads((EXAMPLES / "privacy_loss_single_config.json").read_text())) == {"n_samples", "hist_bins", "seed"}


def test_the_report_is_written_where_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    module = script("privacy_loss_report", monkeypatch)
    monkeypatch.setattr(module, "gallery", lambda: [find("NoisyHist2"), find("SVT5")])
    assert module.main(["--output", str(tmp_path / "report.md")]) == 0
    written = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "| NoisyHist2 | 10 | 0.1 | FALSE |" in written
    assert "| SVT5 | inf | 0.1 | FALSE |" in written
    assert written.splitlines()[2] in capsys.readouterr().out


def test_a_report_that_cannot_be_written_says_so(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    module = script("privacy_loss_report", monkeypatch)
    monkeypatch.setattr(module, "gallery", list)
    assert module.main(["--output", str(EXAMPLES / "no-such-folder" / "report.md")]) == 2
    assert "no-such-folder" in capsys.readouterr().err
