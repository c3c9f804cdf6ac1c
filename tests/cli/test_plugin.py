"""`assert_private` and the summary of the pytest plugin, alone and under xdist."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

import dpest
from dpest.errors import InvalidInput
from dpest.testing import PrivacyViolation, assert_private, recording

ROOT = Path(__file__).parents[2]
CLAIMS = """
import dpest
from dpest.testing import assert_private

def coin(x):
    return dpest.bernoulli(0.75 if x else 0.25)

def test_holds():
    assert_private(coin, epsilon=1.1, pairs=(0, 1))

def test_violated():
    assert_private(coin, epsilon=1.0, pairs=(0, 1))
"""


def coin(x: int) -> object:
    return dpest.bernoulli(0.75 if x else 0.25)


def run_pytest(folder: Path, *arguments: str) -> str:
    (folder / "test_claims.py").write_text(CLAIMS, encoding="utf-8")
    installed = any(e.value == "dpest.pytest_plugin" for e in entry_points(group="pytest11"))
    plugin = [] if installed else ["-p", "dpest.pytest_plugin"]
    command = [sys.executable, "-m", "pytest", "-q", *plugin, *arguments, "--rootdir", str(folder), str(folder)]
    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    environment = {**own, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False).stdout


def test_claim_that_holds_gives_the_result() -> None:
    assert float(assert_private(coin, epsilon=1.1, pairs=(0, 1))) == pytest.approx(1.0986122886681098)


def test_failure_is_the_counterexample() -> None:
    with pytest.raises(PrivacyViolation) as caught:
        assert_private(coin, epsilon=1.0, pairs=(0, 1))
    text = str(caught.value)
    assert "coin: the claim epsilon = 1 is violated: epsilon = 1.0986" in text
    assert "D = 0, D' = 1" in text
    assert "probability 0.75" in text


def test_delta_of_the_claim_counts() -> None:
    assert_private(coin, epsilon=0.0, delta=0.5, pairs=(0, 1))
    with pytest.raises(PrivacyViolation, match="delta = 0.5"):
        assert_private(coin, epsilon=0.0, delta=0.4, pairs=(0, 1))


def test_claim_must_be_a_number() -> None:
    with pytest.raises(InvalidInput, match="claimed epsilon must be a number >= 0, got -1"):
        assert_private(coin, epsilon=-1, pairs=(0, 1))


def test_checks_are_recorded() -> None:
    with recording() as checks:
        assert_private(coin, epsilon=1.1, pairs=(0, 1))
    assert [(c.mechanism, c.outcome, c.method, c.pairs) for c in checks] == [("coin", "holds", "exact", 1)]


@pytest.mark.parametrize("arguments", [(), ("-n", "2")], ids=["alone", "xdist"])
def test_summary_lists_what_was_checked(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    if arguments:
        pytest.importorskip("xdist")
    output = run_pytest(tmp_path, *arguments)
    assert "privacy claims checked by dpest" in output
    assert "coin: epsilon = 1.1 holds; found epsilon = 1.0986" in output
    assert "coin: epsilon = 1 violated; found epsilon = 1.0986" in output
    assert "1 failed, 1 passed" in output
