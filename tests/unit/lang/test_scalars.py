"""Methods and functions of NumPy's for single numbers, on random values. Oracle: closed forms of Laplace noise."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dpest

_RNG = np.random.default_rng()


def _noisy(n: float) -> Any:
    return np.array([n, 4.0]) + _RNG.laplace(0, 2, size=2)


_SAME = {
    "item": lambda n: _noisy(n)[0].item(),
    "tolist": lambda n: _noisy(n)[0].tolist(),
    "copy": lambda n: _noisy(n)[0].copy(),
    "sum": lambda n: np.sum(_noisy(n)[0]),
    "mean": lambda n: _noisy(n)[0].mean(),
    "max": lambda n: np.max(_noisy(n)[0]),
    "astype float": lambda n: _noisy(n)[0].astype(float),
    "of an iterator": lambda n: np.fromiter((_RNG.laplace(x, 2) for x in (n, 4.0)), dtype=float),
    "of an iterator, counted": lambda n: np.fromiter((_RNG.laplace(x, 2) for x in (n, 4.0, 5.0)), float, count=2) / 2,
    "clip": lambda n: _noisy(n)[0].clip(-50, 50),
    "clip from below": lambda n: np.clip(_noisy(n)[0], a_min=0, a_max=None),
    "rounded": lambda n: _noisy(n)[0].round(1),
    "rounded to whole numbers": lambda n: np.round(_noisy(n)[0]),
    "cut off": lambda n: _noisy(n + 3)[0].astype(int),
    "cut off, 64 bits": lambda n: (_noisy(n + 3)).astype(np.int64),
    "rounded, 64 bits": lambda n: np.round(_noisy(n)).astype("int64").tolist(),
}


@pytest.mark.parametrize("mechanism", _SAME.values(), ids=_SAME.keys())
def test_the_loss_is_that_of_the_number(mechanism: Callable[[float], Any]) -> None:
    r = dpest.estimate(mechanism, (1.0, 2.0), method="exact", progress=False)
    assert r.lower <= 0.5 <= r.upper
    assert r.upper - r.lower < 1e-8


def test_a_truth_value_counts() -> None:
    r = dpest.estimate(lambda n: 3 + np.sum(n + dpest.laplace(2) > 0), (0.0, 1.0), method="exact", progress=False)
    low = 0.5 * math.exp(-0.5)
    truth = max(math.log(0.5 / low), math.log((1 - low) / 0.5))
    assert r.lower <= truth <= r.upper
    assert r.upper - r.lower < 1e-9
    assert "output == 3" in str(r.witness)


def test_an_axis_that_a_number_does_not_have() -> None:
    with pytest.raises(dpest.errors.DpestError, match="axis 1"):
        dpest.estimate(lambda n: _noisy(n)[0].sum(axis=1), (0, 1), method="exact", progress=False)


def _selected(n: float) -> Any:
    y = n + _RNG.laplace(0, 0.5)
    return np.select([y < 0, y > 1], [0.0, 1.0], default=y).item()


def _selected_names(n: float) -> Any:
    y = n + _RNG.laplace(0, 0.5)
    return str(np.select([y < 0, y > 1], ["low", "high"], default="middle"))


def test_select() -> None:
    r = dpest.estimate(_selected, (0.25, 0.75), method="exact", progress=False)
    assert r.lower <= 1 <= r.upper
    assert r.upper - r.lower < 1e-9
    r = dpest.estimate(_selected_names, (0.25, 0.75), method="exact", progress=False)
    assert r.lower <= 1 <= r.upper
    assert r.upper - r.lower < 1e-9


class _Table:
    """As much of a table of pandas as an output shows: labels and values."""

    index = ("a", ("b", 1))
    columns = ("n",)

    def __init__(self, values: Any) -> None:
        self.values = values

    def to_numpy(self, dtype: Any) -> Any:
        return np.array(self.values, dtype=dtype)


_Table.__module__ = "pandas.core.frame"


def test_a_table_of_pandas_is_an_output() -> None:
    def table(n: float) -> Any:
        return _Table([[n + _RNG.laplace(0, 2)], [3.0]])

    r = dpest.estimate(table, (1.0, 2.0), method="exact", progress=False)
    assert r.lower <= 0.5 <= r.upper
    assert r.upper - r.lower < 1e-9
    assert "rows=['a', ('b', 1)]" in str(r.witness)


def test_frames_and_series_of_pandas() -> None:
    pandas = pytest.importorskip("pandas")

    def counted(names: list[str]) -> Any:
        counts = pandas.Series(names).value_counts().sort_index()
        return counts + _RNG.laplace(0, 2, len(counts))

    r = dpest.estimate(counted, (["a", "b", "a"], ["a", "b", "b"]), method="exact", progress=False)
    assert r.lower <= 1 <= r.upper
    assert r.upper - r.lower < 1e-9


def test_a_binomial_draw_of_many_coins() -> None:
    """More points than are listed: the check on plain numbers draws it by SciPy, whose NumPy wants whole numbers."""
    r = dpest.estimate(lambda x: x + np.random.default_rng().binomial(4_000_000, 0.5), (0, 1), method="exact", progress=False)
    assert r.upper == math.inf
