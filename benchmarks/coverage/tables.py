"""Mechanisms on tables of pandas: groups, counts of values, labels of what is noisy."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd

from benchmarks.coverage.case import Case
from benchmarks.coverage.reference import laplace_cdf, loss

KINDS = ["red", "green", "blue"]


def counts_of_values(colours: pd.Series):
    counts = colours.value_counts().reindex(KINDS, fill_value=0)
    noisy = counts + np.random.laplace(0, 1, size=len(counts))
    return noisy.round().clip(lower=0).astype(int).to_dict()


def shares_of_values(colours: pd.Series):
    noisy = (colours.value_counts().reindex(KINDS, fill_value=0) + np.random.laplace(0, 1, size=3)).clip(lower=0)
    return (noisy / noisy.sum()).to_dict()


def sums_of_groups(df: pd.DataFrame):
    rng = np.random.default_rng()
    return {name: group["pay"].clip(0, 10).sum() + rng.laplace(0, 10) for name, group in df.groupby("dept")}


def pivot_of_counts(df: pd.DataFrame):
    table = df.pivot_table(index="a", columns="b", aggfunc="size", fill_value=0)
    noisy = table + np.random.laplace(0, 1, size=table.shape)
    return noisy.clip(lower=0).round().astype(int)


def two_largest_labels(counts: pd.Series):
    return (counts + np.random.gumbel(0, 2, len(counts))).nlargest(2).index.tolist()


def most_frequent(counts: pd.Series):
    return (counts + np.random.gumbel(0, 2, len(counts))).idxmax()


def large_groups(df: pd.DataFrame):
    sizes = df.groupby("k").size()
    noisy = sizes + np.random.laplace(0, 1, len(sizes))
    return noisy[noisy >= 2].index.tolist()


def randomised_column(column: pd.Series):
    return column.apply(lambda b: b if np.random.random() < 0.8 else 1 - b).tolist()


def labels_of_noisy_values(values: pd.Series):
    noisy = values + np.random.laplace(0, 2, len(values))
    return pd.cut(noisy, [-np.inf, 2, 5, np.inf], labels=["low", "mid", "high"]).tolist()


def mean_of_a_column(df: pd.DataFrame):
    return (df["age"].clip(0, 100) + np.random.laplace(0, 50, len(df))).mean() > 40


def _cells(x: float, b: float, *edges: float) -> dict[int, float]:
    below = [0.0, *(float(laplace_cdf(e - x, b)) for e in edges), 1.0]
    return {i: q - p for i, (p, q) in enumerate(zip(below, below[1:], strict=False))}


def _chosen(counts: Mapping[str, int], k: int) -> dict[tuple[str, ...], float]:
    weights = {name: math.exp(c / 2) for name, c in counts.items()}
    total = math.fsum(weights.values())
    if k == 1:
        return {(name,): w / total for name, w in weights.items()}
    return {
        (name, *rest): w / total * p
        for name, w in weights.items()
        for rest, p in _chosen({n: c for n, c in counts.items() if n != name}, k - 1).items()
    }


def _two_means() -> float:
    """The mean of two values with Laplace noise of scale 50 each is above 40: their sum has a closed distribution function."""

    def above(t: float) -> float:
        p = 0.5 * math.exp(-abs(t) / 50) * (1 + abs(t) / 100)
        return p if t >= 0 else 1 - p

    p, q = above(80 - 60), above(80 - 110)
    return loss({1: p, 0: 1 - p}, {1: q, 0: 1 - q})


_COLOURS = pd.Series(["red", "green", "red"]), pd.Series(["red", "green"])
_COUNTS = {"a": 3, "b": 2, "c": 1}, {"a": 2, "b": 3, "c": 1}
_SERIES = pd.Series(_COUNTS[0]), pd.Series(_COUNTS[1])
_PAY = [pd.DataFrame({"dept": ["x", "y", "x"], "pay": [5, p, 20]}) for p in (7, 2)]
_CROSSED = [pd.DataFrame({"a": [0, 1, 1], "b": [0, 1, b]}) for b in (0, 1)]
_AGES = pd.DataFrame({"age": [10, 50]}), pd.DataFrame({"age": [10, 150]})
_GROUPS = [pd.DataFrame({"k": list(k)}) for k in ("aab", "abb")]
_BITS = pd.Series([1, 0, 1]), pd.Series([1, 1, 1])
_DWORK, _TOP = "Dwork et al. 2006", "Durfee and Rogers 2019"


def _large() -> float:
    one, other = _cells(2, 1, 2), _cells(1, 1, 2)
    return loss(
        {(i, j): one[i] * other[j] for i in (0, 1) for j in (0, 1)}, {(i, j): other[i] * one[j] for i in (0, 1) for j in (0, 1)}
    )


def _case(name, source, mechanism, pair, truth):
    return Case(name, source, mechanism, tuple(pair), truth if callable(truth) else lambda: truth, "closed form")


CASES = (
    _case("counts of values as whole numbers", _DWORK, counts_of_values, _COLOURS, 1.0),
    _case("shares of values", "Dwork et al. 2006, post-processed", shares_of_values, _COLOURS, 1.0),
    _case("clipped sums of groups", _DWORK, sums_of_groups, _PAY, 0.5),
    _case("pivot of counts", _DWORK, pivot_of_counts, _CROSSED, 2.0),
    _case("two largest labels", _TOP, two_largest_labels, _SERIES, lambda: loss(*(_chosen(c, 2) for c in _COUNTS))),
    _case("most frequent label", _TOP, most_frequent, _SERIES, lambda: loss(*(_chosen(c, 1) for c in _COUNTS))),
    _case("labels of large groups", "Korolova et al. 2009", large_groups, _GROUPS, _large),
    _case("randomised response by apply", "Warner 1965", randomised_column, _BITS, math.log(4)),
    _case(
        "labels of noisy values by cut",
        _DWORK,
        labels_of_noisy_values,
        (pd.Series([1.0, 4.0]), pd.Series([2.0, 4.0])),
        lambda: loss(_cells(1, 2, 2, 5), _cells(2, 2, 2, 5)),
    ),
    _case("mean of a noisy column, above a bound", _DWORK, mean_of_a_column, _AGES, _two_means),
)
