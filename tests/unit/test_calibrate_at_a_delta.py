"""Calibration to (epsilon, delta): the scale of Gaussian noise against the analytic Gaussian mechanism."""

from __future__ import annotations

import json
import math
import shlex
from pathlib import Path
from typing import Any

import pytest
from scipy.optimize import brentq
from scipy.stats import norm

import dpest
from dpest.cli import main
from dpest.errors import InvalidInput

RELEASES = """
import dpest

def wide(x, sigma=1.0):
    return x + dpest.gaussian(sigma)

def narrow(x):
    return wide(x, 0.5)
"""


def release(x: Any, sigma: float) -> Any:
    return x + dpest.gaussian(sigma)


def analytic_sigma(epsilon: float, delta: float) -> float:
    """The sigma at which delta(epsilon) of the Gaussian mechanism of sensitivity 1 is delta (Balle and Wang 2018)."""

    def excess(sigma: float) -> float:
        a, b = 1 / (2 * sigma), epsilon * sigma
        return float(norm.cdf(a - b) - math.exp(epsilon) * norm.cdf(-a - b)) - delta

    return float(brentq(excess, 0.1, 100, xtol=1e-12))


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-5), (0.5, 1e-6), (3.0, 1e-3)])
def test_gaussian_noise_is_that_of_the_analytic_mechanism(epsilon: float, delta: float) -> None:
    found = dpest.calibrate(release, "sigma", target=epsilon, delta=delta, tolerance=1e-6, progress=False)
    truth = analytic_sigma(epsilon, delta)
    assert found.bracket[0] <= truth <= found.bracket[1]
    assert found.value == pytest.approx(truth, rel=2e-6)
    assert found.result.epsilon_at(delta).upper <= epsilon
    assert f"epsilon at delta {delta:g} over all linf-adjacent inputs is at most" in str(found)


def test_without_a_delta_the_message_names_one() -> None:
    with pytest.raises(InvalidInput, match="it is infinite, give delta=1e-6"):
        dpest.calibrate(release, "sigma", target=1.0, progress=False)


@pytest.mark.parametrize("delta", [-1, 1, 2, math.nan, "1e-6", None])
def test_a_delta_that_is_none(delta: Any) -> None:
    with pytest.raises(InvalidInput, match="delta must lie in"):
        dpest.calibrate(release, "sigma", target=1.0, delta=delta)


def test_on_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "releases.py").write_text(RELEASES, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert main(shlex.split("calibrate releases.py:wide sigma --target 1 --delta 1e-5 --tolerance 1e-3 --json")) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["delta"] == 1e-5
    assert answer["bracket"][0] <= analytic_sigma(1.0, 1e-5) <= answer["bracket"][1]
    assert main(shlex.split("compare releases.py:wide releases.py:narrow --pair 0 1 --delta 1e-5")) == 0
    assert capsys.readouterr().out.endswith("lose the same on these pairs\nat delta 1e-05 narrow loses more\n")
