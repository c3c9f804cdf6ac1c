"""The public names: adding or dropping one is a decision, not an accident."""

from __future__ import annotations

import subprocess
import sys

import dpest

PUBLIC = """
    laplace gaussian exponential gumbel logistic uniform geometric bernoulli categorical integers from_scipy
    where branch mux maximum minimum clip argmax argmin max min cumsum floor ceil apply
    estimate prove calibrate sweep compose audit sampler
    Curve Result Witness Evidence Pair generate_patterns Dist Interval
    errors testing __version__
"""


def test_public_names() -> None:
    assert sorted(dpest.__all__) == sorted(PUBLIC.split())


def test_every_public_name_is_there_and_says_what_it_is() -> None:
    for name in dpest.__all__:
        value = getattr(dpest, name)
        assert name == "__version__" or value.__doc__, name


def test_unknown_name_is_an_attribute_error() -> None:
    assert not hasattr(dpest, "no_such_name")


def loaded(code: str, *modules: str) -> list[str]:
    """Which of the modules are loaded after running the code in a fresh interpreter."""
    tell = f"{code}\nimport sys\nprint(' '.join(m for m in {modules!r} if m in sys.modules))"
    done = subprocess.run([sys.executable, "-c", tell], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1].split()


def test_import_loads_nothing_heavy() -> None:
    assert loaded("import dpest", "numpy", "scipy", "click", "matplotlib", "sklearn") == []


def test_help_loads_no_numerics() -> None:
    assert loaded("from dpest.cli import main; main(['--help'])", "numpy", "scipy", "rich") == []


def test_exact_estimate_loads_no_statistics_and_no_drawing() -> None:
    code = "from dpest.cli import main; main(['estimate', 'SVT1'])"
    assert loaded(code, "scipy.stats", "matplotlib", "sklearn", "pytest", "rich") == []
