"""Laws of functions of a draw, against scipy's families and closed forms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import scipy.stats

from dpest.laws.continuous import Exponential, Gaussian, Gumbel, Laplace, Logistic, Uniform
from dpest.laws.images import image
from dpest.laws.law import Continuous
from dpest.numerics.elementary import EXP, LOG, SQRT, Elementary, Kind
from dpest.numerics.rationals import exact

# (law, factor, offset, function) and the law that function(factor * draw + offset) has by the book.
MOVED: dict[str, tuple[Continuous, float, float, Elementary, Any]] = {
    "exp of a Gaussian": (Gaussian(0.7), 1.0, 0.3, EXP, scipy.stats.lognorm(0.7, scale=math.exp(0.3))),
    "the root of an exponential": (Exponential(2.0), 0.5, 0.0, SQRT, scipy.stats.rayleigh(scale=math.sqrt(0.5))),
    "exp of a falling exponential": (Exponential(1.0), -2.0, 0.0, EXP, scipy.stats.beta(0.5, 1.0)),
    "exp of a Laplace": (Laplace(0.5), 1.0, 0.0, EXP, scipy.stats.loglaplace(2.0)),
    "expit of a logistic": (Logistic(1.0), 1.0, 0.0, Elementary(Kind.EXPIT), scipy.stats.uniform()),
}
# What people make of uniform noise.
NAMED: dict[str, tuple[Continuous, float, float, Elementary, Continuous, float, float]] = {
    "-log(u)": (Uniform(0.0, 1.0), 1.0, 0.0, LOG, Exponential(1.0), -1.0, 0.0),
    "-log(1 - u)": (Uniform(0.0, 1.0), -1.0, 1.0, LOG, Exponential(1.0), -1.0, 0.0),
    "log(3 u)": (Uniform(0.0, 1.0), 3.0, 0.0, LOG, Exponential(1.0), -1.0, math.log(3.0)),
    "log of an exponential": (Exponential(2.0), 1.0, 0.0, LOG, Gumbel(1.0), -1.0, math.log(2.0)),
    "logit(u)": (Uniform(0.0, 1.0), 1.0, 0.0, Elementary(Kind.LOGIT), Logistic(1.0), 1.0, 0.0),
    "ndtri(u)": (Uniform(0.0, 1.0), 1.0, 0.0, Elementary(Kind.NDTRI), Gaussian(1.0), 1.0, 0.0),
    "sign(u) log(1 - 2 |u|)": (Uniform(-0.5, 0.5), 2.0, 0.0, Elementary(Kind.FOLDED_LOG), Laplace(1.0), 1.0, 0.0),
}


@pytest.mark.parametrize("name", MOVED)
def test_a_moved_law_is_the_one_of_the_book(name: str) -> None:
    law, factor, offset, function, book = MOVED[name]
    found = image(law, exact(factor), exact(offset), function)
    y = book.ppf([1e-6, 0.01, 0.2, 0.5, 0.8, 0.99, 1 - 1e-6])
    x = (y - float(found.constant)) / float(found.coefficient)
    scale = math.log(abs(float(found.coefficient)))
    assert np.allclose(found.law.log_density(x) - scale, book.logpdf(y), rtol=1e-10, atol=1e-10)
    assert np.allclose(found.law.log_cdf(x), book.logcdf(y), rtol=1e-9, atol=1e-10)
    assert np.allclose(found.law.log_sf(x), book.logsf(y), rtol=1e-9, atol=1e-10)
    assert np.allclose(found.law.log_interval(x[1], x[3]), np.log(book.cdf(y[3]) - book.cdf(y[1])), rtol=1e-9)


@pytest.mark.parametrize("name", NAMED)
def test_functions_of_uniform_noise_are_recognised(name: str) -> None:
    law, factor, offset, function, expected, coefficient, constant = NAMED[name]
    found = image(law, exact(factor), exact(offset), function)
    assert found.law == expected
    assert float(found.coefficient) == coefficient
    assert float(found.constant) == pytest.approx(constant, rel=1e-15, abs=1e-300)


def test_what_lies_outside_the_domain_is_left_out() -> None:
    law = image(Laplace(1.0), exact(1.0), exact(0.5), LOG).law
    assert law.log_mass == pytest.approx(math.log(1 - 0.5 * math.exp(-0.5)), rel=1e-12)
    assert float(law.log_cdf(50.0)) == pytest.approx(law.log_mass, rel=1e-9)
