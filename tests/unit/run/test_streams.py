from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from dpest.errors import InvalidInput
from dpest.run.streams import resolve_seed, stream


def test_same_key_same_numbers_other_key_other_numbers() -> None:
    first = stream(5, 1, 2).random(4)
    assert (first == stream(5, 1, 2).random(4)).all()
    others = [stream(5, 2, 1), stream(5, 1), stream(5, 1, 2, 0), stream(6, 1, 2)]
    assert all((first != other.random(4)).all() for other in others)


def test_the_same_in_another_process() -> None:
    program = "from dpest.run.streams import stream; print(stream(5, 1, 2).integers(2**62))"
    there = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert int(there.stdout) == stream(5, 1, 2).integers(2**62)


def test_seeds() -> None:
    assert resolve_seed(7) == 7
    assert resolve_seed(np.int64(7)) == 7
    assert resolve_seed(None) != resolve_seed(None)
    assert 0 <= resolve_seed(None) < 2**63


@pytest.mark.parametrize("bad", [-1, 1.5, True, "7"])
def test_bad_seeds_are_refused(bad: Any) -> None:
    with pytest.raises(InvalidInput, match="seed must be a whole number"):
        resolve_seed(bad)
