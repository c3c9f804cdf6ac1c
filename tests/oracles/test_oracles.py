"""The oracles against the known figures, and against a second route each."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

import mpmath
import numpy as np
import pytest

from tests.oracles import gallery, mechanisms, sparse_vector
from tests.oracles.exponentials import exponential_cdf, exponential_pdf, laplace_cdf, laplace_pdf
from tests.oracles.max_sum import sum_density

FIGURES = {
    "LaplaceMechanism": 0.1,
    "LaplaceParallel": 0.1,
    "NoisyHist1": 0.1,
    "NoisyHist2": 10.0,
    "ReportNoisyMax1": 0.0946149052824522,
    "ReportNoisyMax2": 0.1,
    "ReportNoisyMax3": 0.25,
    "ReportNoisyMax4": math.inf,
    "SVT1": 0.0878011042170006,
    "SVT2": 0.0874833632081358,
    "SVT3": 0.5,
    "SVT4": 0.17166388027155,
    "SVT5": math.inf,
    "SVT6": 0.42003154450669,
    "NumericalSVT": 0.0803154596170917,
    "SVT34Parallel": 0.484348921386717,
    "PrefixSum": 1.0,
    "OneTimeRAPPOR": 6 * math.log(21 / 19),
    "RAPPOR": 6 * math.log(41 / 39),
    "TruncatedGeometric": math.log(9 / 8),
    "NoisyMaxSum": 2.0,
}
TWENTY, FORTY = Fraction(20), Fraction(40)


@pytest.mark.parametrize("name", FIGURES)
def test_the_largest_loss_is_the_known_figure(name: str) -> None:
    assert gallery.largest(name) == pytest.approx(FIGURES[name], abs=1e-10)


@pytest.mark.parametrize(("pdf", "cdf"), [(laplace_pdf, laplace_cdf), (exponential_pdf, exponential_cdf)])
def test_a_distribution_function_is_the_integral_of_its_density(pdf: Any, cdf: Any) -> None:
    integral, closed = pdf(Fraction(1), TWENTY).cumulative(), cdf(Fraction(1), TWENTY)
    for z in (-70.0, 0.5, 1.5, 90.0):
        assert float(integral(z)) == pytest.approx(float(closed(z)), abs=1e-30)


@pytest.mark.parametrize("cutoff", [1, 2, None])
def test_the_answers_have_probability_one_together(cutoff: int | None) -> None:
    noise = sparse_vector.Noise(Fraction(1, 2), TWENTY, FORTY)
    total = sum(sparse_vector.probability(noise, (2, 0, 1, 1), bits) for bits in sparse_vector.answers(4, cutoff))
    assert float(total - 1) == pytest.approx(0, abs=1e-30)


def test_argmax_with_exponential_noise_is_permute_and_flip() -> None:
    # McKenna and Sheldon 2020, two candidates a < b: P(a) = e^(-(b - a) / scale) / 2.
    forward, backward = gallery.argmax_loss((1, 1), (0, 2), TWENTY, exponential_pdf, exponential_cdf)
    assert forward == pytest.approx(0.1, abs=1e-15)
    assert backward == pytest.approx(math.log(2 - math.exp(-0.1)), abs=1e-15)


def test_eight_equal_values_in_a_chain_fall_with_probability_one_in_8_factorial() -> None:
    law = mechanisms.chain_probabilities([1] * 8, Fraction(10))
    assert float(law[(True,) * 7] * math.factorial(8)) == pytest.approx(1, abs=1e-25)
    assert float(sum(law.values())) == pytest.approx(1, abs=1e-25)


def test_three_equal_values_have_six_equally_likely_orders() -> None:
    law = mechanisms.order_probabilities([1, 1, 1], Fraction(10))
    assert len(law) == 6
    assert all(float(mass * 6) == pytest.approx(1, abs=1e-25) for mass in law.values())


def test_the_chain_of_three_is_the_triangle_without_its_third_side() -> None:
    values, scale = [2, 0, 1], Fraction(3)
    orders, chain = mechanisms.order_probabilities(values, scale), mechanisms.chain_probabilities(values, scale)
    for bits, mass in chain.items():
        assert float(sum(m for key, m in orders.items() if key[:2] == bits)) == pytest.approx(float(mass), rel=1e-14)


def test_rounded_and_clamped_laws_have_mass_one() -> None:
    assert sum(mechanisms.rounded_laplace(0.3, 2.0, k) for k in range(-150, 150)) == pytest.approx(1, abs=1e-13)
    assert sum(mechanisms.clamped_geometric(3, 2.0, 0, 10).values()) == pytest.approx(1, abs=1e-14)


def test_gaussian_above_threshold_has_mass_one_and_is_fair_to_equal_laws() -> None:
    law = mechanisms.gaussian_above_threshold([1.0, 0.0, 2.0], 0.5, 3.0, 5.0)
    assert sum(law.values()) == pytest.approx(1, abs=1e-14)
    one = mechanisms.gaussian_above_threshold([0.5], 0.5, 3.0, 5.0)
    assert one[0] == pytest.approx(0.5, abs=1e-15)


def test_the_gap_has_the_loss_of_the_index_at_least() -> None:
    left, right = (1, 1, 1), (2, 0, 1)
    index = gallery.argmax_loss(left, right, TWENTY, laplace_pdf, laplace_cdf)
    gap = mechanisms.argmax_gap_loss(left, right, TWENTY)
    assert gap[0] >= index[0]
    assert gap[1] >= index[1]
    assert max(gap) <= 0.1 + 1e-12  # noisy max with gap is eps-private at scale 2/eps (Ding et al. 2019)


def test_svt_with_a_redrawn_threshold_and_one_pass_is_svt_with_one_threshold() -> None:
    noise = sparse_vector.Noise(Fraction(1), TWENTY, FORTY)
    for bits in sparse_vector.answers(3, 1):
        assert sparse_vector.redrawn_probability(noise, (1, 2, 0), bits) == sparse_vector.probability(noise, (1, 2, 0), bits)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "t", "threshold", "query"), [("SVT1", 0.5, 20, 40), ("SVT4", 1, 40, mpmath.mpf(40) / 3)])
def test_svt_by_quadrature(name: str, t: float, threshold: float, query: float) -> None:
    def cdf(u: mpmath.mpf) -> mpmath.mpf:
        return mpmath.exp(u) / 2 if u < 0 else 1 - mpmath.exp(-u) / 2

    def mass(queries: tuple[int, ...], i: int | None) -> mpmath.mpf:
        def inside(z: mpmath.mpf) -> mpmath.mpf:
            value = mpmath.exp(-abs(z - t) / threshold) / (2 * threshold)
            for q in queries[:i]:
                value *= cdf((z - q) / query)
            return value if i is None else value * (1 - cdf((z - queries[i]) / query))

        return mpmath.quad(inside, [-mpmath.inf, -100, *sorted({0, t, 1, 2}), 100, mpmath.inf])

    left, right = gallery.pairs(name)["x_shape"]
    losses = [float(mpmath.log(mass(left, i) / mass(right, i))) for i in (*range(10), None)]
    assert (max(losses), -min(losses)) == pytest.approx(gallery.losses(name)["x_shape"], abs=1e-12)


@pytest.mark.slow
def test_svt3_by_brute_force_over_released_values() -> None:
    left, right = gallery.pairs("SVT3")["half_half"]
    z, h = np.linspace(-900, 900, 720_001, retstep=True)

    def log_density(queries: tuple[int, ...], i: int) -> np.ndarray:
        inside = np.exp(-np.abs(z - 1) / 20) / 40
        for q in queries[:i]:
            u = (z - q) / 20
            inside = inside * np.where(u < 0, np.exp(np.minimum(u, 0)) / 2, 1 - np.exp(-np.abs(u)) / 2)
        return np.log(np.cumsum(inside) * h) - np.abs(z - queries[i]) / 20

    here = (z > -100) & (z < 300)
    losses = np.array([(log_density(left, i) - log_density(right, i))[here] for i in range(10)])
    assert (losses.max(), -losses.min()) == pytest.approx(gallery.losses("SVT3")["half_half"], abs=1e-5)


@pytest.mark.slow
def test_gap_by_brute_force() -> None:
    left, right, b = (1, 2, 0, 1), (2, 1, 1, 1), 5
    gaps = [0.0, 0.5, 1.0, 1.7, 4.0, 40.0]

    def density(x: tuple[int, ...], i: int, g: float) -> mpmath.mpf:
        def pdf(u: mpmath.mpf) -> mpmath.mpf:
            return mpmath.exp(-abs(u) / b) / (2 * b)

        def cdf(u: mpmath.mpf) -> mpmath.mpf:
            return mpmath.exp(u / b) / 2 if u < 0 else 1 - mpmath.exp(-u / b) / 2

        def inside(z: mpmath.mpf) -> mpmath.mpf:
            others = [v for j, v in enumerate(x) if j != i]
            return pdf(z + g - x[i]) * sum(
                pdf(z - v) * mpmath.fprod(cdf(z - w) for k, w in enumerate(others) if k != j) for j, v in enumerate(others)
            )

        return mpmath.quad(inside, [-mpmath.inf, -60, *sorted({*map(float, x), x[i] - g}), 60, mpmath.inf])

    for i in range(4):
        exact = [density(left, i, g) / density(right, i, g) for g in gaps]
        points = np.array(gaps, dtype=np.longdouble)
        logs = [mechanisms.log_gap_density(x, i, Fraction(b), points) for x in (left, right)]
        assert [float(mpmath.log(r)) for r in exact] == pytest.approx(list(map(float, logs[0] - logs[1])), abs=1e-12)


@pytest.mark.slow
def test_the_sum_of_two_maxima_tends_to_its_limit_from_below() -> None:
    ones, twos = (1,) * 20, (2,) * 20
    losses = [math.log(sum_density(ones, s, 10.0) / sum_density(twos, s, 10.0)) for s in (-50.0, -100.0, -200.0, -400.0)]
    assert all(a < b < 2.0 for a, b in pairwise(losses))
