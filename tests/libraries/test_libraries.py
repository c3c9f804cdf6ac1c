"""Audits of noise that other projects add: naive implementations leak through the bits of their floats, careful ones do not."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from audit_libraries import audited as audited_entry
from library_entries import ENTRIES, Entry

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


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda e: f"{e.library} {e.name}")
def test_the_gallery_stands(entry: Entry) -> None:
    """Each verdict of the page, on another seed."""
    pytest.importorskip({"OpenDP": "opendp", "python-dp": "pydp"}.get(entry.library, entry.library))
    found = audited_entry(entry, seed=8)
    assert found.verdict == entry.values
    if entry.bits is not None:
        assert found.bits is not None
        assert found.bits.verdict == entry.bits
