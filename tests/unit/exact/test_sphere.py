"""Noise in a uniform direction: closed forms, and a density in polar coordinates on a grid (oracle: formula)."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest

import dpest
from dpest.errors import ExactRefused, NotCovered
from dpest.exact.inference.sphere import _norm
from dpest.lang.dist import unwrap


def planar(x, rng: np.random.Generator, b=2.0):
    angle = rng.uniform(0, 2 * np.pi)
    radius = rng.gamma(2, b)
    return x[0] + radius * np.cos(angle), x[1] + radius * np.sin(angle)


def planar_of_the_standard_library(x, epsilon=0.5):
    angle = 2 * math.pi * random.random()
    radius = random.gammavariate(2, 1 / epsilon)
    return x[0] + radius * math.cos(angle), x[1] + radius * math.sin(angle)


def planar_of_two_exponentials(x, rng: np.random.Generator, b=2.0):
    angle = rng.uniform(-np.pi, np.pi)
    radius = rng.exponential(b) + rng.exponential(b)
    return {"lat": x[0] + radius * np.sin(angle), "lon": x[1] + radius * np.cos(angle)}


def planar_of_logarithms(x, rng: np.random.Generator, b=2.0):
    angle = rng.uniform(0, 2 * np.pi)
    radius = -b * (np.log(rng.uniform()) + np.log(rng.uniform()))
    return x[0] + radius * np.cos(angle), x[1] + radius * np.sin(angle)


def in_a_ball(x, rng: np.random.Generator, b=2.0):
    z = rng.normal(size=len(x))
    return np.asarray(x) + rng.gamma(len(x), b) * z / np.linalg.norm(z)


def in_a_ball_by_hand(x, rng: np.random.Generator, b=2.0):
    z = [rng.normal(0, 3) for _ in x]
    norm = math.sqrt(sum(v * v for v in z))
    length = rng.gamma(shape=len(x), scale=b)
    return [a + v / norm * length for a, v in zip(x, z, strict=True)]


def in_a_ball_in_place(x, rng: np.random.Generator, b=2.0):
    v = rng.standard_normal(len(x))
    v /= np.linalg.norm(v)
    v *= rng.gamma(len(x), b)
    return (np.array(x) + v).tolist()


PLANAR = [
    *(planar, planar_of_the_standard_library, planar_of_two_exponentials, planar_of_logarithms),
    *(in_a_ball, in_a_ball_by_hand, in_a_ball_in_place),
]


@pytest.mark.parametrize("mechanism", PLANAR)
def test_the_loss_is_the_distance_over_the_scale(mechanism):
    result = dpest.estimate(mechanism, ((0.0, 1.0), (3.0, -3.0)), method="exact")
    assert result.lower <= 2.5 <= result.upper
    assert result.upper - result.lower < 1e-12


@pytest.mark.parametrize("hole", ["in a logarithm", "beside it"])
def test_a_radius_that_does_not_begin_at_zero_is_not_taken_for_gamma_noise(hole):
    """No answer is nearer to its point than b ln 2 or 2: where discs differ, an answer is possible under one input only."""

    def with_a_hole(x, rng: np.random.Generator, b=2.0):
        angle = rng.uniform(0, 2 * np.pi)
        if hole == "in a logarithm":
            radius = -b * (np.log(rng.uniform()) + np.log(rng.uniform(0, 0.5)))
        else:
            radius = 2 - b * (np.log(rng.uniform()) + np.log(rng.uniform()))
        return x[0] + radius * np.cos(angle), x[1] + radius * np.sin(angle)

    try:
        result = dpest.estimate(with_a_hole, ((0.0, 1.0), (3.0, -3.0)), method="exact")
    except ExactRefused:
        return
    assert result.upper == math.inf


@pytest.mark.parametrize("mechanism", [in_a_ball, in_a_ball_by_hand])
def test_three_dimensions(mechanism):
    result = dpest.estimate(mechanism, ([0.0, 1.0, 2.0], [2.0, 0.0, 4.0]), method="exact")
    assert result.lower <= 1.5 <= result.upper
    assert result.upper - result.lower < 1e-12


@pytest.mark.parametrize("shape", [1.0, 1.9, 2.5, 3.0])
def test_another_shape_shows_the_centre(shape):
    """The density is f(s) / (2 pi s): infinite, or zero, where it is centred."""

    def mechanism(x, rng: np.random.Generator):
        angle = rng.uniform(0, 2 * np.pi)
        radius = rng.gamma(shape, 1.0)
        return x[0] + radius * np.cos(angle), x[1] + radius * np.sin(angle)

    assert dpest.estimate(mechanism, ((0.0, 0.0), (1.0, 0.0)), method="exact").lower == math.inf
    assert dpest.estimate(mechanism, ((1.0, 0.0), (1.0, 0.0)), method="exact").upper == 0


def test_what_a_sample_shows_is_within():
    """The program itself: in the disc of radius 0.1 around the first centre, under both inputs."""
    rng = np.random.default_rng(3)
    hits = []
    for x in ((0.0, 0.0), (1.5, 0.0)):
        a, b = (np.array(v) for v in zip(*(planar(x, rng, 1.0) for _ in range(40_000)), strict=True))
        hits.append(float((a**2 + b**2 < 0.01).mean()))
    result = dpest.estimate(planar, ((0.0, 0.0), (1.5, 0.0)), method="exact", params={"b": 1.0})
    assert result.upper == pytest.approx(1.5)
    assert 1.0 < math.log(hits[0] / hits[1]) < 2.0


def test_half_a_turn_is_no_uniform_direction():
    def mechanism(x, rng: np.random.Generator):
        angle = rng.uniform(0, np.pi)
        radius = rng.gamma(2, 1.0)
        return x[0] + radius * np.cos(angle), x[1] + radius * np.sin(angle)

    with pytest.raises(ExactRefused):
        dpest.estimate(mechanism, ((0.0, 0.0), (1.0, 0.0)), method="exact")


def test_one_coordinate_is_another_law():
    def mechanism(x, rng: np.random.Generator):
        angle = rng.uniform(0, 2 * np.pi)
        return x + rng.gamma(2, 1.0) * np.cos(angle)

    with pytest.raises(ExactRefused):
        dpest.estimate(mechanism, (0.0, 1.0), method="exact")


def test_different_multiples_are_refused():
    def mechanism(x, rng: np.random.Generator):
        angle = rng.uniform(0, 2 * np.pi)
        radius = rng.gamma(2, 1.0)
        return x[0] + radius * np.cos(angle), x[1] + 2 * radius * np.sin(angle)

    with pytest.raises(ExactRefused, match="multiples"):
        dpest.estimate(mechanism, ((0.0, 0.0), (1.0, 0.0)), method="exact")


def test_delta_is_refused():
    with pytest.raises(NotCovered, match="direction"):
        dpest.estimate(planar, ((0.0, 0.0), (1.0, 0.0)), method="exact").delta(0.1)


@pytest.mark.parametrize(
    ("function", "is_norm"),
    [
        (lambda s: s**0.5, True),
        (np.sqrt, True),
        (lambda s: s**0.25, False),
        (lambda s: s**1.5, False),
        (lambda s: s**-0.5, False),
        (np.exp, False),
        (lambda s: s, False),
        (lambda s: (s + 1) ** 0.5, False),
        (lambda s: (2 * s) ** 0.5, False),
    ],
)
def test_only_the_root_of_a_sum_of_squares_is_a_length(function: Any, is_norm: bool) -> None:
    draws = [dpest.gaussian(1.5) for _ in range(3)]
    found = _norm(unwrap(function(sum(z * z for z in draws))))
    assert (found is not None) == is_norm
    assert found is None or {id(d) for d in found} == {id(z.node) for z in draws}
    assert _norm(unwrap(function(sum(z * z for z in [*draws, dpest.gaussian(1.0)])))) is None
