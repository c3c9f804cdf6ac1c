"""Random bytes that are read as numbers, against the law that these have; other uses are refused."""

from __future__ import annotations

import math
import os
import random
import secrets
import struct
from collections.abc import Callable
from os import urandom
from typing import Any

import numpy as np
import pytest

import dpest
from dpest.errors import DpestError


def _uniform() -> Any:
    return int.from_bytes(os.urandom(4), "big") / 2**32


def _two_of_one() -> Any:
    data = secrets.token_bytes(2)
    return int.from_bytes(data, "little") if int.from_bytes(data, "little") > 9 else 9


@pytest.mark.parametrize(
    "is_kept",  # with probability 3/4
    [
        lambda: _uniform() < 0.75,
        lambda: _two_of_one() < 3 * 2**14,
        lambda: int.from_bytes(urandom(1), "big", signed=True) < 64,
        lambda: secrets.token_bytes(1)[0] < 192,
        lambda: next(iter(random.randbytes(2))) >= 64,
        lambda: struct.unpack(">B", os.urandom(1))[0] & 3 != 1,
        lambda: min(struct.unpack("2I", np.random.default_rng().bytes(8))) < 2**31,
        lambda: secrets.token_bytes(1)[-1] % 4 > 0,
    ],
)
def test_a_coin_of_random_bytes(is_kept: Callable[[], Any]) -> None:
    found = dpest.estimate(lambda bit: bit if is_kept() else 1 - bit, (0, 1), method="exact")
    assert found.lower <= math.log(3) <= found.upper
    assert found.upper - found.lower < 1e-9


def _in_two_ways() -> Any:
    data = os.urandom(2)
    return int.from_bytes(data, "little") < int.from_bytes(data, "big")


@pytest.mark.parametrize(
    "use",
    [
        _in_two_ways,
        lambda: os.urandom(1) == b"a",
        lambda: random.randbytes(2).hex() > "8",
        lambda: struct.unpack("<d", os.urandom(8))[0] > 0,
        lambda: secrets.token_bytes(3)[1:][0] > 3,
    ],
)
def test_other_uses_of_random_bytes_are_refused(use: Callable[[], Any]) -> None:
    with pytest.raises(DpestError, match="random bytes"):
        dpest.estimate(lambda bit: bit if use() else 1 - bit, (0, 1), method="exact")


def test_outside_a_trace_bytes_are_bytes() -> None:
    assert type(os.urandom(3)) is type(secrets.token_bytes(3)) is bytes
    assert int.from_bytes(b"\x01\x00", "big") == 256
