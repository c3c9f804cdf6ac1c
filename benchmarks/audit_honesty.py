"""Audits of true claims: how often is a bound above the true loss?  Independent and dependent runs, 1, 2 and 4 processes.

python benchmarks/audit_honesty.py --audits 70 --page docs/audit_honesty.md
"""

from __future__ import annotations

import argparse
import functools
import json
import math
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import binom

import dpest
from dpest.errors import DependentRuns, MechanismError

sys.path.insert(0, str(Path(__file__).parent))
import hidden_noise

Rng = np.random.Generator


@dataclass(frozen=True)
class Case:
    """A mechanism made anew for each audit, a pair, and its loss on that pair (or a bound that is known to hold)."""

    name: str
    make: Callable[[int], Any]
    pair: Any
    loss: float
    dependent: bool = False
    workers: int = 1
    samples: int = 1000


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


def fixed(mechanism: Any) -> Callable[[int], Any]:
    """The same mechanism for each audit."""
    return lambda seed: mechanism


def laplace(data: Any, size: int, rng: Rng) -> Any:
    return data[0] + rng.laplace(size=size)


def laplace_call(data: Any, rng: Rng) -> float:
    return float(data[0] + rng.laplace())


def two_laplace(data: Any, size: int, rng: Rng) -> Any:
    return np.asarray(data) + rng.laplace(scale=2.0, size=(size, 2))


def geometric(data: Any, size: int, rng: Rng) -> Any:
    p = 1 - math.exp(-1)
    return data[0] + rng.geometric(p, size) - rng.geometric(p, size)


def response(data: Any, size: int, rng: Rng) -> Any:
    return np.where(rng.random(size) < 0.75, data, 1 - data)


def response_k(data: Any, size: int, rng: Rng) -> Any:
    k, keep = 20, math.e / (math.e + 19)
    return np.where(rng.random(size) < keep, data, (data + rng.integers(1, k, size)) % k)


def exponential(data: Any, size: int, rng: Rng) -> Any:
    scores = 0.5 * np.asarray(data)
    return np.argmax(scores + rng.gumbel(size=(size, len(data))), axis=1)


def noisy_max(data: Any, size: int, rng: Rng) -> Any:
    return np.argmax(np.asarray(data) + rng.exponential(scale=2.0, size=(size, len(data))), axis=1)


def gap_max(data: Any, size: int, rng: Rng) -> Any:
    noisy = np.asarray(data) + rng.laplace(scale=2.0, size=(size, len(data)))
    ordered = np.sort(noisy, axis=1)
    return np.argmax(noisy, axis=1), ordered[:, -1] - ordered[:, -2]


def sparse(data: Any, rng: Rng) -> Any:
    threshold = 0.5 + rng.laplace(scale=2.0)
    for i, q in enumerate(data):
        if q + rng.laplace(scale=4.0) >= threshold:
            return i
    return None


def sparse_rows(data: Any, size: int, rng: Rng) -> Any:
    threshold = 0.5 + rng.laplace(scale=2.0, size=(size, 1))
    return (np.asarray(data) + rng.laplace(scale=4.0, size=(size, len(data))) >= threshold).argmax(axis=1)


def thresholded(data: Any, size: int, rng: Rng) -> Any:
    noisy = data[0] + rng.laplace(size=size)
    return np.where(noisy > 1.0, noisy, np.nan)


def raises(data: Any, rng: Rng) -> float:
    noisy = float(data[0] + rng.laplace())
    if noisy > 2:
        raise ValueError("too large")
    return noisy


def equal(data: Any, size: int, rng: Rng) -> Any:
    return rng.normal(size=(size, 3))


def rounded(data: Any, size: int, rng: Rng) -> Any:
    return np.round(data[0] + rng.laplace(size=size), 1)


def staircase(data: Any, size: int, rng: Rng) -> Any:
    sign = rng.choice([-1, 1], size)
    steps = rng.geometric(1 - math.exp(-1), size) - 1
    gamma = 1 / (1 + math.exp(0.5))
    low = rng.random(size) < gamma / (gamma + (1 - gamma) * math.exp(-1))
    u = rng.random(size)
    return data[0] + sign * np.where(low, steps + gamma * u, steps + gamma + (1 - gamma) * u)


def words(data: Any, rng: Rng) -> str:
    return "yes" if rng.random() < (0.75 if data else 0.25) else "no"


def global_state(data: Any) -> float:
    return float(data[0] + np.random.laplace())  # noqa: NPY002


def traced(data: Any) -> Any:
    return data[0] + dpest.laplace(1.0)


# Dependent runs: the claim is that of the mechanism with fresh noise in each run.


def shared_threshold(data: Any, size: int, rng: Rng) -> Any:
    threshold = 0.5 + rng.laplace(scale=2.0)
    return (np.asarray(data) + rng.laplace(scale=4.0, size=(size, len(data))) >= threshold).argmax(axis=1)


def shared_offset(data: Any, size: int, rng: Rng) -> Any:
    return data[0] + rng.laplace() + 0.01 * rng.random(size)


def kept_noise(calls: int) -> Callable[[int], Any]:
    """Noise that is kept for some calls."""

    def make(seed: int) -> Any:
        state = {"left": 0, "noise": 0.0}

        def mechanism(data: Any, rng: Rng) -> float:
            if state["left"] == 0:
                state.update(left=calls, noise=float(rng.laplace()))
            state["left"] -= 1
            return float(data[0] + state["noise"])

        return mechanism

    return make


class KeptInObject:
    """Noise that is kept for twenty calls, in an object that holds a lock and cannot be copied."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.left, self.noise = 0, 0.0

    def __call__(self, data: Any, rng: Rng) -> float:
        if self.left == 0:
            self.left, self.noise = 20, float(rng.laplace())
        self.left -= 1
        return float(data[0] + self.noise)


def cached(seed: int) -> Any:
    @functools.lru_cache
    def answer(x: float) -> float:
        return float(x + np.random.laplace())  # noqa: NPY002

    return lambda data: answer(data[0])


def remembered(seed: int) -> Any:
    known: dict[float, float] = {}

    def mechanism(data: Any, rng: Rng) -> float:
        return known.setdefault(data[0], float(data[0] + rng.laplace()))

    return mechanism


def sticky(stay: float) -> Callable[[int], Any]:
    """A coin that often shows its last side again."""

    def make(seed: int) -> Any:
        state: dict[str, bool] = {}

        def mechanism(data: int, rng: Rng) -> int:
            if not state or rng.random() > stay:
                state["lie"] = bool(rng.random() < 0.25)
            return 1 - data if state["lie"] else data

        return mechanism

    return make


def static_layer(seed: int) -> Any:
    kept: list[float] = []

    def mechanism(data: Any, rng: Rng) -> float:
        if not kept:
            kept.append(float(rng.laplace(scale=2.0)))
        return float(data[0] + rng.laplace(scale=2.0) > 0.5 + kept[0])

    return mechanism


def by_the_clock(data: Any) -> float:
    return float(data[0] + np.random.default_rng(int(time.time())).laplace())


def by_the_millisecond(data: Any) -> float:
    return float(data[0] + np.random.default_rng(int(time.time() * 1000)).laplace())


_LOSS_SPARSE = 0.75  # (threshold 1/2 + query 2/4: an upper bound for these pairs)
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
)


def quiet(done: int, total: int, message: str) -> None:
    """No progress bar."""


def audited(case: Case, seed: int) -> float | None:
    """The bound of one audit of the true claim; None where it was refused."""
    try:
        return dpest.audit(
            case.make(seed), case.pair, samples=case.samples, seed=seed, executor=case.workers, progress=quiet
        ).lower
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
        "| mechanism | runs | processes | samples | audits | above the loss | refused | loss, or a bound on it | median bound "
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
            few = 4 if case.workers > 1 or "clock" in case.name else 1
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
