"""Draws whose scale or rate depends on the data: closed forms against SciPy's own densities."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

import dpest
from dpest.exact.loss.shift import Release, scaled
from dpest.laws.scipy_law import from_frozen
from dpest.numerics.rationals import exact

FAMILIES = [
    stats.weibull_min(1.5), stats.weibull_min(0.7), stats.dweibull(1.5), stats.gamma(2.5), stats.gamma(0.6), stats.dgamma(1.3),
    stats.chi(3), stats.chi2(5), stats.gennorm(1.4), stats.gennorm(3), stats.rayleigh(), stats.maxwell(), stats.halfnorm(),
]  # fmt: skip


@pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f"{f.dist.name}{f.args}")
@pytest.mark.parametrize("factor", [1, -1])
def test_two_scales_around_one_place(family: Any, factor: int) -> None:
    law = from_frozen(family)[1]
    p, q = (Release(law, exact(factor * s), exact(5)) for s in (2.0, 3.0))
    near, far = scaled(p, q), scaled(q, p)
    assert near is not None
    assert far is not None
    x = np.geomspace(1e-9, 60.0, 3000)  # one side of zero: all families begin there or are symmetric
    ratio = (family.logpdf(x / 2) - math.log(2)) - (family.logpdf(x / 3) - math.log(3))
    assert near.value == pytest.approx(ratio.max(), abs=1e-6)
    assert near.lower <= near.value <= near.upper
    assert (np.diff(ratio) <= 1e-9).all()  # it only falls,
    assert ratio[-1] < ratio[0] - 1
    assert far.value == math.inf  # and without bound


def test_places_that_differ_and_other_families_have_no_such_form() -> None:
    law, other = from_frozen(stats.weibull_min(1.5))[1], from_frozen(stats.weibull_min(1.6))[1]
    at = [Release(law, exact(2), exact(0)), Release(law, exact(3), exact(1)), Release(law, exact(-3), exact(0))]
    assert scaled(at[0], at[1]) is None
    assert scaled(at[0], at[2]) is None
    assert scaled(at[0], Release(other, exact(3), exact(0))) is None


@pytest.mark.parametrize(
    "f",
    [lambda x, rng: rng.poisson(x), lambda x, rng: 3 - 2 * rng.poisson(x), lambda x, rng: rng.negative_binomial(3, x / 10)],
)
def test_counts_whose_rate_is_the_data_have_no_bound(f: Any) -> None:
    for pair in ((3.0, 4.0), (4.0, 3.0)):
        found = dpest.estimate(f, pair, method="exact")
        assert found.lower == math.inf


@pytest.mark.parametrize(("a", "b"), [(3.0, 4.0), (200000.0, 200001.0)])
def test_the_bounded_direction_of_two_poisson_laws_is_at_zero(a: float, b: float) -> None:
    """Whoever has the larger rate is told by large counts, the other by a count of 0."""

    def empty(x: float, rng: Any) -> bool:
        return bool(rng.poisson(x) == 0)

    for rng_pair in ((a, b), (b, a)):
        tilt = from_frozen(stats.poisson(rng_pair[0]))[1].tilt(from_frozen(stats.poisson(rng_pair[1]))[1])  # type: ignore[attr-defined]
        one, other = (stats.poisson(r).logpmf(np.arange(6)) for r in rng_pair)
        assert tilt[0] + tilt[1] * np.arange(6) == pytest.approx(one - other, rel=1e-9, abs=1e-9)
    assert dpest.estimate(empty, (3.0, 4.0), method="exact").epsilon == pytest.approx(1.0, abs=1e-12)


def test_a_rate_of_zero_is_a_count_of_zero() -> None:
    found = dpest.estimate(lambda x, rng: rng.poisson(x), (0.0, 1.0), method="exact")
    assert found.lower == math.inf
    empty = dpest.estimate(lambda x, rng: bool(rng.poisson(x) == 0), (0.0, 1.0), method="exact")
    assert empty.lower == math.inf


def test_weibull_noise_of_the_size_of_the_data() -> None:
    found = dpest.estimate(lambda x, rng: x * rng.weibull(1.5), (2.0, 3.0), method="exact")
    assert found.lower == math.inf
    curve = found.delta(1.0)  # P(X > y) - e Q(X > y), where the log ratio of the densities is 1
    y = ((1 + 1.5 * math.log(1.5)) / (2.0**-1.5 - 3.0**-1.5)) ** (1 / 1.5)
    truth = math.exp(-((y / 3) ** 1.5)) - math.e * math.exp(-((y / 2) ** 1.5))
    assert curve == pytest.approx(truth, rel=1e-6)
