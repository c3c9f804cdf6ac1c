"""What a person reads when a result is printed."""

from __future__ import annotations

import math

from dpest.report.numbers import bracket, log_number, loss, seconds
from dpest.report.text import result_text
from dpest.results import Evidence
from tests.unit.report.samples import result


def test_exact_result_names_everything_that_one_checks_by_hand() -> None:
    text = result_text(result())
    assert text.startswith("coin: epsilon = 0.69314718055995 (± 1e-15, exact)\n")
    assert "worst pair  one_above: D = [1, 1], D' = [2, 1]" in text
    assert "output == 1; probability 0.25 under D, 0.5 under D'; ln(D' / D) = 0.69314718056" in text
    assert "exact: two paths, one output each" in text


def test_statistical_result_carries_its_confidence_and_samples() -> None:
    changed = result(evidence=Evidence.LOWER_BOUND, confidence=0.95, lower=0.5, upper=math.inf, method="sampling", samples=10**6)
    text = result_text(changed)
    assert "0.6931 (at least 0.5, lower bound at 95 % confidence)" in text
    assert "sampling, 1,000,000 samples" in text


def test_infinite_result_is_proved_in_exact_mode() -> None:
    text = result_text(result(epsilon=math.inf, lower=math.inf, upper=math.inf))
    assert text.startswith("coin: epsilon = infinite (exact, proved)")


def test_digits_follow_the_bracket() -> None:
    assert loss(0.123456789, 0.1233, 0.1236) == "0.123"
    assert bracket(0.5, 0.4, 0.6) == "in [0.4, 0.6]"
    assert loss(0.0, 0.0, 0.0) == "0"


def test_tiny_probabilities_keep_their_logarithm() -> None:
    assert log_number(-1000.0) == "exp(-1000)"
    assert log_number(-math.inf) == "0"


def test_durations() -> None:
    assert [seconds(t) for t in (0.0123, 0.5, 12.0)] == ["12 ms", "0.5 s", "12 s"]
