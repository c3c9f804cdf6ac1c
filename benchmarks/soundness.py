"""Runs random programs against their oracles and writes docs/soundness.md.

python benchmarks/soundness.py --programs 1000 --seed 1 --kinds discrete one --shrink
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections import Counter, defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.grammar.check import BAD, Outcome, check
from tests.grammar.kinds import generate
from tests.grammar.program import Program
from tests.grammar.shrink import shrink

ROOT = Path(__file__).parents[1]
ORDER = ("ok", "refused", "wrong", "crash", "hang", "no oracle", "invalid")
ORACLES = {
    "discrete": "enumeration in fractions: the program run on every combination of draws",
    "loops": "enumeration in fractions until the rest weighs less than 1e-30",
    "one": "sweep of the continuous draw in rationals, masses and densities at 50 digits",
    "two": "cells of the plane in rationals, integrals over them",
    "post": "post-processing of the noise from above, counts of plain runs from below",
    "rewritten": "the same program written otherwise: brackets must meet",
}
SHARES = {"discrete": 5, "loops": 1, "one": 4, "two": 3, "post": 4, "rewritten": 3}


def main() -> None:
    """Runs the programs, prints failures as they come, and writes the page."""
    options = _options()
    warnings.simplefilter("ignore")
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    reasons: Counter[str] = Counter()
    start = time.time()
    slowest = 0.0
    kinds = [k for k in options.kinds for _ in range(SHARES[k])]
    for i in range(options.programs):
        kind = kinds[i % len(kinds)]
        program = generate(kind, options.seed * 1_000_000 + i)
        before = time.time()
        outcome = check(program, options.seconds, options.runs)
        slowest = max(slowest, time.time() - before)
        counts[kind][outcome.status] += 1
        if outcome.status in ("refused", "no oracle", "invalid"):
            reasons[f"{kind}, {outcome.status}: {outcome.why[:90]}"] += 1
        if outcome.status in BAD:
            _show(i, program, outcome, options)
    seconds = time.time() - start
    _print(counts, reasons, seconds, slowest)
    if options.write:
        page = ROOT / "docs" / "soundness.md"
        page.write_text(_page(counts, reasons, options, seconds, slowest), encoding="utf-8")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kinds", nargs="+", choices=list(SHARES), default=list(SHARES))
    parser.add_argument("--seconds", type=float, default=60.0, help="time limit of one answer")
    parser.add_argument("--runs", type=int, default=2_000, help="plain runs for each input, where samples are the oracle")
    parser.add_argument("--shrink", type=float, default=0.0, metavar="SECONDS", help="how long to make each failure smaller")
    parser.add_argument("--write", action="store_true", help="write docs/soundness.md")
    return parser.parse_args()


def _show(i: int, program: Program, outcome: Outcome, options: argparse.Namespace) -> None:
    if options.shrink:

        def fails(p: Program) -> bool:
            return check(p, min(options.seconds, 10.0), options.runs).status == outcome.status

        program = shrink(program, fails, options.shrink)
        outcome = check(program, options.seconds, options.runs)
    print(f"--- program {i}: {outcome.status}: said {outcome.said}; truth {outcome.truth} {outcome.why}\n{program}\n", flush=True)


def _print(counts: dict[str, Counter[str]], reasons: Counter[str], seconds: float, slowest: float) -> None:
    for kind, found in counts.items():
        print(f"{kind:10}", "  ".join(f"{s} {found[s]}" for s in ORDER if found[s]))
    for reason, n in reasons.most_common(25):
        print(f"{n:6}  {reason}")
    print(f"{seconds:.0f} s, slowest program {slowest:.1f} s")


def _page(
    counts: dict[str, Counter[str]], reasons: Counter[str], options: argparse.Namespace, seconds: float, slowest: float
) -> str:
    total = sum((sum(c.values()) for c in counts.values()), 0)
    lines = [
        "# Soundness: random programs against oracles",
        "",
        f"{total} random programs, seed {options.seed}, {seconds:.0f} s on one core, slowest program {slowest:.1f} s, limit "
        f"{options.seconds:g} s each. Written by `benchmarks/soundness.py`; `make soundness` runs it again.",
        "",
        "A program is *wrong* when the truth lies outside the bracket of the exact answer, a *crash* when it ends in an error",
        "that is not one of dpest's, a *hang* when there is no answer within the limit. *No oracle* means that the program was",
        "too large for its oracle; it counts as nothing.",
        "",
        "| kind | oracle | " + " | ".join(ORDER[:6]) + " |",
        "|---|---|" + "---|" * 6,
    ]
    for kind, found in counts.items():
        lines.append(f"| {kind} | {ORACLES[kind]} | " + " | ".join(str(found[s]) for s in ORDER[:6]) + " |")
    lines += ["", "## Refused, and why", "", "| programs | reason |", "|---|---|"]
    lines += [f"| {n} | {r.replace('|', '/')} |" for r, n in reasons.most_common(40) if ", refused:" in r]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
