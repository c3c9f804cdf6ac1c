"""Audits of true claims are right as often as they say, or refused, for each mechanism of the benchmark."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from audit_honesty import CASES, Case, outcome

FEW = ("threshold shared by rows", "noise kept for 20 calls", "cached answers", "sticky coin, 0.9", "static layer")


@pytest.mark.parametrize("case", [c for c in CASES if c.name in FEW], ids=lambda c: c.name)
def test_dependent_runs_accuse_nobody(case: Case) -> None:
    assert outcome(case, 4, first=1000).above <= 2  # three of four have a chance of 0.0005


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_each_mechanism_keeps_its_confidence(case: Case) -> None:
    audits = 4 if case.workers > 1 or "clock" in case.name else 20
    assert outcome(case, audits, first=2000).p_value > 1e-4
