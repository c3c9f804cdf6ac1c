"""`float`, `int`, text and SciPy's `rvs` on random values, each against a closed form."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np
import pytest
import scipy.stats

import dpest


def laplace_below(x: float) -> float:
    return 0.5 * math.exp(x) if x < 0 else 1 - 0.5 * math.exp(-x)


def cut(x: float) -> list[float]:
    """The law of int(x + Laplace(1)), cut to -2..2: int goes towards zero."""
    edges = [-math.inf, -2, -1, 1, 2, math.inf]
    upto = [0.0 if e == -math.inf else 1.0 if e == math.inf else laplace_below(e - x) for e in edges]
    return [b - a for a, b in zip(upto, upto[1:], strict=False)]


def loss(p: list[Any], q: list[Any]) -> float:
    return max(abs(float(mp.log(mp.mpf(a) / mp.mpf(b)))) for a, b in zip(p, q, strict=True))


def skellam(centre: int) -> list[Any]:
    """Skellam(4, 4) + centre, clamped to 0..5, at 30 digits."""
    with mp.workdps(30):
        out = [mp.mpf(0)] * 6
        for k in range(-60, 61):
            out[min(max(centre + k, 0), 5)] += mp.exp(-8) * mp.besseli(abs(k), 8)
        return out


CASES: dict[str, tuple[Callable[[Any], Any], tuple[Any, Any], float]] = {
    "float around the answer": (lambda x: float(x + np.random.laplace()), (0, 1), 1.0),  # noqa: NPY002
    "float of a coin": (lambda x: float(random.random() < (0.25 if x else 0.75)), (0, 1), math.log(3)),
    "float of a plain number": (lambda x: float(x) + dpest.laplace(1.0), (0, 1), 1.0),
    "float of text": (lambda x: float("1.5") * x + dpest.laplace(1.0), (0, 1), 1.5),
    "float as a type of arrays": (lambda x: float(np.zeros(2, dtype=float).sum()) + x + dpest.laplace(1.0), (0, 1), 1.0),
    "float in isinstance": (lambda x: float(x if isinstance(0.5, float) else -x) + dpest.laplace(1.0), (0, 1), 1.0),
    "int cuts off": (lambda x: max(-2, min(2, int(x + dpest.laplace(1.0)))), (0, 1), loss(cut(0), cut(1))),
    "int of a geometric draw": (lambda x: int(x + dpest.geometric(2.0)), (0, 1), 0.5),
    "int of a coin": (lambda x: [int(random.random() < (0.25 if x else 0.75)) for _ in range(3)], (0, 1), 3 * math.log(3)),
    "int in another base": (lambda x: int("11", 2) * x + dpest.laplace(1.0), (0, 1), 3.0),
    "text of a random index": (lambda x: f"{random.randrange(2)}" if x else f"{int(random.randrange(4) // 2)}", (0, 1), 0.0),
    "a random index with a format": (lambda x: f"{random.randrange(3):02d}{x // 2}", (0, 1), 0.0),
    "rvs of a family": (lambda x: x + scipy.stats.laplace.rvs(scale=2.0), (0, 1), 0.5),
    "rvs with a place": (lambda x: scipy.stats.norm.rvs(loc=x) > 0, (0, 0.5), math.log(0.5 / (0.5 * math.erfc(0.5 / 2**0.5)))),
    "rvs of a frozen law": (lambda x: x + scipy.stats.laplace(0, 4.0).rvs(), (0, 1), 0.25),
    "rvs of several": (lambda x: list(x + scipy.stats.laplace.rvs(size=3)), (0, 1), 3.0),
    "rvs of a discrete law": (lambda x: x + int(scipy.stats.dlaplace.rvs(0.5)), (0, 1), 0.5),
    "Skellam of SciPy": (lambda x: min(max(x + scipy.stats.skellam.rvs(4.0, 4.0), 0), 5), (2, 3), loss(skellam(2), skellam(3))),
    "a difference of Poisson draws": (
        lambda x: min(max(x + np.random.poisson(4.0) - np.random.poisson(4.0), 0), 5),  # noqa: NPY002
        (2, 3),
        loss(skellam(2), skellam(3)),
    ),
    "a difference of geometric draws": (
        lambda x: x + int(np.random.geometric(1 - math.exp(-0.5))) - int(np.random.geometric(1 - math.exp(-0.5))),  # noqa: NPY002
        (0, 1),
        0.5,
    ),
    "a threshold on a difference of gamma draws": (
        lambda x: x + np.random.gamma(2.0) - np.random.gamma(2.0) > 0,  # noqa: NPY002
        (0, 1),
        math.log(0.5 / (math.exp(-1) * (2 + 1) / 4)),  # P(G - G' > t) = e^-t (2 + t) / 4, and one half at 0
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_it_is_what_the_program_says(name: str) -> None:
    mechanism, pair, truth = CASES[name]
    found = dpest.estimate(mechanism, pair, method="exact")
    assert found.lower <= truth * (1 + 1e-12)
    assert truth <= found.upper * (1 + 1e-12)
    assert found.upper - found.lower <= 1e-8


def test_a_seed_of_scipy_is_known_to_everybody() -> None:
    found = dpest.estimate(lambda x: x + scipy.stats.norm.rvs(random_state=7), (0, 1))
    assert found.epsilon == math.inf
    assert any("random_state=7" in note for note in found.notes)


def test_scipy_draws_as_before_outside_a_mechanism() -> None:
    before = scipy.stats.norm.rvs(size=3, random_state=1)
    dpest.estimate(lambda x: x + scipy.stats.norm.rvs(), (0, 1))
    assert np.array_equal(before, scipy.stats.norm.rvs(size=3, random_state=1))
    assert scipy.stats._distn_infrastructure.rv_generic.rvs.__module__.startswith("scipy")
    assert not hasattr(scipy.stats._distn_infrastructure.rv_generic.rvs, "__wrapped__")


def test_a_name_of_the_authors_is_not_replaced() -> None:
    """A function that asks whether something is that very type keeps Python's own."""

    def typed(x: Any) -> Any:
        return x + dpest.laplace(1.0) if type(float(1)) is float else 0

    assert dpest.estimate(typed, (0, 1), method="exact").epsilon == pytest.approx(1.0)
    r = dpest.estimate(lambda x: float(x + dpest.laplace(1.0)) if type(x + 0.5) is float else 0, (0, 1), method="exact")
    assert r.lower <= 1.0 <= r.upper


def test_numpys_own_number_types_keep_a_value_random() -> None:
    def mechanism(x):
        return np.float64(x + dpest.laplace(2)), np.int64(np.round(x + dpest.laplace(2)))

    r = dpest.estimate(mechanism, (0, 1), method="exact")
    assert r.lower <= 1.0 <= r.upper
    assert r.upper - r.lower < 1e-9


def test_numpys_own_number_types_are_as_before_everywhere_else() -> None:
    def mechanism(x):
        a = np.zeros(2, dtype=np.float64)
        same = a.dtype == np.float64 and isinstance(np.float64(2), np.float64) and np.issubdtype(np.int64, np.integer)
        same = same and np.result_type(np.float64, np.int64) == np.float64 and np.iinfo(np.int64).max > 5
        same = same and np.array([1, 2], np.int64).astype(np.float64).sum() == 3.0 and np.finfo(np.float64).eps < 1e-9
        return same, x + np.float64(dpest.laplace(1))

    before = np.float64, np.int64
    r = dpest.estimate(mechanism, (0, 1), method="exact")
    assert "True" in str(r.witness)
    assert r.lower <= 1.0 <= r.upper
    assert before == (np.float64, np.int64)
    assert np.float64 is before[0]


def test_the_text_of_a_truth_as_a_number() -> None:
    def mechanism(bits):
        return "".join(str(int(random.random() < (0.75 if b else 0.25))) for b in bits)

    r = dpest.estimate(mechanism, ([0, 1], [0, 0]), method="exact")
    assert r.lower <= math.log(3) <= r.upper
    assert r.upper - r.lower < 1e-9


def test_a_seed_that_is_drawn_forks_the_run() -> None:
    noise = {seed: int(np.random.default_rng(seed).integers(0, 3)) for seed in range(4)}
    counts = [sum(v == k for v in noise.values()) for k in range(3)]

    def mechanism(x):
        rng = np.random.default_rng(random.randrange(4))
        return (x + int(rng.integers(0, 3))) % 3

    r = dpest.estimate(mechanism, (0, 1), method="exact")
    pairs = [(counts[y], counts[(y - 1) % 3]) for y in range(3)]
    truth = max(math.inf if 0 in p and sum(p) else abs(math.log(p[0] / p[1])) for p in pairs if sum(p))
    assert r.lower <= truth <= r.upper or r.epsilon == truth


class Noised:
    """A number of the author's own, with noise in it."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __float__(self) -> float:
        return self.value  # type: ignore[no-any-return]

    def __int__(self) -> int:
        return int(self.value)


def _below(x: float) -> float:
    """The distribution function of Laplace noise of scale 2."""
    return laplace_below(x / 2)


def test_an_object_of_the_authors_that_says_what_number_it_is() -> None:
    def mechanism(x: float, convert: Any) -> Any:
        return convert(Noised(x + random.choice([-1, 1]) * random.expovariate(0.5)))

    def of_numpy(x: float, rng: np.random.Generator) -> Any:
        return np.trunc(np.array([x + rng.laplace(0, 2)]))

    cells = [(k - (k <= 0), k + (k >= 0)) for k in range(-6, 7)]  # what is behind the point is cut off
    cut_off = loss(*([_below(b - x) - _below(a - x) for a, b in cells] for x in (0, 1)))
    asked: list[tuple[Any, float, dict[str, Any]]] = [
        (mechanism, 0.5, {"convert": float}),
        (mechanism, cut_off, {"convert": int}),
        (of_numpy, cut_off, {}),
    ]
    for one, truth, params in asked:
        found = dpest.estimate(one, (0, 1), method="exact", params=params)
        assert found.lower - 1e-12 <= truth <= found.upper + 1e-12
        assert found.upper - found.lower < 1e-9
