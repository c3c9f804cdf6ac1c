"""The trace compared with the program: every lie is caught, and no honest mechanism is accused."""

from __future__ import annotations

import math
import os
import random
import secrets
import threading
import uuid
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpest
from dpest.algorithms import gallery
from dpest.core import Dist
from dpest.errors import ExactRefused, MechanismRaised, NotReplayable, TraceMismatch
from dpest.run.streams import stream
from dpest.sampling.runs.sources import TracedSampler
from dpest.trace.against_program import Checks, _agree, _replay
from dpest.trace.execute import execute
from dpest.trace.explore import trace
from dpest.trace.hidden_randomness import Watch
from dpest.trace.literal import Literal
from dpest.trace.plain_run import SEED, NumberSource, PlainRun
from tests.strategies import deciding_programs, finite_programs, releasing_programs


class Counter:
    """State between runs: the scale grows with the third run."""

    def __init__(self, runs: int) -> None:
        self.runs, self.n = runs, 0

    def __call__(self, x: float) -> Any:
        self.n += 1
        return x + dpest.laplace(1 if self.n < self.runs else 2)


class Drift:
    """State that shows in a constant only."""

    def __init__(self) -> None:
        self.seen: list[float] = []

    def __call__(self, x: float) -> Any:
        self.seen.append(x)
        return x + dpest.laplace(1.0) if len(self.seen) < 6 else x + dpest.laplace(1.0) + 1e-6


def toggling(x: float) -> Any:
    toggling.on = not getattr(toggling, "on", False)  # type: ignore[attr-defined]
    return dpest.laplace(1.0) + (x if toggling.on else 0)  # type: ignore[attr-defined]


def looks_inside(x: float) -> Any:
    z = x + dpest.laplace(1.0)
    return 2 * z if hasattr(z, "node") else z


STATE: dict[str, Callable[[], Any]] = {
    "a counter, third run": lambda: Counter(3),
    "a counter, tenth run": lambda: Counter(10),
    "a constant that drifts": Drift,
    "a toggle": lambda: toggling,
    "a look inside": lambda: looks_inside,
}
HIDDEN: dict[str, tuple[Callable[[float], Any], str]] = {
    "bytes of uuid4": (lambda x: x + dpest.laplace(1.0) + uuid.uuid4().bytes[0] % 2, "operating system"),
    "uuid4": (lambda x: x + dpest.laplace(1.0) + uuid.uuid4().int % 2, "operating system"),
}


@pytest.mark.parametrize("name", STATE)
def test_state_between_runs_is_refused(name: str) -> None:
    with pytest.raises(NotReplayable):
        dpest.estimate(STATE[name](), (0, 1))


@pytest.mark.parametrize("name", STATE)
def test_sampling_notices_state_too(name: str) -> None:
    with pytest.raises(NotReplayable):
        dpest.estimate(STATE[name](), (0, 1), method="sampling", samples=1000, progress=False)


@pytest.mark.parametrize("name", HIDDEN)
def test_a_hidden_generator_is_named(name: str) -> None:
    mechanism, words = HIDDEN[name]
    for _ in range(3):  # a coin that falls alike each time hides nothing
        with pytest.raises(NotReplayable, match=words):
            dpest.estimate(mechanism, (0, 1))
    with pytest.raises(NotReplayable, match=words):
        TracedSampler(mechanism).check(0.0)


def test_a_mechanism_that_sets_its_own_seed_hides_nothing() -> None:
    def hashed(x: float) -> Any:
        random.seed(7)
        return x + dpest.laplace(1.0) + random.choice([1, 2, 3])

    assert dpest.estimate(hashed, (0, 1)).epsilon == pytest.approx(1.0, abs=1e-12)


def test_a_function_without_a_module_is_watched() -> None:
    names: dict[str, Any] = {"dpest": dpest, "uuid": uuid}
    exec("def honest(x): return x + dpest.laplace(1.0)\ndef lying(x): return honest(x) + uuid.uuid4().bytes[0]", names)
    assert dpest.estimate(names["honest"], (0, 1)).epsilon == pytest.approx(1.0, abs=1e-12)
    with pytest.raises(NotReplayable, match="operating system"):
        dpest.estimate(names["lying"], (0, 1))


def test_what_was_replaced_is_put_back() -> None:
    before = random._urandom, os.urandom  # type: ignore[attr-defined]
    with pytest.raises(MechanismRaised):
        dpest.estimate(lambda x: 1 / x, (0, 1))
    with pytest.raises(NotReplayable):
        dpest.estimate(HIDDEN["uuid4"][0], (0, 1))
    assert (random._urandom, os.urandom) == before  # type: ignore[attr-defined]


def test_random_bytes_of_another_thread_are_not_the_mechanisms() -> None:
    with Watch(len, [], {}, lambda: None):
        other = threading.Thread(target=lambda: secrets.randbelow(5))
        other.start()
        other.join()


def test_the_message_shows_the_draws_what_came_and_what_was_expected() -> None:
    with pytest.raises(TraceMismatch) as refusal:
        dpest.estimate(looks_inside, (0, 1))
    for part in ("laplace(1) = ", "it returned ", "the trace expected ", "dpest.audit", "keep no state"):
        assert part in str(refusal.value)


WRONG: dict[str, tuple[str, Callable[..., Any], Callable[[Any], Any]]] = {
    ">= for >, rarely met": ("__ge__", Dist.__gt__, lambda x: "a" if x + dpest.integers(0, 900) >= 700 else "b"),
    "< for <=": ("__le__", Dist.__lt__, lambda x: "a" if x + dpest.geometric(2.0) <= 9 else "b"),
    ">= for ==": ("__eq__", Dist.__ge__, lambda x: "a" if x + dpest.geometric(1.0) == 1 else "b"),
    "or for and": ("__and__", Dist.__or__, lambda x: (x + dpest.laplace(1.0) > 0) & (dpest.laplace(1.0) > 0)),
    "+ for -": ("__sub__", Dist.__add__, lambda x: dpest.laplace(1.0) - x + 1),
    "a sign": ("__rsub__", Dist.__sub__, lambda x: x - dpest.laplace(1.0)),
    "floor for trunc": ("__trunc__", Dist.__floor__, lambda x: math.trunc(x + dpest.laplace(1.0))),
    "ceil for floor": ("__floor__", Dist.__ceil__, lambda x: math.floor(x + dpest.laplace(1.0))),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_rule_of_the_graph_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    operation, wrong, mechanism = WRONG[name]
    monkeypatch.setattr(Dist, operation, wrong)
    with pytest.raises(TraceMismatch):
        trace(mechanism, 1, {})


def test_a_wrong_negation_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    negated = Literal.negated

    def wrong(self: Literal) -> Literal:
        right = negated(self)
        return Literal(right.terms, right.constant + 1)

    monkeypatch.setattr(Literal, "negated", wrong)
    with pytest.raises(TraceMismatch, match="two of its paths at once"):
        trace(lambda x: "a" if x + dpest.geometric(2.0) >= 9 else "b", 0, {})


def test_a_missing_path_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    import dpest.trace.explore as module

    found = module._PathSearch.found
    monkeypatch.setattr(module._PathSearch, "found", lambda *a: module.Trace(found(*a).paths[1:]))
    with pytest.raises(TraceMismatch, match="no path at all"):
        trace(lambda x: 1 if x + dpest.laplace(1.0) > 0 else 0, 0, {})


def test_a_claim_that_unexplored_paths_are_rare_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    import dpest.trace.explore as module

    found = module._PathSearch.found
    monkeypatch.setattr(module._PathSearch, "found", lambda *a: module.Trace(found(*a).paths[1:], -40.0))
    with pytest.raises(TraceMismatch, match="a path that was explored"):
        trace(lambda x: 1 if x + dpest.laplace(1.0) > 0 else 0, 0, {})
    monkeypatch.setattr(module._PathSearch, "found", lambda *a: module.Trace(found(*a).paths[1:], -0.5))
    trace(lambda x: 1 if x + dpest.laplace(1.0) > 0 else 0, 0, {})


def test_an_error_on_plain_numbers_is_the_authors() -> None:
    def mechanism(x: float) -> Any:
        return (x + 1) / dpest.integers(0, 3)

    with pytest.raises(MechanismRaised, match="ZeroDivisionError.*the draws were integers"):
        dpest.estimate(mechanism, (0, 1), method="sampling", samples=1000, progress=False)


def _cancelled(x: float) -> Any:
    noisy = x + dpest.gumbel(6.0)
    return noisy + (3 * dpest.categorical([0.7, 0.3]) - noisy)  # a whole number, but for rounding


HONEST: dict[str, Callable[[Any], Any]] = {
    "noise that cancels beside a whole number": _cancelled,
    "truths": lambda x: ~(x + dpest.laplace(1.0) > 0) & (dpest.laplace(1.0) > 0) | (dpest.bernoulli(0.5) ^ True),
    "truths that are counted": lambda x: (x + dpest.laplace(1.0) > 0) + (dpest.laplace(1.0) > 0) - (dpest.laplace(1.0) > 1),
    "truths of whole numbers": lambda x: (x + dpest.integers(0, 2) > 1) + (dpest.integers(0, 2) > 1) - (dpest.integers(0, 2) > 0),
    "a difference of truths": lambda x: (x + dpest.laplace(1.0) > 0) - (dpest.laplace(1.0) > 0),
    "an array": lambda x: np.cumsum(np.array([x, 1.0]) + dpest.laplace(1.0, size=2)),
    "truths of an array": lambda x: ~(np.array([x, 1.0]) + dpest.laplace(1.0, size=2) > 0),
    "numpy's scalars": lambda x: (np.float64(x) + dpest.laplace(1.0) > 0) | (np.int64(2) < dpest.geometric(1.0)),
    "whole numbers": lambda x: (x + dpest.geometric(2.0)) // 3,
    "a remainder": lambda x: (x + dpest.geometric(1.0)) % 3,
    "tenths": lambda x: (x + dpest.integers(0, 9)) / 10 <= 0.3,
    "tenths by a factor": lambda x: 0.1 * (x + dpest.integers(0, 9)) <= 0.3,
    "rounding": lambda x: round(x + dpest.laplace(1.0), 1),
    "halves": lambda x: round((x + dpest.integers(-5, 5)) / 2),
    "an index, divided": lambda x: dpest.argmax([x + dpest.laplace(1.0), 0.1, 0.2]) // 0.4,
    "a rounding, divided": lambda x: round(x + dpest.laplace(9.0)) / 10 <= 0.3,
    "a truth, divided": lambda x: (3 * (x + dpest.laplace(1.0) > 0)) // 0.3,
    "trunc": lambda x: math.trunc(x + dpest.laplace(2.0)),
    "a random scale": lambda x: x + dpest.laplace(1.0 + dpest.bernoulli(0.5)),
    "a coin as an if": lambda x: x if dpest.bernoulli(0.5) else 1 - x,
    "a loop": lambda x: x + sum(1 for _ in iter(lambda: bool(dpest.bernoulli(0.5)), False)),
    "text and none": lambda x: ["low", None, math.nan][0 if x + dpest.laplace(1.0) < 0 else 1 if dpest.laplace(1.0) > 0 else 2],
    "a dict": lambda x: {"value": x + dpest.laplace(1.0), "n": 3, "shape": (1, [2])},
    "lists": lambda x: dpest.where(dpest.laplace(1.0) > x, [1, None], [2, "b"]),
    "the first of the largest": lambda x: dpest.argmax([x + dpest.integers(0, 2), dpest.integers(0, 2), 1]),
    "bounds that cross": lambda x: dpest.clip(x + dpest.geometric(1.0), dpest.integers(0, 2), dpest.integers(0, 2)),
    "a sum of large numbers": lambda x: (x + 1e9 + dpest.laplace(1.0)) - 1e9,
    "large numbers, turned round": lambda x: (-(x + 2e6 + dpest.laplace(1.0) - 2e6), abs(x + 2e6 + dpest.laplace(1.0) - 2e6) / 3),
    "large numbers, rounded": lambda x: round(x + 2e9 + dpest.laplace(1.0) - 2e9, 3),
    "large numbers, squared": lambda x: ((x + 2e6 + dpest.bernoulli(0.5) / 3) - 2e6) ** 2,
    "powers": lambda x: (x + dpest.integers(-2, 2)) ** 2,
    "a list of bounds": lambda x: np.minimum(np.maximum([x + dpest.laplace(1.0), 0], dpest.bernoulli(0.5) - 1), 2),
    "a member of a list": lambda x: x + dpest.integers(0, 3) in [0, 1],
    "older names": lambda x: Dist.from_atoms({0.5: 0.5, 1.5: 0.25, 2.25: 0.25}) + x,
}


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_mechanism_is_not_accused(name: str) -> None:
    for data in (0, 1):
        trace(HONEST[name], data, {}, checks=Checks(0.2))
        TracedSampler(HONEST[name]).check(data, seconds=0.1)


@pytest.mark.parametrize(
    "mechanism",
    [
        lambda x: np.exp(x + dpest.laplace(1.0)),
        lambda x: dpest.apply(lambda v: np.where(v > 0, v, 0), x + dpest.laplace(1.0)),
        lambda x: np.sqrt(abs(x + dpest.laplace(1.0, size=2))),
        lambda x: (x + dpest.laplace(1.0)) * dpest.gaussian(1.0),
        lambda x: (x + dpest.laplace(1.0)) / (dpest.gaussian(1.0) - 1),
        lambda x: (x + dpest.laplace(1.0)) ** 0.5,
    ],
)
def test_what_can_only_be_sampled_is_not_accused(mechanism: Any) -> None:
    TracedSampler(mechanism).check(0.0, seconds=0.1)


@pytest.mark.parametrize("algorithm", gallery(), ids=lambda a: a.name)
def test_no_algorithm_of_the_gallery_is_accused(algorithm: Any) -> None:
    n = {"SVT6": 5, "SVT5": 5, "SVT34Parallel": 3}.get(algorithm.name)
    pair = algorithm.pairs(n)[0]
    for data in (pair.left, pair.right):
        TracedSampler(algorithm.function).check(data, seconds=0.05)
        trace(algorithm.function, data, {}, checks=Checks(0.05))


@settings(max_examples=60, deadline=None)
@given(st.one_of(finite_programs(), deciding_programs(), releasing_programs()))
def test_no_random_program_is_accused(program: Any) -> None:
    trace(lambda data: program(data, dpest), (0, 1), {})
    TracedSampler(lambda data: program(data, dpest)).check((1, 0))


def test_noise_that_cancels_leaves_rounding_and_no_accusation() -> None:
    """(x + z) - z is x in the trace, and x up to rounding in the program."""

    def cancelled(x: float) -> object:
        z = dpest.gaussian(3)
        return (x + z) - z

    r = dpest.estimate(cancelled, (2, 2), method="exact")
    assert r.upper == 0.0
    assert dpest.estimate(cancelled, (2, 3), method="exact").lower == float("inf")


def test_what_rounding_leaves_of_cancelled_noise_is_not_called_nothing() -> None:
    """y - (y - 1) is 1 or the number next to it, and which of them depends on how large y is."""

    def mechanism(x: float) -> object:
        y = x + dpest.laplace(1)
        return y - (y - 1)

    with pytest.raises(ExactRefused, match="noise cancels in an output"):
        dpest.estimate(mechanism, (0, 1), method="exact")


def test_the_message_shows_the_numbers_that_the_program_returned_when_it_was_run_again() -> None:
    """A constant is shown as it is, and a random value by its number in that run."""
    again = [False]

    def mechanism(x: float) -> Any:
        z = x + dpest.laplace(1.0)
        return ("late", 2 * z) if again[0] else ("early", z)

    path = trace(mechanism, 1, {}).paths[0]
    again[0] = True
    run = PlainRun(NumberSource(stream(SEED)))

    def program(of: Any) -> Any:
        return execute(of, mechanism, 1, {})

    program(run)
    number = 1 + run.drawn[0].value
    run.outside.put(path.drawn[0], run.drawn[0].value)
    with pytest.raises(TraceMismatch) as refusal:
        _replay(path, run, program, together=False)
    assert f"expected ('early', {str(number)[:8]}" in str(refusal.value)
    assert f"run again, it said ('late', {str(2 * number)[:8]}" in str(refusal.value)


@pytest.mark.parametrize(
    ("expected", "returned", "same"),
    [
        ("high", 3.0, False),
        (3.0, "high", False),
        (None, 0.0, False),
        (0.0, None, False),
        (1.0, 1.0 + 1e-14, True),
        (1.0, 1.0 + 1e-9, False),
        (math.nan, math.nan, True),
        ("a", "a", True),
    ],
)
def test_constants_are_compared_whatever_they_are(expected: Any, returned: Any, same: bool) -> None:
    """Noise that cancels may round a number, and nothing else; `size` is that of what was added up."""
    assert _agree(expected, returned, 1.0) == same
