"""Every wrong exact answer that was ever seen, with variants, against an oracle that is not the engine."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable

import pytest

import dpest
from tests.regressions import continuous, discrete, edges, hidden, joint, natural
from tests.regressions.case import SECONDS, Case, asked, limited, verdict

CASES = list(itertools.chain(discrete.cases(), continuous.cases(), joint.cases(), hidden.cases(), edges.cases(), natural.cases()))


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_the_truth_lies_in_the_bracket(case: Case) -> None:
    truth = case.truth()
    said = asked(case)
    assert verdict(case, said, truth) == "ok", f"{case.name}: said {said}, the truth is {truth} ({truth.source})"


def test_names_are_told_apart() -> None:
    assert len({c.name for c in CASES}) == len(CASES)


def test_sampling_a_remainder_sees_no_impossible_output() -> None:
    mechanism, pair, truth = discrete.sampled_remainder()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        r = dpest.estimate(lambda x: mechanism(x, dpest), pair, method="sampling", samples=100_000, seed=1)
    assert truth.allows(r.lower, r.upper)
    assert abs(r.epsilon - truth.upper) < 0.03  # three standard deviations of the log of a ratio of counts near 24,000 and 50,000
    assert r.witness is not None
    assert "3" not in r.witness.event


def _two_tails(x: object) -> object:
    z = dpest.laplace(1)
    return z if z > 0.5 else z if z < 0.2 else 0


def _tail_or_none(x: object) -> object:
    z = dpest.laplace(1)
    return z if z > 0.9319 else None


def _pair_or_value(x: object) -> object:
    z = dpest.laplace(1)
    return z if z > -0.9319 else ("u", dpest.integers(0, 3))


@pytest.mark.parametrize(
    ("mechanism", "likely"),
    [
        (lambda x: dpest.integers(0, 4), 0.2),
        (lambda x: dpest.categorical([0.197, 0.803]), 0.803),
        (lambda x: (dpest.integers(0, 4), dpest.bernoulli(0.5)), 0.1),
        (lambda x: "a" if dpest.integers(0, 9) >= 3 else "b", 0.7),
        (_two_tails, math.exp(-0.5) / 2 + 1 - math.exp(-0.2) / 2),
        (_tail_or_none, 1 - math.exp(-0.9319) / 2),
        (_pair_or_value, 1 - math.exp(-0.9319) / 2),
    ],
)
def test_a_witness_of_equal_laws_is_as_likely_as_it_says(mechanism: Callable[[object], object], likely: float) -> None:
    """A witness that says "any output" alone has probability 1; one that names a part has at most that of the likeliest part."""
    r = dpest.estimate(mechanism, (0, 1), method="exact")
    assert r.lower == 0.0
    assert r.upper == 0.0
    if r.witness is not None:
        assert r.witness.left == pytest.approx(r.witness.right, rel=1e-12)
        if r.witness.event == "any output":
            assert r.witness.left == 1.0
        elif "any" not in r.witness.event:
            assert r.witness.left <= likely + 1e-12


@pytest.mark.parametrize(
    "mechanism",
    [
        lambda x: dpest.laplace(1) - dpest.clip(dpest.categorical([0.7, 0.3]), 0, 0),  # weights that were worked out before
        lambda x: x + dpest.laplace(1) + dpest.gaussian(2),
        lambda x: "a" if x + dpest.logistic(1) > dpest.gumbel(1) else "b",
    ],
)
def test_an_input_cannot_be_told_from_itself(mechanism: Callable[[float], object]) -> None:
    r = dpest.estimate(mechanism, (1.5, 1.5), method="exact")
    assert (r.lower, r.epsilon, r.upper) == (0.0, 0.0, 0.0)


def test_a_proof_about_a_loop_without_end_is_given_up() -> None:
    def climb(x: float) -> object:
        while x < 3:
            x = x + dpest.integers(1, 2)
        return x

    with limited(SECONDS):
        assert dpest.prove(climb).upper == math.inf
