"""All 21 algorithms: the loss found, the loss claimed, the method and the time.

PYTHONPATH=. python examples/privacy_loss_report.py --output report.md
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from privacy_loss_single_algorithm import read_config, verdict

import dpest
from dpest.algorithms import gallery
from dpest.errors import DpestError

HEAD = "| algorithm | ε found | ε claimed | claim | worst pair | method | seconds |\n|---|---|---|---|---|---|---|"


def rows(samples: int, seed: int) -> Iterator[str]:
    """One line of Markdown per algorithm."""
    for algorithm in gallery():
        start = time.perf_counter()
        result = dpest.estimate(algorithm.function, algorithm.pairs(), samples=samples, seed=seed)
        seconds = time.perf_counter() - start
        found = f"{result.epsilon:.10g} | {algorithm.claim:.6g} | {verdict(result, algorithm)}"
        yield f"| {algorithm.name} | {found} | {result.pair.name} | {result.method} | {seconds:.3f} |"


def main(argv: list[str] | None = None) -> int:
    """Print the table, and write it where asked; 0 on success, 2 on wrong use."""
    parser = argparse.ArgumentParser(description="The privacy loss of all 21 algorithms.")
    parser.add_argument("--config", type=Path, help="JSON with n_samples, hist_bins and seed, used where sampling happens")
    parser.add_argument("--output", type=Path, help="write the table to this Markdown file")
    options = parser.parse_args(argv)
    lines = [HEAD]
    print(HEAD)
    try:
        config = read_config(options.config)
        for row in rows(config["n_samples"], config["seed"]):
            print(row, flush=True)
            lines.append(row)
        if options.output:
            options.output.write_text("# Privacy loss of the 21 algorithms\n\n" + "\n".join(lines) + "\n", encoding="utf-8")
            print(f"\nwritten to {options.output}")
    except (DpestError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
