"""Pessimistic curves of dp_accounting beside the truth, where the truth is known: writes the table of docs/accountants.md.

    python benchmarks/accountants.py            # prints the table
    python benchmarks/accountants.py --write    # puts it into docs/accountants.md

The truth comes from binomial sums (randomised response), the analytic formula (Gaussian) and exact fractions (random finite
pairs), in 60 digits. It needs dp_accounting, mpmath and the oracles of the tests.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
from dp_accounting.pld import privacy_loss_distribution as distributions

from dpest.curves.curve import Curve
from tests.oracles.compositions import delta_of, gaussian, outcomes, randomised_response
from tests.oracles.random_pairs import random_pair

PAGE = Path(__file__).parents[1] / "docs" / "accountants.md"
START, END = "<!-- table -->", "<!-- end of table -->"
TARGETS = (0.5, 1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12, 1e-14)
INTERVAL = 1e-4


@dataclass(frozen=True)
class Case:
    """One question: what the truth, the accountant and dpest say."""

    family: str
    k: int
    epsilon: float
    truth: Any
    theirs: float
    lower: float
    upper: float


def epsilons(curve: Curve) -> list[float]:
    """Where the curve passes deltas from 1/2 to 1e-14."""
    return [float(curve.epsilon_at(d)) for d in TARGETS if d < curve.delta(0.0).lower]


def cases() -> Iterator[Case]:
    """Every family."""
    yield from _randomised_responses()
    yield from _gaussians()
    yield from _finite_pairs()


def _randomised_responses() -> Iterator[Case]:
    for truth in (Fraction(3, 4), Fraction(11, 20), Fraction(9, 10)):
        for k in (1, 10, 100, 1000):
            p = float(truth)
            pld = distributions.from_randomized_response(2 * (1 - p), 2, value_discretization_interval=INTERVAL).self_compose(k)
            curve = Curve.discrete([p, 1 - p], [1 - p, p]).compose(k)
            for e in epsilons(curve):
                yield _case("randomised response", k, e, randomised_response(truth, k, e), pld, curve)


def _gaussians() -> Iterator[Case]:
    for sigma in (1.0, 5.0, 20.0):
        for k in (1, 10, 100):
            made = distributions.from_gaussian_mechanism(sigma, value_discretization_interval=INTERVAL, use_connect_dots=True)
            curve = Curve.gaussian(1 / sigma).compose(k)
            for e in epsilons(curve):
                truth = gaussian(mpmath.sqrt(k) / mpmath.mpf(sigma), e)
                yield _case("Gaussian", k, e, truth, made.self_compose(k), curve)


def _finite_pairs() -> Iterator[Case]:
    rng = np.random.default_rng(0)
    for _ in range(12):
        p, q = random_pair(rng, 3)
        if any(x == 0 for x in (*p, *q)):
            continue
        k = int(rng.choice([4, 16, 64]))
        sides = [{i: math.log(x) for i, x in enumerate(side)} for side in (q, p)]
        made = distributions.from_two_probability_mass_functions(*sides, value_discretization_interval=INTERVAL, symmetric=False)
        curve = Curve.discrete([float(x) for x in p], [float(x) for x in q]).compose(k)
        found = outcomes(p, q, k)
        for e in epsilons(curve):
            yield _case("finite pair", k, e, delta_of(found, e), made.self_compose(k), curve)


def _case(family: str, k: int, epsilon: float, truth: Any, pld: Any, curve: Curve) -> Case:
    mine = curve.delta(epsilon)
    return Case(family, k, epsilon, truth, float(pld.get_delta_for_epsilon(epsilon)), mine.lower, mine.upper)


def table(found: list[Case]) -> str:
    """How often, and the cases, as Markdown."""
    below = [c for c in found if mpmath.mpf(c.theirs) < c.truth]
    outside = [c for c in found if not c.lower <= c.truth <= c.upper]
    lines = [
        f"Of {len(found)} cases the pessimistic curve of dp_accounting lies below the truth in {len(below)}, "
        f"and the truth lies outside dpest's bracket in {len(outside)}.",
        "",
        "| family | runs | epsilon | true delta | pessimistic delta | short by | dpest's upper end |",
        "|---|---|---|---|---|---|---|",
    ]
    for c in sorted(below, key=lambda c: float(c.theirs / c.truth)):
        short = mpmath.nstr((c.truth - mpmath.mpf(c.theirs)) / c.truth, 2)
        truth = mpmath.nstr(c.truth, 12)
        lines.append(f"| {c.family} | {c.k} | {c.epsilon:.6g} | {truth} | {c.theirs:.12g} | {short} | {c.upper:.12g} |")
    return "\n".join(lines)


def main() -> None:
    """Print or write the table."""
    text = table(list(cases()))
    if "--write" in sys.argv:
        page = PAGE.read_text(encoding="utf-8")
        head, tail = page.split(START)[0], page.split(END)[1]
        PAGE.write_text(f"{head}{START}\n{text}\n{END}{tail}", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
