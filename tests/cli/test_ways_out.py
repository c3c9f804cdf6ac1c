"""Whatever ends a check, only a verdict exits with 0 or 1: continuous integration is never green by accident."""

from __future__ import annotations

import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

import dpest
from dpest.cli import main
from dpest.errors import MechanismRaised
from dpest.testing import PrivacyViolation, assert_private

MINE = """
import asyncio, sys
import dpest

class Own(BaseException):
    pass

def leaves_quietly(x):
    sys.exit(0)

def leaves_after_a_draw(x):
    if dpest.bernoulli(0.5):
        raise SystemExit
    return x

def closes(x):
    raise GeneratorExit

def cancelled(x):
    raise asyncio.CancelledError

def own(x):
    raise Own("gone")

def leaves_when_sampled(data, size, rng):
    sys.exit(0)

def interrupts(x):
    raise KeyboardInterrupt

def interrupts_when_sampled(data, size, rng):
    raise KeyboardInterrupt

def ratio(x):
    return x + dpest.laplace(1) / dpest.laplace(1) * dpest.laplace(2) / dpest.gaussian(1)

def good(x):
    return x + dpest.laplace(1)
"""
GUARDED = "import sys\n\ndef f(x):\n    return x\n\nsys.exit(0)\n"
LEAVING = ("leaves_quietly", "leaves_after_a_draw", "closes", "cancelled", "own", "leaves_when_sampled")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ways.py").write_text(MINE, encoding="utf-8")
    (tmp_path / "script.py").write_text(GUARDED, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name in ("ways", "script"):
        monkeypatch.delitem(sys.modules, name, raising=False)


def status(command: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    code = main(command.split())
    error = capsys.readouterr().err
    assert "Traceback" not in error
    return code, error


@pytest.mark.parametrize("flags", ["", "--exact", "--json", "--samples 1000"])
@pytest.mark.parametrize("name", LEAVING)
def test_leaving_a_check_is_no_verdict(name: str, flags: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, error = status(f"check ways.py:{name} --pair 0 1 --epsilon 1 {flags}", capsys)
    assert code == 2
    assert error.startswith("dpest: ")


@pytest.mark.parametrize("name", LEAVING)
def test_leaving_an_audit_is_no_verdict(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, error = status(f"audit ways.py:{name} --pair 0 1 --claim 1 --samples 2000", capsys)
    assert code == 2
    assert error.startswith("dpest: ")


def stop_after(share: float) -> Any:
    def show(done: int, total: int, message: str) -> None:
        if total > 1 and done > share * total:
            raise KeyboardInterrupt

    return show


def test_ctrl_c_before_anything_is_130(capsys: pytest.CaptureFixture[str]) -> None:
    code, error = status("check ways.py:interrupts --pair 0 1 --epsilon 1", capsys)
    assert code == 130
    assert "interrupted" in error


@pytest.mark.parametrize("flags", ["", "--json"])
@pytest.mark.parametrize("share", [0.0, 0.3])
def test_ctrl_c_in_a_sampled_check_is_130(
    share: float, flags: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dpest.sampling.answer.showing", lambda _: nullcontext(stop_after(share)))
    code, error = status(f"check ways.py:ratio --pair 0 1 --epsilon 3 --samples 300000 {flags}", capsys)
    assert code == 130
    assert "interrupted before the end: this is no verdict" in error


def test_an_interrupted_audit_is_130(capsys: pytest.CaptureFixture[str]) -> None:
    code, error = status("audit ways.py:interrupts_when_sampled --pair 0 1 --claim 1 --samples 2000", capsys)
    assert code == 130
    assert "interrupted" in error


def test_a_script_that_exits_when_imported_is_wrong_use(capsys: pytest.CaptureFixture[str]) -> None:
    code, error = status("check script.py:f --pair 0 1 --epsilon 1", capsys)
    assert code == 2
    assert '`if __name__ == "__main__":`' in error


@pytest.mark.parametrize(("epsilon", "expected"), [(1, 0), (0.5, 1)])
def test_a_reader_that_has_gone_away_does_not_change_the_verdict(epsilon: float, expected: int) -> None:
    command = [sys.executable, "-m", "dpest", "check", "ways.py:good", "--pair", "0", "1", "--epsilon", str(epsilon)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(timeout=60) == expected


def test_a_bug_of_ours_is_no_verdict(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise RuntimeError("unforeseen")

    monkeypatch.setattr("dpest.cli.check.ask", broken)
    code, error = status("check SVT1", capsys)
    assert code == 2
    assert "there is no answer: RuntimeError('unforeseen')" in error


class Gone(BaseException):
    """Somebody's own way out."""


@pytest.mark.parametrize("leaving", [SystemExit(0), SystemExit(), GeneratorExit(), Gone("away")], ids=repr)
@pytest.mark.parametrize("options", [{}, {"method": "sampling"}, {"exact": True}], ids=str)
def test_leaving_an_assertion_fails_it(leaving: BaseException, options: dict[str, Any]) -> None:
    def mechanism(x: float) -> Any:
        raise leaving

    with pytest.raises(MechanismRaised, match=f"mechanism left with {type(leaving).__name__}"):
        assert_private(mechanism, 1.0, (0, 1), **options)


def test_leaving_a_proof_fails_it() -> None:
    def mechanism(x: float) -> Any:
        raise SystemExit(0)

    with pytest.raises(MechanismRaised, match="before there was a verdict"):
        assert_private(mechanism, 1.0, all_inputs=True)


def ratio(x: float) -> Any:
    return x + dpest.laplace(1) / dpest.laplace(1) * dpest.laplace(2) / dpest.gaussian(1)


def test_an_interrupted_assertion_does_not_pass() -> None:
    with pytest.raises(KeyboardInterrupt, match="before the claim epsilon = 3 of ratio was checked"):
        assert_private(ratio, 3.0, (0, 1), samples=300_000, progress=stop_after(0.3))


def test_a_violation_that_was_seen_before_the_interruption_is_still_one() -> None:
    with pytest.raises(PrivacyViolation):
        assert_private(ratio, 0.0, (0, 9), samples=300_000, progress=stop_after(0.6))
