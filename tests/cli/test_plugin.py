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


def run_pytest(folder: Path, *arguments: str, tests: str = CLAIMS) -> str:
    (folder / "test_claims.py").write_text(tests, encoding="utf-8")
    installed = any(e.value == "dpest.pytest_plugin" for e in entry_points(group="pytest11"))
    plugin = [] if installed else ["-p", "dpest.pytest_plugin"]
    command = [sys.executable, "-m", "pytest", "-q", *plugin, *arguments, "--rootdir", str(folder), str(folder)]
    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    environment = {**own, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode == 0) == ("failed" not in done.stdout and "error" not in done.stdout), done.stdout
    return done.stdout


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
    assert "[test_claims.py::test_violated]" in output


DRAWN = """
import os
import pytest
from hypothesis import given, settings, strategies as st
import dpest
from dpest.testing import assert_private

def coin(x):
    return dpest.bernoulli(0.75 if x else 0.25)

@settings(max_examples=20, database=None, derandomize=True, deadline=None)
@given(st.floats(0.01, 0.99))
def test_hypothesis(p):
    assert_private(coin, epsilon=1.1, pairs=(0, 1))

def test_once_more():
    assert_private(coin, epsilon=1.1, pairs=(0, 1))
"""
MARKED = """
import pytest
import dpest

def noisy(x, scale=1.0):
    return x[0] + dpest.laplace(scale)

@pytest.mark.private(epsilon=1.0, n=2, all_inputs=True)
def test_marked(private):
    assert private(noisy).proof.check()

@pytest.mark.private(0.5, n=2)
def test_violated(private):
    private(noisy)

@pytest.mark.private(epsilon=0.5, n=2)
class TestGroup:
    def test_inherits(self, private):
        private(noisy, scale=2.0)

@pytest.mark.private(epsilon=1.0, n=2)
def test_forgot(private):
    pass

def test_unmarked(private):
    private(noisy)
"""
LEAVING = """
import os
import dpest
from dpest.testing import assert_private

def gone(x):
    os._exit(0)

def broken(x):
    return x + [1]

def test_gone():
    assert_private(gone, 1.0, (0, 1))

def test_broken():
    assert_private(broken, 1.0, (0, 1))
"""


@pytest.mark.parametrize("arguments", [(), ("-n", "2")], ids=["alone", "xdist"])
def test_summary_adds_up_what_hypothesis_tried(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    output = run_pytest(tmp_path, *arguments, "-p", "no:randomly", tests=DRAWN)
    lines = [line for line in output.splitlines() if line.startswith("coin: ")]
    assert len(lines) == 1
    assert "largest found epsilon = 1.0986122886681" in lines[0]
    assert "; 21 checks [" in lines[0]
    assert "test_claims.py::test_hypothesis" in lines[0]
    assert "test_claims.py::test_once_more" in lines[0]


def test_marker_and_fixture(tmp_path: Path) -> None:
    output = run_pytest(tmp_path, "--strict-markers", tests=MARKED)
    assert "3 failed, 2 passed" in output
    assert "marked private, but no claim was checked: call private(mechanism) in the test" in output
    assert "which claim? write @pytest.mark.private(epsilon=1.0, n=3) above the test" in output
    assert "noisy: epsilon = 1 holds; found epsilon = 1 (" in output


def test_traceback_ends_at_the_line_of_the_test(tmp_path: Path) -> None:
    output = run_pytest(tmp_path)
    assert ">       assert_private(coin, epsilon=1.0, pairs=(0, 1))" in output
    assert "dpest/testing.py" not in output
    assert "test_claims.py:12: PrivacyViolation" in output


def test_a_mechanism_that_ends_the_process_fails_its_test(tmp_path: Path) -> None:
    output = run_pytest(tmp_path, tests=LEAVING)
    assert "2 failed" in output
    assert "gone left with SuddenExit('os._exit(0)') before there was a verdict" in output
    assert "return x + [1]" in output  # the cause, with the author's line
