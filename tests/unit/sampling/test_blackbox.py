"""Any callable: how it is called, and what happens when it misbehaves."""

from __future__ import annotations

import functools
import hashlib
import math
import random
import time
from typing import Any

import numpy as np
import pytest

import dpest
from dpest.errors import InvalidInput, MechanismError, MechanismRaised, UnsupportedOutput
from dpest.run.streams import stream
from dpest.sampling.runs.blackbox import Form, as_traced, sampler
from dpest.sampling.runs.randomness import own_generators
from dpest.sampling.runs.watch import MechanismHangs

PAIR = ([0.0], [1.0])


def quiet(done: int, total: int, message: str) -> None:
    """No progress bar in tests."""


def audit(mechanism: Any, samples: int = 1000, **more: Any) -> dpest.audit.AuditResult:
    return dpest.audit(mechanism, PAIR, samples=samples, seed=1, progress=quiet, **more)


class Object:
    def __call__(self, data: Any, rng: np.random.Generator) -> float:
        return float(data[0] + rng.laplace())


def vectorised(data: Any, size: int, rng: np.random.Generator, scale: float = 1.0) -> np.ndarray:
    return data[0] + rng.laplace(scale=scale, size=size)


def optional(data: Any, scale: float = 1.0, *, rng: np.random.Generator | None = None) -> float:
    assert rng is not None
    return float(data[0] + rng.laplace(scale=scale))


@pytest.mark.parametrize(
    ("mechanism", "form"),
    [
        (lambda data: data[0], Form.PLAIN),
        (lambda data, eps=0.1: data[0], Form.PLAIN),
        (lambda data, rng: rng.random(), Form.RNG),
        (Object(), Form.RNG),
        (optional, Form.RNG),
        (vectorised, Form.VECTORISED),
        (functools.partial(vectorised, scale=2.0), Form.VECTORISED),
        (np.sum, Form.PLAIN),
    ],
)
def test_the_signature_says_how_to_call(mechanism: Any, form: Form) -> None:
    found = sampler(mechanism)
    assert found.form is form
    assert len(found.draw([1.0], 7, stream(0))) == 7


def test_an_unclear_signature_is_refused_with_what_to_write() -> None:
    with pytest.raises(InvalidInput, match="it needs eps besides its input"):
        sampler(lambda data, eps: data)
    with pytest.raises(InvalidInput, match="takes no input"):
        sampler(lambda: 1)
    with pytest.raises(InvalidInput, match="must be callable"):
        sampler(3)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="plain, rng, vectorised, traced"):
        sampler(vectorised, form="fast")


def test_the_form_can_be_said() -> None:
    assert sampler(lambda x, k, g: g.random(k), form="vectorised").draw([0], 5, stream(0)).values.shape == (5, 1)


def test_draws_of_dpest_are_sampled_by_their_trace() -> None:
    def above(data: list[float]) -> Any:
        noisy = data[0] + dpest.laplace(1.0)
        if noisy >= 1.0:
            return (True, noisy)
        return None

    found = as_traced(sampler(above), [0.0])
    assert found.form is Form.TRACED
    batch = found.draw([0.0], 4000, stream(3))
    said = np.isnan(batch.values[:, 0])
    assert np.mean(said) == pytest.approx(1 - 0.5 * np.exp(-1.0), abs=0.03)
    assert np.all(batch.values[~said, 1] >= 1.0)
    assert as_traced(sampler(lambda data: data[0]), [0.0]).form is Form.PLAIN


def test_a_mechanism_that_always_raises_is_reported_with_its_input() -> None:
    with pytest.raises(MechanismRaised, match=r"ZeroDivisionError on the input \[1\]"):
        audit(lambda data: 1 / (1 - data[0]))
    with pytest.raises(MechanismRaised, match=r"KeyError on the input \[0\]"):
        audit(lambda data, size, rng: {}[size])


def test_a_mechanism_that_raises_now_and_then_gives_itself_away() -> None:
    def sometimes(data: Any, rng: np.random.Generator) -> float:
        if rng.random() < 0.3 * data[0]:
            raise ValueError("no")
        return float(rng.random())

    result = audit(sometimes, samples=2000)
    assert result.lower > 4
    assert "raised ValueError" in str(result.witness)


class FailsLate:
    """Runs out of disk after a number of runs."""

    def __init__(self, runs: int) -> None:
        self.left = runs

    def __call__(self, data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        self.left -= size
        if self.left < 0:
            raise RuntimeError("disk full")
        return np.asarray(data[0] + rng.laplace(scale=0.5, size=size))


def test_a_vectorised_mechanism_that_fails_late_keeps_what_was_counted() -> None:
    searching = 2 * 32 + 4 * 1_000_000  # the probe (its copies count for themselves), then two stages of two inputs
    result = audit(FailsLate(searching + 20 * 65_536), samples=1_000_000, features="half-lines")
    assert result.failure is not None
    assert "disk full" in result.failure
    assert 0 < result.samples < 1_000_000
    assert 1.5 < result.lower <= 2.0
    assert "disk full" in str(result)


def test_a_mechanism_that_hangs_is_stopped_and_named() -> None:
    def hangs(data: Any) -> float:
        while data[0] == 1.0:
            time.monotonic()
        return 0.0

    with pytest.raises(MechanismHangs, match=r"within 0.1 s on the input \[1\]"):
        audit(hangs, timeout=0.1)


def test_a_wrong_shape_is_refused() -> None:
    with pytest.raises(UnsupportedOutput, match="asked for"):
        audit(lambda data, size, rng: rng.random(3))


def test_a_deterministic_mechanism_is_said_to_be_one() -> None:
    result = audit(lambda data: data[0])
    assert result.lower > 5
    assert any("deterministic" in note for note in result.notes)
    constant = audit(lambda data: 3)
    assert constant.lower == 0


class OwnGenerator:
    def __init__(self) -> None:
        self.rng = np.random.default_rng(3)

    def __call__(self, data: Any) -> float:
        return float(data[0] + self.rng.laplace())


def test_an_own_generator_is_found_and_reseeded() -> None:
    mechanism = OwnGenerator()
    assert own_generators(mechanism) == (mechanism.rng,)
    result = audit(mechanism, samples=3000)
    assert any("its own generator" in note for note in result.notes)
    assert result.witness.counts == audit(OwnGenerator(), samples=3000).witness.counts


class HiddenGenerator:
    """Noise from a counter that starts anew in every copy."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, data: Any) -> float:
        self.calls += 1
        digest = hashlib.blake2b(str(self.calls).encode(), digest_size=7).digest()
        return float(data[0] + int.from_bytes(digest, "big") / 2**56)


def test_copies_that_draw_alike_are_refused_where_workers_would_share_their_noise() -> None:
    with pytest.raises(MechanismError, match="draw the same noise"):
        audit(HiddenGenerator(), executor=2)
    assert any("draw the same noise" in note for note in audit(HiddenGenerator()).notes)


def test_global_state_is_seeded_said_and_put_back() -> None:
    random.seed(5)
    before = random.getstate()
    first = audit(lambda data: data[0] + random.gauss(0, 1), samples=2000)
    assert any("global random state" in note for note in first.notes)
    assert random.getstate() == before
    random.seed(6)
    assert audit(lambda data: data[0] + random.gauss(0, 1), samples=2000).witness.counts == first.witness.counts


def test_noise_that_cannot_be_seeded_is_said_to_be_so() -> None:
    system = random.SystemRandom()
    result = audit(lambda data: data[0] + system.gauss(0, 1), samples=500)
    assert any("cannot seed" in note for note in result.notes)


def test_a_failure_in_the_search_costs_its_runs_and_not_the_audit() -> None:
    def rarely(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        if rng.random() < 0.01:
            raise RuntimeError("out of luck")
        return np.asarray(data[0] + rng.laplace(scale=0.5, size=size))

    result = audit(rarely, samples=20_000, features="half-lines")
    assert result.samples > 0
    assert result.lower <= 2.0


def test_errors_are_outcomes_where_that_is_asked_for() -> None:
    def slow(data: Any, rng: np.random.Generator) -> float:
        if rng.random() < 0.02 + 0.4 * data[0]:
            time.sleep(1)
        return 0.0

    result = audit(slow, samples=100, timeout=0.002, errors="outcome")
    assert "no answer within" in str(result.witness)

    def raises(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        if rng.random() < 0.1 + 0.8 * data[0]:
            raise ValueError("no")
        return np.zeros(size)

    found = audit(raises, errors="outcome", samples=4000)
    assert 0 < found.lower <= math.log(9)
    with pytest.raises(InvalidInput, match="errors must be"):
        audit(raises, errors="ignore")


def test_a_mechanism_with_a_hidden_coin_is_audited_as_it_stands() -> None:
    def mechanism(bit: int) -> Any:
        told = bit if random.random() < 0.75 else 1 - bit
        return told, bool(dpest.laplace(1.0) > 0)

    found = dpest.audit(mechanism, (0, 1), samples=4000, seed=1, progress=lambda *_: None)
    assert 0.8 < found.lower <= math.log(3)


def test_a_mechanism_that_ends_the_program_ends_its_run_alone() -> None:
    def leaves(data: Any, rng: np.random.Generator) -> float:
        if data[0] > 0.5 and rng.random() < 0.3:
            raise SystemExit(3)
        return float(rng.laplace())

    found = dpest.audit(leaves, ([0.0], [1.0]), samples=1000, seed=1, progress=quiet)
    assert found.lower > 2
    assert "SystemExit" in str(found.witness.event)
