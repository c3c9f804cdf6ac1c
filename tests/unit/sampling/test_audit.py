"""Audits from end to end, on few samples."""

from __future__ import annotations

import json
import math
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpest
from dpest.audit import AuditResult, AuditWitness, all_pairs, neighbouring_pairs, scaled_patterns
from dpest.errors import CheckpointError, InvalidInput, InvalidPair, UnknownName
from dpest.sampling.runs.outputs import encode_array
from dpest.sampling.scores.additive import Additive
from dpest.sampling.scores.cells import Column, Reading, named_cells
from dpest.sampling.scores.event import Event


def quiet(done: int, total: int, message: str) -> None:
    """No progress bar in tests."""


def audit(mechanism: Any, pairs: Any = None, **more: Any) -> AuditResult:
    return dpest.audit(mechanism, pairs, **{"samples": 20_000, "seed": 1, "progress": quiet, **more})


def laplace(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    return data[0] + rng.laplace(size=size)


def leaky(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    noisy = data[0] + rng.laplace(scale=10, size=size)
    return np.where(rng.random(size) < 0.001, data[0], noisy)


def noisy_argmax(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    return np.argmax(np.asarray(data) + rng.laplace(scale=2.0, size=(size, len(data))), axis=1)


def test_the_package_is_the_question_and_has_the_parts() -> None:
    assert callable(dpest.audit)
    assert dpest.audit.AuditResult is AuditResult
    assert dpest.sampler is dpest.audit.sampler


def test_laplace_is_bounded_just_below_its_loss_and_says_where() -> None:
    result = audit(laplace, ([0.0], [1.0]), samples=200_000)
    assert 0.97 < result.lower <= 1.0
    assert result.lower <= result.epsilon
    assert result.lower_published() <= result.lower
    assert str(result.witness.event).startswith("output ")
    assert "eps >=" in str(result)


def test_a_rare_leak_is_found_and_named() -> None:
    result = audit(leaky, ([0.0], [1.0]), samples=1_000_000)
    assert result.lower > 5
    assert str(result.witness.event) in ("output = 0", "output = 1")


@pytest.mark.parametrize("special", [0, 2, 4])
def test_the_special_index_may_be_any(special: int) -> None:
    other = [0.0] * 5
    other[special] = 2.0
    result = audit(noisy_argmax, ([1.0] * 5, other), samples=100_000)
    assert result.lower > 0.75
    assert str(result.witness.event) == f"output == {special}"


def test_the_race_finds_the_worst_pattern() -> None:
    result = audit(laplace, [([0.0], [0.1]), ([0.0], [1.0]), ([0.0], [0.5])], samples=60_000)
    assert (result.pair.left, result.pair.right) == ([0.0], [1.0])
    assert len(result.standings) == 3


def test_identical_inputs_show_nothing() -> None:
    assert audit(laplace, ([0.0], [0.0])).lower == 0


def test_a_false_claim_is_refuted_early_and_a_true_one_is_not() -> None:
    broken = audit(laplace, ([0.0], [1.0]), claim=0.5, samples=1_000_000)
    assert broken.violated is True
    assert broken.samples < 1_000_000
    true = audit(laplace, ([0.0], [1.0]), claim=1.0)
    assert true.violated is False
    assert true.verdict == "not refuted"
    assert audit(laplace, ([0.0], [1.0])).violated is None


def test_delta_bounds_lie_below_the_gaussian_truth() -> None:
    def gauss(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        return data[0] + rng.normal(size=size)

    def truth(eps: float) -> float:
        phi = lambda x: 0.5 * math.erfc(-x / math.sqrt(2))  # noqa: E731
        return phi(0.5 - eps) - math.exp(eps) * phi(-0.5 - eps)

    result = audit(gauss, ([0.0], [1.0]), delta=0.05, samples=200_000)
    assert truth(result.lower) >= 0.05
    assert truth(result.lower + 0.1) < 0.05
    assert 0 < result.delta_at(1.0) <= truth(1.0)


def test_the_floating_point_representation_of_naive_noise_leaks() -> None:
    def naive(data: Any, rng: np.random.Generator) -> float:
        return float(data[0] + rng.laplace())

    result = audit(naive, ([0.0], [1.0]), claim=1.0, features="bits")
    assert result.violated
    single = audit(
        lambda d, size, rng: np.float32(d[0]) + rng.laplace(size=size).astype(np.float32),
        ([0.0], [1.0]),
        claim=1.0,
        features="bits",
    )
    assert single.violated


def test_snapped_noise_is_not_accused_by_its_bits() -> None:
    def snapped(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        return np.round((data[0] + rng.laplace(size=size)) * 64) / 64

    assert audit(snapped, ([0.0], [1.0]), claim=1.0, features="bits", confidence=0.999).violated is False


@pytest.mark.parametrize("attack", ["sniper", "statdp"])
def test_the_published_attacks(attack: str) -> None:
    result = audit(laplace, ([0.0], [1.0]), attack=attack, samples=50_000)
    assert 0.8 < result.lower <= 1.0
    found = result.p_values([0.5, 1.0, 1.5])
    assert found == sorted(found)
    assert found[0] < 0.01 < found[1]


def test_results_and_witnesses_survive_json() -> None:
    def mixed(data: Any, rng: np.random.Generator) -> Any:
        return None if rng.random() < 0.3 + 0.3 * data[0] else ("value", data[0] + rng.laplace())

    result = audit(mixed, ([0.0], [1.0]), samples=5000)
    again = AuditResult.from_json(result.to_json())
    assert again.to_json() == result.to_json()
    assert json.loads(result.to_json())["verdict"] == "no claim"
    witness = AuditWitness.from_json(result.witness.to_json())
    checked = witness.verify(mixed, samples=5000, seed=2)
    assert checked.lower > 0
    assert checked.counts == result.witness.verify(mixed, samples=5000, seed=2).counts
    assert checked.counts != result.witness.counts


def test_a_witness_does_not_hold_for_a_repaired_mechanism() -> None:
    result = audit(leaky, ([0.0], [1.0]), samples=300_000)
    assert result.witness.verify(laplace, samples=20_000, seed=3).lower == 0


def test_the_answer_does_not_depend_on_the_workers(tmp_path: Path) -> None:
    alone = audit(laplace, ([0.0], [1.0]), samples=150_000)
    with ThreadPoolExecutor(3) as pool:
        together = audit(laplace, ([0.0], [1.0]), samples=150_000, executor=pool)
    kept = audit(laplace, ([0.0], [1.0]), samples=150_000, checkpoint=tmp_path / "audit.db")
    resumed = audit(laplace, ([0.0], [1.0]), samples=150_000, checkpoint=tmp_path / "audit.db")
    assert alone.witness.counts == together.witness.counts == kept.witness.counts == resumed.witness.counts


def test_a_checkpoint_of_another_question_is_refused(tmp_path: Path) -> None:
    audit(laplace, ([0.0], [1.0]), checkpoint=tmp_path / "audit.db")
    with pytest.raises(CheckpointError, match="seed"):
        audit(laplace, ([0.0], [1.0]), seed=2, checkpoint=tmp_path / "audit.db")


def test_an_interrupted_audit_keeps_what_was_counted() -> None:
    def stop(done: int, total: int, message: str) -> None:
        if message == "bounding the event" and done > 65_536:
            raise KeyboardInterrupt

    result = audit(laplace, ([0.0], [1.0]), samples=1_000_000, progress=stop)
    assert result.interrupted
    assert 0 < result.samples < 1_000_000
    assert 0.9 < result.lower <= 1.0


def test_pairs_from_domains() -> None:
    assert len(all_pairs([0, 1, 2, 2])) == 5
    assert [(p.left, p.right) for p in neighbouring_pairs([0, 1, 2])] == [(0, 1), (1, 2)]
    moved = scaled_patterns(3, -1.0, 1.0)
    assert all(-1 <= x <= 1 for p in moved for x in (*p.left, *p.right))
    assert all(p.left != p.right for p in scaled_patterns(2, 0.0, 1.0, sensitivity=1.0))
    counts = audit(lambda d, size, rng: np.clip(d + rng.integers(-1, 2, size), 0, 2), neighbouring_pairs([0, 1, 2]), samples=5000)
    assert counts.lower > 4


@pytest.mark.parametrize(
    ("more", "error", "message"),
    [
        ({"samples": 5}, InvalidInput, "samples must be"),
        ({"confidence": 1.0}, InvalidInput, "confidence"),
        ({"claim": -1.0}, InvalidInput, "claim must be"),
        ({"delta": 1.0}, InvalidInput, "delta must lie"),
        ({"attack": "magic"}, UnknownName, '"auto", "sniper", "statdp"'),
        ({"features": "colours"}, UnknownName, "half-lines"),
        ({"c": 2.0}, InvalidInput, "c must be"),
        ({"n": 3}, InvalidInput, "either pairs=... or n=..."),
        ({"timeout": 0.0}, InvalidInput, "timeout"),
    ],
)
def test_bad_questions_are_refused_before_any_work(more: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        audit(laplace, ([0.0], [1.0]), **more)


def test_no_pairs_is_refused_with_what_to_write() -> None:
    with pytest.raises(InvalidPair, match="n="):
        audit(laplace)


def test_the_words_of_an_event_are_the_event() -> None:
    result = audit(laplace, ([0.0], [1.0]), features="half-lines")
    event: Event = result.witness.region
    words = str(event)
    bound = float(words.split()[-1])
    values = np.array([bound - 0.01, bound + 0.01])
    inside = event.contains(encode_array(values, 2), np.random.default_rng(0))
    assert inside.tolist() == ([True, False] if "<" in words else [False, True])


@pytest.mark.parametrize(
    ("inside", "words"),
    [
        ([True, True, False, False, False, False], "output <= 0"),
        ([False, True, False, False, False, False], "output = 0"),
        ([False, False, True, True, True, True], "output > 0"),
        ([False, False, False, False, True, True], "output >= 2.5"),
        ([False, False, True, True, False, False], "0 < output < 2.5"),
        ([True, False, False, True, True, True], "output < 0 or output >= 1.5"),
    ],
)
def test_intervals_in_words(inside: list[bool], words: str) -> None:
    cells = named_cells(Column(0), np.array([0.0, np.nextafter(0.0, 1.0), 1.5, 2.5]), [])
    weights = np.array([float(x) for x in inside])
    assert str(Event(Additive((cells,), (weights,)), 0.5, True, 1)) == words


def test_trailing_zeros_in_words() -> None:
    cells = named_cells(Column(0, Reading.TRAILING_ZEROS), np.array([4.0]), [])
    event = Event(Additive((cells,), (np.array([0.0, 1.0, 0.0]),)), 0.5, True, 1)
    assert str(event) == "more than 3 trailing zero bits of output"
