"""Writes docs/coverage_table.md: how often the bounds from samples held, in 300 seeded runs of each mechanism."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np

from tests.statistics.sampling_cases import CASES, EQUAL_LAWS, RUNS, Case, allowed_misses

HEAD = """# How often the bounds hold

{runs} seeded runs of each question, at 95 % confidence. A run misses when its lower bound is above the exact loss (or its
upper bound, where there is one, below it). A binomial allows {allowed} misses of {runs} (99 % quantile).
`benchmarks/coverage_table.py` writes this page.

| mechanism | output | samples | exact loss | lower bound above it | upper bound below it | median lower bound | median estimate |
|---|---|---|---|---|---|---|---|
"""


def row(case: Case, runs: int) -> str:
    """One line of the table."""
    found = list(case.runs(runs))
    above, below = sum(r.lower > case.truth for r in found), sum(r.upper < case.truth for r in found)
    bounded = any(r.upper < math.inf for r in found)
    lower, estimate = (np.median([getattr(r, name) for r in found]) for name in ("lower", "epsilon"))
    shown = f"{case.truth:.6g}" if math.isfinite(case.truth) else "infinite"
    upper = f"{below} of {runs}" if bounded else "no upper bound"
    return (
        f"| {case.name} | {case.kind} | {case.samples:,} | {shown} | {above} of {runs} | {upper} | {lower:.4g} | "
        f"{'infinite' if math.isinf(estimate) else f'{estimate:.4g}'} |\n"
    )


def main(runs: int, target: Path) -> None:
    """Write the table line by line."""
    with target.open("w") as page:
        page.write(HEAD.format(runs=runs, allowed=allowed_misses(runs)))
        for case in (*CASES, *EQUAL_LAWS):
            page.write(row(case, runs))
            page.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else RUNS, Path(sys.argv[2] if len(sys.argv) > 2 else "docs/coverage_table.md"))
