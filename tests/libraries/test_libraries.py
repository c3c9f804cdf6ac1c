"""Audits of noise that other projects add: naive implementations leak through the bits of their floats, careful ones do not."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dpest
from dpest.inputs.pairs import Pair

pytestmark = pytest.mark.libraries

Mechanism = Callable[[float], float]
PAIR = (0.0, 1.0)


def quiet(done: int, total: int, message: str) -> None:
    """No progress bar in tests."""


def audited(mechanism: Callable[..., Any], features: str, samples: int, confidence: float = 0.999) -> dpest.audit.AuditResult:
    return dpest.audit(
        mechanism, PAIR, claim=1.0, features=features, samples=samples, seed=7, confidence=confidence, progress=quiet
    )


def naive(data: float, rng: np.random.Generator) -> float:
    return float(data + rng.laplace())


def diffprivlib_laplace() -> Mechanism:
    mechanisms = pytest.importorskip("diffprivlib.mechanisms")
    mechanism = mechanisms.Laplace(epsilon=1, delta=0, sensitivity=1)
    return lambda data: float(mechanism.randomise(data))


def diffprivlib_snapping() -> Mechanism:
    mechanisms = pytest.importorskip("diffprivlib.mechanisms")
    mechanism = mechanisms.Snapping(epsilon=1, sensitivity=1, lower=-10.0, upper=10.0)
    return lambda data: float(mechanism.randomise(data))


def opendp_laplace() -> Mechanism:
    dp = pytest.importorskip("opendp.prelude")
    dp.enable_features("contrib")
    domain = dp.atom_domain(T=float, nan=False)
    mechanism = dp.m.make_laplace(domain, dp.absolute_distance(T=float), scale=1.0)
    return lambda data: float(mechanism(data))


def pydp_laplace() -> Mechanism:
    numerical = pytest.importorskip("pydp.algorithms.numerical_mechanisms")
    mechanism = numerical.LaplaceMechanism(epsilon=1.0, sensitivity=1.0)
    return lambda data: float(mechanism.add_noise(data))


def test_naive_numpy_noise_is_refuted_by_its_representation() -> None:
    result = audited(naive, "bits", 20_000)
    assert result.verdict == "violated"
    assert result.lower > 2


def test_values_and_bits_are_answered_together() -> None:
    found = audited(diffprivlib_laplace(), "auto", 5_000)
    assert found.verdict == "not refuted"
    assert found.bits is not None
    assert found.bits.verdict == "violated"


def test_diffprivlib_nanmean_is_refuted_where_most_values_are_nan() -> None:
    tools = pytest.importorskip("diffprivlib.tools")
    nan = math.nan
    pair = Pair("replace", [0.0, nan, nan, nan], [1.0, nan, nan, nan])

    def mean(data: Any) -> float:
        return float(tools.nanmean(data, epsilon=1, bounds=(0, 1)))

    found = dpest.audit(mean, pair, claim=1.0, samples=2_000, seed=7, confidence=0.999, progress=quiet)
    assert found.verdict == "violated"
    assert 2 < found.lower <= 4


def test_diffprivlib_laplace_is_refuted_by_its_representation() -> None:
    assert audited(diffprivlib_laplace(), "bits", 20_000).verdict == "violated"


@pytest.mark.parametrize("make", [opendp_laplace, pydp_laplace, diffprivlib_snapping], ids=["opendp", "python-dp", "snapping"])
@pytest.mark.parametrize("features", ["bits", "auto"])
def test_careful_noise_is_not_accused(make: Callable[[], Mechanism], features: str) -> None:
    result = audited(make(), features, 5_000)
    assert result.verdict == "not refuted"


@pytest.mark.parametrize("make", [diffprivlib_laplace, opendp_laplace, pydp_laplace], ids=["diffprivlib", "opendp", "python-dp"])
def test_the_scale_of_the_noise_shows(make: Callable[[], Mechanism]) -> None:
    result = dpest.audit(make(), PAIR, samples=5_000, seed=7, confidence=0.999, progress=quiet)
    assert 0.6 < result.lower <= 1.0
    assert math.isfinite(result.epsilon)
