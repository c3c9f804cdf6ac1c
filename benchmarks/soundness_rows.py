"""Prints one line for each wrong answer that was ever seen: what the engine says now, the truth, and whether it is right.

python benchmarks/soundness_rows.py [words in the name ...] [--seconds 10] [--bad]
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.regressions import continuous, discrete, hidden, joint
from tests.regressions.case import asked, verdict


def main() -> None:
    """Asks the engine about every case whose name holds the words."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*", help="only cases whose name holds one of these")
    parser.add_argument("--seconds", type=float, default=60.0, help="time limit of one answer")
    parser.add_argument("--bad", action="store_true", help="print only what is not right")
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    for case in itertools.chain(discrete.cases(), continuous.cases(), joint.cases(), hidden.cases()):
        if options.words and not any(w in case.name for w in options.words):
            continue
        start = time.perf_counter()
        truth = case.truth()
        oracle = time.perf_counter() - start
        said = asked(case, options.seconds)
        seconds = time.perf_counter() - start - oracle
        found = verdict(case, said, truth)
        counts[found.split("(")[0]] += 1
        if found != "ok" or not options.bad:
            print(
                f"{found:10} {seconds:6.2f}s (oracle {oracle:.2f}s)  {case.name}\n           said {said}   truth {truth}",
                flush=True,
            )
    print(dict(counts))


if __name__ == "__main__":
    main()
