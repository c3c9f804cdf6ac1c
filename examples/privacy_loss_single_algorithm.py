"""The privacy loss of one algorithm of the gallery, with the pair and the event that show it.

PYTHONPATH=. python examples/privacy_loss_single_algorithm.py SVT1 --config examples/privacy_loss_single_config.json
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import dpest
from dpest.algorithms import Algorithm, find
from dpest.errors import DpestError, InvalidInput
from dpest.report.verdict import judge

DEFAULTS = {"n_samples": 100_000, "hist_bins": 100, "seed": 0}


def main(argv: list[str] | None = None) -> int:
    """Print the loss of the named algorithm; 0 on success, 2 on wrong use."""
    parser = argparse.ArgumentParser(description="The privacy loss of one algorithm.")
    parser.add_argument("name", help="an algorithm of the gallery, such as SVT1")
    parser.add_argument("--config", type=Path, help="JSON with n_samples, hist_bins and seed, used where sampling happens")
    options = parser.parse_args(argv)
    try:
        algorithm = find(options.name)
        config = read_config(options.config)
        result = dpest.estimate(algorithm.function, algorithm.pairs(), samples=config["n_samples"], seed=config["seed"])
    except DpestError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"{algorithm.name}: {algorithm.title}")
    print(f"found ε = {result.epsilon:.10g} ({result.method}), claimed ε = {algorithm.claim:.6g}: {verdict(result, algorithm)}\n")
    print(result)
    return 0


def verdict(result: dpest.Result, algorithm: Algorithm) -> str:
    """Whether the claim holds on the pairs that were looked at."""
    outcome = judge(result, algorithm.claim).outcome.value
    return "FALSE" if outcome == "violated" else outcome


def read_config(path: Path | None) -> dict[str, Any]:
    """The settings in a JSON file, checked, over the defaults."""
    if path is None:
        return DEFAULTS
    try:
        given = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, json.JSONDecodeError) as error:
        raise InvalidInput(f"cannot read the settings in {path}: {error}") from error
    unknown = sorted(set(given) - set(DEFAULTS)) if isinstance(given, dict) else [type(given).__name__]
    if unknown:
        raise InvalidInput(f"{path} may hold {', '.join(DEFAULTS)}; it has {', '.join(unknown)}")
    return {**DEFAULTS, **given}


if __name__ == "__main__":
    sys.exit(main())
