"""Audits of true claims: how often is a bound above the true loss?  Independent and dependent runs, 1, 2 and 4 processes.

python benchmarks/audit_honesty.py --audits 64 --page docs/audit_honesty.md
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.stats import binom

import dpest
from dpest.errors import DependentRuns, MechanismError

sys.path.insert(0, str(Path(__file__).parent))
import hidden_noise
from honesty_dependent import (
    KeptInObject,
    antithetic,
    antithetic_rows,
    by_the_clock,
    by_the_millisecond,
    cached,
    coin_seeded_again,
    kept_noise,
    noise_of_the_pair,
    one_seed_per_hundred,
    remembered,
    remembered_by_turn,
    shared_offset,
    shared_threshold,
    slow_drift,
    starts_again,
    static_layer,
    sticky,
    stratified_rows,
    ten_rows_share,
)
from honesty_independent import (
    Case,
    equal,
    exponential,
    fixed,
    gap_max,
    geometric,
    global_state,
    laplace,
    laplace_call,
    noisy_max,
    raises,
    response,
    response_k,
    rounded,
    sparse,
    sparse_rows,
    staircase,
    thresholded,
    traced,
    two_laplace,
    words,
)


@dataclass(frozen=True)
class Outcome:
    """The bounds of audits of one case; None where an audit was refused."""

    case: Case
    bounds: tuple[float | None, ...]

    @property
    def given(self) -> list[float]:
        """The bounds of audits that were not refused."""
        return [x for x in self.bounds if x is not None]

    @property
    def above(self) -> int:
        """How many lie above the loss."""
        return sum(x > self.case.loss + 1e-12 for x in self.given)

    @property
    def median(self) -> str:
        """The median bound."""
        return f"{np.median(self.given):.3f}" if self.given else ""

    @property
    def p_value(self) -> float:
        """The chance of so many or more above, if each had a chance of one in twenty."""
        return float(binom.sf(self.above - 1, max(len(self.given), 1), 0.05))

    def __str__(self) -> str:
        refused = len(self.bounds) - len(self.given)
        return (
            f"{self.case.name:32} above {self.above:3} refused {refused:3} of {len(self.bounds)} median {self.median} "
            f"p {self.p_value:.2g}"
        )


_ONE = ([0.0], [1.0])
_TWO = ([0.0, 0.0], [1.0, 1.0])
_FIVE = ([1.0] * 5, [2.0, 0.0, 0.0, 0.0, 0.0])

CASES = (
    Case("Laplace", fixed(laplace), _ONE, 1.0),
    Case("Laplace, call by call", fixed(laplace_call), _ONE, 1.0),
    Case("Laplace in two dimensions", fixed(two_laplace), _TWO, 1.0),
    Case("geometric", fixed(geometric), ([0], [1]), 1.0),
    Case("randomised response", fixed(response), (0, 1), math.log(3)),
    Case("randomised response, 20 values", fixed(response_k), (0, 1), 1.0),
    Case("exponential mechanism", fixed(exponential), ([0.0] * 20, [1.0] + [-1.0] * 19), 1.0),
    Case("noisy argmax", fixed(noisy_max), _FIVE, 1.0),
    Case("noisy argmax with gap", fixed(gap_max), _FIVE, 1.0),
    Case("sparse vector", fixed(sparse), _FIVE, 1.0),
    Case("sparse vector, vectorised", fixed(sparse_rows), _FIVE, 1.0),
    Case("Laplace or NaN", fixed(thresholded), _ONE, 1.0),
    Case("Laplace that raises", fixed(raises), _ONE, 1.0),
    Case("equal laws", fixed(equal), _ONE, 0.0),
    Case("rounded Laplace", fixed(rounded), _ONE, 1.0),
    Case("staircase", fixed(staircase), _ONE, 1.0),
    Case("words", fixed(words), (False, True), math.log(3)),
    Case("global state", fixed(global_state), _ONE, 1.0),
    Case("draws of dpest", fixed(traced), _ONE, 1.0),
    Case("generator in a module", fixed(hidden_noise.found), _ONE, 1.0),
    Case("threshold shared by rows", fixed(shared_threshold), _FIVE, 1.0, True),
    Case("offset shared by rows", fixed(shared_offset), _ONE, 1.0, True),
    Case("noise kept for 3 calls", kept_noise(3), _ONE, 1.0, True),
    Case("noise kept for 20 calls", kept_noise(20), _ONE, 1.0, True),
    Case("noise kept, no copies", lambda seed: KeptInObject(), _ONE, 1.0, True),
    Case("cached answers", cached, _ONE, 1.0, True),
    Case("remembered answers", remembered, _ONE, 1.0, True),
    Case("sticky coin, 0.5", sticky(0.5), (0, 1), math.log(3), True),
    Case("sticky coin, 0.9", sticky(0.9), (0, 1), math.log(3), True),
    Case("static layer", static_layer, _ONE, 1.0, True),
    Case("seeded by the clock", fixed(by_the_clock), _ONE, 1.0, True),
    Case("seeded by the millisecond", fixed(by_the_millisecond), _ONE, 1.0, True),
    Case("hidden generator, 1 process", fixed(hidden_noise.hidden), _ONE, 1.0, True),
    Case("hidden generator, 2 processes", fixed(hidden_noise.hidden), _ONE, 1.0, True, 2),
    Case("hidden generator, 4 processes", fixed(hidden_noise.hidden), _ONE, 1.0, True, 4),
    Case("starts again after 100 calls", starts_again(100, whole=False), _ONE, 1.0, True),
    Case("the same, rounded", starts_again(100, whole=True), _ONE, 1.0, True),
    Case("starts again after 2,000 calls", starts_again(2000, whole=False), _ONE, 1.0, True),
    Case("coin seeded alike per 100 calls", coin_seeded_again, (0, 1), math.log(3), True),
    Case("one seed per 100 calls", one_seed_per_hundred, _ONE, 1.0, True),
    Case("noise reused across the pair", noise_of_the_pair(1), _ONE, 1.0, True),
    Case("opposite noise across the pair", noise_of_the_pair(-1), _ONE, 1.0, True),
    Case("antithetic draws", antithetic, _ONE, 1.0, True),
    Case("antithetic rows", fixed(antithetic_rows), _ONE, 1.0, True),
    Case("stratified rows", fixed(stratified_rows), _ONE, 1.0, True),
    Case("fifty remembered answers", remembered_by_turn, _ONE, 1.0, True),
    Case("ten rows share a draw", fixed(ten_rows_share), _ONE, 1.0, True),
    Case("slow drift", slow_drift, _ONE, 1.0, True),
    Case("global state, 4 threads", fixed(global_state), _ONE, 1.0, True, 4, threads=True),
)


def quiet(done: int, total: int, message: str) -> None:
    """No progress bar."""


def audited(case: Case, seed: int) -> float | None:
    """The bound of one audit of the true claim; None where it was refused."""
    with ThreadPoolExecutor(case.workers) if case.threads else nullcontext(case.workers) as executor:
        try:
            asked = {"samples": case.samples, "seed": seed, "executor": executor, "progress": quiet}
            return dpest.audit(case.make(seed), case.pair, **asked).lower
        except (DependentRuns, MechanismError):
            return None


def outcome(case: Case, audits: int, first: int = 0) -> Outcome:
    """Many audits of one case."""
    return Outcome(case, tuple(audited(case, first + seed) for seed in range(audits)))


def page(outcomes: list[Outcome]) -> str:
    """The table as Markdown."""
    total = sum(len(o.bounds) for o in outcomes)
    dependent = sum(len(o.bounds) for o in outcomes if o.case.dependent)
    above, refused = sum(o.above for o in outcomes), sum(len(o.bounds) - len(o.given) for o in outcomes)
    lines = [
        "# Do audits keep their word?",
        "",
        f"{total:,} audits of claims that are true, {dependent:,} of them of mechanisms whose runs depend on each other (the",
        "claim is that of the mechanism with fresh noise in each run). Each states its bound with confidence 0.95, so that at",
        "most one in twenty may lie above the true loss; the last column is the chance of so many or more if that is kept.",
        "Where no bound holds for runs that depend on each other, an audit has to say so: those are the refused ones.",
        f"In all, {above} were above and {refused} were refused.",
        "",
        "    python benchmarks/audit_honesty.py --page docs/audit_honesty.md",
        "",
        "| mechanism | runs | workers | samples | audits | above the loss | refused | loss, or a bound on it | median bound "
        "| chance |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for o in outcomes:
        c, kind = o.case, "dependent" if o.case.dependent else "independent"
        counts = f"{len(o.bounds)} | {o.above} | {len(o.bounds) - len(o.given)}"
        lines.append(
            f"| {c.name} | {kind} | {c.workers} | {c.samples:,} | {counts} | {c.loss:.3f} | {o.median} | {o.p_value:.2g} |"
        )
    return "\n".join([*lines, ""])


def main() -> None:
    """Run all cases, or those whose names contain a word; bounds are added to a file of JSON lines, if one is given."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--audits", type=int, default=64)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--only", default="")
    parser.add_argument("--part", default="0/1", help="this part of the cases, such as 0/2")
    parser.add_argument("--save", type=Path, help="where bounds are added, one line a case")
    parser.add_argument("--page", type=Path, help="the page to write, from what was saved if that is given")
    options = parser.parse_args()
    part, parts = map(int, options.part.split("/"))
    outcomes = []
    for case in CASES[part::parts] if options.audits else ():
        if options.only in case.name:
            few = 4 if (case.workers > 1 and not case.threads) or "clock" in case.name else 1
            found = outcome(case, max(options.audits // few, 1), options.first)
            print(found, flush=True)
            outcomes.append(found)
            if options.save:
                with options.save.open("a") as file:
                    file.write(json.dumps({"case": case.name, "bounds": found.bounds}) + "\n")
    if options.page:
        options.page.write_text(page(_saved(options.save) if options.save else outcomes))


def _saved(path: Path) -> list[Outcome]:
    bounds: dict[str, list[float | None]] = {}
    for line in map(json.loads, path.read_text().splitlines()):
        bounds.setdefault(line["case"], []).extend(line["bounds"])
    return [Outcome(case, tuple(bounds[case.name])) for case in CASES if case.name in bounds]


if __name__ == "__main__":
    main()
