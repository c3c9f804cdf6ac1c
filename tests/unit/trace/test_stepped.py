"""Rounded noise in further arithmetic: whole numbers whose law is known, against sums over the cells of the noise."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dpest
from dpest.errors import ExactRefused
from dpest.laws.continuous import Exponential, Gumbel, Laplace, Uniform
from dpest.laws.stepped import Stepped
from dpest.numerics.rationals import exact

FAR = 60
LIGHT = 1e-15  # outputs that the cut at FAR changes are lighter


def _cell(low: float, high: float) -> float:
    """The probability that Laplace noise of scale 1 lies between two numbers."""
    if low >= 0:
        return 0.5 * (math.exp(-low) - math.exp(-high))
    return _cell(-high, -low) if high <= 0 else 1 - 0.5 * math.exp(low) - 0.5 * math.exp(-high)


def _rounded(x: float) -> dict[int, float]:
    return {k: _cell(k - 0.5 - x, k + 0.5 - x) for k in range(-FAR, FAR)}


def _floored(x: float) -> dict[int, float]:
    return {k: _cell(k - x, k + 1 - x) for k in range(-FAR, FAR)}


def _pushed(function: Callable[..., Any], *laws: dict[int, float]) -> dict[Any, float]:
    out: dict[Any, float] = {(): 1.0}
    for law in laws:
        out = {(*key, k): p * q for key, p in out.items() for k, q in law.items()}
    found: dict[Any, float] = {}
    for key, p in out.items():
        found[function(*key)] = found.get(function(*key), 0.0) + p
    return found


def _loss(p: dict[Any, float], q: dict[Any, float]) -> float:
    return max(abs(math.log(p[k] / q[k])) for k in p.keys() & q.keys() if min(p[k], q[k]) > LIGHT)


def _which(a: Any, b: Any) -> str:
    return "a" if a > b else "b" if b > a else "tie"


def compared(x: float, rng: np.random.Generator) -> str:
    a, b = round(x + rng.laplace()), round(1 + rng.laplace())
    return _which(a, b)


def remainder(x: float, rng: np.random.Generator) -> Any:
    return (2 * int(np.round(x + rng.laplace()))) % 7


def parity(x: float, rng: np.random.Generator) -> str:
    return "even" if math.floor(x + rng.laplace()) % 2 == 0 else "odd"


def with_a_coin(x: float, rng: np.random.Generator) -> Any:
    return math.floor(x + rng.laplace()) + rng.integers(0, 2)


def behind_a_threshold(x: float, rng: np.random.Generator) -> Any:
    k = round(x + rng.laplace())
    return None if k < 2 else k + rng.integers(0, 2)


def two_questions(x: float, rng: np.random.Generator) -> tuple[Any, Any]:
    k, m = round(x + rng.laplace()), round(rng.laplace())
    return bool(k > m), bool(k + m > 2)


def downwards(x: float, rng: np.random.Generator) -> bool:
    return bool(math.ceil(-x - rng.laplace()) > -math.floor(1 + rng.laplace()))


COIN = {0: 0.5, 1: 0.5}
CASES = [
    (compared, (3.0, 2.0), lambda x: _pushed(_which, _rounded(x), _rounded(1))),
    (compared, (1.25, 2.0), lambda x: _pushed(_which, _rounded(x), _rounded(1))),
    (remainder, (0.0, 1.0), lambda x: _pushed(lambda k: 2 * k % 7, _rounded(x))),
    (parity, (0.0, 0.5), lambda x: _pushed(lambda k: "odd" if k % 2 else "even", _floored(x))),
    (with_a_coin, (0.0, 0.5), lambda x: _pushed(lambda k, c: k + c, _floored(x), COIN)),
    (behind_a_threshold, (3.0, 4.0), lambda x: _pushed(lambda k, c: None if k < 2 else k + c, _rounded(x), COIN)),
    (two_questions, (1.0, 2.0), lambda x: _pushed(lambda k, m: (k > m, k + m > 2), _rounded(x), _rounded(0))),
    # ceil(-z) is -floor(z).
    (downwards, (2.5, 3.0), lambda x: _pushed(lambda k, m: -k > -m, _floored(x), _floored(1))),
]


@pytest.mark.parametrize(("mechanism", "pair", "law"), CASES, ids=[f"{c[0].__name__}-{k}" for k, c in enumerate(CASES)])
def test_rounded_noise_is_a_whole_number(mechanism: Any, pair: tuple[float, float], law: Any) -> None:
    truth = _loss(law(pair[0]), law(pair[1]))
    r = dpest.estimate(mechanism, pair, method="exact")
    assert r.lower - 1e-12 <= truth <= r.upper + 1e-12
    assert r.upper - r.lower < 1e-9


@pytest.mark.parametrize(
    "mechanism",
    [
        lambda x, rng: (lambda z: (round(z) % 3, bool(z > 1.2)))(x + rng.laplace()),
        lambda x, rng: (lambda z, m: (bool(round(z) > m), bool(math.floor(z) > m)))(x + rng.laplace(), round(rng.laplace())),
    ],
)
def test_noise_in_two_forms_is_refused(mechanism: Any) -> None:
    with pytest.raises(ExactRefused, match=r"used beside it|in two forms"):
        dpest.estimate(mechanism, (1, 2), method="exact")


@pytest.mark.parametrize("factor", [2.0, -2.0])
def test_rounded_exponential_noise_has_one_tail(factor: float) -> None:
    """Nothing lies beyond the end of its support, and on the other side each point has e^(-1 / width) of the one before."""
    law = Stepped(Exponential(1.5), exact(factor), exact(0.25))
    side = 1 if factor > 0 else -1
    assert law.asymptote(-side) is None
    found = law.asymptote(side)
    assert found is not None
    far = np.array([5.0, 20.0, 200.0])
    logs = law.log_density(side * far)
    assert logs == pytest.approx([found.at(x) for x in far], abs=1e-12)
    assert law.tail_terms == pytest.approx(1 / math.expm1(1 / 3.0), rel=1e-6)


@pytest.mark.parametrize("scale", [0.002, 0.02, 0.04, 0.06, 0.3, 1.0, 20.0])
@pytest.mark.parametrize("offset", [0.0, 0.25, 0.5])
def test_what_is_left_beyond_a_point_of_the_tail(scale: float, offset: float) -> None:
    """Of floor(Z + offset) with Laplace noise, each probability in the tail is e^(-1 / scale) of the one before."""
    law = Stepped(Laplace(scale), exact(1), exact(offset))
    truth = 1 / math.expm1(1 / scale)
    assert truth <= law.tail_terms <= max(1.001 * truth, 1e-2)


def test_the_slower_tail_decides_and_beyond_an_end_nothing_is_left() -> None:
    """Gumbel noise falls like e^-x to the right, and much faster to the left; uniform noise has two ends."""
    assert Stepped(Gumbel(1.0), exact(1), exact(0)).tail_terms == pytest.approx(1 / math.expm1(1), rel=1e-6)
    assert Stepped(Gumbel(1.0), exact(-1), exact(0)).tail_terms == pytest.approx(1 / math.expm1(1), rel=1e-6)
    assert Stepped(Uniform(0.0, 9.5), exact(1), exact(0)).tail_terms == 0.0
