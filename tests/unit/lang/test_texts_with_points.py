"""Texts of floats have a point or an exponent, texts of whole numbers have none: neither is taken for the other."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

import dpest
from dpest.errors import ExactRefused, NoText

_NUMPY = np.random.default_rng(0)


def _tail(x: float) -> float:
    """P(Laplace noise > x)."""
    return 0.5 * math.exp(-x) if x > 0 else 1 - 0.5 * math.exp(x)


def _rounded(n: float) -> dict[int, float]:
    """How likely each number of tenths is that is larger than 0, and 0 for the rest."""
    out = {k: _tail((k - 0.5) / 10 - n) - _tail((k + 0.5) / 10 - n) for k in range(1, 30)}
    return {**out, 0: 1 - _tail(0.05 - n)}


def shown_as_json(n: int) -> str:
    return json.dumps({"count": max(0, round(n + _NUMPY.laplace(), 1)), "unit": "people"})


def shown_or_zero(n: int) -> str:
    noisy = round(n + _NUMPY.laplace(), 1)
    return str(noisy) if noisy > 0 else "0"


def shown_or_below(n: int) -> dict[str, str]:
    noisy = n + _NUMPY.laplace()
    return {"n": f"{noisy:.1f}"} if noisy > 0.05 else {"n": "0"}


@pytest.mark.parametrize("mechanism", [shown_as_json, shown_or_zero, shown_or_below])
def test_zero_is_written_in_another_way_than_a_float(mechanism: Any) -> None:
    p, q = _rounded(3), _rounded(2)
    truth = max(abs(math.log(p[k] / q[k])) for k in p)
    found = dpest.estimate(mechanism, (3, 2), method="exact")
    assert truth == pytest.approx(1.0, abs=1e-9)
    assert found.lower <= truth + 1e-9
    assert found.upper >= truth - 1e-9
    assert found.upper - found.lower < 1e-9


def the_same_digits_twice(n: int) -> str:
    return f"{round(n + _NUMPY.laplace(), 2):.2f}"


def test_a_rounded_number_shown_with_its_digits() -> None:
    found = dpest.estimate(the_same_digits_twice, (3, 4), method="exact")
    assert found.lower <= 1.0 <= found.upper + 1e-12
    assert found.upper - found.lower < 1e-9


def zero_as_a_float(n: int) -> str:
    noisy = n + _NUMPY.laplace()
    return f"{noisy:.1f}" if noisy > 0 else "0.0"


def whole_or_cut_off(n: int) -> str:
    noisy = n + _NUMPY.laplace()
    return f"{max(0, noisy)}" if noisy < 2 else f"{noisy}"


@pytest.mark.parametrize("mechanism", [zero_as_a_float, whole_or_cut_off])
def test_what_may_be_the_same_text_is_refused(mechanism: Any) -> None:
    with pytest.raises((ExactRefused, NoText)):
        dpest.estimate(mechanism, (3, 4), method="exact")
