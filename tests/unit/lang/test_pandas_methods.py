"""Columns and tables of pandas that hold noise: methods that insist on plain numbers, against closed forms and NumPy's way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpest
from dpest.errors import MechanismRaised

LEFT, RIGHT = pd.Series([1.0, 2.0, 4.0], index=list("abc")), pd.Series([1.0, 3.0, 4.0], index=list("abc"))


def noisy(counts: Any) -> Any:
    return counts + np.random.default_rng().laplace(0, 1, size=3)


def exact(mechanism: Callable[..., Any]) -> Any:
    return dpest.estimate(mechanism, (LEFT, RIGHT), method="exact")


def whole_numbers(counts: Any) -> Any:
    return noisy(counts).round().clip(lower=0).astype(int).to_dict()


def cut_off(counts: Any) -> Any:
    return noisy(counts).astype(int).tolist()


def types_of_a_table(counts: Any) -> Any:
    return pd.DataFrame({"noisy": noisy(counts), "public": 1.0}).round().astype({"noisy": int})


def shares(counts: Any) -> Any:
    kept = noisy(counts).clip(lower=0)
    return (kept / kept.sum()).to_dict()


@pytest.mark.parametrize("mechanism", [whole_numbers, cut_off, types_of_a_table, lambda c: noisy(c).mean(), shares])
def test_the_loss_is_that_of_laplace_noise(mechanism: Callable[..., Any]) -> None:
    found = exact(mechanism)
    # Closed form: one count moves by 1 under noise of scale 1, and what is released far out tells all of it.
    assert found.lower <= 1 <= found.upper
    assert found.upper - found.lower < 1e-10


PAIRS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "median": (lambda c: noisy(c).median(), lambda c: np.median(noisy(c.to_numpy()))),
    "largest": (lambda c: noisy(c).max(), lambda c: np.max(noisy(c.to_numpy()))),
    "label of the largest": (lambda c: noisy(c).idxmax(), lambda c: "abc"[int(np.argmax(noisy(c.to_numpy())))]),
    "label of the smallest": (lambda c: noisy(c).idxmin(), lambda c: "abc"[int(np.argmin(noisy(c.to_numpy())))]),
    "two largest": (lambda c: noisy(c).nlargest(2).index.tolist(), lambda c: np.argsort(-noisy(c.to_numpy()))[:2].tolist()),
    "two smallest": (lambda c: noisy(c).nsmallest(2).index.tolist(), lambda c: np.argsort(noisy(c.to_numpy()))[:2].tolist()),
    "above the mean": (
        lambda c: (lambda n: n[n > n.mean()].index.tolist())(noisy(c)),
        lambda c: (lambda n: [bool(v > sum(n) / 3) for v in n])(noisy(c.to_numpy())),
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_it_loses_what_the_same_mechanism_on_arrays_loses(name: str) -> None:
    with_pandas, with_arrays = map(exact, PAIRS[name])
    assert with_pandas.epsilon == pytest.approx(with_arrays.epsilon, rel=1e-6)
    assert max(with_pandas.lower, with_arrays.lower) <= min(with_pandas.upper, with_arrays.upper)


@pytest.mark.parametrize("options", [{"keep": "all"}, {"keep": "last"}])
def test_options_that_are_not_known_here_are_left_to_pandas(options: Any) -> None:
    with pytest.raises(MechanismRaised, match="dtype object"):
        exact(lambda c: noisy(c).nlargest(2, **options).index.tolist())
    with pytest.raises(MechanismRaised, match="dtype object"):
        exact(lambda c: pd.DataFrame({"n": noisy(c)}).nlargest(2, "n").index.tolist())


def test_bounds_with_labels_of_their_own_are_aligned_by_pandas() -> None:
    bounds = pd.Series([4.0, 2.0, 1.0], index=list("cba"))
    found = exact(lambda c: noisy(c).clip(upper=bounds).to_dict())
    # Closed form: "b" is cut off at 2, where its noise has density e^-|y - 2| below and mass above; every y tells at most 1.
    assert found.epsilon == pytest.approx(1.0, rel=1e-9)


def test_the_mean_of_a_column_is_a_third_of_its_sum() -> None:
    found = exact(lambda c: (lambda n: (n.mean(), pd.DataFrame({"n": n}).mean().tolist()))(noisy(c)))
    alone = exact(lambda c: noisy(c).sum())
    assert found.epsilon == pytest.approx(alone.epsilon, rel=1e-9)


def test_pandas_has_its_own_methods_again_afterwards() -> None:
    before = [vars(pd.Series)[name] for name in ("mean", "max", "nlargest")]
    exact(whole_numbers)
    assert [vars(pd.Series)[name] for name in ("mean", "max", "nlargest")] == before
    assert LEFT.astype(int).tolist() == [1, 2, 4]
