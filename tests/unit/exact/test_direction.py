"""Normalised histograms and proportions, against densities that scipy integrates and maximises (oracle: integral)."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

import numpy as np
import pytest
from scipy import integrate, optimize

import dpest
from dpest.errors import ExactRefused, NotCovered
from dpest.exact.inference.direction import NoisyRay, _golden
from dpest.exact.inference.ratio import BoundedDraw
from dpest.laws.continuous import Laplace
from dpest.laws.laplace_sum import LaplaceSum
from dpest.numerics.rationals import exact


def _log_density(centre: Sequence[float], u: np.ndarray, gaussian: bool, positive: bool) -> float:
    """ln of the integral of |t|^(r - 1) f(t u - centre) along the line through u, or along the ray."""
    c = np.asarray(centre, float)

    def f(t: float) -> float:
        z = t * u - c
        return abs(t) ** (len(c) - 1) * math.exp(-float((z**2).sum() / 2 if gaussian else np.abs(z).sum()))

    turns = {0.0, 40.0 if gaussian else 60.0, *(float(a / b) for a, b in zip(c, u, strict=True) if b and abs(a / b) < 40)}
    ends = sorted(turns | ({-x for x in turns} if not positive else set()))
    ends = [x for x in ends if x >= 0 or not positive]
    pieces = [x for a, b in zip(ends, ends[1:], strict=False) for x in np.linspace(a, b, 7)[:-1]] + [ends[-1]]
    return math.log(sum(integrate.quad(f, a, b, epsabs=0, epsrel=1e-10)[0] for a, b in zip(pieces, pieces[1:], strict=False)))


def _largest(p: Sequence[float], q: Sequence[float], *, gaussian: bool = False, positive: bool = False) -> float:
    """The largest log ratio over directions, in the worse direction: from a few starts upwards."""
    rng = np.random.default_rng(0)

    def ratio(x: np.ndarray) -> float:
        u = (np.abs(x) if positive else x) / np.linalg.norm(x) * 4
        return _log_density(p, u, gaussian, positive) - _log_density(q, u, gaussian, positive)

    starts = [rng.standard_normal(len(p)) for _ in range(24)]
    best = -math.inf
    for sign in (1.0, -1.0):
        start = max(starts, key=lambda x, s=sign: s * ratio(x))
        options = {"fatol": 1e-9, "xatol": 1e-6}
        found = optimize.minimize(lambda x, s=sign: -s * ratio(x), start, method="Nelder-Mead", options=options)
        best = max(best, -float(found.fun))
    return best


def _close(result: dpest.Result, truth: float) -> None:
    assert result.lower - 1e-8 <= truth <= result.upper + 1e-8
    assert result.upper - result.lower <= 1e-5 * max(truth, 1.0)


def normalised(counts, rng: np.random.Generator):
    noisy = np.asarray(counts) + rng.laplace(0, 1, size=len(counts))
    return noisy / noisy.sum()


def clipped(counts, rng: np.random.Generator):
    noisy = np.maximum(np.asarray(counts) + rng.laplace(0, 1, size=len(counts)), 0)
    total = noisy.sum()
    return noisy / total if total > 0 else np.ones(len(counts)) / len(counts)


def proportion(counts, rng: np.random.Generator):
    a, b = counts[0] + rng.laplace(0, 1), counts[1] + rng.laplace(0, 1)
    return a / (a + b)


def gaussian_ratio(counts, rng: np.random.Generator):
    return (counts[0] + rng.normal()) / (counts[1] + rng.normal())


@pytest.mark.parametrize("mechanism", [normalised, clipped])
@pytest.mark.parametrize("size", [2, 3, 6])
def test_one_count_more_costs_what_the_counts_cost(mechanism, size):
    """Closed form: where the changed count comes out as 0, its own density alone decides."""
    counts = list(range(3, 3 + size))
    result = dpest.estimate(mechanism, (counts, [4, *counts[1:]]), method="exact")
    assert result.lower <= 1 <= result.upper
    assert result.upper - result.lower < 1e-9


def test_a_row_that_moves_between_two_counts():
    _close(dpest.estimate(proportion, ([3, 2], [4, 1]), method="exact"), _largest([3, 2], [4, 1]))
    _close(dpest.estimate(normalised, ([3, 2], [4, 1]), method="exact"), _largest([3, 2], [4, 1]))


def test_gaussian_noise():
    _close(dpest.estimate(gaussian_ratio, ((5, 4), (6, 4)), method="exact"), _largest([5, 4], [6, 4], gaussian=True))


def test_a_rate_with_gaussian_noise():
    def mechanism(bits):
        ones, zeros = sum(bits) + random.gauss(0, 1), len(bits) - sum(bits) + random.gauss(0, 1)
        return ones / (ones + zeros)

    truth = _largest([3, 1], [2, 2], gaussian=True)
    _close(dpest.estimate(mechanism, ([1, 0, 1, 1], [1, 0, 1, 0]), method="exact"), truth)


@pytest.mark.slow
def test_three_counts():
    _close(dpest.estimate(normalised, ([3, 2, 1], [4, 1, 1]), method="exact"), _largest([3, 2, 1], [4, 1, 1]))
    truth = _largest([3, 2, 1], [4, 1, 1], positive=True)
    _close(dpest.estimate(clipped, ([3, 2, 1], [4, 1, 1]), method="exact"), truth)


def test_clipped_counts_of_which_none_is_left():
    """0 / 0 is NaN in NumPy: an output like any other, here as rare as e^-21 and e times as likely under the first input."""

    def mechanism(counts, rng: np.random.Generator):
        h = np.clip(np.asarray(counts) + rng.laplace(0, 1, size=2), 0, None)
        return h / h.sum()

    result = dpest.estimate(mechanism, ([10, 11], [11, 11]), method="exact")
    assert result.lower <= 1 <= result.upper
    assert result.upper - result.lower < 1e-9


def share_of_the_first(counts, rng: np.random.Generator):
    noisy = np.asarray(counts) + rng.laplace(0, 1, size=3)
    return noisy[0] / noisy.sum()


def test_the_share_of_one_count_when_another_one_changes():
    """The others are one value, whose noise is the sum of two Laplace draws: (1 + |x|) e^-|x| / 4."""

    def density(rest: float, angle: float) -> float:
        a, b = math.cos(angle), math.sin(angle)

        def f(t: float) -> float:
            other = abs(t * b - rest)
            return abs(t) * math.exp(-abs(t * a - 3) - other) * (1 + other)

        turns = {0.0, *(x / y for x, y in ((3, a), (rest, b)) if y and abs(x / y) < 80), -80.0, 80.0}
        ends = sorted(turns)
        return sum(integrate.quad(f, s, t, epsabs=0, epsrel=1e-10)[0] for s, t in zip(ends, ends[1:], strict=False))

    def ratio(angle: float) -> float:
        return math.log(density(3.0, angle) / density(4.0, angle))

    truth = -math.inf
    for sign in (1.0, -1.0):
        start = max(np.linspace(0, math.pi, 60), key=lambda t, s=sign: s * ratio(t))
        around = {"bounds": (start - 0.06, start + 0.06), "method": "bounded", "options": {"xatol": 1e-9}}
        truth = max(truth, -float(optimize.minimize_scalar(lambda t, s=sign: -s * ratio(t), **around).fun))
    _close(dpest.estimate(share_of_the_first, ([3, 2, 1], [3, 2, 2]), method="exact"), truth)


def test_the_share_of_one_count_when_it_changes():
    result = dpest.estimate(share_of_the_first, ([3, 2, 1], [4, 2, 1]), method="exact")
    assert result.lower <= 1 <= result.upper
    assert result.upper - result.lower < 1e-9


def test_precision_and_recall():
    """Both fix tp : fp : fn; where tp comes out as 0, its own density alone decides."""

    def mechanism(counts, rng: np.random.Generator):
        tp, fp, fn = (c + rng.laplace(0, 2) for c in counts)
        return tp / (tp + fp), tp / (tp + fn)

    result = dpest.estimate(mechanism, ([3, 2, 5], [4, 2, 5]), method="exact")
    assert result.lower <= 0.5 <= result.upper
    assert result.upper - result.lower < 1e-9


def test_two_quotients_of_two_pairs_fix_no_direction():
    """a / b and c / (a + c) do; a / b and a / (2 b) with c beside them do not."""

    def fixed(x, rng: np.random.Generator):
        a, b, c = (v + rng.laplace(0, 1) for v in x)
        return a / b, c / (a + c)

    def loose(x, rng: np.random.Generator):
        a, b, c = (v + rng.laplace(0, 1) for v in x)
        return a / b, (a + b) / (2 * b), c / (a + b)

    assert dpest.estimate(fixed, ([3, 2, 5], [3, 2, 6]), method="exact").upper == pytest.approx(1.0)
    assert dpest.estimate(loose, ([3, 2, 5], [3, 2, 6]), method="exact").upper == pytest.approx(1.0)

    def twice(x, rng: np.random.Generator):
        a, b, c = (v + rng.laplace(0, 1) for v in x)
        return a / b, (a + b) / (a + b + c) + a / b

    assert dpest.estimate(twice, ([3, 2, 5], [3, 2, 6]), method="exact").upper == pytest.approx(1.0)

    def never(x, rng: np.random.Generator):
        a, b, c = (v + rng.laplace(0, 1) for v in x)
        return a / b, (a + b) / (a + b + c) + b / a

    with pytest.raises(ExactRefused):
        dpest.estimate(never, ([3, 2, 5], [3, 2, 6]), method="exact")


def test_the_slope_of_a_sum_of_laplace_draws():
    law = LaplaceSum(1.5, 3)
    x = np.array([-40.0, -2.0, -1e-3, 0.0, 0.4, 3.0, 60.0])
    steps = (law.log_density(x + 1e-5) - law.log_density(x - 1e-5)) / 2e-5
    assert law.log_slope(x) == pytest.approx(steps, abs=1e-6)


def test_many_counts_have_two_sides():
    result = dpest.estimate(normalised, ([5, 4, 3, 2, 1], [4, 5, 3, 2, 1]), method="exact")
    assert 1 < result.lower <= result.upper <= 2 + 1e-9


def test_delta_is_refused():
    with pytest.raises(NotCovered, match="quotient"):
        dpest.estimate(normalised, ([3, 2], [4, 2]), method="exact").delta(0.5)


@pytest.mark.parametrize("gaussian", [False, True])
def test_a_quotient_that_does_not_change_beside_one_that_does(gaussian):
    """A step of k-means: the points of one cluster move, the centre of the other says nothing."""

    def centres(clusters, rng: np.random.Generator):
        noise = rng.normal if gaussian else rng.laplace
        return [(total + noise(0, 1)) / (count + noise(0, 1)) for total, count in clusters]

    truth = _largest([2, 3], [3, 4], gaussian=gaussian)
    _close(dpest.estimate(centres, ([(5, 2), (2, 3)], [(5, 2), (3, 4)]), method="exact"), truth)
    _close(dpest.estimate(centres, ([(2, 3), (5, 2)], [(3, 4), (5, 2)]), method="exact"), truth)


def _of_scales(x, wide: float, narrow: float):
    return (x[0] + dpest.laplace(wide)) / (x[1] + dpest.laplace(narrow))


@pytest.mark.parametrize(
    ("wide", "narrow", "other"), [(2.0, 0.5, (5.5, 11)), (100.0, 10.0, (6, 9)), (300.0, 200.0, (6, 11)), (0.5, 4.0, (5.5, 11))]
)
def test_noise_of_unlike_scales_is_narrow_relative_to_the_loss(wide, narrow, other):
    """Oracle: values in units of their own noise; u is then stretched by the units, which no ratio notices."""
    result = dpest.estimate(_of_scales, ((5, 10), other), method="exact", wide=wide, narrow=narrow)
    one, two = ((a / wide, b / narrow) for a, b in ((5, 10), other))
    truth = _largest(one, two)
    assert result.lower - 1e-8 <= truth <= result.upper + 1e-8
    assert result.upper - result.lower <= 1e-5 * truth


def test_three_wide_noises_have_an_answer_with_two_sides():
    result = dpest.estimate(lambda x: _shares_of(x, 100.0), ([5, 10, 3], [6, 9, 3]), method="exact")
    truth = _largest([0.05, 0.1, 0.03], [0.06, 0.09, 0.03])
    assert result.lower <= truth + 1e-8
    assert truth <= result.upper <= 0.02 + 1e-9


def _shares_of(x, scale: float):
    noisy = np.asarray(x) + dpest.laplace(scale, size=3)
    return noisy / noisy.sum()


@pytest.mark.parametrize("width", [1.0, 3.0, 50.0])
def test_a_golden_search_finds_the_largest_value(width: float) -> None:
    """t^a e^(-t / b) is largest at a b, wherever that lies between the ends."""
    powers, scales = (x.ravel() for x in np.meshgrid([0.5, 2.0, 7.0], [1e-4, 1e-2, 1.0, 30.0]))
    top = powers * scales
    high = top * width + 1e-9
    found = _golden(lambda t: powers * np.log(t) - t / scales, np.full(top.shape, 1e-12), high)
    assert found == pytest.approx(top, rel=2e-3)


@pytest.mark.parametrize("oriented", [True, False])
def test_what_lies_beyond_the_panels_is_in_the_bound_of_every_box(oriented: bool) -> None:
    """A box that is one direction has no room of its own: what the integral leaves out is 1e-8 of it at most."""
    noises = tuple(BoundedDraw(Laplace(1.0), exact(1), exact(c)) for c in (2.0, 3.0))
    u = np.array([[0.6, 0.8], [-0.28, 0.96], [1.0, 0.0]])
    ray = NoisyRay(noises, oriented)
    found = ray.on_boxes(u, u)
    assert (found.above >= 0.999e-8).all()
    assert (found.above <= 1.001e-8).all()
    logs, error = ray.log(u)
    assert (np.abs(found.log - logs) <= found.error + error).all()
