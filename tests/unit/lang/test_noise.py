"""Fresh draws: each call a new value, with `size=` an array of them; random scales; the older door's families."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dpest
from dpest.core import Dist
from dpest.lang.nodes import Draw
from dpest.laws import continuous
from dpest.noise import Exponential, Laplace, create_exponential_noise, create_laplace_noise

CALLS = {
    "laplace": (1.0,),
    "gaussian": (1.0,),
    "exponential": (1.0,),
    "gumbel": (1.0,),
    "logistic": (1.0,),
    "geometric": (1.0,),
    "uniform": (0.0, 1.0),
    "bernoulli": (0.5,),
    "categorical": ([0.5, 0.5],),
    "integers": (0, 3),
}


@pytest.mark.parametrize("name", CALLS)
def test_every_call_is_a_fresh_value(name: str) -> None:
    draw = getattr(dpest, name)
    one, other = draw(*CALLS[name]), draw(*CALLS[name])
    assert isinstance(one, Dist)
    assert one.node is not other.node
    assert one.node.law == other.node.law


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize(("size", "shape"), [(0, (0,)), (3, (3,)), ((2, 2), (2, 2)), (np.int64(2), (2,))])
def test_sizes(name: str, size: Any, shape: tuple[int, ...]) -> None:
    values = getattr(dpest, name)(*CALLS[name], size=size)
    assert values.shape == shape
    assert len({id(v.node) for v in values.ravel()}) == values.size


@pytest.mark.parametrize("number", [2, 2.0, np.float64(2.0), np.int64(2), np.array(2.0)])
def test_numpy_parameters_are_plain_numbers(number: Any) -> None:
    node = dpest.laplace(number).node
    assert isinstance(node, Draw)
    assert node.law == continuous.Laplace(2.0)


def test_a_random_scale_multiplies_a_unit_draw() -> None:
    result = dpest.estimate(lambda x: (1 + dpest.bernoulli(0.5)) * dpest.laplace(1.0) + x, (0, 1))
    other = dpest.estimate(lambda x: dpest.laplace(1 + dpest.bernoulli(0.5)) + x, (0, 1))
    assert float(result) == pytest.approx(float(other), rel=1e-12)


def test_the_older_families() -> None:
    assert Laplace(b=2.0).to_dist().node.law == continuous.Laplace(2.0)  # type: ignore[union-attr]
    assert Exponential(b=3.0).to_dist().node.law == continuous.Exponential(3.0)  # type: ignore[union-attr]
    assert len(create_laplace_noise(1.0, 4)) == 4
    assert len(create_exponential_noise(1.0, 2)) == 2
