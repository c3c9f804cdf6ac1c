"""Elementary functions against mpmath at 60 digits: values, inverses, slopes."""

from __future__ import annotations

import random

import mpmath
import numpy as np
import pytest

from dpest.numerics.elementary import SQRT, SQUARE, Elementary, Kind, TooFar
from dpest.numerics.rationals import exact

ORACLES = {
    Kind.EXP: mpmath.exp,
    Kind.LOG: mpmath.log,
    Kind.EXPM1: mpmath.expm1,
    Kind.LOG1P: mpmath.log1p,
    Kind.TANH: mpmath.tanh,
    Kind.ARCTANH: mpmath.atanh,
    Kind.ARCTAN: mpmath.atan,
    Kind.TAN: mpmath.tan,
    Kind.SINH: mpmath.sinh,
    Kind.ARCSINH: mpmath.asinh,
    Kind.EXPIT: lambda x: 1 / (1 + mpmath.exp(-x)),
    Kind.LOGIT: lambda x: mpmath.log(x / (1 - x)),
    Kind.NDTR: mpmath.ncdf,
    Kind.NDTRI: lambda p: mpmath.sqrt(2) * mpmath.erfinv(2 * p - 1),
    Kind.ERF: mpmath.erf,
    Kind.ERFINV: mpmath.erfinv,
    Kind.ERFC: mpmath.erfc,
    Kind.ERFCINV: lambda p: mpmath.erfinv(1 - p),
    Kind.RECIPROCAL: lambda x: 1 / x,
    Kind.FOLDED_LOG: lambda x: -mpmath.sign(x) * mpmath.log(1 - abs(x)),
    Kind.UNFOLDED: lambda y: mpmath.sign(y) * (1 - mpmath.exp(-abs(y))),
}


def places(function: Elementary) -> list[float]:
    low, high = ((-3.0 if i == 0 else 3.0) if e is None else float(e) for i, e in enumerate(function.domain))
    draw = random.Random(7)
    return [low + (high - low) * draw.uniform(0.02, 0.98) for _ in range(12)]


@pytest.mark.parametrize("kind", ORACLES, ids=lambda k: k.name)
def test_a_function_is_what_mpmath_says(kind: Kind) -> None:
    function = Elementary(kind)
    with mpmath.workdps(60):
        for x in places(function):
            value = function.at(exact(x))
            truth = ORACLES[kind](mpmath.mpf(x))
            mine = mpmath.mpf(int(value.numerator)) / int(value.denominator)
            assert abs(mine - truth) <= mpmath.mpf(10) ** -50 * max(1, abs(truth))
            assert abs(float(function.inverse().at(value) - exact(x))) <= 1e-60 * max(1.0, abs(x))
            assert float(function.values(x)) == pytest.approx(float(truth), rel=1e-13)
            slope = mpmath.diff(ORACLES[kind], mpmath.mpf(x))
            assert float(function.log_slope(x)) == pytest.approx(float(mpmath.log(abs(slope))), abs=1e-11)


def test_powers_have_exact_roots() -> None:
    assert SQRT.at(exact(9) / 16) == exact(3) / 4
    assert SQUARE.at(exact(1.5)) == exact(2.25)
    assert Elementary(Kind.ODD, exact(1) / 3).at(exact(-27)) == -3
    assert Elementary(Kind.EXP, exact(2)).at(exact(-3)) == exact(1) / 8


def test_what_has_too_many_digits_is_refused() -> None:
    with pytest.raises(TooFar, match="exp of 100000"):
        Elementary(Kind.EXP).at(exact(100_000))


def test_values_outside_the_domain_are_those_of_numpy() -> None:
    assert np.isnan(Elementary(Kind.LOG).values(-1.0))
    assert Elementary(Kind.LOG).values(0.0) == -np.inf
