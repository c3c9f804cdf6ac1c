"""Runs random programs against their oracles and writes docs/soundness.md.

python benchmarks/soundness.py --programs 1000 --seed 1 --kinds discrete one --shrink 30

A long run is spread over `--workers` processes and can be cut into pieces: `--record FILE` appends one line per program and
goes on after the programs of this seed that the file holds, `--minutes` stops it, `--page FILE ...` writes the page from files.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
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
    "arrays": "enumeration in fractions, on NumPy's own arrays and numbers",
    "tails": "closed forms of tails, at 600 digits",
    "tries": "closed forms of rounds, at 600 digits",
}
SHARES = {"discrete": 5, "loops": 1, "one": 4, "two": 3, "post": 4, "rewritten": 3, "arrays": 3, "tails": 2, "tries": 1}


@dataclass(frozen=True)
class Row:
    """What came of one program, as it is recorded."""

    seed: int
    number: int
    kind: str
    status: str
    seconds: float
    why: str


def main() -> None:
    """Runs the programs, prints failures as they come, and writes the page."""
    options = _options()
    if options.page:
        _write([row for path in options.page for row in _recorded(path)], options)
        return
    rows = _recorded(options.record) if options.record else []
    done = {row.number for row in rows if row.seed == options.seed}
    kinds = [k for k in options.kinds for _ in range(SHARES[k])]
    start = time.time()
    for row in _rows([(i, kinds[i % len(kinds)], options) for i in range(options.programs) if i not in done], options.workers):
        rows.append(row)
        if options.record:
            with open(options.record, "a", encoding="utf-8") as record:
                record.write(json.dumps(asdict(row)) + "\n")
        if options.minutes and time.time() - start > 60 * options.minutes:
            break
    _print(rows)
    if options.write:
        _write(rows, options)


def _rows(jobs: list[tuple[int, str, argparse.Namespace]], workers: int) -> Iterator[Row]:
    """What came of each program, as it comes."""
    if workers == 1:
        yield from map(_run, jobs)
        return
    with multiprocessing.get_context("spawn").Pool(workers) as pool:
        yield from pool.imap_unordered(_run, jobs)


def _run(job: tuple[int, str, argparse.Namespace]) -> Row:
    i, kind, options = job
    warnings.simplefilter("ignore")
    program = generate(kind, options.seed * 1_000_000 + i)
    before = time.process_time()
    outcome = check(program, options.seconds, options.runs)
    seconds = time.process_time() - before
    if outcome.status in BAD:
        _show(i, program, outcome, options)
    return Row(options.seed, i, kind, outcome.status, seconds, outcome.why[:90])


def _recorded(path: str) -> list[Row]:
    """The rows of a record; none where there is no such file yet."""
    if not Path(path).exists():
        return []
    return [Row(**json.loads(line)) for line in Path(path).read_text(encoding="utf-8").splitlines()]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kinds", nargs="+", choices=list(SHARES), default=list(SHARES))
    parser.add_argument("--seconds", type=float, default=60.0, help="processor time that one answer may take")
    parser.add_argument("--runs", type=int, default=2_000, help="plain runs for each input, where samples are the oracle")
    parser.add_argument("--shrink", type=float, default=0.0, metavar="SECONDS", help="how long to make each failure smaller")
    parser.add_argument("--write", action="store_true", help="write docs/soundness.md")
    parser.add_argument("--record", metavar="FILE", help="append a line for each program; go on after those it holds")
    parser.add_argument("--workers", type=int, default=1, help="processes that try programs side by side")
    parser.add_argument("--minutes", type=float, default=0.0, help="stop after this time")
    parser.add_argument("--page", nargs="+", metavar="FILE", help="run nothing: write docs/soundness.md from these records")
    return parser.parse_args()


def _show(i: int, program: Program, outcome: Outcome, options: argparse.Namespace) -> None:
    if options.shrink:

        def fails(p: Program) -> bool:
            return check(p, min(options.seconds, 10.0), options.runs).status == outcome.status

        program = shrink(program, fails, options.shrink)
        outcome = check(program, options.seconds, options.runs)
    print(f"--- program {i}: {outcome.status}: said {outcome.said}; truth {outcome.truth} {outcome.why}\n{program}\n", flush=True)


def _print(rows: list[Row]) -> None:
    for kind, found in _counts(rows).items():
        print(f"{kind:10}", "  ".join(f"{s} {found[s]}" for s in ORDER if found[s]))
    for reason, n in _reasons(rows).most_common(25):
        print(f"{n:6}  {reason}")
    print(f"{sum(r.seconds for r in rows):.0f} s, slowest program {max((r.seconds for r in rows), default=0.0):.1f} s")


def _counts(rows: list[Row]) -> dict[str, Counter[str]]:
    counts: dict[str, Counter[str]] = {kind: Counter() for kind in SHARES if any(r.kind == kind for r in rows)}
    for row in rows:
        counts[row.kind][row.status] += 1
    return counts


def _reasons(rows: list[Row]) -> Counter[str]:
    return Counter(f"{r.kind}, {r.status}: {r.why}" for r in rows if r.status in ("refused", "no oracle", "invalid"))


def _write(rows: list[Row], options: argparse.Namespace) -> None:
    (ROOT / "docs" / "soundness.md").write_text(_page(rows, options.seconds), encoding="utf-8")


def _page(rows: list[Row], limit: float) -> str:
    seeds = sorted({r.seed for r in rows})
    lines = [
        "# Soundness: random programs against oracles",
        "",
        f"{len(rows):,} random programs, seed{'s' * (len(seeds) > 1)} {', '.join(map(str, seeds))}, "
        f"{sum(r.seconds for r in rows):,.0f} s of one core, slowest program {max(r.seconds for r in rows):.1f} s, limit "
        f"{limit:g} s each. Written by `benchmarks/soundness.py`; `make soundness` runs it again.",
        "",
        "A program is *wrong* when the truth lies outside the bracket of the exact answer, a *crash* when it ends in an error",
        "that is not one of dpest's, a *hang* when there is no answer within the limit. *No oracle* means that the program was",
        "too large for its oracle; it counts as nothing.",
        "",
        "| kind | oracle | " + " | ".join(ORDER[:6]) + " |",
        "|---|---|" + "---|" * 6,
    ]
    for kind, found in _counts(rows).items():
        lines.append(f"| {kind} | {ORACLES[kind]} | " + " | ".join(str(found[s]) for s in ORDER[:6]) + " |")
    lines += ["", "## Refused, and why", "", "| programs | reason |", "|---|---|"]
    lines += [f"| {n} | {r.replace('|', '/')} |" for r, n in _reasons(rows).most_common(40) if ", refused:" in r]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
