"""Noise cut to an interval by its quantile function, in two branches as authors write it: the loss in closed form."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest

import dpest


def cut_laplace(x: Any, low: float = 0.0, high: float = 10.0, b: float = 2.0) -> Any:
    def below(t: float) -> Any:
        return 0.5 * math.exp((t - x) / b) if t < x else 1 - 0.5 * math.exp(-(t - x) / b)

    u = random.uniform(below(low), below(high))
    return x + b * math.log(2 * u) if u < 0.5 else x - b * math.log(2 - 2 * u)


@pytest.mark.parametrize("pair", [(4.0, 5.0), (2.0, 2.5), (1.0, 9.0)])
def test_laplace_noise_cut_by_its_quantile_function(pair: tuple[float, float]) -> None:
    def weight(x: float) -> float:
        return 1 - 0.5 * math.exp(-x / 2) - 0.5 * math.exp(-(10 - x) / 2)

    far = abs(pair[0] - pair[1]) / 2 + abs(math.log(weight(pair[0]) / weight(pair[1])))
    r = dpest.estimate(cut_laplace, pair, method="exact")
    assert r.lower <= far <= r.upper
    assert r.upper - r.lower < 1e-9
