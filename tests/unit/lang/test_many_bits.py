"""Numbers of many random bits: a fraction of them is uniform, and comparisons of whole numbers stay exact."""

from __future__ import annotations

import math
import random
import secrets
from collections.abc import Callable
from typing import Any

import pytest

import dpest
from dpest.errors import DpestError

_SYSTEM = secrets.SystemRandom()


def _by_inverse(u: Any) -> Any:
    """Laplace noise of scale 2 from a uniform number between 0 and 1."""
    u = u - 0.5
    return -2 * math.copysign(1.0, u) * math.log(1 - 2 * abs(u))


@pytest.mark.parametrize(
    "noise",
    [
        lambda: _by_inverse((secrets.randbits(53) + 0.5) / 2**53),
        lambda: _by_inverse(random.getrandbits(64) / 2**64),
        lambda: _by_inverse((_SYSTEM.getrandbits(53) + 1) / (2**53 + 2)),
        lambda: _by_inverse((random.getrandbits(56) >> 3) * 2.0**-53),
        lambda: _by_inverse(int.from_bytes(secrets.token_bytes(8), "big") / (1 << 64)),
        lambda: 2 * math.log(1 - secrets.randbelow(2**53) / 2**53) - 2 * math.log(1 - random.randrange(2**60) / 2**60),
    ],
)
def test_noise_that_is_made_of_bits_is_that_of_uniform_numbers(noise: Callable[[], Any]) -> None:
    found = dpest.estimate(lambda x: x + noise(), (0, 1), method="exact")
    assert found.lower <= 0.5 <= found.upper
    assert found.upper - found.lower < 1e-9


@pytest.mark.parametrize(
    "is_kept",  # with probability 3/4
    [
        lambda: secrets.randbits(53) < 3 * 2**51,
        lambda: random.getrandbits(64) >= 2**62,
        lambda: random.getrandbits(64) / 2**64 < 0.75,
        lambda: secrets.randbits(64) // 2**62 != 1,
    ],
)
def test_coins_that_are_made_of_bits(is_kept: Callable[[], Any]) -> None:
    found = dpest.estimate(lambda bit: bit if is_kept() else 1 - bit, (0, 1), method="exact")
    assert found.lower <= math.log(3) <= found.upper
    assert found.upper - found.lower < 1e-9


def test_fractions_with_visible_steps_keep_them() -> None:
    found = dpest.estimate(lambda x: x + secrets.randbits(4) / 16, (0, 0.5), method="exact")
    assert found.epsilon == math.inf  # 0 is not reached from 0.5
    with pytest.raises(DpestError):  # the last bits of a whole number, which a uniform number does not have
        dpest.estimate(lambda x: (x + secrets.randbits(64)) % 4 > 1, (0, 1), method="exact")
