"""When a claim holds, when it is violated, and when nobody can tell."""

from __future__ import annotations

import math
from typing import Any

import pytest

from dpest.errors import InvalidInput, NotCovered
from dpest.report.verdict import Outcome, judge, verdict_text
from dpest.results import Evidence
from tests.unit.report.samples import result

LN2 = math.log(2)
SAMPLED: dict[str, Any] = {"evidence": Evidence.LOWER_BOUND, "method": "sampling", "confidence": 0.95, "upper": math.inf}


@pytest.mark.parametrize(
    ("claim", "changes", "outcome"),
    [
        (1.0, {}, Outcome.HOLDS),
        (LN2, {}, Outcome.HOLDS),
        (0.69, {}, Outcome.VIOLATED),
        (LN2 * (1 - 1e-10), {}, Outcome.VIOLATED),
        (LN2, {"lower": 0.6, "upper": 0.7}, Outcome.NOT_REFUTED),
        (0.5, {"lower": 0.6, **SAMPLED}, Outcome.VIOLATED),
        (1.0, {"lower": 0.6, **SAMPLED}, Outcome.NOT_REFUTED),
    ],
)
def test_outcomes(claim: float, changes: dict[str, Any], outcome: Outcome) -> None:
    assert judge(result(**changes), claim).outcome is outcome


def test_sentence_names_claim_and_evidence() -> None:
    found = result()
    sentence = "coin: the claim epsilon = 0.5 is violated: epsilon = 0.69314718055995 (± 1e-15, exact)"
    assert verdict_text(found, judge(found, 0.5)) == sentence


@pytest.mark.parametrize(("epsilon", "delta"), [(-1.0, 0.0), (math.nan, 0.0), (1.0, 2.0)])
def test_claims_are_checked(epsilon: float, delta: float) -> None:
    with pytest.raises(InvalidInput):
        judge(result(), epsilon, delta)


def test_delta_needs_a_profile() -> None:
    with pytest.raises(NotCovered):
        judge(result(), 1.0, 1e-6)
