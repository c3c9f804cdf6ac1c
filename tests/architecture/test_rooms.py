"""An exact answer loads nothing of sampling, a sampled or audited one nothing of exact inference: both stand on the trace."""

from __future__ import annotations

import subprocess
import sys

import pytest

SCRIPT = """
import sys
import dpest

def mechanism(x):
    return 1 if x + dpest.laplace(2.0) > 0.5 else 0

def black_box(x, rng):
    return int(x + rng.laplace(0, 2.0) > 0.5)

{question}
print(*sorted(name for name in sys.modules if name.startswith("{other}")))
"""
EXACT, SAMPLING = "dpest.exact", "dpest.sampling"


@pytest.mark.parametrize(
    ("question", "other"),
    [
        ("dpest.estimate(mechanism, (0, 1), method='exact')", SAMPLING),
        ("dpest.prove(lambda x: mechanism(x[0]), n=1)", SAMPLING),
        ("dpest.estimate(mechanism, (0, 1), method='sampling', samples=1000, seed=1)", EXACT),
        ("dpest.audit(black_box, (0, 1), samples=500, seed=1)", EXACT),
    ],
)
def test_one_way_does_not_load_the_other(question: str, other: str) -> None:
    script = SCRIPT.format(question=question, other=other)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.strip() == ""
