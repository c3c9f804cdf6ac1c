"""`dpest compose`, `--delta`, and the event that shows a violated (epsilon, delta)."""

from __future__ import annotations

import csv
import io
import json
import math
import shlex
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import mpmath
import pytest

from dpest.cli import main
from tests.oracles.compositions import gaussian

MINE = """
import dpest

def release(x, sigma=10.0):
    return x + dpest.gaussian(sigma)

def coin(x):
    return dpest.bernoulli(0.75 if x else 0.25)
"""
Run = Callable[[str], tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Run]:
    (tmp_path / "mine.py").write_text(MINE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))

    def go(command: str) -> tuple[int, str, str]:
        sys.modules.pop("mine", None)
        status = main(shlex.split(command))
        output = capsys.readouterr()
        return status, output.out, output.err

    yield go
    sys.modules.pop("mine", None)


def test_epsilon_at_a_delta(run: Run) -> None:
    status, out, _ = run("compose mine.py:release --pair 0 1 --steps 100 --delta 1e-5 --json")
    found = json.loads(out)["at_delta"]
    assert status == 0
    assert gaussian(mpmath.mpf(1), found["upper"]) <= 1e-5 <= gaussian(mpmath.mpf(1), found["lower"])


def test_delta_at_an_epsilon(run: Run) -> None:
    status, out, _ = run("compose mine.py:release --pair 0 1 --steps 100 --epsilon 1")
    assert status == 0
    assert "release, 100 runs: delta = 0.12693673750" in out


def test_the_curve_as_text_and_csv(run: Run) -> None:
    _, out, _ = run("compose mine.py:coin --pair 0 1 --steps 3")
    assert "coin, 3 runs" in out
    assert "at delta 1e-05" in out
    _, out, _ = run("compose mine.py:coin --pair 0 1 --steps 3 --csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert float(rows[-1]["epsilon"]) == pytest.approx(3 * math.log(3), rel=1e-6)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--steps 0", "whole number of runs >= 1, got 0"),
        ("--delta 2", "delta must lie in [0, 1], got 2.0"),
        ("--epsilon -1", "epsilon must be a number >= 0"),
        ("--tolerance 2", "tolerance must lie strictly between 0 and 1"),
    ],
)
def test_mistakes_are_one_sentence(run: Run, options: str, words: str) -> None:
    status, out, err = run(f"compose mine.py:coin --pair 0 1 {options}")
    assert (status, out) == (2, "")
    assert words in err
    assert "Traceback" not in err


def test_estimate_with_delta(run: Run) -> None:
    _, out, _ = run("estimate mine.py:release --pair 0 1 --delta 1e-5")
    assert "at delta 1e-05: epsilon = 0.3" in out
    assert "no epsilon holds at delta = 0" in out
    _, out, _ = run("estimate mine.py:release --pair 0 1 --delta 1e-5 --json")
    assert json.loads(out)["at_delta"]["delta"] == 1e-5
    status, _, err = run("estimate mine.py:release --pair 0 1 --delta 7")
    assert status == 2
    assert "delta must lie in [0, 1]" in err


def test_a_violated_delta_shows_its_event(run: Run) -> None:
    status, out, _ = run("check mine.py:coin --pair 0 1 --epsilon 0.5 --delta 0.01")
    assert status == 1
    assert "S: output == " in out
    assert "P(S) = 0.75" in out
    assert "difference 0.33782" in out
    status, out, _ = run("check mine.py:release --pair 0 1 --epsilon 0.1 --delta 1e-4 --json")
    event = json.loads(out)["verdict"]["event"]
    assert status == 1
    likely, other = sorted([event["left"], event["right"]], reverse=True)
    assert likely - math.exp(0.1) * other == pytest.approx(event["delta"], rel=1e-6)
    assert event["event"].startswith("output ")
