"""Runs every published mechanism as it stands and writes docs/coverage.md: python -m benchmarks.coverage [words] [--write]."""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.coverage import families
from benchmarks.coverage.page import page
from benchmarks.coverage.run import Row, answer

ROOT = Path(__file__).parents[2]


def main() -> None:
    """Prints each mechanism's outcome as it comes, and writes the page."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("words", nargs="*", help="only mechanisms whose family or name has one of these words")
    options.add_argument("--seconds", type=float, default=30.0, help="the time limit of one mechanism")
    options.add_argument("--write", action="store_true", help="write docs/coverage.md")
    given = options.parse_args()
    rows: list[Row] = []
    for family, case in families.cases():
        if given.words and not any(w in f"{family} {case.name}".lower() for w in given.words):
            continue
        row = answer(family, case, given.seconds)
        rows.append(row)
        print(f"{row.outcome:10} {row.seconds:6.2f} s  {family}: {case.name}  {row.figures}  {row.reason}", flush=True)
    counts = {name: sum(r.outcome == name for r in rows) for name in dict.fromkeys(r.outcome for r in rows)}
    print(f"{len(rows)} mechanisms: {counts}")
    if given.write:
        (ROOT / "docs" / "coverage.md").write_text(page(rows, given.seconds), encoding="utf-8")


if __name__ == "__main__":
    main()
