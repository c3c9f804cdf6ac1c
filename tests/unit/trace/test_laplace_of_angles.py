"""Laplace noise of four uniform numbers, log(1 - a) cos(pi b) + log(1 - c) cos(pi d), that is compared. Oracles: closed forms."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dpest
from dpest.errors import ExactRefused

_RNG = np.random.default_rng()


def _sampled(a: Any, b: Any, c: Any, d: Any) -> Any:
    return np.log(1 - a) * np.cos(np.pi * b) + np.log(1 - c) * np.cos(np.pi * d)


def _standard() -> Any:
    return _sampled(*(random.random() for _ in range(4)))


def _with_sines() -> Any:
    a, b, c, d = _RNG.uniform(size=4)
    return np.log1p(-a) * np.sin(2 * np.pi * b) - np.cos(np.pi * d) * np.log(c)


def _cdf(z: float) -> float:
    return 0.5 * math.exp(z) if z < 0 else 1 - 0.5 * math.exp(-z)


@pytest.mark.parametrize("noise", [_standard, _with_sines])
@pytest.mark.parametrize(("scale", "bound"), [(2.0, 2.5), (0.5, 1.75), (3.0, -1.0)])
def test_a_comparison(noise: Callable[[], Any], scale: float, bound: float) -> None:
    r = dpest.estimate(lambda x: x - scale * noise() > bound, (2.0, 3.0), method="exact", progress=False)
    below = [_cdf((bound - x) / scale) for x in (2.0, 3.0)]
    truth = max(abs(math.log(below[0] / below[1])), abs(math.log((1 - below[0]) / (1 - below[1]))))
    assert r.lower <= truth <= r.upper
    assert r.upper - r.lower < 1e-9


def _truncated(x: float) -> Any:
    y = x - 2 * _standard()
    if y > 5:
        return 5.0
    return 0.0 if y < 0 else y


def _rejected(x: float) -> Any:
    while True:
        y = x + 2 * _standard()
        if 0 <= y <= 5:
            return y


def test_cut_off_at_two_ends() -> None:
    r = dpest.estimate(_truncated, (2.0, 3.0), method="exact", progress=False)
    assert r.lower <= 0.5 <= r.upper
    assert r.upper - r.lower < 1e-9


def test_drawn_again_outside_two_ends() -> None:
    def log_density(y: float, x: float) -> float:
        return -abs(y - x) / 2 - math.log(2 - math.exp(-x / 2) - math.exp((x - 5) / 2))

    truth = max(abs(log_density(y, 1.0) - log_density(y, 2.0)) for y in (0.0, 1.0, 2.0, 5.0))
    r = dpest.estimate(_rejected, (1.0, 2.0), method="exact", progress=False)
    assert r.lower <= truth + 1e-12
    assert truth - 1e-12 <= r.upper
    assert r.upper - r.lower < 1e-9


def _beside_one_of_them(x: float) -> Any:
    a, b, c, d = (random.random() for _ in range(4))
    return x + _sampled(a, b, c, d) > 1, d > 0.5


def _with_another_sum(x: float) -> Any:
    a, b, c, d = (random.random() for _ in range(4))
    return x + _sampled(a, b, c, d) > 1, np.log(1 - a) * np.cos(np.pi * b) - np.log(1 - c) * np.cos(np.pi * d)


def _with_its_second_part(x: float) -> Any:
    a, b, c, d = (random.random() for _ in range(4))
    return x + _sampled(a, b, c, d) > 1, np.log(1 - c) * np.cos(np.pi * d)


@pytest.mark.parametrize("mechanism", [_beside_one_of_them, _with_another_sum, _with_its_second_part])
def test_its_parts_beside_it_are_refused(mechanism: Callable[[float], Any]) -> None:
    with pytest.raises(ExactRefused):
        dpest.estimate(mechanism, (0.0, 1.0), method="exact", progress=False)
