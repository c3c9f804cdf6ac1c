"""An audit of SVT1 at 10^6 samples per stage, as a ratio to drawing as many samples with hand-vectorised NumPy: at most 3."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
from audit_mechanisms import svt1, svt1_early

import dpest
from dpest.inputs.pairs import generate_patterns
from dpest.run.streams import stream

SAMPLES = 1_000_000
CHUNK = 1 << 16
LIMIT = 3.0


def quiet(done: int, total: int, message: str) -> None:
    """Nothing on standard error while the clock runs."""


def draw(mechanism: Any, pair: tuple[list[float], list[float]], runs: int) -> float:
    """Seconds of CPU for drawing `runs` samples in chunks, half of each input."""
    start = time.process_time()
    for i in range(runs // (2 * CHUNK)):
        for data in pair:
            mechanism(data, CHUNK, stream(1, i))
    return time.process_time() - start


def main() -> int:
    pair = generate_patterns(10)["x_shape"]
    worst = 0.0
    for mechanism in (svt1, svt1_early):
        ratios = []
        for seed in range(3):
            start = time.process_time()
            result = dpest.audit(mechanism, pair, samples=SAMPLES, seed=seed, progress=quiet)
            spent = time.process_time() - start
            ratios.append(spent / draw(mechanism, pair, result.runs))
        ratio = float(np.median(ratios))
        print(f"audit of {mechanism.__name__}: {ratio:.2f} times drawing its {result.runs:,} samples (bound {result.lower:.4f})")
        worst = max(worst, ratio if mechanism is svt1 else 0.0)
    print(f"{'ok' if worst <= LIMIT else 'TOO SLOW'}: at most {LIMIT:g} times hand-vectorised drawing")
    return 0 if worst <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
